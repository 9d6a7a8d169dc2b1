package randomtest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// tally counts what runs did and suffered, by what it was.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (t *tally) add(counts map[string]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	for what, n := range counts {
		t.counts[what] += n
	}
}

func (t *tally) of(what string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[what]
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	parts := []string{}
	for _, what := range slices.Sorted(maps.Keys(t.counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", what, t.counts[what]))
	}
	return strings.Join(parts, ", ")
}

const (
	countEdits  = "acts of people"
	countFaults = "faults"
)

// counts tells what the run did and suffered until now.
func (c *chaos) counts() map[string]int {
	out := map[string]int{"issues": len(c.Repo.Issues()), "cards": len(c.Project.Cards())}
	fault := func(service, kind string) {
		if kind != "" {
			out[countFaults]++
			out[service+" "+kind]++
		}
	}
	for _, call := range c.GitHub.Journal() {
		fault("GitHub", call.Fault)
	}
	for _, call := range c.Planning.Journal() {
		fault("planning", string(call.Fault))
	}
	for _, d := range c.GitHub.Deliveries() {
		count := func(what string, is bool) {
			if is {
				out["deliveries "+what]++
			}
		}
		count("in all", true)
		count("lost", d.Drop)
		count("doubled", d.Copies > 1)
		count("late", d.Delay > 0)
		count("refused or not taken", !d.Drop && d.Status >= 400)
	}
	for _, line := range c.people.entries() {
		if did, ok := strings.CutPrefix(line.Text, "operator: "); !ok {
			out[countEdits]++
		} else if verb, what, _ := strings.Cut(did, " "); what == "a bridge" {
			out["bridge "+verb]++
		} else if verb == "import" {
			out["imports"]++
		} else if strings.HasPrefix(what, "the store") {
			out["store lost"]++
		}
	}
	return out
}
