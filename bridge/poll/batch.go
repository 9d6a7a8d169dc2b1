package poll

import (
	"context"
	"errors"
	"fmt"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
	"planbridge/store"
)

func (r *round) add(ctx context.Context, it item) error {
	r.batch = append(r.batch, it)
	if len(r.batch) < batchSize {
		return nil
	}
	return r.flush(ctx)
}

// flush stores the batch: first the observations, then the marks of the accepted ones, and
// last the cache. A failed item is seen again in the next round. An item that a full queue
// refuses does not block the others.
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
		mark := it.entry.Mark()
		if old := it.cache.Items[it.id]; old == nil || old.Mark() != mark {
			marks[it.cache.Set][string(it.id)] = mark
			if it.obs != nil {
				r.unsure = append(r.unsure, seen.Unsure{Set: it.cache.Set, ID: it.id, Made: it.obs.Create != nil})
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
			it.cache.Put(it.id, it.entry)
			if it.left != "" {
				r.report.add(it.left, it.cid)
			}
		}
		r.noteRefusal(it)
	}
	return nil
}

// noteRefusal records whether the store accepted an item. A damaged item is set aside. It
// keeps the round from adopting the project, and from nothing else.
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

// observe stores the batch's observations, and records which ones the store refused.
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
		return fmt.Errorf("observe %s: %w", mapping.Count(len(obs), "item", "items"), err)
	}
	for i, g := range got {
		items[i].err = g.Err
		if g.Created {
			log := r.o.Logger.Info
			if obs[i].Bulk {
				log = r.o.Logger.Debug // one line reports all restored links
			}
			log("new link", "item", obs[i].Item.Kind()+" "+obs[i].Item.ID(), "link", g.Key.Link, "state", obs[i].Create.State)
		}
	}
	return nil
}
