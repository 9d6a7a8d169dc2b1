package poll

import (
	"context"
	"errors"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
)

// item is a sight of a card or task that is to be stored and then remembered.
type item struct {
	obs   *store.Observation // nil: only to be remembered
	cache *cardCache         // nil: not to be remembered
	id    mapping.ObjectID
	entry cacheEntry
	err   error // why the store did not take it
	// left is the route whose bucket held the card, the number of which is cid,
	// when the project was adopted; "": none.
	left string
	cid  int64
}

func (r *round) add(ctx context.Context, it item) error {
	r.batch = append(r.batch, it)
	if len(r.batch) < batchSize {
		return nil
	}
	return r.flush(ctx)
}

// flush stores what was gathered: the observations first, then the marks of
// those that were taken, and last the memory. Whatever fails is seen again in
// the next round; what a full queue refuses keeps nothing else from being
// stored.
func (r *round) flush(ctx context.Context) error {
	batch := r.batch
	r.batch = r.batch[:0]
	if err := r.observe(ctx, batch); err != nil {
		return err
	}
	marks := map[string]map[string]string{SetCards: {}, SetTasks: {}}
	for i := range batch {
		it := &batch[i]
		if it.cache == nil || it.err != nil {
			continue
		}
		mark := it.entry.mark()
		if old := it.cache.items[it.id]; old == nil || old.mark() != mark {
			marks[it.cache.set][string(it.id)] = mark
			if it.obs != nil {
				r.unsure = append(r.unsure, unsureMark{it.cache.set, it.id, it.obs.Create != nil})
			}
		}
	}
	for set, m := range mapping.Sorted(marks) {
		if err := r.putMarks(ctx, set, m); err != nil {
			return err
		}
	}
	for i := range batch {
		it := &batch[i]
		if it.cache != nil && it.err == nil {
			it.cache.put(it.id, it.entry)
			if it.left != "" {
				r.report.add(it.left, it.cid)
			}
		}
		r.noteRefusal(it)
	}
	return nil
}

// noteRefusal takes in whether the store took an item. What is spoilt is set aside and
// keeps the round from adopting, and from nothing else.
func (r *round) noteRefusal(it *item) {
	spoilt := errors.Is(it.err, store.ErrSpoilt)
	switch {
	case it.obs == nil:
		return
	case spoilt:
		r.complete, r.deferred = r.complete && !r.adopting, true
	case it.err != nil:
		r.refused = it.err
		return
	}
	r.o.Guard.Report("observation of", string(it.obs.Refs[0]), it.err)
}

// observe stores the batch's observations, and notes which the store did not take.
func (r *round) observe(ctx context.Context, batch []item) error {
	var obs []store.Observation
	var items []*item
	for i := range batch {
		if it := &batch[i]; it.obs != nil {
			obs, items = append(obs, *it.obs), append(items, it)
		}
	}
	if len(obs) == 0 {
		return nil
	}
	got, err := r.o.Store.Observe(ctx, r.o.Project, obs)
	if err != nil {
		return fmt.Errorf("observe %d items: %w", len(obs), err)
	}
	for i, g := range got {
		items[i].err = g.Err
		if g.Created {
			r.o.Logger.Info("new link", "item", obs[i].Item, "link", g.Key.String(), "state", obs[i].Create.State)
		}
	}
	return nil
}
