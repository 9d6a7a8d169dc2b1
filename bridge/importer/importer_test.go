package importer

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/inventory"
	"planbridge/bridge/jobs"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// links is a store of one project that has links and says how their keys stand.
type links struct {
	store.Store
	of       map[mapping.LinkID]*mapping.Link
	items    map[mapping.Ref]mapping.LinkID
	standing map[mapping.LinkID]store.Standing
	away     error
	epoch    string
}

func (s *links) Depth(context.Context, mapping.ObjectID) (store.Depth, error) {
	return store.Depth{}, s.away
}

func (s *links) Epoch(context.Context) (string, error) { return s.epoch, s.away }

func (s *links) Link(_ context.Context, key store.Key) (*mapping.Link, error) {
	if l := s.of[key.Link]; l != nil || s.away != nil {
		return l, s.away
	}
	return nil, store.ErrNotFound
}

func (s *links) Find(_ context.Context, _ mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error) {
	if id, ok := s.items[ref]; ok || s.away != nil {
		return id, s.away
	}
	return "", store.ErrNotFound
}

func (s *links) Projects(context.Context) ([]mapping.ObjectID, error) { return nil, s.away }

func (s *links) Standing(_ context.Context, key store.Key) (store.Standing, error) {
	if at, ok := s.standing[key.Link]; ok || s.away != nil {
		return at, s.away
	}
	return store.Standing{}, store.ErrNotFound
}

// Settings are those of one route.
func (s *links) Settings() *reconcile.Settings {
	return &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "web", Project: "p", Repositories: []string{"acme/web"}}})}
}

func keyOf(id mapping.LinkID) store.Key { return store.Key{Project: "p", Link: id} }

// importing does something within an import, and returns what the import tells of itself.
func importing(t *testing.T, s *links, ask status.ImportAsk, do func(ctx context.Context, im *run) error) *status.ImportResult {
	t.Helper()
	r := jobs.New(guard.New(slog.New(slog.DiscardHandler)), clock.Runtime{})
	r.Open(t.Context())
	got, err := r.Run(t.Context(), status.Job{Kind: "import", Import: &status.ImportResult{}}, "all", func(ctx context.Context, j *jobs.Job) error {
		return do(ctx, &run{
			Options: Options{Store: s, Inventory: inventory.New(inventory.Options{Store: s, Settings: s}), Clock: clock.Runtime{}},
			job:     j, ask: ask, titles: map[titleKey]*title{}, met: map[store.Key]bool{}, children: map[mapping.LinkID]child{},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return got.Import
}

// TestStatusOf: the results of keys that an import waits for.
func TestStatusOf(t *testing.T) {
	now, away := time.Now(), errors.New("away")
	for name, c := range map[string]struct {
		link   *mapping.Link // nil: it is gone
		parked string
		away   error
		want   keyStatus
	}{
		"entering":               {link: &mapping.Link{Pair: mapping.Pair{State: mapping.Entering}}, want: underWay},
		"its partner is made":    {link: &mapping.Link{Pair: mapping.Pair{State: mapping.Creating}}, want: underWay},
		"linked, never agreed":   {link: &mapping.Link{Pair: mapping.Pair{State: mapping.Linked}}, want: underWay},
		"linked":                 {link: &mapping.Link{Pair: mapping.Pair{State: mapping.Linked, Dates: mapping.Dates{Synced: now}}}, want: done},
		"left alone":             {link: &mapping.Link{Pair: mapping.Pair{State: mapping.Left}}, want: done},
		"given up":               {link: &mapping.Link{Route: "web", Pair: mapping.Pair{State: mapping.Creating}}, parked: "refused", want: failed},
		"not to be imported":     {want: dropped},
		"the store is not there": {away: away, want: underWay},
	} {
		t.Run(name, func(t *testing.T) {
			s := &links{of: map[mapping.LinkID]*mapping.Link{}, away: c.away}
			if c.link != nil {
				s.of["l"] = c.link
			}
			parked := map[store.Key]string{}
			if c.parked != "" {
				parked[keyOf("l")] = c.parked
			}
			told := importing(t, s, status.ImportAsk{}, func(ctx context.Context, im *run) error {
				if got, err := im.statusOf(ctx, keyOf("l"), parked); got != c.want || !errors.Is(err, c.away) {
					t.Errorf("%d, %v; want %d, %v", got, err, c.want, c.away)
				}
				return nil
			})
			listed := slices.ContainsFunc(told.Items, func(i status.ImportItem) bool { return i.What == "failed" && i.Why == c.parked })
			if listed != (c.want == failed) {
				t.Errorf("listed: %+v", told.Items)
			}
		})
	}
}

// TestASubIssueOfAnotherLink: a sub-issue whose link goes is its parent's, once that has it,
// and is given time to become it.
func TestASubIssueOfAnotherLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &links{items: map[mapping.Ref]mapping.LinkID{}}
		importing(t, s, status.ImportAsk{}, func(ctx context.Context, im *run) error {
			im.takeChild("l", &mapping.Issue{ID: 7, Parent: "acme/web#1"})
			im.takeChild("other", &mapping.Issue{ID: 8, Parent: mapping.NoParent})
			for _, step := range []struct {
				after time.Duration
				link  mapping.LinkID
				has   bool // the parent's link has the issue
				want  keyStatus
			}{
				{0, "other", false, dropped},
				{0, "l", false, underWay},
				{handover, "l", false, underWay},
				{0, "l", true, handed},
				{time.Second, "l", false, dropped},
			} {
				time.Sleep(step.after)
				if clear(s.items); step.has {
					s.items[mapping.IssueRef(7)] = "parent"
				}
				if got, err := im.statusOf(ctx, keyOf(step.link), nil); got != step.want || err != nil {
					t.Errorf("%+v: %d, %v", step, got, err)
				}
			}
			return nil
		})
	})
}

// TestMeet: a link of before that is under way is waited for, once, and one that is done is
// not. A dry run waits for nothing.
func TestMeet(t *testing.T) {
	s := &links{of: map[mapping.LinkID]*mapping.Link{
		"creating": {Pair: mapping.Pair{State: mapping.Creating}}, "left": {Pair: mapping.Pair{State: mapping.Left}},
	}}
	for _, dry := range []bool{false, true} {
		var waiting []store.Key
		told := importing(t, s, status.ImportAsk{DryRun: dry}, func(ctx context.Context, im *run) (err error) {
			for _, id := range []mapping.LinkID{"creating", "left", "gone", "creating"} {
				err = errors.Join(err, im.countExisting(ctx, keyOf(id)))
			}
			waiting = im.waiting
			return err
		})
		if want := !dry; told.UnderWay != 1 || slices.Equal(waiting, []store.Key{keyOf("creating")}) != want {
			t.Errorf("dry %v: %d under way, waited for are %v", dry, told.UnderWay, waiting)
		}
	}
}

// TestWaits: the obstacles of the keys in hand, each once, the earliest of one name.
func TestWaits(t *testing.T) {
	now := time.Now()
	later := func(reason string, at time.Duration) store.Standing {
		return store.Standing{State: store.KeyLater, Reason: reason, At: now.Add(at)}
	}
	s := &links{standing: map[mapping.LinkID]store.Standing{
		"a": later("the brake", 2*time.Minute), "b": later("the brake", time.Minute), "c": later("the past", -time.Minute), "d": {State: store.KeyDue},
		"f": later("beyond those that are looked at", time.Minute),
	}}
	importing(t, s, status.ImportAsk{}, func(ctx context.Context, im *run) error {
		for _, id := range []mapping.LinkID{"a", "b", "c", "gone", "d", "f"} {
			im.waiting = append(im.waiting, keyOf(id))
		}
		got, err := im.waits(ctx, map[mapping.ObjectID]store.Depth{
			"p": {Waiting: map[string]int{"planning:p": 2, "github": 1}}, "q": {Waiting: map[string]int{"github": 5}},
		})
		want := []status.JobWait{{For: "GitHub"}, {For: "planning project p"}, {For: "the brake", Until: now.Add(time.Minute)}}
		job := status.Job{}
		job.WaitFor(got)
		if diff := cmp.Diff(want, job.Waits); err != nil || diff != "" {
			t.Error(err, diff)
		}
		if names := []string{"GitHub", "planning project p", "the brake"}; !slices.Equal(job.WaitsFor, names) {
			t.Errorf("in words %q, want %q", job.WaitsFor, names)
		}
		return nil
	})
}

// TestTitleOf: partners are those whose title one card and one issue of a route have.
func TestTitleOf(t *testing.T) {
	web, api := &mapping.Route{Name: "web"}, &mapping.Route{Name: "api"}
	for name, c := range map[string]struct {
		match         string
		route         *mapping.Route
		cards, issues int
		unique, taken bool
	}{
		"one of each":           {"title", web, 1, 1, true, true},
		"two cards":             {"title", web, 2, 1, false, true},
		"two issues":            {"title", web, 1, 2, false, true},
		"no issue":              {"title", web, 1, 0, false, false},
		"of another route":      {"title", api, 1, 1, false, false},
		"nothing is looked for": {"", web, 1, 1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			importing(t, &links{}, status.ImportAsk{Match: c.match}, func(_ context.Context, im *run) error {
				im.titles[keyOfTitle(web, mapping.Title, "Build it ")] = &title{cards: c.cards, issues: c.issues}
				if got := im.titleOf(c.route, "Build it"); got.unique() != c.unique || got.matched() != c.taken {
					t.Errorf("%+v", got)
				}
				return nil
			})
		})
	}
}

// taken is an intake that knows none of what it is told.
type taken int

func (n *taken) Observe(_ context.Context, _ mapping.ObjectID, obs []store.Observation) (out []store.Observed, err error) {
	for range obs {
		*n++
		out = append(out, store.Observed{Created: true})
	}
	return out, nil
}

// TestTheStoreIsLost: findings about one store do not count for the next one. Two partners that
// were linked in the former would each get another one.
func TestTheStoreIsLost(t *testing.T) {
	s, n := &links{epoch: "1"}, taken(0)
	importing(t, s, status.ImportAsk{Match: "title"}, func(ctx context.Context, im *run) error {
		im.epoch, im.Intake = "1", &n
		obs := func() map[mapping.ObjectID][]store.Observation {
			return map[mapping.ObjectID][]store.Observation{"p": {{Create: &mapping.Link{}}}}
		}
		if _, err := im.observe(ctx, obs()); err != nil || n != 1 {
			t.Errorf("%v, %d observed", err, n)
		}
		s.epoch = "2"
		if _, err := im.observe(ctx, obs()); !errors.Is(err, store.ErrEpoch) || n != 1 {
			t.Errorf("the store was lost: %v, %d observed", err, n)
		}
		return nil
	})
}
