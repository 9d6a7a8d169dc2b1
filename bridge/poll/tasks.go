package poll

import (
	"context"
	"slices"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
	"planbridge/store"
)

// oldTask marks a task from before the project's first poll. Like an old card, it is left
// alone until an import.
const oldTask = "old"

// takeTasks handles tasks of a sprint's listing or of the sweep.
func (r *round) takeTasks(ctx context.Context, tasks []mapping.Task) error {
	for i := range tasks {
		if err := r.guarded("task", tasks[i].ID, func() error { return r.task(ctx, &tasks[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// task handles a task. It is reported to the link that has it. Otherwise, where the route
// synchronises tasks, it is reported to the link of its card as a new one. The store drops a
// task that belongs to neither.
func (r *round) task(ctx context.Context, t *mapping.Task) error {
	quick, old := r.tasks.QuickTask(t), r.tasks.Items[t.ID]
	if old != nil && old.Quick == quick {
		return nil
	}
	k := seen.Entry{Digest: mapping.DigestTask(seen.WithoutOwner(t)), Quick: quick, Version: t.Version}
	switch {
	case old != nil:
		k.Routes = old.Routes
	case r.baseline == nil:
		k.Routes = []string{oldTask}
	}
	if old != nil && old.Digest == k.Digest {
		return r.add(ctx, item{cache: r.tasks, id: t.ID, entry: k})
	}
	ref := mapping.TaskRef(t.ID)
	obs := store.Observation{Refs: []mapping.Ref{ref}, Item: ref, At: t.Version, Digest: k.Digest, Data: store.Encode(t)}
	if old != nil && t.Version < old.Version {
		obs.Event = backEvent
	}
	if t.Owner != "" && !k.Entered(oldTask) && r.anyTasks() {
		obs.Refs = append(obs.Refs, mapping.CardRef(t.Owner))
	}
	if old != nil {
		r.pace.edited(backlogListing, r.began)
		r.touched(t.Owner)
	}
	return r.add(ctx, item{cache: r.tasks, id: t.ID, entry: k, obs: &obs})
}

// anyTasks reports whether a route of the project synchronises tasks.
func (r *round) anyTasks() bool {
	return slices.ContainsFunc(r.routes.In(r.o.Project), (*mapping.Route).HasTasks)
}
