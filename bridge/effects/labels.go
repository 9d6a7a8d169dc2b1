package effects

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"planbridge/bridge/engine"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Labels that show cards are written for several issues with one request, in an import and in a
// crowd. Each issue's labels are still written under the lease of its own key, after that was
// saved. The request takes one write of the budget. Where it fails for one issue, a request for
// that issue alone does the write or returns the reason.

// relabelled is one of the issues whose labels change together.
type relabelled struct {
	change reconcile.LabelChange
	answer reconcile.LabelAnswer // valid after the act
}

func (h *executor) addLabels(e reconcile.AddLabels) ([]string, error) {
	change := reconcile.LabelChange{Repo: e.Repo, Node: e.Node, Add: e.Labels}
	return h.changeLabels(change, e.Sharing, func() ([]string, error) {
		return h.GitHub.AddLabels(h.writing, e.Repo, e.Number, e.Labels)
	})
}

func (h *executor) removeLabel(e reconcile.RemoveLabel) ([]string, error) {
	change := reconcile.LabelChange{Repo: e.Repo, Node: e.Node, Remove: []string{e.Label}}
	return h.changeLabels(change, e.Sharing, func() ([]string, error) {
		return h.GitHub.RemoveLabel(h.writing, e.Repo, e.Number, e.Label)
	})
}

// ensureLabel makes a repository's label unless it exists. It reserves the write before it asks
// GitHub for the label. Otherwise a key that waits for its turn would ask again each time.
func (h *executor) ensureLabel(e reconcile.EnsureLabel) error {
	if err := h.reserve(reconcile.Reserve{Class: reconcile.WriteEdit}); err != nil {
		return err
	}
	return h.GitHub.EnsureLabel(h.ctx, e.Repo, e.Label.Name, e.Label.Color, e.Label.Description)
}

// sharesLabels reports whether the key's labels may share a request now.
func (h *executor) sharesLabels(s reconcile.Sharing) bool {
	return s.Node != "" && h.Labels != nil && h.lease != nil && h.Labels.LabelBatch() > 1 && (s.Waited || h.imports() || h.lease.Crowded())
}

// imports reports whether the step belongs to the first sync of an import.
func (h *executor) imports() bool { return h.ask.Rank == store.RankImport }

// changeLabels changes an issue's labels, in a batch or alone.
func (h *executor) changeLabels(change reconcile.LabelChange, s reconcile.Sharing, alone func() ([]string, error)) ([]string, error) {
	if h.reserved[reconcile.WriteEdit] || !h.sharesLabels(s) {
		return alone()
	}
	owner, _, _ := strings.Cut(change.Repo, "/")
	b := engine.Batch{
		Project: h.claim.Link.Project, Name: fmt.Sprintf("labels %s %s %d", owner, h.ask.Route, h.ask.Rank), Most: h.Labels.LabelBatch(),
		Brief: !h.imports(), Write: true, Act: acting(h.changeTogether),
	}
	resume, retry := h.lease.Yield()
	if resume == nil {
		return nil, &mapping.RateLimited{API: "github", After: retry, Why: "enough keys are under way", Turn: true}
	}
	m := &relabelled{change: change}
	err := h.lease.Join(h.apart(h.writing), b, m)
	resume()
	if err != nil {
		return nil, notTaken(err)
	}
	if m.answer.Alone {
		h.acquireSlot()
		return alone()
	}
	return m.answer.Labels, m.answer.Err
}

// notTaken returns the error of a write in a batch. It says whether the write may have been made.
func notTaken(err error) error {
	if errors.Is(err, engine.ErrNotTaken) {
		return fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", mapping.ErrUncertain, err)
}

// changeTogether changes the labels of several issues. A single member gets a request of its own.
func (s *Shell) changeTogether(ctx context.Context, members []*relabelled) {
	if len(members) == 1 {
		members[0].answer.Alone = true
		return
	}
	changes := make([]reconcile.LabelChange, len(members))
	for i, m := range members {
		changes[i] = m.change
	}
	for i, a := range s.Labels.ChangeLabels(ctx, changes) {
		members[i].answer = a
	}
}
