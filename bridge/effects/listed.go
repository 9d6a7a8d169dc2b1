package effects

import (
	"context"
	"time"

	"planbridge/bridge/engine"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// Of issues that enter together, a page of a listing tells which are no sub-issues. A listing
// may lag. What it does not show, or shows older than it is known, is asked for by itself.
// No listing takes the place of the read before a write: it may lack what a person just did.

const (
	// entersFor is how long after its first sight an issue is taken to be entering.
	entersFor = 15 * time.Minute
	// listedMost is how many issues one page shows.
	listedMost = 100
)

// listed is an issue that is looked for in a listing.
type listed struct {
	number int
	known  time.Time // when it was updated, as far as is known

	found      bool // once it was acted: a page shows it, no older than that
	parentless bool // as that page says
}

// readParent reads an issue's parent. A listing tells of most that they have none.
func (h *hand) readParent(e reconcile.ReadParent) (*mapping.Issue, error) {
	if h.listedParentless(e) {
		return nil, nil //nolint:nilnil // there is none
	}
	h.sit()
	ctx, stop := h.within(e.Within)
	defer stop()
	return h.GitHub.Parent(ctx, e.Repo, e.Number)
}

// within is the context of a read that a card waits for.
func (h *hand) within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(h.ctx, d)
}

// listedParentless looks for the key's issue in a listing, with others, where it enters in a
// crowd, and reports whether that shows it without a parent.
func (h *hand) listedParentless(e reconcile.ReadParent) bool {
	link := h.claim.Link
	m := &listed{number: e.Number, known: link.Issue.UpdatedAt}
	if seen := time.Unix(h.claim.Inbox[mapping.IssueRef(link.Issue.ID)].At, 0); seen.After(m.known) && seen.Unix() > 0 {
		m.known = seen
	}
	if h.Lists == nil || e.Number != link.Issue.Number || e.Repo != link.Issue.Repo || m.known.IsZero() || h.Clock.Now().Sub(link.Created) > entersFor {
		return false
	}
	ctx, stop := h.within(e.Within)
	defer stop()
	act := func(ctx context.Context, members []*listed) { h.look(ctx, e.Repo, members) }
	err := h.together(ctx, engine.Batch{Name: "issues of " + e.Repo, Most: listedMost, Brief: true, Act: acting(act)}, m)
	return err == nil && m.parentless // after an error the batch may still be writing to m
}

// look gives each member what pages show of its issue, as far as they are worth it: one for
// each ten members, and one more.
func (s *Shell) look(ctx context.Context, repo string, members []*listed) {
	if len(members) < 2 {
		return
	}
	by, since, pages := map[int]*listed{}, members[0].known, 0
	for _, m := range members {
		by[m.number] = m
		if m.known.Before(since) {
			since = m.known
		}
	}
	left := len(by)
	err := s.Lists.ListSince(ctx, repo, since, func(page []mapping.Issue) (enough bool) {
		pages++
		for i := range page {
			if m := by[page[i].Number]; m != nil && !m.found && !page[i].UpdatedAt.Before(m.known) {
				m.found, m.parentless = true, page[i].Parent == mapping.NoParent
				left--
			}
		}
		return left == 0 || pages > len(members)/10
	})
	if err != nil {
		s.Logger.Debug("reading issues together", "repo", repo, "issues", len(members), "err", err)
	}
}
