package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Milestone is a repository's milestone.
type Milestone struct {
	Number      int
	Title       string
	Description string
	State       string    // open or closed
	DueOn       time.Time // whole day, UTC; zero: none
}

type wireMilestone struct {
	Number                    int
	Title, Description, State string
	DueOn                     stamp `json:"due_on"`
}

// milestone uses only the day of due_on: GitHub floors it to midnight in Los Angeles, which is
// 07:00 or 08:00 UTC of the same date.
func (w wireMilestone) milestone() Milestone {
	m := Milestone{Number: w.Number, Title: w.Title, Description: w.Description, State: w.State}
	if due := w.DueOn.time(); !due.IsZero() {
		m.DueOn = time.Date(due.Year(), due.Month(), due.Day(), 0, 0, 0, 0, time.UTC)
	}
	return m
}

// body sends noon, which is the same date in Los Angeles.
func (w *wireMilestone) whole() error {
	if w.Number <= 0 {
		return errors.New("no milestone: without number")
	}
	return nil
}

func (m Milestone) body() map[string]any {
	b := map[string]any{"title": m.Title, "description": m.Description, "due_on": nil}
	if m.State != "" {
		b["state"] = m.State
	}
	if !m.DueOn.IsZero() {
		b["due_on"] = m.DueOn.Format("2006-01-02") + "T12:00:00Z"
	} else if m.Number == 0 {
		delete(b, "due_on") // null clears, and nothing is set yet
	}
	return b
}

// Milestones lists a repository's milestones, open and closed.
func (c *Client) Milestones(ctx context.Context, repo string) ([]Milestone, error) {
	q := url.Values{"state": {"all"}, "per_page": {"100"}}
	return all(ctx, c, repoCall("list_milestones", repo).sub("milestones").query(q), wireMilestone.milestone)
}

// PutMilestone makes m where its Number is 0. Otherwise it sets all values of the milestone with
// that number. Only the date of DueOn counts.
func (c *Client) PutMilestone(ctx context.Context, repo string, m Milestone) (Milestone, error) {
	k, method := repoCall("create_milestone", repo).sub("milestones"), http.MethodPost
	if m.Number != 0 {
		k, method = numbered(k, int64(m.Number)), http.MethodPatch
		k.op = "edit_milestone"
	}
	var w wireMilestone
	if _, err := c.do(ctx, k, method, m.body(), &w); err != nil {
		return Milestone{}, err
	}
	return w.milestone(), nil
}
