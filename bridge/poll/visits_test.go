package poll_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/bridge/clock"
	"planbridge/bridge/logtest"
	"planbridge/bridge/poll"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// desk is a project of linked backlog cards with a task each, whose tasks are edited.
type desk struct {
	*service
	mu     sync.Mutex
	tasks  map[mapping.ObjectID]mapping.Task
	visits int
	edited map[mapping.ObjectID]time.Time     // edits that were not stored, by task
	took   map[mapping.ObjectID]time.Duration // until an edit was stored, at most
}

func (d *desk) Tasks(_ context.Context, card mapping.ObjectID) ([]mapping.Task, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.visits++
	return []mapping.Task{d.tasks[card]}, nil
}

// edit renames the task of a card, which does not show in the card's version.
func (d *desk) edit(card mapping.ObjectID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tasks[card]
	t.Version++
	t.Title = mapping.Versioned{Value: fmt.Sprint("Edit ", t.Version), Version: t.Version}
	d.tasks[card], d.edited[t.ID] = t, time.Now()
}

// deskStore tells the desk what is stored.
type deskStore struct {
	store.Store
	desk *desk
}

func (s deskStore) Observe(ctx context.Context, p mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	s.desk.mu.Lock()
	for i := range obs {
		task := mapping.ObjectID(obs[i].Item.ID())
		if at, ok := s.desk.edited[task]; ok {
			s.desk.took[task] = max(s.desk.took[task], time.Since(at))
			delete(s.desk.edited, task)
		}
	}
	s.desk.mu.Unlock()
	return s.Store.Observe(ctx, p, obs)
}

// linkedDesk is a world in virtual time: a desk of cards, each with a link and a task.
func linkedDesk(t *testing.T, cards int, change func(*mapping.Link)) (*world, *desk) {
	d := &desk{
		service: &service{items: map[mapping.ObjectID]listing{}, fails: map[string]error{}}, tasks: map[mapping.ObjectID]mapping.Task{},
		edited: map[mapping.ObjectID]time.Time{}, took: map[mapping.ObjectID]time.Duration{},
	}
	w := &world{
		t: t, planned: d.service, routes: []mapping.Route{route("web", "Incoming")}, log: &logtest.Text{},
		store: &counting{Store: deskStore{memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil), d}},
	}
	var listed []mapping.Card
	for i := range cards {
		listed = append(listed, card(fmt.Sprint("c", i)))
	}
	d.put(incoming, "Incoming", listed...)
	w.setOptions()
	w.options.Planning, w.options.Logger = d, slog.New(slog.DiscardHandler)
	w.options.Interval, w.options.MinInterval, w.options.TaskSweepInterval = 30*time.Second, 2*time.Second, 10*time.Minute
	w.restart()
	for i := range listed {
		id := listed[i].ID
		of := task("task of "+string(id), 1)
		of.Owner = id
		d.tasks[id] = of
		w.link(listed[i], func(l *mapping.Link) {
			l.Children = []*mapping.Pair{{Kind: mapping.Tracking, State: mapping.Linked, Card: mapping.CardID{ID: of.ID}}}
			change(l)
		})
	}
	return w, d
}

// longAgo is a link that nobody touched of late, and justNow one that was just agreed upon.
func longAgo(l *mapping.Link) { l.Dates = mapping.Dates{Created: time.Now().Add(-1000 * time.Hour)} }
func justNow(l *mapping.Link) { l.Dates = mapping.Dates{Created: time.Now(), Synced: time.Now()} }

// visited is how often tasks were read since it was last asked.
func (d *desk) visited() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.visits
	d.visits = 0
	return n
}

// TestTasksOfTouchedCards: an edit of a task on a backlog card is seen within ten seconds where
// somebody touched the card within the hour. It is seen within a minute where that was today, and
// within the hour elsewhere. That takes no more calls an hour than one for each card in each
// task_sweep_interval.
func TestTasksOfTouchedCards(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	synctest.Test(t, func(t *testing.T) {
		const cards = 300
		w, d := linkedDesk(t, cards, longAgo)
		w.adopted()
		listed := d.buckets[0].cards
		go w.poller.Run(t.Context())
		pass(2 * time.Hour) // the first tour is over
		d.mu.Lock()
		d.visits = 0
		d.mu.Unlock()
		touch := func(i int) {
			changed := append([]mapping.Card(nil), listed...)
			changed[i] = card(string(listed[i].ID), version(listed[i].Version+1))
			listed = changed
			d.put(incoming, "Incoming", changed...)
		}
		touch(0) // today
		pass(90 * time.Minute)
		touch(1) // just now
		began := time.Now()
		pass(30 * time.Minute)
		for _, c := range []mapping.ObjectID{"c0", "c1", "c2"} {
			d.edit(c)
		}
		for i := range 50 { // as many as the hour has minutes, at other moments of each
			pass(time.Minute + time.Duration(i)*100*time.Millisecond)
			d.edit("c1")
		}
		pass(10 * time.Minute)
		d.mu.Lock()
		defer d.mu.Unlock()
		for c, most := range map[string]time.Duration{"c0": time.Minute, "c1": 10 * time.Second, "c2": time.Hour} {
			took, seen := d.took[mapping.ObjectID("task of "+c)]
			t.Logf("%s: seen after %s", c, took)
			if !seen || took > most {
				t.Errorf("an edit on %s was seen after %s (%t), want %s", c, took, seen, most)
			}
		}
		hours := time.Since(began).Hours() + 1.5
		t.Logf("%.0f visits an hour for %d cards", float64(d.visits)/hours, cards)
		if most := cards * 6 * hours; float64(d.visits) > most {
			t.Errorf("%d visits, want at most %.0f", d.visits, most)
		}
	})
}

// TestRoundsOfAnUnsettledPoller: touched cards bring no round forward while a sprint cannot be read
// since the process started. Nor do they while the project is not adopted.
func TestRoundsOfAnUnsettledPoller(t *testing.T) {
	for name, begin := range map[string]func(w *world, d *desk){
		"a sprint cannot be read": func(w *world, d *desk) {
			w.adopted()
			w.poll()
			w.poll()
			d.fails["sprint s"] = errors.New("no such sprint")
			d.sprints = append(d.sprints, poll.Sprint{ID: "s", Active: true})
			w.restart()
		},
		"not adopted": func(*world, *desk) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, d := linkedDesk(t, 20, justNow)
				begin(w, d)
				before := d.count("backlog")
				go w.poller.Run(t.Context())
				pass(10 * time.Minute)
				if n := d.count("backlog") - before; n > 24 {
					t.Errorf("%d rounds in 10 minutes, want one in 30 s", n)
				}
			})
		})
	}
}

// TestNobodyTouchedWhatIsObservedAgain: the cards that an adoption has observed once more are
// visited by the tour alone.
func TestNobodyTouchedWhatIsObservedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const cards = 300
		w, d := linkedDesk(t, cards, longAgo)
		go w.poller.Run(t.Context())
		pass(time.Hour)
		d.visited()
		w.store.writes()
		w.adopted()
		pass(10 * time.Minute)
		if observed, _, _ := w.store.writes(); len(observed) < cards {
			t.Fatalf("%d cards are observed again, want %d", len(observed), cards)
		}
		if n := d.visited(); n > cards/3 {
			t.Errorf("%d visits in 10 minutes, want those of the tour", n)
		}
	})
}

// TestWhatPeopleTouchComesFirst: where all links were just agreed upon, a card that somebody
// edits now is still visited within seconds.
func TestWhatPeopleTouchComesFirst(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	synctest.Test(t, func(t *testing.T) {
		w, d := linkedDesk(t, 300, justNow)
		w.adopted()
		go w.poller.Run(t.Context())
		pass(15 * time.Minute)
		changed := append([]mapping.Card(nil), d.buckets[0].cards...)
		changed[299] = card("c299", version(2))
		d.put(incoming, "Incoming", changed...)
		pass(2 * time.Minute)
		for range 20 {
			d.edit("c299")
			pass(time.Minute)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if took, seen := d.took["task of c299"]; !seen || took > 15*time.Second {
			t.Errorf("an edit was seen after %s (%t), want 15 s", took, seen)
		}
	})
}

// finding counts how often links are looked for.
type finding struct {
	store.Store
	mu    sync.Mutex
	finds int
}

func (s *finding) Find(ctx context.Context, p mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error) {
	s.mu.Lock()
	s.finds++
	s.mu.Unlock()
	return s.Store.Find(ctx, p, ref)
}

// TestCardsWithoutALink: an edit of a card that has no link, or none with tasks, is looked
// at once.
func TestCardsWithoutALink(t *testing.T) {
	for name, link := range map[string]bool{"no link": false, "a link without tasks": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, d := linkedDesk(t, 0, nil)
				found := &finding{Store: w.store}
				w.options.Store = found
				w.restart()
				w.adopted()
				d.put(incoming, "Incoming", card("lone"))
				w.poll()
				w.poll()
				if link {
					w.link(card("lone"))
				}
				go w.poller.Run(t.Context())
				pass(time.Minute)
				d.put(incoming, "Incoming", card("lone", version(2)))
				pass(30 * time.Minute)
				found.mu.Lock()
				defer found.mu.Unlock()
				if found.finds > 2 {
					t.Errorf("its link was looked for %d times", found.finds)
				}
			})
		})
	}
}
