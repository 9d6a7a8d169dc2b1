package reconcile_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// entries are the lines of the link's history with that word, oldest first.
func (w *world) entries(what string) (out []mapping.Entry) {
	lines, err := w.store.History(context.Background(), store.Key{Project: project, Link: w.link().ID}, 1000)
	w.check(err)
	for _, line := range slices.Backward(lines) {
		if line.What == what {
			out = append(out, line)
		}
	}
	return out
}

// TestAnAnswerNamesWhoGaveIt: an operator answers a question. The write names the operator in the
// history and in the log, and the ledger keeps the name. All other edits are not the operator's.
func TestAnAnswerNamesWhoGaveIt(t *testing.T) {
	t.Parallel()
	for winner, written := range map[mapping.Side]mapping.Side{mapping.GitHub: mapping.Planning, mapping.Planning: mapping.GitHub} {
		t.Run(string(winner), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(mapping.PolicyAsk)
				w.agree()
				w.rewriteIssue(mapping.Title, "tok8")
				w.rewriteCard(mapping.Title, "tok9")
				w.settle()
				for _, c := range w.conflicts() {
					c.State, c.Winner, c.AnsweredBy, c.Rule = mapping.ConflictAnswered, winner, "alice", "alice answered: "+string(winner)
					w.check(w.store.PutConflict(context.Background(), c))
					w.check(w.store.Enqueue(context.Background(), store.Key{Project: project, Link: c.Link}, 0, false))
				}
				w.settle()
				w.editIssue(mapping.Summary, to("tok7"))
				w.settle()
				w.verify(ends{want: values{mapping.Summary: "tok7"}, conflicts: 1})
				lines := w.entries("answer")
				if len(lines) != 1 || lines[0].Who != "alice" || lines[0].Side != written || lines[0].Attribute != mapping.Title || !strings.HasPrefix(lines[0].Why, "alice answered: ") {
					w.fail("the history says %+v", lines)
				}
				if c := w.conflicts()[0]; c.State != mapping.ConflictSettled || c.Winner != winner || c.AnsweredBy != "alice" {
					w.fail("the ledger says %+v", c)
				}
				if !strings.Contains(w.log.String(), `msg=answer`) || !strings.Contains(w.log.String(), `why="alice answered: `) {
					w.fail("the log does not name who answered")
				}
				for _, e := range w.entries("write") {
					if e.Who == "alice" || e.Attribute == mapping.Title && e.At.After(lines[0].At) {
						w.fail("the history says %+v", e)
					}
				}
			})
		})
	}
}

// TestBothWritesOfAnUndoNameWhoAskedForIt: an operator undoes a conflict. The loser is written to
// its side, and from there to the other one, under the same claim or a later one. Both writes are
// the operator's. An edit of a person that follows is not.
func TestBothWritesOfAnUndoNameWhoAskedForIt(t *testing.T) {
	t.Parallel()
	for _, policy := range []mapping.Policy{mapping.PolicyPlanning, mapping.PolicyGitHub} {
		for _, f := range []fate{"", unavailable, crashBefore, crashAfter} {
			t.Run(string(policy)+" "+string(f), func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.decideBy(policy)
					w.agree()
					w.rewriteIssue(mapping.Title, "tok8")
					w.rewriteCard(mapping.Title, "tok9")
					w.settle()
					second := map[mapping.Policy]string{mapping.PolicyPlanning: "UpdateCard", mapping.PolicyGitHub: "EditIssue"}[policy]
					if f != "" {
						w.befall(second, f, func() {})
					}
					c := w.conflicts()[0]
					c.UndoneBy = "alice"
					w.check(w.store.PutConflict(context.Background(), c))
					w.alter(func(l *mapping.Link) { l.Undo = map[mapping.Attribute]string{mapping.Title: c.ID} })
					w.settle()
					if f != "" && !w.faults.fired {
						w.fail("nothing befell the second write")
					}
					switch f { // the acts of a claim that crashes are not in the history
					case "", unavailable:
						w.namesOf("undo", "alice", "alice")
					case crashBefore:
						w.namesOf("undo", "alice")
					}
					w.rewriteIssue(mapping.Title, "tok7")
					w.settle()
					if l := w.link(); len(l.Undo) > 0 {
						w.fail("the undo is not done with: %v", l.Undo)
					}
					if last := w.entries("write"); len(last) == 0 || last[len(last)-1].Who == "alice" {
						w.fail("the history says %+v", last)
					}
				})
			})
		}
	}
}

// namesOf checks who stands in the lines of the history with that word.
func (w *world) namesOf(what string, want ...string) {
	var names []string
	for _, e := range w.entries(what) {
		names = append(names, e.Who)
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		w.fail("the lines %q name %q, want %q: %+v", what, names, want, w.entries(what))
	}
}

// TestAMarkerThatComesBackIsNobodysEdit: a person takes the marker off a card. It comes back, and
// the history says that and no edit of the text.
func TestAMarkerThatComesBackIsNobodysEdit(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		writes := len(w.entries("write"))
		c := w.card()
		text, _ := keys.Body(c.Summary.Value)
		c.Summary = mapping.Versioned{Value: text, Version: c.Summary.Version + 1}
		c.Version++
		w.settle()
		if n := len(w.entries("write")); n != writes {
			w.fail("%d writes more", n-writes)
		}
		if marks := w.entries("mark"); len(marks) != 1 || marks[0].Who != "" {
			w.fail("the history says %+v", marks)
		}
	})
}
