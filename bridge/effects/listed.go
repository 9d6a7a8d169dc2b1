package effects

import (
	"context"
	"time"

	"planbridge/bridge/engine"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// Issues that enter together are read together: one page of a listing shows a hundred of
// them, and which of them are sub-issues. A listing may lag. What it does not show, or shows
// older than it is known, is read by itself.

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

	issue mapping.Issue // once it was acted
	found bool
}

// readIssue reads an issue, together with others where many enter.
func (h *hand) readIssue(e reconcile.ReadIssue) (mapping.Issue, error) {
	if m := h.list(e.Repo, e.Number); m.found {
		m.issue.Parent = "" // of an issue that is read by itself it is not told either
		return m.issue, nil
	}
	h.sit()
	return h.GitHub.Issue(h.ctx, e.Repo, e.Number)
}

// readParent reads an issue's parent. A listing tells of most that they have none.
func (h *hand) readParent(e reconcile.ReadParent) (*mapping.Issue, error) {
	if m := h.list(e.Repo, e.Number); m.found && m.issue.Parent == mapping.NoParent {
		return nil, nil //nolint:nilnil // there is none
	}
	h.sit()
	ctx, stop := context.WithTimeout(h.ctx, e.Within)
	defer stop()
	return h.GitHub.Parent(ctx, e.Repo, e.Number)
}

// list looks for the key's issue in a listing, with others, where it enters in a crowd.
func (h *hand) list(repo string, number int) *listed {
	link := h.claim.Link
	m := &listed{number: number, known: link.Issue.UpdatedAt}
	if seen := time.Unix(h.claim.Inbox[mapping.IssueRef(link.Issue.ID)].At, 0); seen.After(m.known) && seen.Unix() > 0 {
		m.known = seen
	}
	if h.ListIssues == nil || number != link.Issue.Number || repo != link.Issue.Repo || m.known.IsZero() || h.Now().Sub(link.Created) > entersFor {
		return m
	}
	resume := h.crowd()
	if resume == nil {
		return m
	}
	defer resume()
	act := func(ctx context.Context, members []*listed) { h.look(ctx, repo, members) }
	b := engine.Batch{Project: link.Project, Name: "issues of " + repo, Most: listedMost, Brief: true, Act: together(act)}
	if err := h.lease.Join(h.ctx, b, m); err != nil {
		return &listed{}
	}
	return m
}

// look gives each member its issue, as far as pages show them that are worth it: one for
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
	err := s.ListIssues(ctx, repo, since, func(page []mapping.Issue) (enough bool) {
		pages++
		for i := range page {
			if m := by[page[i].Number]; m != nil && !m.found && !page[i].UpdatedAt.Before(m.known) {
				m.issue, m.found = page[i], true
				left--
			}
		}
		return left == 0 || pages > len(members)/10
	})
	if err != nil {
		s.Logger.Debug("reading issues together", "repo", repo, "issues", len(members), "err", err)
	}
}
