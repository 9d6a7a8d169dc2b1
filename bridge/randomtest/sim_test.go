package randomtest_test

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/nettest"
	"planbridge/bridge/sim"
	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
	"planbridge/store/memstore"
)

// simulation is what a random run in virtual time has beside the world.
type simulation struct {
	memory    *memstore.Memory
	network   *nettest.InProcess
	scheduler *sim.Scheduler
	people    *people

	mu sync.Mutex

	before    memstore.Snapshot // to which the store may go back
	mishaps   []time.Time       // when it was lost, or went back
	forgotten bool              // it was lost, or went back
	// learned is when the bridges learned what is in the store, remembered what is in before.
	learned, remembered []span

	away  atomic.Bool  // the configuration has another route, see reload_test.go
	setup atomic.Int32 // of the other project, see projects_test.go
	other *projects    // nil: there is none

	witness witness
	answers map[string][]string
}

// answer remembers what an operator answers to a conflict, and answersTo tells it.
func (s *simulation) answer(id, winner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[id] = append(s.answers[id], winner)
}

func (s *simulation) answersTo(id string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers[id]
}

// policies draws those of the route; for half of the seeds none.
func (c *chaos) policies() string {
	one := c.turns.next("world")
	if one == nil || one.chance(50) {
		return ""
	}
	of := []string{"planning", "github", "newest", "ask", "merge"}
	draw := func() string { return of[one.IntN(len(of))] }
	return fmt.Sprintf("conflicts: {default: %s, summary: %s, title: %s, state: %s}\n", draw(), draw(), draw(), draw())
}

// mayForget reports whether a seed's store may be lost.
func mayForget(seed uint64) bool { return seed%3 == 0 }

// mishap is what happens to the store: its content is lost, or goes back to what it was.
func (s *simulation) mishap(one *turn) (did doing, text string) {
	switch one.IntN(4) {
	case 0:
		s.forgotten, s.mishaps = true, append(s.mishaps, time.Now())
		s.memory.Restore(memstore.Snapshot{})
		s.learned = []span{{from: time.Now()}}
		return do("bridge", "forget"), "loses the store"
	case 1:
		s.forgotten, s.mishaps = true, append(s.mishaps, time.Now())
		s.memory.Restore(s.before)
		s.learned = append(slices.Clip(s.remembered), span{from: time.Now()})
		return do("bridge", "put-back"), "puts an older store back"
	default:
		s.before = s.memory.Snapshot()
		s.remembered = ended(s.learned, time.Now())
		return do("bridge", "keep"), "keeps a copy of the store"
	}
}

// allConflicts are those of the ledger, newest first.
func (s *simulation) allConflicts(ctx context.Context, project mapping.ObjectID) (all []mapping.Conflict, err error) {
	ledger := s.memory.Open(nil)
	for cursor := ""; ; {
		some, next, err := ledger.Conflicts(ctx, project, cursor, 1000)
		if all = append(all, some...); err != nil || next == "" {
			return all, err
		}
		cursor = next
	}
}

// answerAll answers what people are asked, and returns how many conflicts that were.
func answerAll(ctx context.Context, p runner) (n int, err error) {
	v, ok := p.(*virtual)
	if !ok {
		return 0, nil
	}
	var all []mapping.Conflict
	for _, project := range v.projects() {
		some, err := v.sim.allConflicts(ctx, project)
		if all = append(all, some...); err != nil {
			return 0, err
		}
	}
	for _, one := range all {
		if one.State != mapping.ConflictOpen {
			continue
		}
		n++
		winner := []string{"planning", "github"}[v.sim.scheduler.Random("operator", 2)]
		v.sim.answer(one.ID, winner)
		err = errors.Join(err, v.Ask(ctx, http.MethodPost, "/api/v1/conflicts/"+one.ID+"/resolve", []byte(`{"winner":"`+winner+`"}`), nil))
	}
	return n, err
}

// TestSim is the random run in virtual time. The bridges and both services are in this process, and
// a seeded scheduler picks the next of their calls (see package sim). PLANBRIDGE_SIM_SIZE,
// PLANBRIDGE_SIM_SECONDS and PLANBRIDGE_SIM_SEEDS are as those of TestChaos. With
// PLANBRIDGE_SIM_DIGESTS each seed is played twice, and the digests have to be equal.
// PLANBRIDGE_SIM_JOURNAL names a file for the steps of the last seed.
func TestSim(t *testing.T) {
	seeds, of, err := chaosSettings(func(name string) string {
		v := os.Getenv(strings.Replace(name, "CHAOS", "SIM", 1))
		if v == "" && strings.HasSuffix(name, "SEEDS") {
			v = "1 2 3 4 5 6"
		}
		return v
	})
	if err != nil {
		t.Fatal(err)
	}
	equal, before, isDrawn := 0, processorTime(), mappingtest.DrawWorlds(len(seeds))
	for _, seed := range seeds {
		if !isDrawn() {
			continue // one goroutine at a time runs in it, see mappingtest.Worlds
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			digest := simulate(t, seed, of)
			played[playedRun{seed, of}] = digest
			if os.Getenv("PLANBRIDGE_SIM_DIGESTS") == "" {
				return
			}
			if again := simulate(t, seed, of); again != digest {
				t.Errorf("the digests of two runs are %q and %q", digest, again)
				return
			}
			equal++
		})
	}
	each := (processorTime() - before) / time.Duration(len(seeds))
	t.Logf("limits that were small enough to bind: %s", &bound)
	t.Logf("%d seeds, %s: %s of processor time each, %d in ten minutes on two processors; %d had equal digests twice",
		len(seeds), of, each.Round(time.Millisecond), 20*time.Minute/max(each, 1), equal)
}

// processorTime is how long this process was on a processor.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// stillFor is the longest time of a seed, in real time. Virtual time stands still for good where
// something waits for a lock that is held over a step.
const stillFor = 5 * time.Minute

// garbage is how large the heap may become before it is collected.
const garbage = 48 << 20

// collect collects garbage between two steps. A collection beside one would stop what runs,
// and let something else go on before it.
func collect() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(heap); heap[0].Value.Uint64() > garbage {
		runtime.GC()
	}
}

// simulate plays a seed, and returns the digest of its steps and of what people did.
func simulate(t *testing.T, seed uint64, of size) (digest string) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // steps that one step wakes go on in order
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // see collect
	cryptotest.SetGlobalRandom(t, seed)              // before and after the run; see below
	var journal io.Writer
	if path := os.Getenv("PLANBRIDGE_SIM_JOURNAL"); path != "" {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close() //nolint:errcheck // it is there to be read by a person
		journal = f
	}
	stuck := time.AfterFunc(stillFor, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("seed %d: the virtual time stands still", seed))
	})
	defer stuck.Stop()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &simulation{
			memory: memstore.New(memstore.Options{Clock: clock.Runtime{}, QueueLimit: 200_000}), network: nettest.NewInProcess(),
			scheduler: sim.NewScheduler(seed, journal), answers: map[string][]string{},
			learned: []span{{from: began}},
		}
		cryptorand.Reader, s.scheduler.Between = s.scheduler, collect
		ctx, cancel := context.WithCancel(context.Background())
		var scheduling sync.WaitGroup
		scheduling.Go(func() { s.scheduler.Run(ctx) })
		t.Cleanup(func() { // runs last: parts that end take steps as well
			cancel()
			scheduling.Wait()
			s.scheduler.Note("what people did:\n" + told(s.people.entries()))
			digest = s.scheduler.Digest()
			t.Logf("%s of virtual time, %d steps, digest %s", time.Since(began), s.scheduler.Steps(), digest)
		})
		runChaos(t, seed, of, s)
	})
	return digest
}

// played are the digests of the runs of TestSim.
var played = map[playedRun]string{}

type playedRun struct {
	seed uint64
	of   size
}

// TestSameSeedSameBytes plays seeds again that TestSim played, of one replica and
// of two: each step is the same, and at the same virtual time.
func TestSameSeedSameBytes(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	_, of, err := chaosSettings(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{4, 3} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			first := played[playedRun{seed, of}]
			if first == "" {
				first = simulate(t, seed, of)
			}
			if again := simulate(t, seed, of); again == "" || again != first {
				t.Errorf("the digests of two runs are %q and %q", first, again)
			}
		})
	}
}
