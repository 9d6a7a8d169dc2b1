package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"planbridge/bridge/clock"
	"planbridge/mapping"
	"planbridge/store"
)

// questionsAge bounds the age of a project's known questions, as a new list takes a walk through
// the ledger.
const questionsAge = time.Minute

// questionsPage is how many entries of the ledger are read at once.
const questionsPage = 500

// Questions lists the conflicts with an open question. The ledger is in the order of time and has
// no index of them. It is safe for concurrent use.
type Questions struct {
	store store.Ledger
	clock clock.Clock

	mu    sync.Mutex
	known map[mapping.ObjectID]questionsOf
}

// questionsOf are a project's questions at a moment, newest first.
type questionsOf struct {
	list []asked
	at   time.Time
}

// asked is one question without its values.
type asked struct {
	id      string
	project mapping.ObjectID
	link    mapping.LinkID
	route   string
	at      time.Time
}

func askedOf(c *mapping.Conflict) asked { return asked{c.ID, c.Project, c.Link, c.Route, c.At} }

// NewQuestions makes a Questions.
func NewQuestions(s store.Ledger, c clock.Clock) *Questions {
	return &Questions{store: s, clock: c, known: map[mapping.ObjectID]questionsOf{}}
}

// Counts returns how many questions of a project are open, by route. It is at most a minute old.
func (q *Questions) Counts(ctx context.Context, project mapping.ObjectID) (map[string]int, error) {
	list, err := q.of(ctx, project)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, one := range list {
		counts[one.route]++
	}
	return counts, nil
}

// of walks through a project's ledger, unless a recent walk did.
func (q *Questions) of(ctx context.Context, project mapping.ObjectID) ([]asked, error) {
	q.mu.Lock()
	last, known := q.known[project]
	q.mu.Unlock()
	if known && q.clock.Now().Sub(last.at) < questionsAge {
		return last.list, nil
	}
	now := questionsOf{at: q.clock.Now()}
	for cursor := ""; ; {
		page, next, err := q.store.Conflicts(ctx, project, cursor, questionsPage)
		if err != nil {
			return nil, err
		}
		now.list = append(now.list, openOf(page)...)
		if next == "" {
			break
		}
		cursor = next
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known[project] = now
	return now.list, nil
}

// openOf are the questions among entries of the ledger.
func openOf(entries []mapping.Conflict) (out []asked) {
	for i := range entries {
		if c := &entries[i]; c.State == mapping.ConflictOpen {
			out = append(out, askedOf(c))
		}
	}
	return out
}

// newest is how many of a project's newest entries are read for each request. A question that was
// just asked or answered is among them.
const newest = 100

// Questions lists the newest open questions, those of one link where link is not "". It counts all
// open ones by route. The count of older ones is at most a minute old.
func (l *Ledger) Questions(ctx context.Context, link mapping.LinkID, limit int) ([]mapping.Conflict, map[string]int, error) {
	var all []asked
	for _, project := range l.projects() {
		list, err := l.questionsOf(ctx, project)
		if err != nil {
			return nil, nil, fmt.Errorf("list questions: %w", err)
		}
		all = append(all, list...)
	}
	all = slices.DeleteFunc(all, func(one asked) bool { return link != "" && one.link != link })
	slices.SortStableFunc(all, func(a, b asked) int { return b.at.Compare(a.at) })
	var out []mapping.Conflict
	counts := map[string]int{}
	for _, one := range all {
		if len(out) == limit {
			counts[one.route]++
			continue
		}
		c, err := l.o.Store.Conflict(ctx, one.project, one.id)
		if err != nil || c.State != mapping.ConflictOpen {
			continue // answered or dropped since
		}
		out = append(out, c)
		counts[one.route]++
	}
	return out, counts, nil
}

// questionsOf are a project's questions: those among its newest entries, and the known older ones.
func (l *Ledger) questionsOf(ctx context.Context, project mapping.ObjectID) ([]asked, error) {
	page, next, err := l.o.Store.Conflicts(ctx, project, "", newest)
	if err != nil {
		return nil, err
	}
	out := openOf(page)
	if next == "" {
		return out, nil
	}
	known, err := l.o.Questions.of(ctx, project)
	if err != nil {
		return nil, err
	}
	for _, one := range known {
		if !slices.ContainsFunc(page, func(c mapping.Conflict) bool { return c.ID == one.id }) {
			out = append(out, one)
		}
	}
	return out, nil
}
