package randomtest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/cryptotest"
	"time"
)

// explorer goes all ways through the small world that differ, those with the fewest turns
// off the usual way first. A way is cut where it comes to a state that was there before.
type explorer struct {
	replicas int
	dir      string
	seen     map[[16]byte]int // by which way first
	frontier [][]turnOff      // of this level
	next     [][]turnOff      // of the next one
	ways     int
	cut      int
	steps    int
	deepest  int
	wrong    int
}

// TestExplore explores the small world for PLANBRIDGE_EXPLORE_SECONDS, with one replica and
// with two. It ends earlier where no way is left.
func TestExplore(t *testing.T) {
	lasts := 4 * time.Second
	if s := os.Getenv("PLANBRIDGE_EXPLORE_SECONDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("PLANBRIDGE_EXPLORE_SECONDS: %v", err)
		}
		lasts = time.Duration(n) * time.Second / 2
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // steps that one step wakes go on in order
	for replicas := 1; replicas <= 2; replicas++ {
		t.Run(fmt.Sprintf("%d-replicas", replicas), func(t *testing.T) {
			cryptotest.SetGlobalRandom(t, 1)
			e := &explorer{replicas: replicas, dir: t.TempDir(), seen: map[[16]byte]int{}, frontier: [][]turnOff{nil}}
			e.explore(t, lasts)
		})
	}
}

// explore goes ways until the time is over or none is left, and says what it came to.
func (e *explorer) explore(t *testing.T, lasts time.Duration) {
	began, level := time.Now(), 0
	for e.wrong < 3 {
		if len(e.frontier) == 0 {
			if len(e.next) == 0 {
				break
			}
			t.Logf("%s: all ways of at most %d turns off: %s", time.Since(began).Round(time.Second), level, e)
			level, e.frontier, e.next = level+1, e.next, nil
			// A level that does not end has ways from everywhere.
			rand.New(rand.NewPCG(1, uint64(level))).Shuffle(len(e.frontier), func(i, j int) { e.frontier[i], e.frontier[j] = e.frontier[j], e.frontier[i] })
		}
		if e.ways > 0 && time.Since(began) > lasts {
			break
		}
		last := len(e.frontier) - 1
		offs := e.frontier[last]
		e.frontier = e.frontier[:last]
		e.walk(t, offs)
	}
	bound := "no way is left"
	if n := len(e.frontier) + len(e.next); n > 0 {
		bound = fmt.Sprintf("stopped among the ways of %d turns off after %s", level, time.Since(began).Round(time.Second))
	}
	t.Logf("%s: %s", e, bound)
}

func (e *explorer) String() string {
	return fmt.Sprintf("%d states, %d transitions, %d ways of which %d were cut, at most %d places deep, %d ways left, %d violations",
		len(e.seen), e.steps, e.ways, e.cut, e.deepest, len(e.frontier)+len(e.next), e.wrong)
}

// walk goes one way.
func (e *explorer) walk(t *testing.T, offs []turnOff) {
	w := &way{offs: offs}
	w.visit = func(state [16]byte, place, choices int) bool {
		e.steps++
		if first, was := e.seen[state]; was {
			return first == e.ways // in which time only passed: it goes on to its end
		}
		e.seen[state] = e.ways
		for nth := 1; nth < choices; nth++ {
			e.next = append(e.next, append(slices.Clip(offs), turnOff{place, nth}))
		}
		return true
	}
	wrong := w.play(t, e.replicas, e.dir)
	e.ways++
	if w.cut {
		e.cut++
	}
	e.deepest = max(e.deepest, w.places)
	if len(wrong) > 0 {
		e.wrong++
		t.Errorf("turns off %v:\n%sand then: %v", offs, told(w.people.entries()), wrong)
	}
}
