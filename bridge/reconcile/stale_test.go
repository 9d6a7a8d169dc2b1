package reconcile_test

import (
	"context"
	"testing"
	"time"

	"planbridge/mapping"
)

// link is the only one.
func (w *world) link() *mapping.Link {
	links, _, err := w.store.List(context.Background(), project, "", 10)
	w.check(err)
	return links[0]
}

// TestStaleReadAfterOurOwnWrite: a read that lags shows the value before our own write, though by
// GitHub's whole seconds it is as new. It is no edit of a person.
func TestStaleReadAfterOurOwnWrite(t *testing.T) {
	t.Parallel()
	for a, v := range (values{mapping.Title: "tok9", mapping.Summary: "tok9\n\ntok3", mapping.Estimate: "8", mapping.State: mapping.StateInProgress}) {
		for _, p := range []mapping.Policy{mapping.PolicyMerge, mapping.PolicyGitHub} {
			t.Run(string(a)+", "+string(p), func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.decideBy(p)
					w.agree()
					w.hub.lag = never
					w.rewriteCard(a, v)
					w.race("Issue", func() { // a person was there in the same second
						w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "bug") })
						time.Sleep(200 * time.Millisecond) // of fake time
						w.race("Finish", func() {          // right after the write
							w.hub.stale = 100 * time.Millisecond
							w.look(w.link(), true)
						})
					})
					writes := w.plan.writes
					w.settle()
					w.verify(ends{want: values{a: v}})
					if n := w.plan.writes - writes; n > 0 {
						w.fail("%d writes to planning, where a person wrote", n)
					}
				})
			})
		}
	}
}

// An estimate label that lost against another one is still there in a read that
// lags: it is not the newer of the two.
func TestStaleReadOfALabelThatLost(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.openIssue("tok1", body, "points/3", "points/5")
		w.words.removed[word{mapping.Estimate, "3"}] = true
		w.race("RemoveLabel", func() {
			time.Sleep(50 * time.Millisecond) // of fake time
			w.race("Finish", func() {
				w.hub.stale = 10 * time.Millisecond
				w.look(w.link(), true)
			})
		})
		w.settle()
		w.verify(ends{want: values{mapping.Estimate: "5"}})
		if w.plan.writes != 2 { // the card and its task
			w.fail("%d writes to planning, want 2", w.plan.writes)
		}
	})
}

// A value that a write of ours ran over may still show in a read that lags: then it is not there
// all the same.
func TestStaleReadOfWhatWasRunOver(t *testing.T) {
	t.Parallel()
	for a, c := range map[mapping.Attribute]struct{ card, issue, want func(string) string }{
		mapping.Title:   {to("tok9"), to("tok8"), to("tok9")},
		mapping.Summary: {line("tok3", "tok3 tok9"), line("tok2", "tok2 tok8"), to("tok2 tok8\n\nmiddle\n\ntok3 tok9")},
	} {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.hub.lag, w.hub.stale = func(int) time.Duration { return 100 * time.Millisecond }, 150*time.Millisecond
				w.race("EditIssue", func() {
					w.editIssue(a, c.issue)
					time.Sleep(100 * time.Millisecond) // of fake time
				})
				w.editCard(a, c.card)
				w.settle()
				w.verify(ends{want: values{a: c.want("")}, conflicts: 1})
				w.expectHistory("lost update", 1)
			})
		})
	}
}

// A person who takes back what we wrote, right after it, is believed, though
// only once the read cannot lag any more.
func TestOurOwnWriteIsTakenBack(t *testing.T) {
	t.Parallel()
	was := values{mapping.Title: "tok1", mapping.Estimate: "3", mapping.State: mapping.StateTodo}
	for a, v := range (values{mapping.Title: "tok9", mapping.Estimate: "8", mapping.State: mapping.StateInProgress}) {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.rewriteCard(a, v)
				w.race("Finish", func() { w.editIssue(a, to(was[a])) })
				w.settle()
				w.verify(ends{want: values{a: was[a]}})
			})
		})
	}
}

// A refused write to the tracking task is answered with the task: its title
// and text are not the card's.
func TestRefusedTaskIsNotTheCard(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.plan.whole = true
		w.race("UpdateTask", func() { w.editCard(mapping.State, to(mapping.StateDone)) })
		w.editIssue(mapping.State, to(mapping.StateInProgress))
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok1", mapping.Summary: body, mapping.State: mapping.StateDone}, conflicts: 1})
		if edits := w.issue().edits; len(edits) > 0 {
			w.fail("nobody edited the text, and yet it was: %+v", edits)
		}
	})
}

// TestStaleReadOfAStepOnTheWay: within one second a person rewrites the issue in two steps, of
// which events report one or none. A write of ours runs over that, and another person works on its
// text. A read that lags shows the first step, from which no write of ours was made. That text is
// gone, and the later text is no edit of it.
func TestStaleReadOfAStepOnTheWay(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]bool{"of which an event told": true, "of which nothing told": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				tasksOfItems(w)
				w.restart()
				w.openIssue("Title", "tok2\n\nmiddle\n\n- [ ] item tok3")
				w.settle()
				rewrite := func(to string) {
					w.editIssue(mapping.Summary, func(string) string { return to })
					time.Sleep(100 * time.Millisecond) // of fake time
				}
				w.race("EditIssue", func() {
					time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
					if !told {
						w.hub.lag = never
					}
					rewrite("tok4\n\n- [ ] item tok5")
					w.hub.lag = never
					rewrite("tok4\n\n- [ ] item tok5\n- [ ] item tok6")
					w.hub.lag = func(int) time.Duration { return 10 * time.Millisecond }
					w.race("Finish", func() { // right after the write
						time.Sleep(100 * time.Millisecond)
						w.hub.lag = never
						w.editIssue(mapping.Summary, line("middle", "middle tok7"))
						w.hub.stale = 250 * time.Millisecond
						w.hub.lag = nil
					})
				})
				w.setTask("item tok3", func(t *mapping.Task) { t.State.Value = mapping.StateDone })
				w.settle()
				w.verifyAnyList(true)
			})
		})
	}
}

// A state has three values: a person may have set the value of a write of unknown outcome.
func TestPersonSetsTheStateOfALostWrite(t *testing.T) {
	t.Parallel()
	for _, p := range []mapping.Policy{mapping.PolicyMerge, mapping.PolicyGitHub} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(p)
				w.agree()
				w.befall("EditIssue", crashBefore, func() {})
				w.faults.then = func() {
					w.editIssue(mapping.State, to(mapping.StateDone))
					w.editCard(mapping.State, to(mapping.StateInProgress))
				}
				w.editCard(mapping.State, to(mapping.StateDone))
				w.settle()
				w.verify(ends{conflicts: 1})
				if n := len(w.conflicts()); n != 1 {
					w.fail("%d conflicts, want one: two people changed the state", n)
				}
			})
		})
	}
}

// Of our own exchange of labels only the first half is told: it is no word of
// anybody.
func TestHalfAnExchange(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		n := 0
		w.hub.lag = func(int) time.Duration {
			if n++; n == 2 {
				return -1
			}
			return 10 * time.Millisecond
		}
		w.editCard(mapping.Estimate, to("8"))
		w.settle()
		w.verify(ends{want: values{mapping.Estimate: "8"}})
	})
}

// TestStaleReadAfterALostAnswer: the answer to a write was lost, and its echo or a read showed that
// it happened. A read that lags shows the value before it, and is no edit of a person.
func TestStaleReadAfterALostAnswer(t *testing.T) {
	t.Parallel()
	for a, v := range (values{mapping.Title: "tok9", mapping.Summary: "tok9\n\ntok3"}) {
		for name, lagging := range map[string]int{"the first read": 1, "the second one": 2} {
			t.Run(string(a)+", "+name, func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.agree()
					reads := w.lagAfterALostAnswer(lagging)
					w.rewriteCard(a, v)
					writes := w.plan.writes
					w.settle()
					w.verify(ends{want: values{a: v}})
					if n := w.plan.writes - writes; n > 0 {
						w.fail("%d writes to planning, where a person wrote", n)
					}
					if *reads < lagging {
						w.fail("%d reads, the one that lags is not among them", *reads)
					}
				})
			})
		}
	}
}

// lagAfterALostAnswer loses the answer to the next edit of the issue, but not
// its echo. Of the reads after it, which it counts, one lags; a person changed
// the issue in the same second.
func (w *world) lagAfterALostAnswer(lagging int) (reads *int) {
	var wrote time.Time
	w.hub.lag = never // of the person nothing is told
	w.befall("EditIssue", answerLost, func() {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // of fake time
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "bug") })
		time.Sleep(200 * time.Millisecond)
		wrote, w.hub.lag = time.Now(), func(int) time.Duration { return 50 * time.Millisecond }
	})
	lose := w.faults.before
	reads = new(int)
	w.faults.before = func(i int, p point) {
		lose(i, p)
		if wrote.IsZero() {
			return
		}
		w.hub.stale = 0
		switch p.name {
		case "Issue":
			if *reads++; *reads == lagging {
				w.hub.stale = time.Since(wrote) + 100*time.Millisecond
			}
		case "Finish":
			if *reads > 0 && *reads < lagging {
				w.look(w.link(), true)
			}
		}
	}
	return reads
}

// TestStaleReadAfterAnEditWasBroughtBack: an edit was restored, and a read that lags shows the
// value before that, which is the base. It proves nothing about the present value.
func TestStaleReadAfterAnEditWasBroughtBack(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.decideBy(mapping.PolicyPlanning)
		w.agree()
		writes, back := 0, time.Time{}
		w.hub.lag = never
		w.faults.armed, w.faults.fate, w.faults.at = true, lost, -1
		w.faults.before = func(i int, p point) {
			w.hub.stale = 0
			switch {
			case p.name == "EditIssue":
				if writes++; writes == 2 {
					back, w.hub.lag = time.Now(), never
					break
				}
				if writes == 1 {
					time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // of fake time
					w.editIssue(mapping.Summary, line("tok2", "tok2 tok8"))
					w.editCard(mapping.Summary, line("middle", "middle tok7"))
				}
				w.hub.lag = func(int) time.Duration { return 50 * time.Millisecond }
			case p.name == "PutConflict" && w.faults.at < 0:
				w.faults.at = i
			case p.name == "Issue" && w.faults.fired && !back.IsZero():
				w.hub.stale, back = time.Since(back)+10*time.Millisecond, time.Time{}
			}
		}
		w.editCard(mapping.Summary, line("tok3", "tok3 tok9"))
		w.settle()
		w.verify(ends{conflicts: 1, want: values{mapping.Summary: "tok2\n\nmiddle tok7\n\ntok3 tok9"}})
	})
}

// The answer to a write was lost, and GitHub's memory tells that it ran over two
// edits of its own second. A read that lags shows the first of them alone, and
// nothing of what somebody has made of the write since.
func TestStaleReadShowsAStepBeforeALostAnswer(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		step := time.Time{}
		w.befall("EditIssue", answerLost, func() {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // of fake time
			w.hub.lag = func(int) time.Duration { return 60 * time.Millisecond }
			w.editIssue(mapping.Summary, line("tok2", "tok2 tok8"))
			time.Sleep(40 * time.Millisecond)
			w.hub.lag = never
			w.editIssue(mapping.Summary, line("middle", "middle tok7"))
			step = time.Now()
		})
		w.faults.then = func() {
			w.faults.then = nil
			w.editIssue(mapping.Summary, line("tok2", "tok6"))
		}
		befall := w.faults.before
		w.faults.before = func(i int, p point) {
			befall(i, p)
			if w.hub.stale = 0; p.name == "Issue" && !step.IsZero() {
				w.hub.stale, step = time.Since(step)+time.Millisecond, time.Time{}
			}
			if w.faults.fired {
				w.hub.lag = nil
			}
		}
		w.editCard(mapping.Summary, line("tok3", "tok3 tok9"))
		w.settle()
		w.verify(ends{conflicts: 1})
	})
}

// waitForLong makes an edit of the issue wait for planning. It ends when something else is done at
// the beginning of some second, long after the edit's event.
func (w *world) waitForLong(then func()) {
	w.faults.armed = true
	away := true
	w.faults.draw = func(p point) fate {
		if p.name == "UpdateCard" && away {
			return unavailable
		}
		return ""
	}
	w.editIssue(mapping.Estimate, to("13"))
	w.after(lateness, func() {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // of fake time
		away = false
		then()
	})
}

// A key that could not be worked off for a while is told of an edit, the second of
// one second. A read that lags and shows the first of them is not believed, however
// long the issue has been waiting.
func TestStaleReadAfterALongWait(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.waitForLong(func() {
			w.hub.lag = never
			w.editIssue(mapping.Title, to("tok8"))
			time.Sleep(100 * time.Millisecond) // of fake time
			w.hub.lag, w.hub.stale = func(int) time.Duration { return 10 * time.Millisecond }, 60*time.Millisecond
			w.editIssue(mapping.Title, to("tok9"))
		})
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok9"}})
	})
}
