package reconcile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// visited counts how many links a store shows, and how many of its questions are about
// one link.
type visited struct {
	store.Store
	listed, read int
	unindexed    bool
}

func (v *visited) List(ctx context.Context, project mapping.ObjectID, cursor string, limit int) ([]*mapping.Link, string, error) {
	links, next, err := v.Store.List(ctx, project, cursor, limit)
	v.listed += len(links)
	return links, next, err
}

func (v *visited) Link(ctx context.Context, key store.Key) (*mapping.Link, error) {
	v.read++
	return v.Store.Link(ctx, key)
}

func (v *visited) FindByTraits(ctx context.Context, project mapping.ObjectID, traits []mapping.Trait, limit int) ([]mapping.LinkID, error) {
	if v.unindexed {
		return nil, store.ErrNotIndexed
	}
	return v.Store.FindByTraits(ctx, project, traits, limit)
}

// organisation is a world of two projects with many links in both, where the issue of
// none can be read.
func (w *world) organisation(links int, title func(int) string) *visited {
	const other mapping.ObjectID = "54744060c955ca8169c61eff"
	w.others = []mapping.ObjectID{other}
	for _, p := range []mapping.ObjectID{project, other} {
		var obs []store.Observation
		for n := range links / 2 {
			l := w.route.EnterIssue(&mapping.Issue{
				ID: int64(100_000 + n), Repo: elsewhere, Number: 5000 + n, Author: dev, CreatedAt: time.Now().Add(-time.Duration(n+1) * time.Hour),
			}, time.Now())
			l.Project, l.State = p, mapping.Dormant
			l.Base = map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: title(n)}}
			obs = append(obs, store.Observation{Create: l, Delay: 1000 * time.Hour})
		}
		_, err := w.store.Observe(context.Background(), p, obs)
		w.check(err)
	}
	v := &visited{Store: w.store}
	w.store = v
	w.restart()
	return v
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end) && len(w.errs) == 0; {
		w.step()
	}
}

// TestEnteringVisitsNoOtherLinks: an issue of which no event tells that it was opened
// enters as fast however many links there are.
func TestEnteringVisitsNoOtherLinks(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		v := w.organisation(3000, func(n int) string { return fmt.Sprint("title ", n) })
		w.hub.lag = func(int) time.Duration { return -1 } // a listing shows it
		w.openIssue("tok1", "text")
		w.pass(time.Hour)
		if len(w.plan.cards) != 1 {
			w.fail("%d cards", len(w.plan.cards))
		}
		if v.listed > 0 || v.read > 5 {
			w.fail("%d links were listed and %d read", v.listed, v.read)
		}
	})
}

// TestAnOldIssueWasNoYoungerLink: an issue that is older than the links of its title was not
// transferred to its place, or has kept its time of creation. GitHub is not asked for those links'
// issues.
func TestAnOldIssueWasNoYoungerLink(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.hub.lag = func(int) time.Duration { return -1 }
		w.organisation(40, func(int) string { return "Weekly report" })
		w.pass(time.Minute)
		old := w.hub.open(dev, reconcile.NewIssue{Title: "Weekly report"})
		old.CreatedAt = old.CreatedAt.AddDate(-1, 0, 0)
		link := w.route.EnterIssue(&old.Issue, time.Now().UTC())
		link.Import = mapping.ImportOpen
		before := w.hub.reads
		w.observe(store.Observation{Refs: []mapping.Ref{mapping.IssueRef(old.ID)}, Bulk: true}, link)
		w.pass(time.Hour)
		if len(w.plan.cards) != 1 || w.hub.reads-before > 2 {
			w.fail("%d cards, and GitHub was asked %d times", len(w.plan.cards), w.hub.reads-before)
		}
	})
}

// TestEnteringWaitsForTheIndex: while what an earlier program stored is being indexed
// nothing enters that may have been another link's.
func TestEnteringWaitsForTheIndex(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		v := w.organisation(2, func(int) string { return "title" })
		v.unindexed = true
		w.hub.lag = func(int) time.Duration { return -1 }
		w.after(10*time.Minute, func() {
			if n := len(w.plan.cards); n > 0 {
				w.fail("%d cards before the store is indexed", n)
			}
			v.unindexed = false
		})
		w.openIssue("tok1", "text")
		w.pass(time.Hour)
		d, err := w.store.Depth(context.Background(), project)
		if w.check(err); len(w.plan.cards) != 1 || d.Failures > 0 {
			w.fail("%d cards, %d failures", len(w.plan.cards), d.Failures)
		}
	})
}

// TestALateEventIsNotTheLastWord: an event tells of an issue whose title somebody changed since,
// and another link's issue had the former title. Before it enters the issue is read, and what
// the event shows comes no more.
func TestALateEventIsNotTheLastWord(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.organisation(2, func(int) string { return "tok1" })
		w.hub.lag = func(int) time.Duration { return -1 }
		w.openIssue("tok1", "text")
		issue := w.issue().snapshot("")
		w.pass(time.Minute)
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "labelled") })
		labelled := w.issue().snapshot("")
		w.pass(time.Minute)
		w.editIssue(mapping.Title, to("tok9"))
		ref := mapping.IssueRef(issue.ID)
		w.observe(store.Observation{
			Refs: []mapping.Ref{ref}, Item: ref, At: labelled.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&labelled), Data: encode(labelled),
		}, w.route.EnterIssue(&labelled, time.Now()))
		w.pass(time.Hour)
		if len(w.plan.cards) != 1 {
			w.fail("%d cards", len(w.plan.cards))
			return
		}
		if title := w.card().Title; title.Value != "tok9" || title.Version != 0 {
			w.fail("the card's title is %q in its version %d: it was written after the card was made", title.Value, title.Version)
		}
	})
}

// TestAnOpeningThatComesLate: the event of an issue's opening is delivered long after it, when
// the issue is closed and a listing has told that already. It is read before it gets a card.
func TestAnOpeningThatComesLate(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.hub.lag = func(int) time.Duration { return -1 }
		w.openIssue("tok1", "text")
		opened := w.issue().snapshot("")
		opened.Delivery = "7:guid-1"
		w.pass(2 * time.Second) // GitHub tells whole seconds
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.State = "closed" })
		w.hub.told[opened.ID] = sight(&w.issue().Issue)
		w.pass(settleGitHub)
		ref := mapping.IssueRef(opened.ID)
		w.observe(store.Observation{
			Refs: []mapping.Ref{ref}, Item: ref, At: opened.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&opened), Data: encode(opened),
		}, w.route.EnterIssue(&opened, time.Now()))
		w.pass(time.Minute) // before a listing tells it anew
		if len(w.plan.tasks) != 1 || w.plan.tasks[0].State.Value != mapping.StateDone {
			w.fail("the tracking tasks are %+v", w.plan.tasks)
		}
		w.settle()
	})
}
