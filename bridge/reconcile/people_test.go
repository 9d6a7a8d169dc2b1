package reconcile_test

import (
	"regexp"
	"slices"
	"strings"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// journal knows every word that a person wrote. A word is "tok" and a number,
// or an estimate; each is written only once. A word that a person removed
// needs not be anywhere any more; every other one must not vanish.
type journal struct {
	words   []word
	removed map[word]bool
}

type word struct {
	attr mapping.Attribute
	text string
}

func newJournal() *journal { return &journal{removed: map[word]bool{}} }

var token = regexp.MustCompile(`tok\d+`)

func wordsOf(a mapping.Attribute, value string) []string {
	switch {
	case a == mapping.State || value == "":
		return nil
	case a == mapping.Estimate:
		return []string{value}
	}
	return token.FindAllString(value, -1)
}

// wrote takes in that a person made to of from.
func (j *journal) wrote(a mapping.Attribute, from, to string) {
	was, is := wordsOf(a, from), wordsOf(a, to)
	for _, t := range was {
		if !slices.Contains(is, t) {
			j.removed[word{a, t}] = true
		}
	}
	for _, t := range is {
		if !slices.Contains(was, t) {
			j.words = append(j.words, word{a, t})
			delete(j.removed, word{a, t})
		}
	}
}

// issue returns the only issue, card the only card, and task its tracking
// task.
func (w *world) issue() *ghIssue     { return w.hub.issues[0] }
func (w *world) card() *mapping.Card { return w.plan.cards[0] }

func (w *world) task() *mapping.Task {
	if len(w.plan.tasks) == 0 {
		return nil
	}
	return w.plan.tasks[0]
}

// openIssue is a person who opens an issue.
func (w *world) openIssue(title, body string, labels ...string) {
	w.words.wrote(mapping.Title, "", title)
	w.words.wrote(mapping.Summary, "", body)
	value, _ := scheme.EstimateOf(labels, "")
	w.words.wrote(mapping.Estimate, "", value)
	w.hub.open(dev, reconcile.NewIssue{Title: title, Body: body, Labels: labels})
}

// addCard is a person who adds a card.
func (w *world) addCard(title, summary, estimate string) {
	w.words.wrote(mapping.Title, "", title)
	w.words.wrote(mapping.Summary, "", summary)
	w.words.wrote(mapping.Estimate, "", estimate)
	w.plan.add(reconcile.NewItem{Title: title, Summary: summary, Estimate: estimate})
}

// editIssue is a person who edits one attribute of the issue, seeing what
// stands there.
func (w *world) editIssue(a mapping.Attribute, edit func(string) string) {
	if len(w.hub.issues) == 0 {
		return
	}
	i := w.issue()
	view, _ := mapping.IssueView(&i.Issue, scheme, mapping.Keys{}, nil)
	from := view[a].Value
	to := edit(from)
	w.words.wrote(a, from, to)
	w.hub.change(i, dev, func(s *mapping.Issue) {
		switch a {
		case mapping.Title:
			s.Title = to
		case mapping.Summary:
			s.Body = to
		case mapping.Estimate:
			s.Labels = slices.DeleteFunc(slices.Clone(s.Labels), func(l string) bool { return strings.HasPrefix(l, "points/") })
			if to != "" {
				s.Labels = append(s.Labels, scheme.EstimateLabel(to))
			}
		case mapping.State:
			s.State, s.StateReason, s.Labels = "open", "", without(s.Labels, scheme.InProgress)
			if to == mapping.StateDone {
				s.State, s.StateReason = "closed", "completed"
			} else if to == mapping.StateInProgress {
				s.Labels = append(s.Labels, scheme.InProgress)
			}
		}
	})
}

// editCard is a person who edits one attribute of the card, or the state of
// its task.
func (w *world) editCard(a mapping.Attribute, edit func(string) string) {
	if len(w.plan.cards) == 0 {
		return
	}
	c := w.card()
	if a == mapping.State {
		t := w.task()
		if t == nil {
			return
		}
		if to := edit(t.State.Value); to != t.State.Value {
			t.State = mapping.Versioned{Value: to, Version: t.State.Version + 1}
			t.Version++
			c.CountersVersion++
			c.Version++
		}
		return
	}
	v := cardAttrs(c)[a]
	to := edit(v.Value)
	if to == v.Value {
		return
	}
	w.words.wrote(a, v.Value, to)
	*v = mapping.Versioned{Value: to, Version: v.Version + 1}
	c.Version++
}

// edits that people make.

func to(value string) func(string) string { return func(string) string { return value } }

// line replaces or adds a line: "tok1" becomes "tok1 and then tok9".
func line(was, is string) func(string) string {
	return func(text string) string {
		if strings.Contains(text, was) {
			return strings.Replace(text, was, is, 1)
		}
		return is + "\n" + text
	}
}
