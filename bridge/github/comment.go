package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Comment is a comment on an issue.
type Comment struct {
	ID        int64
	Author    string // login
	Body      string
	CreatedAt time.Time
	AuthorID  int64
}

type wireComment struct {
	ID        int64
	User      wireUser
	Body      string
	CreatedAt stamp `json:"created_at"`
}

func (w wireComment) comment() Comment {
	return Comment{ID: w.ID, Author: w.User.Login, AuthorID: w.User.ID, Body: w.Body, CreatedAt: w.CreatedAt.time()}
}

func (w *wireComment) whole() error {
	if w.ID <= 0 {
		return errors.New("no comment: without id")
	}
	return nil
}

// Comments lists an issue's comments changed at or after since (zero: all), oldest first.
func (c *Client) Comments(ctx context.Context, repo string, number int, since time.Time) ([]Comment, error) {
	q := url.Values{"per_page": {"100"}}
	if !since.IsZero() {
		q.Set("since", since.UTC().Format(time.RFC3339))
	}
	k := issueCall("list_comments", repo, number).sub("comments").query(q)
	return all(ctx, c, k, wireComment.comment)
}

// CreateComment posts a comment. GitHub has no idempotency key: after mapping.ErrUncertain, look
// the comment up before you post again.
func (c *Client) CreateComment(ctx context.Context, repo string, number int, body string) (Comment, error) {
	var w wireComment
	k := issueCall("create_comment", repo, number).sub("comments")
	if _, err := c.do(ctx, k, http.MethodPost, map[string]string{"body": body}, &w); err != nil {
		return Comment{}, err
	}
	return w.comment(), nil
}

// DeleteComment deletes a comment of a repository's issues, by its id.
func (c *Client) DeleteComment(ctx context.Context, repo string, id int64) error {
	k := repoCall("delete_comment", repo).sub("issues", "comments", strconv.FormatInt(id, 10))
	_, err := c.do(ctx, k, http.MethodDelete, nil, nil)
	return err
}
