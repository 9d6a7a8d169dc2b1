package reconcile_test

import (
	"context"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

const body = "tok2\n\nmiddle\n\ntok3"

// linked is an issue with its card.
func linked(w *world) { w.openIssue("tok1", body, "points/3") }

// agree is a linked pair that has settled.
func (w *world) agree() {
	linked(w)
	w.settle()
}

// mirrored is a card with its issue.
func mirrored(w *world) { w.addCard("tok1", body, "3") }

type values = map[mapping.Attribute]string

func scenarios() []scenario {
	var all []scenario
	for _, group := range [][]scenario{creations(), edits(), meetings(), states(), refusals(), leavings(), transfers(), showings()} {
		all = append(all, group...)
	}
	return all
}

func creations() []scenario {
	return []scenario{
		{
			name: "an issue becomes a card", do: linked,
			ends: ends{want: values{mapping.Title: "tok1", mapping.Summary: body, mapping.Estimate: "3"}},
		},
		{
			name: "a closed card becomes an issue", do: mirrored,
			ends: ends{want: values{mapping.Title: "tok1", mapping.Estimate: "3", mapping.State: mapping.StateTodo}},
		},
		{
			name: "an issue in progress becomes a card", do: func(w *world) { w.openIssue("tok1", "", "in-progress") },
			ends: ends{want: values{mapping.Title: "tok1", mapping.State: mapping.StateInProgress}},
		},
		{
			name: "a card with mentions becomes an issue", do: func(w *world) { w.addCard("tok1", "ask @bob tok2 #12", "") },
			ends: ends{want: values{mapping.Title: "tok1"}},
		},
		{name: "a long title is cut", do: func(w *world) { w.addCard("tok1 "+strings.Repeat("long ", 80), "", "") }},
		{name: "planning rewrites what it stores", tune: func(w *world) {
			w.plan.stored = func(s string) string { return strings.ReplaceAll(s, "* ", "- ") }
		}, do: func(w *world) { w.openIssue("tok1", "* tok2\n* tok3") }},
	}
}

func edits() []scenario {
	all := []scenario{
		{name: "several attributes on GitHub", before: linked, do: func(w *world) {
			w.editIssue(mapping.Title, to("tok9"))
			w.editIssue(mapping.Summary, line("tok2", "tok8"))
			w.editIssue(mapping.Estimate, to("8"))
		}, ends: ends{want: values{mapping.Title: "tok9", mapping.Estimate: "8"}}},
		{name: "several attributes in planning", before: linked, do: func(w *world) {
			w.editCard(mapping.Title, to("tok9"))
			w.editCard(mapping.Summary, line("tok2", "tok8"))
			w.editCard(mapping.Estimate, to("8"))
			w.editCard(mapping.State, to(mapping.StateDone))
		}, ends: ends{want: values{mapping.Title: "tok9", mapping.Estimate: "8", mapping.State: mapping.StateDone}}},
		{name: "different attributes on both sides", before: mirrored, do: func(w *world) {
			w.editIssue(mapping.Title, to("tok9"))
			w.editCard(mapping.Summary, line("tok2", "tok8"))
			w.editCard(mapping.Estimate, to("8"))
		}, ends: ends{want: values{mapping.Title: "tok9", mapping.Estimate: "8"}}},
		{
			name: "an estimate's label goes", before: linked, do: func(w *world) { w.editIssue(mapping.Estimate, to("")) },
			ends: ends{want: values{mapping.Estimate: "3"}},
		},
		{name: "an estimate's label is doubled", before: linked, do: func(w *world) {
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "points/8") })
			w.words.wrote(mapping.Estimate, "3", "8")
		}, ends: ends{want: values{mapping.Estimate: "8"}}},
		{name: "the issue's marker goes", before: mirrored, do: func(w *world) {
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Body, _ = keys.Body(i.Body) })
		}},
		{name: "the card's marker goes", before: linked, do: func(w *world) {
			w.editCard(mapping.Summary, func(s string) string { s, _ = keys.Body(s); return s })
		}},
	}
	for name, v := range map[mapping.Attribute]string{mapping.Title: "tok9", mapping.Summary: "tok9\n\ntok3", mapping.Estimate: "13"} {
		want := ends{want: values{name: v}}
		all = append(all,
			scenario{name: "the issue's " + string(name), before: linked, do: func(w *world) { w.editIssue(name, to(v)) }, ends: want},
			scenario{name: "the mirrored issue's " + string(name), before: mirrored, do: func(w *world) { w.rewriteIssue(name, v) }, ends: want},
			scenario{name: "the card's " + string(name), before: linked, do: func(w *world) { w.rewriteCard(name, v) }, ends: want},
			scenario{name: "the mirrored card's " + string(name), before: mirrored, do: func(w *world) { w.editCard(name, to(v)) }, ends: want},
		)
	}
	return all
}

// rewriteIssue replaces a value but keeps the marker behind it.
func (w *world) rewriteIssue(a mapping.Attribute, v string) { w.editIssue(a, keepMark(a, v)) }

func (w *world) rewriteCard(a mapping.Attribute, v string) { w.editCard(a, keepMark(a, v)) }

func keepMark(a mapping.Attribute, v string) func(string) string {
	return func(was string) string {
		text, _ := keys.Body(was)
		if a != mapping.Summary {
			return v
		}
		return v + strings.TrimPrefix(was, text)
	}
}

// policy makes all conflicts of a route end one way.
func policy(p mapping.Policy) func(*world) {
	return func(w *world) { w.route.DefaultPolicy = p }
}

func meetings() []scenario {
	both := func(a mapping.Attribute, g, p string) func(*world) {
		return func(w *world) {
			w.editIssue(a, to(g))
			w.rewriteCard(a, p)
		}
	}
	all := []scenario{
		{name: "summaries merge", before: linked, do: func(w *world) {
			w.editIssue(mapping.Summary, line("tok2", "tok8"))
			w.editCard(mapping.Summary, line("tok3", "tok9"))
		}, ends: ends{want: values{mapping.Summary: "tok8\n\nmiddle\n\ntok9"}}},
		{name: "mirrored summaries merge", before: mirrored, do: func(w *world) {
			w.editIssue(mapping.Summary, line("tok2", "tok8"))
			w.editCard(mapping.Summary, line("tok3", "tok9"))
		}, ends: ends{want: values{mapping.Summary: "tok8\n\nmiddle\n\ntok9"}}},
		{
			name: "both write the same", before: linked, do: both(mapping.Title, "tok9", "tok9"),
			ends: ends{want: values{mapping.Title: "tok9"}},
		},
		{
			name: "summaries do not merge", before: linked, do: both(mapping.Summary, "tok8", "tok9"),
			ends: ends{want: values{mapping.Summary: "tok9"}, conflicts: 1},
		},
		{name: "three meet at once", before: linked, do: func(w *world) {
			both(mapping.Title, "tok6", "tok7")(w)
			both(mapping.Summary, "tok8", "tok9")(w)
			both(mapping.Estimate, "5", "8")(w)
		}, ends: ends{want: values{mapping.Title: "tok7", mapping.Summary: "tok9", mapping.Estimate: "8"}, conflicts: 3}},
		{
			name: "long texts meet", before: linked, do: both(mapping.Summary, "tok8 "+strings.Repeat("x", 31_000), "tok9 "+strings.Repeat("y", 31_000)),
			ends: ends{conflicts: 1},
		},
		{
			name: "nobody answers", tune: policy(mapping.PolicyAsk), before: linked, do: both(mapping.Title, "tok8", "tok9"),
			ends: ends{conflicts: 1, open: true},
		},
		{name: "an operator answers", tune: policy(mapping.PolicyAsk), before: linked, do: func(w *world) {
			both(mapping.Title, "tok8", "tok9")(w)
			w.after(20*time.Minute, func() { w.answer(mapping.GitHub) })
		}, ends: ends{want: values{mapping.Title: "tok8"}, conflicts: 1}},
		{name: "people make them equal", tune: policy(mapping.PolicyAsk), before: linked, do: func(w *world) {
			both(mapping.Title, "tok8", "tok9")(w)
			w.after(20*time.Minute, func() { w.editIssue(mapping.Title, to("tok9")) })
		}, ends: ends{want: values{mapping.Title: "tok9"}, conflicts: 1}},
		{name: "people take both edits back", tune: policy(mapping.PolicyAsk), before: linked, do: func(w *world) {
			both(mapping.Title, "tok8", "tok9")(w)
			w.after(20*time.Minute, func() { both(mapping.Title, "tok1", "tok1")(w) })
		}, ends: ends{want: values{mapping.Title: "tok1"}, conflicts: 1}},
	}
	for p, wins := range map[mapping.Policy]string{mapping.PolicyPlanning: "tok9", mapping.PolicyGitHub: "tok8"} {
		for _, a := range []mapping.Attribute{mapping.Title, mapping.Summary} {
			all = append(all, scenario{
				name: string(a) + " meet, policy " + string(p), tune: policy(p), before: linked,
				do: both(a, "tok8", "tok9"), ends: ends{want: values{a: wins}, conflicts: 1},
			})
		}
	}
	return all
}

// answer is an operator who answers the open question.
func (w *world) answer(side mapping.Side) {
	for _, c := range w.conflicts() {
		if c.State != mapping.ConflictOpen {
			continue
		}
		c.State, c.Winner = mapping.ConflictAnswered, side
		w.check(w.store.PutConflict(context.Background(), c))
		w.check(w.store.Enqueue(context.Background(), store.Key{Project: project, Link: c.Link}, 0, false))
	}
}

func states() []scenario {
	var all []scenario
	steps := []string{mapping.StateTodo, mapping.StateInProgress, mapping.StateDone}
	for _, from := range steps {
		for _, is := range steps {
			if from == is {
				continue
			}
			want := ends{want: values{mapping.State: is}}
			before := func(w *world) { linked(w); w.settle(); w.editIssue(mapping.State, to(from)) }
			all = append(all,
				scenario{name: "the issue goes from " + from + " to " + is, before: before, do: func(w *world) { w.editIssue(mapping.State, to(is)) }, ends: want},
				scenario{name: "the task goes from " + from + " to " + is, before: before, do: func(w *world) { w.editCard(mapping.State, to(is)) }, ends: want},
			)
		}
	}
	return append(all, scenario{name: "the states meet", tune: policy(mapping.PolicyGitHub), before: linked, do: func(w *world) {
		w.editIssue(mapping.State, to(mapping.StateInProgress))
		w.editCard(mapping.State, to(mapping.StateDone))
	}, ends: ends{want: values{mapping.State: mapping.StateInProgress}, conflicts: 1}})
}

func refusals() []scenario {
	refuse := func(which mapping.Attribute, what string) func(a mapping.Attribute, v string) *mapping.Rejection {
		return func(a mapping.Attribute, v string) *mapping.Rejection {
			if a == which && v == what {
				return &mapping.Rejection{Status: 422, Message: "no " + v}
			}
			return nil
		}
	}
	return []scenario{
		{name: "planning refuses an estimate", before: linked, do: func(w *world) {
			w.plan.refuse = refuse(mapping.Estimate, "8")
			w.editIssue(mapping.Title, to("tok9"))
			w.editIssue(mapping.Estimate, to("8"))
		}, ends: ends{open: true}},
		{name: "planning refuses a new issue's estimate", do: func(w *world) {
			w.plan.refuse = refuse(mapping.Estimate, "3")
			linked(w)
		}, ends: ends{open: true}},
		{name: "GitHub refuses a title", before: linked, do: func(w *world) {
			w.hub.refuse = refuse(mapping.Title, "tok8")
			w.editCard(mapping.Title, to("tok8"))
			w.editCard(mapping.Summary, line("tok2", "tok9"))
		}, ends: ends{open: true}},
	}
}

func leavings() []scenario {
	ignore := func(i *mapping.Issue) { i.Labels = append(i.Labels, "plan:ignore") }
	return []scenario{
		{name: "an issue leaves and comes back", before: linked, do: func(w *world) {
			w.hub.change(w.issue(), dev, ignore)
			w.settle()
			w.editIssue(mapping.Title, to("tok8"))
			w.editCard(mapping.Estimate, to("8"))
			w.settle()
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = without(i.Labels, "plan:ignore") })
		}, ends: ends{want: values{mapping.Title: "tok8", mapping.Estimate: "8"}}},
		{name: "a card goes and comes back", before: linked, do: func(w *world) {
			w.plan.gone = true
			w.editIssue(mapping.Title, to("tok8"))
			w.settle()
			w.plan.gone = false
			w.editCard(mapping.Estimate, to("8"))
		}, ends: ends{want: values{mapping.Title: "tok8", mapping.Estimate: "8"}}},
		{name: "an issue goes and comes back", before: mirrored, do: func(w *world) {
			w.hub.gone = true
			w.editCard(mapping.Title, to("tok8"))
			w.settle()
			w.hub.gone = false
			w.editIssue(mapping.Estimate, to("8"))
		}, ends: ends{want: values{mapping.Title: "tok8", mapping.Estimate: "8"}}},
	}
}
