// Package sim runs whole deployments in the virtual time of testing/synctest. Each call from a
// replica to its store, to a service or to a replica is a step. A seeded scheduler picks the next
// one of those that wait. Nothing waits for the operating system, and time jumps to the next moment
// at which something is due.
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

// Scheduler releases one step after the other. It belongs to one bubble of testing/synctest, in
// which nothing else may call synctest.Wait.
type Scheduler struct {
	// Choose picks the next step in place of the seed, and time passes only where it allows that;
	// nil: the seed picks. Set it before any step waits.
	Choose func([]Ready) Choice
	// Between is called now and then between two steps, while nothing else runs; nil: nothing is
	// called.
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

// apart is the time between two steps. Operations of equal length that begin apart also end apart,
// as timers of one moment have no order.
const apart = time.Microsecond

// delay bounds how long the scheduler waits now and then between two steps.
const delay = 5 * time.Millisecond

// often is how many steps lie between two calls of Between.
const often = 64

// step is a call that waits for its turn.
type step struct {
	name string // mostly unique among the waiting steps
	// random is the step's own source, so that its outcome does not depend on earlier steps.
	random *rand.Rand
	goOn   chan struct{}
	ready  Ready
	lost   bool // its answer
}

// NewScheduler returns a scheduler whose choices are those of the seed. journal gets a line for
// each step; nil: none is written.
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

// Step waits until the scheduler releases it. It is an act of actor, what describes it, and given
// are its arguments.
func (s *Scheduler) Step(actor, what string, given ...any) {
	s.step(context.Background(), actor, what, given)
}

// step is Step. The profiler's labels of ctx identify the loop of the actor, and the key, that
// takes it. Two steps of one name at one moment have no other order. It reports whether the step's
// answer is lost.
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

// Source returns the nth random source of a name. It does not depend on other events in a run of
// the seed.
func Source(seed uint64, name string, n int) *rand.Rand {
	text := make([]byte, 0, 128)
	text = append(strconv.AppendUint(text, seed, 10), ' ')
	text = append(append(text, name...), ' ')
	return rand.New(rand.NewChaCha8(sha256.Sum256(strconv.AppendInt(text, int64(n), 10))))
}

// told is a step's arguments, as text; "": none.
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

// brief is a short word for a step's arguments; "": none.
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

// write writes a Marshaler's JSON in its shortest form, without parsing it again.
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

// Random returns a number below n for an actor. The draws of an actor at a moment do not depend on
// other draws.
func (s *Scheduler) Random(actor string, n int64) int64 {
	if s.Choose != nil {
		return n / 2 // only the choices differ
	}
	return int64(s.source(actor, fmt.Sprint(n)).Uint64N(uint64(n)))
}

// Read implements [io.Reader], for readers of crypto/rand in the bubble.
func (s *Scheduler) Read(p []byte) (int, error) {
	r := s.source("", "")
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return len(p), nil
}

// source returns a separate source for each moment, actor, purpose and draw.
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

// dawdle lets time pass after a step. It is mostly hardly any, sometimes enough for other steps
// before the next one of the actor.
func (one *step) dawdle() {
	d := apart
	if one.random.IntN(4) == 0 {
		d += time.Duration(one.random.Int64N(int64(delay)))
	}
	time.Sleep(d)
}

// pick takes the waiting step that draws the lowest number, as steps that arrived at one moment
// have no order.
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

// take removes a step from the waiting ones, for its turn.
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

// Note writes an event that is no step into the journal.
func (s *Scheduler) Note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.journal, what) //nolint:errcheck // a digest takes everything
}

// Steps is the number of released steps.
func (s *Scheduler) Steps() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps
}

// Digest tells whether two runs were the same. It is the first bytes of the SHA-256 of all steps,
// with their arguments and times, and of all notes.
func (s *Scheduler) Digest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%x", s.digest.Sum(nil)[:8])
}
