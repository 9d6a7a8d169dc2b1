package reconcile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/store"
)

// elsewhere is where issues are transferred to.
const elsewhere = "acme/api"

// in finds an issue where it is; from where it was, a read is told where that
// is, and what it is there.
func (h *hub) in(repo string, number int) (*ghIssue, error) {
	i, err := h.at(number)
	if err == nil && i.Repo != repo && h.forgets {
		return nil, fmt.Errorf("issue %d: %w", number, mapping.ErrGone)
	}
	if err == nil && i.Repo != repo {
		issue := i.snapshot("")
		if h.hides {
			return nil, &mapping.MovedError{Repo: issue.Repo, Number: issue.Number}
		}
		return nil, &mapping.MovedError{Repo: issue.Repo, Number: issue.Number, Issue: &issue}
	}
	return i, err
}

// transfer moves the issue to a repository that knows none of its labels.
func (w *world) transfer(told ...string) {
	w.transferTo(elsewhere, nil, told...)
}

// transferTo moves the issue to another repository, where it has these labels. Some of its two
// events report the move: `transferred` there and `opened` here.
func (w *world) transferTo(repo string, labels []string, told ...string) {
	i := w.issue()
	was := i.ID
	w.hub.change(i, dev, func(s *mapping.Issue) {
		s.ID, s.Repo, s.Labels = was+1000, repo, labels
		s.Milestone = 0 // GitHub keeps one only where the other repository has it too
	})
	delete(w.hub.told, i.ID)
	issue := i.snapshot(dev)
	for n, event := range told {
		obs := store.Observation{
			Delivery: fmt.Sprint(event, was), Refs: []mapping.Ref{mapping.IssueRef(was)},
			Event: encode(mapping.IssueEvent{Look: "transferred", Moved: mapping.NewMove(was, &issue)}),
		}
		if event == "opened" {
			ref := mapping.IssueRef(issue.ID)
			obs.Refs = append([]mapping.Ref{ref}, obs.Refs...)
			obs.Item, obs.At, obs.Digest, obs.Data = ref, issue.UpdatedAt.Unix(), mapping.DigestIssue(&issue), encode(issue)
		}
		w.after(time.Duration(n)*time.Second, func() { w.observe(obs, nil) })
	}
}

// wide lets the route be for both repositories.
func wide(w *world) { w.route.Repositories = []string{"acme/*"} }

func transfers() []scenario {
	want := ends{want: values{mapping.Title: "tok9", mapping.Estimate: "3"}}
	then := func(told ...string) func(*world) {
		return func(w *world) {
			w.transfer(told...)
			w.editIssue(mapping.Title, to("tok9"))
		}
	}
	return []scenario{
		{name: "a transfer is told", tune: wide, before: linked, do: then("transferred", "opened"), ends: want},
		{name: "a transfer is told at its end", tune: wide, before: linked, do: then("opened"), ends: want},
		{name: "a transfer is told at its beginning", tune: wide, before: linked, do: then("transferred"), ends: want},
		{name: "nobody tells of a transfer", tune: wide, before: linked, do: then(), ends: want},
		{name: "an issue that was made for a card is transferred", tune: wide, before: mirrored, do: then("transferred", "opened"), ends: want},
		{name: "nobody tells of the transfer of an issue that was made for a card", tune: wide, before: mirrored, do: then(), ends: want},
		{name: "nobody tells of a transfer, and nothing is left behind", tune: wide, before: linked, do: func(w *world) {
			w.hub.forgets = true
			w.transfer()
			w.editIssue(mapping.Summary, line("tok2", "tok9"))
		}, ends: ends{want: values{mapping.Title: "tok1", mapping.Estimate: "3"}}},
		{name: "planning is the first to meet a transfer", tune: wide, before: linked, do: func(w *world) {
			w.hub.lag = func(int) time.Duration { return -1 }
			w.transfer()
			w.rewriteCard(mapping.Summary, "tok9\n\ntok3")
		}, ends: ends{want: values{mapping.Summary: "tok9\n\ntok3"}}},
		{
			name: "an issue in progress is transferred", tune: wide, before: func(w *world) { w.openIssue("tok1", "", "in-progress") },
			do: then("transferred"), ends: ends{want: values{mapping.Title: "tok9", mapping.State: mapping.StateInProgress}},
		},
	}
}

// TestAnythingMayHappenToTransfers lets people edit both sides at random, and transfer the issue
// there and back. Meanwhile calls fail, processes die and events are late or lost.
func TestAnythingMayHappenToTransfers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		mirror := rapid.Bool().Draw(rt, "mirror")
		todo, sky := deeds().Draw(rt, "deeds"), weather().Draw(rt, "weather")
		lags := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 8).Draw(rt, "lags")
		told := rapid.SliceOfN(rapid.SampledFrom([][]string{nil, {"transferred"}, {"opened"}, {"transferred", "opened"}, {"opened", "transferred"}}), 1, 2).Draw(rt, "told")
		moments := rapid.SliceOfN(rapid.SampledFrom(moments), 2, 2).Draw(rt, "moments")
		dice, coalesce := rapid.Uint64().Draw(rt, "dice"), drawFold(rt)
		err := inWorld(t, func(w *world) {
			w.dice.Seed(dice, 0)
			w.coalesce = coalesce
			wide(w)
			w.restart()
			w.begin(mirror)
			w.disturb(lags, sky)
			w.live(todo)
			at := 6 * time.Second
			for i, told := range told {
				at += moments[i]
				w.after(at, func() { w.transferTo([]string{elsewhere, repo}[i], w.issue().Labels, told...) })
			}
			w.settle()
			w.faults.armed = false
			w.touch() // a closed issue does not enter: where nobody told, it is met when its link is looked at
			w.verify(ends{conflicts: 100})
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// touch has all links look at both items.
func (w *world) touch() {
	links, _, err := w.store.List(context.Background(), project, "", 10)
	w.check(err)
	for _, l := range links {
		w.look(l, true)
	}
	w.settle()
}

// TestListedBeforeItMoved: an issue has become another one, in another project that no
// configuration names any more. A listing showed that one before the project's link learned of it.
// It makes no second card.
func TestListedBeforeItMoved(t *testing.T) {
	t.Parallel()
	const other mapping.ObjectID = "54744060c955ca8169c61eff"
	passes(t, func(w *world) {
		ctx := context.Background()
		w.hub.lag = func(int) time.Duration { return -1 }
		w.openIssue("tok1", "text")
		issue := w.issue().snapshot("")
		ref := mapping.IssueRef(issue.ID)
		linked := w.route.EnterIssue(&issue, time.Now())
		linked.Project, linked.State, linked.Card.ID, linked.Base = other, mapping.Linked, "card9", map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "tok1"}}
		_, err := w.store.Observe(ctx, other, []store.Observation{{Refs: linked.Refs(), Create: linked}})
		w.check(err)
		w.observe(store.Observation{
			Refs: []mapping.Ref{ref}, Item: ref, At: issue.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&issue), Data: encode(issue),
		}, w.route.EnterIssue(&issue, time.Now()))
		w.settle()
		if n := len(w.plan.cards); n > 0 {
			w.fail("%d cards in this project", n)
		}
		claim, err := w.store.ClaimKey(ctx, store.Key{Project: other, Link: linked.ID}, time.Minute)
		if w.check(err); err == nil && len(claim.Events) == 0 {
			w.fail("the issue's link is not told that there is news")
		}
	})
}

// full is a store with no room in one project's queue until it was asked twice.
type full struct {
	store.Store
	project mapping.ObjectID
	asked   int
}

func (f *full) Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	if project == f.project {
		if f.asked++; f.asked <= 2 {
			return []store.Observed{{Err: store.ErrFull}}, nil
		}
	}
	return f.Store.Observe(ctx, project, obs)
}

// TestHandedOverWhenThereIsRoom: an issue whose route leads to another project is
// kept until that one's queue takes it.
func TestHandedOverWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	const other mapping.ObjectID = "54744060c955ca8169c61eff"
	passes(t, func(w *world) {
		enters := w.route
		w.planned = []mapping.PlanningProject{{ID: project, Name: "web", Username: "bridge"}}
		w.others, w.route.Project, w.store = []mapping.ObjectID{other}, other, &full{Store: w.store, project: other}
		w.restart()
		w.hub.lag = func(int) time.Duration { return -1 }
		w.openIssue("tok1", "text")
		issue := w.issue().snapshot("")
		ref := mapping.IssueRef(issue.ID)
		w.observe(store.Observation{
			Refs: []mapping.Ref{ref}, Item: ref, At: issue.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&issue), Data: encode(issue),
		}, enters.EnterIssue(&issue, time.Now()))
		for range 20 {
			w.step()
		}
		if _, err := w.store.Find(context.Background(), other, ref); err != nil {
			w.fail("the other project has not got it: %v", err)
		}
	})
}
