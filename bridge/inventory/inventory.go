// Package inventory lists the items of a configuration's routes in GitHub and planning, for imports
// and verifications. It keeps neither side in memory.
package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/bridge/services"
	"planbridge/mapping"
	"planbridge/store"
)

// MaxItems bounds the items that a job lists.
const MaxItems = 10_000

// LookEvery is how often a job checks the keys that it waits for.
const LookEvery = 250 * time.Millisecond

// Settings has the present settings.
type Settings interface {
	Settings() *reconcile.Settings
}

// GitHub lists GitHub's items. Errors match the sentinels of mapping.
type GitHub interface {
	// Repositories lists the repositories that a glob such as acme/* means.
	Repositories(ctx context.Context, glob string) ([]string, error)
	// ListIssues passes a repository's issues to page, those of a state (open) or all, in the order
	// of their creation.
	ListIssues(ctx context.Context, repo, state string, page func([]mapping.Issue) error) error
}

// Planning is the used part of one planning project.
type Planning interface {
	// BacklogEach visits the cards of the buckets, EachCard those of the sprints, too.
	BacklogEach(ctx context.Context, visit func(bucket mapping.ObjectID, title string, card mapping.Card) error) error
	EachCard(ctx context.Context, visit func(mapping.Card) error) error
	// BucketIDs returns the ids of a bucket, given by title or id.
	BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
	Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error)
	Task(ctx context.Context, id mapping.ObjectID) (mapping.Task, error)
}

// Projects finds planning projects.
type Projects interface {
	// Project is nil where no configured project has the id.
	Project(id mapping.ObjectID) Planning
}

// Intake stores observations, and makes their keys due.
type Intake interface {
	Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error)
}

// Readiness waits until answers of the services may be stored.
type Readiness interface {
	Ready(ctx context.Context) error
}

// Links finds links.
type Links interface {
	Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error)
	// Projects lists the projects that have a space in the store, configured or not.
	Projects(ctx context.Context) ([]mapping.ObjectID, error)
}

// Options configure an Inventory. All fields are required.
type Options struct {
	Store    Links
	Settings Settings
	GitHub   GitHub
	Projects Projects
}

// Inventory lists both sides. It is safe for concurrent use.
type Inventory struct{ o Options }

// New makes an Inventory.
func New(o Options) *Inventory { return &Inventory{o} }

// Settings are the present settings.
func (v *Inventory) Settings() *reconcile.Settings { return v.o.Settings.Settings() }

// ServiceWords names for people the service that keys wait for.
func (v *Inventory) ServiceWords(service string) string {
	return services.Words(service, v.Settings().Routes)
}

// Routes returns the routes of a name, all for "". It returns [store.ErrNotFound] where there is
// none.
func (v *Inventory) Routes(name string) ([]*mapping.Route, error) {
	all := v.Settings().Routes.All()
	if name == "" {
		return all, nil
	}
	for _, r := range all {
		if r.Name == name {
			return []*mapping.Route{r}, nil
		}
	}
	return nil, fmt.Errorf("route %s: %w", name, store.ErrNotFound)
}

// Known returns the key of the link that an item belongs to, in any project of the store. The
// configuration may no longer name that project.
func (v *Inventory) Known(ctx context.Context, ref mapping.Ref) (store.Key, bool, error) {
	return store.FindAnywhere(ctx, v.o.Store, v.Settings().Routes.Projects(), ref)
}

// Project is the configured planning project with an id, or nil.
func (v *Inventory) Project(id mapping.ObjectID) Planning { return v.o.Projects.Project(id) }

// repositories lists the repositories of routes, each once. It reports those that refuse to be
// listed.
func (v *Inventory) repositories(ctx context.Context, routes []*mapping.Route, skip func(pattern string, err error)) ([]string, error) {
	var out []string
	add := func(repo string) {
		if !slices.ContainsFunc(out, func(r string) bool { return strings.EqualFold(r, repo) }) {
			out = append(out, repo)
		}
	}
	for _, r := range routes {
		for _, name := range r.Named() {
			add(name)
		}
		for _, glob := range r.Globs() {
			repos, err := v.o.GitHub.Repositories(ctx, glob)
			if mapping.Refused(err) {
				skip(glob, err)
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("list repositories %s: %w", glob, err)
			}
			for _, repo := range repos {
				if r.MatchesRepo(repo) {
					add(repo)
				}
			}
		}
	}
	return out, nil
}

// IssueVisitor receives the results of a walk over issues. Its errors end the walk.
type IssueVisitor interface {
	// EnterRepository is called before a repository's issues are listed, and returns the name by
	// which to list them.
	EnterRepository(ctx context.Context, repo string) (string, error)
	VisitIssue(ctx context.Context, issue *mapping.Issue) error
	// EndPage is called after the issues of each page.
	EndPage(ctx context.Context) error
	// SkipRepository is called with a repository or a glob that refuses to be listed, and the
	// routes that it belongs to.
	SkipRepository(repo string, routes []string, err error)
}

// Issues walks the issues of the routes' repositories in a state, page by page. A repository or a
// glob that refuses to be listed does not block the others.
func (v *Inventory) Issues(ctx context.Context, routes []*mapping.Route, state string, to IssueVisitor) error {
	skip := func(repo string, err error) {
		var names []string
		for _, r := range routes {
			if r.MatchesRepo(repo) || slices.Contains(r.Repositories, repo) {
				names = append(names, r.Name)
			}
		}
		to.SkipRepository(repo, names, err)
	}
	repos, err := v.repositories(ctx, routes, skip)
	if err != nil {
		return err
	}
	for _, repo := range repos {
		err := v.issuesOf(ctx, repo, state, to)
		if mapping.Refused(err) {
			skip(repo, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("list issues of %s: %w", repo, err)
		}
	}
	return nil
}

func (v *Inventory) issuesOf(ctx context.Context, repo, state string, to IssueVisitor) error {
	repo, err := to.EnterRepository(ctx, repo)
	if err != nil {
		return err
	}
	return v.o.GitHub.ListIssues(ctx, repo, state, func(page []mapping.Issue) error {
		for i := range page {
			if err := to.VisitIssue(ctx, &page[i]); err != nil {
				return err
			}
		}
		return to.EndPage(ctx)
	})
}

// EachProject visits the configured projects of the routes.
func (v *Inventory) EachProject(routes []*mapping.Route, visit func(project mapping.ObjectID, side Planning) error) error {
	for _, project := range v.Settings().Routes.Projects() {
		side := v.Project(project)
		if side == nil || !slices.ContainsFunc(routes, func(r *mapping.Route) bool { return r.Project == project }) {
			continue
		}
		if err := visit(project, side); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits for a while, or until ctx ends, which is an error.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
