package reconcile

import (
	"maps"
	"slices"

	"planbridge/mapping"
)

// What the work on a pair knows of it. It is lost with the claim.

// itemViews is the current state of a pair's items.
type itemViews struct {
	// nil: unchanged since the link's base. The views follow our own writes.
	issue *mapping.Issue
	card  *mapping.Card
	g, p  mapping.View
	// unmarked is the digest of the marked item's text where that lacks its marker; "": it has
	// it.
	unmarked string
	// fresh: the issue was read under this claim. It includes our own writes since then, and no
	// later acts of people.
	fresh bool
	// certain: planning's side was read under this claim.
	certain bool
	// rewound: GitHub's read is older than the known issue, and is believed.
	rewound bool
	// mustRead: the items themselves are read, whatever the snapshots say.
	mustRead bool
	// held has the attributes whose successful writes planning answered with another value.
	held map[heldKey]heldValue
	// extra are the estimate labels that lost against another one.
	extra []string
	// hidden is why planning's side must not appear in the issue's repository: it is public,
	// or may be; nil: it may appear.
	hidden *publicError
	// tasks are the card's tasks, as far as they were seen. unread: they had to be read, and
	// could not be.
	tasks  tasks
	unread bool
	// counters is the version of the card's counters up to which its tasks are known. A later
	// read of the card may have a higher one.
	counters int64
}

// heldKey names an attribute of a card or a task.
type heldKey struct {
	item      mapping.Ref
	attribute mapping.Attribute
}

// heldValue is a value that planning answered to a write in place of the one that was sent.
type heldValue struct {
	sent     string
	answered mapping.Versioned
}

// news are the reports of events about a pair.
type news struct {
	// urgent: an event asks for a read of the items, or an operator answered.
	urgent bool
	edits  []mapping.IssueEvent
	// moves are the transfers that events reported. opened: one of them reported the opening
	// of the issue.
	moves  []*mapping.Move
	opened bool
	// arrived are the ids that issues of the family have got by transfers.
	arrived []int64
	// delivery is the webhook delivery that led to this work; "": none did.
	delivery string
}

// planProgress is the progress of a plan. The field resumed says that an earlier claim began it.
// The sides in begun are those that this claim wrote to. The attributes in paced are those whose
// changes it has recorded.
type planProgress struct {
	resumed bool
	steps   []mapping.Step // as the claim found them
	begun   map[mapping.Side]bool
	paced   map[mapping.Attribute]bool
}

// outcome is the result of the work on a pair.
type outcome struct {
	// withheld is why a value was kept from the issue's repository; nil: none was.
	withheld *publicError
	// again is when a finished key is due again. showAgain is that for projections that were
	// put off.
	again, showAgain revisit
	// cleaned is why a pair that is taken apart is finished; "": it is not.
	cleaned     string
	nothingLeft bool // nothing of the bridge's was left on the pair then
}

// round holds the decisions of one pass over the agreement rules.
type round struct {
	plan         mapping.Plan
	writesGitHub bool // GitHub is written, perhaps only to remove a label
	// unbased: the summary had not been agreed on when the round began.
	unbased bool
	// first: nothing was shown for the link before.
	first bool
}

// writes reports whether the round writes to a side.
func (r *round) writes() bool { return r.writesGitHub || r.plan.Writes(mapping.Planning) }

// sides lists the sides that the round writes to.
func (r *round) sides() (sides []mapping.Side) {
	if r.plan.Writes(mapping.Planning) {
		sides = append(sides, mapping.Planning)
	}
	if r.writesGitHub {
		sides = append(sides, mapping.GitHub)
	}
	return sides
}

// tasks holds the tasks of a card that this claim has seen.
type tasks struct {
	seen map[mapping.ObjectID]mapping.Task
	// whole: seen holds every task of the card. listed: it was read under this
	// claim, so that what it shows is newer than any snapshot.
	whole, listed bool
}

// inOrder returns the tasks in the order of their creation.
func (t *tasks) inOrder() []mapping.Task {
	return slices.SortedFunc(maps.Values(t.seen), func(a, b mapping.Task) int { return int(a.CID - b.CID) })
}

// keepNewest keeps the newest version of a task.
func (t *tasks) keepNewest(task mapping.Task) {
	old, ok := t.seen[task.ID]
	if !ok || task.Version > old.Version || task.Version == old.Version && task.State.Version >= old.State.Version {
		if t.seen == nil { // a root that has to wait has not read its tasks
			t.seen = map[mapping.ObjectID]mapping.Task{}
		}
		t.seen[task.ID] = task
	}
}

// list is a checklist as one round sees it.
type list struct {
	lines map[*mapping.Pair]mapping.Item // as the body has them; nil: not known
	plans map[*mapping.Pair]mapping.Plan
	// joined are the tasks that were matched with a new line by their text.
	joined []mapping.ObjectID
}

// checklist is the known state of a pair's checklist.
type checklist struct {
	list list // in this round
	// listErr is why the tasks could not be brought up to date.
	listErr error
	// rejoined: a removed line is back, and its task may have changed meanwhile.
	rejoined bool
}
