package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"planbridge/mapping"
)

// newTasks makes tasks of the link's card. A lookup reads all tasks of the card. The functions
// have the differences between the kinds of tasks.
type newTasks struct {
	*state
	// marks reports whether a task's marker belongs to a want. A task without one has a zero marker.
	marks func(k *want, t *mapping.Task, m mapping.Marker) bool
	// taken links a want with its task.
	taken func(k *want, t *mapping.Task, how string) error
	// allowed is ready; nil: each want may be made with the content that it has.
	allowed func(k *want) (bool, error)
	// blocks returns the value that is blocked until it changes, where planning refuses the
	// task whatever is left out.
	blocks func(k *want) (mapping.Attribute, string)
}

// title is the title of the task that is to be made.
func (k *want) title() (mapping.Attribute, string) {
	return mapping.Title, k.base[mapping.Title].GitHub
}

// makeTasks makes tasks of the link's card.
func (w taskMaker) makeTasks(c creation, kind newTasks, wants []*want) error {
	kind.state = w.state
	c.w, c.side, c.proofs, c.kind = work(w), mapping.Planning, 2, &kind
	return c.once(wants...)
}

// mayExist marks wants as sent where tasks may exist that the store does not know. A listing
// may be incomplete, so that absence is proven as after a lost answer.
func (w taskMaker) mayExist(wants []*want) error {
	behind, err := exclusivity(w).mayLackItems()
	for _, k := range wants {
		if behind && !k.intent.Sent {
			k.intent.Sent, k.intent.At = true, time.Time{}
		}
	}
	return err
}

func (n *newTasks) ready(k *want) (bool, error) {
	if n.allowed == nil {
		return true, nil
	}
	return n.allowed(k)
}

func (n *newTasks) search() error { return cardTasks{n.state}.needTasks() }

// find takes the oldest one of several copies.
func (n *newTasks) find(wants []*want) error {
	for _, t := range n.tasks.inOrder() {
		if k := n.whose(&t, wants); k != nil {
			n.count(CountPrevented, "lookup")
			n.assign(k, &t, "found by its marker")
		}
	}
	return nil
}

// whose returns the want that a task was made for; nil: none.
func (n *newTasks) whose(t *mapping.Task, wants []*want) *want {
	marks := (signer{n.state}).marks(t.Summary.Value, mapping.MarkTask)
	if len(marks) == 0 {
		marks = make([]mapping.Marker, 1)
	}
	for _, m := range marks {
		if i := slices.IndexFunc(wants, func(k *want) bool { return !k.done && n.marks(k, t, m) }); i >= 0 {
			return wants[i]
		}
	}
	return nil
}

func (n *newTasks) assign(k *want, t *mapping.Task, how string) {
	k.done, k.err = true, n.taken(k, t, how)
}

// post makes tasks with one request. Markers assign the tasks in the answer to wants, in
// whatever order they come. A single task needs no marker.
func (n *newTasks) post(wants []*want) error {
	items := make([]NewItem, len(wants))
	for i, k := range wants {
		items[i] = k.newItem()
	}
	made, err := do(n, CreateTasks{n.pair.Card.ID, wants[0].user, items})
	slices.SortFunc(made, func(a, b mapping.Task) int { return cmp.Compare(a.CID, b.CID) })
	for i := range made {
		k := n.whose(&made[i], wants)
		if k == nil && len(wants) == 1 {
			k = wants[0]
		}
		if k != nil && !k.done {
			n.assign(k, &made[i], "made")
		}
	}
	return err
}

func (n *newTasks) refused(k *want, err error) error {
	var refused *mapping.Rejection
	if !errors.As(err, &refused) {
		return absences{n.state}.missing(mapping.Planning, err)
	}
	a, value := n.blocks(k)
	saver(k.w).refuseValue(mapping.Planning, a, value, refused)
	return nil
}

// withinRoom returns the parts that may get a task, the oldest first. The others wait. A
// create that was sent is looked for in any case.
func (w taskMaker) withinRoom(wanted []work) []work {
	room, waits := lister(w).room(), false
	var within []work
	for _, pw := range wanted {
		p := pw.pair
		switch {
		case p.Intent.Sent:
		case room <= 0:
			waits, p.Why = true, whyFull
			continue
		default:
			room--
		}
		if p.Why == whyFull {
			p.Why = ""
		}
		within = append(within, pw)
	}
	lister(w).tellFull(waits, "further sub-issues wait")
	if waits {
		pauses(w).revisitAfter(roomWait, "a sub-issue waits: "+whyFull)
	}
	return within
}

// itemMark returns the marker of a task that the bridge made.
func (w taskMaker) itemMark(t *mapping.Task) (mapping.Marker, bool) {
	marks := signer(w).marks(t.Summary.Value, mapping.MarkTask)
	if len(marks) == 0 {
		return mapping.Marker{}, false
	}
	return marks[0], true
}

// makeLineTasks makes the tasks of new lines with one request, and reports whether there is
// more to do.
func (w taskMaker) makeLineTasks() (bool, error) {
	var wants []*want
	sent := false
	for _, c := range w.items() {
		if c.Intent == nil || c.Intent.Side != mapping.Planning || c.Refused[mapping.Title].Value == mapping.DigestText(c.Item) {
			continue
		}
		base := map[mapping.Attribute]mapping.Base{mapping.Title: baseOf(c.Item, mapping.Versioned{Value: c.Item})}
		item := &NewItem{Title: c.Item, Summary: signer(w).footer("", mapping.MarkTask, c.Nonce, itemPartner)}
		k := &want{w: lineTasks(w).lineWork(c), intent: c.Intent, user: w.route.Username, base: base, item: item}
		wants, sent = append(wants, k), sent || c.Intent.Sent
	}
	if len(wants) == 0 {
		return false, nil
	}
	if behind, err := exclusivity(w).mayLackItems(); err != nil {
		return false, err
	} else if !sent && !w.tasks.listed && (behind || len(w.link.Family.Forgotten) > 0) {
		return true, cardTasks(w).needTasks() // lines are matched with the tasks before one counts as new
	}
	err := w.makeTasks(creation{what: "create tasks"}, newTasks{
		blocks: (*want).title,
		marks: func(k *want, t *mapping.Task, m mapping.Marker) bool {
			return m.Nonce == k.w.pair.Nonce && !lineTasks(w).elsewhere(t)
		},
		taken: func(k *want, t *mapping.Task, how string) error {
			w.tasks.keepNewest(*t)
			if how == "made" {
				w.pair.Card.CountersVersion++
			}
			w.madeTask(k.w.pair, t, how)
			return nil
		},
	}, wants)
	return len(notMade(wants)) < len(wants), err
}

// madeTask completes an item with its task. Its first base has a new task's state
// (planning-api.md part 3), so that a line that is ticked already is a change of GitHub. It
// has the title that was sent, as the line may have been renamed since.
func (w taskMaker) madeTask(c *mapping.Pair, t *mapping.Task, how string) {
	sent := c.Item
	if base, ok := c.Intent.Base[mapping.Title]; ok {
		sent = base.Planning
	}
	w.happensTo(c, mapping.EventCompleted)
	c.Card, c.Intent = mapping.NameTask(t), nil
	title := baseOf(sent, mapping.Versioned{Value: sent})
	c.Base = map[mapping.Attribute]mapping.Base{
		mapping.Title: planningWriter(w).answered(mapping.Title, title, sent, t.Title),
		mapping.State: initialState(mapping.ItemState(t.State)),
	}
	w.count(CountWrites, w.link.Route, string(mapping.Planning), string(mapping.Title))
	saver(w).observeLag(mapping.Planning)
	w.notePart(string(mapping.Checklist), mapping.Planning, mapping.Title, "create", "task "+string(t.ID)+" for a line, "+how)
}

// makeSubTasks makes the tasks of all new sub-issues with one request, exactly once each. The
// marker of each task identifies it in the answer, in whatever order that comes. After a lost
// answer it identifies the task among the card's tasks.
func (w taskMaker) makeSubTasks() error {
	var wanted []work
	for _, p := range w.link.SubLinks {
		if p.State == mapping.Creating && p.Intent.Side == mapping.Planning {
			wanted = append(wanted, partWorker(w).part(p))
		}
	}
	wanted = w.withinRoom(wanted)
	if len(wanted) == 0 || w.set.DryRun {
		return nil
	}
	wants := make([]*want, len(wanted))
	for i, pw := range wanted {
		wants[i] = &want{w: pw, intent: pw.pair.Intent}
	}
	if err := w.mayExist(wants); err != nil {
		return err
	}
	err := w.makeTasks(creation{what: "create tasks"}, newTasks{
		blocks: (*want).title,
		marks: func(k *want, _ *mapping.Task, m mapping.Marker) bool {
			return m.Partner == strconv.FormatInt(k.w.owner.Issue.ID, 10)
		},
		taken: func(k *want, t *mapping.Task, how string) error {
			return partWorker(w).absorb(k.w, taskMaker(k.w).linkTask(t, how))
		},
		allowed: func(k *want) (bool, error) {
			ok, err := taskMaker(k.w).taskReady(k)
			return ok, partWorker(w).absorb(k.w, err)
		},
	}, wants)
	for _, pw := range wanted {
		err = mostSevere([]error{err, partWorker(w).absorb(pw, nil)})
	}
	return err
}

// taskReady makes sure that the sub-issue is known and that its task may be made. The
// sub-issue is read: an event from before the link knew it may have been lost with another
// link. A value that planning refused waits until it changes.
func (w taskMaker) taskReady(k *want) (bool, error) {
	if err := reader(w).fetch(); err != nil {
		return false, err
	}
	if ok, why := entrant(w).accepts(w.issue); !ok {
		return false, entrant(w).decline(why)
	}
	if refused, ok := w.pair.Refused[mapping.Title]; ok && refused.Value == mapping.DigestText(w.g[mapping.Title].Value) {
		return false, nil
	}
	if err := exclusivity(w).ensureExclusive(); err != nil {
		return false, err
	}
	if err := creator(w).oneEstimate(); err != nil {
		return false, err
	}
	k.user, k.base = planningWriter(w).username(), creator(w).firstBase()
	return true, nil
}

// linkTask completes the part with the task that was made for it.
func (w taskMaker) linkTask(t *mapping.Task, how string) error {
	if w.issue == nil {
		if err := reader(w).fetch(); err != nil {
			return err
		}
	}
	w.pair.Card = mapping.CardID{ID: t.ID, CID: t.CID, Version: t.Version}
	reader(w).setCard(t.AsCard())
	w.pair.Base = map[mapping.Attribute]mapping.Base{mapping.State: initialState(t.State)}
	for a, base := range w.pair.Intent.Base {
		w.pair.Base[a] = planningWriter(w).answered(a, base, base.Planning, w.p[a])
	}
	if w.issue != nil {
		reader(w).takeAsKnown(w.issue) // the snapshot handed over with the sub-issue may be older
	}
	w.root.pair.Card.CountersVersion++
	w.root.tasks.keepNewest(*t)
	creator(w).linked(mapping.Planning, fmt.Sprintf("task %s %s", t.ID, how))
	return nil
}

// ensureTracking gives a linked card its tracking task. A card has no writable state
// (planning-api.md 4.2) and a task has one (4.4), so one task carries open, in progress and
// closed, both ways.
func (w taskMaker) ensureTracking() error {
	if !w.route.TrackingTask || w.route.Direction == mapping.ToGitHub {
		return nil
	}
	child := w.trackingPair()
	if child == nil {
		w.addChild(mapping.EventWanted, &mapping.Pair{
			Kind: mapping.Tracking, Nonce: w.newNonce(w.link.Project), Intent: &mapping.Intent{Side: mapping.Planning},
		})
		child = w.trackingPair()
	}
	if child.State != mapping.Creating {
		return nil
	}
	if _, refused := w.pair.Refused[mapping.State]; refused {
		return nil
	}
	item := &NewItem{
		Title:   "GitHub " + issueName(w.owner.Issue.Repo, w.owner.Issue.Number),
		Summary: signer(w).footer(trackingText, mapping.MarkTask, child.Nonce, trackingPartner),
	}
	wants := []*want{{w: work(w), intent: child.Intent, user: w.route.Username, item: item}}
	if err := w.mayExist(wants); err != nil {
		return err
	}
	return w.makeTasks(creation{what: "create tracking task", free: true}, newTasks{
		blocks: func(*want) (mapping.Attribute, string) { return mapping.State, mapping.StateTodo },
		marks: func(k *want, t *mapping.Task, m mapping.Marker) bool { // a task that was not searched for is a copied card's
			return k.intent.Sent && (m.Partner == trackingPartner || m == mapping.Marker{} && w.strip(t.Summary.Value) == trackingText)
		},
		taken: func(_ *want, t *mapping.Task, how string) error {
			w.trackedBy(child, t, how)
			return nil
		},
	}, wants)
}

// trackingText explains a tracking task to people. It identifies one whose marker was removed.
const trackingText = "This task carries the state of the issue: to do is open, in progress is its label, done is closed."

// trackedBy completes the tracking task. Its first base has a new task's state (planning-api.md
// part 3). So an issue that is already in progress or closed is a change of GitHub. A task of a
// lost store that has another state, or had one, has no base: either side may have changed since.
func (w taskMaker) trackedBy(child *mapping.Pair, task *mapping.Task, how string) {
	w.happensTo(child, mapping.EventCompleted)
	ofLostStore := child.Intent.At.IsZero()
	child.Card, child.Intent = mapping.NameTask(task), nil
	if m, ok := w.itemMark(task); ok {
		child.Nonce = m.Nonce
	}
	state := task.State
	if state.Value == "" {
		state.Value = mapping.StateTodo
	}
	if isNew := state.Value == mapping.StateTodo && state.Version == 0; isNew || !ofLostStore {
		w.pair.SetBase(mapping.State, initialState(state))
	}
	w.p[mapping.State] = state
	w.pair.Card.CountersVersion++
	w.notePart(string(mapping.Tracking), mapping.Planning, mapping.State, "create", "tracking task "+string(task.ID)+" "+how)
}
