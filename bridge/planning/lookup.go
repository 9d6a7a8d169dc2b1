package planning

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"planbridge/mapping"
)

// Reader reads a project: a [Client], or what answers in its place.
type Reader interface {
	Project(ctx context.Context) (Project, error)
	Buckets(ctx context.Context) ([]Bucket, error)
	Sprints(ctx context.Context) ([]Sprint, error)
	SprintItems(ctx context.Context, id mapping.ObjectID) (SprintItems, error)
	BacklogEach(ctx context.Context, visit func(bucketID mapping.ObjectID, title string, card mapping.Card) error) error
}

// CheckProject is [FindProject] for the client's project.
func (c *Client) CheckProject(ctx context.Context) error { return FindProject(ctx, c, c.opts.Project) }

// FindProject reads a project: nil where it answers under its own id.
func FindProject(ctx context.Context, r Reader, id mapping.ObjectID) error {
	p, err := r.Project(ctx)
	if err == nil && !strings.EqualFold(string(p.ID), string(id)) {
		return fmt.Errorf("planning: read project %s: %s answers in its place: %w", id, p.ID, mapping.ErrNotFound)
	}
	return err
}

// BucketIDs is [FindBucket] in the client's project.
func (c *Client) BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error) {
	return FindBucket(ctx, c, bucket)
}

// FindBucket returns the ids that may address a bucket, given by title or id,
// the likeliest first: that of the bucket listing, then that of the project's
// own list, which was seen to differ (facts of real data). The two lists are
// joined by title. An unknown bucket is [mapping.ErrNotFound]; a title that
// several buckets have is a [mapping.Rejection].
func FindBucket(ctx context.Context, r Reader, bucket string) ([]mapping.ObjectID, error) {
	listed, err := r.Buckets(ctx)
	if err != nil {
		return nil, err
	}
	project, err := r.Project(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := joinBuckets(bucket, listed, project.Buckets)
	if err != nil {
		return nil, fmt.Errorf("planning: find bucket %q: %w", bucket, err)
	}
	return ids, nil
}

func joinBuckets(bucket string, lists ...[]Bucket) ([]mapping.ObjectID, error) {
	title, id := strings.TrimSpace(bucket), mapping.ObjectID("")
	for _, b := range slices.Concat(lists...) {
		if string(b.ID) == title {
			title, id = strings.TrimSpace(b.Title), b.ID
			break
		}
	}
	var ids []mapping.ObjectID
	for _, list := range lists {
		var same []mapping.ObjectID
		for _, b := range list {
			if b.ID == id || strings.TrimSpace(b.Title) == title && title != "" {
				same = append(same, b.ID)
			}
		}
		switch {
		case slices.Contains(same, id):
			same = []mapping.ObjectID{id}
		case len(same) > 1 && id == "":
			return nil, &mapping.Rejection{Message: fmt.Sprintf("%d buckets have this title; name it by its id", len(same))}
		case len(same) > 1:
			same = nil // the title of the named bucket does not say which of these it is
		}
		for _, s := range same {
			if !slices.Contains(ids, s) {
				ids = append(ids, s)
			}
		}
	}
	if ids == nil {
		return nil, mapping.ErrNotFound
	}
	return ids, nil
}

// EachCard is the package's function of that name for the client's project.
func (c *Client) EachCard(ctx context.Context, visit func(mapping.Card) error) error {
	return EachCard(ctx, c, visit)
}

// EachCard visits every card of every bucket and every sprint; a card that is
// in both is visited twice. It is the complete lookup: after a nil error, a
// card that was not visited was not there, unless it moved meanwhile.
func EachCard(ctx context.Context, r Reader, visit func(mapping.Card) error) error {
	return eachItem(ctx, r, visit, func(*mapping.Task) {})
}

// ListItems returns the cards and the tasks that the listings of a project show. No listing
// shows the tasks of a card that is in no sprint.
func ListItems(ctx context.Context, r Reader) (cards, tasks map[mapping.ObjectID]bool, err error) {
	cards, tasks = map[mapping.ObjectID]bool{}, map[mapping.ObjectID]bool{}
	err = eachItem(ctx, r, func(c mapping.Card) error { cards[c.ID] = true; return nil }, func(t *mapping.Task) { tasks[t.ID] = true })
	return cards, tasks, err
}

// eachItem visits the cards of all listings, and the tasks that sprints show.
func eachItem(ctx context.Context, r Reader, visit func(mapping.Card) error, task func(*mapping.Task)) error {
	sprints, err := r.Sprints(ctx)
	if err != nil {
		return err
	}
	for _, s := range sprints {
		items, err := r.SprintItems(ctx, s.ID)
		if err != nil {
			return err
		}
		for _, card := range items.Cards {
			if err := visit(card); err != nil {
				return err
			}
			for i := range card.Tasks {
				task(&card.Tasks[i])
			}
		}
		for i := range items.Tasks {
			task(&items.Tasks[i])
		}
	}
	return r.BacklogEach(ctx, func(_ mapping.ObjectID, _ string, card mapping.Card) error { return visit(card) })
}
