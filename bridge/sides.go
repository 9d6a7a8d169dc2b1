package bridge

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/planning"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/webhook"
	"planbridge/mapping"
	"planbridge/store"
)

// githubSide fits the GitHub adapter to the reconciler.
type githubSide struct {
	*github.Client
	// answeredAs is told who made an issue or a comment with a request of ours.
	answeredAs func(ctx context.Context, login string)

	visible      visibilities
	repositories *repositories
	people       *people
}

func newGitHubSide(c *github.Client, s store.State, log *slog.Logger, answeredAs func(context.Context, string)) *githubSide {
	g := &githubSide{Client: c, answeredAs: answeredAs}
	g.repositories, g.people = newRepositories(s, c, &g.visible, log), newPeople(s, c, log)
	return g
}

// Locate is that of the reconciler.
func (g *githubSide) Locate(ctx context.Context, repo string, id int64, anew bool) (string, error) {
	age := identityFor
	if anew {
		age = anewFor
	}
	return g.repositories.locate(ctx, repo, id, time.Now().Add(-age))
}

// Issue, and what else answers with an issue, says whose it is by id, too.
func (g *githubSide) Issue(ctx context.Context, repo string, number int) (mapping.Issue, error) {
	issue, err := g.Client.Issue(ctx, repo, number)
	return g.identified(ctx, issue), err
}

func (g *githubSide) identified(ctx context.Context, issue mapping.Issue) mapping.Issue {
	g.people.meet(ctx, issue.Author, issue.AuthorID)
	if issue.RepoID == 0 && issue.ID != 0 {
		issue.RepoID = g.repositories.idOf(issue.Repo)
	}
	return issue
}

func (g *githubSide) CreateIssue(ctx context.Context, repo string, n reconcile.NewIssue) (mapping.Issue, error) {
	issue, err := g.Client.CreateIssue(ctx, repo, github.NewIssue{Title: n.Title, Body: n.Body, Labels: n.Labels})
	if err == nil {
		g.answeredAs(ctx, issue.Author)
	}
	return g.identified(ctx, issue), err
}

func (g *githubSide) EditIssue(ctx context.Context, repo string, number int, e reconcile.IssueEdit) (mapping.Issue, error) {
	issue, err := g.Client.EditIssue(ctx, repo, number, github.IssueEdit{Title: e.Title, Body: e.Body, State: e.State, StateReason: e.StateReason, Milestone: e.Milestone})
	return g.identified(ctx, issue), err
}

func (g *githubSide) Reserve(ctx context.Context, class reconcile.WriteClass) error {
	return g.Client.Reserve(ctx, github.WriteClass(class))
}

func (g *githubSide) Comments(ctx context.Context, repo string, number int, since time.Time) ([]reconcile.Comment, error) {
	comments, err := g.Client.Comments(ctx, repo, number, since)
	out := make([]reconcile.Comment, len(comments))
	for i, c := range comments {
		g.people.meet(ctx, c.Author, c.AuthorID)
		out[i] = reconcile.Comment{ID: c.ID, Author: c.Author, Body: c.Body}
	}
	return out, err
}

func (g *githubSide) CreateComment(ctx context.Context, repo string, number int, body string) (reconcile.Comment, error) {
	c, err := g.Client.CreateComment(ctx, repo, number, body)
	if err == nil {
		g.answeredAs(ctx, c.Author)
	}
	return reconcile.Comment{ID: c.ID, Author: c.Author, Body: c.Body}, err
}

// Edits tells an issue's earlier titles, or its earlier bodies, as the events
// of their edits did. Of a body that was taken out of GitHub's history nothing
// is told.
func (g *githubSide) Edits(ctx context.Context, issue mapping.IssueID, a mapping.Attribute) ([]mapping.Edit, error) {
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
func (g *githubSide) RepositoryName(ctx context.Context, repo string) (string, error) {
	r, err := g.Repository(ctx, repo)
	return r.FullName, err
}

func (g *githubSide) Archived(ctx context.Context, repo string) (bool, error) {
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

// planningSide fits the client of one planning project to the reconciler and
// the poller.
type planningSide struct {
	PlanningClient
	mu      sync.Mutex
	buckets map[string]bucketIDs // by title or id, as a route names them
	zone    zone
}

type bucketIDs struct {
	ids   []mapping.ObjectID
	until time.Time
}

func newPlanningSide(c PlanningClient) *planningSide {
	return &planningSide{PlanningClient: c, buckets: map[string]bucketIDs{}}
}

func (p *planningSide) CreateCard(ctx context.Context, bucket mapping.ObjectID, username string, n reconcile.NewItem) (mapping.Card, error) {
	return p.PlanningClient.CreateCard(ctx, bucket, username, planning.NewCard(n))
}

func (p *planningSide) CreateCards(ctx context.Context, bucket mapping.ObjectID, items []reconcile.BatchItem) ([]mapping.Card, error) {
	cards := make([]planning.UserCard, len(items))
	for i, n := range items {
		cards[i] = planning.UserCard{Username: n.Username, NewCard: planning.NewCard(n.NewItem)}
	}
	return p.CreateCardsBy(ctx, bucket, cards)
}

// CreateTasks sends a single task as one, which every service takes.
func (p *planningSide) CreateTasks(ctx context.Context, card mapping.ObjectID, username string, items []reconcile.NewItem) ([]mapping.Task, error) {
	if len(items) == 1 {
		task, err := p.CreateTask(ctx, card, username, planning.NewTask(items[0]))
		if err != nil {
			return nil, err
		}
		return []mapping.Task{task}, nil
	}
	tasks := make([]planning.NewTask, len(items))
	for i, n := range items {
		tasks[i] = planning.NewTask(n)
	}
	return p.PlanningClient.CreateTasks(ctx, card, username, tasks)
}

func (p *planningSide) UpdateCard(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	up, err := p.PlanningClient.UpdateCard(ctx, id, username, images, set)
	return reconcile.Updated(up), err
}

func (p *planningSide) UpdateTask(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	up, err := p.PlanningClient.UpdateTask(ctx, id, username, images, set)
	return reconcile.Updated(up), err
}

// bucketsFor is how long a bucket's ids are believed.
const bucketsFor = 10 * time.Minute

// BucketIDs is that of the client, asked once in a while: every create needs
// it, and buckets hardly change.
func (p *planningSide) BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error) {
	p.mu.Lock()
	known := p.buckets[bucket]
	p.mu.Unlock()
	if time.Now().Before(known.until) {
		return known.ids, nil
	}
	ids, err := p.PlanningClient.BucketIDs(ctx, bucket)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buckets[bucket] = bucketIDs{ids, time.Now().Add(bucketsFor)}
	return ids, nil
}
