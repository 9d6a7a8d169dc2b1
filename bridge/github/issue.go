package github

import (
	"context"
	"net/http"
	"strings"

	"planbridge/mapping"
)

// NewIssue is an issue to make. A Milestone of 0 is none.
type NewIssue struct {
	Title     string   `json:"title"`
	Body      string   `json:"body"`
	Labels    []string `json:"labels,omitempty"`
	Assignees []string `json:"assignees,omitempty"`
	Milestone int      `json:"milestone,omitempty"`
}

// IssueEdit changes the fields that are not nil. It never has labels, as a PATCH replaces the
// whole set, with people's labels.
type IssueEdit struct {
	Title, Body *string
	State       *string // open or closed
	StateReason *string // used only where State changes
	Milestone   *int    // 0 clears
	Assignees   *[]string
}

func (e IssueEdit) body() map[string]any {
	m := map[string]any{}
	put := func(name string, s *string) {
		if s != nil {
			m[name] = *s
		}
	}
	put("title", e.Title)
	put("body", e.Body)
	put("state", e.State)
	put("state_reason", e.StateReason)
	if e.Milestone != nil {
		m["milestone"] = nil
		if *e.Milestone != 0 {
			m["milestone"] = *e.Milestone
		}
	}
	if e.Assignees != nil {
		m["assignees"] = append([]string{}, *e.Assignees...) // [] clears, null would not
	}
	return m
}

// Issue reads an issue, conditionally where it was read before. For an issue that answers from
// another repository or number it returns a *MovedError with that issue.
func (c *Client) Issue(ctx context.Context, repo string, number int) (mapping.Issue, error) {
	k := issueCall("read_issue", repo, number)
	var w oneIssue
	if _, err := c.do(ctx, k, http.MethodGet, nil, &w); err != nil {
		return mapping.Issue{}, err
	}
	i := w.issue(repo)
	if !strings.EqualFold(i.Repo, repo) || i.Number != number {
		return mapping.Issue{}, k.wrap(&MovedError{Repo: i.Repo, Number: i.Number, Issue: &i})
	}
	return i, nil
}

// CreateIssue makes an issue and returns it as GitHub made it. Without the right to push, GitHub
// silently drops labels, assignees and milestone. mapping.ErrUncertain means that the issue may
// exist.
func (c *Client) CreateIssue(ctx context.Context, repo string, n NewIssue) (mapping.Issue, error) {
	var w oneIssue
	if _, err := c.do(ctx, repoCall("create_issue", repo).sub("issues"), http.MethodPost, n, &w); err != nil {
		return mapping.Issue{}, err
	}
	return w.issue(repo), nil
}

// EditIssue changes an issue and returns it after the edit. A refused value is a
// *mapping.Rejection with GitHub's name of the Field: title, body, ….
func (c *Client) EditIssue(ctx context.Context, repo string, number int, e IssueEdit) (mapping.Issue, error) {
	var w oneIssue
	if _, err := c.do(ctx, issueCall("edit_issue", repo, number), http.MethodPatch, e.body(), &w); err != nil {
		return mapping.Issue{}, err
	}
	return w.issue(repo), nil
}
