package catchup_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

func TestCatchUp(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(-24 * time.Hour)
	w.hub.edit("acme/web", 1, "old and untouched")
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 2, "new")
	w.poll()
	if len(w.taken.titles) != 1 || w.taken.titles[2] != "new" {
		t.Errorf("took in %v", w.taken.titles)
	}
	if w.woken != 1 {
		t.Errorf("woken %d times", w.woken)
	}
}

// TestWatermark: it stays while few issues are listed, so that news cost one
// request, and moves when there are more.
func TestWatermark(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	w.poll()
	for i := range 5 {
		w.hub.calls, w.hub.pages = nil, 0
		w.hub.edit("acme/web", int64(i+1), "news")
		w.poll()
		if got := w.watermark(); len(w.hub.calls) != 1 || w.hub.pages != 1 || !got.IsZero() {
			t.Errorf("after %d issues: calls %v, %d pages, watermark %s", i+1, w.hub.calls, w.hub.pages, got)
		}
	}
	w.hub.edit("acme/web", 6, "news")
	w.poll()
	if got, want := w.watermark(), w.hub.now.Add(-3*time.Minute); !got.Equal(want) {
		t.Errorf("watermark %s, want %s", got, want)
	}
	if w.taken.count != 6 {
		t.Errorf("%d taken in, want each of six once", w.taken.count)
	}
}

// TestWatermarkGoesBack: where GitHub's clock is behind the watermark, as after a restore, the
// watermark follows it. Changes are listed then.
func TestWatermarkGoesBack(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(10 * time.Hour)
	for i := range 6 {
		w.hub.edit("acme/web", int64(i+1), "news")
	}
	w.poll()
	w.hub.now = start.Add(time.Hour)
	for i := range 6 {
		w.hub.edit("acme/web", int64(i+1), "restored")
	}
	w.poll()
	if got, want := w.watermark(), w.hub.now.Add(-3*time.Minute); !got.Equal(want) {
		t.Errorf("watermark %s, want %s", got, want)
	}
	if w.taken.titles[1] != "restored" || w.taken.titles[6] != "restored" {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestIdleRepository: one request that answers 304, the same URL, no writes.
func TestIdleRepository(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 2, "new")
	w.poll()
	w.hub.calls = nil
	w.store.docs = 0
	for range 5 {
		w.hub.now = w.hub.now.Add(5 * time.Minute)
		w.poll()
	}
	if len(w.hub.calls) != 5 || len(slices.Compact(w.hub.calls)) != 1 {
		t.Errorf("calls %v: want the same URL each time", w.hub.calls)
	}
	if docs := w.store.docs; docs != 0 || w.taken.count != 1 {
		t.Errorf("%d documents written, %d issues taken in", docs, w.taken.count)
	}
}

// TestOverlapIsTakenOnce: equal issues of two listings make nothing due; a change of the same
// second does.
func TestOverlapIsTakenOnce(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 1, "one")
	w.poll()
	w.hub.edit("acme/web", 2, "two")
	w.poll()
	if w.taken.count != 2 {
		t.Errorf("%d taken in, want each once", w.taken.count)
	}
	w.hub.edit("acme/web", 2, "two, edited in the same second")
	w.poll()
	if w.taken.count != 3 || w.taken.titles[2] != "two, edited in the same second" {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestLaggingList: late entries of GitHub's listings are found all the same.
func TestLaggingList(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 1, "listed late")
	w.hub.now = w.hub.now.Add(time.Minute)
	for i := range 6 {
		w.hub.edit("acme/web", int64(i+2), "listed at once")
	}
	late := w.hub.issues["acme/web"][0]
	w.hub.issues["acme/web"] = w.hub.issues["acme/web"][1:]
	w.poll()
	w.hub.set(late)
	w.hub.now = w.hub.now.Add(time.Minute)
	w.poll()
	if w.taken.titles[1] != "listed late" {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestWatermarkNeverPassesTheAnswer: an issue dated in the future does not take
// the watermark with it.
func TestWatermarkNeverPassesTheAnswer(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	for i := range 6 {
		w.hub.edit("acme/web", int64(i+1), "from the future")
		w.hub.issues["acme/web"][i].UpdatedAt = start.Add(time.Hour + 24*time.Hour)
	}
	w.hub.lag = -48 * time.Hour
	w.poll()
	if got := w.watermark(); !got.Equal(start.Add(time.Hour - 3*time.Minute)) {
		t.Errorf("watermark %s", got)
	}
}

// TestUnstoredPage: the watermark never passes what is not stored, and it is
// listed again.
func TestUnstoredPage(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	for i := range 6 {
		w.hub.edit("acme/web", int64(i+1), "one")
	}
	w.taken.fail = errors.New("store is away")
	if err := w.catchUp.Poll(t.Context()); !errors.Is(err, w.taken.fail) {
		t.Fatalf("error %v", err)
	}
	if got := w.watermark(); !got.IsZero() {
		t.Errorf("watermark %s", got)
	}
	w.taken.fail = nil
	w.poll()
	if w.taken.titles[1] != "one" {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestManyPages: the watermark moves page by page, and an issue that is updated
// during the walk, so that the pages shift, hides no other.
func TestManyPages(t *testing.T) {
	for name, apart := range map[string]time.Duration{"spread": time.Minute, "dense": 100 * time.Millisecond} {
		w := newCatchUp(t)
		w.hub.perPage = 10
		for i := range 95 {
			w.hub.now = start.Add(time.Hour + time.Duration(i)*apart).Truncate(time.Second)
			w.hub.edit("acme/web", int64(i+1), "first")
		}
		w.hub.now = w.hub.now.Add(time.Hour)
		for n := range 9 {
			w.hub.before[n+2] = func() { w.hub.edit("acme/web", int64(n*10+1), "second") }
		}
		for range 3 {
			w.poll()
			w.hub.now = w.hub.now.Add(time.Hour)
		}
		for _, i := range w.hub.issues["acme/web"] {
			if w.taken.titles[i.ID] != i.Title {
				t.Errorf("%s: issue %d is %q, taken in as %q", name, i.ID, i.Title, w.taken.titles[i.ID])
			}
		}
		w.hub.calls = nil
		w.poll()
		if len(w.hub.calls) != 1 {
			t.Errorf("%s: it does not come to rest: %v", name, w.hub.calls)
		}
	}
}

// TestManyAtOnceComeToRest: updates within the overlap, of more than a page, are not listed again
// and again while nothing happens.
func TestManyAtOnceComeToRest(t *testing.T) {
	w := newCatchUp(t)
	w.hub.perPage = 10
	for i := range 95 {
		w.hub.now = start.Add(time.Hour + time.Duration(i/2)*time.Second)
		w.hub.edit("acme/web", int64(i+1), "first")
	}
	for range 3 {
		w.poll()
		w.hub.now = w.hub.now.Add(5 * time.Minute)
	}
	w.hub.pages = 0
	w.poll()
	if w.hub.pages != 0 || len(w.taken.titles) != 95 || w.taken.count != 95 {
		t.Errorf("%d pages while nothing happens; took in %d issues in %d steps", w.hub.pages, len(w.taken.titles), w.taken.count)
	}
}

// TestDensePagesCrashedInBetween: a walk that ends early leaves the watermark
// where everything after it will be listed again.
func TestDensePagesCrashedInBetween(t *testing.T) {
	w := newCatchUp(t)
	w.hub.perPage = 10
	w.hub.now = start.Add(time.Hour)
	for i := range 35 {
		w.hub.edit("acme/web", int64(i+1), "first")
	}
	w.hub.now = w.hub.now.Add(time.Hour)
	w.hub.before[3] = func() { w.taken.fail = errors.New("away") }
	if err := w.catchUp.Poll(t.Context()); err == nil {
		t.Fatal("no error")
	}
	w.taken.fail = nil
	w.catchUp = w.options.catchUp()
	w.poll()
	if len(w.taken.titles) != 35 {
		t.Errorf("took in %d of 35", len(w.taken.titles))
	}
}

// TestGlobs: the repositories of a glob are listed but for those it excludes.
func TestGlobs(t *testing.T) {
	w := newCatchUp(t)
	glob := route("all", "Other")
	glob.Repositories, glob.NewCardsIn, glob.Exclude = []string{"acme/*"}, "", []string{"acme/secret"}
	w.routes = append(w.routes, glob)
	w.hub.repos = []string{"acme/api", "acme/secret", "acme/Web"}
	w.hub.now = start.Add(time.Hour)
	for i, repo := range []string{"acme/web", "acme/api", "acme/secret"} {
		w.hub.edit(repo, int64(i+1), repo)
	}
	w.poll()
	if len(w.taken.titles) != 2 || w.taken.titles[3] != "" {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestRefusedRepository: one that cannot be read does not keep the others from
// being listed, nor their projects from being adopted; GitHub being away does.
func TestRefusedRepository(t *testing.T) {
	w := newCatchUp(t)
	w.routes = []mapping.Route{route("gone", "Incoming"), route("web", "Incoming")}
	w.hub.fails["acme/gone"] = fmt.Errorf("list: %w", mapping.ErrNotFound)
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 1, "one")
	w.poll()
	if w.taken.titles[1] != "one" || w.woken != 1 {
		t.Errorf("took in %v, woken %d times", w.taken.titles, w.woken)
	}
	epoch, _ := w.store.Epoch(t.Context())
	adopted := func() store.RepositoryAdopted {
		d, _ := w.store.Doc(t.Context(), "", "adopted:acme/gone")
		return store.ParseRepositoryAdopted(d)
	}
	if a := adopted(); !a.Unreadable || !a.For(epoch, project) {
		t.Errorf("document %+v", a)
	}
	delete(w.hub.fails, "acme/gone")
	w.poll()
	if a := adopted(); a.Unreadable || !a.For(epoch, project) {
		t.Errorf("document %+v once it can be read", a)
	}
	w.hub.fails["acme/gone"] = mapping.ErrUnavailable
	if err := w.catchUp.Poll(t.Context()); !errors.Is(err, mapping.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}

// TestCatchUpRuns: every interval, on one replica.
func TestCatchUpRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCatchUp(t)
		o := w.options
		idle := &hub{fails: map[string]error{}}
		o.Owner, o.GitHub = "replica-2", idle
		go w.catchUp.Run(t.Context())
		synctest.Wait()
		go o.catchUp().Run(t.Context())
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if n := w.woken; n < 22 || n > 28 || len(w.failed) != 0 {
			t.Errorf("%d rounds in two hours, failures %v", n, w.failed)
		}
		if len(idle.calls) != 0 {
			t.Errorf("the second replica asked %v", idle.calls)
		}
		w.hub.fail("acme/web", mapping.ErrUnavailable)
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		if len(w.failed) == 0 {
			t.Error("a failure was not told")
		}
	})
}
