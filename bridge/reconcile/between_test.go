package reconcile_test

import (
	"fmt"
	"testing"

	"planbridge/mapping/mappingtest"

	"planbridge/mapping"
)

// intrusion is a person's edit at the worst moment.
type intrusion struct {
	name string
	do   func(*world)
}

// more adds to what stands there: an edit that is built on it. other replaces
// it.
func more(a mapping.Attribute) func(string) string {
	return func(was string) string {
		if a == mapping.Estimate {
			return "21"
		}
		return "tok20\n\n" + was
	}
}

func other(a mapping.Attribute) func(string) string {
	if a == mapping.Estimate {
		return to("21")
	}
	return keepMark(a, "tok20")
}

// back undoes what somebody wrote.
func back(a mapping.Attribute) func(string) string {
	return keepMark(a, values{mapping.Title: "tok1", mapping.Summary: body, mapping.Estimate: "3"}[a])
}

func intrusions(a mapping.Attribute) []intrusion {
	return []intrusion{
		{"a person adds on GitHub", func(w *world) { w.editIssue(a, more(a)) }},
		{"a person adds in planning", func(w *world) { w.editCard(a, more(a)) }},
		{"a person replaces on GitHub", func(w *world) { w.editIssue(a, other(a)) }},
		{"a person replaces in planning", func(w *world) { w.editCard(a, other(a)) }},
		{"a person goes back on GitHub", func(w *world) { w.editIssue(a, back(a)) }},
		{"a person goes back in planning", func(w *world) { w.editCard(a, back(a)) }},
		{"people replace on both sides", func(w *world) {
			w.editIssue(a, other(a))
			w.editCard(a, keepMark(a, map[bool]string{true: "34", false: "tok21"}[a == mapping.Estimate]))
		}},
		{"a person edits twice in planning", func(w *world) {
			w.editCard(a, other(a))
			w.editCard(a, keepMark(a, map[bool]string{true: "34", false: "tok21"}[a == mapping.Estimate]))
		}},
	}
}

// disturbed are the scenarios that people disturb, and in which attribute.
func disturbed() map[mapping.Attribute][]scenario {
	out := map[mapping.Attribute][]scenario{}
	for a, v := range (values{mapping.Title: "tok9", mapping.Summary: "tok9\n\nmiddle\n\ntok3", mapping.Estimate: "13"}) {
		for _, p := range []mapping.Policy{mapping.PolicyMerge, mapping.PolicyGitHub} {
			out[a] = append(out[a],
				scenario{name: "the issue's " + string(a) + ", " + string(p), tune: policy(p), before: linked, do: func(w *world) { w.editIssue(a, to(v)) }},
				scenario{name: "the card's " + string(a) + ", " + string(p), tune: policy(p), before: linked, do: func(w *world) { w.rewriteCard(a, v) }},
			)
		}
		out[a] = append(out[a],
			scenario{name: "an issue with its " + string(a), do: linked},
			scenario{name: "a card with its " + string(a), do: mirrored},
		)
	}
	out[mapping.Summary] = append(out[mapping.Summary], scenario{name: "summaries merge", before: linked, do: func(w *world) {
		w.editIssue(mapping.Summary, line("tok2", "tok8"))
		w.editCard(mapping.Summary, line("tok3", "tok9"))
	}})
	return out
}

// TestPeopleEditInBetween lets a person edit just before each call of the
// bridge.
func TestPeopleEditInBetween(t *testing.T) {
	t.Parallel()
	eachIntrusion(t, func(t *testing.T, s scenario, points []point, in intrusion) {
		for at, p := range points {
			if spared(at) {
				continue
			}
			err := inWorld(t, func(w *world) {
				w.faults.before = func(i int, _ point) {
					if i == at {
						in.do(w)
					}
				}
				s.begin(w)
				w.verify(ends{conflicts: 4})
			})
			if err != nil {
				t.Error(fmt.Errorf("%s before call %d, %s: %w", in.name, at, p.name, err))
			}
		}
	})
}

// TestPeopleEditAfterAFault lets a person edit after each call that met its
// fate, before the bridge has recovered.
func TestPeopleEditAfterAFault(t *testing.T) {
	t.Parallel()
	eachIntrusion(t, func(t *testing.T, s scenario, points []point, in intrusion) {
		for at, p := range points {
			for n, fate := range p.fates() {
				if spared(at + n) {
					continue
				}
				err := inWorld(t, func(w *world) {
					w.faults.at, w.faults.fate, w.faults.then = at, fate, func() { in.do(w) }
					s.begin(w)
					w.verify(ends{conflicts: 4})
				})
				if err != nil {
					t.Error(fmt.Errorf("call %d, %s: %s; then %s: %w", at, p.name, fate, in.name, err))
				}
			}
		}
	})
}

func eachIntrusion(t *testing.T, try func(*testing.T, scenario, []point, intrusion)) {
	t.Helper()
	for a, list := range disturbed() {
		for _, s := range mappingtest.Drawn(list) {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				points := s.calm(t)
				for _, in := range intrusions(a) {
					if a == mapping.Estimate && in.name == "a person goes back on GitHub" {
						continue // labels do not tell what they were made from
					}
					try(t, s, points, in)
				}
			})
		}
	}
}
