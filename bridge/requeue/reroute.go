package requeue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// docRouted names the document that says which routes the links were looked through for.
const docRouted = "routed"

// routedAs is what of a route decides which links it has.
type routedAs struct {
	Name         string           `json:"name"`
	Project      mapping.ObjectID `json:"project"`
	Repositories []string         `json:"repositories"`
	Exclude      []string         `json:"exclude,omitempty"`
	Bucket       string           `json:"bucket"`
}

// routedBy has an entry without a name for a project that no route leads to.
func routedBy(all mapping.Routes) []routedAs {
	var out []routedAs
	for _, r := range all.All() {
		out = append(out, routedAs{r.Name, r.Project, r.Repositories, r.Exclude, r.Bucket})
	}
	for _, project := range all.Projects() {
		if !slices.ContainsFunc(out, func(r routedAs) bool { return r.Project == project }) {
			out = append(out, routedAs{Project: project})
		}
	}
	return out
}

// formerRoutes are those for which the links were looked through last.
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
}

// Dormant is how many links no route takes.
func (c *Rerouting) Dormant() int {
	n := 0
	for _, links := range c.lost {
		n += links
	}
	return n
}

// Reroute makes the links due that go by another route than before, that have one again, or
// that have none any more. It looks through them where the routes are not those for which
// this process, or the last one to do so, did. A replica with the former routes may have worked
// a key since. So each process looks once for its routes, and at its start where links are dormant.
func (r *Requeuer) Reroute(ctx context.Context) (Rerouting, error) {
	counts, routes := Rerouting{lost: map[string]int{}}, r.o.Settings.Routes()
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
	called := map[string]string{} // repositories of which no route is known, to what each is called now
	projects := routes.Projects()
	for _, r := range former {
		if !slices.Contains(projects, r.Project) {
			projects = append(projects, r.Project) // nobody works its keys: its links are counted
		}
	}
	for _, project := range projects {
		back := former != nil && !slices.ContainsFunc(former, func(r routedAs) bool { return r.Project == project })
		changes := func(l *mapping.Link) bool { return r.changesRoute(ctx, routes, l, called, back, &counts) }
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
		r.o.Logger.Warn("no route takes these links: they are dormant until one does", "links", n, "routes", slices.Sorted(maps.Keys(counts.lost)))
	}
	if counts.Resumed > 0 {
		r.o.Logger.Info("links are resumed whose route is back", "links", counts.Resumed)
	}
	if counts.Moved > 0 {
		r.o.Logger.Info("links go by another route than before", "links", counts.Moved)
	}
	r.o.Queue.Kick()
	return counts, nil
}

// lookedThrough reports whether the links need no look for routes that were stored before. This
// process looked for them, or has just started and no link is dormant.
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

// renames are repositories that GitHub calls otherwise than before, by their former names.
type renames struct {
	mu      sync.Mutex
	pending map[string]string
	done    map[string]string // their links were looked through since the routes changed
}

// Renamed notes that GitHub calls a repository to now. Repeating it does no harm.
func (r *Requeuer) Renamed(from, to string) {
	r.renames.mu.Lock()
	defer r.renames.mu.Unlock()
	if from = strings.ToLower(from); r.renames.done[from] != to {
		r.renames.pending[from] = to
	}
}

// RerouteRenamed makes the links of renamed repositories due, where a route takes the name of
// now and none took the former one.
func (r *Requeuer) RerouteRenamed(ctx context.Context) error {
	r.renames.mu.Lock()
	called := maps.Clone(r.renames.pending)
	r.renames.mu.Unlock()
	counts, routes := Rerouting{lost: map[string]int{}}, r.o.Settings.Routes()
	maps.DeleteFunc(called, func(_, to string) bool { return len(routes.ForRepo(to)) == 0 })
	if len(called) > 0 {
		for _, project := range routes.Projects() {
			err := r.rerouteProject(ctx, project, func(l *mapping.Link) bool {
				return called[strings.ToLower(l.Issue.Repo)] != "" && r.changesRoute(ctx, routes, l, called, false, &counts)
			})
			if err != nil {
				return err
			}
		}
		r.o.Queue.Kick()
	}
	r.renames.mu.Lock()
	defer r.renames.mu.Unlock()
	maps.Copy(r.renames.done, called)
	maps.DeleteFunc(r.renames.pending, func(from, to string) bool { return called[from] == to || len(routes.ForRepo(to)) == 0 })
	return nil
}

// forget has links of renamed repositories looked through again, as the routes are others.
func (n *renames) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.done)
}

// rerouteProject makes those links of a project due of which changes says that their route changes.
func (r *Requeuer) rerouteProject(ctx context.Context, project mapping.ObjectID, changes func(*mapping.Link) bool) error {
	n := 0
	for l, err := range store.AllLinks(ctx, r.o.Store, project) {
		if err != nil {
			return err
		}
		if l.Parted || l.State == mapping.Erased || !changes(l) {
			continue
		}
		key := store.Key{Project: project, Link: l.ID}
		err := r.o.Store.Enqueue(ctx, key, time.Duration(n)*time.Second/store.EnqueuePerSecond, false)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("reroute %s: %w", l.Where(), err)
		}
		n++
	}
	return nil
}

// changesRoute reports whether something becomes of a link by the routes as they are now,
// and counts what. A link whose project is named again (back) rested, whatever its state.
func (r *Requeuer) changesRoute(ctx context.Context, routes mapping.Routes, l *mapping.Link, called map[string]string, back bool, counts *Rerouting) bool {
	route, among := routes.Of(l)
	if route == nil && len(among) == 0 && l.Issue.Repo != "" {
		renamed := *l
		renamed.Issue.Repo = r.calledNow(ctx, l, called)
		route, among = routes.Of(&renamed)
	}
	taken := route != nil || len(among) > 0
	switch {
	case taken && (back || l.State == mapping.Dormant):
		counts.Resumed++
	case l.State == mapping.Dormant:
		return false
	case !taken:
		counts.lost[l.Route]++
	case route == nil || route.Name != l.Route:
		counts.Moved++
	default:
		return false
	}
	return true
}

// calledNow is what the repository of a link is called now, where GitHub tells. GitHub is
// asked anew, as a configuration is often corrected just after a rename.
func (r *Requeuer) calledNow(ctx context.Context, l *mapping.Link, called map[string]string) string {
	name := strings.ToLower(l.Issue.Repo)
	if _, known := called[name]; !known {
		now, err := r.o.Repositories.Locate(ctx, l.Issue.Repo, l.Issue.RepoID, r.o.Now())
		if err != nil {
			now = l.Issue.Repo // the work on the link asks again
		}
		called[name] = now
	}
	return called[name]
}
