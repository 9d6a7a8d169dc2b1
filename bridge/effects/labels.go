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

// The labels that show cards are written for several issues with one request: in an import, and
// while many keys are worked. Each issue's are still written under the lease of its own key, which
// was saved before. That request takes one write of the budget. What it cannot do for one issue,
// a request for that issue alone does, or says why not.

// relabelled is one of the issues whose labels change together.
type relabelled struct {
	change reconcile.LabelChange
	answer reconcile.LabelAnswer // once it was acted
}

func (h *hand) addLabels(e reconcile.AddLabels) ([]string, error) {
	change := reconcile.LabelChange{Repo: e.Repo, Node: e.Node, Add: e.Labels}
	return h.changeLabels(change, e.Sharing, func() ([]string, error) {
		return h.GitHub.AddLabels(h.writing, e.Repo, e.Number, e.Labels)
	})
}

func (h *hand) removeLabel(e reconcile.RemoveLabel) ([]string, error) {
	change := reconcile.LabelChange{Repo: e.Repo, Node: e.Node, Remove: []string{e.Label}}
	return h.changeLabels(change, e.Sharing, func() ([]string, error) {
		return h.GitHub.RemoveLabel(h.writing, e.Repo, e.Number, e.Label)
	})
}

// ensureLabel makes a repository's label unless it is there. Its write is reserved before GitHub
// is asked for the label: a key that waits for its turn would ask again each time.
func (h *hand) ensureLabel(e reconcile.EnsureLabel) error {
	if err := h.reserve(reconcile.Reserve{Class: reconcile.WriteEdit}); err != nil {
		return err
	}
	return h.GitHub.EnsureLabel(h.ctx, e.Repo, e.Label.Name, e.Label.Color, e.Label.Description)
}

// sharesLabels reports whether the key's labels go with those of others now.
func (h *hand) sharesLabels(s reconcile.Sharing) bool {
	return s.Node != "" && h.Labels != nil && h.lease != nil && h.Labels.LabelBatch() > 1 && (s.Waited || h.imports() || h.lease.Crowded())
}

// imports reports whether the step is for what an import makes for the first time.
func (h *hand) imports() bool { return h.ask.Rank == store.RankImport }

// changeLabels changes an issue's labels together with others, or alone.
func (h *hand) changeLabels(change reconcile.LabelChange, s reconcile.Sharing, alone func() ([]string, error)) ([]string, error) {
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
		h.sit()
		return alone()
	}
	return m.answer.Labels, m.answer.Err
}

// notTaken says of a write that was to be made with others whether it may have been made.
func notTaken(err error) error {
	if errors.Is(err, engine.ErrNotTaken) {
		return fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", mapping.ErrUncertain, err)
}

// changeTogether changes the labels of several issues. One that is alone has a request of its own.
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
