package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// toldOf puts the snapshot of an item into the inbox.
func toldOf(ref mapping.Ref, item any, s store.Snapshot) func(work) {
	return func(w work) {
		if w.claim.Inbox == nil {
			w.claim.Inbox = map[mapping.Ref]store.Snapshot{}
		}
		w.claim.Inbox[ref], w.inbox[ref] = s, item
	}
}

// issueTold puts an issue into the inbox that was seen just after its last change.
func issueTold(issue mapping.Issue, change ...func(*store.Snapshot)) func(work) {
	s := store.Snapshot{At: issue.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&issue), Seen: issue.UpdatedAt}
	for _, f := range change {
		f(&s)
	}
	return toldOf(mapping.IssueRef(7), &issue, s)
}

func cardTold(card mapping.Card, change ...func(*store.Snapshot)) func(work) {
	s := store.Snapshot{Seen: noon}
	for _, f := range change {
		f(&s)
	}
	return toldOf(mapping.CardRef("c"), &card, s)
}

func ambiguous(s *store.Snapshot) { s.Ambiguous = true }

// at is an issue with an earlier time of its last change; by says who edited it.
func at(ago time.Duration) func(*mapping.Issue) {
	return func(i *mapping.Issue) { i.UpdatedAt = noon.Add(-ago) }
}
func by(login string) func(*mapping.Issue) { return func(i *mapping.Issue) { i.Editor = login } }

// knownAs has the record know an issue, which was read long ago.
func knownAs(issue mapping.Issue) func(*mapping.Link) {
	return func(l *mapping.Link) {
		l.Issue.UpdatedAt, l.Issue.Digest, l.Issue.Author = issue.UpdatedAt, mapping.DigestIssue(&issue), issue.Author
		view := mapping.View{mapping.Title: {Value: issue.Title}, mapping.Summary: {Value: issue.Body}, mapping.State: {Value: mapping.StateTodo}}
		for a, v := range view {
			l.Base[a] = mapping.Base{GitHub: v.Value, Planning: v.Value, Version: 1}
		}
	}
}

func TestSeeIssue(t *testing.T) {
	long := 10 * time.Minute
	old := issueOf(at(long))
	seenAs := func(title string, read bool) func(work) string {
		return is("GitHub is known to say "+title, func(w work) bool {
			return w.fresh == read && (title == "" && w.issue == nil || w.issue != nil && w.issue.Title == title)
		})
	}
	read := []string{"ReadIssue"}
	answer := func(changes ...func(*mapping.Issue)) map[string]any {
		return map[string]any{"ReadIssue": issueOf(changes...)}
	}
	recent := issueOf(at(time.Second), named("b"))
	gone := func(l *mapping.Link) { l.Gone = map[mapping.Side]int{mapping.GitHub: 1} }
	const echo = "2 github"
	checkRule(t, refreshBoth, []ruleCase{
		{name: "nothing is new", link: knownAs(old), check: seenAs("", false)},
		{name: "somebody edited it", link: knownAs(old), known: issueTold(issueOf(named("b"), by("ann"))), counts: []string{}, check: seenAs("b", false)},
		{name: "a late delivery of an older state", link: knownAs(old), known: issueTold(issueOf(named("b"), at(long+time.Second), by("ann"))), set: settles, check: seenAs("", false)},
		{name: "what is known comes again", link: knownAs(old), known: issueTold(old), check: seenAs("", false)},
		{name: "another state of the same second", link: knownAs(old), known: issueTold(issueOf(named("b"), at(long))), answers: answer(named("b")), asked: read, check: seenAs("b", true)},
		{name: "two states of one second came", link: knownAs(old), known: issueTold(issueOf(named("b")), ambiguous), answers: answer(named("b")), asked: read, check: seenAs("b", true)},
		{name: "our own edit, as agreed", link: knownAs(old), known: issueTold(issueOf(by("bridge"))), counts: []string{echo}, check: seenAs("a", false)},
		{name: "our own edit, and not what was agreed on", link: knownAs(old), known: issueTold(issueOf(named("b"), by("bridge"))), answers: answer(named("c")), asked: read, counts: []string{echo}, check: seenAs("c", true)},
		{
			name: "the state right after a write of ours", known: issueTold(issueOf(named("b"), by("bridge"))), counts: []string{echo}, check: seenAs("", false),
			link: links(knownAs(old), func(l *mapping.Link) {
				i := issueOf(named("b"))
				l.Steps = []mapping.Step{{Digest: mapping.DigestIssue(&i), At: noon}}
			}),
		},
		{name: "an estimate label is gone: another may follow", link: links(knownAs(old), agreed(mapping.Estimate, "3", "3")), known: issueTold(issueOf(at(time.Minute), by("ann"))), answers: answer(labelled("points/5")), asked: read, check: seenAs("a", true)},
		{name: "there are two of them", link: links(knownAs(old), agreed(mapping.Estimate, "3", "3")), known: issueTold(issueOf(labelled("points/3", "points/5"), by("ann"))), answers: answer(labelled("points/5")), asked: read, check: seenAs("a", true)},
		{
			name: "what stood there before a write of ours", known: issueTold(recent), answers: answer(named("c")), asked: read, check: seenAs("c", true),
			link: links(knownAs(old), func(l *mapping.Link) {
				l.Written = []mapping.WriteRecord{{Attribute: mapping.Title, From: mapping.DigestValue(mapping.Title, "b"), At: noon, UpdatedAt: noon}}
			}),
		},
		{name: "it was read for that before", link: links(knownAs(old), func(l *mapping.Link) { l.ReadFor = "1 d" }), known: issueTold(issueOf(named("b")), func(s *store.Snapshot) { s.At, s.Digest = 1, "d" }), check: seenAs("", false)},
		{
			name: "it was, and is to be read in any case", link: links(knownAs(old), func(l *mapping.Link) { l.ReadFor = "1 d" }), check: seenAs("b", true), answers: map[string]any{"ReadIssue": issueOf(named("b")), "ReadCard": mapping.Card{ID: "c"}, "ReadTasks": []mapping.Task{{ID: "t"}}},
			known: knows(issueTold(issueOf(named("b")), func(s *store.Snapshot) { s.At, s.Digest = 1, "d" }), func(w work) { w.mustRead = true }), asked: []string{"ReadIssue", "ReadCard", "ReadTasks"},
		},
		{name: "one that comes far too late: GitHub may have gone back", link: knownAs(old), set: settles, known: issueTold(issueOf(named("b"), at(time.Hour), func(i *mapping.Issue) { i.CreatedAt = noon.Add(-2 * time.Hour) }), func(s *store.Snapshot) { s.Seen = noon }), answers: answer(), asked: read, check: seenAs("a", true)},
		{
			name: "the event of the opening comes far too late", link: knownAs(old), set: settles, check: seenAs("", false),
			known: issueTold(issueOf(named("b"), at(time.Hour), by("ann")), func(s *store.Snapshot) { s.Seen = noon }),
		},
		{name: "under another name of the repository", link: knownAs(old), known: issueTold(issueOf(func(i *mapping.Issue) { i.Repo = "acme/old" })), answers: answer(), asked: read, check: seenAs("a", true)},
		{
			name: "under a new name that the route has", link: knownAs(old), route: func(r *mapping.Route) { r.Repositories = append(r.Repositories, "acme/new") }, known: issueTold(issueOf(named("b"), func(i *mapping.Issue) { i.Repo = "acme/new" })),
			check: all(seenAs("b", false), is("it goes by that name", func(w work) bool { return w.pair.Issue.Repo == "acme/new" })),
		},
		{name: "it was gone, and an event shows it", link: links(knownAs(old), gone), known: issueTold(issueOf(named("b"))), answers: answer(named("b")), asked: read, check: all(seenAs("b", true), is("it is there", func(w work) bool { return len(w.pair.Gone) == 0 }))},
		{name: "it was gone", link: links(knownAs(old), gone), answers: answer(), asked: read, check: seenAs("a", true)},
		{name: "an orphan's issue, of which nothing came", link: links(knownAs(old), gone, func(l *mapping.Link) { l.State = mapping.Orphaned }), check: seenAs("", false)},
		{
			name: "GitHub says that it is gone", link: links(knownAs(old), gone), answers: map[string]any{"ReadIssue": mapping.ErrGone, "ReadArchived": false, "Missed": Absence{First: noon}},
			asked: []string{"ReadIssue", "ReadArchived", "Missed"}, err: "to be read once more", check: is("that is counted", func(w work) bool { return w.pair.Gone[mapping.GitHub] == 2 }),
		},
		{name: "GitHub is away", link: links(knownAs(old), gone), answers: map[string]any{"ReadIssue": errAway}, asked: read, err: "unavailable", check: seenAs("", false)},
		{name: "the read is older than what is known", link: links(knownAs(issueOf()), gone), answers: answer(at(time.Minute)), asked: read, err: "lags behind", check: seenAs("", false)},
		{
			name: "reads have been older for long: GitHub went back", link: links(knownAs(issueOf()), gone, func(l *mapping.Link) { l.BehindSince = noon.Add(-time.Minute) }), set: settles, answers: answer(at(time.Minute)), asked: read,
			check: all(seenAs("a", true), tells("went back"), is("what is older is believed", func(w work) bool { return w.rewound })),
		},
		{
			name: "another issue has the number", link: links(knownAs(old), gone), asked: []string{"ReadIssue", "ReadArchived", "Missed"}, err: "to be read once more",
			answers: with(answer(func(i *mapping.Issue) { i.ID, i.Author = 9, "bob" }), map[string]any{"ReadArchived": false, "Missed": Absence{First: noon}}),
		},
		{name: "the issue has another id: it was transferred, and back", link: links(knownAs(old), gone), answers: answer(func(i *mapping.Issue) { i.ID = 9 }), asked: read, err: "moved", check: seenAs("", false)},
		{
			name: "the read shows nothing of an edit of the same second", link: knownAs(old), known: issueTold(issueOf(named("b"), by("ann")), ambiguous), answers: answer(), asked: read, err: "it may lag", check: seenAs("", false),
		},
		{name: "the read agrees with it, and has its editor", link: knownAs(old), known: issueTold(issueOf(named("b"), by("ann")), ambiguous), answers: answer(named("b")), asked: read, check: all(seenAs("b", true), is("the editor is known", func(w work) bool { return w.issue.Editor == "ann" }))},
	})
}

func TestSeeCard(t *testing.T) {
	card := func(version int64, title string) mapping.Card {
		return mapping.Card{ID: "c", Version: version, Title: versioned(title, version), Summary: versioned("", 1), Estimate: versioned("", 1)}
	}
	known := func(l *mapping.Link) {
		l.Card.Version = 2
		l.Base[mapping.Title] = mapping.Base{GitHub: "a", Planning: "a", Version: 2}
	}
	seenAs := func(title string) func(work) string {
		return is("planning is known to say "+title, func(w work) bool { return title == "" && w.card == nil || w.card != nil && w.card.Title.Value == title })
	}
	read := []string{"ReadCard"}
	answer := map[string]any{"ReadCard": card(3, "c")}
	untold := func(c mapping.Card) func(work) {
		return func(w work) { cardTold(c)(w); delete(w.claim.Inbox, mapping.CardRef("c")) }
	}
	checkRule(t, refreshBoth, []ruleCase{
		{name: "nothing is new", link: known, check: seenAs("")},
		{name: "somebody edited it", link: known, known: cardTold(card(3, "b")), counts: []string{}, check: seenAs("b")},
		{name: "what was agreed on: our own write", link: known, known: cardTold(card(2, "a")), counts: []string{"2 planning"}, check: seenAs("a")},
		{name: "an older one, told just now: planning may have gone back", link: known, known: cardTold(card(1, "b")), answers: answer, asked: read, check: seenAs("c")},
		{name: "an older one, told long ago", link: known, known: untold(card(1, "b")), check: seenAs("")},
		{name: "another value without another version", link: known, known: cardTold(card(2, "b")), answers: answer, asked: read, check: seenAs("c")},
		{name: "two states came at once", link: known, known: cardTold(card(3, "b"), ambiguous), answers: answer, asked: read, check: seenAs("c")},
		{name: "it was gone", link: links(known, func(l *mapping.Link) { l.Gone = map[mapping.Side]int{mapping.Planning: 1} }), answers: answer, asked: read, check: all(seenAs("c"), is("it is there", func(w work) bool { return len(w.pair.Gone) == 0 }))},
		{
			name: "planning says that it is gone", link: links(known, func(l *mapping.Link) { l.Gone = map[mapping.Side]int{mapping.Planning: 1} }), answers: map[string]any{"ReadCard": mapping.ErrNotFound, "Missed": Absence{First: noon}},
			asked: []string{"ReadCard", "CheckProject", "Missed"}, err: "to be read once more",
		},
		{
			name: "planning went back", link: known, known: cardTold(card(1, "b")), answers: map[string]any{"ReadCard": card(1, "b"), "ReadTasks": []mapping.Task{{ID: "t"}}}, asked: []string{"ReadCard", "ReadTasks"},
			check: all(seenAs("b"), tells("went back"), is("what is older is known, and all is read again", func(w work) bool { return w.pair.Card.Version == 1 && w.mustRead })),
		},
		{
			name: "its summary was not agreed on: both are read", link: links(known, func(l *mapping.Link) { delete(l.Base, mapping.Summary) }), answers: map[string]any{"ReadIssue": issueOf(), "ReadCard": card(3, "c")},
			asked: []string{"ReadIssue", "ReadCard"}, check: seenAs("c"),
		},
		{
			name: "it was not, as a side refused it", link: links(known, func(l *mapping.Link) {
				delete(l.Base, mapping.Summary)
				l.Refused = map[mapping.Attribute]mapping.Refusal{mapping.Summary: {}}
			}), check: seenAs(""),
		},
	})
}

func TestSeeTasks(t *testing.T) {
	card := func(counters int64, tasks ...mapping.Task) func(work) {
		return cardTold(mapping.Card{ID: "c", Version: 1, CountersVersion: counters, Title: versioned("", 1), Summary: versioned("", 1), Estimate: versioned("", 1), Tasks: tasks})
	}
	task := func(state string, version int64) mapping.Task {
		return mapping.Task{ID: "t", Version: version, State: versioned(state, version)}
	}
	told := func(state string, version int64, change ...func(*store.Snapshot)) func(work) {
		s, one := store.Snapshot{Seen: noon}, task(state, version)
		for _, f := range change {
			f(&s)
		}
		return toldOf(mapping.TaskRef("t"), &one, s)
	}
	known := agreed(mapping.State, mapping.StateTodo, mapping.StateTodo)
	says := func(state string) func(work) string {
		return is("the state is known as "+state, func(w work) bool { return w.p[mapping.State].Value == state })
	}
	read := map[string]any{"ReadTasks": []mapping.Task{task(mapping.StateDone, 2)}}
	asked := []string{"ReadTasks"}
	away := map[string]any{"ReadTasks": onPlanning(errAway), "PauseAfter": Pause{Wait: time.Second, Why: "cannot be read"}, "ReadTask": task(mapping.StateDone, 2)}
	checkRule(t, refreshBoth, []ruleCase{
		{name: "nothing is new", link: known, check: says("")},
		{name: "somebody moved the tracking task", link: known, known: told(mapping.StateDone, 2), check: says(mapping.StateDone)},
		{name: "an older state of it", link: known, known: told(mapping.StateDone, 0), answers: read, asked: asked, check: says(mapping.StateDone)},
		{name: "another state without another version", link: known, known: told(mapping.StateDone, 1), answers: read, asked: asked, check: says(mapping.StateDone)},
		{name: "two states of it came at once", link: known, known: told(mapping.StateInProgress, 2, ambiguous), answers: read, asked: asked, check: says(mapping.StateDone)},
		{name: "the card counted a change", link: known, known: card(1), answers: read, asked: asked, check: says(mapping.StateDone)},
		{name: "it counted one that a task explains", link: known, known: knows(card(1), told(mapping.StateDone, 2)), check: says(mapping.StateDone)},
		{name: "it counted one, and brought its tasks along", link: known, known: card(1, task(mapping.StateDone, 2)), check: says(mapping.StateDone)},
		{name: "the route keeps no tracking task", link: known, route: func(r *mapping.Route) { r.TrackingTask = false }, known: card(1), check: says("")},
		{
			name: "the tasks cannot be read: the tracking task is", link: known, known: card(1), answers: away, asked: []string{"ReadTasks", "PauseAfter", "ReadTask"},
			check: all(says(mapping.StateDone), is("it is known that they were not", func(w work) bool { return w.unread && w.showAgain.after > 0 })),
		},
		{name: "they could not a moment ago", link: known, known: card(1), answers: with(map[string]any{"PauseLeft": Pause{Wait: time.Second}}, map[string]any{"ReadTask": task(mapping.StateDone, 2)}), asked: []string{"PauseLeft", "ReadTask"}, check: is("it is known", func(w work) bool { return w.unread })},
		{name: "the card's tasks are gone: the tracking task is read", link: known, known: card(1), answers: map[string]any{"ReadTasks": mapping.ErrNotFound, "ReadTask": task(mapping.StateDone, 2)}, asked: []string{"ReadTasks", "ReadTask"}, check: says(mapping.StateDone)},
		{
			name: "the tracking task is not among them, and gone long since", link: links(known, func(l *mapping.Link) { l.Children[0].GoneSince = noon.Add(-time.Hour) }), known: card(1),
			answers: map[string]any{"ReadTasks": []mapping.Task{}, "ReadTask": mapping.ErrNotFound, "Missed": Absence{}}, asked: []string{"ReadTasks", "ReadTask", "CheckProject", "Missed"},
			check: all(notAgreedOn(mapping.State), tells("lost"), is("it is to be made again", func(w work) bool { return w.link.Children[0].State != mapping.Linked })),
		},
		{
			name: "it is gone, as it seems for the first time", link: known, known: card(1), answers: map[string]any{"ReadTasks": []mapping.Task{}, "ReadTask": mapping.ErrNotFound, "Missed": Absence{}},
			asked: []string{"ReadTasks", "ReadTask", "CheckProject", "Missed"}, err: "to be read once more", check: agreedOn(mapping.State, mapping.StateTodo, mapping.StateTodo, 1),
		},
	})
}

func TestSeeOrphansAgain(t *testing.T) {
	orphan := func(gone mapping.Side) func(*mapping.Link) {
		return func(l *mapping.Link) {
			l.State, l.Gone = mapping.Orphaned, map[mapping.Side]int{gone: 2}
			knownAs(issueOf(at(time.Hour)))(l)
		}
	}
	card := mapping.Card{ID: "c", Version: 1, Title: versioned("a", 1), Summary: versioned("", 1), Estimate: versioned("", 1)}
	all3 := map[string]any{"ReadIssue": issueOf(), "ReadCard": card, "ReadTasks": []mapping.Task{{ID: "t"}}}
	checkRule(t, refreshBoth, []ruleCase{
		{
			name: "its issue is there again: both are read as a whole", link: orphan(mapping.GitHub), known: issueTold(issueOf()), answers: all3, asked: []string{"ReadIssue", "ReadIssue", "ReadCard", "ReadTasks"},
			check: isState(mapping.Linked, ""),
		},
		{
			name: "its card is there again", link: orphan(mapping.Planning), known: cardTold(card), answers: all3, asked: []string{"ReadCard", "ReadIssue", "ReadCard", "ReadTasks"}, check: isState(mapping.Linked, ""),
		},
		{
			name: "its issue is, and its card is still to be made", known: issueTold(issueOf()), answers: all3, asked: []string{"ReadIssue"}, want: end, err: "its partner is still to be made", check: isState(mapping.Creating, ""),
			link: links(orphan(mapping.GitHub), func(l *mapping.Link) { l.Card, l.Intent = mapping.CardID{}, &mapping.Intent{Side: mapping.Planning} }),
		},
		{name: "GitHub is away", link: orphan(mapping.GitHub), known: issueTold(issueOf()), answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, err: "unavailable", check: isState(mapping.Orphaned, "")},
	})
}
