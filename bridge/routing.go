package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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

func routedBy(set *settings) []routedAs {
	var out []routedAs
	for _, r := range set.Routes.All() {
		out = append(out, routedAs{r.Name, r.Project, r.Repositories, r.Exclude, r.Bucket})
	}
	return out
}

// formerRoutes are those for which the links were looked through last.
func (a *App) formerRoutes(ctx context.Context) (routes []routedAs, text []byte, err error) {
	text, err = a.store.Doc(ctx, "", docRouted)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &routes)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read former routes: %w", err)
	}
	return routes, text, nil
}

// rerouting counts the links whose route changes.
type rerouting struct {
	moved, resumed int
	lost           map[string]int // by the route that they had
}

func (r *rerouting) none() int {
	n := 0
	for _, links := range r.lost {
		n += links
	}
	return n
}

// reroute makes the links due that go by another route than before, that have one again, or
// that have none any more. It looks through them only where the routes are not those that
// it, or another replica, did so for last.
func (a *App) reroute(ctx context.Context) (rerouting, error) {
	counts, set := rerouting{lost: map[string]int{}}, a.set.Load()
	former, before, err := a.formerRoutes(ctx)
	if err != nil {
		return counts, err
	}
	now, err := json.Marshal(routedBy(set))
	if err != nil {
		return counts, fmt.Errorf("encode routes: %w", err)
	}
	if bytes.Equal(before, now) {
		return counts, nil
	}
	called := map[string]string{} // repositories of which no route is known, to what each is called now
	projects := set.Routes.Projects()
	for _, r := range former {
		if !slices.Contains(projects, r.Project) {
			projects = append(projects, r.Project) // nobody works its keys: its links are counted
		}
	}
	for _, project := range projects {
		changes := func(l *mapping.Link) bool { return a.changesRoute(ctx, set, l, called, &counts) }
		if err := a.rerouteProject(ctx, project, changes); err != nil {
			return counts, err
		}
	}
	if err := a.store.PutDoc(ctx, "", docRouted, now); err != nil {
		return counts, fmt.Errorf("store routes: %w", err)
	}
	if n := counts.none(); n > 0 {
		a.log.Warn("no route takes these links: they are dormant until one does", "links", n, "routes", slices.Sorted(maps.Keys(counts.lost)))
	}
	if counts.resumed > 0 {
		a.log.Info("links are resumed whose route is back", "links", counts.resumed)
	}
	if counts.moved > 0 {
		a.log.Info("links go by another route than before", "links", counts.moved)
	}
	a.engine.Kick()
	return counts, nil
}

// rerouteRepository makes the links of a repository due that is called to now, where a route
// takes that name and none took the former one.
func (a *App) rerouteRepository(ctx context.Context, set *settings, from, to string) error {
	if len(set.Routes.ForRepo(to)) == 0 {
		return nil
	}
	counts, called := rerouting{lost: map[string]int{}}, map[string]string{strings.ToLower(from): to}
	for _, project := range set.Routes.Projects() {
		err := a.rerouteProject(ctx, project, func(l *mapping.Link) bool {
			return strings.EqualFold(l.Issue.Repo, from) && a.changesRoute(ctx, set, l, called, &counts)
		})
		if err != nil {
			return err
		}
	}
	a.engine.Kick()
	return nil
}

// rerouteProject makes those links of a project due of which changes says that their route changes.
func (a *App) rerouteProject(ctx context.Context, project mapping.ObjectID, changes func(*mapping.Link) bool) error {
	n := 0
	for l, err := range store.AllLinks(ctx, a.store, project) {
		if err != nil {
			return err
		}
		if l.Parted || l.State == mapping.Erased || !changes(l) {
			continue
		}
		key := store.Key{Project: project, Link: l.ID}
		err := a.store.Enqueue(ctx, key, time.Duration(n)*time.Second/store.WakePerSecond, false)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("reroute %s: %w", l.Where(), err)
		}
		n++
	}
	return nil
}

// changesRoute reports whether something becomes of a link by the routes as they are now,
// and counts what.
func (a *App) changesRoute(ctx context.Context, set *settings, l *mapping.Link, called map[string]string, counts *rerouting) bool {
	route, among := set.Routes.Of(l)
	if route == nil && len(among) == 0 && l.Issue.Repo != "" {
		renamed := *l
		renamed.Issue.Repo = a.calledNow(ctx, l, called)
		route, among = set.Routes.Of(&renamed)
	}
	taken := route != nil || len(among) > 0
	switch {
	case l.State == mapping.Dormant && taken:
		counts.resumed++
	case l.State == mapping.Dormant:
		return false
	case !taken:
		counts.lost[l.Route]++
	case route == nil || route.Name != l.Route:
		counts.moved++
	default:
		return false
	}
	return true
}

// calledNow is what the repository of a link is called now, where GitHub tells. GitHub is
// asked anew, as a configuration is often corrected just after a rename.
func (a *App) calledNow(ctx context.Context, l *mapping.Link, called map[string]string) string {
	name := strings.ToLower(l.Issue.Repo)
	if _, known := called[name]; !known {
		now, err := a.github.repositories.Locate(ctx, l.Issue.Repo, l.Issue.RepoID, a.o.Now())
		if err != nil {
			now = l.Issue.Repo // the work on the link asks again
		}
		called[name] = now
	}
	return called[name]
}
