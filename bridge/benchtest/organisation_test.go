//go:build bench

package benchtest_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// organisation is many repositories of several owners, each owner with a
// planning project of its own.
type organisation struct {
	*bridgetest.TestWorld
	redis  *redistest.Server
	repos  []*githubtest.Repo
	boards []*planningtest.Project // of the owner of repos[i] it is boards[i%len]
	random *rand.Rand
	places []place
	past   atomic.Bool // people's acts of now were made yesterday
}

// place is an issue, with its card where it was linked when the day began.
type place struct {
	repo   *githubtest.Repo
	number int
	board  *planningtest.Project
	card   string
	task   string
}

// TestOrganisation plays an organisation's day in short. The environment says
// how large it is and how much happens:
//
//	PLANBRIDGE_ORG_REPOS     repositories (500)
//	PLANBRIDGE_ORG_PROJECTS  planning projects (20)
//	PLANBRIDGE_ORG_ISSUES    issues that are linked when the day begins (2000)
//	PLANBRIDGE_ORG_EVENTS    what people do in the day (2000)
//	PLANBRIDGE_ORG_RATE      of it, a second (50)
//	PLANBRIDGE_ORG_LIMIT     GitHub's calls an hour (none)
//	PLANBRIDGE_ORG_WRITES    the budget of writes an hour (600,000: none)
func TestOrganisation(t *testing.T) {
	issues, events, rate := amount(t, "ISSUES", 2000), amount(t, "EVENTS", 2000), amount(t, "RATE", 50)
	o := newOrganisation(t, amount(t, "REPOS", 500), amount(t, "PROJECTS", 20))
	began := time.Now()
	o.link(issues)
	t.Logf("%d issues, cards and links made in %.1f s", issues, time.Since(began).Seconds())
	began = time.Now()
	o.begin()
	o.done("a look at every link")
	t.Logf("first polls, and a look at every link, as after a loss of the store: %.1f s", time.Since(began).Seconds())
	o.calls("the start")
	o.idle()

	before := o.lags()
	began = time.Now()
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for i := range events {
		<-tick.C
		o.act(i)
	}
	took := time.Since(began)
	polls := o.Planning.Calls(planningtest.OpBacklogItems)
	o.AwaitWithin("polls that see the last of it", 4*bridgetest.Patience, func() bool { return o.Planning.Calls(planningtest.OpBacklogItems) >= polls+2*len(o.boards) })
	o.done("the day's work")
	t.Logf("%d events in %.1f s; all done %.1f s later", events, took.Seconds(), time.Since(began).Seconds()-took.Seconds())
	o.report(before)
	o.calls(fmt.Sprintf("%d events", events))
}

func amount(t testing.TB, name string, usual int) int {
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
	o := &organisation{random: rand.New(rand.NewPCG(seed, 1)), redis: redistest.Start(t)}
	o.past.Store(true)
	o.TestWorld = bridgetest.StartIn(t, bridgetest.Options{
		Idle: true, Store: o.redis.URL, Poll: orgPoll, CatchUp: orgCatchUp, Config: o.configure,
		GitHub: githubtest.Options{Traits: githubtest.Traits{RateLimit: amount(t, "LIMIT", 1<<30)}, Clock: func() time.Time {
			if o.past.Load() {
				return time.Now().Add(-24 * time.Hour)
			}
			return time.Now()
		}},
	})
	for i := range projects {
		p := o.Planning.AddProject(planningtest.ProjectSpec{Title: fmt.Sprint("Team ", i), Members: []string{"alice", bridgetest.BridgeUser}, Buckets: []string{bridgetest.Bucket}})
		p.AddSecret(o.Project.Secret())
		o.boards = append(o.boards, p)
	}
	for i := range repos {
		o.repos = append(o.repos, o.GitHub.AddRepo(fmt.Sprintf("team%d/repo%d", i%projects, i), githubtest.RepoSpec{Private: true}))
	}
	return o
}

// Short against the usual half minute and five minutes, as the day is.
const (
	orgPoll    = 15 * time.Second
	orgCatchUp = 20 * time.Second
)

// begin starts the bridge and the day.
func (o *organisation) begin() {
	o.T.Helper()
	o.past.Store(false)
	if err := o.StartBridge(); err != nil {
		o.T.Fatal(err)
	}
	for i := range o.boards {
		o.GitHub.AddHook(fmt.Sprintf("team%d", i), o.WebhookURL(), bridgetest.WebhookSecret)
	}
	o.Planning.ResetJournal()
	o.AwaitWithin("the first polls", 4*bridgetest.Patience, func() bool { return o.Planning.Calls(planningtest.OpBacklogItems) > 2*len(o.boards) })
}

// link makes issues with their cards and tracking tasks, and puts links of them
// into the store, as they are after an import.
func (o *organisation) link(issues int) {
	o.T.Helper()
	s, err := redisstore.Open(o.T.Context(), redisstore.Options{URL: o.redis.URL})
	if err != nil {
		o.T.Fatal(err)
	}
	secret, _ := o.Env("PLANBRIDGE_MARKER_KEY")
	keys, links := mapping.NewKeys([]byte(secret)), map[mapping.ObjectID][]*mapping.Link{}
	for i := range issues {
		at, l := o.linked(i, keys)
		o.places = append(o.places, at)
		links[l.Project] = append(links[l.Project], l)
	}
	for i, p := range o.boards { // the polls have seen the cards already
		project := mapping.ObjectID(p.ID())
		if err := newPoller(o.T, s, o.Planning.URL(), o.Project.Secret(), project, fmt.Sprint("team", i)).Poll(o.T.Context()); err != nil {
			o.T.Fatal(err)
		}
		putLinked(o.T, s, project, links[project])
	}
	if err := s.Close(); err != nil {
		o.T.Fatal(err)
	}
}

// linked makes one issue with all that belongs to it.
func (o *organisation) linked(i int, keys mapping.Keys) (place, *mapping.Link) {
	title, body, labels := fmt.Sprint("Issue ", i), "Something has to be done. "+prose(o.random, 500), []string{"plan:To Do", "bucket:" + bridgetest.Bucket}
	at := place{repo: o.repos[i%len(o.repos)], board: o.boards[i%len(o.repos)%len(o.boards)]}
	at.number = at.repo.Open("octocat", githubtest.IssueSpec{Title: title, Body: body, Labels: labels})
	issue := at.repo.Issue(at.number)
	route, now := fmt.Sprint("team", i%len(o.repos)%len(o.boards)), time.Now().UTC()
	l := &mapping.Link{
		ID: mapping.LinkID(mapping.NewID()), Project: mapping.ObjectID(at.board.ID()), Route: route,
		Family: mapping.Family{Tasks: mapping.TasksSubIssues, Listed: true}, Shown: &mapping.Shown{Status: "To Do", Labels: labels}, Pair: mapping.Pair{
			State: mapping.Linked, Origin: mapping.GitHub, Nonce: mapping.NewNonce(),
			Issue: mapping.IssueID{ID: issue.ID, NodeID: issue.NodeID, Repo: issue.Repo, RepoID: at.repo.ID(), Number: at.number, Author: issue.Author, UpdatedAt: issue.UpdatedAt}, Dates: mapping.Dates{Created: now, Synced: now},
		},
	}
	url := fmt.Sprintf("https://github.com/%s/issues/%d", issue.Repo, at.number)
	footer := keys.AppendFooter(body, mapping.Marker{Kind: mapping.MarkCard, Link: l.ID, Nonce: l.Nonce, Partner: strconv.FormatInt(issue.ID, 10)}, issue.Repo, at.number, url)
	at.card = at.board.NewCard(bridgetest.Bucket, bridgetest.BridgeUser, planningtest.CardSpec{Title: title, Summary: footer})
	at.task = at.board.NewTask(at.card, bridgetest.BridgeUser, planningtest.TaskSpec{Title: "Track"})
	card := at.board.Card(at.card)
	l.Card = mapping.CardID{
		ID: mapping.ObjectID(at.card), CID: int64(card.CID), Bucket: mapping.ObjectID(at.board.BucketID(bridgetest.Bucket)), BucketName: bridgetest.Bucket,
		Version: card.Version, CountersVersion: card.CountersVersion,
	}
	l.Children = []*mapping.Pair{{Kind: mapping.Tracking, State: mapping.Linked, Nonce: mapping.NewNonce(), Card: mapping.CardID{ID: mapping.ObjectID(at.task)}}}
	l.Base = map[mapping.Attribute]mapping.Base{
		mapping.Title:    {GitHub: title, Planning: title, Version: card.TitleVersion},
		mapping.Summary:  {GitHub: body, Planning: body, Version: card.SummaryVersion},
		mapping.Estimate: {Version: card.EstimateVersion},
		mapping.State:    {GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: card.Tasks[0].StateVersion},
	}
	return at, l
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
	yaml = strings.Replace(yaml, "writes_per_hour: 600000", fmt.Sprint("writes_per_hour: ", amount(o.T, "WRITES", 600_000)), 1)
	return yaml + routes.String() + "brakes: {creates_per_minute: 100000}\n"
}

// act makes somebody act. Of ten events one opens an issue, six change one on GitHub, and three
// change planning, where the issue was linked from the start.
func (o *organisation) act(i int) {
	if i%10 == 0 {
		n := o.random.IntN(len(o.repos))
		at := place{repo: o.repos[n], board: o.boards[n%len(o.boards)]}
		at.number = at.repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue of the day ", i), Body: "Something has to be done."})
		o.places = append(o.places, at)
		return
	}
	at := o.places[o.random.IntN(len(o.places))]
	kind := o.random.IntN(9)
	if at.card == "" {
		kind %= 6
	}
	switch kind {
	case 0:
		at.repo.Label(at.number, "octocat", "bug")
	case 1:
		at.repo.Edit(at.number, "octocat", func(e *githubtest.IssueEdit) { e.Body = fmt.Sprintf("Something else, %d.", i) })
	case 2, 3, 4, 5:
		at.repo.Edit(at.number, "octocat", func(e *githubtest.IssueEdit) { e.Title = fmt.Sprint("Edited ", i) })
	case 6:
		at.board.EditTask(at.task, "alice", func(e *planningtest.TaskEdit) { e.State = "in-progress" })
	default:
		at.board.EditCard(at.card, "alice", func(e *planningtest.CardEdit) { e.Title = fmt.Sprint("Planned ", i) })
	}
}

// idle lets nothing happen for some rounds of the catch-up, and says what the
// last of them cost.
func (o *organisation) idle() {
	o.T.Helper()
	for _, while := range []string{"the first rounds of the catch-up", "two rounds of the catch-up while nothing happens"} {
		o.AwaitWithin(while, 2*bridgetest.Patience+4*orgCatchUp, func() bool { return o.GitHub.Calls("issues.list") >= 2*len(o.repos) })
		o.calls(while)
	}
}

// done waits until every delivery was taken and nothing is left to do.
func (o *organisation) done(what string) {
	o.T.Helper()
	if err := o.GitHub.Idle(o.T.Context()); err != nil {
		o.T.Fatal(err)
	}
	o.AwaitWithin(what+" is done", max(5*bridgetest.Patience, time.Duration(len(o.places))*10*time.Millisecond), o.NothingDue)
}

// lags are the counts of the histogram of lags, by upper bound.
func (o *organisation) lags() map[float64]uint64 {
	o.T.Helper()
	req, err := http.NewRequestWithContext(o.T.Context(), http.MethodGet, o.AdminURL()+"/metrics", nil)
	if err != nil {
		o.T.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		o.T.Fatal(err)
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
			o.T.Fatal(err)
		}
		n, err := strconv.ParseUint(count, 10, 64)
		if err != nil {
			o.T.Fatal(err)
		}
		counts[bound] += n
	}
	return counts
}

// report says how late changes arrived.
func (o *organisation) report(before map[float64]uint64) {
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
				o.T.Logf("lag of %g %% of %d writes: at most %.3g s", 100*q, most, bound)
				break
			}
		}
	}
}

// calls says what was asked of both services since it said so last, and
// forgets it.
func (o *organisation) calls(while string) {
	counted, free, writes, planning := map[string]int{}, map[string]int{}, 0, map[string]int{}
	for _, c := range o.GitHub.Journal() {
		if c.Status == http.StatusNotModified {
			free[c.Op]++
			continue
		}
		counted[c.Op]++
		if c.Method != http.MethodGet {
			writes++
		}
	}
	for _, c := range o.Planning.Journal() {
		planning[c.Op]++
	}
	total := 0
	for _, n := range counted {
		total += n
	}
	o.T.Logf("%s: GitHub: %d calls count against the hourly limit, %d of them writes: %v; 304: %v; planning: %v", while, total, writes, counted, free, planning)
	o.GitHub.ResetJournal()
	o.Planning.ResetJournal()
}
