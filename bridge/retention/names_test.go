package retention

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

const day = 24 * time.Hour

func (w *world) docs(space mapping.ObjectID) []string {
	w.t.Helper()
	names, err := w.Docs(w.ctx, space, "")
	w.no(err)
	return slices.DeleteFunc(names, func(name string) bool { return name == docLast })
}

func (w *world) put(space mapping.ObjectID, names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.no(w.PutDoc(w.ctx, space, name, []byte("of "+name)))
	}
}

// live lets days go by, with a pass on each.
func (w *world) live(days int) {
	w.t.Helper()
	for range days {
		time.Sleep(day)
		w.pass()
	}
}

// TestNamesAreForgotten: a document goes when nothing needed it for long, and for no less.
func TestNamesAreForgotten(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put("", "repository:acme/web", "repository:acme/old", "repository:acme/back", "since:acme/old", "account")
		w.put(project, "route:web", "route:old", "baseline")
		w.needed = map[string]bool{"repository:acme/web": true, "route:web": true}
		most := int(UnusedFor / day)
		w.live(most - 2)
		all := []string{"account", "repository:acme/back", "repository:acme/old", "repository:acme/web", "since:acme/old"}
		if got := w.docs(""); !slices.Equal(got, all) {
			t.Fatalf("after %d days documents %q stay, want %q", most-2, got, all)
		}
		w.needed["repository:acme/back"] = true // for a day
		w.live(1)
		delete(w.needed, "repository:acme/back")
		w.live(4)
		if got, want := w.docs(""), []string{"account", "repository:acme/back", "repository:acme/web"}; !slices.Equal(got, want) {
			t.Errorf("documents %q stay, want %q", got, want)
		}
		if got, want := w.docs(project), []string{"baseline", "route:web"}; !slices.Equal(got, want) {
			t.Errorf("documents %q of the project stay, want %q", got, want)
		}
		w.live(most)
		if got, want := w.docs(""), []string{"account", "repository:acme/web"}; !slices.Equal(got, want) {
			t.Errorf("documents %q stay in the end, want %q", got, want)
		}
		for _, space := range []mapping.ObjectID{"", project} {
			if marks, err := w.Marks(t.Context(), space, setUnused); err != nil || len(marks) != 0 {
				t.Errorf("marks %v of %q stay, %v", marks, space, err)
			}
		}
	})
}

// changing is a store in which a document is written anew just before it is removed.
type changing struct {
	store.Store
	change func(space mapping.ObjectID, name string)
}

func (c *changing) DropDoc(ctx context.Context, space mapping.ObjectID, name string, data []byte) (bool, error) {
	c.change(space, name)
	return c.Store.DropDoc(ctx, space, name, data)
}

// TestNameIsMetMeanwhile: a document that is written anew while it is judged stays.
func TestNameIsMetMeanwhile(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put("", "repository:acme/old")
		w.live(1)
		time.Sleep(UnusedFor)
		met := &changing{Store: w.Store, change: func(space mapping.ObjectID, name string) { w.no(w.PutDoc(w.ctx, space, name, []byte("another"))) }}
		w.forgetLast()
		w.no(w.keeper(met).Pass(w.ctx, func(string) {}))
		if got := w.docs(""); !slices.Equal(got, []string{"repository:acme/old"}) {
			t.Errorf("documents %q stay", got)
		}
	})
}

// TestNeedUnknown: a document of which it is not known whether something needs it stays,
// and the pass is tried again.
func TestNeedUnknown(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.put("", "repository:acme/old")
		w.live(1)
		time.Sleep(UnusedFor)
		away := errors.New("GitHub is away")
		k := w.keeper(w.Store)
		k.o.Needs = unknown{worldNeeds{w}, away}
		w.forgetLast()
		if err := k.Pass(w.ctx, func(string) {}); !errors.Is(err, away) {
			t.Errorf("Pass = %v, want %v", err, away)
		}
		if due, err := k.Due(w.ctx); err != nil || !due || len(w.docs("")) != 1 {
			t.Errorf("documents %q stay; due %v, %v", w.docs(""), due, err)
		}
	})
}

// TestNamesOfLinks: the names of all links count, those of parts, of issues that went
// away, and of projects that are not configured any more.
func TestNamesOfLinks(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		link := func(project mapping.ObjectID, id int64, route, repo string) *mapping.Link {
			return &mapping.Link{ID: mapping.LinkID(mapping.NewID()), Project: project, Route: route, Pair: mapping.Pair{Issue: mapping.IssueID{ID: id, Repo: repo, Number: 1}}}
		}
		var obs []store.Observation
		for i := range store.LinksPage + 1 {
			l := link(project, int64(10+i), "web", "acme/web")
			l.ID = mapping.LinkID(fmt.Sprintf("%06d", i))
			if i == store.LinksPage {
				l.Route, l.Away = "other", "acme/Away"
				l.SubLinks = []*mapping.Pair{&link(project, 5, "other", "acme/part").Pair}
			}
			obs = append(obs, store.Observation{Create: l})
		}
		_, err := w.Observe(w.ctx, project, obs)
		w.no(err)
		_, err = w.Observe(w.ctx, "another", []store.Observation{{Create: link("another", 7, "far", "Beta/Far")}})
		w.no(err)
		w.pass()
		if want := []mapping.ObjectID{project, "another"}; !slices.Equal(w.retired, want) {
			t.Errorf("milestones of %q were seen to, want %q", w.retired, want)
		}
		delete(w.carried.Repositories, "") // of what has none
		if got, want := slices.Sorted(maps.Keys(w.carried.Repositories)), []string{"acme/away", "acme/part", "acme/web", "beta/far"}; !slices.Equal(got, want) {
			t.Errorf("repositories %q, want %q", got, want)
		}
		if got, want := slices.Sorted(maps.Keys(w.carried.Routes)), []string{"far", "other", "web"}; !slices.Equal(got, want) {
			t.Errorf("routes %q, want %q", got, want)
		}
	})
}

// unknown are the needs of a world where nothing tells whether a repository is needed.
type unknown struct {
	worldNeeds
	why error
}

func (u unknown) Families(context.Context, Names) []Family {
	return []Family{{"", "repository:", func(context.Context, string) (bool, error) { return false, u.why }}}
}
