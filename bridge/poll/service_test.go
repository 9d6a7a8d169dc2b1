package poll_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"planbridge/bridge/poll"
	"planbridge/mapping"
)

// service is a planning project in memory.
type service struct {
	mu      sync.Mutex
	buckets []bucket
	sprints []poll.Sprint
	items   map[mapping.ObjectID]listing
	tasks   map[mapping.ObjectID][]mapping.Task
	fails   map[string]error // by call
	calls   []string
	tagged  bool  // the backlog's answers have a tag
	shows   []int // how many buckets the next listings of the backlog show; all where it is at its end
}

type bucket struct {
	id    mapping.ObjectID
	title string
	cards []mapping.Card
}

type listing struct {
	cards []mapping.Card
	tasks []mapping.Task
}

func (s *service) call(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, name)
	return s.fails[name]
}

func (s *service) count(name string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == name {
			n++
		}
	}
	return n
}

func (s *service) BacklogNews(_ context.Context, since string, known func(mapping.ObjectID, string, []byte, []byte) bool, visit func(mapping.ObjectID, string, mapping.Card) error) (tag string, unchanged bool, err error) {
	if err := s.call("backlog"); err != nil {
		return "", false, err
	}
	s.mu.Lock()
	buckets := slices.Clone(s.buckets)
	if s.tagged && len(s.shows) == 0 {
		tag = mapping.DigestText(fmt.Sprint(buckets))
	}
	if len(s.shows) > 0 {
		buckets, s.shows = buckets[:s.shows[0]], s.shows[1:]
	}
	s.mu.Unlock()
	if tag != "" && tag == since {
		return tag, true, nil
	}
	for _, b := range buckets {
		for _, c := range b.cards {
			text, err := json.Marshal(c)
			if err != nil {
				return "", false, err
			}
			if known(b.id, b.title, []byte(c.ID), text) {
				continue
			}
			c.Bucket, c.BucketName = b.id, b.title
			if err := visit(b.id, b.title, c); err != nil {
				return "", false, err
			}
		}
	}
	return tag, false, nil
}

func (s *service) Sprints(context.Context) ([]poll.Sprint, error) {
	return s.sprints, s.call("sprints")
}

func (s *service) SprintItems(_ context.Context, id mapping.ObjectID) ([]mapping.Card, []mapping.Task, error) {
	if err := s.call("sprint " + string(id)); err != nil {
		return nil, nil, err
	}
	return slices.Clone(s.items[id].cards), slices.Clone(s.items[id].tasks), nil
}

func (s *service) Tasks(_ context.Context, card mapping.ObjectID) ([]mapping.Task, error) {
	return s.tasks[card], s.call("tasks " + string(card))
}

// put replaces the cards of a bucket.
func (s *service) put(id mapping.ObjectID, title string, cards ...mapping.Card) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.buckets, func(b bucket) bool { return b.id == id })
	if i < 0 {
		s.buckets = append(s.buckets, bucket{id: id, title: title})
		i = len(s.buckets) - 1
	}
	s.buckets[i].cards = cards
}

// list replaces the cards of a sprint.
func (s *service) list(sprint mapping.ObjectID, cards ...mapping.Card) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[sprint] = listing{cards: cards}
}

func card(id string, change ...func(*mapping.Card)) mapping.Card {
	c := mapping.Card{
		ID: mapping.ObjectID(id), CID: 7, Version: 1,
		Title: mapping.Versioned{Value: "Card " + id}, Summary: mapping.Versioned{Value: "What to do"},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func version(n int64) func(*mapping.Card) {
	return func(c *mapping.Card) { c.Version, c.Title.Version = n, n; c.Title.Value = "Edited" }
}

func task(id string, version int64) mapping.Task {
	return mapping.Task{ID: mapping.ObjectID(id), CID: 9, Version: version, State: mapping.Versioned{Value: "todo", Version: version}}
}
