package reconcile_test

import (
	"context"
	"testing"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// TestTheRouteIsBackWhileAServiceIsAway: a card changes while no route takes its pair, and a poll
// tells of it once. As the route is back one of the services does not answer. Once it does, both
// sides are read, as they would have been before.
func TestTheRouteIsBackWhileAServiceIsAway(t *testing.T) {
	t.Parallel()
	for read, service := range map[string]string{"Issue": reconcile.ServiceGitHub, "Card": reconcile.ServicePlanning(project)} {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				giveBack := w.unroute()
				w.rewriteCard(mapping.Title, "tok9")
				w.settle()
				giveBack()
				w.takeDown(service, read)
				for _, l := range w.all() {
					w.look(l, false)
				}
				w.after(time.Minute, w.bringBack)
				w.settle()
				w.verify(ends{want: values{mapping.Title: "tok9"}})
			})
		})
	}
}

// TestASubIssueOfADormantPair: a sub-issue was handed to its parent's link just as its route was
// removed. It becomes a task once the route is back.
func TestASubIssueOfADormantPair(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		withTasks(w)
		w.restart()
		w.agree()
		giveBack := w.unroute()
		w.hub.lag = func(int) time.Duration { return -1 }
		sub := w.openSub(0, "tok5", "text").snapshot("")
		w.observe(store.Observation{
			Refs: w.link().Refs(), Item: mapping.IssueRef(sub.ID), At: sub.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&sub), Data: encode(sub),
		}, nil)
		w.settle()
		giveBack()
		for _, l := range w.all() {
			w.look(l, false)
		}
		w.settle()
		if n := len(w.plan.tasks); n != 2 {
			w.fail("%d tasks, want the tracking task and the sub-issue's", n)
		}
	})
}

// unroute takes the route away until giveBack is called: its pairs are dormant.
func (w *world) unroute() (giveBack func()) {
	giveBack = w.without()
	w.lookAtAll()
	w.settle()
	if l := w.link(); l.State != mapping.Dormant {
		w.fail("the pair is %s", l.State)
	}
	return giveBack
}

// without takes the route away until giveBack is called.
func (w *world) without() (giveBack func()) {
	takes := w.route
	w.route.Name, w.route.Repositories = "elsewhere", []string{elsewhere}
	w.restart()
	return func() { w.route = takes; w.restart() }
}

// TestARouteExcludesTheRepository: a dormant pair says that its route, which is still configured,
// excludes its repository.
func TestARouteExcludesTheRepository(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.route.Repositories, w.route.NewCardsIn, w.route.Exclude = []string{"acme/*"}, elsewhere, []string{repo}
		w.restart()
		w.lookAtAll()
		w.settle()
		if l := w.link(); l.State != mapping.Dormant || l.Why != "route web excludes its repository" {
			w.fail("the pair is %s: %s", l.State, l.Why)
		}
	})
}

// TestAnotherRouteExcludesTheRepository: a dormant pair whose route gave way to a glob says that
// the glob's route excludes its repository.
func TestAnotherRouteExcludesTheRepository(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.route.Name, w.route.Repositories, w.route.NewCardsIn, w.route.Exclude = "all", []string{"acme/*"}, elsewhere, []string{repo}
		w.restart()
		w.lookAtAll()
		w.settle()
		if l := w.link(); l.State != mapping.Dormant || l.Why != "route all excludes its repository" {
			w.fail("the pair is %s: %s", l.State, l.Why)
		}
	})
}

// takeDown lets one kind of call fail, as its service is away, until bringBack.
func (w *world) takeDown(service, name string) {
	w.down = service
	w.faults.armed = true
	w.faults.draw = func(p point) fate {
		if p.name == name {
			return unavailable
		}
		return ""
	}
}

func (w *world) bringBack() { w.down, w.faults.armed = "", false }

// TestACardIsFoundWhileNoRouteTakesItsIssue: the store is lost while no route takes an issue, and
// its event comes before its card is seen. Once the route is back the issue has that card.
func TestACardIsFoundWhileNoRouteTakesItsIssue(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		takes := w.route
		giveBack := w.unroute()
		w.forgetBy(&takes)
		giveBack()
		w.lookAtAll()
		w.settle()
		w.verify(ends{})
	})
}

// TestTheFoundCardGoes: the card that was found so is deleted before the route is back. The issue gets
// another one.
func TestTheFoundCardGoes(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		takes := w.route
		giveBack := w.unroute()
		w.forgetBy(&takes)
		w.plan.cards = nil
		giveBack()
		w.lookAtAll()
		w.settle()
		if l := w.link(); l.State != mapping.Linked || len(w.plan.cards) != 1 || l.Card.ID != w.plan.cards[0].ID {
			w.fail("the pair is %s with card %q, of %d cards", l.State, l.Card.ID, len(w.plan.cards))
		}
	})
}

// TestACardWithoutAnAnswerIsFoundWhileNoRouteTakesItsIssue: the answer to a card's create is lost, and
// the route goes. A person edits the issue once a poll has shown the card. That edit is no conflict.
func TestACardWithoutAnAnswerIsFoundWhileNoRouteTakesItsIssue(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		var giveBack func()
		w.befall("CreateCard", answerLost, func() { giveBack = w.without() })
		linked(w)
		w.settle()
		w.rewriteIssue(mapping.Title, "tok8")
		w.settle()
		giveBack()
		w.lookAtAll()
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok8"}})
	})
}

// TestAnIssueIsFoundWhileNoRouteTakesItsCard is the same of a card whose issue planbridge made.
func TestAnIssueIsFoundWhileNoRouteTakesItsCard(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		mirrored(w)
		w.settle()
		takes := w.route
		giveBack := w.unroute()
		w.route.Direction = mapping.ToPlanning // it makes no issues of cards
		w.restart()
		w.loseStore()
		issue, card := w.issue().snapshot(dev), w.card()
		issueRef, cardRef := mapping.IssueRef(issue.ID), mapping.CardRef(card.ID)
		_, err := w.store.Observe(context.Background(), project, []store.Observation{
			{Refs: []mapping.Ref{cardRef}, Item: cardRef, At: card.Version, Digest: mapping.DigestCard(card), Data: encode(card), Create: takes.EnterCard(card, time.Now())},
			{Refs: []mapping.Ref{issueRef, cardRef}, Item: issueRef, At: issue.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&issue), Data: encode(issue)},
		})
		w.check(err)
		w.settle()
		giveBack()
		w.lookAtAll()
		w.settle()
		w.verify(ends{})
	})
}
