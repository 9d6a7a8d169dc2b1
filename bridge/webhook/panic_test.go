package webhook_test

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"testing"

	"planbridge/bridge/guard"
	"planbridge/bridge/webhook"
	"planbridge/mapping"
	"planbridge/store"
)

// TestAPanicOnADeliveryCostsNoOther: it is answered with 500, so that GitHub has it
// for one that failed, and the listener goes on.
func TestAPanicOnADeliveryCostsNoOther(t *testing.T) {
	g := guard.New(slog.New(slog.DiscardHandler))
	w := newWorld(t, func(o *options) {
		o.Guard = g
		o.Authorship = func(login string) mapping.Authorship {
			if login == "bad" {
				panic("an author")
			}
			return whose(login)
		}
	})
	bad := issue(1, func(i *mapping.Issue) { i.Author = "bad" })
	ev := event("opened", bad)
	ev.Sender = "bad"
	w.serve(w.request("issues", ev), http.StatusInternalServerError, "panic")
	w.deliver("opened", issue(2), "stored")
	w.deliver("opened", issue(2), "stored")
	if fs := g.Failures(); len(fs) != 1 || fs[0].What != "delivery" || fs[0].Item != "7:guid-1" {
		t.Errorf("set aside is %+v\n%s", fs, w.log)
	}

	private := func() (bool, error) { return true, nil }
	if err := w.intake.Listed(context.Background(), []mapping.Issue{*bad, *issue(3)}, private); err != nil {
		t.Error(err)
	}
	if fs := g.Failures(); len(fs) != 2 || fs[1].Item != "acme/web#1" {
		t.Errorf("set aside is %+v\n%s", fs, w.log)
	}
	if _, err := w.store.Find(context.Background(), web, mapping.IssueRef(3)); err != nil {
		t.Errorf("the other issue of the listing: %v", err)
	}
}

// spoilt is a store in which what it has of issue 1 is spoilt.
type spoilt struct{ webhook.Store }

func (s spoilt) Observe(ctx context.Context, p mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	var good []store.Observation
	bad := -1
	for i, o := range obs {
		if o.Item == mapping.IssueRef(1) {
			bad = i
			continue
		}
		good = append(good, o)
	}
	got, err := s.Store.Observe(ctx, p, good)
	if bad >= 0 {
		got = slices.Insert(got, bad, store.Observed{Err: store.ErrSpoilt})
	}
	return got, err
}

// TestAnIssueThatIsSpoiltInTheStoreCostsTheListingNoOther, as a repository is listed
// from where the last listing came through.
func TestAnIssueThatIsSpoiltInTheStoreCostsTheListingNoOther(t *testing.T) {
	g := guard.New(slog.New(slog.DiscardHandler))
	w := newWorld(t, func(o *options) { o.Guard, o.Store = g, spoilt{o.Store} })
	private := func() (bool, error) { return true, nil }
	if err := w.intake.Listed(context.Background(), []mapping.Issue{*issue(1), *issue(2)}, private); err != nil {
		t.Error(err)
	}
	if fs := g.Failures(); len(fs) != 1 || fs[0].Item != "acme/web#1" {
		t.Errorf("set aside is %+v", fs)
	}
	if _, err := w.store.Find(context.Background(), web, mapping.IssueRef(2)); err != nil {
		t.Errorf("the other issue: %v", err)
	}
}
