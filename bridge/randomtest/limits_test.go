package randomtest_test

import (
	"fmt"
	"strings"
	"time"
)

// Small budgets and brakes in the random run. The law for them is in limits_judge_test.go.

// limits are the budgets of requests to GitHub and the brakes of each route. 0: no small one.
type limits struct {
	content, hour, edits, points int // github.writes_per_minute and _per_hour, edits_per_minute, points_per_minute
	creates, closes              int // brakes.creates_per_minute, closes_per_minute
}

// drawLimits draws the limits of a run. Three of four runs have none. The draw is a turn of its own,
// so that people and fate do the same with any limits.
func (c *chaos) drawLimits() {
	if one := c.turns.next("limit"); c.sim != nil && one != nil && one.chance(25) {
		c.limits = one.limits(c.size)
		c.people.did(nil, "operator: the limits are %+v", c.limits)
	}
}

// limits draws some that bind in many runs of a size. Small ones of an hour need runs of hours.
func (t *turn) limits(of size) (l limits) {
	draw := func(least, most int) int {
		n := least + t.IntN(most-least+1)
		if !t.chance(60) {
			return 0
		}
		return n
	}
	l = limits{content: draw(3, 8), edits: draw(12, 40), creates: draw(4, 10), closes: draw(1, 2)}
	if points := draw(100, 300); points > 0 && l.content > 0 && l.edits > 0 {
		l.points = max(points, writePoints*(l.content+l.edits)) // fewer would bind nothing
	}
	if hour := draw(20, 60); of.lasts > time.Hour {
		l.hour = hour
	}
	return l
}

// configure sets the limits in a configuration.
func (l limits) configure(yaml string) string {
	if l == (limits{}) {
		return yaml
	}
	set := func(section, key string, most, otherwise int) {
		if most == 0 {
			most = otherwise
		}
		yaml = strings.Replace(yaml, "\n"+section+":\n", fmt.Sprintf("\n%s:\n  %s: %d\n", section, key, most), 1)
	}
	yaml = strings.Replace(yaml, "  writes_per_minute: 10000\n  writes_per_hour: 600000\n", "", 1)
	set("github", "writes_per_minute", l.content, 10_000)
	set("github", "writes_per_hour", l.hour, 600_000)
	set("github", "edits_per_minute", l.edits, 10_000)
	set("github", "points_per_minute", l.points, 850) // the default
	yaml = strings.Replace(yaml, "\nretry:", "\nbrakes:\nretry:", 1)
	set("brakes", "creates_per_minute", l.creates, 100_000)
	set("brakes", "closes_per_minute", l.closes, 100_000)
	return yaml
}

// How much longer a world with small limits takes to rest: the keys have their turns one after the
// other. A budget of an hour may be used up more than once: the writes that a large world leaves to
// its end are some hundred, and the smallest budget is 20 of them.
const (
	limitDelay     = 15 * time.Minute
	limitHourDelay = 5 * time.Hour
)

// longRest is a rest in which polls and the catch-up find what nothing told. Few points let them wait
// for the next minute.
func (c *chaos) longRest() time.Duration {
	if c.limits.points > 0 {
		return 4*c.size.restFor() + time.Minute
	}
	return 4 * c.size.restFor()
}

// patience is how long the run waits for what takes up to the usual time in a world without limits.
func (c *chaos) patience(usual time.Duration) time.Duration {
	if c.limits != (limits{}) {
		usual += limitDelay
	}
	if c.limits.hour > 0 {
		usual += limitHourDelay
	}
	return usual
}
