package planning

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"planbridge/mapping"
)

// CheckProject reads the project: nil where it answers under its own id.
func (c *Client) CheckProject(ctx context.Context) error {
	p, err := c.Project(ctx)
	if id := c.opts.Project; err == nil && !strings.EqualFold(string(p.ID), string(id)) {
		return fmt.Errorf("planning: read project %s: %s answers in its place: %w", id, p.ID, mapping.ErrNotFound)
	}
	return err
}

// BucketIDs returns the ids that may address a bucket, given by title or id, the likeliest first.
// The bucket listing's id comes before the project's own, which can differ, as real data shows. The
// two lists are joined by title. An unknown bucket is [mapping.ErrNotFound]. A title of several
// buckets is a [mapping.Rejection].
func (c *Client) BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error) {
	listed, err := c.Buckets(ctx)
	if err != nil {
		return nil, err
	}
	project, err := c.Project(ctx)
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
			return nil, &mapping.Rejection{Message: mapping.Count(len(same), "bucket has", "buckets have") + " this title; name it by its id"}
		case len(same) > 1:
			same = nil // the title of the named bucket is ambiguous
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

// EachCard visits every card of every bucket and every sprint; a card in both is visited twice.
// It is the complete lookup: after a nil error, a card that was not visited did not exist, unless
// it moved meanwhile.
func (c *Client) EachCard(ctx context.Context, visit func(mapping.Card) error) error {
	return c.eachItem(ctx, visit, func(*mapping.Task) {})
}

// ListItems returns the cards and the tasks in the listings of a project. No listing shows the
// tasks of a card without a sprint.
func (c *Client) ListItems(ctx context.Context) (cards, tasks map[mapping.ObjectID]bool, err error) {
	cards, tasks = map[mapping.ObjectID]bool{}, map[mapping.ObjectID]bool{}
	err = c.eachItem(ctx, func(c mapping.Card) error { cards[c.ID] = true; return nil }, func(t *mapping.Task) { tasks[t.ID] = true })
	return cards, tasks, err
}

// eachItem visits the cards of all listings, and the tasks of sprint listings.
func (c *Client) eachItem(ctx context.Context, visit func(mapping.Card) error, task func(*mapping.Task)) error {
	sprints, err := c.Sprints(ctx)
	if err != nil {
		return err
	}
	for _, s := range sprints {
		items, err := c.SprintItems(ctx, s.ID)
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
	return c.BacklogEach(ctx, func(_ mapping.ObjectID, _ string, card mapping.Card) error { return visit(card) })
}
