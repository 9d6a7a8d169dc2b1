package renames

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"planbridge/bridge/catchup"
	"planbridge/bridge/identity"
	"planbridge/bridge/settings"
	"planbridge/mapping"
	"planbridge/store"
)

// DocsRoute begins the names of documents, in the space of no project, with a route's former names
// and its target. The route's identity follows.
const DocsRoute = "known-route:"

// maxNames is how many names of a route are remembered.
const maxNames = 20

// known is the record of a route.
type known struct {
	Names        []string         `json:"names"`
	Project      mapping.ObjectID `json:"project"`
	Bucket       string           `json:"bucket"`
	Repositories []string         `json:"repositories"`
	Exclude      []string         `json:"exclude,omitempty"`
	Gone         bool             `json:"gone,omitempty"` // the last configuration does not have it
}

// book has the records of all routes, by their identities.
type book map[string]known

// sameRepository reports whether two names mean one repository.
type sameRepository func(a, b string) bool

// leads reports whether a route leads to the same bucket as this one, from the same repositories.
func (k *known) leads(r *mapping.Route, same sameRepository) bool {
	return k.Project == r.Project && k.Bucket == r.Bucket && alike(k.Repositories, r.Repositories, same) && alike(k.Exclude, r.Exclude, strings.EqualFold)
}

func alike(a, b []string, same sameRepository) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x string) bool {
		return !slices.ContainsFunc(b, func(y string) bool { return same(x, y) })
	})
}

// covers reports whether a route takes over repositories of this one, and leads to the same bucket.
func (k *known) covers(r *mapping.Route) bool {
	was := &mapping.Route{Repositories: k.Repositories, Exclude: k.Exclude}
	return k.Project == r.Project && k.Bucket == r.Bucket && !slices.ContainsFunc(r.Repositories, func(pattern string) bool {
		return mapping.IsGlob(pattern) && !slices.ContainsFunc(k.Repositories, func(own string) bool { return strings.EqualFold(own, pattern) }) ||
			!mapping.IsGlob(pattern) && !was.MatchesRepo(pattern)
	})
}

// identify returns the identities of routes by their names. A route with a known name keeps its
// identity. A route that leads to the bucket of a route whose name is gone is that route.
func (b book) identify(routes []*mapping.Route, same sameRepository) map[string]string {
	ids, taken := map[string]string{}, map[string]bool{}
	named := func(r *mapping.Route, k *known) bool { return slices.Contains(k.Names, r.Name) }
	claim := func(accept func(*mapping.Route, *known) bool) {
		for _, r := range routes {
			for id, k := range mapping.Sorted(b) {
				if ids[r.Name] == "" && !taken[id] && k.Project == r.Project && accept(r, &k) {
					ids[r.Name], taken[id] = id, true
				}
			}
		}
	}
	claim(func(r *mapping.Route, k *known) bool { return named(r, k) && k.leads(r, same) })
	claim(func(r *mapping.Route, k *known) bool { return !k.Gone && !b.has(r) && k.leads(r, same) })
	claim(func(r *mapping.Route, k *known) bool { return !k.Gone && named(r, k) })
	claim(named)
	claim(func(r *mapping.Route, k *known) bool { return k.leads(r, same) })
	for _, r := range routes {
		id := r.Name
		for n := 2; ids[r.Name] == ""; n++ {
			if _, used := b[id]; !used && !taken[id] {
				ids[r.Name], taken[id] = id, true
			}
			id = fmt.Sprintf("%s~%d", r.Name, n)
		}
	}
	return ids
}

// has reports whether a route of that name is known and in the last configuration.
func (b book) has(r *mapping.Route) bool {
	for _, k := range b {
		if !k.Gone && k.Project == r.Project && slices.Contains(k.Names, r.Name) {
			return true
		}
	}
	return false
}

// with returns the book for the routes of a configuration.
func (b book) with(routes []*mapping.Route, ids map[string]string) book {
	next := maps.Clone(b)
	for id, k := range next {
		k.Gone = true
		next[id] = k
	}
	for _, r := range routes {
		names := slices.Clone(b[ids[r.Name]].Names)
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
		next[ids[r.Name]] = known{names[max(0, len(names)-maxNames):], r.Project, r.Bucket, r.Repositories, r.Exclude, false}
	}
	return next
}

// readBook reads the store's records of routes.
func readBook(ctx context.Context, s Store) (book, error) {
	names, err := s.Docs(ctx, "", DocsRoute)
	if err != nil {
		return nil, fmt.Errorf("list known routes: %w", err)
	}
	b := book{}
	for _, name := range names {
		var k known
		if _, err := store.ReadJSON(ctx, s, "", name, &k); err != nil {
			return nil, err
		}
		b[strings.TrimPrefix(name, DocsRoute)] = k
	}
	return b, nil
}

// NamesOf lists the present and former names of the route of an identity.
func (f *Follower) NamesOf(ctx context.Context, id string) ([]string, error) {
	var k known
	_, err := store.ReadJSON(ctx, f.o.Store, "", DocsRoute+id, &k)
	return append(k.Names, id), err
}

// Identified returns settings whose routes have the identities in the store.
func Identified(ctx context.Context, s Store, set *settings.Settings) (*settings.Settings, error) {
	b, err := readBook(ctx, s)
	ids := b.identify(set.Routes.All(), comparing(ctx, s, &err))
	return set.WithIdentities(ids), err
}

// comparing returns a function that compares names of repositories by the store's records. It
// stores an error in err.
func comparing(ctx context.Context, s identity.Documents, err *error) sameRepository {
	ids := map[string]int64{}
	id := func(name string) int64 {
		if _, read := ids[name]; !read && *err == nil && !mapping.IsGlob(name) {
			var record identity.Record
			record, *err = identity.Read(ctx, s, identity.DocRepository(name))
			ids[name] = record.ID
		}
		return ids[name]
	}
	return func(a, b string) bool { return strings.EqualFold(a, b) || id(a) != 0 && id(a) == id(b) }
}

// Identify returns settings whose routes have their identities, and stores these. While the store
// is away, this process's own records count until Learn stores them. It returns no settings where
// the context ends first.
func (f *Follower) Identify(ctx context.Context, set *settings.Settings) (*settings.Settings, error) {
	select {
	case f.identifying <- struct{}{}:
		defer func() { <-f.identifying }()
	case <-ctx.Done():
		return nil, fmt.Errorf("identify routes: %w", ctx.Err())
	}
	stored, err := readBook(ctx, f.o.Store)
	b := maps.Clone(f.book)
	if b == nil {
		b = book{}
	}
	maps.Copy(b, stored) // a lost store has fewer
	routes := set.Routes.All()
	if err == nil {
		f.askNew(ctx, b, routes)
	}
	ids := b.identify(routes, comparing(ctx, f.o.Store, &err))
	if err == nil {
		f.book = b.with(routes, ids)
		err = f.write(ctx, stored, routes, ids)
	}
	f.unwritten.Store(err != nil)
	return set.WithIdentities(ids), err
}

// askNew asks GitHub about repositories that may have another name than before.
func (f *Follower) askNew(ctx context.Context, b book, routes []*mapping.Route) {
	ctx, cancel := f.o.Timeout.Bound(ctx)
	defer cancel()
	anything := func(string, string) bool { return true }
	for _, r := range routes {
		may := false
		for _, k := range b {
			if k.leads(r, strings.EqualFold) && slices.Contains(k.Names, r.Name) {
				may = false
				break
			}
			may = may || k.leads(r, anything)
		}
		for _, name := range r.Named() {
			if may {
				_, _ = f.o.Repositories.Locate(ctx, name, 0, f.o.Clock.Now()) // else it is another repository
			}
		}
	}
}

// write stores the routes. A new one that takes over repositories began to run with the route that
// had them.
func (f *Follower) write(ctx context.Context, stored book, routes []*mapping.Route, ids map[string]string) error {
	for _, r := range routes {
		if _, there := stored[ids[r.Name]]; there {
			continue
		}
		for id, k := range mapping.Sorted(f.book) {
			if id == ids[r.Name] || !k.covers(r) || k.leads(r, strings.EqualFold) {
				continue
			}
			if err := catchup.InheritFirstRun(ctx, f.o.Store, r.Project, id, ids[r.Name]); err != nil {
				return err
			}
		}
	}
	for id, k := range mapping.Sorted(f.book) {
		if was, there := stored[id]; there && string(store.Encode(was)) == string(store.Encode(k)) {
			continue
		}
		if err := store.WriteJSON(ctx, f.o.Store, "", DocsRoute+id, k); err != nil {
			return err
		}
	}
	return nil
}

// errChanged says that a reload came in between.
var errChanged = errors.New("the configuration changed meanwhile")

// identifyAgain stores the routes that the store did not take before.
func (f *Follower) identifyAgain(ctx context.Context) error {
	if !f.unwritten.Load() {
		return nil
	}
	return f.IdentifyNow(ctx)
}

// IdentifyNow gives the routes in force their identities.
func (f *Follower) IdentifyNow(ctx context.Context) error {
	set := f.o.Settings.Load()
	next, err := f.Identify(ctx, set)
	if err != nil {
		return err
	}
	return f.o.Settings.Update(func(now *settings.Settings) (*settings.Settings, error) {
		if now.Config != set.Config {
			return nil, errChanged
		}
		return now.WithIdentities(next.Identities), nil
	})
}
