package reconcile

import (
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// A first edit of an item crosses at once. Further edits towards the same side are folded. They
// wait until Settings.Coalesce after the last write to that side, longer while they go on, and
// cross together. Folding is decided from snapshots, before anything is read, so that frequent
// edits cost no calls. Steps of a plan in progress, answers of operators and retries do not wait.

// foldSeen puts off a key whose only news is edits that are to be folded.
func (w pacer) foldSeen() error {
	if !w.mayFold() {
		return nil
	}
	answered, err := ledger(w).answerCame()
	if w.urgent = answered; answered || err != nil {
		return err
	}
	sides, alone := w.issueEdited()
	if !alone {
		return nil
	}
	if w.cardEdited() {
		sides = append(sides, mapping.GitHub)
	}
	err = w.foldTowards(sides)
	if err != nil {
		w.owner.Steps = w.steps // the events that they explained come again
	}
	return err
}

// foldWrites puts off a plan that is to be folded. Its items have been read by now, which
// foldSeen avoids where the snapshots suffice.
func (w pacer) foldWrites(sides ...mapping.Side) error {
	if !w.mayFold() {
		return nil
	}
	err := w.foldTowards(sides)
	if err != nil {
		w.owner.Unfinished = true // the next claim reads both sides again
	}
	return err
}

// foldTowards puts off a key whose edits towards one of the sides are being folded.
func (w pacer) foldTowards(sides []mapping.Side) error {
	now := w.Now()
	wait := w.pair.Pace.Folding(now, sides...)
	if wait <= 0 {
		return nil
	}
	if w.pair.Pace.Hold(sides...) {
		w.log.Info("folds frequent edits", "sides", sides, "wait", wait)
	}
	return &requeueAfter{after: wait, turn: true, why: "folds frequent edits until " + now.Add(wait).UTC().Format(time.RFC3339), quiet: true}
}

// mayFold reports whether the link's edits may be folded: nothing else is known to be due.
func (w pacer) mayFold() bool {
	l := w.pair
	return w.set.Coalesce > 0 && !w.set.DryRun && l.State == mapping.Linked && !l.Pace.Midway && w.claim.Attempts+w.claim.Abandoned == 0 &&
		len(l.Undo)+len(l.Gone) == 0 && !w.urgent && !journal.Unverified(&l.Journal, w.editEvents())
}

// issueEdited lists what an edit in the issue's snapshot leads to: a write to planning, or only a
// read. The result alone says that the snapshot has nothing but an edit by a person.
func (w pacer) issueEdited() (sides []mapping.Side, alone bool) {
	shown, known := reader(w).issueSeen(), w.owner.Issue
	ambiguous := w.claim.Inbox[mapping.IssueRef(known.ID)].Ambiguous
	switch {
	case shown == nil, reader(w).wasRead(), shown.UpdatedAt.Before(known.UpdatedAt), mapping.DigestIssue(shown) == known.Digest && !ambiguous:
		return nil, true
	case w.Authorship(shown.Editor).Perhaps():
		return nil, false // perhaps a step of ours: only later steps decide
	}
	if ok, _ := entrant(w).accepts(shown); !ok || w.unbased() {
		return nil, false
	}
	for a, v := range reader(w).viewOf(shown) {
		base, based := w.pair.Base[a]
		if based && !mapping.Same(a, v.Value, base.GitHub) && w.crosses(a) {
			return []mapping.Side{mapping.Planning}, true
		}
	}
	if ambiguous || w.mustRead || shown.UpdatedAt.Equal(known.UpdatedAt) {
		return []mapping.Side{reading}, true
	}
	return nil, true
}

// crosses reports whether an edit of an attribute on GitHub would be written to planning, as
// far as the link alone says.
func (w pacer) crosses(a mapping.Attribute) bool {
	_, refused := w.pair.Refused[a]
	_, asking := w.pair.Asking[a]
	return !refused && !asking && w.route.Writes(mapping.Planning)
}

// reading stands, among the sides, for reads of the issue: several edits within one second
// need a read even where they lead to no write.
const reading = mapping.Side("reading")

// cardEdited reports whether a snapshot has an edit of the card, of a sub-issue's task, or of
// a state.
func (w pacer) cardEdited() bool {
	for a, v := range w.planningSeen() {
		if base, based := w.pair.Base[a]; based && v.Version > base.Version && !mapping.Same(a, v.Value, base.Planning) {
			return true
		}
	}
	return false
}

// planningSeen is the inbox's view of a card and its tracking task, or of a sub-issue's task.
func (w pacer) planningSeen() mapping.View {
	view := mapping.View{}
	if w.pair.IsTask() {
		if t := seen[mapping.Task](w.claimState, w.pair.Partner()); t != nil {
			view = reader(w).planningView(t.AsCard())
		}
		return view
	}
	card, child := reader(w).cardSeen(), w.trackingPair()
	if card != nil {
		view = reader(w).planningView(card)
	}
	if child == nil {
		return view
	}
	if card != nil {
		for _, t := range card.Tasks {
			if t.ID == child.Card.ID {
				view[mapping.State] = t.State
			}
		}
	}
	if t := seen[mapping.Task](w.claimState, mapping.TaskRef(child.Card.ID)); t != nil {
		view[mapping.State] = t.State
	}
	return view
}

// beginWrites records, before a plan's writes, the sides that they go to.
func (w pacer) beginWrites(sides ...mapping.Side) {
	for _, side := range sides {
		w.pair.Pace.Midway = true
		if w.set.Coalesce > 0 && !w.begun[side] {
			w.pair.Pace.Begin(side, w.Now().UTC(), w.set.Coalesce)
		}
		w.begun[side] = true
	}
}

// foldShow puts off a projection that is to be folded with others. It is called before
// anything is read for the projection.
func (w pacer) foldShow() error {
	if w.begun[mapping.GitHub] || w.resumed || w.set.Coalesce <= 0 {
		return nil
	}
	if wait := w.pair.Pace.Folding(w.Now(), mapping.GitHub); wait > 0 {
		return later(wait, "folds what is shown with what was shown a moment ago")
	}
	return nil
}

// lagPause is how long a lagging read is not repeated while edits go on. An issue's times are
// whole seconds.
const lagPause = time.Second

// showsPerMinute bounds the rounds of projections of one link.
const showsPerMinute = 30

// paceShow puts off projections that follow others too closely.
func (w pacer) paceShow() error {
	now := w.Now().UTC()
	p := &w.pair.Pace
	if minute := now.Truncate(time.Minute); !p.Minute.Equal(minute) {
		p.Minute, p.Writes = minute, 0
	}
	p.Writes++
	if p.Writes > showsPerMinute {
		return inTurn(p.Minute.Add(time.Minute).Sub(now), "it was shown %s within a minute", mapping.Count(showsPerMinute, "time", "times"))
	}
	w.beginWrites(mapping.GitHub)
	return nil
}
