package randomtest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/mapping"
	"planbridge/store/redisstore/redistest"
)

// TestChaos lets several people work on both sides at random while every possible fault occurs.
// Deliveries are lost, doubled, late and out of order. Answers are lost, errors come before and
// after the effect, and there are limits, garbage, stale reads and outages. Bridges are stopped and
// killed. Then everything comes to rest, and the world is judged (see judge).
//
// PLANBRIDGE_CHAOS_SECONDS is how long people work, PLANBRIDGE_CHAOS_SEEDS the
// seeds ("17 4711"), or how many new ones ("50x"). Odd seeds run on Redis, half of them with two
// bridges. In one of four, tasks stand for the items of checklists, else for sub-issues. In one of
// three there are items older than the bridge, and imports. A seed gives the same people and fate,
// but not the same race.
func TestChaos(t *testing.T) {
	t.Parallel()
	seeds, of, err := chaosSettings(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bridgetest.Binary(); err != nil {
		t.Fatal(err)
	}
	var all tally
	t.Cleanup(func() { // when the runs, which are parallel, have ended
		t.Logf("%d seeds of %s: %s", len(seeds), of, &all)
		if all.of(countEdits) == 0 || all.of(countFaults) == 0 {
			t.Error("nobody did anything, or nothing went wrong: the runs show nothing")
		}
	})
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			all.add(runChaos(t, seed, of, nil))
		})
	}
}

// chaosSettings reads the run's settings; without any it is a short one.
func chaosSettings(env func(string) string) (seeds []uint64, of size, err error) {
	if of, err = sizeOf(env("PLANBRIDGE_CHAOS_SIZE"), env("PLANBRIDGE_CHAOS_SECONDS")); err != nil {
		return nil, of, err
	}
	list := env("PLANBRIDGE_CHAOS_SEEDS")
	if list == "" {
		list = "1 2 3" // the same at every change: make chaos is for new ones
	}
	if count, ok := strings.CutSuffix(list, "x"); ok {
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, of, fmt.Errorf("PLANBRIDGE_CHAOS_SEEDS: %w", err)
		}
		first := rand.Uint64N(1_000_000_000)
		for i := range uint64(n) {
			seeds = append(seeds, first+i)
		}
		return seeds, of, nil
	}
	for word := range strings.FieldsSeq(list) {
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return nil, of, fmt.Errorf("PLANBRIDGE_CHAOS_SEEDS: %w", err)
		}
		seeds = append(seeds, seed)
	}
	return seeds, of, nil
}

// chaos is one run.
type chaos struct {
	*bridgetest.World
	t        *testing.T
	seed     uint64
	size     size
	dir      string
	route    string // its settings
	keys     mapping.Keys
	turns    *turns
	people   *people
	fate     *fate
	bridges  []runner
	redis    *redistest.Server // nil: the store is a file
	sim      *simulation       // nil: the bridges are processes
	imports  *operators        // nil: nothing is older than the bridge
	plain    bool              // the seed has none of the traits (see trait)
	pauses   *turn             // in which the route is paused; nil: never
	paused   span              // when nothing may be written
	links    *linkActs         // operators' acts on links; nil: nothing
	public   *publicity        // when the repository is public; nil: never
	reloads  *reloads          // when the route is not configured; nil: never
	other    *projects         // a second planning project; nil: there is none
	looks    *turn             // whether operators look at items; nil: no
	refusals *turn             // whether services refuse single reads; nil: no
	team     *team             // people who assign and review; nil: nobody does
	strays   *strays           // items that people copy and delete; nil: none
	limits   limits            // small budgets and brakes
	calms    *turn             // whether people act while nothing goes wrong; nil: no
	acted    time.Time         // when an operator took up failures or answered last
}

// runChaos plays one run, and returns what it counted.
func runChaos(t *testing.T, seed uint64, of size, s *simulation) map[string]int {
	t.Logf("seed %d", seed)
	c := startChaos(t, seed, of, s)
	if complaints := c.beforehand(); len(complaints) > 0 {
		c.tell(complaints)
		return c.counts()
	}
	ctx, cancel := context.WithTimeout(t.Context(), of.lasts)
	defer cancel()
	var all sync.WaitGroup
	for _, what := range []func(context.Context){
		c.work, c.mischief, c.operate, c.importing, c.pausing, c.linking, c.publishing, c.reloading, c.arranging,
		c.looking, c.teamwork, c.straying, c.refusing,
	} {
		all.Go(func() { what(ctx) })
	}
	all.Wait()

	c.fate.rest()
	for _, p := range c.bridges {
		if err := c.up(p); err != nil {
			t.Fatal(err)
		}
	}
	c.endReload()
	c.endArranging()
	complaints := append(c.endPause(), c.endLinking()...)
	c.flurry()
	c.public.end(c)
	complaints = append(complaints, c.lastImport()...)
	complaints = append(complaints, c.lastMove()...)
	for _, next := range []func() []complaint{c.settle, c.unheard, c.quiet, c.calm, c.again, c.looked} {
		if len(complaints) == 0 {
			complaints = next()
		}
	}
	for _, p := range c.bridges {
		if err := p.Stop(); err != nil {
			complaints = append(complaints, complaint{what: err.Error()})
		}
	}
	complaints = append(complaints, slices.Concat(c.sim.witnessed(), c.whilePaused(), c.whileUnlinked(), c.whilePublic(), c.whileAway(), c.whileWithdrawn(), c.withinLimits())...)
	for _, path := range c.logs() {
		lines, err := bridgetest.BadLines(path)
		if err != nil {
			t.Error(err)
		}
		for _, line := range lines {
			complaints = append(complaints, complaint{what: "the bridge's log says " + line})
		}
	}
	c.report(complaints)
	if len(complaints) > 0 {
		c.tell(complaints)
	}
	return c.counts()
}

// logs are the files that the bridges, and the operators' commands, wrote.
func (c *chaos) logs() []string {
	var out []string
	for _, p := range c.bridges {
		out = append(out, p.Logs())
	}
	if c.imports != nil && c.sim == nil {
		out = append(out, c.imports.log.Name())
	}
	return out
}

// The patience with a world that has to come to rest. It covers a lease of a killed process, the
// longest back-off, and a search for the result of a lost answer.
const (
	restWithin = 120 * time.Second
)

// settle waits until the bridge has nothing to do and nothing is wrong any more; a fault comes back
// after a long time.
func (c *chaos) settle() []complaint {
	ctx, cancel := context.WithTimeout(c.t.Context(), c.patience(c.size.restWithin()))
	defer cancel()
	if err := c.GitHub.Idle(ctx); err != nil {
		return []complaint{{what: err.Error()}}
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	writes, since, began := -1, time.Now(), time.Now()
	for {
		idle, why := c.idle(ctx)
		if late := c.waits(ctx, began); len(late) > 0 {
			return late
		}
		if n := c.Writes(); n != writes || !idle {
			writes, since = n, time.Now()
		}
		if rested := time.Since(since); rested > c.size.restFor() {
			complaints, err := c.judge()
			if err != nil {
				return []complaint{{what: err.Error()}}
			}
			if len(complaints) == 0 || rested > c.longRest() { // a fault that lasts over a long rest stays
				return complaints
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			complaints, _ := c.judge()
			return append(complaints, complaint{what: "never at rest: " + why})
		}
	}
}

// idle reports whether the queue is empty. Failures are taken up again, as an
// operator does when the faults are over.
func (c *chaos) idle(ctx context.Context) (bool, string) {
	for _, p := range c.bridges {
		o, err := p.Queues(ctx)
		if err != nil {
			return false, err.Error()
		}
		for _, q := range o.Projects {
			if q.Failures > 0 {
				c.people.did(nil, "operator: takes up %d failures", q.Failures)
				c.acted = time.Now()
				return false, errors.Join(fmt.Errorf("%d failures", q.Failures), p.RetryAll(ctx)).Error()
			}
			if c.sim != nil {
				if n, err := answerAll(ctx, p); n > 0 || err != nil {
					c.acted = time.Now()
					return false, fmt.Sprintf("%d conflicts are asked: %v", n, err)
				}
			}
			if q.Live+q.Bulk > 0 || len(q.Waiting) > 0 {
				return false, fmt.Sprintf("%+v", q)
			}
		}
	}
	return true, "the bridge went on writing"
}
