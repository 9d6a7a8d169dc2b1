package reconcile

import (
	"fmt"
	"testing"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
	"planbridge/store"
)

// keptAs says what is wrong where other entries are put into the ledger.
func keptAs(want ...string) func([]any) string {
	return func(effects []any) string {
		var got []string
		for _, e := range effects {
			if put, is := e.(PutConflict); is {
				c := put.Conflict
				got = append(got, fmt.Sprintf("%s %s, winner %q by %q: %s", c.Attribute, c.State, c.Winner, c.AnsweredBy, c.Rule))
			}
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			return fmt.Sprintf("the ledger gets %q, want %q", got, want)
		}
		return ""
	}
}

// TestEndOfAQuestion: the entry of a question in the ledger says how it ended.
func TestEndOfAQuestion(t *testing.T) {
	id := mapping.ConflictID("c", mapping.Title, "b", "c")
	rule := func(w work) (verdict, error) {
		return pass, ledger(w).closeQuestion(w.pair.Asking[mapping.Title], w.round.plan.Decisions[0])
	}
	decided := func(winner mapping.Side, action mapping.Action, change ...func(*mapping.Decision)) func(work) {
		d := mapping.Decision{Attribute: mapping.Title, Action: action, Winner: winner, Why: "the policy", Base: mapping.Base{GitHub: "b", Planning: "c"}}
		for _, f := range change {
			f(&d)
		}
		return planned(d)
	}
	by := func(who string) func(*mapping.Decision) { return func(d *mapping.Decision) { d.By = who } }
	answered := func(c *mapping.Conflict) {
		c.State, c.Winner, c.AnsweredBy = mapping.ConflictAnswered, mapping.GitHub, "eve"
	}
	asked := []string{"ReadConflict", "PutConflict"}
	ask, open := asking(mapping.Title, id), entryIs(entry(mapping.ConflictOpen))
	checkRule(t, rule, []ruleCase{
		{name: "a policy decided it", link: ask, known: decided(mapping.Planning, mapping.ResolveConflict), answers: open, asked: asked, counts: []string{"1 web title planning"}, wrong: keptAs(`title settled, winner "planning" by "": the policy`)},
		{name: "an operator answered it", link: ask, known: decided(mapping.GitHub, mapping.ToPlan, by("eve")), answers: entryIs(entry("", answered)), asked: asked, counts: []string{"1 web title github"}, wrong: keptAs(`title settled, winner "github" by "eve": the policy`)},
		{name: "one side won, and nobody was asked about that", link: ask, known: decided(mapping.GitHub, mapping.ToPlan), answers: open, asked: asked, counts: []string{}, wrong: keptAs(`title settled, winner "github" by "": the policy`)},
		{
			name: "other values were decided on", link: asking(mapping.Title, "q"), known: decided(mapping.Planning, mapping.ResolveConflict), answers: entryIs(entry("", answered)), asked: asked, counts: []string{},
			wrong: keptAs(`title settled, winner "" by "": other values were decided on: the policy`),
		},
		{
			name: "the values that were written are those of the question", link: ask, answers: open, asked: asked, wrong: keptAs(`title settled, winner "planning" by "": the policy`),
			known: decided(mapping.Planning, mapping.ResolveConflict, func(d *mapping.Decision) {
				d.Base = mapping.Base{GitHub: "x", Planning: "y"}
				d.GitHub, d.Planning = &mapping.Write{From: "b", To: "c"}, &mapping.Write{From: "c", To: "c"}
			}),
		},
		{name: "people are asked anew", link: ask, known: decided("", mapping.Ask), answers: entryIs(entry("", answered)), asked: asked, counts: []string{}, wrong: keptAs(`title settled, winner "" by "": the policy`)},
		{name: "both sides were made equal", link: ask, known: decided("", mapping.Adopt), answers: open, asked: asked, counts: []string{}, wrong: keptAs(`title settled, winner "" by "": the policy`)},
		{name: "the store lost it", link: ask, known: decided("", mapping.Adopt), answers: map[string]any{"ReadConflict": store.ErrNotFound}, asked: asked[:1]},
		{name: "the store does not tell it", link: ask, known: decided("", mapping.Adopt), answers: map[string]any{"ReadConflict": errAway}, asked: asked[:1], err: "read conflict"},
		{name: "the store does not take it", link: ask, known: decided(mapping.Planning, mapping.ResolveConflict), answers: with(entryIs(entry(mapping.ConflictOpen)), map[string]any{"PutConflict": errAway}), asked: asked, counts: []string{}, err: "keep conflict"},
	})
}

// TestAnswerCame: an operator may answer one of several questions.
func TestAnswerCame(t *testing.T) {
	rule := func(w work) (verdict, error) { return endIf(ledger(w).answerCame()) }
	two := links(asking(mapping.Title, "q1"), func(l *mapping.Link) { l.Asking[mapping.Summary] = "q2" })
	open, answered := entry(mapping.ConflictOpen), entry(mapping.ConflictAnswered)
	asked := []string{"ReadConflict", "ReadConflict"}
	read := func(entries ...any) map[string]any { return map[string]any{"ReadConflict": turns(entries)} }
	tracked := func(l *mapping.Link) { l.Children[0].Asking = map[mapping.Attribute]string{mapping.State: "q3"} }
	checkRule(t, rule, []ruleCase{
		{name: "nobody is asked"},
		{name: "none is answered", link: two, answers: read(open, open), asked: asked},
		{name: "the first one is", link: two, answers: read(answered), asked: asked[:1], want: end},
		{name: "the second one is", link: two, answers: read(open, answered), asked: asked, want: end},
		{name: "the store lost the first one", link: two, answers: read(store.ErrNotFound, answered), asked: asked, want: end},
		{name: "the store does not tell", link: two, answers: read(errAway), asked: asked[:1], err: "read conflict q1"},
		{name: "the one about its state is", link: tracked, answers: read(answered), asked: asked[:1], want: end},
		{name: "a sub-issue does not ask for its root", link: links(tracked, func(l *mapping.Link) { l.Kind = mapping.SubIssue })},
	})
}

// TestForgottenTexts: a text that a forgotten write ran over is kept once.
func TestForgottenTexts(t *testing.T) {
	rule := func(w work) (verdict, error) {
		var lost []journal.LostUpdate
		for _, text := range w.extra {
			lost = append(lost, journal.LostUpdate{Write: mapping.Pending{To: "ours"}, Text: text})
		}
		return pass, repairer(w).keepEach(mapping.Title, lost)
	}
	lost := func(texts ...string) func(work) { return knows(whole, unchanged(), func(w work) { w.extra = texts }) }
	comments := func(more map[string]any, cs ...Comment) map[string]any {
		return with(map[string]any{"ReadComments": cs, "ReadConflict": store.ErrNotFound, "CreateComment": Comment{ID: 1}}, more)
	}
	once := []string{"ReadConflict", "ReadConflict", "PutConflict title settled planning", "Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict"}
	keeps := func(n int) []string {
		all := []string{"ReadComments"}
		for range n {
			all = append(all, once...)
		}
		return all
	}
	entry := `title settled, winner "planning" by "": a write of ours ran over an edit before the store was lost`
	checkRule(t, rule, []ruleCase{
		{name: "none"},
		{name: "one", known: lost("mine"), answers: comments(nil), asked: keeps(1), check: tells("conflict"), wrong: keptAs(entry, entry)},
		{name: "a comment of ours has it", known: lost("mine"), answers: comments(nil, Comment{Author: "bridge", Body: "it was: mine"}), asked: keeps(0), check: tells()},
		{name: "a comment of ours has another one", known: lost("mine"), answers: comments(nil, Comment{Author: "bridge", Body: "it was: yours"}), asked: keeps(1), check: tells("conflict")},
		{name: "a person's comment has it", known: lost("mine"), answers: comments(nil, Comment{Author: "ann", Body: "mine"}), asked: keeps(1), check: tells("conflict")},
		{name: "two, of which a comment has the first one", known: lost("mine", "yours"), answers: comments(nil, Comment{Author: "bridge", Body: "mine"}), asked: keeps(1), check: tells("conflict")},
		{name: "the comments cannot be read", known: lost("mine"), answers: map[string]any{"ReadComments": errAway}, asked: keeps(0), err: "comments: "},
		{name: "the ledger cannot be read", known: lost("mine"), answers: comments(map[string]any{"ReadConflict": errAway}), asked: append(keeps(0), "ReadConflict"), err: "read conflict", check: tells()},
	})
}
