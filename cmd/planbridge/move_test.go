package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store/redisstore/redistest"
)

// mover is an operator of a world with a second project, to which the route is to lead.
type mover struct {
	*operator
	there   *planningtest.Project
	pointed bool // the configuration says so
	unnamed bool // and does not name the project that the route led to before
}

func newMover(t *testing.T, o bridgetest.Options, edit func(string) string) *mover {
	t.Helper()
	m := &mover{}
	o.Config = func(text string) string {
		if m.there == nil {
			return text
		}
		other := fmt.Sprintf("    other: {id: %s, secret: env:PLANNING_WEB_SECRET, username: %s}\nusers: {", m.there.ID(), bridgetest.BridgeUser)
		text = strings.Replace(text, "users: {", other, 1)
		if m.pointed {
			text = strings.Replace(text, "project: web\n    bucket: "+bridgetest.Bucket, "project: other\n    bucket: Inbox", 1)
		}
		if m.unnamed {
			text = regexp.MustCompile(`(?m)^    web:\n(      .*\n)+`).ReplaceAllString(text, "")
		}
		return text
	}
	m.operator = newOperator(t, o, nil)
	m.there = m.world.Planning.AddProject(planningtest.ProjectSpec{Title: "Other", Members: []string{"alice", bridgetest.BridgeUser}, Buckets: []string{"Inbox", "Else"}})
	m.there.AddSecret(m.world.Project.Secret())
	m.write(edit)
	return m
}

// point changes the configuration, and has the bridge of the world read it.
func (m *mover) point() {
	m.t.Helper()
	m.pointed = true
	reread(m.operator)
}

// reread has the bridge of a world read its configuration.
func reread(op *operator) {
	op.t.Helper()
	c, err := config.Parse([]byte(op.world.YAML()), "planbridge.yaml", op.world.Env)
	if err == nil {
		err = op.world.App.Reload(op.t.Context(), c)
	}
	if err != nil {
		op.t.Fatal(err)
	}
	op.admin()
}

// move runs the command.
func (m *mover) move(args ...string) []string {
	m.t.Helper()
	return steps(m.operator, append([]string{"move", "acme/web", "--project", "other", "--bucket", "Inbox"}, args...)...)
}

// card is the card of a title in a project.
func card(m *mover, p *planningtest.Project, title string) planningtest.CardState {
	m.t.Helper()
	var found []planningtest.CardState
	for _, c := range p.Cards() {
		if c.Title == title {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		m.t.Fatalf("%d cards are called %q in %s: %+v", len(found), title, p.Title(), p.Cards())
	}
	return found[0]
}

// TestMove: the issues of a route get cards in another project, as the dry run said. The agreed
// values are there, nothing is made twice, and both sides are kept the same.
func TestMove(t *testing.T) {
	t.Run("file", func(t *testing.T) { verifyMove(t, bridgetest.Options{}) })
	t.Run("redis", func(t *testing.T) { verifyMove(t, bridgetest.Options{Store: redistest.Start(t).URL}) })
}

func verifyMove(t *testing.T, o bridgetest.Options) {
	t.Helper()
	m := newMover(t, o, nil)
	people(m.operator)
	w := m.world
	w.Repo.Label(1, "octocat", "points/3")
	w.Repo.Label(1, "octocat", "in-progress")
	old := card(m, w.Project, "from GitHub")
	w.Project.NewTask(old.ID, "alice", planningtest.TaskSpec{Title: "of alice alone"})
	m.settled()
	now := time.Now()
	w.Project.MoveToSprint(old.ID, w.Project.NewSprint(planningtest.SprintSpec{Title: "Sprint 1", Start: now.Add(-time.Hour), End: now.Add(time.Hour)}))
	m.until("its milestone", func() bool { return w.Repo.Issue(1).Milestone != 0 })
	m.settled()
	planned := m.move("--dry-run")
	if !slices.Contains(planned, "acme/web#1 | github | the milestone #1 leaves the issue: its new card is in no sprint") {
		t.Errorf("the plan lacks the milestone: %q", planned)
	}
	if r := m.run("move", "acme/web", "--project", "other", "--bucket", "Inbox"); r.status != exitFailure || !strings.Contains(r.stderr,
		"route acme/web goes to project web, bucket Incoming: write project: other and bucket: Inbox in the configuration, reload, and run move again") {
		t.Errorf("before the configuration says so: %+v", r)
	}
	m.point()
	w.Repo.Close(3, "octocat", "completed")
	m.settled()
	if tasks := fmt.Sprint(cardWords(card(m, w.Project, "from GitHub"))); !strings.Contains(tasks, "a part | Of octocat. |  | done") {
		t.Errorf("before it moves, the card does not follow: %s", tasks)
	}
	if again := m.move("--dry-run"); !slices.Equal(planned, again) {
		t.Errorf("the dry run before the configuration said\n%s\nand after\n%s", strings.Join(planned, "\n"), strings.Join(again, "\n"))
	}
	before := w.Repo.Issues()
	if did := m.move(); !slices.Equal(planned, did) {
		t.Errorf("the dry run said\n%s\nand it did\n%s", strings.Join(planned, "\n"), strings.Join(did, "\n"))
	}
	m.settled()
	m.verifyMoved(before)
	const there = "0 of 2 pairs %s moved to bucket Inbox of project other; there before: 2; staying: 0; not yet possible: 0\n"
	again := []string{"move", "acme/web", "--project", "other", "--bucket", "Inbox"}
	if plan, got := m.fine(append(again, "--dry-run")...), m.fine(again...); plan != fmt.Sprintf(there, "would be") || got != fmt.Sprintf(there, "are") {
		t.Errorf("of the second run the plan says\n%s\nand the run\n%s", plan, got)
	}
	if got := m.fine("explain", "acme/web#1"); !strings.Contains(got, "before, it had card "+old.ID+" of project web") {
		t.Errorf("the history of the new link: %s", got)
	}
	if got := m.fine("explain", old.ID); !strings.Contains(got, "to project other, by route acme/web") || !strings.Contains(got, mapping.MovedWhy) {
		t.Errorf("the history of the old link: %s", got)
	}
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "edited on GitHub" })
	m.there.EditCard(card(m, m.there, "from planning").ID, "alice", func(e *planningtest.CardEdit) { e.Title = "edited in planning" })
	w.Project.EditCard(old.ID, "alice", func(e *planningtest.CardEdit) { e.Title = "edited in vain" })
	m.settled()
	card(m, m.there, "edited on GitHub")
	card(m, w.Project, "edited in vain")
	if title := w.Repo.Issue(2).Title; title != "edited in planning" {
		t.Errorf("issue 2 is called %q", title)
	}
	if n, there := len(w.Project.Cards()), len(m.there.Cards()); n != 2 || there != 2 || len(w.Repo.Issues()) != len(before) {
		t.Errorf("%d old cards, %d new ones, %d issues", n, there, len(w.Repo.Issues()))
	}
	m.fine("erase", "acme/web#1")
	if got := m.fine("links", "--state", "erased"); strings.Count(got, "\n") != 3 || !strings.Contains(got, old.ID) {
		t.Errorf("both links of the issue are to be erased: %s", got)
	}
}

// verifyMoved expects that the issues are as before, except the marker and the label of the bucket.
// The new cards have the texts of the old ones, which have nothing of planbridge's any more.
func (m *mover) verifyMoved(before []githubtest.IssueState) {
	m.t.Helper()
	w := m.world
	if texts, _, milestones := marked(m.operator); texts != 0 || milestones != 0 {
		m.t.Errorf("%d markers and %d milestones are left: %+v %+v", texts, milestones, w.Repo.Issues(), w.Project.Cards())
	}
	for i, is := range w.Repo.Issues() {
		was := before[i]
		for _, s := range []*githubtest.IssueState{&is, &was} {
			if at := strings.Index(s.Body, "<!-- planbridge:"); at >= 0 {
				s.Body = strings.TrimSpace(s.Body[:at])
			}
			s.Labels = slices.DeleteFunc(slices.Sorted(slices.Values(s.Labels)), func(l string) bool { return strings.HasPrefix(l, "bucket:") })
			s.UpdatedAt, s.Milestone = time.Time{}, 0
		}
		if was.Title != is.Title || fmt.Sprint(was) != fmt.Sprint(is) {
			m.t.Errorf("issue %d was\n%+v\nand is\n%+v", is.Number, was, is)
		}
	}
	for _, old := range w.Project.Cards() {
		now := card(m, m.there, old.Title)
		if fmt.Sprint(cardWords(old)) != fmt.Sprint(cardWords(now)) {
			m.t.Errorf("the card said\n%v\nand says\n%v", cardWords(old), cardWords(now))
		}
		if now.Bucket != "Inbox" {
			m.t.Errorf("%q is in bucket %s", now.Title, now.Bucket)
		}
	}
}

// cardWords are what people read on a card.
func cardWords(c planningtest.CardState) (out []string) {
	plain := func(text string) string {
		bare, _, _ := strings.Cut(text, "Synced by planbridge")
		return strings.TrimSpace(bare)
	}
	estimate := func(e *float64) string {
		if e == nil {
			return ""
		}
		return fmt.Sprint(*e)
	}
	for _, t := range c.Tasks {
		out = append(out, strings.Join([]string{t.Title, plain(t.Summary), estimate(t.Estimate), t.State}, " | "))
	}
	slices.Sort(out)
	return append(out, c.Title, plain(c.Summary), estimate(c.Estimate), c.Status)
}

// TestMoveKilled: the process is killed while the cards are being made. A second run, without a
// service, comes to the end, and no card is there twice.
func TestMoveKilled(t *testing.T) {
	admins, listens := freePort(t), freePort(t)
	listen := func(text string) string { return public(listens)(admin(admins)(text)) }
	m := newMover(t, bridgetest.Options{}, listen)
	w := m.world
	w.GitHub.AddHook(bridgetest.RepoName, "http://"+listens+"/webhooks/github", bridgetest.WebhookSecret)
	s := m.serve()
	m.until("it polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	for _, title := range []string{"one", "two", "three"} {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: title, Body: "Words."})
	}
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "four", Summary: "Words."})
	m.until("all is there", func() bool {
		tasks := 0
		for _, c := range w.Project.Cards() {
			tasks += len(c.Tasks)
		}
		_, labels, _ := marked(m.operator)
		return tasks == 4 && len(w.Repo.Issues()) == 4 && labels == 8
	})
	s.signal(os.Interrupt)
	s.ended()
	m.pointed = true
	m.write(listen)
	s = m.serve()
	m.until("it answers", func() bool { return m.run("health").status == exitOK })
	fault := w.Planning.Fault(planningtest.Fault{Op: planningtest.OpCardCreate, Kind: planningtest.Drop, Times: -1})
	ended := make(chan result, 1)
	go func() { ended <- m.run("move", "acme/web", "--project", "other", "--bucket", "Inbox") }()
	m.until("a card is made", func() bool { return len(m.there.Cards()) > 0 })
	s.signal(os.Kill)
	s.ended()
	if r := <-ended; r.status != exitFailure || !strings.Contains(r.stderr, "what was begun goes on where one runs; run the command again to see its end") {
		t.Errorf("the service was killed, and the command says %+v", r)
	}
	fault.Remove()
	t.Logf("the second run:\n%s", strings.Join(m.move("--lease", "2s"), "\n"))
	texts, _, _ := marked(m.operator)
	if there := m.there.Cards(); texts != 0 || len(there) != 4 || len(w.Repo.Issues()) != 4 {
		t.Errorf("%d markers are left, %d issues, and the cards are %+v", texts, len(w.Repo.Issues()), there)
	}
	for _, old := range w.Project.Cards() {
		if now := card(m, m.there, old.Title); !strings.HasPrefix(now.Summary, "Words.") {
			t.Errorf("%q says %q", now.Title, now.Summary)
		}
	}
	if got := m.fine("links", "--state", "dormant"); strings.Count(got, mapping.MovedWhy) != 4 {
		t.Errorf("links: %s", got)
	}
}

// TestMoveOfAProjectWithoutAName: the configuration does not name the project any more that the
// cards are in. A warning counts its links, and no job says that there are none.
func TestMoveOfAProjectWithoutAName(t *testing.T) {
	m := newMover(t, bridgetest.Options{}, nil)
	people(m.operator)
	m.unnamed = true
	m.point()
	m.fine("pause", "acme/web")
	const says = "2 links of route acme/web are in project"
	if r := m.run("decommission", "acme/web", "--dry-run"); r.status != exitFailure || !strings.Contains(r.stderr, says) {
		t.Errorf("decommission: %+v", r)
	}
	m.fine("resume", "acme/web")
	for _, more := range [][]string{{"--dry-run"}, nil} {
		r := m.run(append([]string{"move", "acme/web", "--project", "other", "--bucket", "Inbox"}, more...)...)
		if r.status != exitFailure || !strings.Contains(r.stderr, says) || !strings.Contains(r.stderr, "which planning.projects does not name: put it back") {
			t.Errorf("move %v: %+v", more, r)
		}
	}
	if r := m.run("unlink", "acme/web#1"); r.status != exitFailure || !strings.Contains(r.stderr, "the link of acme/web#1 is in project "+m.world.Project.ID()+", which planning.projects does not name") {
		t.Errorf("unlink: %+v", r)
	}
	if got := m.fine("explain", "acme/web#1"); !strings.HasPrefix(got, "acme/web#1: It is not synchronised (dormant): planning.projects does not name its project "+m.world.Project.ID()) {
		t.Errorf("explain: %s", got)
	}
	m.unnamed = false
	reread(m.operator)
	if r := m.run("move", "acme/web", "--project", "other", "--bucket", "Inbox"); r.status != exitOK || !strings.HasPrefix(r.out, "2 of 2 pairs are moved") {
		t.Errorf("once it is named: %+v", r)
	}
}

// TestMoveOneWay: a route that makes no cards cannot be moved.
func TestMoveOneWay(t *testing.T) {
	m := newMover(t, bridgetest.Options{Route: "direction: to_github"}, nil)
	r := m.run("move", "acme/web", "--project", "other", "--bucket", "Inbox", "--dry-run")
	if r.status != exitFailure || !strings.Contains(r.stderr, "move: route acme/web only goes to GitHub: it makes no cards") {
		t.Errorf("%+v", r)
	}
}

// TestMoveWithinAProject: people move cards to another bucket, and the command says which.
func TestMoveWithinAProject(t *testing.T) {
	bucket := bridgetest.Bucket
	op := newOperator(t, bridgetest.Options{Config: func(text string) string {
		return strings.Replace(text, "bucket: "+bridgetest.Bucket, "bucket: "+bucket, 1)
	}}, nil)
	people(op)
	bucket = "Bugs"
	reread(op)
	first, second := op.world.Project.Cards()[0].ID, op.world.Project.Cards()[1].ID
	moving := func(card string) string {
		return " | planning | its card " + card + " is in bucket Incoming of the project: people move it to bucket Bugs in planning"
	}
	ask := []string{"move", "acme/web", "--project", "web", "--bucket", "Bugs"}
	want := []string{"acme/web#1" + moving(first), "acme/web#2" + moving(second)}
	if planned, did := steps(op, append(ask, "--dry-run")...), steps(op, ask...); !slices.Equal(planned, want) || !slices.Equal(did, want) {
		t.Errorf("the dry run says %q, the run %q, want %q", planned, did, want)
	}
	op.world.Project.MoveCard(first, "Bugs")
	op.settled()
	if got := op.fine(ask...); !strings.HasPrefix(got, "0 of 2 pairs are moved to bucket Bugs of project web; there before: 1; staying: 1; not yet possible: 0\n") || strings.Contains(got, first) || !strings.Contains(got, second) {
		t.Errorf("after people moved one: %s", got)
	}
	if texts, _, _ := marked(op); texts == 0 {
		t.Error("the pairs were taken apart")
	}
}
