package reconcile_test

import (
	"slices"

	"planbridge/mapping"
)

// shows stands, among what people change at random, for what only planning
// says.
const shows = mapping.Attribute("shows")

// showAnything changes something that GitHub only shows: in planning, or on
// the issue, where it has to be set right again.
func (w *world) showAnything(where mapping.Side, change int) {
	if len(w.hub.issues) == 0 || len(w.plan.cards) == 0 {
		return
	}
	if where == mapping.GitHub {
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) {
			switch change {
			case 0:
				i.Labels = without(i.Labels, "bucket:Incoming")
			case 1:
				i.Labels = append(slices.Clip(i.Labels), "plan:Approved", "bucket:Mine")
			case 2:
				i.Milestone = 0
			default:
				i.Assignees = []string{"monalisa"}
			}
		})
		return
	}
	switch c := w.card(); {
	case change == 0:
		w.plans(func(c *mapping.Card) { c.Bucket, c.BucketName = "b-later", "Later" })
	case change == 1:
		w.plans(func(c *mapping.Card) { c.Counters = &mapping.Counters{Status: "done"} })
	case change == 2 && c.Iteration == "":
		intoSprint("alice")(w)
	case change == 2:
		w.plans(func(c *mapping.Card) { c.Iteration, c.Users = "", nil })
	case c.Review == "":
		w.review("Approved")
	default:
		w.review("")
	}
}
