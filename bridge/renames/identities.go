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

// DocsRoute begins the names of the documents, in the space of no project, that say which names
// a route had and where it leads. The route's identity follows.
const DocsRoute = "known-route:"

// maxNames is how many names of a route are remembered.
const maxNames = 20

// known is what is remembered of a route.
type known struct {
	Names        []string         `json:"names"`
	Project      mapping.ObjectID `json:"project"`
	Bucket       string           `json:"bucket"`
	Repositories []string         `json:"repositories"`
	Exclude      []string         `json:"exclude,omitempty"`
	Gone         bool             `json:"gone,omitempty"` // the configuration that was read last does not have it
}

// book is what is remembered of all routes, by their identities.
type book map[string]known

// sameRepository reports whether two names mean one repository.
type sameRepository func(a, b string) bool

// leads reports whether a route leads to where this one leads, from the same repositories.
func (k *known) leads(r *mapping.Route, same sameRepository) bool {
	return k.Project == r.Project && k.Bucket == r.Bucket && alike(k.Repositories, r.Repositories, same) && alike(k.Exclude, r.Exclude, strings.EqualFold)
}

func alike(a, b []string, same sameRepository) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x string) bool {
		return !slices.ContainsFunc(b, func(y string) bool { return same(x, y) })
	})
}

// covers reports whether a route takes repositories over that this one led from to the same bucket.
func (k *known) covers(r *mapping.Route) bool {
	was := &mapping.Route{Repositories: k.Repositories, Exclude: k.Exclude}
	return k.Project == r.Project && k.Bucket == r.Bucket && !slices.ContainsFunc(r.Repositories, func(pattern string) bool {
		return mapping.IsGlob(pattern) && !slices.ContainsFunc(k.Repositories, func(own string) bool { return strings.EqualFold(own, pattern) }) ||
			!mapping.IsGlob(pattern) && !was.MatchesRepo(pattern)
	})
}

// identify returns the identities of routes by their names. One that is known by its name keeps
// its identity. One that leads where a route did whose name is no longer there is that route.
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

// has reports whether a route of its name, that was there a moment ago, is known.
func (b book) has(r *mapping.Route) bool {
	for _, k := range b {
		if !k.Gone && k.Project == r.Project && slices.Contains(k.Names, r.Name) {
			return true
		}
	}
	return false
}

// with returns the book once routes are those of the configuration.
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

// readBook reads what the store knows of routes.
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

// NamesOf lists the names that the route of an identity has and had.
func (f *Follower) NamesOf(ctx context.Context, id string) ([]string, error) {
	var k known
	_, err := store.ReadJSON(ctx, f.o.Store, "", DocsRoute+id, &k)
	return append(k.Names, id), err
}

// Identified returns settings whose routes have the identities that the store tells.
func Identified(ctx context.Context, s Store, set *settings.Settings) (*settings.Settings, error) {
	b, err := readBook(ctx, s)
	ids := b.identify(set.Routes.All(), comparing(ctx, s, &err))
	return set.WithIdentities(ids), err
}

// comparing compares names of repositories by what the store remembers of them. What it fails
// with is in err.
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

// Identify returns settings whose routes have their identities, and has the store know them.
// Where it is away, the routes are what this process takes them for, until Learn tells it. It
// returns no settings where the context ends before it comes to them.
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
	maps.Copy(b, stored) // a store that was lost knows less
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

// askNew asks GitHub which repositories are meant that may be called otherwise than before.
func (f *Follower) askNew(ctx context.Context, b book, routes []*mapping.Route) {
	ctx, cancel := f.o.Briefly(ctx)
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
				_, _ = f.o.Repositories.Locate(ctx, name, 0, f.o.Now()) // else it is another repository
			}
		}
	}
}

// write has the store know the routes. One that is new and takes over repositories began to run
// when the route did that had them.
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

// errChanged says that a reload came between.
var errChanged = errors.New("the configuration changed meanwhile")

// identifyAgain has the store know the routes that it did not take before.
func (f *Follower) identifyAgain(ctx context.Context) error {
	if !f.unwritten.Load() {
		return nil
	}
	return f.IdentifyNow(ctx)
}

// IdentifyNow has the routes in force have their identities.
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
