package reconcile

import (
	"slices"
	"time"

	"planbridge/mapping"
)

// itemPartner is what the marker of a checklist item's task says it stands for.
const itemPartner = "item"

// trackingPair is the pair of the tracking task of the pair's card; nil: it has none.
func (w *work) trackingPair() *mapping.Pair {
	if w.pair.IsTask() {
		return nil
	}
	return w.link.Child(mapping.Tracking)
}

// tracking is the pair of the tracking task where it is kept, for readTasks.
func (w *work) tracking() *mapping.Pair {
	if c := w.trackingPair(); c != nil && c.State == mapping.Linked && w.route.TrackingTask {
		return c
	}
	return nil
}

// takeTasks finds the tasks that were seen among the items: one that an item of
// ours was waiting for, one that is gone, one that a person made.
func (w *work) takeTasks() {
	staying := w.link.Family.Staying()
	for _, t := range w.strangers() {
		if staying[t.ID] {
			continue
		}
		if m, ok := w.itemMark(&t); ok {
			w.takeMarked(&t, m)
		} else if w.tellsNew() {
			w.takeNew(&t)
		}
	}
	for _, c := range w.items() {
		t, seen := w.tasks.seen[c.Card.ID]
		switch {
		case c.Card.ID == "":
		case w.tasks.listed && !seen, seen && w.elsewhere(&t):
			w.note(mapping.Planning, mapping.State, "lost", "task "+string(c.Card.ID)+" of its checklist is gone")
			w.happensTo(c, mapping.EventVanished)
			c.Card.ID, c.GoneSince, c.Base, c.Intent, c.Pending, c.Late = "", time.Time{}, nil, nil, nil, nil
		case seen && toBeAdded(c):
			c.Item, c.Intent.Base = mapping.CanonicalTitle(t.Title.Value), itemBase(&t)
		}
	}
}

// readMissed reads the tasks of items that the listing of the card's tasks lacks:
// it may be cut short, so that only a task itself can say that it is gone.
func (w *work) readMissed() error {
	for _, c := range w.items() {
		if _, listed := w.tasks.seen[c.Card.ID]; listed || c.Card.ID == "" {
			continue
		}
		t, err := do(w, ReadTask{c.Card.ID})
		if err != nil && !IsGone(err) {
			return onPlanning(err)
		}
		if err == nil {
			w.taskFound(c)
			w.tasks.take(t)
		} else if err := w.taskGone(c); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) elsewhere(t *mapping.Task) bool { return t.Owner != "" && t.Owner != w.pair.Card.ID }

// strangers are the card's tasks, as far as they were seen, that stand for
// nothing, in the order in which they were made.
func (w *work) strangers() []mapping.Task {
	return slices.DeleteFunc(w.tasks.inOrder(), func(t mapping.Task) bool {
		return w.elsewhere(&t) || slices.Contains(w.list.joined, t.ID) ||
			slices.ContainsFunc(w.link.Children, func(c *mapping.Pair) bool { return c.Card.ID == t.ID })
	})
}

// itemMark returns the marker by which a task says that it is one of ours.
func (w *work) itemMark(t *mapping.Task) (mapping.Marker, bool) {
	_, marks := w.set.Keys.Body(t.Summary.Value)
	i := slices.IndexFunc(marks, func(m mapping.Marker) bool { return m.Kind == mapping.MarkTask })
	if i < 0 {
		return mapping.Marker{}, false
	}
	return marks[i], true
}

// waitingFor returns the item for which a task was made that is not known yet.
func (w *work) waitingFor(t *mapping.Task) *mapping.Pair {
	m, _ := w.itemMark(t)
	for _, c := range w.items() {
		if c.Nonce == m.Nonce && c.Card.ID == "" && c.State == mapping.Creating {
			return c
		}
	}
	return nil
}

// tellsNew reports whether it is known which tasks the card had before tasks stood for
// items, so that a person made each other one since.
func (w *work) tellsNew() bool { return w.link.Family.Tasks == w.route.Tasks }

// takeMarked takes in a task that carries a marker of ours: an item's, made by a
// request whose answer was lost, or by a bridge whose store was lost; or a copy
// that a person made of one.
func (w *work) takeMarked(t *mapping.Task, m mapping.Marker) {
	if c := w.waitingFor(t); c != nil {
		w.count(CountPrevented, "lookup")
		w.madeTask(c, t, "found by its marker")
		return
	}
	// The original is known by the same nonce: a copy is a task of its own.
	copied := w.marks(m)
	if copied && w.tellsNew() {
		w.takeNew(t)
		return
	}
	if m.Partner == itemPartner && !copied {
		w.addChild(mapping.EventLineless, &mapping.Pair{
			Kind: mapping.Checklist, Origin: mapping.GitHub, Nonce: m.Nonce, Item: mapping.CanonicalTitle(t.Title.Value), Card: mapping.CardID{ID: t.ID},
		})
	}
}

// marks reports whether a marker is that of a task that the link knows.
func (w *work) marks(m mapping.Marker) bool {
	return slices.ContainsFunc(w.link.Children, func(c *mapping.Pair) bool { return c.Nonce == m.Nonce }) ||
		slices.ContainsFunc(w.link.Family.Forgotten, func(id mapping.ObjectID) bool {
			t := w.tasks.seen[id]
			its, ok := w.itemMark(&t)
			return ok && its.Nonce == m.Nonce
		})
}

// takeNew makes a child of a task that a person made, whose line is to be added,
// unless it is one that was gone.
func (w *work) takeNew(t *mapping.Task) {
	title := mapping.CanonicalTitle(t.Title.Value)
	if title == "" || w.route.Direction == mapping.ToPlanning {
		return
	}
	for _, c := range w.items() {
		if c.State == mapping.Orphaned && c.Item == title {
			w.happensTo(c, mapping.EventReappeared)
			c.Card.ID = t.ID
			return
		}
	}
	w.addChild(mapping.EventWanted, &mapping.Pair{
		Kind: mapping.Checklist, Origin: mapping.Planning, Nonce: w.newNonce(w.link.Project), Item: title, Card: mapping.CardID{ID: t.ID},
		Intent: &mapping.Intent{Side: mapping.GitHub, At: w.Now().UTC(), Base: itemBase(t)},
	})
}

// itemBase is what a task and its new line agree on.
func itemBase(t *mapping.Task) map[mapping.Attribute]mapping.Base {
	base := map[mapping.Attribute]mapping.Base{}
	for a, v := range mapping.ItemTaskView(t) {
		base[a] = based(v.Value, v)
	}
	return base
}

// makeLineTasks makes the tasks of new lines, in one request for all of them, and
// reports whether there is more to do.
func (w *work) makeLineTasks() (bool, error) {
	children := map[*want]*mapping.Pair{}
	var wants []*want
	sent := false
	for _, c := range w.items() {
		if c.Intent == nil || c.Intent.Side != mapping.Planning || c.Refused[mapping.Title].Value == mapping.DigestText(c.Item) {
			continue
		}
		base := map[mapping.Attribute]mapping.Base{mapping.Title: based(c.Item, mapping.Versioned{Value: c.Item})}
		k := &want{w: w, intent: c.Intent, user: w.route.Username, base: base}
		wants, children[k], sent = append(wants, k), c, sent || c.Intent.Sent
	}
	if len(wants) == 0 {
		return false, nil
	}
	if behind, err := w.behind(); err != nil {
		return false, err
	} else if !sent && !w.tasks.listed && (behind || len(w.link.Family.Forgotten) > 0) {
		w.link.Children = slices.DeleteFunc(w.link.Children, func(c *mapping.Pair) bool {
			return c.Kind == mapping.Checklist && c.State == mapping.Creating && !toBeAdded(c)
		})
		return true, w.needTasks() // lines are found among the tasks before one is new
	}
	err := w.makeTasks(creation{what: "create tasks"}, newTasks{
		marks: func(k *want, t *mapping.Task, m mapping.Marker) bool {
			return m.Nonce == children[k].Nonce && !w.elsewhere(t)
		},
		taken: func(k *want, t *mapping.Task, how string) error {
			w.tasks.take(*t)
			if how == "made" {
				w.pair.Card.CountersVersion++
			}
			w.madeTask(children[k], t, how)
			return nil
		},
		may:  func(*want) (bool, error) { return true, nil },
		item: func(k *want) NewItem { return w.lineItem(children[k]) },
		no: func(k *want, why *mapping.Rejection) {
			pw := w.lineWork(children[k])
			pw.refuseValue(mapping.Planning, mapping.Title, children[k].Item, why)
		},
	}, wants)
	return len(undone(wants)) < len(wants), err
}

func (w *work) lineItem(c *mapping.Pair) NewItem {
	mark := mapping.Marker{Kind: mapping.MarkTask, Link: w.link.ID, Nonce: c.Nonce, Partner: itemPartner}
	return NewItem{Title: c.Item, Summary: w.set.Keys.AppendFooter("", mark, w.owner.Issue.Repo, w.owner.Issue.Number, w.issueURL())}
}

// madeTask completes an item with its task. Its first base is a new task's state
// (planning-api.md part 3), so that a line that is ticked already is a change of
// GitHub, and the title that was sent: the line may have been renamed since.
func (w *work) madeTask(c *mapping.Pair, t *mapping.Task, how string) {
	sent := c.Item
	if base, ok := c.Intent.Base[mapping.Title]; ok {
		sent = base.Planning
	}
	w.happensTo(c, mapping.EventCompleted)
	c.Card.ID, c.Intent = t.ID, nil
	state := mapping.ItemState(t.State)
	state.Value = mapping.StateTodo
	c.Base = map[mapping.Attribute]mapping.Base{
		mapping.Title: based(sent, mapping.Versioned{Value: sent, Version: t.Title.Version}),
		mapping.State: based(mapping.StateTodo, state),
	}
	w.count(CountWrites, w.link.Route, string(mapping.Planning), string(mapping.Title))
	w.lag(mapping.Planning)
	w.notePart(string(mapping.Checklist), mapping.Planning, mapping.Title, "create", "task "+string(t.ID)+" for a line, "+how)
}
