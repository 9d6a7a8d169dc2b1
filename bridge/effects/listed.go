package effects

import (
	"context"
	"time"

	"planbridge/bridge/engine"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// Issues that enter together share the pages of a listing, which show the issues without a
// parent. A listing may lag. An issue that it lacks, or shows older than known, is read by
// itself. A listing never replaces the read before a write, as it may lack a person's latest
// edit.

const (
	// entryPeriod is how long after its link was made an issue counts as entering.
	entryPeriod = 15 * time.Minute
	// issuesPerPage is how many issues one page shows.
	issuesPerPage = 100
)

// listed is the search for an issue in a listing.
type listed struct {
	number int
	known  time.Time // the latest known update of the issue

	found      bool // valid after the act: a page showed the issue, no older than known
	parentless bool // whether that page shows no parent
}

// readParent reads an issue's parent. For most issues a listing shows that they have none.
func (h *executor) readParent(e reconcile.ReadParent) (*mapping.Issue, error) {
	if h.listedParentless(e) {
		return nil, nil //nolint:nilnil // there is none
	}
	h.acquireSlot()
	ctx, stop := h.within(e.Within)
	defer stop()
	return h.GitHub.Parent(ctx, e.Repo, e.Number)
}

// within returns the context of a read that a card waits for.
func (h *executor) within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(h.ctx, d)
}

// listedParentless looks for the key's issue in a shared listing while it enters in a crowd. It
// reports whether the listing shows it without a parent.
func (h *executor) listedParentless(e reconcile.ReadParent) bool {
	link := h.claim.Link
	m := &listed{number: e.Number, known: link.Issue.UpdatedAt}
	if seen := time.Unix(h.claim.Inbox[mapping.IssueRef(link.Issue.ID)].At, 0); seen.After(m.known) && seen.Unix() > 0 {
		m.known = seen
	}
	if h.Lists == nil || e.Number != link.Issue.Number || e.Repo != link.Issue.Repo || m.known.IsZero() || h.Clock.Now().Sub(link.Created) > entryPeriod {
		return false
	}
	ctx, stop := h.within(e.Within)
	defer stop()
	act := func(ctx context.Context, members []*listed) { h.readListing(ctx, e.Repo, members) }
	err := h.together(ctx, engine.Batch{Name: "issues of " + e.Repo, Most: issuesPerPage, Brief: true, Act: acting(act)}, m, false)
	return err == nil && m.parentless // after an error the batch may still be writing to m
}

// readListing gives each member what the pages show of its issue. It reads at most one page for
// each ten members, and one more.
func (s *Shell) readListing(ctx context.Context, repo string, members []*listed) {
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
