package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// A sub-issue becomes a task though its parent has to wait for a read that does
// not lag, before anything was seen of the card.
func TestSubIssueOfAParentThatWaits(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		withTasks(w)
		w.restart()
		w.agree()
		w.hub.lag = func(int) time.Duration { return 30 * time.Second }
		w.openSub(0, "tok5", "")
		w.after(20*time.Second, func() {
			w.hub.lag, w.hub.stale = nil, 15*time.Second
			w.editIssue(mapping.Title, to("tok9"))
		})
		w.after(30*time.Second, func() { w.look(w.link(), true) })
		w.after(time.Minute, func() { w.hub.stale = 0 })
		w.settle()
		if strings.Contains(w.log.String(), "panic") {
			w.fail("a panic")
		}
		w.verifyFamily(1, member{title: "tok5", state: mapping.StateTodo})
	})
}

// TestSubIssueAfterOtherFaults: a parent that cannot be read once is read again, however many
// attempts other faults have taken. A sub-issue that has become a card stays one.
func TestSubIssueAfterOtherFaults(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		withTasks(w)
		w.restart()
		w.agree()
		var lostOnes, unread int
		parentRead := false
		w.faults.armed = true
		w.faults.draw = func(p point) fate {
			switch {
			case p.name == "Parent" && lostOnes == 2 && unread == 0:
				unread++
				return unavailable
			case p.name == "Parent":
				parentRead = true
			case parentRead && p.name == "Observe" && lostOnes < 2:
				lostOnes++
				return lost
			}
			return ""
		}
		w.openSub(0, "tok5", "")
		w.settle()
		if lostOnes != 2 || unread != 1 {
			w.fail("%d and %d faults", lostOnes, unread)
		}
		w.verifyFamily(1, member{title: "tok5", state: mapping.StateTodo})
	})
}

// TestReadsOfTwoSubIssuesEnd: two sub-issues were edited several times within one second. The
// read of one is folded while the other one is read: each is read once for what was seen.
func TestReadsOfTwoSubIssuesEnd(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		withTasks(w)
		w.coalesce = folded
		w.restart()
		w.agree()
		for _, title := range []string{"tok5", "tok6"} {
			w.openSub(0, title, "")
		}
		w.settle()
		edits := 0
		twice := func(title string) func() {
			return func() {
				for range 2 {
					edits++
					w.hub.change(w.issueOf(title), dev, func(i *mapping.Issue) { i.Labels = []string{fmt.Sprint("label", edits)} })
				}
			}
		}
		second := time.Until(time.Now().Truncate(time.Second).Add(10 * time.Second))
		w.after(second, twice("tok5"))
		for _, title := range []string{"tok5", "tok6"} {
			w.after(second+1100*time.Millisecond, twice(title))
		}
		w.settle()
		w.verifyFamily(1, member{title: "tok5", state: mapping.StateTodo}, member{title: "tok6", state: mapping.StateTodo})
	})
}
