package reconcile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
	"planbridge/store"
)

// folded is the usual time in which edits are folded.
const folded = 2 * time.Second

// drawFold folds edits, or does not.
func drawFold(rt *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(0, 1).Draw(rt, "coalesce")) * folded
}

// A flood is what a person, or one program, does to one item: so many edits within
// so long.
const (
	floodEdits = 813
	floodTime  = 25 * time.Second
)

// flood makes appointments for edits, evenly spread, and returns when the last one is.
func (w *world) flood(edit func(n int)) (end time.Time) {
	for n := range floodEdits {
		w.after(time.Duration(n)*floodTime/floodEdits, func() { edit(n) })
	}
	return time.Now().Add(time.Duration(floodEdits-1) * floodTime / floodEdits)
}

// takeTime has each call to a service take a while, in which people go on.
func (w *world) takeTime(each time.Duration) {
	w.faults.armed = true
	w.faults.at = -1
	w.faults.before = func(_ int, p point) {
		if p.kind != "store" {
			time.Sleep(each)
			w.keepAppointments()
		}
	}
}

// spent counts the calls to a kind of thing by their names.
func (w *world) spent(names ...string) (n int) {
	for _, p := range w.faults.points {
		for _, name := range names {
			if p.name == name {
				n++
			}
		}
	}
	return n
}

var hubCalls = []string{"Issue", "EditIssue", "AddLabels", "RemoveLabel", "Comments", "CreateComment", "Edits"}

// stepUntil lets time pass until something is so, or for so long.
func (w *world) stepUntil(end time.Time, so func() bool) bool {
	for !so() && len(w.errs) == 0 && time.Now().Before(end) {
		w.step()
	}
	return so()
}

func (w *world) failures() []store.Failure {
	failures, err := w.store.Failures(context.Background(), project, 10)
	w.check(err)
	return failures
}

// TestManyEditsAreFolded: 813 edits of one item within 25 s cost few writes and few calls of
// GitHub. The last one crosses soon, and nothing is parked.
func TestManyEditsAreFolded(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	title := func(w *world) func(int) {
		return func(n int) { w.editIssue(mapping.Title, to(fmt.Sprint("tok", 100+n))) }
	}
	text := func(w *world) func(int) {
		return func(n int) { w.editIssue(mapping.Summary, line(fmt.Sprint("tok", 99+n), fmt.Sprint("tok", 100+n))) }
	}
	label := func(w *world) func(int) {
		return func(n int) {
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = []string{"points/3", fmt.Sprint("label", n)} })
		}
	}
	card := func(w *world) func(int) {
		return func(n int) { w.editCard(mapping.Title, to(fmt.Sprint("tok", 100+n))) }
	}
	both := func(w *world) func(int) {
		return func(n int) {
			if n%2 == 0 {
				w.editIssue(mapping.Summary, line(fmt.Sprint("tok", 98+n), fmt.Sprint("tok", 100+n)))
			} else {
				w.editCard(mapping.Title, to(fmt.Sprint("tok", 100+n)))
			}
		}
	}
	for name, c := range map[string]struct {
		edit      func(*world) func(int)
		direction mapping.Direction
	}{
		"titles on GitHub":                {title, mapping.Both},
		"texts on GitHub":                 {text, mapping.Both},
		"labels that do not cross":        {label, mapping.Both},
		"titles that must not cross":      {title, mapping.ToGitHub},
		"titles in planning":              {card, mapping.Both},
		"texts on GitHub, titles on both": {both, mapping.Both},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := inWorld(t, func(w *world) {
				w.coalesce, w.every = folded, 2*time.Second
				w.restart()
				w.agree()
				w.route.Direction = c.direction
				w.restart()
				w.settle()
				w.takeTime(20 * time.Millisecond)
				end := w.flood(c.edit(w))
				w.stepUntil(end, func() bool { return false })
				crossed := w.stepUntil(end.Add(35*time.Second), func() bool { return c.direction != mapping.Both || w.equal() })
				w.settle()
				puts, calls := w.spent("UpdateCard", "UpdateTask"), w.spent(hubCalls...)
				t.Logf("%d edits: %d PUTs, %d calls of GitHub", floodEdits, puts, calls)
				if !crossed || puts > 25 || calls > 40 || len(w.failures()) > 0 {
					w.fail("%d PUTs and %d calls of GitHub, crossed within 35 s: %v, failures %v", puts, calls, crossed, w.failures())
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// equal reports whether title and text are the same on both sides.
func (w *world) equal() bool {
	g, p := w.views()
	return mapping.Equal(mapping.Title, g[mapping.Title].Value, p[mapping.Title].Value) &&
		mapping.Equal(mapping.Summary, g[mapping.Summary].Value, p[mapping.Summary].Value)
}

// TestFirstEditCrossesAtOnce: only further edits wait, and each first one after a quiet while goes
// at once. Waiting edits are written when they are due, also by another process.
func TestFirstEditCrossesAtOnce(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.coalesce = folded
		w.restart()
		w.agree()
		crossing := func(title string) time.Duration {
			w.editIssue(mapping.Title, to(title))
			began := time.Now()
			w.stepUntil(began.Add(time.Minute), func() bool { return w.card().Title.Value == title })
			return time.Since(began)
		}
		const told = time.Second // how long the event takes, at most
		for n, c := range []struct {
			quiet       time.Duration
			least, most time.Duration
		}{
			{time.Hour, 0, told},
			{0, folded - told, folded + told},
			{0, 2*folded - told, 2*folded + told},
			{4 * folded, 0, told}, // so long was the fold
			{folded, 0, told},
		} {
			time.Sleep(c.quiet)
			if n == 2 {
				w.restart()
			}
			if took := crossing(fmt.Sprint("tok", 100+n)); took < c.least || took > c.most {
				w.fail("edit %d crossed after %s, want %s to %s", n, took, c.least, c.most)
			}
		}
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok104"}})
	})
}

// TestWhatIsPutOffIsNotForgotten: findings of a claim that then was put off to be folded are
// handled when its time comes.
func TestWhatIsPutOffIsNotForgotten(t *testing.T) {
	t.Parallel()
	soon := 600 * time.Millisecond // once the events came
	for name, c := range map[string]struct {
		before, do func(*world)
		tasks      string
		end        func(*world) string
	}{
		"a milestone that was taken off": {both(linked, intoSprint()), func(w *world) {
			w.plans(func(c *mapping.Card) { c.Counters = &mapping.Counters{Status: "done"} })
			w.poll()
			w.after(soon, func() { w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Milestone = 0 }) })
		}, "", func(w *world) string { return fmt.Sprint("milestone ", w.issue().Milestone) }},
		"a line that came back to a task that changed": {listed, func(w *world) {
			body := w.issue().Body
			w.editIssue(mapping.Summary, func(was string) string {
				all := mapping.Items(was)
				all[0].Remove = true
				return mapping.SetItems(was, all[:1])
			})
			w.after(soon, func() {
				w.setTask(w.plan.tasks[1].Title.Value, func(t *mapping.Task) { t.State.Value = mapping.StateDone })
				w.poll()
			})
			w.after(2*soon, func() { w.editCard(mapping.Title, to("tok9")); w.poll() })
			w.after(4*soon, func() { w.editIssue(mapping.Summary, to(body)) })
		}, mapping.TasksChecklist, func(w *world) string { return w.issue().Body }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends := map[time.Duration]string{}
			for _, coalesce := range []time.Duration{0, folded} {
				passes(t, func(w *world) {
					w.coalesce = coalesce
					if c.tasks != "" {
						w.route.Tasks = c.tasks
					}
					w.restart()
					c.before(w)
					w.settle()
					c.do(w)
					w.settle()
					ends[coalesce] = c.end(w)
				})
			}
			if ends[0] != ends[folded] {
				t.Errorf("unfolded it ended as %s, folded as %s", ends[0], ends[folded])
			}
		})
	}
}

// TestAnswersAreNotFolded: while edits of a text are folded, an operator's answer
// about the title is carried out at once.
func TestAnswersAreNotFolded(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	passes(t, func(w *world) {
		w.coalesce, w.every = folded, 2*time.Second
		w.route.Policies = map[mapping.Attribute]mapping.Policy{mapping.Title: mapping.PolicyAsk}
		w.restart()
		w.agree()
		w.editIssue(mapping.Title, to("tok2"))
		w.editCard(mapping.Title, to("tok3"))
		w.settle()
		asked := w.conflicts()
		if len(asked) != 1 {
			w.fail("asked about %+v", asked)
			return
		}
		w.flood(func(n int) {
			w.editIssue(mapping.Summary, line(fmt.Sprint("tok", 99+n), fmt.Sprint("tok", 100+n)))
		})
		w.stepUntil(time.Now().Add(20*time.Second), func() bool { return false })
		c := asked[0]
		c.State, c.Winner = mapping.ConflictAnswered, mapping.GitHub
		w.check(w.store.PutConflict(context.Background(), c))
		w.check(w.store.Enqueue(context.Background(), store.Key{Project: project, Link: c.Link}, 0, false))
		if !w.stepUntil(time.Now().Add(time.Second), func() bool { return w.card().Title.Value == "tok2" }) {
			w.fail("the answer was not carried out: %s", w.card().Title.Value)
		}
		w.settle()
	})
}
