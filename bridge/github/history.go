package github

import (
	"context"
	"net/url"
	"strings"
	"time"

	"planbridge/mapping"
)

// Renamed is one change of an issue's title.
type Renamed struct {
	ID       int64
	At       time.Time
	Actor    string
	From, To string
}

// wireIssueEvent is an entry of an issue's events.
type wireIssueEvent struct {
	ID        int64
	Event     string
	Actor     wireUser
	CreatedAt stamp `json:"created_at"`
	Rename    struct{ From, To string }
	Label     struct{ Name string }
}

// issueEvents visits the events of an issue, oldest first, until visit returns false.
func (c *Client) issueEvents(ctx context.Context, repo string, number int, visit func(*wireIssueEvent) bool) error {
	k := issueCall("list_issue_events", repo, number).sub("events").query(url.Values{"per_page": {"100"}})
	return walk(ctx, c, k, func(page []wireIssueEvent, _ *answer) (bool, error) {
		for i := range page {
			if !visit(&page[i]) {
				return false, nil
			}
		}
		return true, nil
	})
}

// RenamedEvents lists every change of an issue's title, oldest first.
func (c *Client) RenamedEvents(ctx context.Context, repo string, number int) ([]Renamed, error) {
	var list []Renamed
	err := c.issueEvents(ctx, repo, number, func(w *wireIssueEvent) bool {
		if w.Event == "renamed" {
			list = append(list, Renamed{w.ID, w.CreatedAt.time(), w.Actor.Login, w.Rename.From, w.Rename.To})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Acted is an event of an issue that changed its state or its labels.
type Acted struct {
	mapping.Act
	At    time.Time
	Actor string
}

// ActedEvents lists what was done to an issue's state and labels, oldest first.
func (c *Client) ActedEvents(ctx context.Context, repo string, number int) ([]Acted, error) {
	var list []Acted
	err := c.issueEvents(ctx, repo, number, func(w *wireIssueEvent) bool {
		switch w.Event {
		case mapping.ActClosed, mapping.ActReopened, mapping.ActLabeled, mapping.ActUnlabeled:
			list = append(list, Acted{mapping.Act{Event: w.Event, Label: w.Label.Name}, w.CreatedAt.time(), w.Actor.Login})
		}
		return true
	})
	return list, err
}

// FindTriage reports whether a condition holds for any label or assignee that the issue ever got.
func (c *Client) FindTriage(ctx context.Context, repo string, number int, meets func(mapping.Triage) bool) (found bool, err error) {
	err = c.issueEvents(ctx, repo, number, func(w *wireIssueEvent) bool {
		if w.Event == mapping.ActLabeled || w.Event == "assigned" {
			found = meets(mapping.Triage{Actor: w.Actor.Login, Human: w.Actor.Type == "User"})
		}
		return !found
	})
	return found, err
}

// Edit is one version of an issue's body.
type Edit struct {
	At     time.Time
	Editor string // login as REST and webhooks show it; "" for a deleted account
	Diff   string // despite GraphQL's name the whole body after this edit; "" where it was removed
}

const contentEdits = `query($id: ID!) { node(id: $id) { ... on Issue {
  userContentEdits(first: 100) { nodes { editedAt diff editor { __typename login } } } } } }`

// UserContentEdits lists the latest 100 versions of an issue's body, newest first. An App asks as
// the installation of repo.
func (c *Client) UserContentEdits(ctx context.Context, repo, nodeID string) ([]Edit, error) {
	var data struct {
		Node struct {
			UserContentEdits struct {
				Nodes []struct {
					EditedAt stamp
					Diff     string
					Editor   struct {
						Typename string `json:"__typename"`
						Login    string
					}
				}
			}
		}
	}
	k := repoCall("list_content_edits", repo)
	if err := c.query(ctx, k, contentEdits, map[string]any{"id": nodeID}, &data); err != nil {
		return nil, err
	}
	var edits []Edit
	for _, n := range data.Node.UserContentEdits.Nodes {
		login := n.Editor.Login
		if n.Editor.Typename == "Bot" && !strings.HasSuffix(login, "[bot]") {
			login += "[bot]" // GraphQL shows an App's account by its slug alone
		}
		edits = append(edits, Edit{At: n.EditedAt.time(), Editor: login, Diff: n.Diff})
	}
	return edits, nil
}
