package randomtest_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/sim"
	"planbridge/mapping"
	"planbridge/store/redisstore/redistest"
)

// The world of a random run, and its bridges, before anybody acts.

// startChaos makes the world, starts its bridges and waits until they have
// seen what was there: nothing, or what is older.
func startChaos(t *testing.T, seed uint64, of size, s *simulation) *chaos {
	c := newWorld(t, seed, of, s)
	bridges := 1
	if c.redis != nil || s != nil && seed%2 == 1 {
		bridges += int(seed / 2 % 2)
	}
	if bridges > 1 && c.turns.next("world") == nil {
		bridges = 1
	}
	for i := range bridges {
		p, err := c.newBridge(fmt.Sprintf("bridge%d", i+1))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		c.bridges = append(c.bridges, p)
		c.GitHub.AddHook(bridgetest.RepoName, p.Webhooks(), bridgetest.WebhookSecret)
		if c.other != nil && c.other.people != nil {
			c.GitHub.AddHook(otherRepo, p.Webhooks(), bridgetest.WebhookSecret)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), bridgetest.Patience)
	defer cancel()
	if err := c.Planning.Wait(ctx, func(s *planningtest.Server) bool { return s.Calls(planningtest.OpBacklogItems) > 3*c.inAll() }); err != nil {
		c.tell([]complaint{{what: err.Error()}})
		t.FailNow()
	}
	return c
}

// newWorld makes the world without its bridges.
func newWorld(t *testing.T, seed uint64, of size, s *simulation) *chaos {
	all, err := newTurns(seed)
	if err != nil {
		t.Fatal(err)
	}
	c := &chaos{t: t, seed: seed, size: of, dir: t.TempDir(), turns: all, sim: s}
	var begun atomic.Bool
	o := bridgetest.Options{
		Dir: c.dir, Idle: true, Settle: chaosSettle, Poll: of.poll, CatchUp: of.catchUp, EnterDelay: 300 * time.Millisecond,
		Config: func(yaml string) string {
			return c.limits.configure(strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: "+of.sweep.String(), 1))
		},
		GitHub: githubtest.Options{Seed: seed, Clock: func() time.Time {
			if begun.Load() {
				return time.Now()
			}
			return time.Now().Add(-oldAge)
		}},
	}
	lists := listSeed(seed)
	if lists {
		o.Route = "tasks: checklist\n"
	}
	if s != nil {
		c.drawTraits(&o)
	}
	if s != nil {
		o.Network = &sim.Network{Network: s.network, Actor: "service", Scheduler: s.scheduler}
	} else if seed%2 == 1 {
		c.redis = redistest.Start(t)
		o.Store = c.redis.URL
	}
	w, err := bridgetest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	key, _ := w.Env("PLANBRIDGE_MARKER_KEY")
	c.World, c.keys, c.route = w, mapping.NewKeys([]byte(key)), o.Route
	c.people, c.fate = newPeople(w, c.keys, lists, of), &fate{w: w}
	c.fate.diary = c.people.diary
	if s != nil {
		// A route that goes one way gives no marker back to a text that it may not write, or that
		// differs for good. Then nothing shows which card is an issue's.
		s.people, s.witness.people, c.people.careful = c.people, c.people, mayForget(seed) || directionOf(o.Route) != mapping.Both
	}
	c.drawLimits()
	c.makeOther(of)
	t.Cleanup(func() {
		c.endImports()
		for _, p := range c.bridges {
			p.Kill()
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	if one := c.turns.next("world"); one != nil {
		c.fate.habits(stroke{c.fate, one}.githubTraits)
	}
	if one := c.turns.next("world"); one != nil {
		w.Planning.SetTraits(func(t *planningtest.Traits) {
			was := *t
			stroke{c.fate, one}.planningTraits(t)
			now := changes(was, *t)
			c.people.did(do("planning", "traits").with(now...), "fate: planning from now on: %s", strings.Join(now, " "))
		})
	}
	if c.other == nil {
		c.drawImports()
	}
	c.drawStrays()
	if c.reloads != nil {
		w.GitHub.AddRepo(elsewhere, githubtest.RepoSpec{Private: true})
	}
	begun.Store(true)
	return c
}

// drawTraits draws what the run has beside people and fate.
func (c *chaos) drawTraits(o *bridgetest.Options) {
	o.Route += c.policies()
	c.drawPlain()
	o.Route += c.oneWay()
	if c.drawProjects(); c.other == nil {
		c.pauses = c.trait(50)
		c.drawLinkActs()
		c.drawPublic(o)
	}
	c.calms = c.trait(50)
	if c.other == nil {
		c.drawReloads()
	}
	if one := c.trait(40); one != nil {
		o.Coalesce = time.Duration(1+one.IntN(10)) * 100 * time.Millisecond
	}
	c.drawLooks()
	c.drawTeam()
	c.drawRefusals()
	c.routeTo(o)
}

// newBridge prepares a bridge; nothing runs yet.
func (c *chaos) newBridge(name string) (runner, error) {
	if c.sim != nil {
		return c.newVirtual(name), nil
	}
	return bridgetest.NewProcess(c.World, c.dir, name)
}
