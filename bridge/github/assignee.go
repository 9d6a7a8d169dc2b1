package github

import (
	"context"
	"net/http"

	"planbridge/mapping"
)

// Assign adds assignees and returns the issue after that. GitHub silently leaves out logins that
// cannot be assigned, and all of them where the bridge may not push.
func (c *Client) Assign(ctx context.Context, repo string, number int, logins []string) (mapping.Issue, error) {
	return c.assignees(ctx, http.MethodPost, issueCall("assign", repo, number), repo, logins)
}

// Unassign removes assignees and returns the issue after that. It ignores logins that are not
// assigned.
func (c *Client) Unassign(ctx context.Context, repo string, number int, logins []string) (mapping.Issue, error) {
	return c.assignees(ctx, http.MethodDelete, issueCall("unassign", repo, number), repo, logins)
}

func (c *Client) assignees(ctx context.Context, method string, k call, repo string, logins []string) (mapping.Issue, error) {
	var w oneIssue
	if _, err := c.do(ctx, k.sub("assignees"), method, map[string]any{"assignees": logins}, &w); err != nil {
		return mapping.Issue{}, err
	}
	return w.issue(repo), nil
}
