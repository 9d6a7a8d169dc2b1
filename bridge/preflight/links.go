package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// A link stays with its issue and its card, wherever its route leads afterwards. Only a check
// reports that the two differ.

// PlaceLinks is the place of findings about links.
const PlaceLinks = "links"

// linkPlace is a place of links. Only the number of links in each place is kept.
type linkPlace struct {
	route, repository string
	project, bucket   mapping.ObjectID
	title             string // of the bucket, as the card was last seen
	rests             bool   // as the issue left its route, or an item is gone
	dormant           bool   // as no route took them
}

// The bounds of telling about places.
const (
	mostPlaces  = 3  // and routes that a finding names
	mostRenames = 20 // repositories that GitHub is asked about
)

// errNoStore is why links were not counted, where another finding says more.
var errNoStore = errors.New("the store cannot be used")

// counted has the number of links in each place, where they could be counted.
type counted struct {
	places map[linkPlace]int
	err    error // why they could not be looked at
}

// add counts a link, unless it rests for good: parted, erased, or without its issue.
func (c *counted) add(l status.Link) {
	if l.Why == mapping.PartedWhy || l.Why == mapping.MovedWhy || l.State == string(mapping.Erased) {
		return
	}
	p := linkPlace{route: l.Route, project: mapping.ObjectID(l.Project), rests: l.State == string(mapping.Left) || l.State == string(mapping.Orphaned), dormant: l.State == string(mapping.Dormant)}
	if l.Issue != nil && l.Issue.Number != 0 {
		p.repository = l.Issue.Repository
	}
	if l.Card != nil {
		p.bucket, p.title = mapping.ObjectID(l.Card.BucketID), l.Card.Bucket
		if p.title == l.Card.BucketID {
			p.title = "" // not known
		}
	}
	c.places[p]++
}

// countStore counts the links of a store, in all its projects.
func (c *counted) countStore(ctx context.Context, s store.Store) error {
	projects, err := s.Projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		for l, err := range store.AllLinks(ctx, s, project) {
			if err != nil {
				return err
			}
			c.add(status.LinkOf(l))
		}
	}
	return nil
}

// standing is the relation of a place to where its route leads.
type standing int

const (
	led       standing = iota // the route leads there
	follows                   // another route takes them
	resumed                   // a route takes them again, after none did
	elsewhere                 // they stay, until they are moved
	unrouted                  // nobody works them, as their route is gone
	resting                   // they stay, as a move leaves them, too
	dormant                   // nobody works them
	excluded                  // nobody works them, as their route excludes their repository
	issueless                 // nobody works them, as their cards have no issue and their route makes none
	moved                     // the route leads, but for the bucket
)

// links warns of each route with links elsewhere than it leads now. Cards in other buckets are
// no fault, as people move cards: they are only reported.
func (k *checker) links(ctx context.Context, r *findings) {
	if k.linked.err != nil {
		r.warn("whether links stay where no route leads now was not looked at: %v", k.linked.err)
		return
	}
	total, told := 0, 0
	taken := map[way]map[string]int{} // by the route that the links had
	stay := map[standing]map[string]map[linkPlace]int{elsewhere: {}, resting: {}, dormant: {}, excluded: {}, issueless: {}, moved: {}, unrouted: {}}
	for p, n := range k.linked.places {
		total += n
		at, other := k.standing(ctx, p)
		switch {
		case at == follows, at == resumed:
			w := way{at, other}
			if other == p.route {
				w.to = ""
			}
			if taken[w] == nil {
				taken[w] = map[string]int{}
			}
			taken[w][p.route] += n
		case at == led:
		case stay[at][p.route] == nil:
			stay[at][p.route] = map[linkPlace]int{p: n}
		default:
			stay[at][p.route][p] = n
		}
	}
	for _, at := range []standing{elsewhere, unrouted, dormant, excluded, issueless, resting, moved} {
		for _, names := range together(slices.Sorted(maps.Keys(stay[at]))) {
			places := map[linkPlace]int{}
			for _, name := range names {
				maps.Copy(places, stay[at][name])
			}
			k.tell(r, at, names, places)
			told++
		}
	}
	inOrder := func(a, b way) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.to, b.to)) }
	for _, w := range slices.SortedFunc(maps.Keys(taken), inOrder) {
		for _, names := range together(slices.Sorted(maps.Keys(taken[w]))) {
			w.tell(r, names, taken[w])
			told++
		}
	}
	if total > 0 && told == 0 {
		r.ok("all %d are where their routes lead", total)
	}
}

// together makes one group of the names of many routes, which one finding is about. Few routes have
// a finding each.
func together(names []string) [][]string {
	if len(names) > mostPlaces {
		return [][]string{names}
	}
	return slices.Collect(slices.Chunk(names, 1))
}

// way is how links go on: follows or resumed, by another route or by their own ("").
type way struct {
	at standing
	to string
}

// tell reports how many links of routes go on in a way.
func (w way) tell(r *findings, names []string, links map[string]int) {
	n, of, by := 0, ofFormer(names...), ""
	for _, name := range names {
		n += links[name]
	}
	if w.to != "" {
		by = " by route " + w.to + ", which takes such issues now"
	}
	words := mapping.Count(n, "link "+of+" goes", "links "+of+" go")
	if w.at == resumed {
		words = mapping.Count(n, "dormant link "+of+" is worked again", "dormant links "+of+" are worked again")
	}
	r.ok("%s%s", words, by)
}

// standing is that of a place. Other names the route that its links follow.
func (k *checker) standing(ctx context.Context, p linkPlace) (at standing, other string) {
	if !k.Routes.Names(p.project) {
		return dormant, ""
	}
	other = k.followed(ctx, p)
	switch {
	case other != "" && p.dormant:
		return resumed, other
	case other != "" && other != p.route:
		return follows, other
	}
	switch route := k.Routes.ByName(p.route); {
	case route != nil && other == "" && route.Excludes(p.repository):
		return excluded, ""
	case route != nil && other == "" && p.repository == "" && !route.MakesIssues():
		return issueless, ""
	case k.leads(ctx, route, p) && k.buckets(route, p):
		return led, ""
	case k.leads(ctx, route, p):
		return moved, ""
	case p.rests && route != nil:
		return resting, ""
	case route == nil:
		return unrouted, ""
	}
	return elsewhere, ""
}

// tell reports how many links of routes are in places of a standing.
func (k *checker) tell(r *findings, at standing, names []string, places map[linkPlace]int) {
	n, words := k.told(places)
	of, whose, target := ofFormer(names...), "routes "+listed(names)+": ", "other places"
	one := len(names) == 1
	if route := k.Routes.ByName(names[0]); one && route != nil {
		whose, target = ofRoute(route), k.target(route)
	}
	either := func(ofOne, ofMany string) string {
		if one {
			return ofOne
		}
		return ofMany
	}
	switch at {
	case dormant:
		r.warn("%s dormant with %s: planning.projects does not name %s", mapping.Count(n, "link "+of+" is", "links "+of+" are"), words, either("that project", "those projects"))
	case excluded:
		r.warn("%s dormant with %s: %s", mapping.Count(n, "link "+of+" is", "links "+of+" are"), words, either("the route excludes that repository", "the routes exclude those repositories"))
	case issueless:
		r.warn("%s without an issue: %s no issues of cards", mapping.Count(n, "link "+of+" waits dormant", "links "+of+" wait dormant"), either("the route makes", "the routes make"))
	case moved:
		r.ok("%s%s with %s: %s for %s, and planbridge moves no cards", whose, mapping.Count(n, "link stays", "links stay"), words, either("the route is", "the routes are"), target)
	case resting:
		r.ok("%s%s with %s, as planbridge move leaves such links", whose,
			mapping.Count(n, "link that left the route or lost an item stays", "links that left the route or lost an item stay"), words)
	case elsewhere:
		r.warn("%s%s with %s: %s now for %s, and planbridge moves neither issues nor cards by itself: see planbridge move", whose, mapping.Count(n, "link stays", "links stay"), words, either("the route is", "the routes are"), target)
	case unrouted:
		if names[len(names)-1] != "" {
			of += ", which the configuration has no more,"
		}
		r.warn("%s with %s, dormant", mapping.Count(n, "link "+of+" stays", "links "+of+" stay"), words)
	}
}

// ofFormer names the former routes of links, or says that there is none.
func ofFormer(routes ...string) string {
	switch {
	case len(routes) > 1:
		return "of routes " + listed(routes)
	case routes[0] == "":
		return "without a route"
	}
	return "of route " + routes[0]
}

// listed names the first of many routes, and counts the others.
func listed(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	text := strings.Join(names[:min(len(names), mostPlaces)], ", ")
	if more := len(names) - mostPlaces; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// followed names the route that links of a place go by now; "": none, or one that an issue's
// labels decide.
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

// calledNow is the current name of a repository, where GitHub reports it.
func (k *checker) calledNow(ctx context.Context, repository string) string {
	name := strings.ToLower(repository)
	if _, known := k.names[name]; !known && k.github != nil && len(k.names) < len(k.Routes.All())+mostRenames {
		repo, _ := k.github.Repository(ctx, repository) // one that is gone has no other name
		k.named(repository, repo.FullName)
	}
	return cmp.Or(k.names[name], repository)
}

// named records the current name of a repository.
func (k *checker) named(repository, now string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.names[strings.ToLower(repository)] = now
}

// entitled records the current titles of buckets.
func (k *checker) entitled(buckets []Bucket) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range buckets {
		k.titles[string(b.ID)] = b.Title
	}
}

// title is the current title of a bucket; or stands in where that is not known.
func (k *checker) title(bucket, or string) string { return cmp.Or(k.titles[bucket], or) }

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
		if i == mostPlaces {
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
