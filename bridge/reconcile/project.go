package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Some of planning's values have no equivalent that GitHub could change. They are projected onto
// the issue, one way. The state of the card's tasks, its review and its bucket become labels, its
// sprint a milestone, and its users assignees. A projection that a person changes is restored, and
// what people add beside it stays. No projection may keep an issue and its card from agreeing: a
// refusal by GitHub is reported once, and the write is tried again later.

// A projection that failed is paused, at first for the first time and at most for the second
// one. A service that is away, or a lost answer, is tried again soon. A refusal by GitHub (a
// missing right, an unknown endpoint) will hardly change within a minute.
const (
	brokenFirst, brokenMost   = time.Second, time.Minute
	refusedFirst, refusedMost = 5 * time.Minute, time.Hour
)

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

// viewMoved reports whether GitHub's view changed since before. An attribute that before lacks
// had its base's value.
func (w projector) viewMoved(before mapping.View) bool {
	for a, now := range w.g {
		was, seen := before[a]
		if !seen {
			was.Value = w.pair.Base[a].GitHub
		}
		if !mapping.Same(a, now.Value, was.Value) {
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
	if slices.ContainsFunc(names, w.isPaused) {
		return nil
	}
	err := show()
	if IsGone(err) || errors.Is(err, mapping.ErrMoved) { // the issue, or only the requested part of it?
		if gone := reader(w).readIssue(); gone != nil {
			err = gone
		}
	}
	err = mover(w).readOnly(err)
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
		w.revisitAfter(put.after, what+": "+put.why)
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
		w.revisitAfter(after, limited.Reason())
	case errors.Is(err, mapping.ErrRejected):
		w.putOff(names[1], "shown", err, refusedFirst, refusedMost)
	case errors.Is(err, mapping.ErrUnavailable), errors.Is(err, mapping.ErrUncertain), errors.Is(err, mapping.ErrUnauthorized):
		w.putOff(names[0], "shown", err, brokenFirst, brokenMost)
	default:
		w.putOff(names[0], "shown", err, refusedFirst, refusedMost)
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

// cannotBe is part of the reason of a key that waits for a refused projection or read.
const cannotBe = " cannot be "

// Failing reports whether a key waits because something failed: an attempt, or a request that a
// service refuses though it answers.
func Failing(s *store.Standing) bool {
	switch s.State {
	case store.KeyLater:
		return s.Attempts > 0 || strings.Contains(s.Reason, cannotBe)
	case store.KeyWaiting:
		return strings.Contains(s.Reason, mapping.ErrUnauthorized.Error())
	}
	return false
}

// putOff pauses a failed projection or read, for longer each time. Other keys that wait for it
// learn which item met the error.
func (w projector) putOff(name, done string, err error, first, most time.Duration) {
	why := name + cannotBe + done
	p := get(w, PauseAfter{name, fmt.Sprintf("%s, as %s met: %v", why, where(w.pair), err), first, most})
	why += ": " + err.Error()
	if p.News {
		about, log := []any{"what", name, "after", p.Wait, "err", err}, w.log.Warn
		if side := (*sideError)(nil); errors.As(err, &side) {
			service := situation{project: w.link.Project}.service(side.side)
			switch {
			case isUnanswered(err):
				about = append(about, "service", service, "fact", FactAway)
			case errors.Is(err, mapping.ErrUnauthorized):
				about, log = append(about, "service", service, "fact", FactRefused), w.log.Error
			}
		}
		log("cannot be "+done+"; to be tried again", about...)
	}
	w.revisitAfter(p.Wait+w.jitter(p.Wait/4), why)
}

// isPaused reports whether something is still paused. The key is then due again at the end of
// the pause.
func (w projector) isPaused(name string) bool {
	p := get(w, PauseLeft{name})
	if p.Wait > 0 {
		w.revisitAfter(p.Wait+w.jitter(p.Wait/4), p.Why)
	}
	return p.Wait > 0
}

// revisitAfter makes the key due again after a while, although it agrees.
func (w projector) revisitAfter(after time.Duration, why string) {
	w.showAgain = w.showAgain.soonest(revisit{after, why})
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
	for _, part := range []struct {
		names []string
		what  string
	}{{added, "added "}, {removed, "removed "}} {
		if len(part.names) > 0 {
			out = append(out, part.what+strings.Join(part.names, ", "))
		}
	}
	return strings.Join(out, "; ")
}
