package reconcile

import (
	"fmt"
	"slices"
	"strconv"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// state is the known state of one pair: a root link, a sub-issue with its task, or a line of a
// checklist with its task. File roles.go lists the types that work with it.
type state struct {
	*claimState
	set   *Settings
	pair  *mapping.Pair
	owner *mapping.Pair // the pair that has the issue: of a line the root, else the pair itself
	route *mapping.Route
	log   logger

	root  *state                 // of any other pair than the root: the work on that
	parts map[*mapping.Pair]work // of a root: the works on its sub-issues

	itemViews
	news
	planProgress
	checklist
	round round
	outcome
}

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

func newWork(s State) work {
	set, claim := *s.Settings, s.Claim
	set.Keys = set.Keys.In(claim.Link.Project)
	t := &claimState{Process: s.Process, claim: claim, link: claim.Link, served: s.Served, now: s.Now, seed: s.Seed}
	if t.inbox, t.events, t.err = decode(claim); t.err != nil {
		t.err = fmt.Errorf("reconcile %s: %w", where(&claim.Link.Pair), t.err)
	}
	w := t.workOn(&claim.Link.Pair, &set, claim.Link.Unfinished || claim.Link.Moving != nil || claim.Attempts+claim.Abandoned > 0 || asks(claim.Link))
	w.route, _ = set.Routes.Of(claim.Link)
	return w
}

// lists reports whether the route turns the lines of the issue's checklist into tasks.
func (w *state) lists() bool { return w.route.Tasks == mapping.TasksChecklist && !w.pair.IsTask() }

// items are the link's checklist items. Items with a line come first, in the order of the
// body.
func (w *state) items() []*mapping.Pair {
	var out []*mapping.Pair
	for _, c := range w.link.Children {
		if c.Kind == mapping.Checklist && !w.pair.IsTask() {
			out = append(out, c)
		}
	}
	return out
}

// trackingPair is the pair of the card's tracking task; nil: there is none.
func (w *state) trackingPair() *mapping.Pair {
	if w.pair.IsTask() {
		return nil
	}
	return w.link.Child(mapping.Tracking)
}

// tracking is the pair of the tracking task where the route keeps one; nil: it does not.
func (w *state) tracking() *mapping.Pair {
	if c := w.trackingPair(); c != nil && c.State == mapping.Linked && w.route.TrackingTask {
		return c
	}
	return nil
}

// body is the issue's body without our marker, as far as it is known.
func (w *state) body() string {
	if now, ok := w.g[mapping.Summary]; ok {
		return now.Value
	}
	return w.pair.Base[mapping.Summary].GitHub
}

// merge is mapping.Merge for bodies as the route sees them.
func (w *state) merge(base, a, b string) (string, bool) {
	if w.lists() {
		return mapping.MergeBodies(base, a, b)
	}
	return mapping.Merge(base, a, b)
}

func (w *state) strip(text string) string {
	body, _ := w.set.Keys.Body(text)
	return body
}

// issueSeen is the issue's snapshot in the inbox, and cardSeen the card's; nil: there is none.
func (w *state) issueSeen() *mapping.Issue {
	return seen[mapping.Issue](w.claimState, mapping.IssueRef(w.owner.Issue.ID))
}

// wasRead reports whether an earlier claim read the issue for its snapshot in the inbox.
func (w *state) wasRead() bool { return w.seenAs() == w.owner.ReadFor && !w.mustRead }

// seenAs names the issue's snapshot in the inbox; "": there is none.
func (w *state) seenAs() string {
	s, seen := w.claim.Inbox[mapping.IssueRef(w.owner.Issue.ID)]
	if !seen {
		return ""
	}
	return fmt.Sprint(s.At, " ", s.Digest)
}

func (w *state) cardSeen() *mapping.Card {
	return seen[mapping.Card](w.claimState, mapping.CardRef(w.pair.Card.ID))
}

// taskSeen is the newest known state of a part's task, in the form of a card; nil: there is none.
func (w *state) taskSeen() *mapping.Card {
	t, seen := w.root.tasks.seen[w.pair.Card.ID]
	if !seen {
		return nil
	}
	return t.AsCard()
}

// planningView has the values of the pair's card or task.
func (w *state) planningView(c *mapping.Card) mapping.View {
	view := mapping.CardView(c, w.set.Keys)
	if w.pair.IsTask() {
		view[mapping.State] = c.State
	}
	return view
}

// readAnew has the items read and the sub-issues listed, by the next claim if this one cannot.
func (w *state) readAnew() {
	w.mustRead, w.owner.Unfinished = true, true
	if !w.pair.IsTask() {
		w.link.Family.Listed = false
	}
}

// unbased reports whether an attribute has no base, so that both sides have to be read as a
// whole.
func (w *state) unbased() bool {
	for _, a := range mapping.Attributes {
		if _, ok := w.pair.Base[a]; ok || a.Spec().Tracked {
			continue
		}
		if _, refused := w.pair.Refused[a]; !refused {
			return true
		}
	}
	return false
}

func (w *state) viewOf(issue *mapping.Issue) mapping.View {
	view, _ := w.route.IssueView(issue, w.set.Scheme, w.set.Keys, w.pair.Older())
	return view
}

// book is the link's journal with the current state.
func (w *state) book() journal.Book {
	return journal.Book{
		Journal: &w.pair.Journal, Edits: w.editEvents(), Base: w.pair.Base, GitHub: w.g, Planning: w.p, Issue: w.issue, Known: w.owner.Issue.UpdatedAt, Agreed: w.owner.Issue.Agreed,
		SameRendering: w.SameRendering, Merge: w.merge, Settle: w.set.Settle.GitHub, Now: w.Now(),
	}
}

// editEvents are the edits that this claim's events reported.
func (w *state) editEvents() journal.Edits { return w.editsOf(w.edits) }

// editsOf wraps edits that GitHub reported, by events or by its history.
func (w *state) editsOf(edits []mapping.IssueEvent) journal.Edits {
	return journal.Edits{All: edits, Authorship: w.Authorship, Bare: w.strip}
}

// logger names the link, and the delivery that led to this work, if any.
func (w *state) logger() logger { return logger{w, about(w.link, w.owner, w.delivery)} }

// about returns the log attributes of a link.
func about(l *mapping.Link, p *mapping.Pair, delivery string) []any {
	of := []any{"link", l.ID, "item", where(p), "route", l.Route}
	if delivery != "" {
		of = append(of, "delivery", delivery)
	}
	return of
}

// note adds a line to the link's history and to the log.
func (w *state) note(side mapping.Side, a mapping.Attribute, what, why string) {
	part := string(w.pair.Kind)
	if w.pair.Kind == mapping.SubIssue {
		part = where(w.pair)
	}
	w.notePart(part, side, a, what, why)
}

// noteWrite is note for a decision that was written. The line of an operator's answer or undo
// names the operator. A marker that comes back is nobody's edit.
func (w *state) noteWrite(side mapping.Side, d mapping.Decision) {
	what := "write"
	switch {
	case d.Action == mapping.RestoreMarker:
		what = "mark"
	case d.By != "" && d.Action == mapping.ResolveConflict:
		what = "answer"
	case d.By != "":
		what = "undo"
	}
	w.note(side, d.Attribute, what, d.Why)
	if d.By != "" {
		w.history[len(w.history)-1].Who = d.By
	}
}

// notePart is note for a part of the pair; "": the pair itself.
func (w *state) notePart(part string, side mapping.Side, a mapping.Attribute, what, why string) {
	e := mapping.Entry{At: w.Now().UTC(), Side: side, Attribute: a, What: what, Why: why, Delivery: w.delivery, Part: part}
	if what == "write" || what == "create" {
		if took, known := (saver{w}).sinceFirstSeen(); known {
			e.Took = took.Seconds()
		}
		if side == mapping.Planning {
			e.Who = w.person(what == "create")
		}
	}
	w.history = append(w.history, e)
	log := w.log.Info
	switch what {
	case mapping.Rerouted:
		log = w.log.Debug // one line reports all links at once
	case "refused":
		log = w.log.Warn // somebody has to write another value
	}
	log(what, "side", string(side), "attribute", string(a), "why", why)
}

// person is the login of the person whose change is written to planning, or who opened the issue.
// It is "" where the bridge made the change, or GitHub did not say who.
func (w *state) person(opened bool) string {
	if w.issue == nil {
		return ""
	}
	who := w.issue.Editor
	if opened {
		who = w.issue.Author
	}
	if who == "" || w.Authorship(who).Perhaps() {
		return ""
	}
	return who
}

func issueName(repo string, number int) string { return repo + "#" + strconv.Itoa(number) }

// asks reports whether a question about the link waits for its answer.
func asks(l *mapping.Link) bool {
	return len(l.Asking) > 0 || slices.ContainsFunc(l.Children, func(c *mapping.Pair) bool { return len(c.Asking) > 0 })
}
