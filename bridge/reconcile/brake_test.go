package reconcile_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"planbridge/mapping/mappingtest"

	dto "github.com/prometheus/client_model/go"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// TestBrakeOnCreates: items over a route's bound wait, and all of them are made in the end.
func TestBrakeOnCreates(t *testing.T) {
	t.Parallel()
	const issues, perMinute = 12, 5
	passes(t, func(w *world) {
		w.brakes = reconcile.Brakes{CreatesPerMinute: perMinute}
		w.restart()
		for n := range issues {
			w.openIssue(fmt.Sprint("tok", n), "text")
		}
		began, early := time.Now(), 0
		for len(w.plan.cards) < issues && len(w.errs) == 0 && !w.step() {
			if time.Since(began) < 10*time.Second {
				early = len(w.plan.cards)
			}
		}
		took := time.Since(began)
		w.settle()
		w.verifyOneEach(issues)
		if least := (issues - perMinute - 1) * time.Minute / perMinute; early > perMinute+1 || took < least {
			w.fail("%d cards within 10 s, all after %s; want %d at first and %s", early, took, perMinute, least)
		}
	})
}

// TestBrakeOnCloses: planning is done with more cards at once than a route closes issues in a
// minute, by their tasks or by their reviews. Closes over the bound wait, are counted, and happen
// in the end; other changes do not wait with it.
func TestBrakeOnCloses(t *testing.T) {
	t.Parallel()
	const issues, perMinute = 12, 5
	for name, done := range map[string]func(*world, *mapping.Card){
		"by tasks": func(w *world, c *mapping.Card) {
			i := slices.IndexFunc(w.plan.tasks, func(t *mapping.Task) bool { return t.Owner == c.ID })
			w.editTask(w.plan.tasks[i], func(t *mapping.Task) { t.State.Value = mapping.StateDone })
		},
		"by reviews": func(_ *world, c *mapping.Card) {
			c.Review = "approved"
			c.Version++
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := inWorld(t, func(w *world) {
				w.brakes = reconcile.Brakes{ClosesPerMinute: perMinute}
				w.restart()
				for n := range issues {
					w.openIssue(fmt.Sprint("tok", n), "text")
				}
				w.settle()
				open := w.issueOf(w.card().Title.Value)
				w.editCard(mapping.Title, to("tok99"))
				for _, c := range w.plan.cards[1:] {
					done(w, c)
				}
				w.verifyCloses(issues-1, perMinute, func() bool { return open.Title == "tok99" })
				if open.State != "open" {
					w.fail("an issue whose card is not done is %s", open.State)
				}
				w.verifyOneEach(issues)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// verifyCloses lets time pass and demands that so many issues are closed. No minute has more closes
// than the route allows, and hardly any close comes later than allowed. Another change is done
// before the braked ones have their turn.
func (w *world) verifyCloses(issues, perMinute int, other func() bool) {
	var closed []time.Time
	before, braked := 0, 0
	for rest := false; !rest && len(w.errs) == 0; {
		rest = w.step()
		if was := braked; w.braked() > was+1 {
			w.fail("one look at one issue counts %d times as put off", w.braked()-was)
		}
		braked = w.braked()
		for range w.closed() - len(closed) {
			closed = append(closed, time.Now())
		}
		if !other() {
			before = len(closed)
		}
	}
	if len(closed) != issues || before > perMinute {
		w.fail("%d issues are closed, want %d; %d of them before the other change", len(closed), issues, before)
		return
	}
	for n := range issues - perMinute {
		if within := closed[n+perMinute].Sub(closed[n]); within < time.Minute {
			w.fail("%d issues were closed within %s", perMinute+1, within)
		}
	}
	minutes := time.Duration((issues-1)/perMinute) * time.Minute
	if took := closed[issues-1].Sub(closed[0]); took > minutes+time.Minute {
		w.fail("all were closed in %s, want little more than %s", took, minutes)
	}
	if braked < issues-perMinute {
		w.fail("%d closes were counted as put off, want %d or more", braked, issues-perMinute)
	}
}

// braked is how many closes the route's brake has put off.
func (w *world) braked() int {
	var m dto.Metric
	w.check(w.recon.Metrics.Counters[reconcile.CountBraked].WithLabelValues("web", "closes").Write(&m))
	return int(m.GetCounter().GetValue())
}

// closed is how many issues are.
func (w *world) closed() (n int) {
	for _, i := range w.hub.issues {
		if i.State == "closed" {
			n++
		}
	}
	return n
}

// TestBrakeCountsItems: a checklist makes no more tasks in a minute than its route allows. They are
// asked for a hundred at a time, in few requests. Meanwhile another author's issue has its card at
// once.
func TestBrakeCountsItems(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	const lines, perMinute = 400, 120
	passes(t, func(w *world) {
		tasksOfItems(w)
		w.route.TrackingTask = false
		w.brakes = reconcile.Brakes{CreatesPerMinute: perMinute}
		w.restart()
		var body strings.Builder
		for n := range lines {
			fmt.Fprintf(&body, "- [ ] line %d\n", n)
		}
		requests := 0
		w.faults.armed = true
		w.faults.draw = func(p point) fate {
			if p.name == "CreateTasks" {
				requests++
			}
			return ""
		}
		w.hub.open("mallory", reconcile.NewIssue{Title: "tok1", Body: body.String()})
		var made []time.Time
		other := time.Time{}
		for began := time.Now(); len(w.plan.tasks) < lines && time.Since(began) < time.Hour && len(w.errs) == 0; {
			w.step()
			for range len(w.plan.tasks) - len(made) {
				made = append(made, time.Now())
			}
			if other.IsZero() && time.Since(began) > 20*time.Second {
				other = time.Now()
				w.hub.open("alice", reconcile.NewIssue{Title: "tok2"})
			}
			if late := !other.IsZero() && time.Since(other) > 5*time.Second; late && len(w.plan.cards) < 2 {
				w.fail("%v after it was opened another author's issue has no card", time.Since(other))
			}
		}
		most := 0
		for i := range made {
			n := sort.Search(len(made), func(j int) bool { return made[j].Sub(made[i]) >= time.Minute }) - i
			most = max(most, n)
		}
		if len(made) != lines || most > perMinute {
			w.fail("%d tasks were made, %d of them within a minute; want %d, %d a minute", len(made), most, lines, perMinute)
		}
		if requests > lines/10 {
			w.fail("%d tasks took %d requests", lines, requests)
		}
		t.Logf("%d tasks took %v, %d requests, at most %d in a minute", len(made), made[len(made)-1].Sub(made[0]), requests, most)
	})
}

// TestBrakeIsSharedByAuthors: of two authors whose issues wait for the route's brake,
// the one with few has them all before the other's flood is over.
func TestBrakeIsSharedByAuthors(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	const flood, few, perMinute = 60, 8, 12
	passes(t, func(w *world) {
		w.brakes = reconcile.Brakes{CreatesPerMinute: perMinute}
		w.restart()
		for n := range flood {
			w.hub.open("mallory", reconcile.NewIssue{Title: fmt.Sprint("flood", n)})
		}
		for began := time.Now(); time.Since(began) < 90*time.Second; {
			w.step()
		}
		began := time.Now()
		for n := range few {
			w.hub.open("alice", reconcile.NewIssue{Title: fmt.Sprint("few", n)})
		}
		of := func(prefix string) (n int) {
			for _, c := range w.plan.cards {
				if strings.HasPrefix(c.Title.Value, prefix) {
					n++
				}
			}
			return n
		}
		for of("few") < few && time.Since(began) < time.Hour && len(w.errs) == 0 {
			w.step()
		}
		t.Logf("%d cards beside a flood took %v, %d of its %d are made", few, time.Since(began), of("flood"), flood)
		if took := time.Since(began); took > 2*time.Minute || of("flood") > 3*perMinute {
			w.fail("%d cards took %v beside a flood, of which %d are made", few, took, of("flood"))
		}
		w.settle()
		w.verifyOneEach(flood + few)
	})
}
