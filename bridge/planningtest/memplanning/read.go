package memplanning

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"

	"planbridge/bridge/planning"
	"planbridge/bridge/planningtest/planningmodel"
	"planbridge/mapping"
)

type ids = []mapping.ObjectID

// Project reads the project.
func (c *Client) Project(ctx context.Context) (planning.Project, error) {
	return read(ctx, c, "read project "+string(c.project), nil, func(s planningmodel.Session) (planningmodel.ProjectInfo, error) {
		return s.Project(), nil
	}, view.project)
}

// CheckProject reads the project: nil where it answers under its own id.
func (c *Client) CheckProject(ctx context.Context) error {
	return planning.FindProject(ctx, c, c.project)
}

// Probe asks the service for a sign of life.
func (c *Client) Probe(ctx context.Context) error {
	_, err := c.Project(ctx)
	return err
}

// Buckets lists the backlog's buckets.
func (c *Client) Buckets(ctx context.Context) ([]planning.Bucket, error) {
	return read(ctx, c, "list buckets", nil, func(s planningmodel.Session) ([]planningmodel.Bucket, error) {
		return s.Buckets(), nil
	}, all(view.bucket))
}

// Bucket reads one bucket.
func (c *Client) Bucket(ctx context.Context, id mapping.ObjectID) (planning.Bucket, error) {
	return read(ctx, c, "read bucket "+string(id), ids{id}, func(s planningmodel.Session) (planningmodel.Bucket, error) {
		return s.Bucket(string(id))
	}, view.bucket)
}

// BucketIDs returns the ids that may address a bucket; see [planning.FindBucket].
func (c *Client) BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error) {
	return planning.FindBucket(ctx, c, bucket)
}

// BucketCards reads the cards of one bucket.
func (c *Client) BucketCards(ctx context.Context, bucket mapping.ObjectID) ([]mapping.Card, error) {
	return read(ctx, c, "list cards of bucket "+string(bucket), ids{bucket}, func(s planningmodel.Session) ([]planningmodel.Item, error) {
		return s.BucketCards(string(bucket))
	}, all(func(v view, it *planningmodel.Item) mapping.Card { return v.card(it, bucket, "") }))
}

// Card reads one card.
func (c *Client) Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error) {
	return read(ctx, c, "read card "+string(id), ids{id}, func(s planningmodel.Session) (planningmodel.Item, error) {
		return s.Card(string(id))
	}, func(v view, it *planningmodel.Item) mapping.Card { return v.card(it, "", "") })
}

// Tasks reads the tasks of a card.
func (c *Client) Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error) {
	return read(ctx, c, "list tasks of card "+string(card), ids{card}, func(s planningmodel.Session) ([]planningmodel.Item, error) {
		return s.Tasks(string(card))
	}, all(view.task))
}

// Task reads one task.
func (c *Client) Task(ctx context.Context, id mapping.ObjectID) (mapping.Task, error) {
	return read(ctx, c, "read task "+string(id), ids{id}, func(s planningmodel.Session) (planningmodel.Item, error) {
		return s.Task(string(id))
	}, view.task)
}

// Sprints lists the project's sprints.
func (c *Client) Sprints(ctx context.Context) ([]planning.Sprint, error) {
	return read(ctx, c, "list sprints", nil, func(s planningmodel.Session) ([]planningmodel.Item, error) {
		return s.Sprints(), nil
	}, all(view.sprint))
}

// News is the client itself: nothing is told from before.
func (c *Client) News() planning.Reader { return c }

// Sprint reads one sprint.
func (c *Client) Sprint(ctx context.Context, id mapping.ObjectID) (planning.Sprint, error) {
	return read(ctx, c, "read sprint "+string(id), ids{id}, func(s planningmodel.Session) (planningmodel.Item, error) {
		return s.Sprint(string(id))
	}, view.sprint)
}

// SprintItems reads what is in a sprint.
func (c *Client) SprintItems(ctx context.Context, id mapping.ObjectID) (planning.SprintItems, error) {
	return read(ctx, c, "list items of sprint "+string(id), ids{id}, func(s planningmodel.Session) ([]planningmodel.Item, error) {
		return s.SprintCards(string(id))
	}, view.sprintItems)
}

// Burndown reads a sprint's burndown chart.
func (c *Client) Burndown(ctx context.Context, sprint mapping.ObjectID) (planning.Burndown, error) {
	return read(ctx, c, "read burndown of sprint "+string(sprint), ids{sprint}, func(s planningmodel.Session) (planningmodel.Burndown, error) {
		return s.Burndown(string(sprint))
	}, view.burndown)
}

// EachCard visits every card of every bucket and every sprint; see
// [planning.EachCard].
func (c *Client) EachCard(ctx context.Context, visit func(mapping.Card) error) error {
	return planning.EachCard(ctx, c, visit)
}

// listing is the backlog as one answer tells it.
type listing struct {
	buckets []planningmodel.Bucket
	cards   map[string][]planningmodel.Item // by the bucket's id
}

// Backlog reads all buckets with their cards.
func (c *Client) Backlog(ctx context.Context) ([]planning.BucketItems, error) {
	return read(ctx, c, "list backlog", nil, backlog, func(v view, l *listing) []planning.BucketItems {
		var out []planning.BucketItems
		for i := range l.buckets {
			b := v.bucket(&l.buckets[i])
			items := planning.BucketItems{ID: b.ID, Title: b.Title}
			for j := range l.cards[l.buckets[i].ID] {
				items.Cards = append(items.Cards, v.card(&l.cards[l.buckets[i].ID][j], b.ID, b.Title))
			}
			out = append(out, items)
		}
		return out
	})
}

func backlog(s planningmodel.Session) (l listing, err error) {
	l.buckets, l.cards = s.Backlog()
	return l, nil
}

// BacklogEach visits all cards of all buckets. An error of visit ends it and is
// returned.
func (c *Client) BacklogEach(ctx context.Context, visit func(bucketID mapping.ObjectID, title string, card mapping.Card) error) error {
	_, _, err := c.BacklogNews(ctx, "", nil, visit)
	return err
}

// BacklogNews is [Client.BacklogEach] without the cards that are known, by a text
// that is the same as long as a card is. It has a tag where the service has validators.
func (c *Client) BacklogNews(ctx context.Context, since string, known func(bucketID mapping.ObjectID, title string, id, text []byte) bool,
	visit func(bucketID mapping.ObjectID, title string, card mapping.Card) error,
) (tag string, unchanged bool, err error) {
	ended, err := read(ctx, c, "list backlog", nil, backlog, func(v view, l *listing) error {
		if v.t.Validators != "" {
			tag = l.tag(v)
		}
		if unchanged = since != "" && tag == since; unchanged {
			return nil
		}
		return l.walk(v, known, visit)
	})
	if err == nil {
		r := planning.Request{What: "list backlog"}
		err = r.Failed(ended)
	}
	return tag, unchanged, err
}

// tag stands for all that the listing shows.
func (l *listing) tag(v view) string {
	h := fnv.New64a()
	var text []byte
	for i := range l.buckets {
		b := v.bucket(&l.buckets[i])
		fmt.Fprintf(h, "%q %q\n", b.ID, b.Title)
		for j := range l.cards[l.buckets[i].ID] {
			text = spell(text[:0], &l.cards[l.buckets[i].ID][j])
			h.Write(text)
		}
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

func (l *listing) walk(v view, known func(mapping.ObjectID, string, []byte, []byte) bool, visit func(mapping.ObjectID, string, mapping.Card) error) error {
	var text []byte
	for i := range l.buckets {
		b := v.bucket(&l.buckets[i])
		for j := range l.cards[l.buckets[i].ID] {
			card := &l.cards[l.buckets[i].ID][j]
			if known != nil && b.Title != "" {
				if text = spell(text[:0], card); known(b.ID, b.Title, []byte(card.ID), text) {
					continue
				}
			}
			if err := visit(b.ID, b.Title, v.card(card, b.ID, b.Title)); err != nil {
				return err
			}
		}
	}
	return nil
}
