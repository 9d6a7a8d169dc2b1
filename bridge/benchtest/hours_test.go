package benchtest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/planningtest/planningmodel"
)

// hours is a large organisation in virtual time: its repositories, and the planning projects of
// its teams. Each team has the repositories of one owner.
type hours struct {
	*bridgetest.TestWorld
	random *rand.Rand
	repos  []*githubtest.Repo
	boards []*planningtest.Project // of repos[i] it is boards[i%len]
	issues []worked
}

// worked is an issue that people work on.
type worked struct {
	repo   *githubtest.Repo
	board  *planningtest.Project
	name   string // of the repository
	number int
}

// TestMeasuredHour: a large organisation does 3,000 things in an hour: six of ten on GitHub, three
// in planning, and one is a new issue. Nothing waits for a limit, of GitHub's or for it.
func TestMeasuredHour(t *testing.T) {
	h := hour(t, 500, 20, 1000, 3000)
	t.Logf("%d calls of GitHub count: %s", counted(h.calls), operations(h.calls))
	if n := counted(h.calls); n > documented.RateLimit || refused(h.calls) > 0 {
		t.Errorf("%d calls of GitHub count, %d were limited", n, refused(h.calls))
	}
	if h.waits > 0 {
		t.Errorf("%v writes waited for their budget", h.waits)
	}
}

// TestALabelThatWaitsIsNotAskedForAgain: issues come into eighty repositories at once, each of
// which needs labels. GitHub is asked once whether a repository has a label, however often its
// write has to wait.
func TestALabelThatWaitsIsNotAskedForAgain(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	const repos = 80
	o := &hours{}
	virtually(t, bridgetest.Options{Config: o.configure}, func(w *bridgetest.TestWorld) {
		o.TestWorld = w
		o.begin(repos, 1, 0)
		waits := o.waits()
		for i := range repos {
			o.open(i)
		}
		time.Sleep(30 * time.Minute)
		made, asked := w.GitHub.Calls("repolabel.create"), w.GitHub.Calls("repolabel.get")
		if made < 2*repos || asked > made || o.waits() == waits {
			w.T.Errorf("%d labels were made and %d asked for, while %v writes waited", made, asked, o.waits()-waits)
		}
		for i := range o.issues {
			if labels := o.repos[i].Issue(o.issues[i].number).Labels; len(labels) != 2 {
				w.T.Errorf("an issue of %s has the labels %q", o.issues[i].name, labels)
			}
		}
	})
}

// anHour is what an hour of an organisation cost.
type anHour struct {
	calls []githubtest.Call
	waits float64 // of writes for their budget
}

// hour plays so many events in an hour. The organisation's earlier items have come to rest.
func hour(t *testing.T, repos, teams, issues, events int) (h anHour) {
	t.Helper()
	const seed = 1
	t.Logf("seed %d", seed)
	o := &hours{random: rand.New(rand.NewPCG(seed, seed))}
	virtually(t, bridgetest.Options{Config: o.configure}, func(w *bridgetest.TestWorld) {
		o.TestWorld = w
		o.begin(repos, teams, issues)
		w.GitHub.ResetJournal()
		waits := o.waits()
		for i := range events {
			o.act(i, issues)
			time.Sleep(time.Hour / time.Duration(events))
		}
		h.calls = w.GitHub.Journal()
		time.Sleep(time.Minute)
		h.waits = o.waits() - waits
		o.agree(issues)
	})
	return h
}

// counted is how many requests count against GitHub's limit of an hour.
func counted(calls []githubtest.Call) (n int) {
	for _, c := range calls {
		if c.Status != http.StatusNotModified {
			n++
		}
	}
	return n
}

// waits is how many writes waited for their budget.
func (o *hours) waits() (n float64) {
	o.T.Helper()
	for _, class := range []string{"content", "edit"} {
		value, err := o.Metric(fmt.Sprintf("github_write_waits_total{class=%q}", class))
		if err != nil {
			o.T.Fatal(err)
		}
		waited, err := strconv.ParseFloat(value, 64)
		if err != nil {
			o.T.Fatal(err)
		}
		n += waited
	}
	return n
}

// configure adds a project and a route for each team.
func (o *hours) configure(yaml string) string {
	var projects, routes strings.Builder
	for i, p := range o.boards {
		fmt.Fprintf(&projects, "    team%d:\n      id: %s\n      secret: env:PLANNING_WEB_SECRET\n      username: bridge\n", i, p.ID())
		fmt.Fprintf(&routes, "  - repository: team%d/*\n    name: team%d\n    project: team%d\n    bucket: Incoming\n", i, i, i)
	}
	// A fixed pause: the polls are not what is measured.
	yaml = strings.Replace(yaml, "\nplanning:\n", "\nplanning:\n  poll_min: 30s\n", 1)
	return strings.Replace(yaml, "users:", projects.String()+"users:", 1) + routes.String()
}

// begin starts the bridge, and has people open issues in an hour of their own. It ends when the
// third hour of GitHub's limit has just begun.
func (o *hours) begin(repos, teams, issues int) {
	for i := range teams {
		p := o.Planning.AddProject(planningtest.ProjectSpec{Title: fmt.Sprint("Team ", i), Members: []string{"alice", bridgetest.BridgeUser}, Buckets: []string{bridgetest.Bucket}})
		p.AddSecret(o.Project.Secret())
		o.boards = append(o.boards, p)
	}
	for i := range repos {
		o.repos = append(o.repos, o.GitHub.AddRepo(o.name(i), githubtest.RepoSpec{Private: true}))
	}
	if err := o.StartBridge(); err != nil {
		o.T.Fatal(err)
	}
	for i := range teams {
		o.GitHub.AddHook(fmt.Sprintf("team%d", i), o.WebhookURL(), bridgetest.WebhookSecret)
	}
	time.Sleep(10 * time.Minute)
	for i := range issues {
		o.open(i % repos)
		time.Sleep(time.Hour / time.Duration(issues))
	}
	time.Sleep(51 * time.Minute)
}

func (o *hours) name(repo int) string { return fmt.Sprintf("team%d/repo%d", repo%len(o.boards), repo) }

func (o *hours) open(repo int) {
	at := worked{repo: o.repos[repo], board: o.boards[repo%len(o.boards)], name: o.name(repo)}
	at.number = at.repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue ", len(o.issues)), Body: "Something has to be done."})
	o.issues = append(o.issues, at)
}

// act has somebody do something to one of the issues of before.
func (o *hours) act(i, issues int) {
	n := o.random.IntN(issues)
	at, title := &o.issues[n], fmt.Sprintf("Issue %d, edited %d", n, i)
	switch i % 10 {
	case 0:
		o.open(o.random.IntN(len(o.repos)))
	case 1:
		at.repo.Label(at.number, "octocat", fmt.Sprint("bug ", i))
	case 2:
		at.repo.Edit(at.number, "octocat", func(e *githubtest.IssueEdit) { e.Body = fmt.Sprintf("Something else, %d.", i) })
	case 3, 4, 5, 6:
		at.repo.Edit(at.number, "octocat", func(e *githubtest.IssueEdit) { e.Title = title })
	case 7:
		state := [...]string{"in-progress", "done"}[i/10%2]
		at.board.EditTask(o.card(at).Tasks[0].ID, "alice", func(e *planningtest.TaskEdit) { e.State = state })
	default:
		at.board.EditCard(o.card(at).ID, "alice", func(e *planningtest.CardEdit) { e.Title = title })
	}
}

// card is that of an issue.
func (o *hours) card(at *worked) planningmodel.CardState {
	o.T.Helper()
	partner := fmt.Sprintf("[%s#%d]", at.name, at.number)
	for _, c := range at.board.Cards() {
		if strings.Contains(c.Summary, partner) {
			return c
		}
	}
	o.T.Fatalf("%s has no card", partner)
	panic("unreachable")
}

// agree fails where an issue and its card have different titles.
func (o *hours) agree(issues int) {
	o.T.Helper()
	for i := range issues {
		at := &o.issues[i]
		if issue, card := at.repo.Issue(at.number).Title, o.card(at).Title; issue != card {
			o.T.Errorf("%s#%d is %q, its card %q", at.name, at.number, issue, card)
		}
	}
}
