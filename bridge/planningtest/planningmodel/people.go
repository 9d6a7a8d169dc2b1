package planningmodel

import (
	"fmt"
	"slices"
	"time"
)

// CardSpec has a person's values for a new card.
type CardSpec struct {
	Title, Summary string
	Estimate       *float64 // story points; nil: none
}

// CardEdit has the values of a card that a person can change.
type CardEdit = CardSpec

// TaskSpec has a person's values for a new task.
type TaskSpec struct {
	Title, Summary string
	Estimate       *float64 // hours; nil: none
	State          string   // "" means todo
}

// TaskEdit has the values of a task that a person can change.
type TaskEdit = TaskSpec

// SprintSpec is a sprint as a person plans it. Start and End are its first
// and its last moment.
type SprintSpec struct {
	Title, Summary string
	Start, End     time.Time
}

// given has the values that a person gives an item. was is the summary before, which the service
// leaves unchanged where the person did.
func (p *Project) given(newTitle, was, newSummary string, newEstimate *float64) []setting {
	if newSummary != was {
		newSummary = p.s.traits.stored(newSummary)
	}
	return []setting{{Title, newTitle}, {Summary, newSummary}, {Estimate, decimal(newEstimate)}}
}

// NewCard creates a card in a bucket as user and returns its id.
func (p *Project) NewCard(bucketTitle, user string, spec CardSpec) string {
	defer p.s.act()()
	return p.newCard(p.bucket(bucketTitle), author{user: user}, p.given(spec.Title, "", spec.Summary, spec.Estimate)...).id
}

// AddCards creates n cards titled "Card 1" to "Card n" and returns their ids.
func (p *Project) AddCards(bucketTitle string, n int) []string {
	defer p.s.act()()
	ids, b := make([]string, n), p.bucket(bucketTitle)
	for i := range ids {
		ids[i] = p.newCard(b, author{user: "fixture"}, setting{Title, fmt.Sprintf("Card %d", i+1)}).id
	}
	return ids
}

// NewPlaceholder creates the card of a sprint that holds tasks of no card.
func (p *Project) NewPlaceholder(sprintID string) string {
	defer p.s.act()()
	c := p.newCard(nil, author{})
	p.write(c, author{}, setting{Iteration, p.item(KindSprint, sprintID).id})
	return c.id
}

// EditCard changes a card as user, in one act. The function gets the card's values and must not
// call the server.
func (p *Project) EditCard(id, user string, edit func(*CardEdit)) {
	defer p.s.act()()
	c := p.item(KindCard, id)
	was := c.attrs[Summary].value
	e := CardEdit{c.attrs[Title].value, was, number(c.attrs[Estimate].value)}
	edit(&e)
	p.write(c, author{user: user}, p.given(e.Title, was, e.Summary, e.Estimate)...)
}

// MoveCard moves a card to another bucket.
func (p *Project) MoveCard(id, bucketTitle string) {
	defer p.s.act()()
	p.write(p.item(KindCard, id), author{}, setting{State, p.bucket(bucketTitle).ID})
}

// MoveToSprint plans a card into a sprint; "" takes it out of its sprint.
func (p *Project) MoveToSprint(cardID, sprintID string) {
	defer p.s.act()()
	c := p.item(KindCard, cardID)
	if sprintID != "" {
		p.item(KindSprint, sprintID)
	}
	from := c.attrs[Iteration].value
	p.write(c, author{}, setting{Iteration, sprintID})
	p.recountSprint(from)
}

// Review gives a card its review: Approved, Partially, Rejected, or "" for
// none.
func (p *Project) Review(cardID, verdict string) {
	defer p.s.act()()
	p.write(p.item(KindCard, cardID), author{}, setting{Review, verdict})
}

// DeleteCard deletes a card and its tasks, which the API cannot.
func (p *Project) DeleteCard(id string) {
	defer p.s.act()()
	c := p.item(KindCard, id)
	for _, t := range c.tasks {
		p.drop(t)
	}
	p.drop(c)
	p.cards = slices.DeleteFunc(p.cards, func(o *item) bool { return o == c })
	p.recountSprint(c.attrs[Iteration].value)
}

// RestoreCard brings a card that was deleted back as it was, with its tasks.
func (p *Project) RestoreCard(id string) {
	defer p.s.act()()
	c := p.deleted[id]
	if c == nil || c.kind != KindCard {
		panic("planningmodel: no card " + id + " was deleted")
	}
	for _, it := range append([]*item{c}, c.tasks...) {
		delete(p.deleted, it.id)
		p.items[it.id] = it
	}
	p.cards = append(p.cards, c)
	p.recountSprint(c.attrs[Iteration].value)
}

// drop deletes an item from the index and keeps it for History.
func (p *Project) drop(it *item) {
	delete(p.items, it.id)
	p.deleted[it.id] = it
	p.activity++
}

// NewTask creates a task on a card as user and returns its id.
func (p *Project) NewTask(cardID, user string, spec TaskSpec) string {
	defer p.s.act()()
	t := p.newTask(p.item(KindCard, cardID), author{user: user}, p.given(spec.Title, "", spec.Summary, spec.Estimate)...)
	if spec.State != "" {
		p.write(t, author{user: user}, setting{State, spec.State})
	}
	return t.id
}

// EditTask changes a task as user, in one act. The function gets the task's values and must not
// call the server.
func (p *Project) EditTask(id, user string, edit func(*TaskEdit)) {
	defer p.s.act()()
	t := p.item(KindTask, id)
	was := t.attrs[Summary].value
	e := TaskEdit{t.attrs[Title].value, was, number(t.attrs[Estimate].value), t.attrs[State].value}
	edit(&e)
	p.write(t, author{user: user}, append(p.given(e.Title, was, e.Summary, e.Estimate), setting{State, e.State})...)
}

// MoveTask moves a task to another card, which the API cannot.
func (p *Project) MoveTask(id, cardID string) {
	defer p.s.act()()
	t, to := p.item(KindTask, id), p.item(KindCard, cardID)
	from := t.card
	from.tasks = slices.DeleteFunc(from.tasks, func(o *item) bool { return o == t })
	t.card, to.tasks = to, append(to.tasks, t)
	t.version++
	p.recount(from, false)
	p.recount(to, false)
}

// DeleteTask deletes a task, which the API cannot.
func (p *Project) DeleteTask(id string) {
	defer p.s.act()()
	t := p.item(KindTask, id)
	p.drop(t)
	t.card.tasks = slices.DeleteFunc(t.card.tasks, func(o *item) bool { return o == t })
	p.recount(t.card, false)
}

// LogTime records how many hours of a task remain, as user, and assigns the user to the task.
func (p *Project) LogTime(taskID, user string, hours float64) {
	defer p.s.act()()
	t := p.item(KindTask, taskID)
	t.log = append(t.log, Remaining{hours, p.s.o.Now(), user})
	p.assign(t, user)
	t.version++
}

// Assign puts users on a task.
func (p *Project) Assign(taskID string, users ...string) {
	defer p.s.act()()
	t := p.item(KindTask, taskID)
	for _, user := range users {
		p.assign(t, user)
	}
	t.version++
}

// Unassign takes a user off a task.
func (p *Project) Unassign(taskID, user string) {
	defer p.s.act()()
	t := p.item(KindTask, taskID)
	t.users = slices.DeleteFunc(t.users, func(a Assignment) bool { return a.User == user })
	t.version++
}

func (p *Project) assign(t *item, user string) {
	if !slices.ContainsFunc(t.users, func(a Assignment) bool { return a.User == user }) {
		t.users = append(t.users, Assignment{User: user, Who: user, When: p.s.o.Now()})
	}
}

// NewSprint plans a sprint and returns its id.
func (p *Project) NewSprint(spec SprintSpec) string {
	defer p.s.act()()
	sp := p.newItem(KindSprint, author{}, sprintSettings(spec)...)
	sp.start, sp.end = spec.Start, spec.End
	p.sprints = append(p.sprints, sp)
	return sp.id
}

// EditSprint changes a sprint, in one act. The function must not call the
// server.
func (p *Project) EditSprint(id string, edit func(*SprintSpec)) {
	defer p.s.act()()
	sp := p.item(KindSprint, id)
	spec := SprintSpec{sp.attrs[Title].value, sp.attrs[Summary].value, sp.start, sp.end}
	edit(&spec)
	sp.start, sp.end = spec.Start, spec.End
	p.write(sp, author{}, sprintSettings(spec)...)
}

func sprintSettings(spec SprintSpec) []setting {
	return []setting{
		{Title, spec.Title},
		{Summary, spec.Summary},
		{StartDate, Timestamp(spec.Start)},
		{EndDate, Timestamp(spec.End)},
	}
}
