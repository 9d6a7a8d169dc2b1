package reconcile

import (
	"sync"
	"time"

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

// absence is what is known when an item answers gone.
type absence struct {
	first time.Time // when this process met it first
	gone  int       // items, this one included
	many  bool      // that is a fact about the service
}

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
func (a *absences) missed(now time.Time, scope string, item mapping.Ref, keep time.Duration) absence {
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
	return absence{first: i.first, gone: len(s.gone), many: s.many()}
}

// say reports whether nobody has yet said in the log that many items are gone.
func (a *absences) say(now time.Time, scope string) bool {
	return a.once(now, scope, func(s *absentItems) *bool { return &s.said })
}

// tell reports whether no issue has been told yet that many items are gone.
func (a *absences) tell(now time.Time, scope string) bool {
	return a.once(now, scope, func(s *absentItems) *bool { return &s.told })
}

func (a *absences) once(now time.Time, scope string, which func(*absentItems) *bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	done := which(a.scope(now, scope))
	first := !*done
	*done = true
	return first
}

// untell takes back that an issue was told.
func (a *absences) untell(now time.Time, scope string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scope(now, scope).told = false
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
