package github

import (
	"context"
	"net/url"
	"strings"
	"time"
)

// Renamed is one change of an issue's title.
type Renamed struct {
	ID       int64
	At       time.Time
	Actor    string
	From, To string
}

// RenamedEvents lists every change of an issue's title, oldest first.
func (c *Client) RenamedEvents(ctx context.Context, repo string, number int) ([]Renamed, error) {
	type wireEvent struct {
		ID        int64
		Event     string
		Actor     wireUser
		CreatedAt stamp `json:"created_at"`
		Rename    struct{ From, To string }
	}
	k := issueCall("list_issue_events", repo, number).sub("events").query(url.Values{"per_page": {"100"}})
	var list []Renamed
	err := walk(ctx, c, k, func(page []wireEvent, _ *answer) (bool, error) {
		for _, w := range page {
			if w.Event == "renamed" {
				list = append(list, Renamed{w.ID, w.CreatedAt.time(), w.Actor.Login, w.Rename.From, w.Rename.To})
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Edit is one version of an issue's body.
type Edit struct {
	At     time.Time
	Editor string // login as REST and webhooks show it; "" for a deleted account
	Diff   string // despite GraphQL's name the whole body as this edit left it; "" where it was removed
}

const contentEdits = `query($id: ID!) { node(id: $id) { ... on Issue {
  userContentEdits(first: 100) { nodes { editedAt diff editor { __typename login } } } } } }`

// UserContentEdits lists the latest 100 versions of an issue's body, newest
// first. repo says whose installation an App asks as.
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
			login += "[bot]" // GraphQL names an App's account by its slug alone
		}
		edits = append(edits, Edit{At: n.EditedAt.time(), Editor: login, Diff: n.Diff})
	}
	return edits, nil
}
