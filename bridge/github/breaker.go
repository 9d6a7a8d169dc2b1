package github

import (
	"context"
	"net/http"
	"time"

	"planbridge/mapping"

	"github.com/sony/gobreaker/v2"
)

// bypassesBreaker reports whether issues go on without an operation, as on a minimal GitHub. Its
// failures say nothing about GitHub as a whole, and it is not called while GitHub is down.
func bypassesBreaker(op string) bool {
	switch op {
	case "read_viewer", "read_account", "read_visibility", "read_parent", "list_sub_issues", "add_sub_issue", "remove_sub_issue",
		"list_milestones", "create_milestone", "edit_milestone", "read_label", "create_label", "assign", "unassign",
		"list_hooks", "list_deliveries", "read_delivery", "redeliver", "list_content_edits", "list_issue_events":
		return true
	}
	return false
}

// bypassTimeout bounds such a read, as a key waits for it.
const bypassTimeout = 5 * time.Second

// guarded makes a request under the breaker.
func (w *wire) guarded(op string, request func() (*http.Response, error)) (*http.Response, error) {
	if !bypassesBreaker(op) {
		return w.breaker.Execute(request)
	}
	if w.down() {
		return nil, gobreaker.ErrOpenState
	}
	return request()
}

// Probe asks GitHub for a sign of life. It alternates between a request outside all limits, which
// not every GitHub answers, and the last read that was answered. The breaker closes when GitHub
// answers, even with a refusal. While it is open, it refuses Probe like any other request.
func (c *Client) Probe(ctx context.Context) error {
	k := call{op: "probe", object: "rate limit", path: "rate_limit", class: classFree}
	if c.app != nil { // /rate_limit needs an installation, and there may be none
		k.object, k.path, k.jwt = "app", "app", true
	}
	if last := c.wire.answered.Load(); last != nil && c.probes.Add(1)%2 == 0 {
		k, k.op = *last, "probe"
	}
	_, err := c.do(ctx, k, http.MethodGet, nil, nil)
	if mapping.Refused(err) {
		return nil
	}
	return err
}
