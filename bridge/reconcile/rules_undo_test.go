package reconcile

import (
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

func TestUndo(t *testing.T) {
	undoing := func(base string) func(*mapping.Link) {
		return links(agreed(mapping.Title, base, base), func(l *mapping.Link) { l.Undo = map[mapping.Attribute]string{mapping.Title: "q"} })
	}
	lost := func(winner mapping.Side, state string, more map[string]any) map[string]any {
		return with(map[string]any{"ReadConflict": mapping.Conflict{
			ID: "q", Attribute: mapping.Title, GitHub: "b", Planning: "c", Winner: winner, State: state, UndoneBy: "eve",
		}, "ReadTask": mapping.Task{ID: "t", State: versioned("", 1)}}, more)
	}
	card := func(title string) mapping.Card { return mapping.Card{ID: "c", Version: 2, Title: versioned(title, 2)} }
	// have is what both sides have, as they were read under this claim.
	have := func(github, planning string) func(work) {
		return func(w work) {
			writing(issueOf(named(github)))(w)
			reader(w).setCard(&mapping.Card{ID: "c", Version: 2, Title: versioned(planning, 2)})
			w.p[mapping.State] = versioned("", 1)
		}
	}
	asked := func(more ...string) []string {
		return append([]string{"ReadConflict", "ReadCard", "ReadTask"}, more...)
	}
	over := is("the undo is done with", func(w work) bool { return len(w.pair.Undo) == 0 })
	open := is("the undo waits", func(w work) bool { return w.pair.Undo[mapping.Title] == "q" })
	settled := mapping.ConflictSettled
	checkRule(t, undo, []ruleCase{
		{name: "nobody asked for it"},
		{name: "the store lost the entry", link: undoing("c"), known: have("c", "c"), answers: map[string]any{"ReadConflict": store.ErrNotFound}, asked: []string{"ReadConflict"}, check: over},
		{name: "it was undone, and has crossed", link: undoing("b"), known: have("b", "b"), answers: lost(mapping.Planning, mapping.ConflictUndone, nil), asked: []string{"ReadConflict"}, check: over},
		{name: "the store does not say", link: undoing("c"), known: have("c", "c"), answers: map[string]any{"ReadConflict": errAway}, asked: []string{"ReadConflict"}, err: "read conflict", check: open},
		{
			name: "GitHub's loser is written to GitHub", link: undoing("c"), known: have("c", "c"), want: anew, check: all(open, tells("undo")),
			answers: lost(mapping.Planning, settled, map[string]any{"ReadCard": card("c"), "EditIssue": issueOf(named("b"))}), asked: asked("Save", "BeginWrite", `EditIssue title="b"`, "PutConflict title undone planning"),
		},
		{
			name: "planning's loser is written to planning", link: undoing("b"), known: have("b", "b"), want: anew, check: all(open, tells("undo")),
			answers: lost(mapping.GitHub, settled, map[string]any{"ReadCard": card("b"), "Update": titled("c", 3)}), asked: asked("Save", "BeginWrite", `Update card:c title="c"@2 by robot`, "PutConflict title undone github"),
		},
		{
			name: "planning moves meanwhile", link: undoing("b"), known: have("b", "b"), err: "planning moved while a conflict was undone", check: open,
			answers: lost(mapping.GitHub, settled, map[string]any{"ReadCard": card("b"), "Update": &mapping.VersionConflict{Current: map[mapping.Attribute]mapping.Versioned{mapping.Title: versioned("x", 3)}}}),
			asked:   asked("Save", "BeginWrite", "Update"),
		},
		{
			name: "planning's value was changed since", link: undoing("c"), known: have("c", "x"), want: anew, check: all(over, tells("undo")), answers: lost(mapping.Planning, settled, map[string]any{"ReadCard": card("x")}), asked: asked(),
		},
		{
			name: "GitHub's value was changed since", link: undoing("c"), known: have("x", "c"), want: anew, check: all(over, tells("undo")), answers: lost(mapping.Planning, settled, map[string]any{"ReadCard": card("c")}), asked: asked(),
		},
		{
			name: "planning's value won, and is not written yet", link: undoing("a"), known: have("b", "c"), check: all(open, tells()), answers: lost(mapping.Planning, settled, map[string]any{"ReadCard": card("c")}), asked: asked(),
		},
		{
			name: "GitHub's value won, and is not written yet", link: undoing("a"), known: have("b", "c"), check: all(open, tells()), answers: lost(mapping.GitHub, settled, map[string]any{"ReadCard": card("c")}), asked: asked(),
		},
		{
			name: "the loser is back on GitHub: the answer to its write was lost", link: undoing("c"), known: have("b", "c"), want: anew, check: all(open, tells()),
			answers: lost(mapping.Planning, settled, map[string]any{"ReadCard": card("c")}), asked: asked("PutConflict title undone planning"),
		},
		{
			name: "the loser is back in planning: the answer to its write was lost", link: undoing("b"), known: have("b", "c"), want: anew, check: all(open, tells()),
			answers: lost(mapping.GitHub, settled, map[string]any{"ReadCard": card("c")}), asked: asked("PutConflict title undone github"),
		},
		{
			name: "it waits, and a read shows that planning has changed", link: undoing("a"), known: have("b", "y"), want: anew, check: open, answers: lost(mapping.Planning, settled, map[string]any{"ReadCard": card("c")}), asked: asked(),
		},
		{name: "planning is away", link: undoing("c"), known: have("c", "c"), answers: lost(mapping.Planning, settled, map[string]any{"ReadCard": errAway}), asked: []string{"ReadConflict", "ReadCard"}, err: "unavailable", check: open},
		{name: "the write fails", link: undoing("c"), known: have("c", "c"), answers: lost(mapping.Planning, settled, map[string]any{"ReadCard": card("c"), "EditIssue": errAway}), asked: asked("Save", "BeginWrite", "EditIssue"), err: "unavailable", check: open},
		{
			name: "it is about a sub-issue, whose own rules see to it", known: have("c", "c"), want: anew,
			link: links(undoing("c"), func(l *mapping.Link) {
				l.SubLinks = []*mapping.Pair{{Kind: mapping.SubIssue, Card: mapping.CardID{ID: "t2"}}}
			}),
			answers: map[string]any{"ReadConflict": mapping.Conflict{ID: "q", Task: "t2", Attribute: mapping.Title, State: settled}}, asked: []string{"ReadConflict"},
			check: all(over, is("the sub-issue has it", func(w work) bool { return w.link.SubLinks[0].Undo[mapping.Title] == "q" })),
		},
	})
}
