package reconcile

import (
	"fmt"
	"testing"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
	"planbridge/store"
)

// stepped has the record know that a write of ours left the issue with the title b.
func stepped(when time.Time, changes ...func(*mapping.Issue)) func(*mapping.Link) {
	return func(l *mapping.Link) {
		i := issueOf(append([]func(*mapping.Issue){by("bridge"), named("b")}, changes...)...)
		journal.Step(&l.Journal, mapping.DigestIssue(&i), when)
	}
}

// TestOwnEvents: an event of our own account shows a write of ours, or somebody who uses the account.
func TestOwnEvents(t *testing.T) {
	say := func(w work) (string, error) {
		_, err := takeInEvents(w)
		s, had := w.claim.Inbox[mapping.IssueRef(7)]
		if !had {
			return "nothing new", err
		}
		shown := w.inbox[mapping.IssueRef(7)].(*mapping.Issue) //nolint:errcheck,forcetypeassert // a test
		return fmt.Sprintf("%q of %ds, seen %v, ambiguous %t", shown.Title, s.At-noon.Unix(), s.Seen.Sub(noon), s.Ambiguous), err
	}
	second := func(n int) func(*mapping.Issue) {
		return func(i *mapping.Issue) { i.UpdatedAt = noon.Add(time.Duration(n) * time.Second) }
	}
	event := func(label string, on bool, changes ...func(*mapping.Issue)) func(work) {
		return events(mapping.IssueEvent{Step: &mapping.OwnEvent{Issue: issueOf(append([]func(*mapping.Issue){by("bridge"), named("b")}, changes...)...), Came: noon.Add(time.Minute), Label: label, On: on}})
	}
	had := func(title string, changes ...func(*mapping.Issue)) func(work) {
		return issueTold(issueOf(append([]func(*mapping.Issue){named(title)}, changes...)...))
	}
	plain := event("", false)
	step := func(changes ...func(*mapping.Issue)) func(*mapping.Link) {
		return stepped(noon.Add(time.Minute-time.Second), changes...)
	}
	done := shown(func(s *mapping.Shown) { s.Labels = []string{"plan:Done"} })
	const isNew, echo = `"b" of 0s, seen 1m0s, ambiguous false`, "nothing new"
	counts := []string{"2 github"}
	checkSays(t, say, []ruleCase{
		{name: "no write of ours explains it", known: plain, says: isNew, counts: []string{}},
		{name: "nothing has come before, not even an inbox", known: knows(func(w work) { w.claim.Inbox = nil }, plain), says: isNew},
		{name: "an older snapshot had come", known: knows(had("a", second(-5)), plain), says: `"b" of 0s, seen -5s, ambiguous false`},
		{name: "another snapshot of that second had come", known: knows(had("a"), plain), says: `"b" of 0s, seen 0s, ambiguous true`},
		{name: "the same snapshot had come", known: knows(had("b", by("bridge")), plain), says: `"b" of 0s, seen 0s, ambiguous false`},
		{name: "a newer snapshot had come", known: knows(had("a", second(5)), plain), says: `"a" of 5s, seen 5s, ambiguous false`},
		{name: "our write explains it", link: step(), known: plain, says: echo, counts: counts, check: is("it explains no other one", func(w work) bool { return len(w.pair.Steps) == 0 })},
		{name: "our write explains it, and an older snapshot is stale from now on", link: step(), known: plain, says: echo, check: is("it is", func(w work) bool { return w.pair.Issue.UpdatedAt.Equal(noon) })},
		{
			name: "our write explains it, and a newer state is known", link: links(step(), func(l *mapping.Link) { l.Issue.UpdatedAt = noon.Add(time.Hour) }), known: plain, says: echo,
			check: is("it is known still", func(w work) bool { return w.pair.Issue.UpdatedAt.Equal(noon.Add(time.Hour)) }),
		},
		{name: "our write was so long ago that the event is of another one", link: stepped(noon.Add(time.Minute - journal.Doubt)), known: plain, says: isNew},
		{name: "our write left another title", link: step(named("c")), known: plain, says: isNew, counts: []string{}},
		{name: "it agrees with the label that we set", link: done, known: event("plan:Done", true), says: echo, counts: counts},
		{name: "it agrees with the label that we took off", link: done, known: event("plan:To Do", false), says: echo, counts: counts},
		{name: "that label is off again", link: done, known: event("plan:Done", false), says: isNew},
		{name: "a label of people", link: links(done, shown(func(s *mapping.Shown) { s.Labels = []string{"bug"} })), known: event("bug", true), says: isNew},
		{name: "nothing is known of what the issue shows", known: event("plan:Done", true), says: isNew},
		{name: "a person set that label", link: done, known: event("plan:Done", true, by("ann")), says: `"b" of 0s, seen 1m0s, ambiguous false`},
	})
}

// TestIssueThatWasMade: an issue may be the one that the bridge made for a card, though a person took
// its marker off.
func TestIssueThatWasMade(t *testing.T) {
	rule := func(w work) (verdict, error) { return endIf(entrant(w).returnToCreator()) }
	body := testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkIssue, Link: "other", Nonce: "n5", Partner: "c5"})
	plain := "text"
	ours := func(changes ...func(*mapping.Issue)) func(work) {
		return unchanged(append([]func(*mapping.Issue){func(i *mapping.Issue) { i.Author = "bridge" }}, changes...)...)
	}
	edit := func(item mapping.Ref, from *string) func(work) {
		return func(w work) { w.edits = append(w.edits, mapping.IssueEvent{Item: item, BodyFrom: from}) }
	}
	maker := func(change ...func(*mapping.Link)) *mapping.Link {
		l := &mapping.Link{ID: "other", Project: "p", Pair: mapping.Pair{State: mapping.Creating, Card: mapping.CardID{ID: "c5"}}}
		for _, f := range change {
			f(l)
		}
		return l
	}
	by := func(l any, more map[string]any) map[string]any {
		return with(map[string]any{"FindLink": store.Key{Project: "p", Link: "other"}, "ReadLink": l, "Observe": observed}, more)
	}
	history := func(edits ...mapping.IssueEvent) map[string]any { return map[string]any{"ReadEdits": edits} }
	asked := []string{"FindLink", "ReadLink", "Observe to p: 1"}
	then := append([]string{"ReadEdits"}, asked...)
	gone := errRemove.Error()
	handed := hands("the link that made it gets the issue as it is", func(o *store.Observation) bool {
		return len(o.Refs) == 1 && o.Refs[0] == mapping.CardRef("c5") && o.Item == mapping.IssueRef(7) && o.Create == nil && len(o.Data) > 0 && eventOf(o).Look == mapping.LookHandedOver
	})
	checkRule(t, rule, []ruleCase{
		{name: "a person opened it", known: unchanged(bodied(body))},
		{name: "its marker is there", known: ours(bodied(body)), answers: by(maker(), nil), asked: asked, err: gone, wrong: handed},
		{name: "an import brought it", link: func(l *mapping.Link) { l.Import = mapping.ImportAll }, known: ours(bodied(body))},
		{name: "an event told of its marker", known: knows(ours(), edit(mapping.IssueRef(7), &body)), answers: by(maker(), nil), asked: asked, err: gone, wrong: handed},
		{name: "an event told of another body", known: knows(ours(), edit(mapping.IssueRef(7), &plain)), answers: history(), asked: then[:1]},
		{name: "an event told of a new title", known: knows(ours(), edit(mapping.IssueRef(7), nil)), answers: history(), asked: then[:1]},
		{name: "an event told of another issue's marker", known: knows(ours(), edit(mapping.IssueRef(9), &body)), answers: history(), asked: then[:1]},
		{
			name: "GitHub's history tells of its marker", known: ours(), answers: by(maker(), history(mapping.IssueEvent{}, mapping.IssueEvent{BodyFrom: &plain}, mapping.IssueEvent{BodyFrom: &body})), asked: then, err: gone, wrong: handed,
		},
		{name: "GitHub's history does not tell", known: ours(), answers: map[string]any{"ReadEdits": mapping.ErrForbidden}, asked: then[:1]},
		{name: "the link that made it has an issue by now", known: ours(bodied(body)), answers: by(maker(func(l *mapping.Link) { l.Issue.ID = 3 }), nil), asked: asked[:2]},
		{name: "the link that made it awaits none", known: ours(bodied(body)), answers: by(maker(func(l *mapping.Link) { l.State = mapping.Linked }), nil), asked: asked[:2]},
		{name: "the link that made it was just removed", known: ours(bodied(body)), answers: by(store.ErrNotFound, nil), asked: asked[:2]},
		{name: "no link has its card", known: ours(bodied(body)), answers: map[string]any{"FindLink": store.ErrNotFound}, asked: asked[:1]},
		{name: "the store does not say who has its card", known: ours(bodied(body)), answers: map[string]any{"FindLink": errAway}, asked: asked[:1], err: "find card:c5"},
		{name: "the store does not take it", known: ours(bodied(body)), answers: by(maker(), map[string]any{"Observe": errAway}), asked: asked, err: "hand over to card:c5"},
		{name: "it goes with what events told", known: knows(ours(bodied(body)), events(mapping.IssueEvent{Look: "x"})), answers: by(maker(), nil), asked: []string{"FindLink", "ReadLink", "Observe to p: 2"}, err: gone, wrong: handed},
	})
}
