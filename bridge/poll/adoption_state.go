package poll

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
)

// adoption is the progress of the project's adoption.
type adoption struct {
	// restarted says that the store's servers restarted since the project was adopted.
	restarted bool
	// readAll says that everything was read since the adoption began.
	readAll bool
	// observedAll says that everything was observed after all links of GitHub's markers had
	// been restored.
	observedAll bool
	listing     listingGuard
	report      adoptionReport
}

// incompleteListingTimeout bounds how long missing cards keep a project from being adopted. This
// process saw them before the store was lost, and a complete listing lacks them.
const incompleteListingTimeout = 5 * time.Minute

// listingGuard holds the cards that a complete listing has to show. This process saw them
// before it loaded its caches anew, or planning answered with them, or an earlier round of the
// adoption showed them. Planning has no delete, so a listing without one of them is
// incomplete, and proves no partner absent.
type listingGuard struct {
	cards  map[mapping.ObjectID]struct{}
	since  time.Time // when a complete round first lacked some; zero: none did
	rounds int       // how many complete rounds there were since adoption began
}

// inherit adds the cards of a cache that is dropped. A card that has been gone for longer than the
// timeout is not expected back.
func (w *listingGuard) inherit(old *seen.Cache, now time.Time) {
	for id, k := range old.Items {
		if k.Listing != "" && (!k.Gone || now.Sub(time.Unix(0, k.Seen)) < incompleteListingTimeout) {
			w.add(id)
		}
	}
}

func (w *listingGuard) add(card mapping.ObjectID) {
	if w.cards == nil {
		w.cards = map[mapping.ObjectID]struct{}{}
	}
	w.cards[card] = struct{}{}
}

// namedCards bounds how many old cards are named.
const namedCards = 20

// adoptionReport counts the cards without a marker that were in a route's bucket when the
// project was adopted. They count as old, whenever they were made, and get no issue before an
// import.
type adoptionReport struct {
	routes map[string]oldCards
	lost   bool // a card with a marker was there: the store is not the project's first
}

type oldCards struct {
	count int
	named []int64 // their numbers as people see them; the first few
}

// add counts a card that has been stored.
func (l *adoptionReport) add(route string, cid int64) {
	if l.routes == nil {
		l.routes = map[string]oldCards{}
	}
	c := l.routes[route]
	if c.count++; c.count <= namedCards {
		c.named = append(c.named, cid)
	}
	l.routes[route] = c
}

// log reports once how many cards are left alone. It warns where a card may have been made just
// before the store was lost, as nothing distinguishes it from an old one.
func (l *adoptionReport) log(ctx context.Context, logger *slog.Logger) {
	level, text := slog.LevelInfo, "cards that were there before the first run are left alone: import takes them"
	if l.lost {
		level, text = slog.LevelWarn, "the store was lost: cards without a marker are taken for old ones; import takes them"
	}
	for route, c := range l.routes {
		told := logger.With("route", route, "cards", c.count)
		if c.count <= namedCards {
			slices.Sort(c.named)
			told = logger.With("route", route, "cards", c.count, "cids", c.named)
		}
		told.Log(ctx, level, text)
	}
	*l = adoptionReport{}
}
