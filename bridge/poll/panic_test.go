package poll_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/guard"
	"planbridge/bridge/poll"
	"planbridge/mapping"
	"planbridge/store"
)

// setAside are the items that a guard names, by what they are.
func setAside(g *guard.Guard) (names []string) {
	for _, f := range g.Failures() {
		names = append(names, strings.TrimSpace(f.What+" "+f.Item))
	}
	slices.Sort(names)
	return names
}

// panicky is a planning project on some of whose items the program panics.
type panicky struct{ *service }

func (s panicky) SprintItems(ctx context.Context, id mapping.ObjectID) ([]mapping.Card, []mapping.Task, error) {
	if id == "bad sprint" {
		panic("a sprint")
	}
	return s.service.SprintItems(ctx, id)
}

func (s panicky) Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error) {
	if card == "bad" {
		panic("tasks")
	}
	return s.service.Tasks(ctx, card)
}

// TestAPanicOnAnItemCostsThePollNoOther: a card, a sprint and a card's tasks.
func TestAPanicOnAnItemCostsThePollNoOther(t *testing.T) {
	w := settled(t)
	g := guard.New(w.options.Logger)
	bucket := "54744060c955ca8169c61eff" // an id: the ids of others are asked for
	w.routes = append(w.routes, route("named", bucket))
	w.options.Guard, w.options.Planning = g, panicky{w.planned}
	w.options.TaskSweepInterval = w.options.Interval
	w.options.BucketIDs = func(_ context.Context, bucket string) ([]mapping.ObjectID, error) {
		if bucket == string(other) {
			panic("a bucket")
		}
		return nil, nil
	}
	w.restart()
	w.adopted()
	for _, id := range []string{"bad", "good"} {
		c := card(id)
		l := w.routes[0].EnterCard(&c, time.Now())
		l.State, l.Children = mapping.Linked, []*mapping.Pair{{Kind: mapping.Tracking, State: mapping.Linked, Card: mapping.CardID{ID: mapping.ObjectID("task of " + id)}}}
		if _, err := w.store.Store.Observe(t.Context(), project, []store.Observation{{Create: l}}); err != nil {
			t.Fatal(err)
		}
	}
	w.planned.sprints = []poll.Sprint{{ID: "bad sprint", Active: true}, {ID: "sprint", Active: true}}
	w.planned.items["sprint"] = listing{cards: []mapping.Card{card("in sprint")}}
	w.planned.put(other, "Other", card("c0"))
	w.planned.put(incoming, "Incoming", card("c1"), card("c2"))
	for range 3 {
		w.poll()
	}
	if names := setAside(g); !slices.Equal(names, []string{"card c0", "sprint bad sprint", "tasks of card bad"}) {
		t.Errorf("set aside are %q", names)
	}
	if n := strings.Count(w.log.String(), "stack="); n != 3 {
		t.Errorf("%d lines in three polls, want one an item", n)
	}
	if w.planned.count("tasks good") == 0 {
		t.Error("the tasks of the other card were not read")
	}
	made := 0
	for _, l := range w.links() {
		if l.Card.ID == "c1" || l.Card.ID == "c2" {
			made++
		}
	}
	if made != 2 {
		t.Errorf("%d of the other cards were taken in, want 2\n%s", made, w.log)
	}
	w.options.BucketIDs = nil
	w.restart()
	w.poll()
	if names := setAside(g); slices.Contains(names, "card c0") {
		t.Errorf("set aside are %q after the card was taken in", names)
	}
}

// A round that panics as a whole is not the last one, and is told once.
func TestAPanicOfARoundIsNotTheLastRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		g := guard.New(w.options.Logger)
		var rounds atomic.Int32
		w.options.Guard = g
		routes := w.options.Routes
		w.options.Routes = func() mapping.Routes {
			if n := rounds.Add(1); n <= 5 {
				panic("routes")
			}
			return routes()
		}
		w.restart()
		ctx, cancel := context.WithCancel(t.Context())
		go w.poller.Run(ctx)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if names := setAside(g); rounds.Load() < 2 || !slices.Equal(names, []string{"poll web"}) {
			t.Errorf("%d rounds; set aside are %q", rounds.Load(), names)
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if names := setAside(g); len(names) != 0 || w.planned.count("backlog") == 0 || strings.Count(w.log.String(), "set aside") != 1 {
			t.Errorf("set aside are %q after %d rounds\n%s", names, rounds.Load(), w.log)
		}
		cancel()
		synctest.Wait()
	})
}

// spoilt is a store in which what it has of one card is spoilt.
type spoilt struct{ *counting }

func (s spoilt) Observe(ctx context.Context, p mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	var good []store.Observation
	for _, o := range obs {
		if o.Item != mapping.CardRef("bad") {
			good = append(good, o)
		}
	}
	got, err := s.counting.Observe(ctx, p, good)
	for i, o := range obs {
		if o.Item == mapping.CardRef("bad") {
			got = slices.Insert(got, i, store.Observed{Err: store.ErrSpoilt})
		}
	}
	return got, err
}

// TestACardThatIsSpoiltInTheStoreCostsThePollNoOther: the round is a success, and the
// card is named once.
func TestACardThatIsSpoiltInTheStoreCostsThePollNoOther(t *testing.T) {
	w := settled(t)
	g := guard.New(w.options.Logger)
	w.options.Guard, w.options.Store = g, spoilt{w.store}
	w.restart()
	w.planned.put(incoming, "Incoming", card("bad"), card("c1"))
	woken := w.woken
	for range 3 {
		w.poll()
	}
	if names := setAside(g); !slices.Equal(names, []string{"observation of card:bad"}) || strings.Count(w.log.String(), "set aside") != 1 {
		t.Errorf("set aside are %q\n%s", names, w.log)
	}
	if l := w.onlyLink(); l.Card.ID != "c1" || w.woken != woken+3 {
		t.Errorf("the link is of %s after %d successes", l.Card.ID, w.woken-woken)
	}
	w.options.Store = w.store
	w.restart()
	w.poll()
	if names := setAside(g); len(names) != 0 {
		t.Errorf("set aside are %q after it was stored", names)
	}
}
