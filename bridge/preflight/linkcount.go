package preflight

import (
	"context"
	"errors"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// linkPlace is a place of links. Only the number of links in each place is kept.
type linkPlace struct {
	route, repository string
	project, bucket   mapping.ObjectID
	title             string // of the bucket, as the card was last seen
	rests             bool   // as the issue left its route, or an item is gone
	wasDormant        bool   // as no route took them
}

// errNoStore is why links were not counted, where another finding says more.
var errNoStore = errors.New("the store cannot be used")

// counted has the number of links in each place, where they could be counted.
type counted struct {
	places map[linkPlace]int
	err    error // why they could not be read
}

// add counts a link, unless it rests for good: parted, erased, or without its issue.
func (c *counted) add(l status.Link) {
	if l.Why == mapping.PartedWhy || l.Why == mapping.MovedWhy || l.State == string(mapping.Erased) {
		return
	}
	p := linkPlace{route: l.Route, project: mapping.ObjectID(l.Project), rests: l.State == string(mapping.Left) || l.State == string(mapping.Orphaned), wasDormant: l.State == string(mapping.Dormant)}
	if l.Issue != nil && l.Issue.Number != 0 {
		p.repository = l.Issue.Repository
	}
	if l.Card != nil {
		p.bucket, p.title = mapping.ObjectID(l.Card.BucketID), l.Card.Bucket
		if p.title == l.Card.BucketID {
			p.title = "" // not known
		}
	}
	c.places[p]++
}

// countStore counts the links of a store, in all its projects.
func (c *counted) countStore(ctx context.Context, s store.Store) error {
	projects, err := s.Projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		for l, err := range store.AllLinks(ctx, s, project) {
			if err != nil {
				return err
			}
			c.add(status.LinkOf(l))
		}
	}
	return nil
}
