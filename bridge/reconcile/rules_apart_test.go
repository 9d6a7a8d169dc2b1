package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

func TestLookAtEach(t *testing.T) {
	both := map[string]any{"ReadIssue": issueOf(), "ReadCard": mapping.Card{ID: "c", Version: 1}}
	asked := []string{"ReadIssue", "ReadCard"}
	has := func(issue, card bool) func(work) string {
		return is("an item that is gone is not known", func(w work) bool { return (w.issue != nil) == issue && (w.card != nil) == card })
	}
	gone := func(side mapping.Side) func(*mapping.Link) {
		return func(l *mapping.Link) {
			l.State, l.Gone, l.Unconfirmed = mapping.Orphaned, map[mapping.Side]int{side: 2}, true
		}
	}
	checkRule(t, does(cleaner.readItems), []ruleCase{
		{name: "both are there", answers: both, asked: asked, check: has(true, true)},
		{name: "the issue is gone for good: nobody is told", link: gone(mapping.GitHub), answers: map[string]any{"ReadIssue": mapping.ErrGone, "ReadArchived": false, "Missed": Absence{}, "ReadCard": mapping.Card{ID: "c"}}, asked: []string{"ReadIssue", "ReadArchived", "Missed", "ReadCard"}, check: all(has(false, true), is("nobody is", func(w work) bool { return !w.pair.Unconfirmed }))},
		{name: "the card is gone for good", link: gone(mapping.Planning), answers: map[string]any{"ReadIssue": issueOf(), "ReadCard": mapping.ErrGone, "Missed": Absence{}}, asked: []string{"ReadIssue", "ReadCard", "CheckProject", "Missed"}, check: has(true, false)},
		{name: "the issue seems gone: that is not believed at once", answers: map[string]any{"ReadIssue": mapping.ErrGone, "ReadArchived": false, "Missed": Absence{First: noon}}, asked: []string{"ReadIssue", "ReadArchived", "Missed"}, err: "to be read once more"},
		{name: "the issue is where no route is", link: func(l *mapping.Link) { l.Away = "other/repo" }, answers: both, asked: asked[1:], check: has(false, true)},
		{name: "GitHub is away", answers: map[string]any{"ReadIssue": errAway}, asked: asked[:1], err: "unavailable"},
		{name: "planning is away", answers: map[string]any{"ReadIssue": issueOf(), "ReadCard": errAway}, asked: asked, err: "unavailable"},
	})
}

func TestBringBackBeforeParting(t *testing.T) {
	pending := func(side mapping.Side, item mapping.Ref) func(*mapping.Link) {
		return func(l *mapping.Link) {
			l.Pending = append(l.Pending, mapping.Pending{ID: "p" + string(item), Side: side, Item: item, Attribute: mapping.Title, From: "a", To: "b", At: noon.Add(-time.Minute)})
		}
	}
	card := func(w work) { w.card = &mapping.Card{ID: "c"} }
	checkRule(t, does(cleaner.bringBack), []ruleCase{
		{name: "nothing is owed", known: knows(unchanged(), card), check: openWrites(0)},
		{name: "the issue is gone: so are its writes", link: pending(mapping.GitHub, mapping.IssueRef(7)), known: card, check: openWrites(0)},
		{name: "the card is gone: so are its writes", link: pending(mapping.Planning, mapping.CardRef("c")), known: unchanged(), check: openWrites(0)},
		{name: "the card is gone, and the tracking task with it", link: pending(mapping.Planning, mapping.TaskRef("t")), known: unchanged(), check: openWrites(0)},
		{name: "a write to the card may be under way", link: pending(mapping.Planning, mapping.CardRef("c")), known: knows(unchanged(), card), answers: map[string]any{"ReadCard": errAway}, asked: []string{"ReadCard"}, err: "unavailable", check: openWrites(1)},
		{name: "a write to the issue may have run over a text", link: pending(mapping.GitHub, mapping.IssueRef(7)), known: knows(seenOnly(), card), answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, err: "unavailable", check: openWrites(1)},
	})
}

func TestClean(t *testing.T) {
	cleans := func(l *mapping.Link) { l.Cleaning = true }
	footer := testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkCard, Link: "l", Nonce: "n", Partner: "7"})
	have := func(card string, changes ...func(*mapping.Issue)) func(work) {
		return knows(unchanged(changes...), func(w work) { w.card = &mapping.Card{ID: "c", Summary: versioned(card, 3)} })
	}
	read := []string{"ReadTasks"}
	none := map[string]any{"ReadTasks": []mapping.Task{}}
	took := func(more map[string]any) map[string]any {
		return with(map[string]any{"ReadTasks": []mapping.Task{}}, more)
	}
	done := func(why string, nothing bool) func(work) string {
		return is("it is done with: "+why, func(w work) bool { return w.cleaned == why && w.nothingLeft == nothing })
	}
	const left, oneGone = "nothing of planbridge's is left on it", "one of its items is gone, and nothing of planbridge's is left on the other one"
	made := func(l *mapping.Link) { cleans(l); l.Origin = mapping.Planning }
	body := testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: "n", Partner: "c"})
	checkRule(t, does(cleaner.clean), []ruleCase{
		{name: "nothing is on it", link: cleans, known: have("text"), answers: none, asked: read, check: all(done(left, true), tells())},
		{name: "the card's footer", link: cleans, known: have(footer), answers: took(map[string]any{"Update": Updated{}}), asked: []string{"ReadTasks", "Save", "BeginWrite", `Update card:c summary="text"@3 by robot`}, check: all(done(left, true), tells(mapping.Cleaned))},
		{name: "somebody edits the card meanwhile", link: cleans, known: have(footer), answers: took(map[string]any{"Update": &mapping.VersionConflict{}}), asked: []string{"ReadTasks", "Save", "BeginWrite", "Update"}, err: "planning moved", check: done("", false)},
		{name: "planning is away", link: cleans, known: have(footer), answers: took(map[string]any{"Update": errAway}), asked: []string{"ReadTasks", "Save", "BeginWrite", "Update"}, err: "unavailable", check: done("", false)},
		{
			name: "the tracking task's footer", link: cleans, known: have("text"), answers: map[string]any{"ReadTasks": []mapping.Task{{ID: "t", Summary: versioned(taskMarked("track", "n", trackingPartner), 2)}, {ID: "mine", Summary: versioned("mine", 1)}}, "Update": Updated{}},
			asked: []string{"ReadTasks", "Save", "BeginWrite", `Update task:t summary="track"@2 by robot`}, check: done(left, true),
		},
		{
			name: "the footer of a task that the record lacks", link: cleans, known: have("text"), answers: map[string]any{"ReadTasks": []mapping.Task{{ID: "t9", Summary: versioned(taskMarked("track", "n", trackingPartner), 2)}}, "Update": Updated{}},
			asked: []string{"ReadTasks", "Save", "BeginWrite", "Update task:t9…"}, check: done(left, true),
		},
		{
			name: "a sub-issue's task is handled with that", link: links(cleans, func(l *mapping.Link) {
				l.SubLinks = []*mapping.Pair{{Kind: mapping.SubIssue, Card: mapping.CardID{ID: "t9"}}}
			}), known: have("text"),
			answers: map[string]any{"ReadTasks": []mapping.Task{{ID: "t9", Summary: versioned(taskMarked("x", "n", "20"), 2)}}}, asked: read, check: done(left, true),
		},
		{name: "the tasks cannot be read", link: cleans, known: have("text"), answers: map[string]any{"ReadTasks": errAway}, asked: read, err: "tasks of card c"},
		{
			name: "a label that shows the card, and one of a person", link: cleans, known: have("text", labelled("plan:Done", "bug")), answers: took(map[string]any{"RemoveLabel": []string{"bug"}}), asked: []string{"ReadTasks", "Reserve", "Save", "BeginWrite", "RemoveLabel plan:Done"},
			check: all(done(left, true), hasLabels("bug"), tells(mapping.Cleaned)),
		},
		{
			name: "the label of an open question", link: links(cleans, asking(mapping.Title, "q")), known: have("text", labelled("plan:conflict")), answers: took(map[string]any{"RemoveLabel": []string{}}), asked: []string{"ReadTasks", "Reserve", "Save", "BeginWrite", "RemoveLabel plan:conflict"}, check: hasLabels(),
		},
		{name: "that label without a question is a person's", link: cleans, known: have("text", labelled("plan:conflict")), answers: none, asked: read, check: hasLabels("plan:conflict")},
		{
			name: "the milestone that the bridge set", link: links(cleans, shown(func(s *mapping.Shown) { s.Milestone = 4 })), known: have("text", milestone(4)), answers: took(map[string]any{"ReadIssue": issueOf(milestone(4)), "EditIssue": issueOf()}),
			asked: []string{"ReadTasks", "Reserve", "ReadIssue", "Save", "BeginWrite", "EditIssue milestone=0"}, check: done(left, true),
		},
		{name: "a milestone of a person", link: links(cleans, shown(func(s *mapping.Shown) { s.Milestone = 4 })), known: have("text", milestone(9)), answers: none, asked: read, check: done(left, true)},
		{
			name: "the marker in an issue that the bridge made", link: made, known: have("text", bodied(body)), answers: took(map[string]any{"ReadIssue": issueOf(bodied(body)), "EditIssue": issueOf(bodied("text"))}),
			asked: []string{"ReadTasks", "Reserve", "ReadIssue", "Save", "BeginWrite", `EditIssue body="text"`}, err: "GitHub has not told of our write", check: tells("write", mapping.Cleaned),
		},
		{
			name: "GitHub refuses the body without it", link: made, known: have("text", bodied(body)), answers: took(map[string]any{"ReadIssue": issueOf(bodied(body)), "EditIssue": &mapping.Rejection{Message: "locked"}}),
			asked: []string{"ReadTasks", "Reserve", "ReadIssue", "Save", "BeginWrite", "EditIssue"}, err: "the marker stays in the body", check: done("", false),
		},
		{name: "somebody took it off meanwhile", link: made, known: have("text", bodied(body)), answers: took(map[string]any{"ReadIssue": issueOf(bodied("text"))}), asked: []string{"ReadTasks", "Reserve", "ReadIssue"}, check: all(done(left, true), tells())},
		{name: "a task may still be under way", link: links(cleans, func(l *mapping.Link) {
			l.Children[0].Intent = &mapping.Intent{Side: mapping.Planning, Sent: true, At: noon}
		}), set: settles, known: have("text"), err: "may still be under way"},
		{name: "the issue is gone", link: cleans, known: func(w work) { w.card = &mapping.Card{ID: "c"} }, answers: none, asked: read, check: done(oneGone, false)},
		{name: "the card is gone", link: cleans, known: unchanged(), check: done(oneGone, false)},
		{name: "its issue is where no route is", link: links(cleans, func(l *mapping.Link) { l.Away = "other/repo" }), known: func(w work) { w.card = &mapping.Card{ID: "c"} }, answers: none, asked: read, check: done("its issue is in other/repo, where nothing is taken off it", false)},
		{name: "its route does not write to GitHub", link: cleans, route: func(r *mapping.Route) { r.Direction = mapping.ToPlanning }, known: have("text", labelled("plan:Done")), answers: none, asked: read, check: done("its route does not write to GitHub, where nothing is taken off", false)},
		{name: "its route does not write to planning", link: cleans, route: func(r *mapping.Route) { r.Direction = mapping.ToGitHub }, known: have(footer), answers: none, asked: read, check: done("its route does not write to planning, where nothing is taken off", false)},
		{name: "it is parted, and only a text was owed", known: have(footer), check: all(done(left, true), tells())},
		{name: "a text is withheld from a public repository", known: knows(have("text"), func(w work) { w.withheld = &publicError{repo: "acme/web"} }), err: "is public", check: done("", false)},
		{name: "the lease is lost", link: cleans, known: have(footer), answers: took(map[string]any{"Save": store.ErrLeaseLost}), asked: []string{"ReadTasks", "Save"}, err: "lease"},
	})
}
