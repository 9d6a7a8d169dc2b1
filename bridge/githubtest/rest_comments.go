package githubtest

import (
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

func listComments(c *call) reply {
	var list []*comment
	since, err := time.Parse(time.RFC3339, c.query.Get("since"))
	for _, m := range c.issue.comments {
		if err != nil || !m.updated.Before(since) {
			list = append(list, m)
		}
	}
	return paged(c, list, func(m *comment) fields { return c.s.wireComment(c.issue, m) })
}

// commentBody reads and checks a comment's text.
func (c *call) commentBody() (string, *reply) {
	var q struct {
		Body string `json:"body"`
	}
	if bad := c.decode(&q); bad != nil {
		return "", bad
	}
	var r reply
	switch {
	case strings.TrimSpace(q.Body) == "":
		r = invalid("IssueComment", "body", "missing_field", "")
	case utf8.RuneCountInString(q.Body) > maxBody:
		r = invalid("IssueComment", "body", "unprocessable", "Body is too long (maximum is 65536 characters)")
	default:
		return q.Body, nil
	}
	return "", &r
}

func createComment(c *call) reply {
	if c.issue.locked && !c.s.canPush(c.who, c.repo) {
		return fail(http.StatusForbidden, "Unable to create comment because issue is locked.")
	}
	body, bad := c.commentBody()
	if bad != nil {
		return *bad
	}
	return created(c.s.wireComment(c.issue, c.issue.addComment(c.by(), body)))
}

// comment finds the comment that the path names, and its issue.
func (c *call) comment() (*issue, *comment) {
	for _, i := range c.repo.all() {
		for _, m := range i.comments {
			if strconv.FormatInt(m.id, 10) == c.params["comment"] {
				return i, m
			}
		}
	}
	return nil, nil
}

func getComment(c *call) reply {
	if i, m := c.comment(); m != nil {
		return ok(c.s.wireComment(i, m))
	}
	return notFound
}

func patchComment(c *call) reply {
	i, m := c.comment()
	if m == nil {
		return notFound
	}
	if no := c.mayEdit(m.author); no != nil {
		return *no
	}
	body, bad := c.commentBody()
	if bad != nil {
		return *bad
	}
	i.editComment(c.by(), m, body)
	return ok(c.s.wireComment(i, m))
}

func deleteComment(c *call) reply {
	i, m := c.comment()
	if m == nil {
		return notFound
	}
	if no := c.mayEdit(m.author); no != nil {
		return *no
	}
	i.deleteComment(c.by(), m)
	return noContent()
}

// mayEdit refuses an account that is not the author and has no push access.
func (c *call) mayEdit(author string) *reply {
	if strings.EqualFold(author, c.who.login) {
		return nil
	}
	return c.mayLabel()
}
