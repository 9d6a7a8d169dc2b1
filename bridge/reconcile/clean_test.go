package reconcile_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// alter is an operator who changes the record of the first link.
func (w *world) alter(edit func(*mapping.Link)) { w.alterLink(w.link().ID, edit) }

func (w *world) alterLink(id mapping.LinkID, edit func(*mapping.Link)) {
	claim, err := w.store.ClaimKey(context.Background(), store.Key{Project: project, Link: id}, time.Minute)
	w.check(err)
	if err != nil {
		return
	}
	edit(claim.Link)
	w.check(w.store.Finish(context.Background(), claim, claim.Link, nil, store.Outcome{Kind: store.Again}))
}

// takeApart is an operator who has the first pair taken apart.
func (w *world) takeApart() {
	w.alter(func(l *mapping.Link) { l.Cleaning, l.Parted = true, false })
}

// verifyApart checks that the first pair is parted for a reason, and that nothing of the
// bridge's is left on what there is.
func (w *world) verifyApart(why string) {
	for _, f := range w.failures() {
		w.fail("parked: %s", f.Reason)
	}
	if l := w.link(); l.Cleaning || !l.Parted || l.State != mapping.Dormant {
		w.fail("the link is %s, cleaning %v, parted %v", l.State, l.Cleaning, l.Parted)
	}
	if !w.says("unlinked " + why) {
		w.fail("the history does not say %q: %v", why, w.history())
	}
	for _, i := range w.hub.issues {
		if bare, _ := keys.Body(i.Body); i.Repo == repo && !i.deleted && (bare != i.Body || len(ownLabels(i)) > 0 || i.Milestone == 1) {
			w.fail("issue %d shows %q with the labels %v and milestone %d", i.Number, i.Body, i.Labels, i.Milestone)
		}
	}
	for _, c := range w.plan.cards {
		if bare, _ := keys.Body(c.Summary.Value); bare != c.Summary.Value {
			w.fail("%s shows %q", c.ID, c.Summary.Value)
		}
	}
	for _, t := range w.plan.tasks {
		if bare, _ := keys.Body(t.Summary.Value); bare != t.Summary.Value {
			w.fail("%s shows %q", t.ID, t.Summary.Value)
		}
	}
}

// verifyGivenUp checks that the first pair waits for an operator, for a reason.
func (w *world) verifyGivenUp(why string) {
	fs := w.failures()
	if l := w.link(); !l.Cleaning || l.Parted || len(fs) != 1 || !strings.Contains(fs[0].Reason, why) {
		w.fail("cleaning %v, parted %v, failures %+v, want one with %q", l.Cleaning, l.Parted, fs, why)
	}
}

func ownLabels(i *ghIssue) []string {
	return slices.DeleteFunc(slices.Clone(i.Labels), func(l string) bool {
		return !strings.HasPrefix(l, scheme.Prefix) && !strings.HasPrefix(l, "bucket:")
	})
}

// withFamily is a pair with a sub-issue of people's and a task that became one.
func withFamily(w *world) {
	linked(w)
	w.settle()
	w.openSub(0, "tok5", "")
	w.addTask("tok6", "")
}

// Why a pair was parted.
const (
	nothingLeft = "nothing of planbridge's is left on it"
	otherGone   = "one of its items is gone, and nothing of planbridge's is left on the other one"
)

// TestPairsAreTakenApart: with any history of a pair's items, the bridge's marks are removed from
// existing ones. The history lists the steps.
func TestPairsAreTakenApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tune, before, do func(*world)
		why              string
	}{
		"both are there": {before: mirrored, why: nothingLeft},
		"a family":       {tune: withTasks, before: withFamily, why: nothingLeft},
		"the card is gone": {before: mirrored, do: func(w *world) {
			w.plan.cards, w.plan.tasks = nil, nil
		}, why: otherGone},
		"the issue is gone": {before: linked, do: func(w *world) { w.issue().deleted = true }, why: otherGone},
		"the card was gone before": {before: mirrored, do: func(w *world) {
			w.plan.cards, w.plan.tasks = nil, nil
			w.look(w.link(), true)
			w.settle()
		}, why: otherGone},
		"a sub-issue is gone": {tune: withTasks, before: withFamily, do: func(w *world) { w.issueOf("tok5").deleted = true }, why: nothingLeft},
		"the task of a sub-issue is gone": {tune: withTasks, before: withFamily, do: func(w *world) {
			w.plan.tasks = slices.DeleteFunc(w.plan.tasks, func(t *mapping.Task) bool { return t.Title.Value == "tok6" })
		}, why: nothingLeft},
		"the issue was transferred to where no route is": {before: linked, do: func(w *world) {
			w.transfer("transferred")
			w.settle()
		}, why: "its issue is in acme/api, where nothing is taken off it"},
		"the issue is transferred meanwhile": {before: linked, do: func(w *world) { w.transfer() }, why: "its issue is in acme/api, where nothing is taken off it"},
		"the issue goes out of reach meanwhile": {before: linked, do: func(w *world) {
			w.hub.hides = true
			w.transfer()
		}, why: "its issue is in acme/api, where nothing is taken off it"},
		"no route takes it, and one that goes one way leads to its project": {before: linked, do: func(w *world) {
			w.route.Name, w.route.Repositories, w.route.Direction = "other", []string{"acme/other"}, mapping.ToGitHub
			w.restart()
		}, why: nothingLeft},
		"the answer to the labels was lost": {before: func(w *world) {
			w.befall("AddLabels", answerLost, func() { w.after(0, w.takeApart) })
			linked(w)
		}, why: nothingLeft},
		"the answer to the milestone was lost": {before: func(w *world) {
			linked(w)
			w.settle()
			w.befall("EditIssue", answerLost, func() { w.after(0, w.takeApart) })
			intoSprint()(w)
		}, why: nothingLeft},
		"its route goes one way by now": {before: linked, do: func(w *world) {
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = nil })
			w.route.Direction = mapping.ToPlanning
			w.restart()
		}, why: "its route does not write to GitHub, where nothing is taken off"},
		"a task of a line is forgotten, another was not known": {tune: tasksOfItems, before: listed, do: func(w *world) {
			w.alter(func(l *mapping.Link) {
				for _, c := range l.Children {
					if c.Kind == mapping.Checklist && len(l.Family.Forgotten) == 0 {
						l.Family.Forget([]mapping.ObjectID{c.Card.ID})
					}
				}
				l.Children = slices.DeleteFunc(l.Children, func(c *mapping.Pair) bool { return c.Kind == mapping.Checklist })
			})
		}, why: nothingLeft},
		"people are asked about a line": {tune: tasksOfItems, before: listed, do: func(w *world) {
			w.hub.change(w.issue(), bot, func(i *mapping.Issue) { i.Labels = append(i.Labels, "plan:conflict") })
			w.alter(func(l *mapping.Link) {
				l.Children[len(l.Children)-1].Asking = map[mapping.Attribute]string{mapping.Title: "a conflict"}
			})
		}, why: nothingLeft},
		"people are asked about a sub-issue": {tune: withTasks, before: withFamily, do: func(w *world) {
			w.hub.change(w.issueOf("tok5"), bot, func(i *mapping.Issue) { i.Labels = append(i.Labels, "plan:conflict") })
			w.alter(func(l *mapping.Link) {
				l.SubLinks[0].Asking = map[mapping.Attribute]string{mapping.Title: "a conflict"}
			})
		}, why: nothingLeft},
		"the store was lost": {before: func(w *world) {
			linked(w)
			w.settle()
			intoSprint()(w)
		}, do: func(w *world) { w.rebuildFrom(w.card()) }, why: nothingLeft},
		"the store was lost, and then the card": {before: func(w *world) {
			linked(w)
			w.settle()
			intoSprint()(w)
		}, do: func(w *world) {
			w.rebuildFrom(w.card())
			w.plan.cards, w.plan.tasks = nil, nil
		}, why: otherGone},
		"what was agreed on about the text is not known": {before: mirrored, do: func(w *world) {
			w.alter(func(l *mapping.Link) { delete(l.Base, mapping.Summary) })
		}, why: nothingLeft},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				if c.tune != nil {
					c.tune(w)
					w.restart()
				}
				c.before(w)
				w.settle()
				if c.do != nil {
					c.do(w)
				}
				if !w.link().Parted {
					w.takeApart()
				}
				w.settle()
				w.verifyApart(c.why)
			})
		})
	}
}

// TestACreateUnderWayIsWaitedFor: a pair is taken apart while its issue is being made. A made item
// is found and loses its marker; an item that was not made is no longer made.
func TestACreateUnderWayIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meets  fate
		issues int
		why    string
	}{
		"it takes effect late": {late, 1, nothingLeft},
		"it is lost":           {lost, 0, "its partner was not made"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				mirrored(w)
				w.befall("CreateIssue", c.meets, func() {})
				w.stepUntil(time.Now().Add(time.Hour), func() bool { return w.faults.fired })
				w.takeApart()
				w.settle()
				if len(w.hub.issues) != c.issues {
					w.fail("%d issues, want %d", len(w.hub.issues), c.issues)
				}
				w.verifyApart(c.why)
			})
		})
	}
}

// TestWhatCannotBeTakenApartIsParked: a pair of which something cannot be taken off is not
// parted. An operator sees why, and it goes on once that is repaired.
func TestWhatCannotBeTakenApartIsParked(t *testing.T) {
	t.Parallel()
	t.Run("no route leads to its project", func(t *testing.T) {
		t.Parallel()
		passes(t, func(w *world) {
			w.agree()
			was := w.route
			w.route.Name, w.route.Repositories, w.route.Project = "other", []string{"acme/other"}, "p2"
			w.restart()
			w.takeApart()
			w.settle()
			w.verifyGivenUp("its route or project is no longer configured")
			w.route = was
			w.restart()
			w.look(w.link(), true)
			w.settle()
			w.verifyApart(nothingLeft)
		})
	})
	t.Run("a dry run", func(t *testing.T) {
		t.Parallel()
		passes(t, func(w *world) {
			mirrored(w)
			w.settle()
			w.dryRun = true
			w.restart()
			w.takeApart()
			w.settle()
			w.verifyGivenUp("a dry run takes nothing off")
		})
	})
	t.Run("GitHub does not take the body", func(t *testing.T) {
		t.Parallel()
		passes(t, func(w *world) {
			mirrored(w)
			w.settle()
			w.hub.refuse = func(a mapping.Attribute, _ string) *mapping.Rejection {
				if a == mapping.Summary {
					return &mapping.Rejection{Status: 422, Message: "no such text"}
				}
				return nil
			}
			w.takeApart()
			w.settle()
			w.verifyGivenUp("no such text")
			if w.says("clean the marker") {
				w.fail("the history says that the marker was taken out")
			}
			w.hub.refuse = nil
			w.look(w.link(), true)
			w.settle()
			w.verifyApart(nothingLeft)
		})
	})
}

// TestPlanOfATakingApart: the marks that would be removed are listed for each item that can be
// read, and looking judges nothing.
func TestPlanOfATakingApart(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]func(*world){
		"the card cannot be read": func(*world) {},
		"nor could it be before": func(w *world) {
			w.alter(func(l *mapping.Link) {
				l.Gone, l.GoneSince = map[mapping.Side]int{mapping.Planning: 1}, time.Now().Add(-3*time.Hour).UTC()
			})
			w.settle()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				mirrored(w)
				w.settle()
				gone(w)
				w.plan.gone = true
				hub, link := w.hub.writes, w.link()
				var told []string
				for range 3 {
					steps, err := w.recon.PlanCleaning(context.Background(), link)
					w.check(err)
					told = nil
					for _, s := range steps {
						told = append(told, string(s.Side)+": "+s.What)
					}
				}
				all := strings.Join(told, "\n")
				for _, want := range []string{"github: the label bucket:Incoming is taken off", "github: the marker is taken out of the body", "planning: cannot be looked at"} {
					if !strings.Contains(all, want) {
						w.fail("%q is missing in\n%s", want, all)
					}
				}
				if w.hub.writes != hub || len(w.issue().comments) > 0 {
					w.fail("%d writes, comments %+v", w.hub.writes-hub, w.issue().comments)
				}
				if strings.Contains(w.log.String(), "so many items at once") {
					w.fail("absences were counted")
				}
			})
		})
	}
}

// TestTheOlderCardIsTakenApart: the store was lost, and a link was made anew of the marker of a
// copy of its card. The card itself loses its footer.
func TestTheOlderCardIsTakenApart(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		linked(w)
		w.settle()
		card := w.card()
		w.rebuildFromCopy()
		w.takeApart()
		w.settle()
		if bare, _ := keys.Body(card.Summary.Value); bare != card.Summary.Value {
			w.fail("%s says %q", card.ID, card.Summary.Value)
		}
	})
}
