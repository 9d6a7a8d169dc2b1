package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
	"planbridge/store"
)

// A first edit of an item crosses at once. Further ones towards the same side are
// folded: they wait until Settings.Coalesce after the last write to it, longer while
// they go on, and cross together. What is folded is decided from what was seen,
// before anything is read: edits that come fast cost no calls. Steps of a plan that
// has begun, answers of operators and retries do not wait.

func (w *work) folded(wait time.Duration, sides []mapping.Side) error {
	if w.pair.Pace.Hold(sides...) {
		w.log.Info("folds frequent edits", "sides", sides, "wait", wait)
	}
	return &again{after: wait, turn: true, why: "folds frequent edits until " + w.Now().Add(wait).UTC().Format(time.RFC3339), quiet: true}
}

// foldSeen puts off a key of which only edits were seen that are to be folded.
func (w *work) foldSeen() error {
	if !w.mayFold() {
		return nil
	}
	answered, err := w.answerCame()
	if w.urgent = answered; answered || err != nil {
		return err
	}
	sides, alone, err := w.issueEdited()
	if err != nil || !alone {
		return err
	}
	if edited, err := w.cardEdited(); err != nil {
		return err
	} else if edited {
		sides = append(sides, mapping.GitHub)
	}
	err = w.foldTowards(sides)
	if err != nil {
		w.owner.Steps = w.steps // the events that they explained come again
	}
	return err
}

// foldPlan puts off a plan that is to be folded. What it was made from was read by now,
// which only what foldSeen cannot tell costs.
func (w *work) foldPlan(sides ...mapping.Side) error {
	if !w.mayFold() {
		return nil
	}
	err := w.foldTowards(sides)
	if err != nil {
		w.owner.Unfinished = true // what this claim found out of both sides is found out anew
	}
	return err
}

func (w *work) foldTowards(sides []mapping.Side) error {
	if wait := w.pair.Pace.Folding(w.Now(), sides...); wait > 0 {
		return w.folded(wait, sides)
	}
	return nil
}

// sides lists the sides that the round writes to.
func (r *round) sides() (sides []mapping.Side) {
	if r.plan.Writes(mapping.Planning) {
		sides = append(sides, mapping.Planning)
	}
	if r.hub {
		sides = append(sides, mapping.GitHub)
	}
	return sides
}

// mayFold reports whether the link's edits may be folded now: nothing else is to be
// done, as far as is known.
func (w *work) mayFold() bool {
	l := w.pair
	return w.set.Coalesce > 0 && !w.set.DryRun && l.State == mapping.Linked && !l.Pace.Midway && w.claim.Attempts+w.claim.Abandoned == 0 &&
		len(l.Undo)+len(l.Gone) == 0 && !w.urgent && !journal.Unverified(&l.Journal, w.editEvents())
}

// answerCame reports whether an operator answered what people are asked.
func (w *work) answerCame() (bool, error) {
	asked := slices.Collect(maps.Values(w.pair.Asking))
	for _, c := range w.items() {
		asked = slices.AppendSeq(asked, maps.Values(c.Asking))
	}
	slices.Sort(asked)
	for _, id := range asked {
		c, err := do(w, ReadConflict{w.link.Project, id})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return false, fmt.Errorf("read conflict %s: %w", id, err)
		}
		if c.State == mapping.ConflictAnswered {
			return true, nil
		}
	}
	return false, nil
}

// issueEdited lists what an edit of the issue that was seen leads to: a write to
// planning, or only a read. alone: it is no more than an edit by a person.
func (w *work) issueEdited() (sides []mapping.Side, alone bool, err error) {
	var seen mapping.Issue
	found, ambiguous, err := slot(w.claim, mapping.IssueRef(w.owner.Issue.ID), &seen)
	known := w.owner.Issue
	switch {
	case err != nil, !found, seen.UpdatedAt.Before(known.UpdatedAt), mapping.DigestIssue(&seen) == known.Digest && !ambiguous:
		return nil, true, err
	case w.Whose(seen.Editor).Perhaps():
		return nil, false, nil // perhaps a step of ours: only what follows tells
	}
	accepts := w.route.Accepts
	if w.pair.IsTask() {
		accepts = (&mapping.Route{}).Accepts
	}
	if ok, _ := accepts(&seen, w.set.Scheme); !ok || w.unbased() {
		return nil, false, nil
	}
	for a, v := range w.viewOf(&seen) {
		base, based := w.pair.Base[a]
		if based && !mapping.Same(a, v.Value, base.GitHub) && w.crosses(a) {
			return []mapping.Side{mapping.Planning}, true, nil
		}
	}
	if ambiguous || w.looked || seen.UpdatedAt.Equal(known.UpdatedAt) {
		return []mapping.Side{reading}, true, nil
	}
	return nil, true, nil
}

// crosses reports whether an edit of an attribute on GitHub would be written to
// planning, as far as can be told from the link alone.
func (w *work) crosses(a mapping.Attribute) bool {
	_, refused := w.pair.Refused[a]
	_, asking := w.pair.Asking[a]
	return !refused && !asking && w.route.Writes(mapping.Planning)
}

// reading is, among the sides, the issue's reads: those that edits of one second
// need which lead to no write.
const reading = mapping.Side("reading")

// beginReads notes that the issue is read because what was seen does not tell.
func (w *work) beginReads() {
	if w.set.Coalesce > 0 {
		w.pair.Pace.Begin(reading, w.Now().UTC(), w.set.Coalesce)
	}
}

// cardEdited reports whether an edit of the card, of a sub-issue's task, or of their
// states was seen.
func (w *work) cardEdited() (bool, error) {
	view := mapping.View{}
	if w.pair.IsTask() {
		var seen mapping.Task
		found, _, err := slot(w.claim, w.pair.Partner(), &seen)
		if err != nil {
			return false, err
		}
		if found {
			view = mapping.TaskItemView(&seen, w.set.Keys)
		}
	} else {
		var err error
		if view, err = w.cardSeen(); err != nil {
			return false, err
		}
	}
	for a, v := range view {
		if base, based := w.pair.Base[a]; based && v.Version > base.Version && !mapping.Same(a, v.Value, base.Planning) {
			return true, nil
		}
	}
	return false, nil
}

// cardSeen is what the inbox shows of a card, and of its tracking task.
func (w *work) cardSeen() (mapping.View, error) {
	view := mapping.View{}
	var seen mapping.Card
	found, _, err := slot(w.claim, mapping.CardRef(w.pair.Card.ID), &seen)
	if err != nil {
		return nil, err
	}
	if found {
		view = mapping.CardView(&seen, w.set.Keys)
	}
	child := w.trackingPair()
	if child == nil {
		return view, nil
	}
	for i := range seen.Tasks {
		if seen.Tasks[i].ID == child.Card.ID {
			view[mapping.State] = seen.Tasks[i].State
		}
	}
	var task mapping.Task
	if found, _, err = slot(w.claim, mapping.TaskRef(child.Card.ID), &task); found {
		view[mapping.State] = task.State
	}
	return view, err
}

// beginWrites notes, before a plan's writes, which sides they are to.
func (w *work) beginWrites(sides ...mapping.Side) {
	for _, side := range sides {
		w.pair.Pace.Midway = true
		if w.set.Coalesce > 0 && !w.begun[side] {
			w.pair.Pace.Begin(side, w.Now().UTC(), w.set.Coalesce)
		}
		w.begun[side] = true
	}
}

// foldShow puts a projection off that is to be folded with others. It is asked before
// anything is read for it.
func (w *work) foldShow() error {
	if w.begun[mapping.GitHub] || w.resumed || w.set.Coalesce <= 0 {
		return nil
	}
	if wait := w.pair.Pace.Folding(w.Now(), mapping.GitHub); wait > 0 {
		return later(wait, "folds what is shown with what was shown a moment ago")
	}
	return nil
}

// lags puts a key off whose read may lag. Edits that come meanwhile do not have it
// read again before they can show there.
func (w *work) lags(why string, args ...any) error { return w.lagsFor(staleWait, why, args...) }

func (w *work) lagsFor(wait time.Duration, why string, args ...any) error {
	w.pair.Pace.PutOff(w.Now().UTC().Add(lagPause))
	return later(wait, why, args...)
}

// lagPause is how long no read is repeated that lagged while edits go on: an issue's
// times have whole seconds.
const lagPause = time.Second

// showsPerMinute bounds the rounds of projections that one link takes.
const showsPerMinute = 30

// paceShow puts projections off that come too closely after others.
func (w *work) paceShow() error {
	now := w.Now().UTC()
	p := &w.pair.Pace
	if minute := now.Truncate(time.Minute); !p.Minute.Equal(minute) {
		p.Minute, p.Writes = minute, 0
	}
	p.Writes++
	if p.Writes > showsPerMinute {
		return inTurn(p.Minute.Add(time.Minute).Sub(now), "it was shown %d times within a minute", showsPerMinute)
	}
	w.beginWrites(mapping.GitHub)
	return nil
}
