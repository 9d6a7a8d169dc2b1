package planning

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/goccy/go-json"

	"planbridge/mapping"
)

// Sprint is a sprint, also called iteration (docs/planning-api.md 2.5).
type Sprint struct {
	ID           mapping.ObjectID
	Title        string
	Summary      string // Markdown
	Start, End   time.Time
	Version      int64
	Estimate     string // decimal text; "" where none
	TaskEstimate string // hours, decimal text; "" where none
	Counters     *mapping.Counters
	IsFuture     bool
	IsActive     bool
	IsPast       bool
}

type wireSprint struct {
	ID           oid                 `json:"_id"`
	Title        versioned[text]     `json:"title"`
	Summary      versioned[rich]     `json:"summary"`
	Start        versioned[stamp]    `json:"startDate"`
	End          versioned[stamp]    `json:"endDate"`
	Version      integer             `json:"version"`
	Estimate     versioned[number]   `json:"estimate"`
	TaskEstimate versioned[number]   `json:"taskEstimate"`
	Counters     versioned[counters] `json:"taskCounters"`
	IsFuture     flag                `json:"isFuture"`
	IsActive     flag                `json:"isActive"`
	IsPast       flag                `json:"isPast"`
}

func (w *wireSprint) sprint() (Sprint, error) {
	if w.ID == "" {
		return Sprint{}, errNoID
	}
	return Sprint{
		ID: mapping.ObjectID(w.ID), Title: string(w.Title.Value), Summary: string(w.Summary.Value),
		Start: time.Time(w.Start.Value), End: time.Time(w.End.Value), Version: int64(w.Version),
		Estimate: string(w.Estimate.Value), TaskEstimate: string(w.TaskEstimate.Value),
		Counters: w.Counters.Value.Counters,
		IsFuture: bool(w.IsFuture), IsActive: bool(w.IsActive), IsPast: bool(w.IsPast),
	}, nil
}

// Sprints lists the project's sprints (endpoint 7).
func (c *Client) Sprints(ctx context.Context) ([]Sprint, error) {
	return decoded(ctx, c, c.sprints(), readSprints)
}

func (c *Client) sprints() call { return c.read("sprints.list", "list sprints", "iterations") }

func readSprints(body []byte) ([]Sprint, error) { return listOf(body, (*wireSprint).sprint) }

// Sprint reads one sprint (endpoint 8).
func (c *Client) Sprint(ctx context.Context, id mapping.ObjectID) (Sprint, error) {
	return get(ctx, c, c.read("sprint.get", "read sprint "+string(id), "iterations", id), (*wireSprint).sprint)
}

// SprintItems are the cards and tasks of a sprint. The service lists tasks flat among the cards,
// nested in them, or both. SprintItems keeps them so, in Tasks and in a card's Tasks.
type SprintItems struct {
	Cards []mapping.Card
	Tasks []mapping.Task
	// Users are the usernames on an entry, by the id of the task (or card), each once, in order.
	Users map[mapping.ObjectID][]string
}

// entry is one element of a sprint listing: a card or a task.
type entry struct {
	card  *wireCard
	task  *wireTask
	users users // a card's; a task has its own
}

func (e *entry) UnmarshalJSON(raw []byte) error {
	var s signs
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	e.users = s.Users
	if s.isTask() {
		e.task = new(wireTask)
		return json.Unmarshal(raw, e.task)
	}
	e.card = new(wireCard)
	return json.Unmarshal(raw, e.card)
}

// signs are the members that distinguish tasks from cards in a sprint listing. Their state does
// not, as a card's may be a word too.
type signs struct {
	Tasks         json.RawMessage     `json:"tasks"`
	TP            flag                `json:"isStandaloneTP"`
	Counters      versioned[counters] `json:"taskCounters"`
	Review        json.RawMessage     `json:"iterationReview"`
	Owner         versioned[oid]      `json:"owner"`
	Users         users               `json:"users"`
	TimeRemaining json.RawMessage     `json:"timeRemaining"`
	TimeEntries   json.RawMessage     `json:"timeEntriesTotal"`
}

// isTask decides by members that only one of the two can have, the surest first
// (docs/planning-api.md 2.4, 2.6). A card holds or counts tasks. A task records time and users. A
// task's owner is its card, while a card has a review, set or not, and no owner.
func (s *signs) isTask() bool {
	switch {
	case s.Tasks != nil || bool(s.TP) || s.Counters.Value.Counters != nil:
		return false
	case s.TimeRemaining != nil || s.Users != nil || s.TimeEntries != nil:
		return true
	}
	return s.Owner.Value != "" && s.Review == nil
}

// users are the users of an entry; anything but an array is empty.
type users []struct {
	User text `json:"user"`
}

func (u *users) UnmarshalJSON(raw []byte) error {
	type plain users // without this method
	if raw[0] != '[' || json.Unmarshal(raw, (*plain)(u)) != nil {
		*u = nil
	}
	return nil
}

// SprintItems reads the items of a sprint (endpoint 9).
func (c *Client) SprintItems(ctx context.Context, id mapping.ObjectID) (SprintItems, error) {
	return decoded(ctx, c, c.sprintItems(id), readSprintItems)
}

func (c *Client) sprintItems(id mapping.ObjectID) call {
	return c.read("sprint.items", "list items of sprint "+string(id), "iterations", id, "items")
}

func readSprintItems(body []byte) (SprintItems, error) {
	items := SprintItems{Users: map[mapping.ObjectID][]string{}}
	_, err := listOf(body, func(e *entry) (struct{}, error) { return struct{}{}, items.add(e) })
	return items, err
}

// clone copies the lists. Their elements share nested data.
func (s SprintItems) clone() SprintItems {
	return SprintItems{slices.Clone(s.Cards), slices.Clone(s.Tasks), maps.Clone(s.Users)}
}

func (s *SprintItems) add(e *entry) error {
	if e.task != nil {
		t, err := e.task.task("")
		s.Tasks = append(s.Tasks, t)
		s.note(t.ID, e.task.Users)
		return err
	}
	if e.card == nil { // a null element
		return errNoID
	}
	card, err := e.card.card("", "")
	s.Cards = append(s.Cards, card)
	s.note(card.ID, e.users)
	for i := range e.card.Tasks {
		s.note(mapping.ObjectID(e.card.Tasks[i].ID), e.card.Tasks[i].Users)
	}
	return err
}

func (s *SprintItems) note(id mapping.ObjectID, us users) {
	for _, u := range us {
		s.AddUser(id, string(u.User))
	}
}

// AddUser adds a user to an entry.
func (s *SprintItems) AddUser(id mapping.ObjectID, name string) {
	if name != "" && id != "" && !slices.Contains(s.Users[id], name) {
		s.Users[id] = append(s.Users[id], name)
	}
}
