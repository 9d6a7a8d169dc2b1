package github

import (
	"context"
	"net/http"
	"net/url"
	"time"

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

// Closer is the account that closed an issue, and the time.
type Closer struct {
	At    time.Time
	Actor string
}

// ClosedEvents lists every time that an issue was closed, oldest first.
func (c *Client) ClosedEvents(ctx context.Context, repo string, number int) ([]Closer, error) {
	type wireEvent struct {
		Event     string
		Actor     wireUser
		CreatedAt stamp `json:"created_at"`
	}
	k := issueCall("list_issue_events", repo, number).sub("events").query(url.Values{"per_page": {"100"}})
	var list []Closer
	err := walk(ctx, c, k, func(page []wireEvent, _ *answer) (bool, error) {
		for _, w := range page {
			if w.Event == "closed" {
				list = append(list, Closer{w.CreatedAt.time(), w.Actor.Login})
			}
		}
		return true, nil
	})
	return list, err
}
