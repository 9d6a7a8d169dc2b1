package poll_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
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

// workday is a planning project in which people work for six hours of a day, in virtual
// time. Each answer takes a while, and has as many bytes as its listing.
type workday struct {
	*service
	random *rand.Rand
	took   time.Duration // of each call
	calls  int
	bytes  int

	edited map[mapping.ObjectID]time.Time // edits that no round has shown, by card
	waited []time.Duration                // from an edit to when it was stored, of those while somebody worked
	live   map[mapping.ObjectID]bool      // edits that were made while somebody worked
}

const (
	cardBytes   = 1500
	sprintBytes = 600
)

func (w *workday) answer(bytes int) {
	<-time.After(w.took)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls, w.bytes = w.calls+1, w.bytes+bytes
}

func (w *workday) BacklogNews(ctx context.Context, since string, known func(mapping.ObjectID, string, []byte, []byte) bool, visit func(mapping.ObjectID, string, mapping.Card) error) (string, bool, error) {
	cards := 0
	for _, b := range w.buckets {
		cards += len(b.cards)
	}
	w.answer(cards * cardBytes)
	return w.service.BacklogNews(ctx, since, known, visit)
}

func (w *workday) Sprints(ctx context.Context) ([]poll.Sprint, error) {
	w.answer(len(w.sprints) * sprintBytes)
	return w.service.Sprints(ctx)
}

func (w *workday) SprintItems(ctx context.Context, id mapping.ObjectID) ([]mapping.Card, []mapping.Task, error) {
	w.answer(len(w.items[id].cards) * cardBytes)
	return w.service.SprintItems(ctx, id)
}

// edit edits a card of the backlog or of the active sprint.
func (w *workday) edit(live bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cards := w.buckets[0].cards
	if len(w.sprints) > 0 && w.random.IntN(2) == 0 {
		cards = w.items[w.sprints[0].ID].cards
	}
	c := &cards[w.random.IntN(len(cards))]
	c.Version++
	c.Title = mapping.Versioned{Value: fmt.Sprint("Edit ", c.Version), Version: c.Version}
	if _, waits := w.edited[c.ID]; !waits {
		w.edited[c.ID], w.live[c.ID] = time.Now(), live
	}
}

// stored notes when an edit reached the store, from where it is written to GitHub.
func (w *workday) stored(card mapping.ObjectID) {
	if at, ok := w.edited[card]; ok && w.live[card] {
		w.waited = append(w.waited, time.Since(at))
	}
	delete(w.edited, card)
}

// watched tells the workday what is observed.
type watched struct {
	store.Store
	day *workday
}

func (s watched) Observe(ctx context.Context, p mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	for i := range obs {
		s.day.stored(mapping.ObjectID(obs[i].Item.ID()))
	}
	return s.Store.Observe(ctx, p, obs)
}

// share is a value that so much of the sorted durations is at most.
func share(all []time.Duration, of float64) time.Duration {
	slices.Sort(all)
	return all[int(of*float64(len(all)-1))]
}

// spend lets a day pass: six hours of work, edits at random with pauses of at most five
// minutes, and eighteen hours of rest.
func spend(t *testing.T, sprints int, shortest time.Duration) *workday {
	day := &workday{
		service: &service{items: map[mapping.ObjectID]listing{}, tasks: map[mapping.ObjectID][]mapping.Task{}, fails: map[string]error{}},
		random:  rand.New(rand.NewPCG(18, uint64(sprints))), took: 100 * time.Millisecond,
		edited: map[mapping.ObjectID]time.Time{}, live: map[mapping.ObjectID]bool{},
	}
	for i := range sprints {
		s := poll.Sprint{ID: mapping.ObjectID(fmt.Sprint("sprint-", i)), Active: i == 0, Future: i > 0}
		day.sprints = append(day.sprints, s)
		day.items[s.ID] = listing{cards: []mapping.Card{card(fmt.Sprint("s", i, "a")), card(fmt.Sprint("s", i, "b"))}}
	}
	day.put(incoming, "Incoming", card("a"), card("b"), card("c"), card("d"), card("e"), card("f"))
	w := &world{
		t: t, planned: day.service, routes: []mapping.Route{route("web", "Incoming")}, log: &logtest.Text{},
		store: &counting{Store: watched{memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil), day}},
	}
	w.setOptions()
	w.options.Planning, w.options.MinInterval, w.options.Logger = day, shortest, slog.New(slog.DiscardHandler)
	w.restart()
	w.adopted()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.poller.Run(ctx) }()
	pass(time.Minute)
	day.mu.Lock()
	day.calls, day.bytes = 0, 0
	day.mu.Unlock()

	end := time.Now().Add(6 * time.Hour)
	for first := true; time.Now().Before(end); first = false {
		day.edit(!first)
		pass(time.Duration(min(day.random.ExpFloat64()*float64(time.Minute), float64(4*time.Minute+30*time.Second))))
	}
	pass(18 * time.Hour)
	if len(day.edited) > 0 {
		t.Errorf("%d edits were never seen", len(day.edited))
	}
	stop()
	<-done
	return day
}

// TestAWorkingDay: consecutive edits of people are seen in seconds. They cost at most twice the
// calls and three times the bytes of rounds at the longest pause.
func TestAWorkingDay(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	for _, sprints := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(sprints, " sprints"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fixed, paced := spend(t, sprints, 0), spend(t, sprints, 2*time.Second)
				half, most := share(paced.waited, 0.5), share(paced.waited, 0.95)
				calls, bytes := float64(paced.calls)/float64(fixed.calls), float64(paced.bytes)/float64(fixed.bytes)
				t.Logf("%d edits: median %s, 95th percentile %s (fixed: %s, %s); %.2f times the calls, %.2f times the bytes",
					len(paced.waited), half, most, share(fixed.waited, 0.5), share(fixed.waited, 0.95), calls, bytes)
				if half > 2800*time.Millisecond || most > 5500*time.Millisecond {
					t.Errorf("edits are seen after %s, 95 of 100 within %s", half, most)
				}
				if calls > 2 || bytes > 3 {
					t.Errorf("%.2f times the calls and %.2f times the bytes of a fixed pause", calls, bytes)
				}
			})
		})
	}
}

// halves draws the middle.
type halves struct{ clock.Runtime }

// Int64N implements [clock.Source].
func (halves) Int64N(n int64) int64 { return n / 2 }

// TestALightRound reads the backlog and the active sprint alone, and believes no listing
// that shows an older version than one before it.
func TestALightRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.adopted()
		w.planned.sprints = []poll.Sprint{{ID: "active", Active: true}, {ID: "future", Future: true}}
		both := card("b", version(3))
		w.planned.items["active"] = listing{cards: []mapping.Card{both}}
		w.planned.put(incoming, "Incoming", card("a"), both)
		w.options.MinInterval, w.options.Clock = 2*time.Second, halves{}
		w.restart()
		go w.poller.Run(t.Context())
		pass(time.Minute)
		w.planned.put(incoming, "Incoming", card("a", version(2)), both)
		pass(40 * time.Second)
		w.store.writes()
		sprints, future, active := w.planned.count("sprints"), w.planned.count("sprint future"), w.planned.count("sprint active")

		stale, newer := card("b", version(2)), card("a", version(5))
		w.planned.put(incoming, "Incoming", newer, stale)
		w.planned.list("active", stale)
		pass(10 * time.Second)
		if s, f := w.planned.count("sprints"), w.planned.count("sprint future"); s != sprints || f != future {
			t.Errorf("the sprints were listed %d times and the future one %d times in 10 s", s-sprints, f-future)
		}
		if n := w.planned.count("sprint active"); n < active+2 {
			t.Errorf("the active sprint was read %d times in 10 s", n-active)
		}
		observed, _, _ := w.store.writes()
		if len(observed) != 1 || observed[0].Item != mapping.CardRef("a") || observed[0].At != 5 {
			t.Errorf("observed are %v, want the newer card alone", observed)
		}
	})
}
