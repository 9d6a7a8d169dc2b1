package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"planbridge/bridge/identity"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Links visits the links of a route ("": of all), in the store's order. A route that is not
// configured and has no link either is [store.ErrNotFound].
func (o *Operator) Links(ctx context.Context, route string, visit func(*mapping.Link) error) error {
	known := o.knowsRoute(route)
	err := o.walk(ctx, o.projects(), func(l *mapping.Link) error {
		if route != "" && l.Route != route {
			return nil
		}
		known = true
		return visit(l)
	})
	if err != nil || known {
		return err
	}
	if err := o.inReach(ctx, route); err != nil {
		return err
	}
	return fmt.Errorf("route %s: %w", route, store.ErrNotFound)
}

// walk visits the links of projects.
func (o *Operator) walk(ctx context.Context, projects []mapping.ObjectID, visit func(*mapping.Link) error) error {
	for _, project := range projects {
		for l, err := range store.AllLinks(ctx, o.store, project) {
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

// everywhere lists the projects that planning.projects names, and behind them others that the
// store has a space of.
func (o *Operator) everywhere(ctx context.Context) ([]mapping.ObjectID, error) {
	all, err := o.store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	return append(o.projects(), slices.DeleteFunc(all, o.names)...), nil
}

// names reports whether planning.projects names a project.
func (o *Operator) names(project mapping.ObjectID) bool {
	return slices.Contains(o.projects(), project)
}

// ProjectName implements [status.Operator].
func (o *Operator) ProjectName(project mapping.ObjectID) (name string, named bool) {
	return cmp.Or(o.set().Routes.ProjectName(project), string(project)), o.names(project)
}

// inReach fails where links of a route are in a project that planning.projects does not name:
// nobody works them.
func (o *Operator) inReach(ctx context.Context, route string) error {
	all, err := o.store.Projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range slices.DeleteFunc(all, o.names) {
		n := 0
		err := o.walk(ctx, []mapping.ObjectID{project}, func(l *mapping.Link) error {
			if l.Route == route && !l.Parted && l.State != mapping.Erased {
				n++
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n > 0 {
			return unnamed(fmt.Sprintf("%d links of route %s are", n, route), project)
		}
	}
	return nil
}

// unnamed says that something is in a project that planning.projects does not name.
func unnamed(what string, project mapping.ObjectID) error {
	return fmt.Errorf("%s in project %s, which planning.projects does not name: put it back: %w", what, project, status.ErrState)
}

// Find returns the link that an item belongs to, by an issue's name
// (acme/web#12), the id of a card or a task, or the link's own. A link follows
// the repository that a name stands for, whatever name it was last met under.
// A link of a project that planning.projects does not name is an [status.ErrState].
func (o *Operator) Find(ctx context.Context, name string) (*mapping.Link, error) {
	l, err := o.findAnywhere(ctx, name)
	if err == nil && !o.names(l.Project) {
		return nil, unnamed("the link of "+name+" is", l.Project)
	}
	return l, err
}

// findAnywhere finds as [Operator.Find], also in projects that are not named any more.
func (o *Operator) findAnywhere(ctx context.Context, name string) (*mapping.Link, error) {
	repo, num, isIssue := strings.Cut(name, "#")
	number, err := strconv.Atoi(num)
	if name == "" || isIssue && (err != nil || !strings.Contains(repo, "/")) {
		return nil, fmt.Errorf("find %q: %w", name, status.ErrName)
	}
	projects, err := o.everywhere(ctx)
	if err != nil {
		return nil, err
	}
	if !isIssue {
		return o.findByID(ctx, projects, name)
	}
	var unread error // of a repository's identity
	sameRepo := o.standsFor(ctx, repo, &unread)
	named := func(p *mapping.Pair) bool { return p.Issue.Number == number && sameRepo(&p.Issue) }
	var found *mapping.Link
	err = o.walk(ctx, projects, func(l *mapping.Link) error {
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

// FindNumbered finds what is to be shown, not changed: by the number of a card or a task,
// too, which may be meant for an issue, and also in projects that are not named any more.
func (o *Operator) FindNumbered(ctx context.Context, name string) (*mapping.Link, error) {
	if cid, ok := cardNumber(name); ok {
		return o.findByNumber(ctx, name, cid)
	}
	return o.findAnywhere(ctx, name)
}

// cardNumber is the number of a card or a task that a name says, as 7 or #7.
func cardNumber(name string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64)
	return n, err == nil && n > 0 && len(name) < 16
}

// findByNumber returns the link that a card or a task with a number belongs to. Numbers are
// those of a project: one that several have is no name.
func (o *Operator) findByNumber(ctx context.Context, name string, cid int64) (*mapping.Link, error) {
	var found []*mapping.Link
	err := o.Links(ctx, "", func(l *mapping.Link) error {
		if slices.ContainsFunc(l.All(), func(p *mapping.Pair) bool { return p.Card.CID == cid }) {
			found = append(found, l)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, fmt.Errorf("link of card %s: %w", name, store.ErrNotFound)
	case len(found) > 1:
		return nil, status.BadAsk("cards of %d pairs have the number %s, such as %s and %s", len(found), name, found[0].Card.ID, found[1].Card.ID)
	}
	return found[0], nil
}

// findByID returns the link with an id, or that a card or a task with it belongs to.
func (o *Operator) findByID(ctx context.Context, projects []mapping.ObjectID, id string) (*mapping.Link, error) {
	item := mapping.ObjectID(id)
	for _, project := range projects {
		key := store.Key{Project: project, Link: mapping.LinkID(id)}
		link, err := o.store.Link(ctx, key)
		for _, ref := range []mapping.Ref{mapping.CardRef(item), mapping.TaskRef(item)} {
			if !errors.Is(err, store.ErrNotFound) {
				break
			}
			if key.Link, err = o.store.Find(ctx, project, ref); err == nil {
				link, err = o.store.Link(ctx, key)
			}
		}
		if !errors.Is(err, store.ErrNotFound) {
			return link, err
		}
	}
	return nil, fmt.Errorf("link of %s: %w", id, store.ErrNotFound)
}

// standsFor returns what tells whether an issue is in the repository that a name stands
// for. Where an id is not known, the name decides that the link has. What cannot be read
// is told in unread.
func (o *Operator) standsFor(ctx context.Context, name string, unread *error) func(*mapping.IssueID) bool {
	ids := map[string]identity.Record{}
	identify := func(repo string) identity.Record {
		repo = strings.ToLower(repo)
		if _, read := ids[repo]; !read {
			known, err := identity.Read(ctx, o.store, identity.DocRepository(repo))
			if err != nil {
				*unread = err
			}
			ids[repo] = known
		}
		return ids[repo]
	}
	return func(issue *mapping.IssueID) bool {
		asked := identify(name)
		// Where another repository has the name now, that is the one asked for.
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

// History returns what was done to a link, newest first.
func (o *Operator) History(ctx context.Context, l *mapping.Link, limit int) ([]mapping.Entry, error) {
	entries, err := o.store.History(ctx, store.Key{Project: l.Project, Link: l.ID}, limit)
	if err != nil {
		return nil, fmt.Errorf("history of link %s: %w", l.ID, err)
	}
	return entries, nil
}
