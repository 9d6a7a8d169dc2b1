package github_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/githubtest"
	"planbridge/mapping"
)

// These tests hold the client against the simulator, which was written from
// GitHub's documentation without a look at the client.

const repo = "acme/web"

type world struct {
	*githubtest.Server
	repo *githubtest.Repo
}

func newWorld(t *testing.T, o githubtest.Options) *world {
	t.Helper()
	s, err := githubtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.AddUser("octocat")
	s.AddToken("tok", "bridge")
	return &world{s, s.AddRepo(repo, githubtest.RepoSpec{})}
}

func (w *world) client(t *testing.T, with ...func(*github.Options)) *github.Client {
	t.Helper()
	o := github.Options{APIURL: w.URL(), Token: "tok", Timeout: 5 * time.Second}
	for _, f := range with {
		f(&o)
	}
	c, err := github.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func background(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestAnIssuesLife(t *testing.T) {
	for _, enterprise := range []bool{false, true} {
		w := newWorld(t, githubtest.Options{Enterprise: enterprise})
		c, ctx := w.client(t), background(t)
		if who := must[string](t)(c.Viewer(ctx)); who != "bridge" {
			t.Fatalf("viewer is %s", who)
		}
		const body = "é\r\n\tb  \n"
		made := must[mapping.Issue](t)(c.CreateIssue(ctx, repo, github.NewIssue{Title: "t", Body: body, Labels: []string{"c#", "a/b"}}))
		state := w.repo.Issue(made.Number)
		if state.ID != made.ID || state.Body != body || made.Body != body || made.Repo != repo || made.Author != "bridge" {
			t.Errorf("made %+v\nis   %+v", made, state)
		}
		must[mapping.Issue](t)(c.EditIssue(ctx, repo, made.Number, github.IssueEdit{
			Title: new("new"), State: new("closed"), StateReason: new("not_planned"),
		}))
		if left := must[[]string](t)(c.RemoveLabel(ctx, repo, made.Number, "a/b")); !slices.Equal(left, []string{"c#"}) {
			t.Errorf("left are %q", left)
		}
		if left := must[[]string](t)(c.RemoveLabel(ctx, repo, made.Number, "50%")); !slices.Equal(left, []string{"c#"}) {
			t.Errorf("left are %q", left)
		}
		must[[]string](t)(c.AddLabels(ctx, repo, made.Number, []string{"plan:To Do"}))
		if err := c.EnsureLabel(ctx, repo, "PLAN:to do", "00ff00", "d"); err != nil {
			t.Error(err)
		}
		must[github.Comment](t)(c.CreateComment(ctx, repo, made.Number, "hello"))
		if list := must[[]github.Comment](t)(c.Comments(ctx, repo, made.Number, time.Time{})); len(list) != 1 || list[0].Author != "bridge" {
			t.Errorf("comments are %+v", list)
		}
		read := must[mapping.Issue](t)(c.Issue(ctx, repo, made.Number))
		state = w.repo.Issue(made.Number)
		if read.Title != "new" || read.State != "closed" || read.StateReason != "not_planned" ||
			!slices.Equal(read.Labels, state.Labels) || len(state.Labels) != 2 || !read.UpdatedAt.Equal(state.UpdatedAt) {
			t.Errorf("read %+v\nis   %+v", read, state)
		}
		renames := must[[]github.Renamed](t)(c.RenamedEvents(ctx, repo, made.Number))
		if len(renames) != 1 || renames[0].From != "t" || renames[0].To != "new" || renames[0].Actor != "bridge" {
			t.Errorf("renames are %+v", renames)
		}
		edits := must[[]github.Edit](t)(c.UserContentEdits(ctx, repo, read.NodeID))
		for _, e := range edits {
			if e.At.IsZero() {
				t.Errorf("edits are %+v", edits)
			}
		}
	}
}

func TestConditionalReadsAgainstTheSimulator(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	c, ctx := w.client(t), background(t)
	n := w.repo.Open("octocat", githubtest.IssueSpec{Title: "a"})
	notModified := func() (count int) {
		for _, call := range w.Journal() {
			if call.Status == http.StatusNotModified {
				count++
			}
		}
		return count
	}
	first := must[mapping.Issue](t)(c.Issue(ctx, repo, n))
	second := must[mapping.Issue](t)(c.Issue(ctx, repo, n))
	if first.Title != second.Title || notModified() != 1 {
		t.Errorf("%d reads were 304", notModified())
	}
	w.repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "b" })
	if i := must[mapping.Issue](t)(c.Issue(ctx, repo, n)); i.Title != "b" {
		t.Errorf("title is %q", i.Title)
	}
}

func TestListingAgainstTheSimulator(t *testing.T) {
	for _, cursor := range []bool{false, true} {
		w := newWorld(t, githubtest.Options{Traits: githubtest.Traits{CursorPages: cursor}})
		c, ctx := w.client(t), background(t)
		for range 7 {
			w.repo.Open("octocat", githubtest.IssueSpec{Title: "x"})
		}
		w.repo.OpenPR("octocat", githubtest.IssueSpec{Title: "pr"})
		w.repo.Close(3, "octocat", "completed")
		list := func(o github.ListOptions) (numbers []int, l github.Listing) {
			l = must[github.Listing](t)(c.ListIssues(ctx, repo, o, func(page []mapping.Issue, date time.Time) error {
				for _, i := range page {
					numbers = append(numbers, i.Number)
				}
				if date.IsZero() {
					t.Error("a page without date")
				}
				return nil
			}))
			slices.Sort(numbers)
			return numbers, l
		}
		numbers, l := list(github.ListOptions{PerPage: 2})
		if !slices.Equal(numbers, []int{1, 2, 3, 4, 5, 6, 7}) || l.PullRequests != 1 || l.NotModified {
			t.Errorf("cursor %v: listed %v, %+v", cursor, numbers, l)
		}
		list(github.ListOptions{})
		if numbers, l = list(github.ListOptions{}); !l.NotModified || numbers != nil {
			t.Errorf("cursor %v: idle listing %v, %+v", cursor, numbers, l)
		}
		w.repo.Comment(5, "octocat", "hi")
		if numbers, l = list(github.ListOptions{}); l.NotModified || len(numbers) != 7 {
			t.Errorf("cursor %v: listing after a change %v, %+v", cursor, numbers, l)
		}
	}
}

func TestRenameAndTransferAgainstTheSimulator(t *testing.T) {
	for _, redirect307 := range []bool{false, true} {
		w := newWorld(t, githubtest.Options{Traits: githubtest.Traits{Redirect307: redirect307}})
		c, ctx := w.client(t), background(t)
		n := w.repo.Open("octocat", githubtest.IssueSpec{Title: "a"})
		id := w.repo.Issue(n).ID
		w.RenameRepo(repo, "acme/site")

		_, err := c.EditIssue(ctx, repo, n, github.IssueEdit{Title: new("lost?")})
		if !errors.Is(err, mapping.ErrMoved) || w.repo.Issue(n).Title != "a" {
			t.Errorf("write to the old name: %v", err)
		}
		_, err = c.Issue(ctx, repo, n)
		var moved *github.MovedError
		if !errors.As(err, &moved) || moved.Repo != "acme/site" || moved.Issue == nil || moved.Issue.ID != id {
			t.Errorf("read by the old name: %v", err)
		}
		if r := must[github.Repository](t)(c.Repository(ctx, repo)); r.FullName != "acme/site" || r.ID != w.repo.ID() {
			t.Errorf("repository is %+v", r)
		}

		other := w.AddRepo("acme/other", githubtest.RepoSpec{})
		to := w.repo.Transfer(n, "acme/other")
		_, err = c.Issue(ctx, "acme/site", n)
		if !errors.As(err, &moved) || moved.Repo != "acme/other" || moved.Number != to ||
			moved.Issue == nil || moved.Issue.ID != other.Issue(to).ID {
			t.Errorf("read of the transferred issue: %v", err)
		}
		other.Delete(to)
		if _, err = c.Issue(ctx, "acme/other", to); !errors.Is(err, mapping.ErrGone) {
			t.Errorf("read of the deleted issue: %v", err)
		}
		other.Archive(true)
		if _, err = c.CreateIssue(ctx, "acme/other", github.NewIssue{Title: "t"}); !errors.Is(err, mapping.ErrForbidden) {
			t.Errorf("write to the archive: %v", err)
		}
	}
}

func TestLimitsAgainstTheSimulator(t *testing.T) {
	for name, fault := range map[string]githubtest.Fault{
		"primary": githubtest.PrimaryLimit(time.Now().Add(time.Hour)), "secondary": githubtest.SecondaryLimit(30 * time.Second),
		"no header": githubtest.SecondaryNoHeader(), "429": githubtest.TooMany429(),
	} {
		w := newWorld(t, githubtest.Options{})
		c, ctx := w.client(t), background(t)
		n := w.repo.Open("octocat", githubtest.IssueSpec{Title: "a"})
		w.Fault(fault)
		_, err := c.EditIssue(ctx, repo, n, github.IssueEdit{Title: new("b")})
		var limited *mapping.RateLimited
		if !errors.As(err, &limited) || limited.After <= 0 || limited.After > time.Hour || w.repo.Issue(n).Title != "a" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFaultsAgainstTheSimulator: an error that promises no effect has none.
func TestFaultsAgainstTheSimulator(t *testing.T) {
	for _, kind := range []githubtest.FaultKind{
		githubtest.Before, githubtest.After, githubtest.Drop,
		githubtest.DropBefore, githubtest.Garbage, githubtest.Hollow, githubtest.Truncate,
	} {
		w := newWorld(t, githubtest.Options{})
		c, ctx := w.client(t), background(t)
		w.Fault(githubtest.Fault{Match: "write", Kind: kind})
		_, err := c.CreateIssue(ctx, repo, github.NewIssue{Title: "t"})
		if !errors.Is(err, mapping.ErrUncertain) {
			t.Errorf("%s: %v with %d issues", kind, err, len(w.repo.Issues()))
		}
	}
	w := newWorld(t, githubtest.Options{})
	c := w.client(t)
	w.RevokeToken("tok")
	if _, err := c.Repository(background(t), repo); !errors.Is(err, mapping.ErrUnauthorized) {
		t.Errorf("revoked: %v", err)
	}
}

func TestSubIssuesAgainstTheSimulator(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	c, ctx := w.client(t), background(t)
	parent := w.repo.Open("octocat", githubtest.IssueSpec{Title: "p"})
	child := w.repo.Open("octocat", githubtest.IssueSpec{Title: "c"})
	id := w.repo.Issue(child).ID
	if p := must[*mapping.Issue](t)(c.Parent(ctx, repo, child)); p != nil {
		t.Errorf("parent is %+v", p)
	}
	w.Fault(githubtest.PriorityTaken())
	if err := c.AddSubIssue(ctx, repo, parent, id); !errors.Is(err, mapping.ErrRejected) || !strings.Contains(err.Error(), "Priority") {
		t.Errorf("race: %v", err)
	}
	if err := c.AddSubIssue(ctx, repo, parent, id); err != nil {
		t.Fatal(err)
	}
	if p := must[*mapping.Issue](t)(c.Parent(ctx, repo, child)); p == nil || p.Number != parent {
		t.Errorf("parent is %+v", p)
	}
	if list := must[[]mapping.Issue](t)(c.SubIssues(ctx, repo, parent)); len(list) != 1 || list[0].ID != id {
		t.Errorf("sub-issues are %+v", list)
	}
	if err := c.RemoveSubIssue(ctx, repo, parent, id); err != nil || len(w.repo.Issue(parent).SubIssues) != 0 {
		t.Errorf("remove: %v", err)
	}
}

func TestMilestonesAgainstTheSimulator(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	c, ctx := w.client(t), background(t)
	for _, day := range []time.Time{
		time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), {},
	} {
		m := must[github.Milestone](t)(c.PutMilestone(ctx, repo, github.Milestone{Title: "S" + day.String(), DueOn: day}))
		if !m.DueOn.Equal(day) {
			t.Errorf("due on %v, want %v", m.DueOn, day)
		}
		m.State = "closed"
		m = must[github.Milestone](t)(c.PutMilestone(ctx, repo, m))
		if m.State != "closed" || !m.DueOn.Equal(day) {
			t.Errorf("closed is %+v", m)
		}
	}
	if list := must[[]github.Milestone](t)(c.Milestones(ctx, repo)); len(list) != 3 {
		t.Errorf("milestones are %+v", list)
	}
	marked := must[github.Milestone](t)(c.PutMilestone(ctx, repo, github.Milestone{Title: "Marked", Description: "What to do\n\n<!-- a mark -->"}))
	n := w.repo.Open("octocat", githubtest.IssueSpec{Title: "a", Milestone: marked.Number})
	if i := must[mapping.Issue](t)(c.Issue(ctx, repo, n)); i.Milestone != marked.Number || i.MilestoneMark != "<!-- a mark -->" {
		t.Errorf("milestone is %d, marked %q", i.Milestone, i.MilestoneMark)
	}
	none := 0
	if i := must[mapping.Issue](t)(c.EditIssue(ctx, repo, n, github.IssueEdit{Milestone: &none})); i.Milestone != 0 {
		t.Errorf("milestone is %d", i.Milestone)
	}
}

func TestAppAgainstTheSimulator(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	app := w.AddApp("planbridge", "acme")
	ctx := background(t)
	c := w.client(t, func(o *github.Options) {
		o.Token, o.App = "", &github.App{ID: app.ID, PrivateKey: app.PrivateKey}
	})
	if who := must[string](t)(c.Viewer(ctx)); who != app.Login() || c.Authorship(who) != mapping.Named {
		t.Errorf("viewer is %s", who)
	}
	if i := must[mapping.Issue](t)(c.CreateIssue(ctx, repo, github.NewIssue{Title: "t"})); i.Author != app.Login() {
		t.Errorf("author is %s", i.Author)
	}
	if repos := must[[]github.Repository](t)(c.OrgRepositories(ctx, "acme")); len(repos) != 1 || repos[0].FullName != repo {
		t.Errorf("repositories are %+v", repos)
	}
	if a := must[github.Access](t)(c.Access(ctx, "acme")); a.Kind != "app" {
		t.Errorf("access is %+v", a)
	}
	if err := c.Probe(ctx); err != nil {
		t.Error(err)
	}
}

func TestPushlessTokenAgainstTheSimulator(t *testing.T) {
	w := newWorld(t, githubtest.Options{Traits: githubtest.Traits{NoPush: true}})
	c := w.client(t)
	i := must[mapping.Issue](t)(c.CreateIssue(background(t), repo, github.NewIssue{Title: "t", Labels: []string{"bug"}}))
	if i.Labels != nil {
		t.Errorf("labels are %q", i.Labels)
	}
}
