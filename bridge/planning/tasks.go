package planning

import (
	"context"

	"planbridge/mapping"
)

// wireTask is a task in the service's JSON (docs/planning-api.md 2.6). Answers omit several
// members; a missing one reads as empty.
type wireTask struct {
	ID       oid               `json:"_id"`
	CID      integer           `json:"cid"`
	Version  integer           `json:"version"`
	Owner    versioned[oid]    `json:"owner"`
	Title    versioned[text]   `json:"title"`
	Summary  versioned[rich]   `json:"summary"`
	Estimate versioned[number] `json:"estimate"`
	State    versioned[text]   `json:"state"`
	Users    users             `json:"users"` // in sprint listings
}

// task converts. owner is the known card of the task, for an answer that omits the owner.
func (w *wireTask) task(owner mapping.ObjectID) (mapping.Task, error) {
	if w.ID == "" {
		return mapping.Task{}, errNoID
	}
	if w.Owner.Value != "" {
		owner = mapping.ObjectID(w.Owner.Value)
	}
	return mapping.Task{
		ID:       mapping.ObjectID(w.ID),
		CID:      int64(w.CID),
		Version:  int64(w.Version),
		Owner:    owner,
		Title:    mapping.Versioned{Value: string(w.Title.Value), Version: w.Title.Version},
		Summary:  mapping.Versioned{Value: string(w.Summary.Value), Version: w.Summary.Version},
		Estimate: mapping.Versioned{Value: string(w.Estimate.Value), Version: w.Estimate.Version},
		State:    mapping.Versioned{Value: string(w.State.Value), Version: w.State.Version},
	}, nil
}

func mapTasks(wire []wireTask, owner mapping.ObjectID) ([]mapping.Task, error) {
	tasks := make([]mapping.Task, len(wire))
	for i := range wire {
		var err error
		if tasks[i], err = wire[i].task(owner); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}

// Tasks reads the tasks of a card (endpoint 13).
func (c *Client) Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error) {
	k := c.read("card.tasks", "list tasks of card "+string(card), "items", card, "tasks")
	return list(ctx, c, k, func(w *wireTask) (mapping.Task, error) { return w.task(card) })
}

// Task reads one task (endpoint 15).
func (c *Client) Task(ctx context.Context, id mapping.ObjectID) (mapping.Task, error) {
	k := c.read("task.get", "read task "+string(id), "tasks", id)
	return get(ctx, c, k, func(w *wireTask) (mapping.Task, error) { return w.task("") })
}

// NewTask is a task to make. An empty summary or estimate is left out; the estimate is in hours,
// in decimal text.
type NewTask struct{ Title, Summary, Estimate string }

// CreateTask makes one task on a card (endpoint 14), as [Client.CreateCard]
// makes a card.
func (c *Client) CreateTask(ctx context.Context, card mapping.ObjectID, username string, task NewTask) (mapping.Task, error) {
	n := NewTasks(card, username, []NewTask{task})
	n.Batch = false
	made, err := c.makeTasks(ctx, n)
	return first(made), err
}

// CreateTasks makes several tasks on a card with one request, as
// [Client.CreateCards] makes cards.
func (c *Client) CreateTasks(ctx context.Context, card mapping.ObjectID, username string, tasks []NewTask) ([]mapping.Task, error) {
	return c.makeTasks(ctx, NewTasks(card, username, tasks))
}

// NewTasks is the creation of tasks on a card.
func NewTasks(card mapping.ObjectID, username string, tasks []NewTask) Creation {
	n := Creation{In: card, Username: username, Batch: true, Drafts: make([]Draft, len(tasks))}
	for i, task := range tasks {
		n.Drafts[i] = Draft{username, task.Title, task.Summary, task.Estimate}
	}
	return n
}

func (c *Client) makeTasks(ctx context.Context, n Creation) ([]mapping.Task, error) {
	p := partialOf(n.Drafts)
	made, err := create(ctx, c, c.read("task.create", "", "items", n.In, "tasks"), n, func(w *wireTask) (mapping.Task, error) {
		p.noteMissing(w.ID, w.Title.Value, w.Summary.Value, w.Estimate)
		if w.State.Value == "" {
			w.State.Value = mapping.StateTodo // of every new task (docs/planning-api.md 3)
		}
		return w.task(n.In)
	})
	return complete(ctx, p, made, err, func(made mapping.Task) mapping.ObjectID { return made.ID },
		func(ctx context.Context, made mapping.Task) (mapping.Task, error) {
			return get(ctx, c, c.read("task.get", "read task "+string(made.ID), "tasks", made.ID),
				func(w *wireTask) (mapping.Task, error) { return w.task(n.In) })
		})
}

// UpdateTask writes attributes of a task under their versions (endpoint 16), as
// [Client.UpdateCard] does for a card. A task also has a state.
func (c *Client) UpdateTask(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (Updated, error) {
	return c.update(ctx, c.read("task.update", "", "tasks", id), Write{ID: id, Username: username, Images: images, Set: set})
}
