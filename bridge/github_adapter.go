package bridge

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"planbridge/bridge/accounts"
	"planbridge/bridge/github"
	"planbridge/bridge/identity"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/repositories"
	"planbridge/bridge/webhook"
	"planbridge/mapping"
)

// githubHost is the program around the GitHub adapter.
type githubHost interface {
	repositories.Routes
	accounts.Rights
	// AnsweredAs is told who made an issue or a comment with a request of ours.
	AnsweredAs(ctx context.Context, login string)
}

// githubAdapter fits the GitHub client to the reconciler.
type githubAdapter struct {
	*github.Client
	host         githubHost
	repositories *repositories.Registry
	people       *accounts.People
}

func newGitHubAdapter(c *github.Client, s identity.Documents, host githubHost, visibilityAge time.Duration, log *slog.Logger) *githubAdapter {
	return &githubAdapter{
		Client: c, host: host, people: accounts.NewPeople(s, c, host, log),
		repositories: repositories.New(repositories.Options{Store: s, GitHub: githubIdentities{c}, Routes: host, Logger: log, VisibilityAge: visibilityAge}),
	}
}

// githubIdentities fits the GitHub client to the registry of repositories.
type githubIdentities struct{ *github.Client }

func (g githubIdentities) Identity(ctx context.Context, name string) (repositories.Repository, error) {
	r, err := g.Client.Identity(ctx, name)
	return identified(r), err
}

func (g githubIdentities) RepositoryByID(ctx context.Context, owner string, id int64) (repositories.Repository, error) {
	r, err := g.Client.RepositoryByID(ctx, owner, id)
	return identified(r), err
}

func identified(r github.Repository) repositories.Repository {
	return repositories.Repository{ID: r.ID, FullName: r.FullName, Private: r.Private}
}

// Locate is that of the reconciler.
func (g *githubAdapter) Locate(ctx context.Context, repo string, id int64, anew bool) (string, error) {
	age := repositories.BelievedFor
	if anew {
		age = repositories.AnewFor
	}
	return g.repositories.Locate(ctx, repo, id, time.Now().Add(-age))
}

// Private and Public tell who can read a repository.
func (g *githubAdapter) Private(ctx context.Context, repo string) (bool, error) {
	return g.repositories.Private(ctx, repo)
}

func (g *githubAdapter) Public(ctx context.Context, repo string, ask bool) (public, known bool) {
	return g.repositories.Public(ctx, repo, ask)
}

// Stranger reports whether another account has a login than the one that it stood for.
func (g *githubAdapter) Stranger(login string) bool { return g.people.Stranger(login) }

// Whose is that of the client, but for a login that another account has.
func (g *githubAdapter) Whose(login string) mapping.Whose {
	whose := g.Client.Whose(login)
	if whose.Perhaps() && g.Stranger(login) {
		return mapping.Theirs
	}
	return whose
}

// Issue, and what else answers with an issue, says whose it is by id, too.
func (g *githubAdapter) Issue(ctx context.Context, repo string, number int) (mapping.Issue, error) {
	issue, err := g.Client.Issue(ctx, repo, number)
	return g.identify(ctx, issue), err
}

func (g *githubAdapter) identify(ctx context.Context, issue mapping.Issue) mapping.Issue {
	g.people.Meet(ctx, issue.Author, issue.AuthorID)
	if issue.RepoID == 0 && issue.ID != 0 {
		issue.RepoID = g.repositories.ID(issue.Repo)
	}
	return issue
}

func (g *githubAdapter) CreateIssue(ctx context.Context, repo string, n reconcile.NewIssue) (mapping.Issue, error) {
	issue, err := g.Client.CreateIssue(ctx, repo, github.NewIssue{Title: n.Title, Body: n.Body, Labels: n.Labels})
	if err == nil {
		g.host.AnsweredAs(ctx, issue.Author)
	}
	return g.identify(ctx, issue), err
}

func (g *githubAdapter) EditIssue(ctx context.Context, repo string, number int, e reconcile.IssueEdit) (mapping.Issue, error) {
	issue, err := g.Client.EditIssue(ctx, repo, number, github.IssueEdit{Title: e.Title, Body: e.Body, State: e.State, StateReason: e.StateReason, Milestone: e.Milestone})
	return g.identify(ctx, issue), err
}

func (g *githubAdapter) Reserve(ctx context.Context, class reconcile.WriteClass) error {
	return g.Client.Reserve(ctx, github.WriteClass(class))
}

func (g *githubAdapter) Comments(ctx context.Context, repo string, number int, since time.Time) ([]reconcile.Comment, error) {
	comments, err := g.Client.Comments(ctx, repo, number, since)
	out := make([]reconcile.Comment, len(comments))
	for i, c := range comments {
		g.people.Meet(ctx, c.Author, c.AuthorID)
		out[i] = reconcile.Comment{ID: c.ID, Author: c.Author, Body: c.Body}
	}
	return out, err
}

func (g *githubAdapter) CreateComment(ctx context.Context, repo string, number int, body string) (reconcile.Comment, error) {
	c, err := g.Client.CreateComment(ctx, repo, number, body)
	if err == nil {
		g.host.AnsweredAs(ctx, c.Author)
	}
	return reconcile.Comment{ID: c.ID, Author: c.Author, Body: c.Body}, err
}

// Edits tells an issue's earlier titles, or its earlier bodies, as the events
// of their edits did. Of a body that was taken out of GitHub's history nothing
// is told.
func (g *githubAdapter) Edits(ctx context.Context, issue mapping.IssueID, a mapping.Attribute) ([]mapping.Edit, error) {
	var out []mapping.Edit
	if a.Spec().Carrier == mapping.CarrierTitle {
		renamed, err := g.RenamedEvents(ctx, issue.Repo, issue.Number)
		for _, r := range renamed {
			out = append(out, mapping.Edit{TitleFrom: &r.From, Title: r.To, Sender: r.Actor, At: r.At})
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
			out = append(out, mapping.Edit{BodyFrom: &from, Body: bodies[i].Diff, Sender: bodies[i].Editor, At: bodies[i].At})
		}
	}
	return out, err
}

// RepositoryName is what a repository is called now, and Archived whether it is
// read-only: asked when something was refused.
func (g *githubAdapter) RepositoryName(ctx context.Context, repo string) (string, error) {
	r, err := g.Repository(ctx, repo)
	return r.FullName, err
}

func (g *githubAdapter) Archived(ctx context.Context, repo string) (bool, error) {
	r, err := g.Repository(ctx, repo)
	return r.Archived, err
}

// parseEvent fits GitHub's events to the intake.
func parseEvent(name string, payload []byte) (webhook.Event, error) {
	e, err := github.ParseEvent(name, payload)
	return webhook.Event{
		Action: e.Action, Issue: e.Issue, OldIssue: e.Changes.OldIssue, NewIssue: e.Changes.NewIssue, Repo: e.Repo, RepoID: e.RepoID, Private: e.RepoPrivate, VisibilityKnown: e.RepoTold, Sender: e.Sender, SenderID: e.SenderID, SenderType: e.SenderType,
		Parent: e.Parent, SubIssue: e.SubIssue, TitleFrom: e.Changes.TitleFrom, BodyFrom: e.Changes.BodyFrom, OldRepo: e.Changes.OldRepo, Installation: e.Installation,
	}, err
}

// Milestones and PutMilestone are those of the adapter in mapping's words.
func (g *githubAdapter) Milestones(ctx context.Context, repo string) ([]mapping.Milestone, error) {
	list, err := g.Client.Milestones(ctx, repo)
	out := make([]mapping.Milestone, len(list))
	for i, m := range list {
		out[i] = mapping.Milestone(m)
	}
	return out, err
}

func (g *githubAdapter) PutMilestone(ctx context.Context, repo string, m mapping.Milestone) (mapping.Milestone, error) {
	now, err := g.Client.PutMilestone(ctx, repo, github.Milestone(m))
	return mapping.Milestone(now), err
}

// Closed reports whether the bridge's own account closed an issue at a moment
// or later.
func (g *githubAdapter) Closed(ctx context.Context, repo string, number int, since time.Time) (bool, error) {
	events, err := g.ClosedEvents(ctx, repo, number)
	for _, e := range events {
		if !e.At.Before(since) && g.Whose(e.Actor).Perhaps() {
			return true, nil
		}
	}
	return false, err
}

// Released reports whether a person let an issue out of quarantine: its events
// tell who labelled and assigned it. An issue whose events GitHub refuses to show
// stays in.
func (g *githubAdapter) Released(ctx context.Context, issue *mapping.Issue) (bool, error) {
	if issue.Untriaged() {
		return false, nil
	}
	released, err := g.FindTriage(ctx, issue.Repo, issue.Number, func(t mapping.Triage) bool {
		return issue.ReleasedBy(t, g.Whose(t.Actor))
	})
	if mapping.Refused(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list events of %s: %w", issue.Name(), err)
	}
	return released, nil
}
