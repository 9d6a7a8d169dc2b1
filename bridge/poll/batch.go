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
	refused, err := r.observe(ctx, batch)
	if err != nil {
		return err
	}
	marks := map[string]map[string]string{}
	for i := range batch {
		it := &batch[i]
		if it.cache == nil || refused[i] != nil {
			continue
		}
		if old := it.cache.items[it.id]; old == nil || old.mark() != it.entry.mark() {
			if marks[it.cache.set] == nil {
				marks[it.cache.set] = map[string]string{}
			}
			marks[it.cache.set][string(it.id)] = it.entry.mark()
		}
	}
	for set, m := range mapping.Sorted(marks) {
		if err := r.o.Store.PutMarks(ctx, r.o.Project, set, m); err != nil {
			return fmt.Errorf("mark %d %s as seen: %w", len(m), set, err)
		}
	}
	for i := range batch {
		if it := &batch[i]; it.cache != nil && refused[i] == nil {
			it.cache.put(it.id, it.entry)
			if it.left != "" {
				r.report.add(it.left, it.cid)
			}
		}
		r.refuse(&batch[i], refused[i])
	}
	return nil
}

// refuse notes why the store did not take an item; nil: it did. What is spoilt is set
// aside and keeps the round from adopting, and from nothing else.
func (r *round) refuse(it *item, err error) {
	if it.obs == nil {
		return
	}
	spoilt := errors.Is(err, store.ErrSpoilt)
	if err == nil || spoilt {
		r.o.Guard.Report("observation of", string(it.obs.Refs[0]), err)
	}
	switch {
	case spoilt:
		r.complete, r.deferred = r.complete && !r.adopting, true
	case err != nil:
		r.refused = err
	}
}

// observe stores the batch's observations and returns, per item of it, why it
// was refused.
func (r *round) observe(ctx context.Context, batch []item) ([]error, error) {
	refused := make([]error, len(batch))
	var obs []store.Observation
	var index []int
	for i := range batch {
		if batch[i].obs != nil {
			obs, index = append(obs, *batch[i].obs), append(index, i)
		}
	}
	if len(obs) == 0 {
		return refused, nil
	}
	got, err := r.o.Store.Observe(ctx, r.o.Project, obs)
	if err != nil {
		return nil, fmt.Errorf("observe %d items: %w", len(obs), err)
	}
	for i, g := range got {
		refused[index[i]] = g.Err
		if g.Created {
			r.o.Logger.Info("new link", "item", obs[i].Item, "link", g.Key.String(), "state", obs[i].Create.State)
		}
	}
	return refused, nil
}
