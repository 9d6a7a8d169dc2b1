// Package links finds links by people's names for them, and holds one for a person's change.
//
// Its entry points are [New], whose [Finder] reads the store, and [Holder], which keeps the engine
// off a link while a person's change is written.
package links

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"planbridge/bridge/identity"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings has the present settings.
type Settings interface {
	Settings() *reconcile.Settings
}

// Options configure a Finder. All fields are required.
type Options struct {
	Store    store.Store
	Settings Settings
}

// Finder finds links by the names that people give them. It is safe for concurrent use.
type Finder struct{ o Options }

// New makes a Finder.
func New(o Options) *Finder { return &Finder{o} }

func (f *Finder) set() *reconcile.Settings { return f.o.Settings.Settings() }

// Projects lists the projects that planning.projects names.
func (f *Finder) Projects() []mapping.ObjectID { return f.set().Routes.Projects() }

// Routes lists the configured routes, in the order in which they take issues.
func (f *Finder) Routes() []*mapping.Route { return f.set().Routes.All() }

// knowsRoute reports whether a route is configured; "" stands for all.
func (f *Finder) knowsRoute(name string) bool {
	return name == "" || slices.ContainsFunc(f.Routes(), func(r *mapping.Route) bool { return r.Name == name })
}

// Counts counts the links by route and state. Links of an earlier program's store that Repair has
// not counted yet are missing.
func (f *Finder) Counts(ctx context.Context) (map[string]map[mapping.LinkState]int, error) {
	all := store.Tally{Links: map[string]map[mapping.LinkState]int{}, Failures: map[string]int{}}
	projects, err := f.Everywhere(ctx)
	if err != nil {
		return nil, err
	}
	for _, project := range projects {
		t, err := f.o.Store.Tally(ctx, project)
		if err != nil {
			return nil, fmt.Errorf("count links: %w", err)
		}
		if !f.names(project) {
			t = t.WithoutProject()
		}
		all.Add(t)
	}
	return all.Links, nil
}

// Links visits the links of a route ("": of all), in the store's order. Links of an unnamed project
// are shown as dormant. A route without configuration and links is [store.ErrNotFound].
func (f *Finder) Links(ctx context.Context, route string, visit func(*mapping.Link) error) error {
	known := f.knowsRoute(route)
	projects, err := f.Everywhere(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		named := f.names(project)
		err := f.Walk(ctx, []mapping.ObjectID{project}, func(l *mapping.Link) error {
			if route != "" && l.Route != route {
				return nil
			}
			if known = true; !named {
				l.WithoutProject()
			}
			return visit(l)
		})
		if err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	return fmt.Errorf("route %s: %w", route, store.ErrNotFound)
}

// Walk visits the links of projects.
func (f *Finder) Walk(ctx context.Context, projects []mapping.ObjectID, visit func(*mapping.Link) error) error {
	for _, project := range projects {
		for l, err := range store.AllLinks(ctx, f.o.Store, project) {
			if err != nil {
				return err
			}
			if err := visit(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// Everywhere lists the projects that planning.projects names, and behind them others with data in
// the store.
func (f *Finder) Everywhere(ctx context.Context) ([]mapping.ObjectID, error) {
	return store.ProjectsAfter(ctx, f.o.Store, f.Projects())
}

// names reports whether planning.projects names a project.
func (f *Finder) names(project mapping.ObjectID) bool {
	return f.set().Routes.Names(project)
}

// ProjectName implements [status.Operator].
func (f *Finder) ProjectName(project mapping.ObjectID) (name string, named bool) {
	return cmp.Or(f.set().Routes.ProjectName(project), string(project)), f.names(project)
}

// InReach fails where links of a route are in a project that planning.projects does not name, as
// nobody works them.
func (f *Finder) InReach(ctx context.Context, route string) error {
	all, err := f.o.Store.Projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range slices.DeleteFunc(all, f.names) {
		n := 0
		err := f.Walk(ctx, []mapping.ObjectID{project}, func(l *mapping.Link) error {
			if l.Route == route && !l.Parted && l.State != mapping.Erased {
				n++
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n > 0 {
			return unnamed(mapping.Count(n, "link of route "+route+" is", "links of route "+route+" are"), project)
		}
	}
	return nil
}

// unnamed says that something is in a project that planning.projects does not name.
func unnamed(what string, project mapping.ObjectID) error {
	return fmt.Errorf("%s in project %s, which planning.projects does not name: put it back: %w", what, project, status.ErrState)
}

// Find returns the link that an item belongs to. The name is an issue's name (acme/web#12) or
// address, the id of a card or a task, or the link's own id or key. A link follows the repository
// behind a name, regardless of the name under which it was last seen. A link of a project that
// planning.projects does not name is a [status.ErrState].
func (f *Finder) Find(ctx context.Context, name string) (*mapping.Link, error) {
	l, err := f.FindAnywhere(ctx, name)
	if err == nil && !f.names(l.Project) {
		return nil, unnamed("the link of "+name+" is", l.Project)
	}
	return l, err
}

// FindAnywhere finds as [Finder.Find], also in projects that are no longer named.
func (f *Finder) FindAnywhere(ctx context.Context, name string) (*mapping.Link, error) {
	item, err := status.ParseItem(name)
	switch {
	case err != nil:
		return nil, err
	case item.CID != 0:
		return nil, status.BadAsk("%s may be the number of a card or of an issue: %w", name, status.ErrName)
	}
	projects, err := f.Everywhere(ctx)
	if err != nil {
		return nil, err
	}
	if item.Repository == "" {
		return f.findByID(ctx, projects, item.Name)
	}
	var unread error // of a repository's identity
	sameRepo := f.standsFor(ctx, item.Repository, &unread)
	named := func(p *mapping.Pair) bool { return p.Issue.Number == item.Number && sameRepo(&p.Issue) }
	var found *mapping.Link
	err = f.Walk(ctx, projects, func(l *mapping.Link) error {
		if slices.ContainsFunc(l.Issues(), named) {
			found = l
			return errFound
		}
		return nil
	})
	switch {
	case unread != nil:
		return nil, fmt.Errorf("find %q: %w", name, unread)
	case found != nil:
		return found, nil
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("link of %s: %w", name, store.ErrNotFound)
}

// FindNumbered finds an item that is shown and not changed. It also takes the number of an issue, a
// card or a task, and searches projects that are no longer named.
func (f *Finder) FindNumbered(ctx context.Context, name string) (*mapping.Link, error) {
	if item, err := status.ParseItem(name); err == nil && item.CID != 0 {
		return f.findByNumber(ctx, item)
	}
	return f.FindAnywhere(ctx, name)
}

// findByNumber returns the link that the issue, the card or the task with a number belongs to.
// Numbers belong to a repository or a project, so that a number of several items is no name.
func (f *Finder) findByNumber(ctx context.Context, item status.Item) (*mapping.Link, error) {
	projects, err := f.Everywhere(ctx)
	if err != nil {
		return nil, err
	}
	var found *mapping.Link
	var names []string
	err = f.Walk(ctx, projects, func(l *mapping.Link) error {
		for _, p := range l.All() {
			if item.Numbers(p) {
				found, names = l, append(names, item.Called(l, p))
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, fmt.Errorf("link of number %d: %w", item.CID, store.ErrNotFound)
	case len(names) > 1:
		return nil, status.Ambiguous(item.Name, names...)
	}
	return found, nil
}

// findByID returns the link with an id or a key, or that a card or a task with the id belongs to.
func (f *Finder) findByID(ctx context.Context, projects []mapping.ObjectID, name string) (*mapping.Link, error) {
	project, id, isKey := strings.Cut(name, "/")
	if !isKey {
		id = name
	}
	item := mapping.ObjectID(id)
	for _, p := range projects {
		if isKey && string(p) != project {
			continue
		}
		key := store.Key{Project: p, Link: mapping.LinkID(id)}
		link, err := f.o.Store.Link(ctx, key)
		for _, ref := range []mapping.Ref{mapping.CardRef(item), mapping.TaskRef(item)} {
			if !errors.Is(err, store.ErrNotFound) {
				break
			}
			if key.Link, err = f.o.Store.Find(ctx, p, ref); err == nil {
				link, err = f.o.Store.Link(ctx, key)
			}
		}
		if !errors.Is(err, store.ErrNotFound) {
			return link, err
		}
	}
	return nil, fmt.Errorf("link of %s: %w", name, store.ErrNotFound)
}

// standsFor returns a function that reports whether an issue is in the repository behind a name.
// Where an id is not known, the link's own name decides. A failed read is stored in unread.
func (f *Finder) standsFor(ctx context.Context, name string, unread *error) func(*mapping.IssueID) bool {
	ids := map[string]identity.Record{}
	identify := func(repo string) identity.Record {
		repo = strings.ToLower(repo)
		if _, read := ids[repo]; !read {
			known, err := identity.Read(ctx, f.o.Store, identity.DocRepository(repo))
			if err != nil {
				*unread = err
			}
			ids[repo] = known
		}
		return ids[repo]
	}
	return func(issue *mapping.IssueID) bool {
		asked := identify(name)
		// Where another repository has the name now, that one is meant.
		id, want := issue.RepoID, cmp.Or(asked.Other, asked.ID)
		if id == 0 {
			id = identify(issue.Repo).ID
		}
		if id == 0 || want == 0 {
			return strings.EqualFold(issue.Repo, name)
		}
		return id == want
	}
}

// errFound ends the visits of Find.
var errFound = errors.New("found")

// History returns the history of a link, newest first.
func (f *Finder) History(ctx context.Context, l *mapping.Link, limit int) ([]mapping.Entry, error) {
	entries, err := f.o.Store.History(ctx, store.Key{Project: l.Project, Link: l.ID}, limit)
	if err != nil {
		return nil, fmt.Errorf("history of link %s: %w", l.ID, err)
	}
	return entries, nil
}
