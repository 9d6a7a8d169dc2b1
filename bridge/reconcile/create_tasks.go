package reconcile

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"planbridge/mapping"
)

// newTasks is the making of tasks of the link's card. They are looked for among all of its
// tasks. What differs is what a task stands for.
type newTasks struct {
	*work
	// marks reports whether a marker, of a task, is that of a want.
	marks func(k *want, t *mapping.Task, m mapping.Marker) bool
	// taken links a want with its task.
	taken func(k *want, t *mapping.Task, how string) error
	may   func(k *want) (bool, error) // ready
	item  func(k *want) NewItem
	// no takes in that planning does not take the task, whatever is left out.
	no func(k *want, why *mapping.Rejection)
}

// makeTasks makes tasks of the link's card.
func (w *work) makeTasks(c creation, kind newTasks, wants []*want) error {
	if len(wants) == 0 {
		return nil
	}
	kind.work = w
	c.w, c.side, c.proofs, c.kind = w, mapping.Planning, 2, &kind
	return c.once(wants...)
}

// mayExist takes in that wants may have been made already where more was made for the pair
// than the store knows: a listing may be short, so that absence is proven as after a lost
// answer.
func (w *work) mayExist(wants []*want) error {
	behind, err := w.behind()
	for _, k := range wants {
		if behind && !k.intent.Sent {
			k.intent.Sent, k.intent.At = true, time.Time{}
		}
	}
	return err
}

func (n *newTasks) ready(k *want) (bool, error) { return n.may(k) }

func (n *newTasks) look() error { return n.needTasks() }

// find takes, of copies, the oldest.
func (n *newTasks) find(wants []*want) error {
	for _, t := range n.tasks.inOrder() {
		if k := n.whose(&t, wants); k != nil {
			n.count(CountPrevented, "lookup")
			n.take(k, &t, "found by its marker")
		}
	}
	return nil
}

// whose returns the want that a task was made for; nil: none.
func (n *newTasks) whose(t *mapping.Task, wants []*want) *want {
	_, marks := n.set.Keys.Body(t.Summary.Value)
	for _, m := range marks {
		if i := slices.IndexFunc(wants, func(k *want) bool { return !k.done && m.Kind == mapping.MarkTask && n.marks(k, t, m) }); i >= 0 {
			return wants[i]
		}
	}
	return nil
}

func (n *newTasks) take(k *want, t *mapping.Task, how string) {
	k.done, k.err = true, n.taken(k, t, how)
}

// post makes tasks with one request. Which is whose their markers tell, in whatever order
// they are answered; one that is alone is known without.
func (n *newTasks) post(wants []*want) error {
	items := make([]NewItem, len(wants))
	for i, k := range wants {
		items[i] = n.item(k)
	}
	made, err := do(n.work, CreateTasks{n.pair.Card.ID, wants[0].user, items})
	slices.SortFunc(made, func(a, b mapping.Task) int { return cmp.Compare(a.CID, b.CID) })
	for i := range made {
		k := n.whose(&made[i], wants)
		if k == nil && len(wants) == 1 {
			k = wants[0]
		}
		if k != nil && !k.done {
			n.take(k, &made[i], "made")
		}
	}
	return err
}

func (n *newTasks) refused(k *want, err error) error {
	var refused *mapping.Rejection
	if !errors.As(err, &refused) {
		return n.missing(mapping.Planning, err)
	}
	n.no(k, refused)
	return nil
}
