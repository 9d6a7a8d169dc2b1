package reconcile_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/effects"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// program is the program around the core of a world.
type program struct {
	w   *world
	set *reconcile.Settings
}

func (p *program) Read(ctx context.Context) (string, error) { return p.w.epoch(ctx) }

func (p *program) Planning(mapping.ObjectID) effects.Planning {
	return &faultyPlan{p.w.plan, p.w.faults}
}

func (p *program) SameRendering(a, b string) bool {
	return mapping.Canonical(p.w.plan.text(a)) == mapping.Canonical(p.w.plan.text(b))
}

func (p *program) Settings() *reconcile.Settings { return p.set }

func (p *program) FirstRun(route string) time.Time {
	if p.w.firstRun == nil {
		return time.Time{}
	}
	return p.w.firstRun(route)
}

func (p *program) Paused(string) bool { return false }

func (p *program) Down(service string) bool { return service == p.w.down }

func (p *program) CardExists(_, _ mapping.ObjectID) {}

func (p *program) IssueMoved(context.Context, string, string) error { return nil }

func (p *program) Watch(begin reconcile.State, steps iter.Seq[*reconcile.Step]) iter.Seq[*reconcile.Step] {
	return p.w.workTwice(begin, steps)
}

// polledStore has the marks of the cards that the world's polls have shown.
type polledStore struct {
	faultyStore
	w *world
}

func (s *polledStore) Marks(ctx context.Context, project mapping.ObjectID, set string) ([]store.Mark, error) {
	if set != store.MarksCards {
		return s.faultyStore.Marks(ctx, project, set)
	}
	var marks []store.Mark
	for _, c := range s.w.plan.cards {
		if digest := s.w.polled[mapping.CardRef(c.ID)]; digest != "" {
			marks = append(marks, store.Mark{ID: string(c.ID), Text: digest})
		}
	}
	slices.SortFunc(marks, func(a, b store.Mark) int { return strings.Compare(a.ID, b.ID) })
	return marks, nil
}
