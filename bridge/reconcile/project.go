package reconcile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// What planning says and GitHub cannot be asked about is shown on the issue:
// the state of the card's tasks, its review and its bucket as labels, its
// sprint as a milestone, and who works on it as assignees. It is projected, one
// way: what a person changes of it is set right again, what a person adds
// beside it stays. Nothing of it may keep an issue and its card from being kept
// the same: what GitHub does not take is said once and tried again later.

// How long a projection that went wrong is left alone: at first, and at most.
// What a service that is away or a lost answer broke is tried again soon; what
// GitHub refuses (a right that is missing, an endpoint that it does not have)
// will hardly be taken the next minute.
const (
	brokenFirst, brokenMost   = time.Second, time.Minute
	refusedFirst, refusedMost = 5 * time.Minute, time.Hour
)

// showAll shows one thing after the other. Where one is put off, what the issue
// has of it is read before its next turn: events that come meanwhile are dealt
// with as far as they tell of anything else. What only waits for its share is read
// when it has that.
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

// viewMoved reports whether GitHub's view is another one than it was before; what
// was not seen then was as agreed on.
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

// shown is what is known of the card that only shows; nil where nothing is.
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

// attempt shows one thing, unless it went wrong a moment ago. Its error is one that
// ends the work on the key: whatever GitHub said is put off.
func (w projector) attempt(what string, show func() error) error {
	names := []string{what + " in " + w.owner.Issue.Repo, what + " of " + string(w.link.ID)}
	for _, name := range names {
		if w.isPaused(name) {
			return nil
		}
	}
	err := show()
	if IsGone(err) || errors.Is(err, mapping.ErrMoved) { // the issue, or only what was asked of it?
		if gone := reader(w).readIssue(); gone != nil {
			err = gone
		}
	}
	var put *requeueAfter
	var side *sideError
	var moved *mapping.MovedError
	var public *publicError
	switch {
	case errors.As(err, &moved) && (moved.Issue != nil || moved.Number == 0 && moved.Repo != ""):
		return err // its link follows
	case err == nil:
		tell(w, PauseOver{names[0]})
		tell(w, PauseOver{names[1]})
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

// refusedToShow puts off what GitHub did not take: for this issue alone where
// it is the value, else for the repository.
func (w projector) refusedToShow(names []string, err error) {
	var limited *mapping.RateLimited
	switch {
	case errors.As(err, &limited):
		after := limited.After + w.jitter(spread(limited))
		w.log.Info("put off", "what", names[1], "after", after, "why", limited.Why)
		w.revisitAfter(after, names[1]+": "+limited.Error())
	case errors.Is(err, mapping.ErrRejected):
		w.putOff(names[1], "shown", err, refusedFirst, refusedMost)
	case errors.Is(err, mapping.ErrUnavailable), errors.Is(err, mapping.ErrUncertain), errors.Is(err, mapping.ErrUnauthorized):
		w.putOff(names[0], "shown", err, brokenFirst, brokenMost)
	default:
		w.putOff(names[0], "shown", err, refusedFirst, refusedMost)
	}
}

// bring brings something of the issue in line by a write, where that is due: by what is known,
// and still by the issue itself, as GitHub has no lock and people may have changed it.
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

// cannotBe is in the reason of a key that waits for what was refused to be shown or read.
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

// putOff leaves alone for a while what cannot be shown or read, for longer each time. Other keys
// that wait for the same are told which item met the error.
func (w projector) putOff(name, done string, err error, first, most time.Duration) {
	why := name + cannotBe + done
	p := get(w, PauseAfter{name, fmt.Sprintf("%s, as %s met: %v", why, where(w.pair), err), first, most})
	why += ": " + err.Error()
	if p.News {
		about := []any{"what", name, "after", p.Wait, "err", err}
		if side := (*sideError)(nil); errors.As(err, &side) && isUnanswered(err) {
			about = append(about, "service", situation{project: w.link.Project}.service(side.side), "fact", FactAway)
		}
		w.log.Warn("cannot be "+done+"; to be tried again", about...)
	}
	w.revisitAfter(p.Wait+w.jitter(p.Wait/4), why)
}

// isPaused reports whether something is still left alone; then the key is looked at again.
func (w projector) isPaused(name string) bool {
	p := get(w, PauseLeft{name})
	if p.Wait > 0 {
		w.revisitAfter(p.Wait+w.jitter(p.Wait/4), p.Why)
	}
	return p.Wait > 0
}

// revisitAfter has the key looked at again after a while, though all is well.
func (w projector) revisitAfter(after time.Duration, why string) {
	w.showAgain = w.showAgain.soonest(revisit{after, why})
}

// showLater joins the look for what could not be shown with others.
func (w projector) showLater() { w.again = w.again.soonest(w.showAgain) }

// noteShown notes that something is shown now.
func (w projector) noteShown(what mapping.Attribute, why string) {
	w.count(CountWrites, w.link.Route, string(mapping.GitHub), string(what))
	w.note(mapping.GitHub, what, "show", why)
}
