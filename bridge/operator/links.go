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

// Links visits the links of a route ("": of all), in the store's order. A route
// that is not configured and has no link either is [store.ErrNotFound].
func (o *Operator) Links(ctx context.Context, route string, visit func(*mapping.Link) error) error {
	known := o.knowsRoute(route)
	for _, project := range o.projects() {
		for l, err := range store.AllLinks(ctx, o.store, project) {
			if err != nil {
				return err
			}
			if route != "" && l.Route != route {
				continue
			}
			known = true
			if err := visit(l); err != nil {
				return err
			}
		}
	}
	if !known {
		return fmt.Errorf("route %s: %w", route, store.ErrNotFound)
	}
	return nil
}

// inReach fails where links of a route are in a project that planning.projects does not name:
// nobody works them.
func (o *Operator) inReach(ctx context.Context, route string) error {
	all, err := o.store.Projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range all {
		if slices.Contains(o.projects(), project) {
			continue
		}
		n := 0
		for l, err := range store.AllLinks(ctx, o.store, project) {
			if err != nil {
				return err
			}
			if l.Route == route && !l.Parted && l.State != mapping.Erased {
				n++
			}
		}
		if n > 0 {
			return fmt.Errorf("%d links of route %s are in project %s, which planning.projects does not name: put it back: %w", n, route, project, status.ErrState)
		}
	}
	return nil
}

// Find returns the link that an item belongs to, by an issue's name
// (acme/web#12), the id of a card or a task, or the link's own. A link follows
// the repository that a name stands for, whatever name it was last met under.
func (o *Operator) Find(ctx context.Context, name string) (*mapping.Link, error) {
	repo, num, isIssue := strings.Cut(name, "#")
	number, err := strconv.Atoi(num)
	if name == "" || isIssue && (err != nil || !strings.Contains(repo, "/")) {
		return nil, fmt.Errorf("find %q: %w", name, status.ErrName)
	}
	if !isIssue {
		return o.findByID(ctx, name)
	}
	var unread error // of a repository's identity
	sameRepo := o.standsFor(ctx, repo, &unread)
	named := func(p *mapping.Pair) bool { return p.Issue.Number == number && sameRepo(&p.Issue) }
	var found *mapping.Link
	err = o.Links(ctx, "", func(l *mapping.Link) error {
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

// FindNumbered finds as [Operator.Find], and by the number of a card or a task, too. A
// number may be meant for an issue: what is found by it is to be shown, not changed.
func (o *Operator) FindNumbered(ctx context.Context, name string) (*mapping.Link, error) {
	if cid, ok := cardNumber(name); ok {
		return o.findByNumber(ctx, name, cid)
	}
	return o.Find(ctx, name)
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
func (o *Operator) findByID(ctx context.Context, id string) (*mapping.Link, error) {
	item := mapping.ObjectID(id)
	for _, project := range o.projects() {
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
