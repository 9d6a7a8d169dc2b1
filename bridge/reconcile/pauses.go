package reconcile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// A projection that failed is paused, at first for the first time and at most for the second
// one. A service that is away, or a lost answer, is tried again soon. A refusal by GitHub (a
// missing right, an unknown endpoint) will hardly change within a minute.
const (
	brokenFirst, brokenMost   = time.Second, time.Minute
	refusedFirst, refusedMost = 5 * time.Minute, time.Hour
)

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
func (w pauses) putOff(name, done string, err error, first, most time.Duration) {
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
func (w pauses) isPaused(name string) bool {
	p := get(w, PauseLeft{name})
	if p.Wait > 0 {
		w.revisitAfter(p.Wait+w.jitter(p.Wait/4), p.Why)
	}
	return p.Wait > 0
}

// revisitAfter makes the key due again after a while, although it agrees.
func (w pauses) revisitAfter(after time.Duration, why string) {
	w.showAgain = w.showAgain.soonest(revisit{after, why})
}

// readOnly lets a key wait whose repository is archived, as a refusal of GitHub may show. Any other
// refusal is a failure.
func (w pauses) readOnly(err error) error {
	if !isGitHubs(err) || isWithheld(err) || !errors.Is(err, mapping.ErrForbidden) {
		return err
	}
	archived, readErr := do(w, ReadArchived{w.owner.Issue.Repo})
	if readErr != nil || !archived {
		return err
	}
	return &blockedOn{ServiceRepository(w.owner.Issue.Repo), "its repository is archived, and so read-only"}
}
