package bridge

import (
	"context"
	"fmt"
	"sync"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/planning"
	"planbridge/bridge/poll"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/webhook"
	"planbridge/mapping"
)

// privateFor is how long a repository's visibility is believed.
const privateFor = 5 * time.Minute

// githubSide fits the GitHub adapter to the reconciler.
type githubSide struct {
	*github.Client
	mu      sync.Mutex
	private map[string]visibility
}

type visibility struct {
	private bool
	until   time.Time
}

func newGitHubSide(c *github.Client) *githubSide {
	return &githubSide{Client: c, private: map[string]visibility{}}
}

func (g *githubSide) CreateIssue(ctx context.Context, repo string, n reconcile.NewIssue) (mapping.Issue, error) {
	return g.Client.CreateIssue(ctx, repo, github.NewIssue{Title: n.Title, Body: n.Body, Labels: n.Labels})
}

func (g *githubSide) EditIssue(ctx context.Context, repo string, number int, e reconcile.IssueEdit) (mapping.Issue, error) {
	return g.Client.EditIssue(ctx, repo, number, github.IssueEdit{Title: e.Title, Body: e.Body, State: e.State, StateReason: e.StateReason})
}

func (g *githubSide) Comments(ctx context.Context, repo string, number int, since time.Time) ([]reconcile.Comment, error) {
	comments, err := g.Client.Comments(ctx, repo, number, since)
	out := make([]reconcile.Comment, len(comments))
	for i, c := range comments {
		out[i] = reconcile.Comment{ID: c.ID, Author: c.Author, Body: c.Body}
	}
	return out, err
}

func (g *githubSide) CreateComment(ctx context.Context, repo string, number int, body string) (reconcile.Comment, error) {
	c, err := g.Client.CreateComment(ctx, repo, number, body)
	return reconcile.Comment{ID: c.ID, Author: c.Author, Body: c.Body}, err
}

// Private reports whether only members can read the repository, and asks
// GitHub for it once in a while.
func (g *githubSide) Private(ctx context.Context, repo string) (bool, error) {
	g.mu.Lock()
	v := g.private[repo]
	g.mu.Unlock()
	if time.Now().Before(v.until) {
		return v.private, nil
	}
	r, err := g.Repository(ctx, repo)
	if err != nil {
		return false, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.private[repo] = visibility{r.Private, time.Now().Add(privateFor)}
	return r.Private, nil
}

// parseEvent fits GitHub's events to the intake.
func parseEvent(name string, payload []byte) (webhook.Event, error) {
	e, err := github.ParseEvent(name, payload)
	return webhook.Event{
		Action: e.Action, Issue: e.Issue, OldIssue: e.Changes.OldIssue, Repo: e.Repo, Private: e.RepoPrivate, Sender: e.Sender,
		TitleFrom: e.Changes.TitleFrom, BodyFrom: e.Changes.BodyFrom, RepoNameFrom: e.Changes.RepoNameFrom,
	}, err
}

// planningSide fits the client of one planning project to the reconciler and
// the poller.
type planningSide struct {
	*planning.Client
	mu      sync.Mutex
	buckets map[string][]mapping.ObjectID // by title and by id
}

func newPlanningSide(c *planning.Client) *planningSide { return &planningSide{Client: c} }

func (p *planningSide) CreateCard(ctx context.Context, bucket mapping.ObjectID, username string, n reconcile.NewItem) (mapping.Card, error) {
	return p.Client.CreateCard(ctx, bucket, username, planning.NewCard(n))
}

func (p *planningSide) CreateTask(ctx context.Context, card mapping.ObjectID, username string, n reconcile.NewItem) (mapping.Task, error) {
	return p.Client.CreateTask(ctx, card, username, planning.NewTask(n))
}

func (p *planningSide) UpdateCard(ctx context.Context, id mapping.ObjectID, username string, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	up, err := p.Client.UpdateCard(ctx, id, username, set)
	return reconcile.Updated(up), err
}

func (p *planningSide) UpdateTask(ctx context.Context, id mapping.ObjectID, username string, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	up, err := p.Client.UpdateTask(ctx, id, username, set)
	return reconcile.Updated(up), err
}

// Sprints lists the project's sprints for the poller.
func (p *planningSide) Sprints(ctx context.Context) ([]poll.Sprint, error) {
	sprints, err := p.Client.Sprints(ctx)
	out := make([]poll.Sprint, len(sprints))
	for i, s := range sprints {
		out[i] = poll.Sprint{ID: s.ID, Title: s.Title, Start: s.Start, End: s.End, Future: s.IsFuture, Active: s.IsActive, Past: s.IsPast}
	}
	return out, err
}

// SprintItems lists what a sprint holds, in either form.
func (p *planningSide) SprintItems(ctx context.Context, sprint mapping.ObjectID) ([]mapping.Card, []mapping.Task, error) {
	items, err := p.Client.SprintItems(ctx, sprint)
	return items.Cards, items.Tasks, err
}

// BucketIDs returns the ids under which a bucket, given by title or id, may be
// addressed. The two listings of a project have been seen to disagree about
// them (facts of real data), so both are asked, by title. The listing of
// buckets, whose ids the card endpoints take, comes first.
func (p *planningSide) BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error) {
	p.mu.Lock()
	ids := p.buckets[bucket]
	p.mu.Unlock()
	if len(ids) > 0 {
		return ids, nil
	}
	buckets, err := p.Buckets(ctx)
	if err != nil {
		return nil, err
	}
	project, err := p.Project(ctx)
	if err != nil {
		return nil, err
	}
	byTitle, titles := map[string][]mapping.ObjectID{}, map[mapping.ObjectID]string{}
	for _, b := range append(buckets, project.Buckets...) {
		titles[b.ID] = b.Title
		byTitle[b.Title] = append(byTitle[b.Title], b.ID)
	}
	known := map[string][]mapping.ObjectID{}
	for id, title := range titles {
		known[title] = unique(byTitle[title])
		known[string(id)] = known[title]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buckets = known
	return known[bucket], nil
}

func unique(ids []mapping.ObjectID) []mapping.ObjectID {
	var out []mapping.ObjectID
	seen := map[mapping.ObjectID]bool{}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// EachCard visits every card of every bucket and every sprint.
func (p *planningSide) EachCard(ctx context.Context, visit func(mapping.Card) error) error {
	if err := p.BacklogEach(ctx, func(_ mapping.ObjectID, _ string, c mapping.Card) error { return visit(c) }); err != nil {
		return err
	}
	sprints, err := p.Client.Sprints(ctx)
	if err != nil {
		return err
	}
	for _, s := range sprints {
		items, err := p.Client.SprintItems(ctx, s.ID)
		if err != nil {
			return fmt.Errorf("sprint %s: %w", s.ID, err)
		}
		for _, c := range items.Cards {
			if err := visit(c); err != nil {
				return err
			}
		}
	}
	return nil
}
