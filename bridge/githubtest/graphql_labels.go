package githubtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// GraphQL is answered for documents of two forms alone. One asks for labels of repositories by
// name. The other changes the labels of several issues.
var (
	labelQuery = regexp.MustCompile(`^\s*query\b[^{]*\{(?:\s*\w+: repository\(owner: \$\w+, name: \$\w+\) \{(?:\s*\w+: label\(name: \$\w+\) \{ id name \})+\s*\})+\s*\}\s*$`)
	ofRepo     = regexp.MustCompile(`(\w+): repository\(owner: \$(\w+), name: \$(\w+)\) \{((?:\s*\w+: label\(name: \$\w+\) \{ id name \})+)`)
	ofLabel    = regexp.MustCompile(`(\w+): label\(name: \$(\w+)\)`)

	labelMutation = regexp.MustCompile(`^\s*mutation\b[^{]*\{(?:\s*` + labelField + `)+\s*\}\s*$`)
	ofMutation    = regexp.MustCompile(labelField)
)

const labelField = `(\w+): (addLabelsToLabelable|removeLabelsFromLabelable)\(input: \{labelableId: \$(\w+), labelIds: \$(\w+)\}\) ` +
	`\{ labelable \{ labels\(first: 100\) \{ nodes \{ name \} \} \} \}`

// mutates reports whether the body of a GraphQL request is a mutation.
func mutates(body []byte) bool {
	var q graphqlRequest
	return json.Unmarshal(body, &q) == nil && strings.HasPrefix(strings.TrimSpace(q.Query), "mutation")
}

func (q graphqlRequest) text(variable string) string { return fmt.Sprint(q.Variables[variable]) }

// targets are the issues that a call writes, as far as it names any.
func (c *call) targets() []Call {
	if c.Op != "graphql.labels" {
		return []Call{c.Call}
	}
	var q graphqlRequest
	if c.decode(&q) != nil {
		return nil
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var out []Call
	for _, m := range ofMutation.FindAllStringSubmatch(q.Query, -1) {
		if i := c.s.node(q.text(m[3])); i != nil {
			out = append(out, Call{Repo: i.repo.fullName(), Number: i.number})
		}
	}
	return out
}

// node finds an issue by its node id.
func (s *Server) node(id string) *issue {
	of := ofNode("I", id)
	for _, r := range s.repos {
		for _, i := range r.issues {
			if i.id == of && r.open(i.number) == i {
				return i
			}
		}
	}
	return nil
}

// graphqlReply is a partial answer: a field with an error is null.
func graphqlReply(data fields, errors []fields) reply {
	body := fields{"data": data}
	if len(errors) > 0 {
		body["errors"] = errors
	}
	return ok(body)
}

func graphqlError(kind, message string, path ...string) fields {
	return fields{"type": kind, "path": path, "message": message}
}

// labelIDs finds labels of repositories by name.
func (c *call) labelIDs(q graphqlRequest) reply {
	data, errors := fields{}, []fields(nil)
	for _, asked := range ofRepo.FindAllStringSubmatch(q.Query, -1) {
		name := q.text(asked[2]) + "/" + q.text(asked[3])
		r := c.s.repo(name)
		if r == nil {
			r = c.s.moved[lower(name)]
		}
		if r == nil || !c.s.canRead(c.who, r) {
			data[asked[1]] = nil
			errors = append(errors, graphqlError("NOT_FOUND", "Could not resolve to a Repository with the name '"+name+"'.", asked[1]))
			continue
		}
		labels := fields{}
		for _, a := range ofLabel.FindAllStringSubmatch(asked[4], -1) {
			labels[a[1]] = nil
			if l := r.label(q.text(a[2])); l != nil {
				labels[a[1]] = fields{"id": nodeID("LA", l.id), "name": l.name}
			}
		}
		data[asked[1]] = labels
	}
	return graphqlReply(data, errors)
}

// mutateLabels changes the labels of one issue after the other. One that fails keeps no other
// from being changed.
func (c *call) mutateLabels(q graphqlRequest) reply {
	if !labelMutation.MatchString(q.Query) {
		return ok(fields{"errors": []fields{{"message": "githubtest does not know this mutation", "extensions": fields{"code": "undefinedField"}}}})
	}
	data, errors := fields{}, []fields(nil)
	for _, m := range ofMutation.FindAllStringSubmatch(q.Query, -1) {
		data[m[1]] = nil
		i, refused := c.mutateIssue(m[2] == "addLabelsToLabelable", q.text(m[3]), q.Variables[m[4]])
		if refused != nil {
			refused["path"] = []string{m[1]}
			errors = append(errors, refused)
			continue
		}
		data[m[1]] = fields{"labelable": fields{"labels": fields{"nodes": wireAll(i.labels, func(l *label) fields { return fields{"name": l.name} })}}}
	}
	return graphqlReply(data, errors)
}

// mutateIssue adds labels to an issue or removes them, or says why it does not.
func (c *call) mutateIssue(adds bool, id string, labelIDs any) (*issue, fields) {
	i := c.s.node(id)
	if i == nil || !c.s.canRead(c.who, i.repo) {
		return nil, graphqlError("NOT_FOUND", "Could not resolve to a node with the global id of '"+id+"'")
	}
	if i.repo.spec.Archived || !c.s.canPush(c.who, i.repo) {
		return nil, graphqlError("FORBIDDEN", c.Login+" does not have the correct permissions to execute `AddLabelsToLabelable`")
	}
	wanted, _ := labelIDs.([]any)
	var labels []*label
	for _, want := range wanted {
		of := ofNode("LA", fmt.Sprint(want))
		at := slices.IndexFunc(i.repo.labels, func(l *label) bool { return l.id == of })
		if at < 0 {
			return nil, graphqlError("NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%v'", want))
		}
		labels = append(labels, i.repo.labels[at])
	}
	if !adds {
		for _, l := range labels {
			i.removeLabel(c.by(), l, false)
		}
		return i, nil
	}
	names := make([]string, len(labels))
	for n, l := range labels {
		names[n] = l.name
	}
	raw, _ := json.Marshal(names)
	if _, bad := labelNames(raw, i.labels); bad != nil {
		return nil, graphqlError("UNPROCESSABLE", "issues can have at most 100 labels")
	}
	i.addLabels(c.by(), names...)
	return i, nil
}
