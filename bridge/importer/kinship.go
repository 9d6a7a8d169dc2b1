package importer

import (
	"cmp"
	"context"
	"hash/maphash"
	"strings"

	"planbridge/bridge/inventory"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// A sub-issue becomes a task of the nearest issue above it that has a card, or gets one by the
// import. That issue's route has to make tasks of sub-issues. Where there is none, it gets a card
// of its own. So does an issue below a closed parent that the import leaves out.

// kinship is a survey's knowledge of the families of issues. For issues that may have
// sub-issues it keeps hashes of their names.
type kinship struct {
	parents  map[uint64]uint64         // of the issues that were listed
	cards    map[uint64]*mapping.Route // the route of the card that an issue gets, has, or is a part of
	children map[uint64]*subIssue      // that the import takes
	order    []*subIssue
}

// subIssue is a sub-issue that the import takes.
type subIssue struct {
	name            uint64
	route           *mapping.Route
	item            status.ImportItem
	placed, follows bool // follows: it becomes a task of a card above
}

func newKinship() *kinship {
	return &kinship{parents: map[uint64]uint64{}, cards: map[uint64]*mapping.Route{}, children: map[uint64]*subIssue{}}
}

func hashName(name string) uint64 { return maphash.String(hashSeed, strings.ToLower(name)) }

// lists records an issue of a walk.
func (k *kinship) lists(issue *mapping.Issue) {
	if isChild(issue) {
		k.parents[hashName(issue.Name())] = hashName(issue.Parent)
	}
}

// getsCard records that an issue gets a card.
func (k *kinship) getsCard(issue *mapping.Issue, route *mapping.Route) {
	if !issue.Childless {
		k.cards[hashName(issue.Name())] = route
	}
}

// add records a sub-issue. Its result is known once all issues are listed.
func (k *kinship) add(issue *mapping.Issue, route *mapping.Route, item status.ImportItem) {
	c := &subIssue{name: hashName(issue.Name()), route: route}
	if len(k.order) < inventory.MaxItems { // no more are listed
		c.item, c.item.Why = item, "it follows its parent "+issue.Parent
	}
	k.children[c.name], k.order = c, append(k.order, c)
}

// maxLevels is how deep GitHub nests sub-issues.
const maxLevels = 8

// findCard finds the card of which a sub-issue becomes a task, if any.
func (k *kinship) findCard(c *subIssue) {
	if c.placed {
		return
	}
	c.placed = true
	var above *mapping.Route
	for at, level := k.parents[c.name], 0; at != 0 && above == nil && level < maxLevels; at, level = k.parents[at], level+1 {
		if parent := k.children[at]; parent != nil {
			k.findCard(parent)
		}
		if r := k.cards[at]; r != nil && r.Project == c.route.Project && r.Tasks == mapping.TasksSubIssues && r.Direction != mapping.ToGitHub {
			above = r
		}
	}
	c.follows = above != nil
	k.cards[c.name] = cmp.Or(above, c.route)
}

// countChildren counts the sub-issues.
func (im *run) countChildren(ctx context.Context) error {
	if len(im.kin.order) == 0 {
		return nil
	}
	if err := im.linkedParents(ctx); err != nil {
		return err
	}
	for _, c := range im.kin.order {
		if im.kin.findCard(c); c.follows {
			c.item.What = "child"
			im.count(func(r *status.ImportResult) { r.Children++ })
		} else {
			c.item.What, c.item.Why = "card", ""
			im.count(func(r *status.ImportResult) { r.Cards++; r.Labels += labelWrites(c.route, false) })
		}
		if im.ask.DryRun {
			im.list(c.item)
		}
	}
	return nil
}

// linkedParents finds the parents that have cards already.
func (im *run) linkedParents(ctx context.Context) error {
	above, routes := map[uint64]bool{}, im.Inventory.Settings().Routes
	for _, parent := range im.kin.parents {
		above[parent] = true
	}
	for _, project := range routes.Projects() {
		for l, err := range store.AllLinks(ctx, im.Store, project) {
			if err != nil {
				return err
			}
			if l.State == mapping.Dormant || l.State == mapping.Orphaned || l.State == mapping.Erased {
				continue
			}
			for _, p := range l.Issues() {
				if name := hashName(p.Where()); above[name] {
					im.kin.cards[name] = routes.ByName(l.Route)
				}
			}
		}
	}
	return nil
}
