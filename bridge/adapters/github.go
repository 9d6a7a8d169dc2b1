// Package adapters fits the clients of GitHub and of planning to the packages that use them. It
// converts types, and remembers who can read which repository.
package adapters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/accounts"
	"planbridge/bridge/github"
	"planbridge/bridge/identity"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/repositories"
	"planbridge/mapping"
)

// Host is the program around the GitHub adapter.
type Host interface {
	repositories.Routes
	accounts.Rights
	// AnsweredAs is called with the author of an issue or a comment that a request of ours made.
	AnsweredAs(ctx context.Context, login string)
}

// GitHub fits the GitHub client to the reconciler.
type GitHub struct {
	*github.Client
	host Host
	// Registry and People know the repositories and accounts behind names.
	Registry *repositories.Registry
	People   *accounts.People
}

// RepositoryNames lists the repositories of an account that the bridge can see.
func (g *GitHub) RepositoryNames(ctx context.Context, owner string) ([]string, error) {
	repos, err := g.OrgRepositories(ctx, owner)
	return converted(repos, func(r github.Repository) string { return r.FullName }), err
}

// NewGitHub makes the adapter of a client. Answers on who can read a repository are believed for
// visibilityAge; 0: 5 minutes.
func NewGitHub(c *github.Client, s identity.Documents, host Host, visibilityAge time.Duration, log *slog.Logger) *GitHub {
	return &GitHub{
		Client: c, host: host, People: accounts.NewPeople(s, c, host, log),
		Registry: repositories.New(repositories.Options{Store: s, GitHub: identities{c}, Routes: host, Logger: log, VisibilityAge: visibilityAge}),
	}
}

// identities fits the GitHub client to the registry of repositories.
type identities struct{ *github.Client }

func (g identities) Identity(ctx context.Context, name string) (repositories.Repository, error) {
	r, err := g.Client.Identity(ctx, name)
	return identified(r), err
}

func (g identities) RepositoryByID(ctx context.Context, owner string, id int64) (repositories.Repository, error) {
	r, err := g.Client.RepositoryByID(ctx, owner, id)
	return identified(r), err
}

func identified(r github.Repository) repositories.Repository {
	return repositories.Repository{ID: r.ID, FullName: r.FullName, Private: r.Private}
}

// Locate is that of the reconciler.
func (g *GitHub) Locate(ctx context.Context, repo string, id int64, anew bool) (string, error) {
	age := repositories.BelievedFor
	if anew {
		age = repositories.AnewFor
	}
	return g.Registry.Locate(ctx, repo, id, time.Now().Add(-age))
}

// RepositoryID returns the id of the repository that has a name, 0 where that is unknown.
func (g *GitHub) RepositoryID(ctx context.Context, repo string) (int64, error) {
	if _, err := g.Locate(ctx, repo, 0, false); err != nil {
		return 0, err
	}
	return g.Registry.ID(repo), nil
}

// Private reports whether only members can read a repository.
func (g *GitHub) Private(ctx context.Context, repo string) (bool, error) {
	return g.Registry.Private(ctx, repo)
}

// Public reports whether anybody can read a repository, as far as that is known.
func (g *GitHub) Public(ctx context.Context, repo string, ask bool) (public, known bool) {
	return g.Registry.Public(ctx, repo, ask)
}

// Stranger reports whether a login belongs to another account now than before.
func (g *GitHub) Stranger(login string) bool { return g.People.Stranger(login) }

// Authorship is that of the client, except for a login that another account has.
func (g *GitHub) Authorship(login string) mapping.Authorship {
	whose := g.Client.Authorship(login)
	if whose.Perhaps() && g.Stranger(login) {
		return mapping.Theirs
	}
	return whose
}

// Issue reads an issue. As every method that returns an issue, it also records the author's id.
func (g *GitHub) Issue(ctx context.Context, repo string, number int) (mapping.Issue, error) {
	issue, err := g.Client.Issue(ctx, repo, number)
	return g.identify(ctx, issue), err
}

func (g *GitHub) identify(ctx context.Context, issue mapping.Issue) mapping.Issue {
	g.People.Meet(ctx, issue.Author, issue.AuthorID)
	if issue.RepoID == 0 && issue.ID != 0 {
		issue.RepoID = g.Registry.ID(issue.Repo)
	}
	return issue
}

// errEnough ends a listing that has shown the wanted issues.
var errEnough = errors.New("enough")

// ListSince passes the issues updated at or after a moment to page, the oldest update first, until
// page has enough.
func (g *GitHub) ListSince(ctx context.Context, repo string, since time.Time, page func([]mapping.Issue) bool) error {
	o := github.ListOptions{Since: since, Unconditional: true}
	_, err := g.ListIssues(ctx, repo, o, func(issues []mapping.Issue, _ time.Time) error {
		for i := range issues {
			issues[i] = g.identify(ctx, issues[i])
		}
		if page(issues) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// CreateIssue is that of the client, and reports the account that made the issue.
func (g *GitHub) CreateIssue(ctx context.Context, repo string, n reconcile.NewIssue) (mapping.Issue, error) {
	issue, err := g.Client.CreateIssue(ctx, repo, github.NewIssue{Title: n.Title, Body: n.Body, Labels: n.Labels})
	if err == nil {
		g.host.AnsweredAs(ctx, issue.Author)
	}
	return g.identify(ctx, issue), err
}

// EditIssue is that of the client.
func (g *GitHub) EditIssue(ctx context.Context, repo string, number int, e reconcile.IssueEdit) (mapping.Issue, error) {
	issue, err := g.Client.EditIssue(ctx, repo, number, github.IssueEdit{Title: e.Title, Body: e.Body, State: e.State, StateReason: e.StateReason, Milestone: e.Milestone})
	return g.identify(ctx, issue), err
}

// Reserve is that of the client.
func (g *GitHub) Reserve(ctx context.Context, class reconcile.WriteClass) error {
	return g.Client.Reserve(ctx, github.WriteClass(class))
}

// ChangeLabels is that of the client.
func (g *GitHub) ChangeLabels(ctx context.Context, changes []reconcile.LabelChange) []reconcile.LabelAnswer {
	asked := converted(changes, func(c reconcile.LabelChange) github.LabelChange { return github.LabelChange(c) })
	return converted(g.Client.ChangeLabels(ctx, asked), func(a github.LabelAnswer) reconcile.LabelAnswer { return reconcile.LabelAnswer(a) })
}

// Comments is that of the client, and reports the authors' accounts.
func (g *GitHub) Comments(ctx context.Context, repo string, number int, since time.Time) ([]reconcile.Comment, error) {
	comments, err := g.Client.Comments(ctx, repo, number, since)
	out := make([]reconcile.Comment, len(comments))
	for i, c := range comments {
		g.People.Meet(ctx, c.Author, c.AuthorID)
		out[i] = reconcile.Comment{ID: c.ID, Author: c.Author, Body: c.Body}
	}
	return out, err
}

// CreateComment is that of the client, and reports the account that made the comment.
func (g *GitHub) CreateComment(ctx context.Context, repo string, number int, body string) (reconcile.Comment, error) {
	c, err := g.Client.CreateComment(ctx, repo, number, body)
	if err == nil {
		g.host.AnsweredAs(ctx, c.Author)
	}
	return reconcile.Comment{ID: c.ID, Author: c.Author, Body: c.Body}, err
}

// Edits returns an issue's earlier titles, or its earlier bodies, in the form of edit events. A
// body that was removed from GitHub's history is missing.
func (g *GitHub) Edits(ctx context.Context, issue mapping.IssueID, a mapping.Attribute) ([]mapping.IssueEvent, error) {
	var out []mapping.IssueEvent
	if a.Spec().Carrier == mapping.CarrierTitle {
		renamed, err := g.RenamedEvents(ctx, issue.Repo, issue.Number)
		for _, r := range renamed {
			out = append(out, mapping.IssueEvent{TitleFrom: &r.From, Title: r.To, Sender: r.Actor, At: r.At})
		}
		return out, err
	}
	if issue.NodeID == "" {
		return nil, nil
	}
	bodies, err := g.UserContentEdits(ctx, issue.Repo, issue.NodeID)
	slices.Reverse(bodies)
	for i := 1; i < len(bodies); i++ {
		if from := bodies[i-1].Diff; from != "" {
			out = append(out, mapping.IssueEvent{BodyFrom: &from, Body: bodies[i].Diff, Sender: bodies[i].Editor, At: bodies[i].At})
		}
	}
	return out, err
}

// Archived reports whether a repository is read-only. It is asked after a refusal.
func (g *GitHub) Archived(ctx context.Context, repo string) (bool, error) {
	r, err := g.Repository(ctx, repo)
	return r.Archived, err
}

// Milestones and PutMilestone are those of the adapter in mapping's types.
func (g *GitHub) Milestones(ctx context.Context, repo string) ([]mapping.Milestone, error) {
	list, err := g.Client.Milestones(ctx, repo)
	return converted(list, func(m github.Milestone) mapping.Milestone { return mapping.Milestone(m) }), err
}

// PutMilestone is that of the client.
func (g *GitHub) PutMilestone(ctx context.Context, repo string, m mapping.Milestone) (mapping.Milestone, error) {
	now, err := g.Client.PutMilestone(ctx, repo, github.Milestone(m))
	return mapping.Milestone(now), err
}

// Acted returns when the bridge's own account last changed an issue's state or label, at a moment or
// later; zero: it did not, or took that back itself.
func (g *GitHub) Acted(ctx context.Context, repo string, number int, since time.Time, act mapping.Act) (at time.Time, err error) {
	events, err := g.ActedEvents(ctx, repo, number)
	back := act.Opposite()
	for _, e := range events {
		if e.At.Before(since) || !strings.EqualFold(e.Label, act.Label) || !g.Authorship(e.Actor).Perhaps() {
			continue
		}
		switch e.Event {
		case act.Event:
			at = e.At
		case back.Event:
			at = time.Time{}
		}
	}
	return at, err
}

// Released reports whether a person let an issue out of quarantine. Its events have the people who
// labelled and assigned it. An issue whose events GitHub refuses to show stays in.
func (g *GitHub) Released(ctx context.Context, issue *mapping.Issue) (bool, error) {
	if issue.Untriaged() {
		return false, nil
	}
	released, err := g.FindTriage(ctx, issue.Repo, issue.Number, func(t mapping.Triage) bool {
		return issue.ReleasedBy(t, g.Authorship(t.Actor))
	})
	if mapping.Refused(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list events of %s: %w", issue.Name(), err)
	}
	return released, nil
}

// NoHost is the Host of a command. It allows questions about every name, and remembers nothing.
type NoHost struct{}

// HasRoute is true for each name.
func (NoHost) HasRoute(string) bool { return true }

// Renamed follows no rename.
func (NoHost) Renamed(context.Context, string, string) error { return nil }

// HasRights is false for each login.
func (NoHost) HasRights(string) bool { return false }

// LoginChanged does nothing.
func (NoHost) LoginChanged(context.Context, string, string) {}

// AnsweredAs does nothing.
func (NoHost) AnsweredAs(context.Context, string) {}
