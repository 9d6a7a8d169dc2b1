package planningmodel

import (
	"slices"
	"time"
)

// CardState is the whole state of a card. Attributes that were never set are at version 0.
type CardState struct {
	ID      string
	CID     int
	Version int64 // of the whole card

	Title, Summary, SummaryHTML   string
	TitleVersion, SummaryVersion  int64
	Estimate                      *float64
	EstimateVersion               int64
	Bucket, BucketID              string // title and id; "" for a placeholder
	BucketVersion                 int64
	Sprint                        string // id; "" for none
	SprintVersion                 int64
	Review                        string
	ReviewVersion                 int64
	Status                        string // of the task counters; "" without tasks
	CountersVersion, HoursVersion int64  // of taskCounters and taskEstimate
	Placeholder                   bool
	Tasks                         []TaskState
}

// TaskState is the whole state of a task.
type TaskState struct {
	ID      string
	CID     int
	Card    string // id
	Version int64  // of the whole task

	Title, Summary, SummaryHTML  string
	TitleVersion, SummaryVersion int64
	Estimate                     *float64
	EstimateVersion              int64
	State                        string
	StateVersion                 int64
	Users                        []string
	Remaining                    *float64 // hours, as logged last; nil: never logged
}

// SprintState is the whole state of a sprint.
type SprintState struct {
	ID             string
	Version        int64
	Title, Summary string
	Start, End     time.Time
	Cards          []string // ids
}

// Card shows a card; where there is none, its ID is "".
func (p *Project) Card(id string) CardState {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if it := p.items[id]; it != nil && it.kind == KindCard {
		return p.cardState(it)
	}
	return CardState{}
}

// Cards shows every card in the order of their making, placeholders included.
func (p *Project) Cards() []CardState {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	out := make([]CardState, len(p.cards))
	for i, c := range p.cards {
		out[i] = p.cardState(c)
	}
	return out
}

// Task shows a task; where there is none, its ID is "".
func (p *Project) Task(id string) TaskState {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if it := p.items[id]; it != nil && it.kind == KindTask {
		return taskState(it)
	}
	return TaskState{}
}

// Tasks shows the tasks of a card in the order of their making.
func (p *Project) Tasks(cardID string) []TaskState { return p.Card(cardID).Tasks }

// Sprint shows a sprint; where there is none, its ID is "".
func (p *Project) Sprint(id string) SprintState {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	sp := p.items[id]
	if sp == nil || sp.kind != KindSprint {
		return SprintState{}
	}
	return p.sprintState(sp)
}

// Sprints shows every sprint in the order of their making.
func (p *Project) Sprints() []SprintState {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return each(p.sprints, p.sprintState)
}

func (p *Project) sprintState(sp *item) SprintState {
	out := SprintState{
		ID: sp.id, Version: sp.version, Title: sp.attrs[Title].value, Summary: sp.attrs[Summary].value,
		Start: sp.start, End: sp.end,
	}
	for _, c := range p.sprintCards(sp.id) {
		out.Cards = append(out.Cards, c.id)
	}
	return out
}

// History shows every value that an attribute of a card, task or sprint ever
// held, oldest first, under the attribute's name in the API. The state of a card is the id of its
// bucket. Deleted items keep their history.
func (p *Project) History(itemID, attribute string) []Value {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	it, i := p.items[itemID], slices.Index(attrNames[:], attribute)
	if it == nil {
		it = p.deleted[itemID]
	}
	if it == nil || i < 0 {
		return nil
	}
	return slices.Clone(it.attrs[i].past)
}

func (p *Project) cardState(c *item) CardState {
	a := &c.attrs
	out := CardState{
		ID: c.id, CID: c.cid, Version: c.version, Placeholder: c.placeholder,
		Title: a[Title].value, TitleVersion: a[Title].version,
		Summary: a[Summary].value, SummaryHTML: c.html, SummaryVersion: a[Summary].version,
		Estimate: number(a[Estimate].value), EstimateVersion: a[Estimate].version,
		BucketVersion: a[State].version,
		Sprint:        a[Iteration].value, SprintVersion: a[Iteration].version,
		Review: a[Review].value, ReviewVersion: a[Review].version,
		Status:          countTasks(c).Status(),
		CountersVersion: a[TaskCounters].version, HoursVersion: a[TaskEstimate].version,
	}
	if b := p.bucketOf(a[State].value); b != nil {
		out.Bucket, out.BucketID = b.Title, b.ID
	}
	for _, t := range c.tasks {
		out.Tasks = append(out.Tasks, taskState(t))
	}
	return out
}

func taskState(t *item) TaskState {
	a := &t.attrs
	out := TaskState{
		ID: t.id, CID: t.cid, Card: t.card.id, Version: t.version,
		Title: a[Title].value, TitleVersion: a[Title].version,
		Summary: a[Summary].value, SummaryHTML: t.html, SummaryVersion: a[Summary].version,
		Estimate: number(a[Estimate].value), EstimateVersion: a[Estimate].version,
		State: a[State].value, StateVersion: a[State].version,
	}
	for _, u := range t.users {
		out.Users = append(out.Users, u.User)
	}
	if n := len(t.log); n > 0 {
		out.Remaining = &t.log[n-1].Hours
	}
	return out
}
