package randomtest_test

import (
	"context"
	"math/rand/v2"
	"time"

	"planbridge/bridge/githubtest"
)

// People's, fate's and operators' acts in a random run, hour by hour.

// pause waits for a random time, or reports false when ctx ends.
func pause(ctx context.Context, r *rand.Rand, least, most time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(least + time.Duration(r.Int64N(int64(most-least)))):
		return true
	}
}

// rests is [pause] between two things that people or fate do.
func (c *chaos) rests(ctx context.Context, r *rand.Rand, least, most time.Duration) bool {
	lull := time.Duration(c.size.lull)
	return pause(ctx, r, lull*least, lull*most)
}

// actor is somebody for the next turn of a kind; without a turn where that is left out.
func (c *chaos) actor(kind string) actor { return actor{c.people, c.turns.next(kind)} }

// act lets somebody do something, unless that turn is left out, or the size has no more.
func (c *chaos) act(kind string, what func(actor)) {
	if !c.size.allows(kind, c.turns.were(kind)) {
		return
	}
	if p := c.actor(kind); p.turn != nil {
		what(p)
	}
}

// work lets people act, some of them just before a write of the bridge takes
// effect.
func (c *chaos) work(ctx context.Context) {
	r := rand.New(rand.NewPCG(c.seed, 4))
	c.GitHub.BeforeWrite(func(op, repository string, number int) {
		if op == "issue.patch" {
			c.act("interruption", func(p actor) { c.at(p, repository).interrupt(number) })
		}
	})
	for c.rests(ctx, r, 100*time.Millisecond, 600*time.Millisecond) {
		c.act("people", c.live)
	}
}

func (c *chaos) mischief(ctx context.Context) {
	r := rand.New(rand.NewPCG(c.seed, 5))
	for c.rests(ctx, r, 50*time.Millisecond, 500*time.Millisecond) {
		one := c.turns.next("fate")
		switch {
		case one == nil:
		case one.IntN(8) == 0:
			stroke{c.fate, one}.outage()
		default:
			stroke{c.fate, one}.strike()
		}
	}
}

// operate stops, kills and starts bridges.
func (c *chaos) operate(ctx context.Context) {
	r := rand.New(rand.NewPCG(c.seed, 6))
	for pause(ctx, r, c.size.between[0], c.size.between[1]) {
		one := c.turns.next("operator")
		if one == nil {
			continue
		}
		p := c.bridges[one.IntN(len(c.bridges))]
		if c.sim != nil && mayForget(c.seed) && one.IntN(6) == 0 {
			did, text := c.sim.mishap(one)
			c.people.did(did, "operator: %s", text)
			continue
		}
		if one.IntN(3) == 0 {
			c.people.did(do("bridge", "stop"), "operator: stops a bridge")
			if err := p.Stop(); err != nil {
				c.t.Error(err)
			}
		} else {
			c.people.did(do("bridge", "stop"), "operator: kills a bridge")
			p.Kill()
		}
		pause(ctx, one.Rand, 0, time.Second)
		if err := c.up(p); err != nil {
			c.t.Error(err)
		}
		c.people.did(do("bridge", "start"), "operator: a bridge is up again")
	}
}

// flurry is the last hour before the release: everybody saves everything, while both services are
// slow, some deliveries are lost and the lists lag. Nothing later repairs a miss of the bridge from
// now on.
func (c *chaos) flurry() {
	r := rand.New(rand.NewPCG(c.seed, 7))
	if c.turns.next("fate") != nil {
		c.fate.habits(func(t *githubtest.Traits) {
			t.Drop, t.LoseDropped, t.ListLag, t.StaleReads = 0.4, true, chaosSettle/2, chaosSettle/4
		})
	}
	if one := c.turns.next("fate"); one != nil { // slow enough for much to happen while a key is worked
		f := stroke{c.fate, one}
		f.slowGitHub(40*time.Millisecond + f.upTo(160*time.Millisecond))
		f.slowPlanning(40*time.Millisecond + f.upTo(80*time.Millisecond))
	}
	c.beginImport(r)
	for range 10 * min(len(c.Repo.Issues()), c.people.most) {
		if !pause(c.t.Context(), r, 0, 60*time.Millisecond) {
			return
		}
		c.act("flurry", c.live)
	}
	pause(c.t.Context(), r, chaosSettle/2, chaosSettle)
	c.evening(r)
	c.fate.rest()
}

// evening is a time when all people of GitHub but one have gone home. The cards are edited in
// bursts, while GitHub is slow, and its events come before its answers or not at all. A change
// while a key is worked is not reported again, and of an exchange of labels only half is reported.
func (c *chaos) evening(r *rand.Rand) {
	if c.turns.next("fate") != nil {
		c.fate.habits(func(t *githubtest.Traits) { t.Drop, t.EchoBeforeAnswer, t.StaleReads = 0.3, true, 0 })
		c.fate.slowGitHub(200 * time.Millisecond)
	}
	c.GitHub.BeforeWrite(func(op, repository string, number int) {
		if op == "issue.patch" {
			c.act("sorting", func(p actor) { c.at(p, repository).tidy(number) })
		}
	})
	for range 3 {
		for range 3 {
			for _, card := range c.people.cards() {
				c.act("evening", func(p actor) { p.inPlanning(card) })
			}
			pause(c.t.Context(), r, 100*time.Millisecond, 400*time.Millisecond)
		}
		pause(c.t.Context(), r, chaosSettle/2, chaosSettle)
	}
	if c.turns.next("fate") != nil {
		c.fate.habits(func(t *githubtest.Traits) { t.Drop = 0.5 })
	}
	for range 3 {
		for _, card := range c.people.cards() {
			c.act("evening", func(p actor) { p.estimate(card) })
		}
		pause(c.t.Context(), r, chaosSettle/2, chaosSettle)
	}
}

// unheard are the last edits, of which hardly a word comes: only the lists, which
// lag, tell of them, and nobody touches the issues again. All was at rest before,
// or the bridge would read the issues for the sake of its own writes.
func (c *chaos) unheard() []complaint {
	r := rand.New(rand.NewPCG(c.seed, 8))
	if c.turns.next("fate") != nil {
		c.fate.habits(func(t *githubtest.Traits) { t.Drop, t.LoseDropped, t.ListLag = 0.8, true, chaosSettle/2 })
	}
	for _, i := range c.people.issues() {
		c.act("unheard", func(p actor) { p.editIssue(i.Number, "octocat") })
		pause(c.t.Context(), r, 0, chaosSettle/8)
	}
	pause(c.t.Context(), r, chaosSettle/2, chaosSettle)
	c.fate.rest()
	return c.settle()
}
