package planningmodel

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Options are the inputs of a [Service].
type Options struct {
	Traits  Traits                           // the first traits; see [Service.SetTraits]
	Now     func() time.Time                 // the clock; required
	Shuffle func(n int, swap func(i, j int)) // for [BatchShuffled]; nil: it stays as sent
	Changed func()                           // called after every act; it may query the service; nil: not called
}

// Service is the state of a planning service. It is safe for concurrent use.
type Service struct {
	o Options

	mu       sync.Mutex
	traits   Traits
	ids      uint64
	projects []*Project
}

// New returns a service without projects.
func New(o Options) *Service { return &Service{o: o, traits: o.Traits} }

// act locks the service for a change; the returned function unlocks it and reports the change.
func (s *Service) act() func() {
	s.mu.Lock()
	return func() {
		s.mu.Unlock()
		if s.o.Changed != nil {
			s.o.Changed()
		}
	}
}

// SetTraits changes the service's behaviour from the next call on. The
// function must not call the service.
func (s *Service) SetTraits(change func(*Traits)) {
	defer s.act()()
	change(&s.traits)
}

// Traits are the service's traits as they are now.
func (s *Service) Traits() Traits {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.traits
}

// Projects are the service's projects in the order of their making.
func (s *Service) Projects() []*Project {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.projects)
}

// project is the project with that id, or nil.
func (s *Service) project(id string) *Project {
	for _, p := range s.projects {
		if p.id == id {
			return p
		}
	}
	return nil
}

// newID makes the next object id: 24 hexadecimal characters.
func (s *Service) newID() string {
	s.ids++
	return fmt.Sprintf("54744060%016x", s.ids)
}
