package bridgetest_test

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

// wire is a way to a server that can be cut.
type wire struct {
	net.Listener
	to string

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

func newWire(t *testing.T, to string) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, to: to, conns: map[net.Conn]bool{}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { w.carry(c) })
		}
	})
	t.Cleanup(func() {
		l.Close() //nolint:errcheck // nothing was written
		w.set(true)
		running.Wait()
	})
	return w
}

func (w *wire) carry(c net.Conn) {
	server, err := net.Dial("tcp", w.to)
	if err != nil {
		c.Close() //nolint:errcheck // that is the news
		return
	}
	w.mu.Lock()
	w.conns[c], w.conns[server] = true, true
	cut := w.cut
	w.mu.Unlock()
	if cut {
		w.set(true)
	}
	var both sync.WaitGroup
	for from, to := range map[net.Conn]net.Conn{c: server, server: c} {
		both.Go(func() {
			io.Copy(to, from) //nolint:errcheck // ends with either side
			to.Close()        //nolint:errcheck // see above
		})
	}
	both.Wait()
}

// set cuts the wire, or repairs it.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut = cut; !cut {
		return
	}
	for c := range w.conns {
		c.Close() //nolint:errcheck // that is the cut
	}
	clear(w.conns)
}

// TestReplicasComeAndGo: replicas join, are cut off from Redis, come back and stop, while people go
// on working. Everything is done exactly once, and one replica polls at a time.
func TestReplicasComeAndGo(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	way := newWire(t, r.Addr)
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: r.URL})
	second, err := p.w.AddReplica(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.w.AddReplica(func(yaml string) string { return strings.Replace(yaml, r.Addr, way.Addr().String(), 1) }); err != nil {
		t.Fatal(err)
	}
	p.on(20)
	way.set(true)
	p.on(5)
	if err := p.w.StopBridge(); err != nil {
		t.Fatal(err)
	}
	p.w.App = second
	p.on(20)
	way.set(false)
	p.on(20)
	stop()
	p.whole()

	polls := slices.DeleteFunc(p.w.Planning.Journal(), func(c planningtest.Call) bool { return c.Op != planningtest.OpBacklogItems })
	slices.SortFunc(polls, func(a, b planningtest.Call) int { return a.Time.Compare(b.Time) })
	for i := 1; i < len(polls); i++ {
		if before := polls[i-1]; polls[i].Time.Before(before.Time.Add(before.Duration)) {
			t.Errorf("a poll at %v while one of %v took %v", polls[i].Time, before.Time, before.Duration)
		}
	}
}

// The store is emptied while several replicas work on it: items made meanwhile enter, whichever of
// them polls next.
func TestRedisIsEmptiedUnderReplicas(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: r.URL})
	for range 2 {
		if _, err := p.w.AddReplica(nil); err != nil {
			t.Fatal(err)
		}
	}
	p.w.polls(5) // the others have seen meanwhile who polls
	p.on(20)
	r.Flush()
	p.on(40)
	stop()
	p.whole()
}

// All replicas share one budget of GitHub writes of each class.
func TestReplicasShareTheBudget(t *testing.T) {
	t.Parallel()
	const perMinute, burst = 30, 20
	w := start(t, bridgetest.Options{Store: redistest.Start(t).URL, Config: func(yaml string) string {
		return strings.Replace(yaml, "writes_per_minute: 10000", fmt.Sprint("writes_per_minute: ", perMinute), 1)
	}})
	if _, err := w.AddReplica(nil); err != nil {
		t.Fatal(err)
	}
	w.Await("the first polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	began := time.Now()
	for i := range 3 * burst {
		w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: fmt.Sprint("Card ", i)})
	}
	w.Await("the burst", func() bool { return w.GitHub.Writes() >= burst })
	w.polls(10)
	content := w.GitHub.Calls("issue.create", "comment.create")
	edits := w.GitHub.Writes() - content
	if most := burst + int(time.Since(began).Minutes()*perMinute) + 1; content > most || edits > most {
		t.Errorf("%d issues and %d other writes in %v, want at most %d of each", content, edits, time.Since(began), most)
	}
}

// twoProjects is a world with a second repository and project.
func twoProjects(t *testing.T, o bridgetest.Options) (w *world, repo *githubtest.Repo, board *planningtest.Project) {
	o.Idle = true
	more := o.Config
	o.Config = func(yaml string) string {
		if more != nil {
			yaml = more(yaml)
		}
		id := board.ID()
		yaml = strings.Replace(yaml, "users:", fmt.Sprintf("    app:\n      id: %s\n      secret: env:PLANNING_WEB_SECRET\n      username: bridge\nusers:", id), 1)
		return yaml + "  - repository: acme/app\n    project: app\n    bucket: Incoming\nbrakes: {creates_per_minute: 100000}\n"
	}
	w = start(t, o)
	repo = w.GitHub.AddRepo("acme/app", githubtest.RepoSpec{Private: true})
	board = w.Planning.AddProject(planningtest.ProjectSpec{Title: "App", Members: []string{"alice", bridgetest.BridgeUser}, Buckets: []string{bridgetest.Bucket}})
	board.AddSecret(w.Project.Secret())
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	w.GitHub.AddHook("acme/app", w.WebhookURL(), bridgetest.WebhookSecret)
	w.Await("the first polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 6 })
	return w, repo, board
}

// A project with hundreds of keys due does not keep another one waiting.
func TestProjectsTakeTurns(t *testing.T) {
	t.Parallel()
	const many = 200
	w, repo, board := twoProjects(t, bridgetest.Options{EnterDelay: time.Millisecond})
	goOn := w.Hold()
	for i := range many {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue ", i)})
	}
	repo.Open("octocat", githubtest.IssueSpec{Title: "The only one"})
	if err := w.WhileMoving(w.GitHub.Idle); err != nil { // all are queued, the only one last
		t.Fatal(err)
	}
	goOn()
	w.Await("the other project's card", func() bool { return len(board.Cards()) == 1 })
	before := 0
	for _, call := range w.Planning.Journal() {
		if call.Op == planningtest.OpCardCreate && strings.Contains(call.Path, board.ID()) {
			break
		}
		if call.Op == planningtest.OpTaskCreate {
			before++
		}
	}
	// Cards are made a hundred at once, and their tracking tasks one by one.
	if before > many/20 {
		t.Errorf("the tracking tasks of %d of %d were made before the other project's only card", before, many)
	}
}
