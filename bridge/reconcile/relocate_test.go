package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// relocate is an operator who points the route to another project and has the first pair move.
func (w *world) relocate() {
	w.pointElsewhere()
	w.alter(func(l *mapping.Link) { l.Moving = &mapping.Moving{} })
}

// pointElsewhere has the route lead to another project.
func (w *world) pointElsewhere() {
	epoch, err := w.store.Epoch(context.Background())
	w.check(err)
	w.adopted(w.store, secondProject, epoch)
	w.planned = []mapping.PlanningProject{{ID: project, Name: "web", Username: "bridge"}, {ID: secondProject, Name: "other", Username: "bridge"}}
	w.route.Project, w.route.ProjectName, w.others = secondProject, "other", []mapping.ObjectID{secondProject}
	w.restart()
}

// movings are pairs whose issues get cards in another project.
func movings() []scenario {
	return append(takingsApart(), scenario{name: "an issue in progress", before: func(w *world) {
		linked(w)
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "in-progress", "points/3") })
	}})
}

// moved has the pair of a scenario move and returns the calls that it took.
func moved(t *testing.T, s *scenario, arm, end func(*world)) (points []point, err error) {
	t.Helper()
	err = inWorld(t, func(w *world) {
		if s.tune != nil {
			s.tune(w)
			w.restart()
		}
		s.before(w)
		w.settle()
		issues := len(w.hub.issues)
		w.relocate()
		w.faults.armed = true
		arm(w)
		w.settle()
		w.faults.armed = false
		points = w.faults.points
		end(w)
		if len(w.hub.issues) != issues {
			w.fail("%d issues, and before there were %d", len(w.hub.issues), issues)
		}
		w.verifyMoved()
	})
	return points, err
}

// verifyMoved checks that the first issue has one card in the other project, with the issue's
// values and the old card's tasks. The old card has no mark of the bridge.
func (w *world) verifyMoved() {
	ctx := context.Background()
	for _, p := range w.worked() {
		parked, err := w.store.Failures(ctx, p, 10)
		w.check(err)
		for _, f := range parked {
			w.fail("parked in %s: %s", p, f.Reason)
		}
	}
	old := w.link()
	if !old.HandedOver() || old.State != mapping.Dormant || old.Issue.ID != 0 {
		w.fail("the old link is %s, %s, with issue %d", old.State, old.Why, old.Issue.ID)
	}
	links, _, err := w.store.List(ctx, secondProject, "", 10)
	w.check(err)
	if len(links) != 1 || len(w.plan.cards) != 2 {
		w.fail("%d new links, %d cards", len(links), len(w.plan.cards))
		return
	}
	l, now := links[0], w.plan.cards[1]
	if l.State != mapping.Linked || l.Issue.ID != w.issue().ID || l.Card.ID != now.ID || l.Unfinished || len(l.Pending) > 0 {
		w.fail("the new link is %+v", l)
	}
	g, _ := mapping.IssueView(&w.issue().Issue, scheme, keys, nil)
	if w.route.Tasks == mapping.TasksChecklist {
		text := g[mapping.Summary]
		text.Value = mapping.WithoutItems(text.Value)
		g[mapping.Summary] = text
	}
	for a, v := range mapping.CardView(now, keys) {
		if !mapping.Equal(a, g[a].Value, v.Value) {
			w.fail("%s differs: GitHub %q, planning %q", a, g[a].Value, v.Value)
		}
	}
	if was, is := w.tasksOf(w.card().ID), w.tasksOf(now.ID); !slices.Equal(was, is) {
		w.fail("the old card has the tasks %q, the new one %q", was, is)
	}
	w.verifyBare()
}

// signed reports whether a card has its footer.
func signed(c *mapping.Card) bool {
	bare, _ := keys.Body(c.Summary.Value)
	return bare != c.Summary.Value
}

// tasksOf are the tasks of a card, sorted.
func (w *world) tasksOf(card mapping.ObjectID) (out []string) {
	for _, t := range w.plan.tasks {
		if t.Owner == card {
			bare, _ := keys.Body(t.Summary.Value)
			out = append(out, strings.Join([]string{t.Title.Value, bare, t.State.Value}, "|"))
		}
	}
	slices.Sort(out)
	return out
}

// verifyBare checks that neither issues nor the old card have markers, and that no issue shows
// another bucket or a milestone of the old card.
func (w *world) verifyBare() {
	for _, i := range w.hub.issues {
		if bare, _ := keys.Body(i.Body); bare != i.Body || i.Milestone == 1 || len(i.comments) > 0 {
			w.fail("issue %d says %q, with milestone %d and the comments %+v", i.Number, i.Body, i.Milestone, i.comments)
		}
	}
	texts := []string{w.card().Summary.Value}
	for _, t := range w.plan.tasks {
		if t.Owner == w.card().ID {
			texts = append(texts, t.Summary.Value)
		}
	}
	for _, text := range texts {
		if bare, _ := keys.Body(text); bare != text {
			w.fail("the old card shows %q", text)
		}
	}
}

// TestAMoveMeetsEveryFate: whichever fault a call meets while an issue moves to another project, it
// has one card there in the end, with its values.
func TestAMoveMeetsEveryFate(t *testing.T) {
	t.Parallel()
	meetsEveryFate(t, movings(), moved)
}

// TestPeopleRaceAMove: a person's text on GitHub before any of its calls is on the new card. A text
// on the old card crosses, or is still there.
func TestPeopleRaceAMove(t *testing.T) {
	t.Parallel()
	isRaced(t, movings(), moved, func(w *world) {
		w.editIssue(mapping.Title, to("tok81"))
		w.editCard(mapping.Summary, line("tok2", "tok84"))
	}, func(w *world) {
		i, c := w.issue(), w.card()
		if i.Title != "tok81" || !strings.Contains(i.Body+c.Summary.Value, "tok84") {
			w.fail("the issue says %q, %q and the old card %q", i.Title, i.Body, c.Summary.Value)
		}
	})
}

// TestWhatKeepsAPair: a pair that cannot move stays whole, and moves once that is mended. It is
// parked with a reason, but where people are asked: that question is enough.
func TestWhatKeepsAPair(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, mend func(*world)
		why          string
		asked        bool
	}{
		"people are asked": {asked: true, before: func(w *world) {
			w.decideBy(mapping.PolicyAsk)
			w.agree()
			w.rewriteIssue(mapping.Title, "tok7")
			w.rewriteCard(mapping.Title, "tok8")
		}, why: "people are asked about the title of acme/web#1: answer first", mend: func(w *world) { w.answer(mapping.Planning) }},
		"GitHub refuses a value": {before: func(w *world) {
			w.agree()
			w.hub.refuse = func(a mapping.Attribute, _ string) *mapping.Rejection {
				if a == mapping.Title {
					return &mapping.Rejection{Status: 422, Message: "no such text"}
				}
				return nil
			}
			w.rewriteCard(mapping.Title, "tok8")
		}, why: "GitHub refuses the title of acme/web#1 that planning has: no such text", mend: func(w *world) {
			w.hub.refuse = nil
			w.rewriteCard(mapping.Title, "tok9")
		}},
		"no route takes the issue": {before: func(w *world) {
			w.agree()
			w.route.Repositories = []string{"acme/other"}
		}, why: "no route is for its repository", mend: func(w *world) {
			w.route.Repositories = []string{repo}
			w.restart()
		}},
		"the route makes no cards": {before: func(w *world) {
			w.agree()
			w.route.Direction = mapping.ToGitHub
		}, why: "route web only goes to GitHub and makes no cards", mend: func(w *world) {
			w.route.Direction = mapping.Both
			w.restart()
		}},
		"a dry run": {before: func(w *world) {
			w.agree()
			w.dryRun = true
		}, why: "a dry run moves nothing", mend: func(w *world) {
			w.dryRun = false
			w.restart()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				c.before(w)
				w.settle()
				w.relocate()
				w.settle()
				fs, l := w.failures(), w.link()
				if c.asked && (len(fs) != 0 || l.AwaitsAnswer() != c.why) || !c.asked && (len(fs) != 1 || !strings.Contains(fs[0].Reason, c.why)) {
					w.fail("failures %+v, asked %q, want one with %q", fs, l.AwaitsAnswer(), c.why)
				}
				if l.State != mapping.Linked || l.Moving == nil || !signed(w.card()) {
					w.fail("the link is %s, moving %v, the card says %q", l.State, l.Moving, w.card().Summary.Value)
				}
				c.mend(w)
				w.look(w.link(), true)
				w.settle()
				w.issue().comments = nil // they tell of conflicts
				w.verifyMoved()
			})
		})
	}
}

// TestWhatAMoveDoesNotConcern: a pair that is none, or whose route leads where it is, stays as it
// is, and the history says why.
func TestWhatAMoveDoesNotConcern(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*world)
		move   func(*world)
		why    string
		state  mapping.LinkState
	}{
		"its route leads there still": {
			move: func(w *world) { w.alter(func(l *mapping.Link) { l.Moving = &mapping.Moving{} }) },
			why:  "its route leads to project web still", state: mapping.Linked,
		},
		"an operator parted it": {before: func(w *world) {
			w.alter(func(l *mapping.Link) { l.State, l.Parted = mapping.Dormant, true })
		}, why: "an operator parted it", state: mapping.Dormant},
		"its card is gone": {before: func(w *world) { w.plan.cards, w.plan.tasks = nil, nil }, why: "it is orphaned", state: mapping.Orphaned},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				if c.before != nil {
					c.before(w)
				}
				if c.move == nil {
					c.move = (*world).relocate
				}
				c.move(w)
				w.settle()
				if l := w.link(); l.Moving != nil || l.State != c.state || !w.says(mapping.Stayed+" "+c.why) || len(w.failures()) > 0 {
					w.fail("the link is %s, moving %+v, failures %+v, history %v", l.State, l.Moving, w.failures(), w.history())
				}
				for _, card := range w.plan.cards {
					if !signed(card) {
						w.fail("the card says %q", card.Summary.Value)
					}
				}
			})
		})
	}
}

// TestASubIssueWithACardOfItsOwnMoves: a parent and its sub-issue each have a card. Both have one
// in the other project, whoever is first, and neither gets a task.
func TestASubIssueWithACardOfItsOwnMoves(t *testing.T) {
	t.Parallel()
	for _, first := range []int{0, 1} {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				withTasks(w)
				w.restart()
				linked(w)
				w.openIssue("tok5", "")
				w.settle()
				w.hub.adopt(w.hub.issues[0], w.hub.issues[1])
				w.settle()
				w.pointElsewhere()
				links := w.all()
				if len(links) != 2 {
					w.fail("%d links", len(links))
					return
				}
				slices.SortFunc(links, func(a, b *mapping.Link) int { return a.Issue.Number - b.Issue.Number })
				if first == 1 {
					slices.Reverse(links)
				}
				for _, l := range links {
					w.alterLink(l.ID, func(l *mapping.Link) { l.Moving = &mapping.Moving{} })
					w.settle()
				}
				now, _, err := w.store.List(context.Background(), secondProject, "", 10)
				w.check(err)
				if len(now) != 2 || len(now[0].SubLinks)+len(now[1].SubLinks) > 0 || now[0].State != mapping.Linked || now[1].State != mapping.Linked || len(w.plan.cards) != 4 {
					w.fail("%d cards, and the links are %+v", len(w.plan.cards), now)
				}
			})
		})
	}
}

// TestANewSubIssueOfAPairThatStays: a route was pointed at another project, and an issue of a
// pair that stays in the old one gets a sub-issue. Its parent gets no card in the other project,
// so that the sub-issue does not wait for that.
func TestANewSubIssueOfAPairThatStays(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		withTasks(w)
		w.restart()
		linked(w)
		w.settle()
		w.pointElsewhere()
		w.firstRun = func(string) time.Time { return time.Now().Add(-time.Hour) }
		w.openSub(0, "tok5", "")
		began := time.Now()
		w.settle()
		if len(w.plan.cards) != 2 || time.Since(began) > time.Minute {
			w.fail("%d cards and %d tasks after %s", len(w.plan.cards), len(w.plan.tasks), time.Since(began))
		}
	})
}

// TestAPairKeepsItsRouteUntilItMoves: another route of the old project does not take the issue by
// its labels. So the pair keeps its own route, and moves.
func TestAPairKeepsItsRouteUntilItMoves(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		bugs := w.route
		bugs.Name, bugs.Labels = "bugs", []string{"bug"}
		w.route.ExcludeLabels = []string{"bug"}
		w.more = []mapping.Route{bugs}
		w.restart()
		w.agree()
		w.pointElsewhere()
		w.rewriteIssue(mapping.Title, "tok7")
		w.settle()
		if l := w.link(); l.Route != "web" || l.State != mapping.Linked || w.card().Title.Value != "tok7" {
			w.fail("the link goes by route %s, is %s, and the card is called %q", l.Route, l.State, w.card().Title.Value)
		}
		w.relocate()
		w.settle()
		w.verifyMoved()
	})
}
