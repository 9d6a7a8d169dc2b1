package bridgetest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

// split is a world whose one repository has routes into two planning projects, by labels. The test
// keeps GitHub's deliveries and hands them out.
type split struct {
	*world
	other *planningtest.Project

	mu   sync.Mutex
	kept map[int][]githubtest.Delivery // by issue, oldest first
}

func newSplit(t *testing.T, o bridgetest.Options) *split {
	s := &split{kept: map[int][]githubtest.Delivery{}}
	o.Idle, o.Route = true, "issues: {labels: [one]}"
	o.Config = func(yaml string) string {
		yaml = strings.Replace(yaml, "users: {", fmt.Sprintf("    api: {id: %s, secret: env:PLANNING_WEB_SECRET, username: %s}\nusers: {", s.other.ID(), bridgetest.BridgeUser), 1)
		return yaml + "  - repository: " + bridgetest.RepoName + "\n    name: api\n    project: api\n    bucket: Inbox\n    issues: {labels: [two]}\nbrakes: {creates_per_minute: 100000}\n"
	}
	s.world = start(t, o)
	s.other = s.Planning.AddProject(planningtest.ProjectSpec{Title: "API", Members: []string{"alice", bridgetest.BridgeUser}, Buckets: []string{"Inbox"}})
	s.other.AddSecret(s.Project.Secret())
	s.GitHub.SetDelivery(func(d *githubtest.Delivery) {
		s.mu.Lock()
		defer s.mu.Unlock()
		d.Drop, d.Lose = true, true
		if !slices.ContainsFunc(s.kept[d.Number], func(o githubtest.Delivery) bool { return o.GUID == d.GUID }) { // one for each hook
			s.kept[d.Number] = append(s.kept[d.Number], *d)
		}
	})
	return s
}

// relabelled opens the issue of a number that one route takes, and gives it to the other one. It
// returns GitHub's deliveries of the first and of the last moment.
func (s *split) relabelled(i int) (opened, last githubtest.Delivery) {
	s.T.Helper()
	from, to := "one", "two"
	if i%2 == 1 {
		from, to = to, from
	}
	n := s.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue ", i), Labels: []string{from}})
	s.Repo.Label(n, "octocat", to)
	s.Repo.Unlabel(n, "octocat", from)
	s.Await("its deliveries", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		kept := s.kept[n]
		if len(kept) == 0 || kept[len(kept)-1].Action != "unlabeled" {
			return false
		}
		opened, last = kept[0], kept[len(kept)-1]
		return true
	})
	return opened, last
}

// post hands a delivery to a bridge and reports whether that took it.
func post(to string, d githubtest.Delivery) bool {
	req, err := http.NewRequest(http.MethodPost, "http://"+to+"/webhooks/github", bytes.NewReader(d.Payload))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", d.Event)
	req.Header.Set("X-GitHub-Delivery", d.GUID)
	req.Header.Set("X-Hub-Signature-256", githubtest.Sign(bridgetest.WebhookSecret, d.Payload))
	resp, err := bridgetest.AdminClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close() //nolint:errcheck // its status was read
	return resp.StatusCode == http.StatusAccepted
}

// cards are how many cards there are of each title, in both projects.
func (s *split) cards() map[string]int {
	out := map[string]int{}
	for _, c := range append(s.Project.Cards(), s.other.Cards()...) {
		out[c.Title]++
	}
	return out
}

// once checks that each of so many issues has one card in all.
func (s *split) once(many int) {
	s.T.Helper()
	s.Await("a card for each", func() bool { return len(s.cards()) >= many })
	s.AwaitSettled()
	twice := 0
	for title, n := range s.cards() {
		if n > 1 {
			twice++
			s.T.Logf("%d cards for %q", n, title)
		}
	}
	if twice > 0 || len(s.cards()) != many {
		s.T.Errorf("of %d issues %d have cards, %d of them in both projects", many, len(s.cards()), twice)
	}
}

// both hands each of two replicas its delivery in the same moment, even if a replica is gone. Then
// the first replica gets the refused ones, as GitHub's deliveries would be asked for again.
func (s *split) both(first, second string, opened, last githubtest.Delivery, meanwhile func()) {
	s.T.Helper()
	var missed [2]*githubtest.Delivery
	var all sync.WaitGroup
	for i, to := range []string{first, second} {
		d := []githubtest.Delivery{opened, last}[i]
		all.Go(func() {
			if !post(to, d) {
				missed[i] = &d
			}
		})
	}
	all.Go(meanwhile)
	all.Wait()
	for _, d := range missed {
		s.Await("a delivery's being taken", func() bool { return d == nil || post(first, *d) })
	}
}

// startSplit is newSplit with two replicas that have polled.
func startSplit(t *testing.T, o bridgetest.Options) (s *split, second *bridge.App) {
	t.Helper()
	s = newSplit(t, o)
	if err := s.StartBridge(); err != nil {
		t.Fatal(err)
	}
	second, err := s.AddReplica(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Await("the first polls", func() bool { return s.Planning.Calls(planningtest.OpBacklogItems) > 6 })
	return s, second
}

// TestReplicasAndTwoProjects: two replicas learn of one new issue in the same moment. Each sees
// another of its labels, by which it belongs to another project. It gets one card in all.
func TestReplicasAndTwoProjects(t *testing.T) {
	t.Parallel()
	const many = 60
	s, second := startSplit(t, bridgetest.Options{Store: redistest.Start(t).URL, CatchUp: 5 * time.Second, EnterDelay: time.Millisecond})
	for i := range many {
		opened, last := s.relabelled(i)
		s.both(s.App.Addr(), second.Addr(), opened, last, func() {})
	}
	s.once(many)
}

// One of the two replicas is killed meanwhile, and does not come back.
func TestReplicaDiesBetweenTwoProjects(t *testing.T) {
	t.Parallel()
	const many = 40
	s := newSplit(t, bridgetest.Options{Store: redistest.Start(t).URL, CatchUp: 5 * time.Second, EnterDelay: time.Millisecond})
	second, err := bridgetest.NewProcess(s.World, t.TempDir(), "second")
	if err == nil {
		err = s.StartBridge()
	}
	if err == nil {
		err = second.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Kill)
	s.Await("the second replica", func() bool { _, err := second.Queues(t.Context()); return err == nil })
	s.Await("the first polls", func() bool { return s.Planning.Calls(planningtest.OpBacklogItems) > 6 })
	for i := range many {
		meanwhile := func() {}
		if i == many/2 {
			meanwhile = second.Kill
		}
		opened, last := s.relabelled(i)
		s.both(s.App.Addr(), second.Listen, opened, last, meanwhile)
	}
	s.once(many)
}

// A replica lists what is new of GitHub in the same moment in which the other one
// takes in a delivery of what was before.
func TestCatchUpAndTwoProjects(t *testing.T) {
	t.Parallel()
	const many = 30
	s, second := startSplit(t, bridgetest.Options{Store: redistest.Start(t).URL, CatchUp: 100 * time.Millisecond, EnterDelay: time.Millisecond})
	for i := range many {
		goOn := s.GitHub.Hold() // lists wait for it, too
		opened, _ := s.relabelled(i)
		listing := s.GitHub.Calls("issues.list")
		goOn()
		s.Await("a listing", func() bool { return s.GitHub.Calls("issues.list") > listing })
		s.Await("the delivery's being taken", func() bool { return post(second.Addr(), opened) })
	}
	s.once(many)
}
