package needs

import (
	"context"
	"errors"

	"planbridge/bridge/poll"
	"planbridge/bridge/retention"
	"planbridge/mapping"
)

// Project is a planning project whose cards and tasks polls remember.
type Project interface {
	// ListItems lists the cards and tasks that the listings show.
	ListItems(ctx context.Context) (cards, tasks map[mapping.ObjectID]bool, err error)
	Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error)
	Task(ctx context.Context, id mapping.ObjectID) (mapping.Task, error)
	// Forget tells the poller that a mark of a set was removed.
	Forget(set string, id mapping.ObjectID)
}

// Items are the cards and tasks of a project that polls remember. An item is needed if a listing
// shows it. A task is also needed if a link synchronises it, as the backlog shows none. Where
// planning does not list everything now, the next pass decides.
func (n Needs) Items(ctx context.Context, project mapping.ObjectID, carried retention.Names) ([]retention.Items, error) {
	p := n.o.Projects.Remembered(project)
	if p == nil {
		return nil, nil // not configured: it has no remembered items any more
	}
	listed, tasks, err := p.ListItems(ctx)
	if err != nil {
		n.o.Logger.Info("what is remembered of items that are gone is looked through another day", "project", project, "err", err)
		return nil, ctx.Err()
	}
	for id := range carried.Tasks {
		tasks[id] = true
	}
	return []retention.Items{
		items{p, poll.SetCards, listed, func(ctx context.Context, id mapping.ObjectID) error { _, err := p.Card(ctx, id); return err }},
		items{p, poll.SetTasks, tasks, func(ctx context.Context, id mapping.ObjectID) error { _, err := p.Task(ctx, id); return err }},
	}, nil
}

// items are the cards or the tasks of a project.
type items struct {
	project Project
	set     string
	needed  map[mapping.ObjectID]bool
	read    func(ctx context.Context, id mapping.ObjectID) error
}

// Set implements [retention.Items].
func (i items) Set() string { return i.set }

// Needed implements [retention.Items].
func (i items) Needed(id mapping.ObjectID) bool { return i.needed[id] }

// Gone implements [retention.Items].
func (i items) Gone(ctx context.Context, id mapping.ObjectID) (bool, error) {
	err := i.read(ctx, id)
	if errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone) {
		return true, nil
	}
	return false, err
}

// Forget implements [retention.Items].
func (i items) Forget(id mapping.ObjectID) { i.project.Forget(i.set, id) }
