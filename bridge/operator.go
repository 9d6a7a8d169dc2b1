package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"planbridge/bridge/effects"
	"planbridge/bridge/guard"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

// Operator is what commands and the admin listener can ask of planbridge's
// memory. It works on the store alone, so that a command can use it where no
// service runs.
type Operator struct {
	store store.Store
	set   func() *settings
	kick  func()
	// paused is told that a route was paused or resumed.
	paused func(route string, paused bool)
	// accepted is told that an operator accepted something; repo: the repository's name.
	accepted func(ctx context.Context, repo string) error
	// reader returns what reads the live services, and what ends its use.
	reader func() (*effects.Shell, func(), error)
	// hub returns GitHub's side alone, and what ends its use.
	hub func() (*githubSide, func(), error)
	// firstRun tells when a route began to run.
	firstRun func(route string) time.Time
	// guard knows what this process set aside; nil where none runs.
	guard *guard.Guard
	// works reports whether this process, which worker names, works a key; nil where none runs.
	works  func(store.Key) bool
	worker string
}

var _ status.Operator = (*Operator)(nil)

// Operator returns the operator's door to the running App.
func (a *App) Operator() *Operator {
	return &Operator{store: a.store, set: a.set.Load, kick: a.engine.Kick, paused: a.notePaused, accepted: a.accepted, reader: func() (*effects.Shell, func(), error) {
		return a.reconcile, func() {}, nil
	}, hub: func() (*githubSide, func(), error) { return a.github, func() {}, nil }, firstRun: a.firstRun, guard: a.guard, works: a.engine.Works, worker: a.owner}
}

// OpenOperator opens the store that the configuration names, for a command
// that finds no service running, and returns what closes it again. A store
// that is not there yet is an error (fs.ErrNotExist), for a question must not make one.
func OpenOperator(ctx context.Context, c *config.Config, log *slog.Logger) (*Operator, func() error, error) {
	if path, ok := c.Store.File(); ok {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("open store %s: %w", path, fs.ErrNotExist)
		}
	}
	s, err := OpenStore(ctx, c, log)
	if err != nil {
		return nil, nil, err
	}
	set := newSettings(c, false)
	return &Operator{
		store: s, set: func() *settings { return set }, kick: func() {}, paused: func(string, bool) {},
		accepted: func(context.Context, string) error { return nil },
		reader:   func() (*effects.Shell, func(), error) { return newReader(c, s, set) },
		hub:      func() (*githubSide, func(), error) { return newHubReader(c, s) },
		// Where no service runs, the first runs are left out of account.
		firstRun: func(string) time.Time { return time.Unix(0, 0) },
	}, s.Close, nil
}

// Ready reports why the store cannot be used, nil where it can.
func (o *Operator) Ready(ctx context.Context) error { return o.store.Ping(ctx) }

// Routes lists the configured routes, in the order in which they take issues.
func (o *Operator) Routes() []*mapping.Route { return o.set().Routes.All() }

// projectName is the operator's name of a project.
func (o *Operator) projectName(project mapping.ObjectID) string {
	for _, r := range o.Routes() {
		if r.Project == project {
			return r.ProjectName
		}
	}
	return string(project)
}

// Links visits the links of a route ("": of all), in the store's order. A route
// that is not configured and has no link either is [store.ErrNotFound].
func (o *Operator) Links(ctx context.Context, route string, visit func(*mapping.Link) error) error {
	known := route == "" || slices.ContainsFunc(o.Routes(), func(r *mapping.Route) bool { return r.Name == route })
	for _, project := range o.set().projects() {
		for cursor := ""; ; {
			links, next, err := o.store.List(ctx, project, cursor, linksPage)
			if err != nil {
				return fmt.Errorf("list links: %w", err)
			}
			for _, l := range links {
				if route != "" && l.Route != route {
					continue
				}
				known = true
				if err := visit(l); err != nil {
					return err
				}
			}
			if cursor = next; cursor == "" {
				break
			}
		}
	}
	if !known {
		return fmt.Errorf("route %s: %w", route, store.ErrNotFound)
	}
	return nil
}

// maxFailures bounds how many failures of a project are shown.
const maxFailures = 10_000

// projectAside stands for a project in the keys of what is no key of the queue: items
// of a loop that this process set aside, since it panicked on them.
const projectAside = "aside"

// Failures lists the parked keys and what was set aside, oldest first.
func (o *Operator) Failures(ctx context.Context) ([]store.Failure, error) {
	var out []store.Failure
	for _, project := range o.set().projects() {
		parked, err := o.store.Failures(ctx, project, maxFailures)
		if err != nil {
			return nil, fmt.Errorf("list failures: %w", err)
		}
		out = append(out, parked...)
	}
	for _, f := range o.guard.Failures() {
		out = append(out, store.Failure{
			Key: store.Key{Project: projectAside, Link: mapping.LinkID(f.What + " " + f.Item)}, Where: strings.TrimSpace(f.What + " " + f.Item),
			Reason: f.Reason, Attempts: f.Count, At: f.At,
		})
	}
	slices.SortStableFunc(out, func(a, b store.Failure) int { return a.At.Compare(b.At) })
	return out, nil
}

// Retry takes a key up again: one named as failures shows it (project/link),
// as an issue (acme/web#12), or "all". It returns how many.
func (o *Operator) Retry(ctx context.Context, name string) (int, error) {
	failures, err := o.Failures(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, f := range failures {
		if name != "all" && name != f.Key.String() && name != string(f.Key.Link) && name != f.Where {
			continue
		}
		if f.Key.Project == projectAside { // its loop takes it up by itself
			o.guard.Forget(string(f.Key.Link))
			n++
			continue
		}
		if err := o.store.Enqueue(ctx, f.Key, 0, false); err != nil {
			return n, fmt.Errorf("retry %s: %w", f.Where, err)
		}
		n++
	}
	if n == 0 && name != "all" {
		return 0, fmt.Errorf("failure %s: %w", name, store.ErrNotFound)
	}
	o.kick()
	return n, nil
}

// Conflicts lists the newest entries of the conflict ledger, newest first.
func (o *Operator) Conflicts(ctx context.Context, limit int) ([]mapping.Conflict, error) {
	var out []mapping.Conflict
	for _, project := range o.set().projects() {
		cs, _, err := o.store.Conflicts(ctx, project, "", limit)
		if err != nil {
			return nil, fmt.Errorf("list conflicts: %w", err)
		}
		out = append(out, cs...)
	}
	slices.SortStableFunc(out, func(a, b mapping.Conflict) int { return b.At.Compare(a.At) })
	return out[:min(limit, len(out))], nil
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
	named := func(p *mapping.Link) bool { return p.Issue.Number == number && sameRepo(&p.Issue) }
	var found *mapping.Link
	err = o.Links(ctx, "", func(l *mapping.Link) error {
		if named(l) || slices.ContainsFunc(l.Parts, named) {
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

// findByID returns the link with an id, or that a card or a task with it belongs to.
func (o *Operator) findByID(ctx context.Context, id string) (*mapping.Link, error) {
	item := mapping.ObjectID(id)
	for _, project := range o.set().projects() {
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
	ids := map[string]identity{}
	identify := func(repo string) identity {
		repo = strings.ToLower(repo)
		if _, read := ids[repo]; !read {
			known, err := readIdentity(ctx, o.store, docRepository(repo))
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

// linksPage is how many links are read at once.
const linksPage = 500

// Counts counts the links by route and state, but those of a store that an earlier
// program wrote and that are not counted yet.
func (o *Operator) Counts(ctx context.Context) (map[string]map[mapping.LinkState]int, error) {
	all := newCounts()
	for _, project := range o.set().projects() {
		t, err := o.store.Tally(ctx, project)
		if err != nil {
			return nil, fmt.Errorf("count links: %w", err)
		}
		all.add(t)
	}
	return all.links, nil
}

// Overview describes every project's queue, by the operator's names.
func (o *Operator) Overview(ctx context.Context) (map[string]store.Depth, error) {
	out := map[string]store.Depth{}
	for _, project := range o.set().projects() {
		name := o.projectName(project)
		d, err := o.store.Depth(ctx, project)
		if err != nil {
			return nil, fmt.Errorf("queue of project %s: %w", name, err)
		}
		out[name] = d
	}
	return out, nil
}
