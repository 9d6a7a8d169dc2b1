package importer

import (
	"context"
	"hash/maphash"

	"planbridge/mapping"
)

// Partners are matched by title: an unlinked card and an issue of the same route with the same
// canonical title. Each has to be the only one. Of each card only a hash of the title and the id is
// kept.

// hashSeed makes the hashes of titles and items unique to this process.
var hashSeed = maphash.MakeSeed()

type titleKey struct {
	route string
	hash  uint64
}

// title is a title of unlinked cards in a route's buckets.
type title struct {
	card          mapping.CardID // the first of them
	cards, issues int
}

// unique reports whether the title has exactly one card and one issue.
func (t *title) unique() bool { return t != nil && t.cards == 1 && t.issues == 1 }

// matched reports whether an issue has the card's title: the two are joined, or several items
// make it ambiguous.
func (t *title) matched() bool { return t != nil && t.issues > 0 }

func (t *title) why() string {
	return mapping.Count(t.issues, "issue", "issues") + " and " + mapping.Count(t.cards, "card", "cards") + " have this title; link them by hand, or import without --match"
}

func keyOfTitle(route *mapping.Route, a mapping.Attribute, text string) titleKey {
	return titleKey{route.Name, maphash.String(hashSeed, mapping.CanonicalTitle(mapping.GitHubForm(a, text, "")))}
}

// titleOf returns the record of a title; nil: no unlinked card has it, or nothing is matched.
func (im *run) titleOf(route *mapping.Route, text string) *title {
	if im.ask.Match == "" {
		return nil
	}
	return im.titles[keyOfTitle(route, mapping.Title, text)]
}

func (im *run) cardTitles(ctx context.Context) error {
	return im.eachCard(ctx, func(_ context.Context, route *mapping.Route, card *mapping.Card) error {
		key := keyOfTitle(route, mapping.Title, card.Title.Value)
		t := im.titles[key]
		if t == nil {
			t = &title{card: mapping.NameCard(card)}
			im.titles[key] = t
		}
		t.cards++
		return nil
	})
}

func (im *run) issueTitles(ctx context.Context) error {
	nothing := func(context.Context) error { return nil } // the issues are counted by another walk
	return im.eachIssue(ctx, func(_ context.Context, route *mapping.Route, issue *mapping.Issue) error {
		if t := im.titleOf(route, issue.Title); t != nil {
			t.issues++
		}
		return nil
	}, nothing)
}
