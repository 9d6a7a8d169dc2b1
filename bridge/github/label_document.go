package github

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"planbridge/mapping"
)

// labelName names a label of a repository.
type labelName struct{ Repo, Name string }

// graphqlDocument is a GraphQL document under construction, with its variables.
type graphqlDocument struct {
	kind   string
	params []string
	fields []string
	vars   map[string]any
}

func newDocument(kind string) graphqlDocument {
	return graphqlDocument{kind: kind, vars: map[string]any{}}
}

// variable adds a variable of a type and returns its name in the document.
func (d *graphqlDocument) variable(kind string, value any) string {
	name := fmt.Sprint("v", len(d.params))
	d.params, d.vars[name] = append(d.params, "$"+name+": "+kind), value
	return "$" + name
}

func (d *graphqlDocument) text() string {
	return d.kind + "(" + strings.Join(d.params, ", ") + ") { " + strings.Join(d.fields, " ") + " }"
}

// labelQuery asks for labels by name.
type labelQuery struct {
	graphqlDocument
	asked []askedLabel
}

// askedLabel is a label and its position in the answer.
type askedLabel struct {
	labelName
	repository, field string
}

func newLabelQuery(changes []LabelChange) *labelQuery {
	names := map[string][]string{} // by repository
	for _, change := range changes {
		for _, name := range slices.Concat(change.Add, change.Remove) {
			if !slices.Contains(names[change.Repo], name) {
				names[change.Repo] = append(names[change.Repo], name)
			}
		}
	}
	q := &labelQuery{graphqlDocument: newDocument("query")}
	for repo, labels := range mapping.Sorted(names) {
		owner, name, _ := strings.Cut(repo, "/")
		at := fmt.Sprint("r", len(q.fields))
		var fields []string
		of := at + ": repository(owner: " + q.variable("String!", owner) + ", name: " + q.variable("String!", name) + ")"
		for _, label := range labels {
			field := fmt.Sprint("l", len(fields))
			q.asked = append(q.asked, askedLabel{labelName{repo, label}, at, field})
			fields = append(fields, field+": label(name: "+q.variable("String!", label)+") { id name }")
		}
		q.fields = append(q.fields, of+" { "+strings.Join(fields, " ")+" }")
	}
	return q
}

// labelMutation changes the labels of several issues.
type labelMutation struct {
	graphqlDocument
	places []int // for each of its fields, the index of the change
}

// newLabelMutation contains the changes whose labels all exist.
func newLabelMutation(changes []LabelChange, ids map[labelName]string) *labelMutation {
	m := &labelMutation{graphqlDocument: newDocument("mutation")}
	for i, change := range changes {
		field, names := "addLabelsToLabelable", change.Add
		if len(names) == 0 {
			field, names = "removeLabelsFromLabelable", change.Remove
		}
		var labels []string
		for _, name := range names {
			if id := ids[labelName{change.Repo, name}]; id != "" {
				labels = append(labels, id)
			}
		}
		if change.Node == "" || len(labels) < len(names) {
			continue
		}
		m.fields = append(m.fields, m.alias(len(m.places))+": "+field+"(input: {labelableId: "+m.variable("ID!", change.Node)+
			", labelIds: "+m.variable("[ID!]!", labels)+"}) { labelable { labels(first: 100) { nodes { name } } } }")
		m.places = append(m.places, i)
	}
	return m
}

func (m *labelMutation) alias(n int) string { return fmt.Sprint("m", n) }

// read reads the result of each change. It returns an error that applies to all: one that bars
// the account from mutations.
func (m *labelMutation) read(reply graphqlReply, answers []LabelAnswer) error {
	data := map[string]*struct {
		Labelable *struct{ Labels struct{ Nodes []named } }
	}{}
	if err := reply.decode(classMutation, &data); err != nil {
		return err
	}
	changed := 0
	for n, place := range m.places {
		done, a := data[m.alias(n)], &answers[place]
		if done == nil || done.Labelable == nil {
			a.Alone = true
			continue
		}
		a.Labels, changed = names(done.Labelable.Labels.Nodes), changed+1
	}
	if changed > 0 || len(reply.Errors) == 0 {
		return nil
	}
	if err := reply.Errors[0].classify(classMutation); errors.Is(err, mapping.ErrForbidden) {
		return err
	}
	return nil
}
