package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"planbridge/mapping"
)

// Parent returns an issue's parent, or nil. GitHub answers 404 for an issue without a parent, for
// a missing issue, and on Enterprise Servers without sub-issues.
func (c *Client) Parent(ctx context.Context, repo string, number int) (*mapping.Issue, error) {
	var w wireIssue
	_, err := c.do(ctx, issueCall("read_parent", repo, number).sub("parent"), http.MethodGet, nil, &w)
	if errors.Is(err, mapping.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if w.ID == 0 { // null
		return nil, nil
	}
	i := w.issue(repo)
	return &i, nil
}

// SubIssues lists an issue's sub-issues in order. They may belong to other repositories.
func (c *Client) SubIssues(ctx context.Context, repo string, number int) ([]mapping.Issue, error) {
	k := issueCall("list_sub_issues", repo, number).sub("sub_issues").query(url.Values{"per_page": {"100"}})
	return all(ctx, c, k, func(w wireIssue) mapping.Issue { return w.issue(repo) })
}

// AddSubIssue makes the issue with database id sub a sub-issue. A rejection about the priority
// says that another one was added at the same moment. The same call succeeds later.
func (c *Client) AddSubIssue(ctx context.Context, repo string, number int, sub int64) error {
	k := issueCall("add_sub_issue", repo, number).sub("sub_issues")
	_, err := c.do(ctx, k, http.MethodPost, map[string]int64{"sub_issue_id": sub}, nil)
	return err
}

// RemoveSubIssue removes the issue with database id sub from its parent.
func (c *Client) RemoveSubIssue(ctx context.Context, repo string, number int, sub int64) error {
	k := issueCall("remove_sub_issue", repo, number).sub("sub_issue")
	_, err := c.do(ctx, k, http.MethodDelete, map[string]int64{"sub_issue_id": sub}, nil)
	return err
}
