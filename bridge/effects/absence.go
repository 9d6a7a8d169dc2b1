package effects

import (
	"sync"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

const (
	// absentFew items of one project or repository may be gone at once, and so may a tenth of
	// those read lately. More are a fact about the service.
	absentFew   = 5
	absentShare = 10
)

// absences remembers which items answered gone lately, by their project or repository. It lives
// as long as the process. It is safe for concurrent use.
type absences struct {
	mu     sync.Mutex
	scopes map[string]*absentItems
}

// absentItems are the absent items of one project or repository.
type absentItems struct {
	gone map[mapping.Ref]absentItem
	// looks and earlier count the reads of items in this period and in the one before.
	looks, earlier int
	period         time.Time // when this period began
	logged, posted bool      // whether the log, and an issue, report that many are gone
}

// absentItem is when an item answered gone first, and when last.
type absentItem struct{ first, last time.Time }

// scope returns the entry of a project or repository; the caller holds a.mu.
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

// found records that an item answered.
func (a *absences) found(now time.Time, scope string, item mapping.Ref, keep time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.scope(now, scope)
	s.countRead(now, keep)
	delete(s.gone, item)
	s.calm()
}

// missed records that an item answered gone. An absence is forgotten keep after the item's last
// read.
func (a *absences) missed(now time.Time, scope string, item mapping.Ref, keep time.Duration) reconcile.Absence {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.scope(now, scope)
	s.countRead(now, keep)
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

// announce returns true once, for the caller that reports that many items are gone. With e.Back
// it allows that again.
func (a *absences) announce(now time.Time, e reconcile.Announce) (first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.scope(now, e.Scope)
	done := &s.logged
	if e.OnIssue {
		done = &s.posted
	}
	first = !*done
	*done = !e.Back
	return first
}

func (s *absentItems) countRead(now time.Time, period time.Duration) {
	if now.Sub(s.period) > period {
		s.looks, s.earlier, s.period = 0, s.looks, now
	}
	s.looks++
}

func (s *absentItems) many() bool {
	return len(s.gone) > max(absentFew, (s.looks+s.earlier)/absentShare)
}

// calm allows a new report once fewer items are gone.
func (s *absentItems) calm() {
	if !s.many() {
		s.logged, s.posted = false, false
	}
}
