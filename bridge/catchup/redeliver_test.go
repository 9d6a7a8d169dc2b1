package catchup_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/catchup"
	"planbridge/mapping"
)

// hooks is GitHub's log of deliveries in memory, newest first, by owner.
type hooks struct {
	hooks  map[string][]catchup.Hook
	log    []catchup.Delivery
	errs   map[string]error // by owner, or by "redeliver"
	down   bool
	arrive bool // a repeated delivery arrives; else it fails again
	looks  int  // listings of deliveries
	lists  map[string]int
	asked  []string // GUIDs
}

func (h *hooks) Down() bool { return h.down }

func (h *hooks) ListHooks(_ context.Context, owner string) ([]catchup.Hook, error) {
	h.lists[owner]++
	return h.hooks[owner], h.errs[owner]
}

func (h *hooks) Deliveries(_ context.Context, _ string, _ int64, since time.Time) ([]catchup.Delivery, error) {
	h.looks++
	return slices.DeleteFunc(slices.Clone(h.log), func(d catchup.Delivery) bool { return d.At.Before(since) }), nil
}

func (h *hooks) Redeliver(_ context.Context, _ string, _, id int64) error {
	if err := h.errs["redeliver"]; err != nil {
		return err
	}
	i := slices.IndexFunc(h.log, func(d catchup.Delivery) bool { return d.ID == id })
	again := h.log[i]
	h.asked = append(h.asked, again.GUID)
	h.deliver(again.GUID, again.Event, h.arrive, true)
	return nil
}

func (h *hooks) deliver(guid, event string, ok, again bool) {
	h.log = slices.Insert(h.log, 0, catchup.Delivery{
		ID: int64(len(h.log) + 1), GUID: guid, Event: event, OK: ok, Redelivery: again, At: time.Now().UTC().Truncate(time.Second),
	})
}

// redelivering runs f beside a GitHub whose repository acme/web has our hook.
func redelivering(t *testing.T, f func(w *catchUpWorld, h *hooks)) {
	synctest.Test(t, func(t *testing.T) {
		w := newCatchUp(t)
		h := &hooks{
			hooks: map[string][]catchup.Hook{"acme/web": {
				{ID: 7, URL: "https://bridge.example.com/webhooks/github", Active: true}, {ID: 8, URL: "https://ci.example.com/hook", Active: true},
			}},
			errs: map[string]error{}, lists: map[string]int{},
		}
		began := time.Now()
		w.options.Hooks, w.options.FirstRun = h, func(string) time.Time { return began }
		w.catchUp = w.options.catchUp()
		f(w, h)
	})
}

func (w *catchUpWorld) redeliver() {
	w.t.Helper()
	time.Sleep(5 * time.Minute)
	if err := w.catchUp.Redeliver(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func TestFailedDeliveriesAreAskedForAgain(t *testing.T) {
	redelivering(t, func(w *catchUpWorld, h *hooks) {
		h.arrive = true
		h.deliver("fine", "issues", true, false)
		h.deliver("failed", "issues", false, false)
		h.deliver("not ours to read", "push", false, false)
		h.deliver("came by hand", "issues", false, false)
		h.deliver("came by hand", "issues", true, true)
		h.deliver("child", "sub_issues", false, false)
		for range 3 {
			w.redeliver()
		}
		if want := []string{"failed", "child"}; !slices.Equal(h.asked, want) {
			t.Errorf("asked for %v, want %v", h.asked, want)
		}
	})
}

// TestRedeliveryGivesUp: an event that never arrives is given up after three times, also by
// replicas that take over from each other. It does not hold up others.
func TestRedeliveryGivesUp(t *testing.T) {
	redelivering(t, func(w *catchUpWorld, h *hooks) {
		h.deliver("never", "issues", false, false)
		for n := range 8 {
			w.catchUp = w.options.catchUp()
			w.redeliver()
			if n == 5 {
				h.deliver("later", "issues", false, false)
			}
		}
		if want := []string{"never", "never", "never", "later", "later"}; !slices.Equal(h.asked, want) {
			t.Errorf("asked for %v, want %v", h.asked, want)
		}
	})
}

// Failed deliveries of several days without the bridge come back a bounded number at a time, the
// oldest first.
func TestRedeliveryIsBounded(t *testing.T) {
	redelivering(t, func(w *catchUpWorld, h *hooks) {
		h.arrive = true
		w.redeliver()
		for n := range 50 {
			h.deliver(fmt.Sprintf("d%02d", n), "issues", false, false)
		}
		for round, want := range []int{20, 40, 50, 50} {
			w.redeliver()
			if len(h.asked) != want || !slices.IsSorted(h.asked) {
				t.Errorf("round %d: asked for %d: %v", round, len(h.asked), h.asked)
			}
		}
	})
}

// An idle hook costs one listing an interval, whichever replica looks.
func TestIdleHookIsLookedAtOnceAnInterval(t *testing.T) {
	redelivering(t, func(w *catchUpWorld, h *hooks) {
		for range 10 {
			if err := w.catchUp.Redeliver(w.t.Context()); err != nil {
				t.Fatal(err)
			}
			w.catchUp = w.options.catchUp()
			time.Sleep(time.Minute)
		}
		if h.looks != 2 {
			t.Errorf("%d listings in ten minutes", h.looks)
		}
		h.down = true
		w.redeliver()
		if h.looks != 2 {
			t.Error("GitHub was asked while it is away")
		}
	})
}

// A token that may not see the hooks is no error: it is said once a day.
func TestHooksThatAreNotShown(t *testing.T) {
	redelivering(t, func(w *catchUpWorld, h *hooks) {
		h.errs["acme"], h.errs["acme/web"] = mapping.ErrNotFound, mapping.ErrForbidden
		for range 280 {
			w.redeliver()
		}
		if h.lists["acme"] != 1 || h.lists["acme/web"] != 1 {
			t.Errorf("asked %v times in a day", h.lists)
		}
		if n := strings.Count(w.log.String(), "does not show the hooks"); n != 2 {
			t.Errorf("said %d times: %s", n, w.log.String())
		}
		delete(h.errs, "acme/web")
		for range 10 {
			w.redeliver()
		}
		if h.looks == 0 {
			t.Error("never tried again")
		}
	})
}

// A look that failed halfway is no look: events left out in one round are asked for in the next.
func TestRedeliveryAfterAFailure(t *testing.T) {
	redelivering(t, func(w *catchUpWorld, h *hooks) {
		h.arrive = true
		h.deliver("failed", "issues", false, false)
		h.errs["redeliver"] = mapping.ErrUnavailable
		time.Sleep(5 * time.Minute)
		if err := w.catchUp.Redeliver(w.t.Context()); err == nil {
			t.Error("no error")
		}
		delete(h.errs, "redeliver")
		w.redeliver()
		if !slices.Equal(h.asked, []string{"failed"}) {
			t.Errorf("asked for %v", h.asked)
		}
	})
}
