// Package sim runs whole deployments in the virtual time of testing/synctest. Each call
// from a replica to its store, to a service or to a replica is a step, and a seeded
// scheduler picks which of those that wait goes next. Nothing waits for the operating
// system, and time jumps to the next moment at which something is due.
package sim

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/pprof"
	"slices"
	"strconv"
	"sync"
	"testing/synctest"
	"time"
)

// Scheduler lets one step after the other go on. It belongs to one bubble of
// testing/synctest, in which nothing else may call synctest.Wait.
type Scheduler struct {
	// Choose picks what goes on, in the place of the seed, and time passes only where it
	// lets it; nil: the seed picks. It is set before steps wait that it may pick.
	Choose func([]Ready) Choice
	// Between is called now and then between two steps, while nothing else runs; nil: nothing is.
	Between func()

	seed    uint64
	journal io.Writer
	digest  hash.Hash
	began   time.Time

	mu      sync.Mutex
	pending []*step
	arrived chan struct{}
	named   map[string]int // how many steps of a name came
	steps   int
	line    []byte         // of the journal, the last one
	drawnAt time.Duration  // since began
	drawn   map[string]int // how often, then
}

// apart is the time between two steps. What they begin at different moments and takes
// equally long ends at different moments as well: timers of one moment have no order.
const apart = time.Microsecond

// delay bounds how long the scheduler waits now and then between two steps.
const delay = 5 * time.Millisecond

// often is how many steps lie between two calls of Between.
const often = 64

// step is a call that waits for its turn.
type step struct {
	name string // unlike that of any other that waits at the same time, mostly
	// random is of the step's own: what becomes of it hangs on no other step that was before.
	random *rand.Rand
	goOn   chan struct{}
	ready  Ready
	lost   bool // its answer
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
	s.step(context.Background(), actor, what, given)
}

// step is Step. The profiler's labels of ctx say which loop of the actor, and which key, takes it:
// two that take steps of one name at one moment have no order of their own. It reports whether the
// answer that the step brings is lost.
func (s *Scheduler) step(ctx context.Context, actor, what string, given []any) (lost bool) {
	one := &step{name: actor + " " + labelled(ctx) + what + brief(given), goOn: make(chan struct{}), ready: Ready{Actor: actor, What: what}}
	if s.Choose != nil {
		one.ready.Given = told(given)
	}
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
	return one.lost
}

// labelled are the profiler's labels of a context, by their names.
func labelled(ctx context.Context) (all string) {
	pprof.ForLabels(ctx, func(_, value string) bool {
		all += value + ": "
		return true
	})
	return all
}

// Source returns the nth random source of a name. It depends on nothing else that
// happens in a run of the seed.
func Source(seed uint64, name string, n int) *rand.Rand {
	text := make([]byte, 0, 128)
	text = append(strconv.AppendUint(text, seed, 10), ' ')
	text = append(append(text, name...), ' ')
	return rand.New(rand.NewChaCha8(sha256.Sum256(strconv.AppendInt(text, int64(n), 10))))
}

// told is what a step is given, as text; "": nothing.
func told(given []any) string {
	if len(given) == 0 {
		return ""
	}
	text, err := json.Marshal(given)
	if err != nil {
		panic("sim: print what a step is given: " + err.Error())
	}
	return string(text)
}

// brief is a short word for what a step is given; "": nothing.
func brief(given []any) string {
	if len(given) == 0 {
		return ""
	}
	h := sha256.New()
	for _, one := range given {
		switch v := one.(type) {
		case []byte:
			h.Write(v)
		case string:
			io.WriteString(h, v) //nolint:errcheck // a digest takes everything
		case json.Marshaler:
			write(h, v)
		default:
			if err := json.NewEncoder(h).Encode(v); err != nil {
				panic("sim: print what a step is given: " + err.Error())
			}
		}
		h.Write([]byte{0})
	}
	return " " + hex.EncodeToString(h.Sum(nil)[:4])
}

// write writes what a Marshaler says of itself, which is its JSON in the shortest form. It is
// not read again for that.
func write(h hash.Hash, v json.Marshaler) {
	text := []byte("null")
	if at := reflect.ValueOf(v); at.Kind() != reflect.Pointer || !at.IsNil() {
		var err error
		if text, err = v.MarshalJSON(); err != nil {
			panic("sim: print what a step is given: " + err.Error())
		}
	}
	h.Write(append(text, '\n'))
}

// Random returns a number below n for an actor. What two actors draw, or one at two
// moments, hangs on nothing that others draw meanwhile.
func (s *Scheduler) Random(actor string, n int64) int64 {
	if s.Choose != nil {
		return n / 2 // what is chosen is all that differs
	}
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
	for n := 1; ; n++ {
		synctest.Wait()
		if s.Between != nil && n%often == 0 {
			s.Between()
		}
		if s.Choose != nil {
			if s.chosen() {
				continue
			}
		} else if one := s.pick(); one != nil {
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
	s.sort()
	first, lowest := 0, uint64(math.MaxUint64)
	for n, one := range s.pending {
		if drawn := one.random.Uint64(); drawn < lowest {
			first, lowest = n, drawn
		}
	}
	return s.take(first)
}

func (s *Scheduler) sort() {
	slices.SortStableFunc(s.pending, func(a, b *step) int { return cmp.Compare(a.name, b.name) })
}

// take takes a step from those that wait, for its turn.
func (s *Scheduler) take(n int) *step {
	one := s.pending[n]
	s.pending = slices.Delete(s.pending, n, n+1)
	s.steps++
	s.line = append(strconv.AppendInt(s.line[:0], int64(s.steps), 10), ' ')
	s.line = append(append(s.line, time.Since(s.began).String()...), ' ')
	s.line = append(append(s.line, one.name...), '\n')
	s.journal.Write(s.line) //nolint:errcheck // a digest takes everything
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
