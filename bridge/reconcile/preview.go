package reconcile

import (
	"context"
	"encoding/json"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
)

// Preview reads both items of a root link and decides about them as the next
// reconcile would. It writes nothing, neither to a service nor to the store. It
// answers nil for a link whose pair does not exist yet or whose route is not
// configured. An error means that the decision could not be made; a side that
// cannot be read is no error.
func (r *Reconciler) Preview(ctx context.Context, link *mapping.Link) (*mapping.Preview, error) {
	l, err := clone(link)
	if err != nil {
		return nil, err
	}
	key := store.Key{Project: l.Project, Link: l.ID}
	w := r.newWork(&store.Claim{Key: key, Link: l, Until: r.Now()})
	if w.route == nil || w.planning == nil || l.Issue.Number == 0 || l.Card.ID == "" {
		return nil, nil
	}
	w.hidden = w.public(ctx, l.Issue.Repo, false)
	p := &mapping.Preview{Unread: map[mapping.Side]string{}}
	if issue, err := w.atGitHub().Issue(ctx, l.Issue.Repo, l.Issue.Number); err != nil {
		p.Unread[mapping.GitHub] = err.Error()
	} else {
		w.setIssue(&issue)
	}
	if err := w.lookAtCard(ctx); err != nil {
		p.Unread[mapping.Planning] = err.Error()
	}
	if p.Plan, err = w.resolve(ctx); err != nil {
		return nil, fmt.Errorf("decide about %s: %w", where(l), err)
	}
	p.GitHub, p.Planning = w.g, w.p
	return p, nil
}

// lookAtCard reads the card and its tracking task.
func (w *work) lookAtCard(ctx context.Context) error {
	card, err := w.atPlanning().Card(ctx, w.link.Card.ID)
	if err != nil {
		return err
	}
	w.setCard(&card)
	child := w.link.Child(mapping.Tracking)
	if child == nil || child.Task == "" || !w.route.TrackingTask {
		return nil
	}
	task, err := w.atPlanning().Task(ctx, child.Task)
	if err != nil {
		return fmt.Errorf("tracking task: %w", err)
	}
	w.p[mapping.State] = task.State
	return nil
}

// clone copies a link with its parts and children, as the store would.
func clone(link *mapping.Link) (*mapping.Link, error) {
	data, err := json.Marshal(link)
	if err != nil {
		return nil, fmt.Errorf("copy link %s: %w", link.ID, err)
	}
	l := new(mapping.Link)
	if err := json.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("copy link %s: %w", link.ID, err)
	}
	return l, nil
}
