package github

import (
	"net/http"
	"time"

	"github.com/sony/gobreaker/v2"
)

// aside reports whether issues go on without an operation, as they do where
// only a simple GitHub answers: its failures say nothing about GitHub as a
// whole, and while GitHub is down it is not asked for.
func aside(op string) bool {
	switch op {
	case "read_viewer", "read_account", "read_visibility", "read_parent", "list_sub_issues", "add_sub_issue", "remove_sub_issue",
		"list_milestones", "create_milestone", "edit_milestone", "read_label", "create_label", "assign", "unassign",
		"list_hooks", "list_deliveries", "read_delivery", "redeliver", "list_content_edits", "list_issue_events":
		return true
	}
	return false
}

// asideWithin is how long the answer to such a read may take: a key waits for it.
const asideWithin = 5 * time.Second

// guarded makes a request under the breaker.
func (w *wire) guarded(op string, request func() (*http.Response, error)) (*http.Response, error) {
	if !aside(op) {
		return w.breaker.Execute(request)
	}
	if w.down() {
		return nil, gobreaker.ErrOpenState
	}
	return request()
}
