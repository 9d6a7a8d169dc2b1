package poll

import (
	"context"
	"slices"

	"planbridge/mapping"
	"planbridge/store"
)

// oldTask marks a task that was there before the project was polled for the
// first time: like a card that was, it is left alone until it is imported.
const oldTask = "old"

// takeTasks takes in tasks that a sprint's listing or the sweep showed.
func (r *round) takeTasks(ctx context.Context, tasks []mapping.Task) error {
	for i := range tasks {
		if err := r.guarded("task", tasks[i].ID, func() error { return r.task(ctx, &tasks[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// task takes in a task. The link that has it is told of it, else, where tasks
// stand for something on GitHub, the link of its card, to which it is new. One
// that belongs to neither is dropped by the store.
func (r *round) task(ctx context.Context, t *mapping.Task) error {
	quick, old := r.tasks.quickTask(t), r.tasks.items[t.ID]
	if old != nil && old.quick == quick {
		return nil
	}
	k := cacheEntry{digest: mapping.DigestTask(withoutOwner(t)), quick: quick, version: t.Version}
	switch {
	case old != nil:
		k.routes = old.routes
	case r.baseline == nil:
		k.routes = []string{oldTask}
	}
	if old != nil && old.digest == k.digest {
		return r.add(ctx, item{cache: r.tasks, id: t.ID, entry: k})
	}
	ref := mapping.TaskRef(t.ID)
	obs := store.Observation{Refs: []mapping.Ref{ref}, Item: ref, At: t.Version, Digest: k.digest, Data: store.Encode(t)}
	if old != nil && t.Version < old.version {
		obs.Event = backEvent
	}
	if t.Owner != "" && !k.entered(oldTask) && r.anyTasks() {
		obs.Refs = append(obs.Refs, mapping.CardRef(t.Owner))
	}
	if old != nil {
		r.pace.edited(backlogListing, r.began)
		r.touched(t.Owner)
	}
	return r.add(ctx, item{cache: r.tasks, id: t.ID, entry: k, obs: &obs})
}

// anyTasks reports whether tasks of the project can stand for something on
// GitHub.
func (r *round) anyTasks() bool {
	return slices.ContainsFunc(r.routes.In(r.o.Project), (*mapping.Route).HasTasks)
}
