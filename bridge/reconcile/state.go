package reconcile

import (
	"slices"

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
	return slices.ContainsFunc(mapping.Attributes, func(a mapping.Attribute) bool { return !a.Spec().Tracked && w.isUnagreed(a) })
}

// isUnagreed reports whether an attribute has no base. A value that a side refused is not compared.
func (w *state) isUnagreed(a mapping.Attribute) bool {
	_, agreed := w.pair.Base[a]
	_, refused := w.pair.Refused[a]
	return !agreed && !refused
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

// asks reports whether a question about the link waits for its answer.
func asks(l *mapping.Link) bool {
	return len(l.Asking) > 0 || slices.ContainsFunc(l.Children, func(c *mapping.Pair) bool { return len(c.Asking) > 0 })
}

// workOn returns the work on a pair, before any of its items is read.
func (t *claimState) workOn(p *mapping.Pair, set *Settings, looked bool) work {
	w := work{&state{
		claimState: t, set: set, pair: p, owner: p,
		itemViews:    itemViews{p: mapping.View{}, held: map[heldKey]heldValue{}, mustRead: looked},
		news:         news{delivery: t.newestDelivery(p)},
		planProgress: planProgress{resumed: p.Pace.Midway, steps: slices.Clone(p.Steps), begun: map[mapping.Side]bool{}, paced: map[mapping.Attribute]bool{}},
	}}
	w.log = logger{w, about(w.link, w.owner, w.delivery)}
	return w
}

// logger writes log lines with the attributes of a link.
type logger struct {
	w  role
	of []any // attributes of every line
}

// role is any of the types below. Each can ask for an effect.
type role interface{ self() *state }

func (s *state) self() *state { return s }

// work is the work on a pair, as rules get it.
type work struct{ *state }

// about returns the log attributes of a link.
func about(l *mapping.Link, p *mapping.Pair, delivery string) []any {
	of := []any{"link", l.ID, "item", where(p), "route", l.Route}
	if delivery != "" {
		of = append(of, "delivery", delivery)
	}
	return of
}
