package randomtest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// The law for budgets and brakes. No minute and no hour has more requests to GitHub than its budget.
// A route makes and closes no more in a minute than its brakes allow. All replicas count together.
// The judge counts what the services got: requests by GitHub's journal, items by both histories.

// limitLag is how much closer together requests may reach a service than their shares were taken.
// Fate delays a request for a second at most, and GitHub's clock tells whole seconds. A key takes
// its share, reads, and writes.
const limitLag = 4 * time.Second

// What the limits bound.
const (
	content     = "writes of content"
	contentHour = "writes of content in an hour"
	edits       = "edits"
	points      = "points"
	made        = "items made"
	closed      = "issues closed"
)

// limit is one budget or brake, with the moments at which it was used.
type limit struct {
	what   string
	most   int // 0: it bounds nothing
	within time.Duration
	uses   []time.Time
}

// bound counts the limits that were used more often in a run than their minute, or hour, allows.
var bound tally

// withinLimits complains of limits that were not kept.
func (c *chaos) withinLimits() (all []complaint) {
	if c.limits == (limits{}) {
		return nil
	}
	use := useOf(c.GitHub.Journal())
	for _, l := range []limit{
		{content, c.limits.content, time.Minute, use.content},
		{contentHour, c.limits.hour, time.Hour, use.content},
		{edits, c.limits.edits, time.Minute, use.edits},
		{points, c.limits.points, time.Minute, use.points},
		{made, c.limits.creates * c.routes(), time.Minute, c.madeByBridge()},
		{closed, c.limits.closes * c.routes(), time.Minute, c.closedByBridge()},
	} {
		all = append(all, l.exceeded(c.sim.mishaps)...)
		if l.most > 0 && len(l.uses) > l.most {
			bound.add(map[string]int{l.what: 1})
		}
	}
	return all
}

// exceeded complains of the first time in which a limit was used too often. A store that was lost,
// or went back, does not know of the uses before.
func (l limit) exceeded(mishaps []time.Time) []complaint {
	if l.most == 0 {
		return nil
	}
	slices.SortFunc(l.uses, time.Time.Compare)
	for n := l.most; n < len(l.uses); n++ {
		of := span{l.uses[n-l.most].Add(-limitLag), l.uses[n].Add(limitLag)}
		took := l.uses[n].Sub(l.uses[n-l.most])
		if took < l.within-limitLag && !slices.ContainsFunc(mishaps, of.has) {
			return []complaint{{what: fmt.Sprintf("%d %s in the %s before %s, of %d in %s", l.most+1, l.what, took, l.uses[n].Format(time.TimeOnly), l.most, l.within)}}
		}
	}
	return nil
}

// writePoints are the points of a write to GitHub's REST API. A read has one.
const writePoints = 5

// use is when the bridge used each budget.
type use struct{ content, edits, points []time.Time }

// useOf reads the use from GitHub's journal.
func useOf(calls []githubtest.Call) (u use) {
	for _, call := range calls {
		if call.Login != bridgetest.Bot {
			continue
		}
		switch {
		case call.Op == "issue.create" || call.Op == "comment.create":
			u.content = append(u.content, call.Time)
		case writesGitHub(call): // a redelivery changes nothing
			u.edits = append(u.edits, call.Time)
		}
		switch {
		case strings.HasPrefix(call.Op, "graphql"): // it has points of its own
		case call.Method != http.MethodGet:
			u.points = append(u.points, slices.Repeat([]time.Time{call.Time}, writePoints)...)
		default:
			u.points = append(u.points, call.Time)
		}
	}
	return u
}

// routes is how many routes make items and close issues. The judge does not tell them apart.
func (c *chaos) routes() int {
	if c.other != nil && c.other.kind != byMove {
		return 2
	}
	return 1
}

// repos are the repositories in which people work.
func (c *chaos) repos() []*githubtest.Repo {
	if c.other != nil && c.other.people != nil {
		return []*githubtest.Repo{c.Repo, c.other.people.w.Repo}
	}
	return []*githubtest.Repo{c.Repo}
}

// madeByBridge tells when the bridge made each item that its brake counts. That counts no tracking
// task, and neither cards nor issues that an operator asked for, by an import or a move. Where there
// are such only tasks are told.
func (c *chaos) madeByBridge() (all []time.Time) {
	asked := c.imports != nil || c.other != nil && c.other.kind == byMove
	if !asked {
		for _, repo := range c.repos() {
			for _, i := range repo.Issues() {
				if i.Author == bridgetest.Bot {
					all = append(all, repo.History(i.Number, "title")[0].Time)
				}
			}
		}
	}
	for _, p := range slices.Concat(c.people.projects, c.people.beside) {
		byBridge := func(id string) {
			if madeByAPI(p, id) {
				all = append(all, p.History(id, "title")[0].Time)
			}
		}
		for _, card := range p.Cards() {
			if !asked {
				byBridge(card.ID)
			}
			for _, t := range card.Tasks {
				if summary := p.History(t.ID, "summary"); len(summary) == 0 || !isTracking(c.keys, planningtest.TaskState{Summary: summary[0].Value}) {
					byBridge(t.ID)
				}
			}
		}
	}
	return all
}

// closedByBridge tells when the bridge closed each issue.
func (c *chaos) closedByBridge() (all []time.Time) {
	for _, repo := range c.repos() {
		for _, i := range repo.Issues() {
			for _, v := range repo.History(i.Number, "state") {
				if v.ByAPI && strings.HasPrefix(v.Value, "closed") {
					all = append(all, v.Time)
				}
			}
		}
	}
	return all
}

// TestSmallLimitsAreKept plays two worlds. Each limit of a minute is small enough to bind in one of
// them.
func TestSmallLimitsAreKept(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	for _, seed := range []uint64{22, 1421} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { simulate(t, seed, small()) })
	}
	for _, what := range []string{content, edits, points, made, closed} {
		if bound.of(what) == 0 {
			t.Errorf("no seed has a small limit of %s that binds: draw others", what)
		}
	}
}

func TestLimitsAreJudged(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	after := func(seconds ...int) (all []time.Time) {
		for _, s := range seconds {
			all = append(all, at.Add(time.Duration(s)*time.Second))
		}
		return all
	}
	for name, c := range map[string]struct {
		uses, mishaps []time.Time
		want          int
	}{
		"as many as it may":            {after(0, 1, 60, 61), nil, 0},
		"one more":                     {after(0, 1, 50), nil, 1},
		"in any order":                 {after(50, 0, 1), nil, 1},
		"one more, as requests lag":    {after(0, 1, 57), nil, 0},
		"the store was lost meanwhile": {after(0, 1, 50), after(20), 0},
		"the store was lost before":    {after(0, 1, 50), after(-20), 1},
	} {
		if got := (limit{edits, 2, time.Minute, c.uses}).exceeded(c.mishaps); len(got) != c.want {
			t.Errorf("%s: complaints %v, want %d", name, got, c.want)
		}
	}
	if got := (limit{edits, 0, time.Minute, after(0, 0, 0)}).exceeded(nil); len(got) > 0 {
		t.Errorf("complaints %v without a limit", got)
	}
	use := useOf([]githubtest.Call{
		{Login: bridgetest.Bot, Method: "POST", Op: "issue.create"},
		{Login: bridgetest.Bot, Method: "PATCH", Op: "issue.patch"},
		{Login: bridgetest.Bot, Method: "GET", Op: "issue.get"},
		{Login: bridgetest.Bot, Method: "POST", Op: "graphql"},
		{Login: bridgetest.Bot, Method: "POST", Op: "graphql.labels"},
		{Login: "octocat", Method: "PATCH", Op: "issue.patch"},
		{Login: bridgetest.Bot, Method: "POST", Op: "delivery.redeliver"},
	})
	if len(use.content) != 1 || len(use.edits) != 2 || len(use.points) != 3*writePoints+1 {
		t.Errorf("%d writes of content, %d edits, %d points", len(use.content), len(use.edits), len(use.points))
	}
}
