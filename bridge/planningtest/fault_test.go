package planningtest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/planningtest"
)

// TestFaultsOnAnUpdate shows each kind of fault by what the client sees and
// whether the update had its effect.
func TestFaultsOnAnUpdate(t *testing.T) {
	for _, c := range []struct {
		fault  planningtest.Fault
		status int // 0: no answer
		effect bool
	}{
		{planningtest.Fault{Kind: planningtest.Before}, 500, false},
		{planningtest.Fault{Kind: planningtest.Before, Status: 429, Header: http.Header{"Retry-After": {"7"}}}, 429, false},
		{planningtest.Fault{Kind: planningtest.After, Status: 502, Body: "bad gateway"}, 502, true},
		{planningtest.Fault{Kind: planningtest.Drop}, 0, true},
		{planningtest.Fault{Kind: planningtest.DropBefore}, 0, false},
		{planningtest.Fault{Kind: planningtest.Garbage}, 200, true},
		{planningtest.Fault{Kind: planningtest.Truncate}, 0, true},
		{planningtest.Fault{Kind: planningtest.Delay, Delay: time.Millisecond}, 200, true},
	} {
		t.Run(string(c.fault.Kind), func(t *testing.T) {
			w := newWorld(t, planningtest.Options{})
			id := w.newCard(planningtest.CardSpec{Title: "A"})
			c.fault.Op = planningtest.OpCardUpdate
			f := w.s.Fault(c.fault)
			w.get("/items/" + id)
			r, err := w.try("PUT", "/items/"+id, `{"username":"bridge","title":{"value":"B","version":0}}`)
			if (err != nil) != (c.status == 0) || err == nil && r.status != c.status {
				t.Errorf("answer %d %v, want %d", r.status, err, c.status)
			}
			if effect := w.p.Card(id).Title == "B"; effect != c.effect {
				t.Errorf("effect is %v, want %v", effect, c.effect)
			}
			if c.fault.Kind == planningtest.Garbage && (r.json != nil || !strings.HasPrefix(r.text, "<!doctype")) {
				t.Errorf("garbage is %q", r.text)
			}
			if c.fault.Body != "" && r.text != c.fault.Body {
				t.Errorf("body %q", r.text)
			}
			if want := c.fault.Header.Get("Retry-After"); r.header.Get("Retry-After") != want {
				t.Errorf("Retry-After %q, want %q", r.header.Get("Retry-After"), want)
			}
			if f.Count() != 1 {
				t.Errorf("met by %d calls, want 1", f.Count())
			}
			journal := w.s.Journal()
			if last := journal[len(journal)-1]; last.Fault != c.fault.Kind || last.Status != c.status && c.fault.Kind != planningtest.Truncate {
				t.Errorf("journal says %+v", last)
			}
			w.put("/items/"+id, `{"username":"bridge","title":{"value":"C","version":-1}}`)
		})
	}
}

func TestHeldCallsAndLateEffects(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A"})
	update := `{"username":"bridge","title":{"value":"B","version":-1}}`

	late := w.s.Fault(planningtest.Fault{Op: planningtest.OpCardUpdate, Kind: planningtest.LateEffect})
	w.ask(504, "PUT", "/items/"+id, update)
	if got := w.p.Card(id).Title; got != "A" {
		t.Errorf("the effect came too early: %q", got)
	}
	late.Release()
	w.eventually("late effect", func() bool { return w.p.Card(id).Title == "B" })

	w.s.Fault(planningtest.Fault{Op: planningtest.OpCardUpdate, Kind: planningtest.LateEffect, Delay: time.Millisecond})
	w.ask(504, "PUT", "/items/"+id, strings.Replace(update, "B", "C", 1))
	w.eventually("late effect", func() bool { return w.p.Card(id).Title == "C" })

	held := w.s.Fault(planningtest.Fault{Op: planningtest.OpCardUpdate, Kind: planningtest.Delay})
	answered := make(chan error, 1)
	go func() {
		_, err := w.try("PUT", "/items/"+id, strings.Replace(update, "B", "D", 1))
		answered <- err
	}()
	w.eventually("the held call", func() bool { return held.Count() == 1 })
	if got := w.p.Card(id).Title; got != "C" {
		t.Errorf("the held call had its effect: %q", got)
	}
	held.Release()
	held.Release()
	if err := <-answered; err != nil || w.p.Card(id).Title != "D" {
		t.Errorf("after the release: %v, %q", err, w.p.Card(id).Title)
	}
}

func TestCloseForgetsWhatIsHeldBack(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A"})
	w.s.Fault(planningtest.Fault{Op: planningtest.OpCardUpdate, Kind: planningtest.LateEffect, Delay: time.Hour})
	w.ask(504, "PUT", "/items/"+id, `{"username":"bridge","title":{"value":"B","version":0}}`)
	held := w.s.Fault(planningtest.Fault{Op: planningtest.OpCardRead, Kind: planningtest.Delay})
	answered := make(chan error, 1)
	go func() {
		_, err := w.try("GET", "/items/"+id, "")
		answered <- err
	}()
	w.eventually("the held call", func() bool { return held.Count() == 1 })
	w.s.Close()
	w.s.Close()
	if err := <-answered; err == nil {
		t.Error("a closed server answered")
	}
	if got := w.p.Card(id).Title; got != "A" {
		t.Errorf("title %q", got)
	}
}

func TestPartialBatch(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	w.s.Fault(planningtest.Fault{Op: planningtest.OpCardCreate, Kind: planningtest.PartialBatch, N: 2})
	batch := `[{"username":"bridge","title":{"value":"1"}},{"username":"bridge","title":{"value":"2"}},
		{"username":"bridge","title":{"value":"3"}}]`
	w.ask(500, "POST", w.bucketPath("Bugs"), batch)
	if n := len(w.p.Cards()); n != 2 {
		t.Errorf("%d cards made, want 2", n)
	}
	w.post(w.bucketPath("Bugs"), batch)
	if n := len(w.p.Cards()); n != 5 {
		t.Errorf("%d cards, want 5", n)
	}
}

func TestCutListings(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	ids := w.p.AddCards("Incoming", 6)
	sp := w.p.NewSprint(planningtest.SprintSpec{Title: "S"})
	w.p.MoveToSprint(ids[4], sp)
	w.p.MoveToSprint(ids[5], sp)
	w.p.NewTask(ids[0], "alice", planningtest.TaskSpec{Title: "T"})
	w.p.NewTask(ids[0], "alice", planningtest.TaskSpec{Title: "U"})
	paths := []string{w.bucketPath("Incoming"), "/backlog/buckets", "/iterations/" + sp + "/items", "/items/" + ids[0] + "/tasks"}
	for kind, want := range map[planningtest.FaultKind][]int{
		planningtest.EmptyListing: {0, 0, 0, 0},
		planningtest.HalfListing:  {2, 1, 1, 1},
	} {
		f := w.s.Fault(planningtest.Fault{Kind: kind, Times: -1})
		for i, path := range paths {
			if got := w.get(path).len(); got != want[i] {
				t.Errorf("%s of %s: %d elements, want %d", kind, path, got, want[i])
			}
		}
		items := w.get("/backlog/items") // its buckets stay, for that is the listing that looks complete
		if kind == planningtest.EmptyListing {
			w.want(items, map[string]string{"0.items": "[]", "1.bucket": `"Bugs"`})
		} else {
			w.want(items, map[string]string{"0.items.1.title.value": `"Card 2"`, "0.items.2": "(none)"})
		}
		f.Remove()
	}
}

func TestFaultsAreMatched(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A"})
	reads := w.s.Fault(planningtest.Fault{
		Kind: planningtest.Before, Times: 2, Status: 503,
		Match: func(method, path string) bool { return method == "GET" && strings.HasSuffix(path, id) },
	})
	w.get("")
	w.ask(503, "GET", "/items/"+id, "")
	w.ask(503, "GET", "/items/"+id, "")
	w.get("/items/" + id)
	forever := w.s.Fault(planningtest.Fault{Kind: planningtest.Before, Times: -1})
	for range 5 {
		w.ask(500, "GET", "", "")
	}
	forever.Remove()
	w.get("")
	if reads.Count() != 2 || forever.Count() != 5 {
		t.Errorf("met by %d and %d calls", reads.Count(), forever.Count())
	}
}
