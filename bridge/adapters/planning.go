package adapters

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
	_ "time/tzdata" // a sprint ends on a day of its project's zone, also where the system has no zones

	"planbridge/bridge/planning"
	"planbridge/bridge/poll"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// Planning fits the client of one planning project to the reconciler and
// the poller.
type Planning struct {
	*planning.Client
	mu      sync.Mutex
	buckets map[string]bucketIDs // by title or id, as a route names them
	zone    zone
}

type bucketIDs struct {
	ids   []mapping.ObjectID
	until time.Time
}

// NewPlanning makes the adapter of a client.
func NewPlanning(c *planning.Client) *Planning {
	return &Planning{Client: c, buckets: map[string]bucketIDs{}}
}

// CreateCard is that of the client.
func (p *Planning) CreateCard(ctx context.Context, bucket mapping.ObjectID, username string, n reconcile.NewItem) (mapping.Card, error) {
	card, err := p.Client.CreateCard(ctx, bucket, username, planning.NewCard(n))
	return card, p.doubt(bucket, err)
}

// CreateCards makes cards in the names of several people.
func (p *Planning) CreateCards(ctx context.Context, bucket mapping.ObjectID, items []reconcile.BatchItem) ([]mapping.Card, error) {
	cards, err := p.CreateCardsBy(ctx, bucket, converted(items, func(n reconcile.BatchItem) planning.UserCard {
		return planning.UserCard{Username: n.Username, NewCard: planning.NewCard(n.NewItem)}
	}))
	return cards, p.doubt(bucket, err)
}

// CreateTasks sends a single task as one, which every service takes.
func (p *Planning) CreateTasks(ctx context.Context, card mapping.ObjectID, username string, items []reconcile.NewItem) ([]mapping.Task, error) {
	if len(items) == 1 {
		task, err := p.CreateTask(ctx, card, username, planning.NewTask(items[0]))
		if err != nil {
			return nil, err
		}
		return []mapping.Task{task}, nil
	}
	return p.Client.CreateTasks(ctx, card, username, converted(items, func(n reconcile.NewItem) planning.NewTask { return planning.NewTask(n) }))
}

// UpdateCard is that of the client.
func (p *Planning) UpdateCard(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	up, err := p.Client.UpdateCard(ctx, id, username, images, set)
	return reconcile.Updated(up), err
}

// UpdateTask is that of the client.
func (p *Planning) UpdateTask(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	up, err := p.Client.UpdateTask(ctx, id, username, images, set)
	return reconcile.Updated(up), err
}

// bucketsFor is how long a bucket's ids are cached.
const bucketsFor = 10 * time.Minute

// BucketIDs is that of the client with a cache, as every create needs it and buckets hardly change.
func (p *Planning) BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error) {
	p.mu.Lock()
	known := p.buckets[bucket]
	p.mu.Unlock()
	if time.Now().Before(known.until) {
		return known.ids, nil
	}
	ids, err := p.Client.BucketIDs(ctx, bucket)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buckets[bucket] = bucketIDs{ids, time.Now().Add(bucketsFor)}
	return ids, nil
}

// doubt forgets the cached ids of a bucket where an error says that there is none of that id. The
// listing that they are from may have lacked another one.
func (p *Planning) doubt(bucket mapping.ObjectID, err error) error {
	if reconcile.IsGone(err) {
		p.mu.Lock()
		defer p.mu.Unlock()
		maps.DeleteFunc(p.buckets, func(_ string, b bucketIDs) bool { return slices.Contains(b.ids, bucket) })
	}
	return err
}

// zone is a project's time zone, which is read at intervals.
type zone struct {
	*time.Location
	until time.Time
}

const (
	zoneFor   = time.Hour
	noZoneFor = 10 * time.Minute // until an unknown one is asked for again
)

// location is the project's time zone, UTC where it is not known.
func (p *Planning) location(ctx context.Context) *time.Location {
	p.mu.Lock()
	z := p.zone
	p.mu.Unlock()
	if time.Now().Before(z.until) {
		return z.Location
	}
	project, err := p.Project(ctx)
	var known *time.Location
	if err == nil {
		known, err = time.LoadLocation(project.Timezone)
	}
	switch {
	case err == nil:
		z = zone{known, time.Now().Add(zoneFor)}
	case z.Location == nil:
		z = zone{time.UTC, time.Now().Add(noZoneFor)}
	default:
		z.until = time.Now().Add(noZoneFor)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.zone = z
	return z.Location
}

// sprintReader reads sprints: the client, or its News.
type sprintReader interface {
	Sprints(ctx context.Context) ([]planning.Sprint, error)
	SprintItems(ctx context.Context, id mapping.ObjectID) (planning.SprintItems, error)
}

// Sprints lists the project's sprints for the poller, in its time zone.
func (p *Planning) Sprints(ctx context.Context) ([]poll.Sprint, error) {
	return p.sprints(ctx, p.Client)
}

func (p *Planning) sprints(ctx context.Context, r sprintReader) ([]poll.Sprint, error) {
	sprints, err := r.Sprints(ctx)
	if err != nil || len(sprints) == 0 {
		return nil, err
	}
	here := p.location(ctx)
	out := make([]poll.Sprint, len(sprints))
	for i, s := range sprints {
		out[i] = poll.Sprint{
			ID: s.ID, Title: s.Title, Summary: s.Summary, Start: in(here, s.Start), End: in(here, s.End),
			Future: s.IsFuture, Active: s.IsActive, Past: s.IsPast,
		}
	}
	return out, nil
}

func in(here *time.Location, t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(here)
}

// SprintItems lists a sprint's items, in either form. A card's users are those on its own entry and
// on its tasks'.
func (p *Planning) SprintItems(ctx context.Context, sprint mapping.ObjectID) ([]mapping.Card, []mapping.Task, error) {
	return sprintItems(ctx, p.Client, sprint)
}

func sprintItems(ctx context.Context, r sprintReader, sprint mapping.ObjectID) ([]mapping.Card, []mapping.Task, error) {
	items, err := r.SprintItems(ctx, sprint)
	if err != nil {
		return nil, nil, err
	}
	byCard := map[mapping.ObjectID][]string{}
	for i := range items.Tasks {
		t := &items.Tasks[i]
		byCard[t.Owner] = append(byCard[t.Owner], items.Users[t.ID]...)
	}
	for i := range items.Cards {
		c := &items.Cards[i]
		users := append([]string{}, items.Users[c.ID]...) // an empty list is known, too
		users = append(users, byCard[c.ID]...)
		for j := range c.Tasks {
			users = append(users, items.Users[c.Tasks[j].ID]...)
		}
		slices.Sort(users)
		c.Users = slices.Compact(users)
	}
	return items.Cards, items.Tasks, nil
}

// PlanningNews is the project for rounds that only look for changes.
type PlanningNews struct {
	*Planning
	reader sprintReader
}

// News is the project for rounds that only look for changes.
func (p *Planning) News() PlanningNews { return PlanningNews{p, p.Client.News()} }

// Sprints is [Planning.Sprints].
func (n PlanningNews) Sprints(ctx context.Context) ([]poll.Sprint, error) {
	return n.sprints(ctx, n.reader)
}

// SprintItems is [Planning.SprintItems].
func (n PlanningNews) SprintItems(ctx context.Context, sprint mapping.ObjectID) ([]mapping.Card, []mapping.Task, error) {
	return sprintItems(ctx, n.reader, sprint)
}

// Burndown reads a sprint's chart for the poller.
func (p *Planning) Burndown(ctx context.Context, sprint mapping.ObjectID) (mapping.Burndown, error) {
	b, err := p.Client.Burndown(ctx, sprint)
	return mapping.Burndown{Start: b.Start, End: b.End, Days: b.NumDays, Original: b.OriginalEstimate, Remaining: b.Remaining}, err
}

// Renderer compares texts as planning shows them.
type Renderer struct{}

// SameRendering reports whether two Markdown texts mean the same.
func (Renderer) SameRendering(a, b string) bool { return planning.SameRendering(a, b) }
