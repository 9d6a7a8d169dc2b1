package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
)

// steps are what a command that takes pairs apart lists, sorted.
func steps(op *operator, args ...string) []string {
	op.t.Helper()
	var job status.Job
	r := op.run(append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(r.out), &job); err != nil || r.status != exitOK || job.Clean == nil {
		op.t.Fatalf("%v: %+v: %v", args, r, err)
	}
	var out []string
	for _, s := range job.Clean.Steps {
		out = append(out, strings.Join([]string{s.Item, s.Side, s.What}, " | "))
	}
	slices.Sort(out)
	return out
}

// marked counts what of planbridge's the world shows.
func marked(op *operator) (texts, labels, milestones int) {
	for _, i := range op.world.Repo.Issues() {
		texts += strings.Count(i.Body, "planbridge")
		for _, l := range i.Labels {
			if strings.HasPrefix(l, "plan:") || strings.HasPrefix(l, "bucket:") {
				labels++
			}
		}
		if i.Milestone != 0 {
			milestones++
		}
	}
	for _, c := range op.world.Project.Cards() {
		texts += strings.Count(c.Summary, "planbridge")
		for _, task := range c.Tasks {
			texts += strings.Count(task.Summary, "planbridge")
		}
	}
	return texts, labels, milestones
}

// peopled is a world with an issue of each side, a sub-issue, a sprint, and labels of people.
func peopled(t *testing.T, o bridgetest.Options, edit func(string) string) *operator {
	t.Helper()
	op := newOperator(t, o, edit)
	people(op)
	return op
}

// people starts the bridge of a world and makes what peopled has.
func people(op *operator) {
	op.t.Helper()
	w := op.world
	if err := w.StartBridge(); err != nil {
		op.t.Fatal(err)
	}
	op.admin()
	op.until("it polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	parent := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "from GitHub", Body: "Words of octocat.", Labels: []string{"help wanted", "plan:ours"}})
	op.until("its card", func() bool { return len(w.Project.Cards()) == 1 && len(w.Project.Cards()[0].Tasks) == 1 })
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "from planning", Summary: "Words of alice."})
	op.until("its issue", func() bool { return len(w.Repo.Issues()) == 2 })
	child := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "a part", Body: "Of octocat."})
	w.Repo.AddSubIssue(parent, child)
	op.until("the task of the part", func() bool { return len(w.Project.Cards()[0].Tasks) == 2 })
	op.settled()
}

// TestDecommission: planbridge's marks are removed, as the dry run listed; people's texts and their
// labels stay, and nothing enters again.
func TestDecommission(t *testing.T) {
	op := peopled(t, bridgetest.Options{}, nil)
	w := op.world
	texts, labels, _ := marked(op)
	if texts < 4 || labels < 3 {
		t.Fatalf("the world shows %d markers and %d labels before: this test shows nothing", texts, labels)
	}
	const runs = "route acme/web runs, and would make everything again: pause it"
	if r := op.run("decommission", "acme/web"); r.status != exitFailure || !strings.Contains(r.stderr, runs) {
		t.Errorf("of a route that runs: %+v", r)
	}
	if got := op.fine("decommission", "acme/web", "--dry-run"); !strings.Contains(got, "\na run would be refused now: "+runs) {
		t.Errorf("the plan of a route that runs: %s", got)
	}
	writes := w.Writes()
	planned := steps(op, "decommission", "acme/web", "--dry-run")
	op.fine("pause", "acme/web")
	if w.Writes() != writes {
		t.Errorf("the dry run wrote: %d, %d before", w.Writes(), writes)
	}
	did := steps(op, "decommission", "acme/web")
	if !slices.Equal(planned, did) {
		t.Errorf("the dry run said\n%s\nand it did\n%s", strings.Join(planned, "\n"), strings.Join(did, "\n"))
	}
	verifyClean(op)
	if got := op.fine("decommission", "acme/web", "--dry-run"); got != "0 pairs would be taken apart; apart before: 2\n" {
		t.Errorf("the dry run of a second run said %q", got)
	}
	histories := op.fine("export", "history")
	reads := itemReads(w)
	if got := op.fine("decommission", "acme/web"); got != "0 of 2 pairs are taken apart; apart before: 2\n" {
		t.Errorf("the second run said %q", got)
	}
	if got := itemReads(w); got != reads {
		t.Errorf("the second run read items %d times", got-reads)
	}
	if got := op.fine("export", "history"); got != histories {
		t.Errorf("the second run, of which nothing comes, left in the histories\n%s\nafter\n%s", got, histories)
	}
	op.fine("resume", "acme/web")
	op.settled()
	verifyClean(op)
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "after all" })
	op.settled()
	if cards := w.Project.Cards(); slices.ContainsFunc(cards, func(c planningtest.CardState) bool { return c.Title == "after all" }) {
		t.Errorf("the issue is still synchronised: %+v", cards)
	}
}

// itemReads counts the reads of single items on both sides.
func itemReads(w *bridgetest.World) int {
	return w.GitHub.Calls("issue.get") + w.Planning.Calls(planningtest.OpCardRead) + w.Planning.Calls(planningtest.OpTaskRead)
}

// verifyClean expects nothing of planbridge's, and all of people's.
func verifyClean(op *operator) {
	t, w := op.t, op.world
	t.Helper()
	if texts, labels, milestones := marked(op); texts != 0 || labels != 1 || milestones != 0 {
		t.Errorf("%d markers, %d labels with the one of a person, %d milestones are left\nissues: %+v\ncards: %+v", texts, labels, milestones, w.Repo.Issues(), w.Project.Cards())
	}
	one := w.Repo.Issue(1)
	if one.Body != "Words of octocat." || !slices.Contains(one.Labels, "help wanted") || !slices.Contains(one.Labels, "plan:ours") {
		t.Errorf("of octocat: %+v", one)
	}
	if two := w.Repo.Issue(2); two.Body != "Words of alice." {
		t.Errorf("of alice: %q", two.Body)
	}
	if len(w.Repo.Issues()) != 3 || len(w.Project.Cards()) != 2 {
		t.Errorf("%d issues, %d cards", len(w.Repo.Issues()), len(w.Project.Cards()))
	}
	if got := op.fine("links", "--state", "dormant"); strings.Count(got, "unlinked by an operator") != 2 {
		t.Errorf("links: %s", got)
	}
}

// TestDecommissionKilled: the process is killed halfway, perhaps before it began each pair; a
// second run comes to the same end.
func TestDecommissionKilled(t *testing.T) {
	admins, listens := freePort(t), freePort(t)
	listen := func(text string) string { return public(listens)(admin(admins)(text)) }
	op := newOperator(t, bridgetest.Options{}, listen)
	w := op.world
	w.GitHub.AddHook(bridgetest.RepoName, "http://"+listens+"/webhooks/github", bridgetest.WebhookSecret)
	s := op.serve()
	op.until("it polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	for _, title := range []string{"one", "two", "three"} {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: title, Body: "Words."})
	}
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "four", Summary: "Words."})
	op.until("all is there", func() bool {
		tasks := 0
		for _, c := range w.Project.Cards() {
			tasks += len(c.Tasks)
		}
		_, labels, _ := marked(op)
		return tasks == 4 && len(w.Repo.Issues()) == 4 && labels == 8
	})
	op.fine("pause", "acme/web")
	before, _, _ := marked(op)
	fault := w.Planning.Fault(planningtest.Fault{Op: planningtest.OpTaskUpdate, Kind: planningtest.Before, Status: 503, Times: -1})
	ended := make(chan result, 1)
	go func() { ended <- op.run("decommission", "acme/web", "--lease", "2s") }()
	op.until("something is taken off", func() bool { texts, _, _ := marked(op); return texts < before })
	s.signal(os.Kill)
	s.ended()
	<-ended
	fault.Remove()
	op.serve()
	t.Logf("the second run took off %v", steps(op, "decommission", "acme/web"))
	if texts, labels, _ := marked(op); texts != 0 || labels != 0 {
		t.Errorf("%d markers and %d labels are left", texts, labels)
	}
	for _, i := range w.Repo.Issues() {
		if i.Body != "Words." {
			t.Errorf("issue %d says %q", i.Number, i.Body)
		}
	}
	if got := op.fine("links", "--state", "dormant"); strings.Count(got, "unlinked by an operator") != 4 {
		t.Errorf("links: %s", got)
	}
}

// TestUnlinkClean: one pair of a route that runs is taken apart, and the others stay.
func TestUnlinkClean(t *testing.T) {
	op := peopled(t, bridgetest.Options{}, nil)
	w := op.world
	if r := op.run("unlink", "acme/web#1", "--dry-run"); r.status != exitUsage {
		t.Errorf("a dry run of unlink: %+v", r)
	}
	planned := steps(op, "unlink", "acme/web#2", "--clean", "--dry-run")
	if did := steps(op, "unlink", "acme/web#2", "--clean"); len(did) == 0 || !slices.Equal(planned, did) {
		t.Errorf("the dry run said %v, and it did %v", planned, did)
	}
	op.settled()
	if two := w.Repo.Issue(2); two.Body != "Words of alice." || len(two.Labels) != 0 {
		t.Errorf("the pair: %+v", two)
	}
	if one := w.Repo.Issue(1); len(one.Labels) < 4 {
		t.Errorf("another pair: %+v", one)
	}
	if got := op.fine("links", "--state", "linked"); !strings.Contains(got, "acme/web#1 ") || strings.Contains(got, "acme/web#2 ") {
		t.Errorf("links: %s", got)
	}
}
