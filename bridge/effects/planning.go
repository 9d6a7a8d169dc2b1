package effects

import (
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// atPlanning carries out an effect at the planning project. It reports whether the effect is one.
func (h *executor) atPlanning(effect any, answer func(any, error)) bool {
	switch e := effect.(type) {
	case reconcile.ReadCard:
		answer(h.planning.Card(h.ctx, e.ID))
	case reconcile.ReadTask:
		answer(h.planning.Task(h.ctx, e.ID))
	case reconcile.ReadTasks:
		answer(h.planning.Tasks(h.ctx, e.Card))
	case reconcile.ReadBuckets:
		answer(h.planning.BucketIDs(h.ctx, e.Bucket))
	case reconcile.CheckProject:
		answer(only(h.planning.CheckProject(h.ctx)))
	case reconcile.CreateTasks:
		answer(h.planning.CreateTasks(h.writing, e.Card, e.Username, e.Tasks))
	case reconcile.Update:
		update := h.planning.UpdateCard
		if e.Item.Kind() == "task" {
			update = h.planning.UpdateTask
		}
		answer(update(h.writing, mapping.ObjectID(e.Item.ID()), e.Username, e.Images, e.Set))
	default:
		return false
	}
	return true
}
