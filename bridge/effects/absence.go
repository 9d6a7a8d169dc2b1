package effects

import (
	"sync"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

const (
	// absentFew is how many items of one project or repository may be gone at the same
	// time before that is a fact about the service; so may a tenth of those looked at.
	absentFew   = 5
	absentShare = 10
)

// absences knows which items answered gone lately, by the project or repository that
// they belong to. It lives as long as the process. It is safe for concurrent use.
type absences struct {
	mu     sync.Mutex
	scopes map[string]*absentItems
}

// absentItems are the items of one project or repository.
type absentItems struct {
	gone map[mapping.Ref]absentItem
	// looks and earlier count the items looked at in this period and the one before.
	looks, earlier int
	period         time.Time // when this one began
	said, told     bool      // the log, and an issue, say that many are gone
}

// absentItem is when an item answered gone first, and when last.
type absentItem struct{ first, last time.Time }

// scope returns what is known of a project or repository; a.mu is held.
func (a *absences) scope(now time.Time, name string) *absentItems {
	s := a.scopes[name]
	if s == nil {
		s = &absentItems{gone: map[mapping.Ref]absentItem{}, period: now}
		if a.scopes == nil {
			a.scopes = map[string]*absentItems{}
		}
		a.scopes[name] = s
	}
	return s
}

// found takes in that an item answered.
func (a *absences) found(now time.Time, scope string, item mapping.Ref, keep time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.scope(now, scope)
	s.look(now, keep)
	delete(s.gone, item)
	s.calm()
}

// missed takes in that an item answered gone. What was gone is forgotten keep after it
// was looked at last.
func (a *absences) missed(now time.Time, scope string, item mapping.Ref, keep time.Duration) reconcile.Absence {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.scope(now, scope)
	s.look(now, keep)
	for ref, i := range s.gone {
		if now.Sub(i.last) > keep {
			delete(s.gone, ref)
		}
	}
	s.calm()
	i, known := s.gone[item]
	if !known {
		i.first = now
	}
	i.last = now
	s.gone[item] = i
	return reconcile.Absence{First: i.first, Gone: len(s.gone), Many: s.many()}
}

// announce gives the right to say that many items are gone, once, and takes it back.
func (a *absences) announce(now time.Time, e reconcile.Announce) (first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.scope(now, e.Scope)
	done := &s.said
	if e.OnIssue {
		done = &s.told
	}
	first = !*done
	*done = !e.Back
	return first
}

func (s *absentItems) look(now time.Time, period time.Duration) {
	if now.Sub(s.period) > period {
		s.looks, s.earlier, s.period = 0, s.looks, now
	}
	s.looks++
}

func (s *absentItems) many() bool {
	return len(s.gone) > max(absentFew, (s.looks+s.earlier)/absentShare)
}

// calm lets the next time that many are gone be said and told again.
func (s *absentItems) calm() {
	if !s.many() {
		s.said, s.told = false, false
	}
}
