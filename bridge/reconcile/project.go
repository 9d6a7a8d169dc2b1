package reconcile

import (
	"errors"
	"slices"
	"strings"

	"planbridge/mapping"
)

// Some of planning's values have no equivalent that GitHub could change. They are projected onto
// the issue, one way. The state of the card's tasks, its review and its bucket become labels, its
// sprint a milestone, and its users assignees. A projection that a person changes is restored, and
// what people add beside it stays. No projection may keep an issue and its card from agreeing: a
// refusal by GitHub is reported once, and the write is tried again later.

// showAll makes one projection after the other. Before the next turn of a projection that was
// put off, the issue is read: events that come meanwhile are handled for everything else only.
// A projection that only waits for its share of the budget is read when it has that.
func (w projector) showAll() error {
	s, waits := w.link.Shown, w.showAgain
	unsure := s.Unsure
	s.Unsure, w.showAgain = true, revisit{}
	putOff := false
	for _, r := range showRules {
		before, braked := w.showAgain, false
		w.showAgain = revisit{}
		err := w.attempt(r.name, func() error {
			if unsure && w.issue == nil {
				if err := reader(w).readIssue(); err != nil {
					return err
				}
			}
			_, err := r.apply(work(w))
			braked = errors.Is(err, errShare)
			return err
		})
		if err != nil {
			return err
		}
		putOff = putOff || w.showAgain.after > 0 && !braked
		w.showAgain = w.showAgain.soonest(before)
	}
	s.Unsure = putOff
	w.showAgain = w.showAgain.soonest(waits)
	return nil
}

// viewMoved reports whether GitHub's view changed since before.
func (w projector) viewMoved(before mapping.View) bool {
	for a, now := range w.g {
		if !mapping.Same(a, now.Value, before[a].Value) {
			return true
		}
	}
	return false
}

// shown is the projected part of the card; nil: nothing of it is known.
func (w projector) shown() *mapping.Shown {
	if w.pair.IsTask() {
		return nil
	}
	if w.link.Shown == nil && w.card != nil {
		w.link.Shown = &mapping.Shown{}
		w.link.Shown.Take(w.card)
	}
	return w.link.Shown
}

// attempt makes one projection, unless it failed a moment ago. It returns only errors that end
// the work on the key. Anything else puts the projection off.
func (w projector) attempt(what string, show func() error) error {
	names := []string{what + " in " + w.owner.Issue.Repo, what + " of " + string(w.link.ID)}
	if slices.ContainsFunc(names, pauses(w).isPaused) {
		return nil
	}
	err := show()
	if IsGone(err) || errors.Is(err, mapping.ErrMoved) { // the issue, or only the requested part of it?
		if gone := reader(w).readIssue(); errors.Is(gone, mapping.ErrMoved) {
			return gone // its link follows
		} else if gone != nil {
			err = gone
		}
	}
	err = pauses(w).readOnly(err)
	var put *requeueAfter
	var side *sideError
	var moved *mapping.MovedError
	var public *publicError
	switch {
	case errors.As(err, &moved) && (moved.Issue != nil || moved.Number == 0 && moved.Repo != ""):
		return err // its link follows
	case err == nil:
		send(w, PauseOver{names[0]})
		send(w, PauseOver{names[1]})
		return nil
	case errors.As(err, &public):
		w.withheld = public
		return nil
	case isWithheld(err):
		return err
	case errors.As(err, &put) && put.after > 0: // a brake, or a read that lags
		pauses(w).revisitAfter(put.after, what+": "+put.why)
		return nil
	case w.over() || !errors.As(err, &side):
		return err
	}
	w.refusedToShow(names, err)
	return nil
}

// refusedToShow puts a failed projection off: for this issue alone where its value was
// refused, else for the repository.
func (w projector) refusedToShow(names []string, err error) {
	var limited *mapping.RateLimited
	switch {
	case errors.As(err, &limited):
		after := limited.After + w.jitter(spread(limited))
		w.log.Info("put off", "what", names[1], "after", after, "why", limited.Reason(), "fact", FactInTurn)
		pauses(w).revisitAfter(after, limited.Reason())
	case errors.Is(err, mapping.ErrRejected):
		pauses(w).putOff(names[1], "shown", err, refusedFirst, refusedMost)
	case errors.Is(err, mapping.ErrUnavailable), errors.Is(err, mapping.ErrUncertain), errors.Is(err, mapping.ErrUnauthorized):
		pauses(w).putOff(names[0], "shown", err, brokenFirst, brokenMost)
	default:
		pauses(w).putOff(names[0], "shown", err, refusedFirst, refusedMost)
	}
}

// bring makes a write to the issue where isDue says so. It asks isDue for the known issue, and
// again for the issue as it is read right before the write. GitHub has no lock, and people may have
// changed it.
func (w projector) bring(isDue func() bool, write func() error) error {
	if !isDue() {
		return nil
	}
	if err := pacer(w).foldShow(); err != nil {
		return err
	}
	if err := saver(w).reserve(WriteEdit); err != nil {
		return err
	}
	if err := reader(w).fetch(); err != nil || !isDue() {
		return err
	}
	if err := pacer(w).paceShow(); err != nil {
		return err
	}
	return write()
}

// showLater adds the time of the next projection to the key's due times.
func (w projector) showLater() { w.again = w.again.soonest(w.showAgain) }

// noteShown records a projection.
func (w projector) noteShown(what mapping.Attribute, why string) {
	w.count(CountWrites, w.link.Route, string(mapping.GitHub), string(what))
	w.note(mapping.GitHub, what, "show", why)
}

// changedNames tells people which names were added and which were removed.
func changedNames(added, removed []string) string {
	var out []string
	if len(added) > 0 {
		out = append(out, "added "+strings.Join(added, ", "))
	}
	if len(removed) > 0 {
		out = append(out, "removed "+strings.Join(removed, ", "))
	}
	return strings.Join(out, "; ")
}

// errShare: the labels wait for their share of GitHub's write budget. Nothing was read or
// written for them.
var errShare = errors.New("labels")
