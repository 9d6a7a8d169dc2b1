package poll

import (
	"context"
	"log/slog"
	"slices"
)

// namedCards is how many cards that were taken for old are named at most.
const namedCards = 20

// left are the cards without a marker that were in a route's bucket when its
// project was adopted: they count as old, whenever they were made, and have no
// issue until they are imported.
type left struct {
	routes map[string]*leftCards
	lost   bool // a card with a marker was there: the store is not the project's first
}

type leftCards struct {
	count int
	named []int64 // their numbers as people see them; the first few
}

// add notes a card, once it is known to be remembered.
func (l *left) add(route string, cid int64) {
	if l.routes == nil {
		l.routes = map[string]*leftCards{}
	}
	c := l.routes[route]
	if c == nil {
		c = &leftCards{}
		l.routes[route] = c
	}
	if c.count++; c.count <= namedCards {
		c.named = append(c.named, cid)
	}
}

// tell logs, once, what was left: as a warning where a card may have been made
// just before the store was lost, which nothing tells from an old one.
func (l *left) tell(ctx context.Context, log *slog.Logger) {
	level, text := slog.LevelInfo, "cards that were there before the first run are left alone: import takes them"
	if l.lost {
		level, text = slog.LevelWarn, "the store was lost: cards without a marker are taken for old ones; import takes them"
	}
	for route, c := range l.routes {
		args := []any{"route", route, "cards", c.count}
		if c.count <= namedCards {
			slices.Sort(c.named)
			args = append(args, "cids", c.named)
		}
		log.Log(ctx, level, text, args...)
	}
	*l = left{}
}
