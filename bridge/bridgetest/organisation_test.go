//go:build bench

package bridgetest_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

// organisation is many repositories of several owners, each owner with a
// planning project of its own.
type organisation struct {
	*world
	repos  []*githubtest.Repo
	boards []*planningtest.Project
	random *rand.Rand
	opened []place
}

type place struct {
	repo   *githubtest.Repo
	number int
}

// TestOrganisation plays an organisation's day in short. The environment says
// how large it is and how much happens:
//
//	PLANBRIDGE_ORG_REPOS     repositories (500)
//	PLANBRIDGE_ORG_PROJECTS  planning projects (20)
//	PLANBRIDGE_ORG_ISSUES    issues that are there when the day begins (2000)
//	PLANBRIDGE_ORG_EVENTS    what people do in the day (2000)
//	PLANBRIDGE_ORG_RATE      of it, a second (50)
func TestOrganisation(t *testing.T) {
	issues, events, rate := amount(t, "ISSUES", 2000), amount(t, "EVENTS", 2000), amount(t, "RATE", 50)
	o := newOrganisation(t, amount(t, "REPOS", 500), amount(t, "PROJECTS", 20))
	began := time.Now()
	for i := range issues {
		o.open(i)
	}
	o.wait("tracked cards of the first issues", 5*patience, func() bool { return o.Planning.Calls(planningtest.OpTaskCreate) >= issues })
	o.done("the first issues")
	t.Logf("%d issues entered in %.1f s", issues, time.Since(began).Seconds())

	o.GitHub.ResetJournal()
	o.Planning.ResetJournal()
	before := o.lags()
	began = time.Now()
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for i := range events {
		<-tick.C
		if i%10 == 0 {
			o.open(issues + i)
		} else {
			o.act(i)
		}
	}
	took := time.Since(began)
	o.done("the day's work")
	t.Logf("%d events in %.1f s; all done %.1f s later", events, took.Seconds(), time.Since(began).Seconds()-took.Seconds())
	o.report(before, events)
}

func amount(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv("PLANBRIDGE_ORG_" + name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PLANBRIDGE_ORG_%s is %q, want a number", name, text)
	}
	return n
}

func newOrganisation(t *testing.T, repos, projects int) *organisation {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Log("seed ", seed)
	o := &organisation{random: rand.New(rand.NewPCG(seed, 1))}
	o.world = start(t, bridgetest.Options{Idle: true, Store: redistest.Start(t).URL, Poll: 2 * time.Second, CatchUp: 20 * time.Second, Config: o.configure})
	for i := range projects {
		p := o.Planning.AddProject(planningtest.ProjectSpec{Title: fmt.Sprint("Team ", i), Members: []string{"alice", bridgetest.BridgeUser}, Buckets: []string{bridgetest.Bucket}})
		p.AddSecret(o.Project.Secret())
		o.boards = append(o.boards, p)
	}
	for i := range repos {
		o.repos = append(o.repos, o.GitHub.AddRepo(fmt.Sprintf("team%d/repo%d", i%projects, i), githubtest.RepoSpec{Private: true}))
	}
	if err := o.StartBridge(); err != nil {
		t.Fatal(err)
	}
	for i := range projects {
		o.GitHub.AddHook(fmt.Sprintf("team%d", i), o.WebhookURL(), bridgetest.WebhookSecret)
	}
	o.wait("the first polls", 2*patience, func() bool { return o.Planning.Calls(planningtest.OpBacklogItems) > 3*projects })
	return o
}

// configure adds a project and a route for each owner.
func (o *organisation) configure(yaml string) string {
	var projects, routes strings.Builder
	for i, p := range o.boards {
		fmt.Fprintf(&projects, "    team%d:\n      id: %s\n      secret: env:PLANNING_WEB_SECRET\n      username: bridge\n", i, p.ID())
		fmt.Fprintf(&routes, "  - repository: team%d/*\n    name: team%d\n    project: team%d\n    bucket: Incoming\n", i, i, i)
	}
	yaml = strings.Replace(yaml, "users:", projects.String()+"users:", 1)
	yaml = strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: 1h", 1)
	return yaml + routes.String() + "brakes: {creates_per_minute: 100000}\n"
}

func (o *organisation) open(i int) {
	r := o.repos[o.random.IntN(len(o.repos))]
	o.opened = append(o.opened, place{r, r.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue ", i), Body: "Something has to be done."})})
}

// act does something to an issue that is there.
func (o *organisation) act(i int) {
	at := o.opened[o.random.IntN(len(o.opened))]
	switch o.random.IntN(5) {
	case 0:
		at.repo.Label(at.number, "octocat", "bug")
	case 1:
		at.repo.Edit(at.number, "octocat", func(e *githubtest.IssueEdit) { e.Body = fmt.Sprintf("Something else, %d.", i) })
	default:
		at.repo.Edit(at.number, "octocat", func(e *githubtest.IssueEdit) { e.Title = fmt.Sprint("Edited ", i) })
	}
}

// done waits until every delivery was taken and nothing is left to do.
func (o *organisation) done(what string) {
	o.t.Helper()
	if err := o.GitHub.Idle(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
	o.wait(what+" is done", 5*patience, o.nothingDue)
}

// lags are the counts of the histogram of lags, by upper bound.
func (o *organisation) lags() map[float64]uint64 {
	o.t.Helper()
	req, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, o.AdminURL()+"/metrics", nil)
	if err != nil {
		o.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read to its end
	counts := map[float64]uint64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		series, count, _ := strings.Cut(lines.Text(), "} ")
		_, le, ok := strings.Cut(series, `le="`)
		if !ok || !strings.HasPrefix(series, "planbridge_sync_lag_seconds_bucket{") {
			continue
		}
		bound, err := strconv.ParseFloat(strings.TrimSuffix(le, `"`), 64)
		if err != nil {
			o.t.Fatal(err)
		}
		n, err := strconv.ParseUint(count, 10, 64)
		if err != nil {
			o.t.Fatal(err)
		}
		counts[bound] += n
	}
	return counts
}

// report says how late changes arrived and what they cost of GitHub's limit.
func (o *organisation) report(before map[float64]uint64, events int) {
	after := o.lags()
	var bounds []float64
	most := uint64(0)
	for bound, count := range after {
		bounds = append(bounds, bound)
		most = max(most, count-before[bound])
	}
	slices.Sort(bounds)
	for _, q := range []float64{0.5, 0.95, 0.99} {
		for _, bound := range bounds {
			if float64(after[bound]-before[bound]) >= q*float64(most) {
				o.t.Logf("lag of %g %% of %d writes: at most %.3g s", 100*q, most, bound)
				break
			}
		}
	}
	ops, counted := map[string]int{}, 0
	for _, c := range o.GitHub.Journal() {
		if c.Status != http.StatusNotModified {
			ops[c.Op]++
			counted++
		}
	}
	o.t.Logf("GitHub: %d calls count against the limit of 5,000 an hour, %.2f an event: %v", counted, float64(counted)/float64(events), ops)
	o.t.Logf("planning: %d calls", len(o.Planning.Journal()))
}
