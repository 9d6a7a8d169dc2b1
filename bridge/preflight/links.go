package preflight

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"planbridge/mapping"
)

// A link stays with its issue and its card, wherever its route leads afterwards. Only a check
// reports that the two differ.

// PlaceLinks is the place of findings about links.
const PlaceLinks = "links"

// standing is the relation of a place to where its route leads. Findings stand in this order.
type standing int

const (
	elsewhere standing = iota // they stay, until they are moved
	unrouted                  // nobody works them, as their route is gone
	dormant                   // nobody works them
	excluded                  // nobody works them, as their route excludes their repository
	issueless                 // nobody works them, as their cards have no issue and their route makes none
	resting                   // they stay, as a move leaves them, too
	moved                     // the route leads there, except for the bucket
	follows                   // another route takes them
	resumed                   // a route takes them again, after none did
	led                       // the route leads there
)

// way is how the links of a place go on.
type way struct {
	at standing
	to string // the other route that takes them, if one does
}

// links warns of each route with links elsewhere than it leads now. Cards in other buckets are
// no fault, as people move cards: they are only reported. Few routes have a finding each; many
// routes of one way have one together.
func (k *checker) links(ctx context.Context, r *findings) {
	if k.linked.err != nil {
		r.warn("whether links stay where no route leads now was not looked at: %v", k.linked.err)
		return
	}
	total, ways := 0, map[way]map[string]map[linkPlace]int{} // by the route that the links had
	for p, n := range k.linked.places {
		total += n
		w := k.way(ctx, p)
		if w.at == led {
			continue
		}
		if ways[w] == nil {
			ways[w] = map[string]map[linkPlace]int{}
		}
		if ways[w][p.route] == nil {
			ways[w][p.route] = map[linkPlace]int{}
		}
		ways[w][p.route][p] = n
	}
	if total > 0 && len(ways) == 0 {
		r.ok("all %d are where their routes lead", total)
	}
	inOrder := func(a, b way) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.to, b.to)) }
	for _, w := range slices.SortedFunc(maps.Keys(ways), inOrder) {
		names, size := slices.Sorted(maps.Keys(ways[w])), 1
		if len(names) > mostNamed {
			size = len(names)
		}
		for some := range slices.Chunk(names, size) {
			places := map[linkPlace]int{}
			for _, name := range some {
				maps.Copy(places, ways[w][name])
			}
			k.report(r, w, some, places)
		}
	}
}

// way is that of a place.
func (k *checker) way(ctx context.Context, p linkPlace) way {
	if !k.Routes.Names(p.project) {
		return way{at: dormant}
	}
	other := k.followed(ctx, p)
	switch {
	case other == p.route && p.wasDormant && other != "":
		return way{at: resumed}
	case other != "" && p.wasDormant:
		return way{resumed, other}
	case other != "" && other != p.route:
		return way{follows, other}
	}
	switch route := k.Routes.ByName(p.route); {
	case route != nil && other == "" && route.Excludes(p.repository):
		return way{at: excluded}
	case route != nil && other == "" && p.repository == "" && !route.MakesIssues():
		return way{at: issueless}
	case k.leads(ctx, route, p) && k.buckets(route, p):
		return way{at: led}
	case k.leads(ctx, route, p):
		return way{at: moved}
	case p.rests && route != nil:
		return way{at: resting}
	case route == nil:
		return way{at: unrouted}
	}
	return way{at: elsewhere}
}

// report reports how many links of routes are in places, and how they go on.
func (k *checker) report(r *findings, w way, names []string, places map[linkPlace]int) {
	n, words := k.told(places)
	of, whose, target, by := ofFormer(names), ofRoutes(names), "other places", ""
	either := func(_, ofMany string) string { return ofMany }
	if len(names) == 1 {
		either = func(ofOne, _ string) string { return ofOne }
		if route := k.Routes.ByName(names[0]); route != nil {
			whose, target = ofRoute(route), k.target(route)
		}
	}
	if w.to != "" {
		by = " by route " + w.to + ", which takes such issues now"
	}
	links := func(one, many string) string { return mapping.Count(n, "link "+one, "links "+many) }
	switch w.at {
	case elsewhere:
		r.warn("%s%s with %s: %s now for %s, and planbridge moves neither issues nor cards by itself: see planbridge move", whose, links("stays", "stay"), words, either("the route is", "the routes are"), target)
	case unrouted:
		if names[len(names)-1] != "" {
			of += ", which the configuration has no more,"
		}
		r.warn("%s with %s, dormant", links(of+" stays", of+" stay"), words)
	case dormant:
		r.warn("%s dormant with %s: planning.projects does not name %s", links(of+" is", of+" are"), words, either("that project", "those projects"))
	case excluded:
		r.warn("%s dormant with %s: %s", links(of+" is", of+" are"), words, either("the route excludes that repository", "the routes exclude those repositories"))
	case issueless:
		r.warn("%s without an issue: %s no issues of cards", links(of+" waits dormant", of+" wait dormant"), either("the route makes", "the routes make"))
	case resting:
		r.ok("%s%s with %s, as planbridge move leaves such links", whose, links("that left the route or lost an item stays", "that left the route or lost an item stay"), words)
	case moved:
		r.ok("%s%s with %s: %s for %s, and planbridge moves no cards", whose, links("stays", "stay"), words, either("the route is", "the routes are"), target)
	case follows:
		r.ok("%s%s", links(of+" goes", of+" go"), by)
	case resumed:
		r.ok("%s%s", mapping.Count(n, "dormant link "+of+" is worked again", "dormant links "+of+" are worked again"), by)
	}
}

// ofFormer names the former routes of links, or says that there is none.
func ofFormer(routes []string) string {
	switch {
	case len(routes) > 1:
		return "of " + theRoutes + listed(routes)
	case routes[0] == "":
		return "without a route"
	}
	return "of " + theRoute + routes[0]
}

// followed names the present route of the links of a place; "": none, or one that an issue's labels
// decide.
func (k *checker) followed(ctx context.Context, p linkPlace) string {
	l := mapping.Link{Route: p.route, Project: p.project}
	if p.repository != "" {
		l.Issue.Number = 1 // any: links without an issue have no repository
	} else {
		l.Origin = mapping.Planning
	}
	l.Issue.Repo, l.Card.Bucket, l.Card.BucketName = p.repository, p.bucket, p.title
	route, among := k.Routes.Of(&l)
	if route == nil && len(among) == 0 && p.repository != "" {
		l.Issue.Repo = k.calledNow(ctx, p.repository)
		route, among = k.Routes.Of(&l)
	}
	if route == nil && len(among) > 0 {
		route = among[0]
	}
	if route == nil {
		return ""
	}
	return route.Name
}

// leads reports whether a route leads to the project and the repository of its links. An
// unknown part of a place counts as right.
func (k *checker) leads(ctx context.Context, route *mapping.Route, p linkPlace) bool {
	if route == nil || route.Project != p.project {
		return false
	}
	if p.repository != "" && !route.MatchesRepo(p.repository) {
		now := k.calledNow(ctx, p.repository)
		called := func(name string) bool { return strings.EqualFold(now, k.names[strings.ToLower(name)]) }
		if !route.MatchesRepo(now) && !slices.ContainsFunc(route.Named(), called) {
			return false
		}
	}
	return true
}

// buckets reports whether a route leads to the bucket of its links.
func (k *checker) buckets(route *mapping.Route, p linkPlace) bool {
	title := k.title(string(p.bucket), p.title)
	if title == "" || route.NamesBucketByID() && len(k.titles) == 0 {
		return true
	}
	return slices.ContainsFunc(route.Buckets(), func(b string) bool { return k.title(b, b) == title })
}

// told names the places with the most links, and returns the number of all links.
func (k *checker) told(places map[linkPlace]int) (n int, words string) {
	at := map[string]int{}
	for p, links := range places {
		where := cmp.Or(p.repository, "no issue yet")
		if title := k.title(string(p.bucket), p.title); title != "" {
			where += fmt.Sprintf(" and bucket %q", title)
		}
		if route := k.Routes.ByName(p.route); !k.Routes.Names(p.project) || route != nil && route.Project != p.project {
			where += " of project " + k.projectName(p.project)
		}
		at[where] += links
		n += links
	}
	names := slices.SortedFunc(maps.Keys(at), func(a, b string) int { return cmp.Or(at[b]-at[a], cmp.Compare(a, b)) })
	if len(names) == 1 {
		return n, names[0]
	}
	var list []string
	for i, where := range names {
		if i == mostNamed {
			list = append(list, mapping.Count(len(names)-i, "other place", "other places"))
			break
		}
		list = append(list, fmt.Sprintf("%s (%d)", where, at[where]))
	}
	return n, strings.Join(list, ", ")
}

// target is where a route leads.
func (k *checker) target(route *mapping.Route) string {
	var buckets []string
	for _, b := range route.Buckets() {
		buckets = append(buckets, fmt.Sprintf("%q", k.title(b, b)))
	}
	return fmt.Sprintf("%s and bucket %s of project %s", strings.Join(route.Repositories, ", "), strings.Join(buckets, " or "), k.projectName(route.Project))
}

// projectName is the configuration's name of a project, or its id.
func (k *checker) projectName(project mapping.ObjectID) string { return k.Routes.ProjectName(project) }
