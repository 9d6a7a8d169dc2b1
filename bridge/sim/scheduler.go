// Package sim runs whole deployments in the virtual time of testing/synctest. Each call
// from a replica to its store, to a service or to a replica is a step, and a seeded
// scheduler picks which of those that wait goes next. Nothing waits for the operating
// system, and time jumps to the next moment at which something is due.
package sim

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// Scheduler lets one step after the other go on. It belongs to one bubble of
// testing/synctest, in which nothing else may call synctest.Wait.
type Scheduler struct {
	seed    uint64
	journal io.Writer
	digest  hash.Hash
	began   time.Time

	mu      sync.Mutex
	pending []*step
	arrived chan struct{}
	named   map[string]int // how many steps of a name came
	steps   int
	drawnAt time.Duration  // since began
	drawn   map[string]int // how often, then
}

// apart is the time between two steps. What they begin at different moments and takes
// equally long ends at different moments as well: timers of one moment have no order.
const apart = time.Microsecond

// delay bounds how long the scheduler waits now and then between two steps.
const delay = 5 * time.Millisecond

// step is a call that waits for its turn.
type step struct {
	name string // unlike that of any other that waits at the same time, mostly
	// random is of the step's own: what becomes of it hangs on no other step that was before.
	random *rand.Rand
	goOn   chan struct{}
}

// NewScheduler returns a scheduler whose choices are those of the seed. journal gets a
// line for each step; nil: nobody reads them.
func NewScheduler(seed uint64, journal io.Writer) *Scheduler {
	if journal == nil {
		journal = io.Discard
	}
	digest := sha256.New()
	return &Scheduler{
		seed: seed, journal: io.MultiWriter(journal, digest), digest: digest,
		began: time.Now(), arrived: make(chan struct{}, 1), named: map[string]int{}, drawn: map[string]int{},
	}
}

// Step waits until the scheduler lets it go on. actor is who does something, what says
// what that is, and given is what it is done with.
func (s *Scheduler) Step(actor, what string, given ...any) {
	one := &step{name: actor + " " + what + shortly(given), goOn: make(chan struct{})}
	s.mu.Lock()
	s.named[one.name]++
	one.random = Source(s.seed, one.name, s.named[one.name])
	s.pending = append(s.pending, one)
	s.mu.Unlock()
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	<-one.goOn
}

// Source returns the nth random source of a name. It depends on nothing else that
// happens in a run of the seed.
func Source(seed uint64, name string, n int) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d %s %d", seed, name, n))))
}

// shortly is a short word for values; "": there are none.
func shortly(given []any) string {
	if len(given) == 0 {
		return ""
	}
	text, err := json.Marshal(given)
	if err != nil {
		panic("sim: print what a step is given: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf(" %x", sum[:4])
}

// Random returns a number below n for an actor. What two actors draw, or one at two
// moments, hangs on nothing that others draw meanwhile.
func (s *Scheduler) Random(actor string, n int64) int64 {
	return int64(s.source(actor, fmt.Sprint(n)).Uint64N(uint64(n)))
}

// Read implements [io.Reader], for what in the bubble asks crypto/rand.
func (s *Scheduler) Read(p []byte) (int, error) {
	r := s.source("", "")
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return len(p), nil
}

// source is of its own for each moment, actor and purpose, and for each draw there.
func (s *Scheduler) source(actor, purpose string) *rand.Rand {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Since(s.began); now != s.drawnAt {
		s.drawnAt, s.drawn = now, map[string]int{}
	}
	name := fmt.Sprintf("%d %s %s", s.drawnAt, actor, purpose)
	s.drawn[name]++
	return Source(s.seed, name, s.drawn[name])
}

// Run lets steps go on until ctx ends and no step waits any more.
func (s *Scheduler) Run(ctx context.Context) {
	for {
		synctest.Wait()
		if one := s.pick(); one != nil {
			close(one.goOn)
			synctest.Wait()
			one.dawdle()
			continue
		}
		select {
		case <-s.arrived:
		case <-ctx.Done():
			return
		}
	}
}

// dawdle lets time pass after a step: mostly hardly any, sometimes so much that others
// come before what follows it.
func (one *step) dawdle() {
	d := apart
	if one.random.IntN(4) == 0 {
		d += time.Duration(one.random.Int64N(int64(delay)))
	}
	time.Sleep(d)
}

// pick takes the one of the steps that wait which draws the lowest number. Those that
// arrived at one moment have no order of their own.
func (s *Scheduler) pick() *step {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		return nil
	}
	slices.SortStableFunc(s.pending, func(a, b *step) int { return cmp.Compare(a.name, b.name) })
	first, lowest := 0, uint64(math.MaxUint64)
	for n, one := range s.pending {
		if drawn := one.random.Uint64(); drawn < lowest {
			first, lowest = n, drawn
		}
	}
	one := s.pending[first]
	s.pending = slices.Delete(s.pending, first, first+1)
	s.steps++
	fmt.Fprintf(s.journal, "%d %s %s\n", s.steps, time.Since(s.began), one.name) //nolint:errcheck // a digest takes everything
	return one
}

// Note writes into the journal what is no step.
func (s *Scheduler) Note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.journal, what) //nolint:errcheck // a digest takes everything
}

// Steps is how many steps went on.
func (s *Scheduler) Steps() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps
}

// Digest tells whether two runs were the same: the first bytes of the SHA-256 of all
// steps, with what they are given and their times, and of all notes.
func (s *Scheduler) Digest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%x", s.digest.Sum(nil)[:8])
}
