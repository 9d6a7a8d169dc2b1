package requeue

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"planbridge/mapping"
	"planbridge/store"
)

// docRouted names the document with the routes of the last search of the links.
const docRouted = "routed"

// routedAs is the part of a route that decides which links it takes.
type routedAs struct {
	Name         string           `json:"name"`
	Project      mapping.ObjectID `json:"project"`
	Repositories []string         `json:"repositories"`
	Exclude      []string         `json:"exclude,omitempty"`
	Bucket       string           `json:"bucket"`
	MakesIssues  bool             `json:"makes_issues,omitempty"`
}

// routedBy returns the routes in that form, with an unnamed entry for a project without routes.
func routedBy(all mapping.Routes) []routedAs {
	var out []routedAs
	for _, r := range all.All() {
		out = append(out, routedAs{r.Name, r.Project, r.Repositories, r.Exclude, r.Bucket, r.MakesIssues()})
	}
	for _, project := range all.Projects() {
		if !slices.ContainsFunc(out, func(r routedAs) bool { return r.Project == project }) {
			out = append(out, routedAs{Project: project})
		}
	}
	return out
}

// routesOf returns the routes that took links by their stored form.
func routesOf(stored []routedAs) mapping.Routes {
	var routes []mapping.Route
	var projects []mapping.PlanningProject
	for _, r := range stored {
		projects = append(projects, mapping.PlanningProject{ID: r.Project})
		if r.Name == "" {
			continue
		}
		route := mapping.Route{Name: r.Name, Project: r.Project, Repositories: r.Repositories, Exclude: r.Exclude, Bucket: r.Bucket, Direction: mapping.Both, CreateIssues: r.MakesIssues}
		if r.MakesIssues {
			route.NewCardsIn = r.Repositories[0]
		}
		routes = append(routes, route)
	}
	return mapping.NewRoutes(routes, projects...)
}

// formerRoutes returns the routes of the last search of the links.
func (r *Requeuer) formerRoutes(ctx context.Context) (routes []routedAs, text []byte, err error) {
	text, err = store.ReadDoc(ctx, r.o.Store, "", docRouted)
	if err == nil && text != nil {
		err = json.Unmarshal(text, &routes)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read former routes: %w", err)
	}
	return routes, text, nil
}

// Rerouting counts the links whose route changes.
type Rerouting struct {
	Moved, Resumed int
	lost           map[string]int // by the route that they had
	moves          map[string]int // of Moved, by both routes
}

func newRerouting() Rerouting { return Rerouting{lost: map[string]int{}, moves: map[string]int{}} }

// namedMoves is how many routes, and pairs of routes between which links move, are named at most.
const namedMoves = 10

func (c *Rerouting) move(from, to string) {
	c.Moved++
	c.moves[from+" → "+to]++
}

// lostBy names the routes that links had which no route takes.
func (c *Rerouting) lostBy() []string {
	names := slices.Sorted(maps.Keys(c.lost))
	if more := len(names) - namedMoves; more > 0 {
		names = append(names[:namedMoves], fmt.Sprintf("%d more", more))
	}
	return names
}

// Moves says from which routes to which links go, and how many.
func (c *Rerouting) Moves() string {
	var out []string
	for names, links := range mapping.Sorted(c.moves) {
		if len(out) == namedMoves {
			return strings.Join(out, ", ") + fmt.Sprintf(", %d more", len(c.moves)-namedMoves)
		}
		out = append(out, fmt.Sprintf("%s (%d)", names, links))
	}
	return strings.Join(out, ", ")
}

// Tell says at a start what becomes of links whose route changed meanwhile.
func (c *Rerouting) Tell(log *slog.Logger) {
	if c.Moved+c.Resumed > 0 {
		log.Info("routes changed while the service was stopped", "links_moved", c.Moved, "moves", c.Moves(), "links_resumed", c.Resumed)
	}
}

// Dormant is the number of links that no route takes.
func (c *Rerouting) Dormant() int {
	n := 0
	for _, links := range c.lost {
		n += links
	}
	return n
}

// Reroute makes due the links that another route takes now, that have a route again, or that have
// none any more. It searches the links where the routes differ from those of the last search. A
// replica with the former routes may have worked a key since. So each process searches once for
// its routes, and at its start where links are dormant.
func (r *Requeuer) Reroute(ctx context.Context) (Rerouting, error) {
	counts, routes := newRerouting(), r.o.Settings.Routes()
	former, before, err := r.formerRoutes(ctx)
	if err != nil {
		return counts, err
	}
	now := store.Encode(routedBy(routes))
	known := bytes.Equal(before, now)
	if known {
		done, err := r.lookedThrough(ctx, routes, string(now))
		if done || err != nil {
			return counts, err
		}
	}
	r.renames.forget()
	s := search{routes: routes, former: routesOf(former), called: map[string]string{}, counts: &counts}
	asking, stop := r.o.Timeout.Bound(ctx)
	defer stop()
	projects := routes.Projects()
	for _, r := range former {
		if !slices.Contains(projects, r.Project) {
			projects = append(projects, r.Project) // its keys are not worked, nor made due: its links are only counted
		}
	}
	for _, project := range projects {
		back := former != nil && !slices.ContainsFunc(former, func(r routedAs) bool { return r.Project == project })
		named := routes.Names(project)
		changes := func(l *mapping.Link) bool { return r.changesRoute(asking, &s, l, back) && named }
		if err := r.rerouteProject(ctx, project, changes); err != nil {
			return counts, err
		}
	}
	if !known {
		if err := store.WriteDoc(ctx, r.o.Store, "", docRouted, now); err != nil {
			return counts, err
		}
	}
	text := string(now)
	r.looked.Store(&text)
	if n := counts.Dormant(); n > 0 {
		r.o.Logger.Warn("no route takes these links: they are dormant until one does", "links", n, "routes", counts.lostBy())
	}
	r.o.Queue.Kick()
	return counts, nil
}

// lookedThrough reports whether the stored routes need no search: this process made it, or it
// just started and no link is dormant.
func (r *Requeuer) lookedThrough(ctx context.Context, routes mapping.Routes, now string) (bool, error) {
	if last := r.looked.Load(); last != nil {
		return *last == now, nil
	}
	for _, project := range routes.Projects() {
		t, err := r.o.Store.Tally(ctx, project)
		if err != nil {
			return false, fmt.Errorf("count links: %w", err)
		}
		for _, states := range t.Links {
			if states[mapping.Dormant] > 0 {
				return false, nil
			}
		}
	}
	r.looked.Store(&now)
	return true, nil
}

// renames are the renamed repositories, by their former names.
type renames struct {
	mu      sync.Mutex
	pending map[string]string
	done    map[string]string // repositories searched since the routes changed
	told    map[string]string // of which the log told
}

// Renamed notes a repository's present name. Repeating it is harmless.
func (r *Requeuer) Renamed(from, to string) {
	r.renames.mu.Lock()
	defer r.renames.mu.Unlock()
	if from = strings.ToLower(from); r.renames.done[from] != to {
		r.renames.pending[from] = to
	}
}

// RerouteRenamed makes due the links of renamed repositories whose present name a route takes,
// where none took the former one.
func (r *Requeuer) RerouteRenamed(ctx context.Context) error {
	r.renames.mu.Lock()
	called := maps.Clone(r.renames.pending)
	r.renames.mu.Unlock()
	counts, routes := newRerouting(), r.o.Settings.Routes()
	s := search{routes: routes, called: called, counts: &counts}
	maps.DeleteFunc(called, func(_, to string) bool { return len(routes.ForRepo(to)) == 0 })
	if len(called) > 0 {
		for _, project := range routes.Projects() {
			err := r.rerouteProject(ctx, project, func(l *mapping.Link) bool {
				return called[strings.ToLower(l.Issue.Repo)] != "" && r.changesRoute(ctx, &s, l, false)
			})
			if err != nil {
				return err
			}
		}
		for from, to := range r.renames.news(called) {
			r.o.Logger.Info("a repository was renamed: its links follow it", "repo", to, "was", from)
		}
		r.o.Queue.Kick()
	}
	r.renames.mu.Lock()
	defer r.renames.mu.Unlock()
	maps.Copy(r.renames.done, called)
	maps.DeleteFunc(r.renames.pending, func(from, to string) bool { return called[from] == to || len(routes.ForRepo(to)) == 0 })
	return nil
}

// news are the renames of which the log did not tell, in order. They count as logged from now on.
func (n *renames) news(called map[string]string) iter.Seq2[string, string] {
	n.mu.Lock()
	defer n.mu.Unlock()
	news := maps.Clone(called)
	maps.DeleteFunc(news, func(from, to string) bool { return n.told[from] == to })
	for from, to := range news {
		n.told[from] = to
		delete(n.told, strings.ToLower(to)) // a way back is news
	}
	return mapping.Sorted(news)
}

// forget repeats the search for renamed repositories, as the routes changed.
func (n *renames) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.done)
}

// rerouteProject makes due the links of a project for which changes returns true.
func (r *Requeuer) rerouteProject(ctx context.Context, project mapping.ObjectID, changes func(*mapping.Link) bool) error {
	n := 0
	for l, err := range store.AllLinks(ctx, r.o.Store, project) {
		if err != nil {
			return err
		}
		if l.Parted || l.State == mapping.Erased || !changes(l) {
			continue
		}
		if err := r.enqueue(ctx, store.Key{Project: project, Link: l.ID}, n); err != nil {
			return fmt.Errorf("reroute %s: %w", l.Where(), err)
		}
		n++
	}
	return nil
}

// search is one search of the links.
type search struct {
	routes, former mapping.Routes    // former: none where they are the same
	called         map[string]string // present names of repositories without a route
	counts         *Rerouting
}

// changesRoute reports whether the present routes change a link, and counts the change. A link
// whose project is configured again (back) was not worked, whatever its state. A link that a worker
// changed by the present routes already is only counted.
func (r *Requeuer) changesRoute(ctx context.Context, s *search, l *mapping.Link, back bool) bool {
	route, among := s.routes.Of(l)
	if route == nil && len(among) == 0 && l.Issue.Repo != "" {
		renamed := *l
		renamed.Issue.Repo = r.calledNow(ctx, l, s.called)
		route, among = s.routes.Of(&renamed)
	}
	was, _ := s.former.Of(l)
	taken := route != nil || len(among) > 0
	switch {
	case taken && (back || l.State == mapping.Dormant):
		s.counts.Resumed++
	case l.State == mapping.Dormant:
		if was != nil {
			s.counts.lost[l.Route]++
		}
		return false
	case !taken:
		s.counts.lost[l.Route]++
	case route == nil:
		s.counts.move(l.Route, "the route that takes the issue")
	case route.Name != l.Route:
		s.counts.move(l.Route, route.Name)
	default:
		if was != nil && was.Name != l.Route {
			s.counts.move(was.Name, l.Route)
		}
		return false
	}
	return true
}

// calledNow returns the present name of a link's repository, where GitHub tells it. It asks
// GitHub anew, as operators often correct a configuration right after a rename.
func (r *Requeuer) calledNow(ctx context.Context, l *mapping.Link, called map[string]string) string {
	name := strings.ToLower(l.Issue.Repo)
	if _, known := called[name]; !known {
		now, err := r.o.Repositories.Locate(ctx, l.Issue.Repo, l.Issue.RepoID, r.o.Clock.Now())
		if err != nil {
			now = l.Issue.Repo // the work on the link asks again
		}
		called[name] = now
	}
	return called[name]
}
