package randomtest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"planbridge/bridge/sim"
)

// turnsOf are the kinds of turns.
var turnsOf = []string{"world", "people", "interruption", "flurry", "sorting", "evening", "unheard", "fate", "operator", "old", "trait", "link", "calm", "project", "look", "team", "clean", "stray", "limit", "refusal"}

// How many turns of a kind there are at most, and words that are written in one.
const (
	mostTurns = 10_000
	mostWords = 64
)

// turns are the single things that people, fate and operators do in a run. Each one
// draws from a source of its own, so that it does the same where others are left out. It
// is safe for concurrent use.
type turns struct {
	seed    uint64
	leftOut map[string]bool // by name

	mu    sync.Mutex
	count map[string]int
	taken []string // names
}

// turn is one of them.
type turn struct {
	*rand.Rand
	name  string
	words int64 // the last number that was given out
}

// newTurns returns those of a seed. PLANBRIDGE_SIM_LEAVE_OUT names a file with the names,
// one a line, of those that are left out.
func newTurns(seed uint64) (*turns, error) {
	t := &turns{seed: seed, leftOut: map[string]bool{}, count: map[string]int{}}
	if path := os.Getenv("PLANBRIDGE_SIM_LEAVE_OUT"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("PLANBRIDGE_SIM_LEAVE_OUT: %w", err)
		}
		for name := range strings.Lines(string(text)) {
			t.leftOut[strings.TrimSpace(name)] = true
		}
	}
	return t, nil
}

// next is the next turn of a kind, or nil where that is left out.
func (t *turns) next(kind string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.count[kind]
	t.count[kind]++
	one := t.turn(kind, n)
	if t.leftOut[one.name] {
		return nil
	}
	t.taken = append(t.taken, one.name)
	return one
}

// were is how many turns of a kind there were.
func (t *turns) were(kind string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count[kind]
}

// turn is the nth of a kind.
func (t *turns) turn(kind string, n int) *turn {
	one := &turn{name: fmt.Sprintf("%s %d", kind, n), Rand: sim.Source(t.seed, kind, n)}
	one.words = int64((slices.Index(turnsOf, kind)*mostTurns + n) * mostWords)
	return one
}

// chance is true in so many of a hundred cases.
func (t *turn) chance(percent int) bool { return t.IntN(100) < percent }

// number is unlike any other of the run.
func (t *turn) number() int64 {
	t.words++
	return t.words
}

// word is unlike any other of the run.
func (t *turn) word() string { return "w" + strconv.FormatInt(t.number(), 10) }
