package githubtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// labelNames reads a list of names or of objects with a name, bare or in "labels". It refuses those
// that GitHub refuses together with the present ones.
func labelNames(raw json.RawMessage, present []*label) ([]string, *reply) {
	var wrapped struct {
		Labels json.RawMessage `json:"labels"`
	}
	if json.Unmarshal(raw, &wrapped) == nil && wrapped.Labels != nil {
		raw = wrapped.Labels
	}
	var entries []any
	if raw != nil && json.Unmarshal(raw, &entries) != nil {
		r := fail(http.StatusUnprocessableEntity, "Invalid request.\n\nFor 'links/1/schema', nil is not an array.")
		return nil, &r
	}
	var names []string
	for _, e := range entries {
		if o, is := e.(map[string]any); is {
			e = o["name"]
		}
		name, _ := e.(string)
		if bad := refuseLabel(name); bad != nil {
			return nil, bad
		}
		names = append(names, name)
	}
	total := len(present)
	for n, name := range names {
		same := func(o string) bool { return strings.EqualFold(o, name) }
		if !slices.ContainsFunc(names[:n], same) && !slices.ContainsFunc(present, func(l *label) bool { return same(l.name) }) {
			total++
		}
	}
	if total > maxLabels {
		r := invalid("Issue", "labels", "custom", "issues can have at most 100 labels")
		return nil, &r
	}
	return names, nil
}

func refuseLabel(name string) *reply {
	var r reply
	switch {
	case strings.TrimSpace(name) == "":
		r = invalid("Label", "name", "missing_field", "")
	case utf8.RuneCountInString(name) > maxLabel:
		r = invalid("Label", "name", "custom", "name is too long (maximum is 50 characters)")
	case strings.Contains(name, ","):
		r = invalid("Label", "name", "invalid", "")
	default:
		return nil
	}
	return &r
}

func (c *call) wireLabel(l *label) fields { return c.s.wireLabel(c.repo, l) }

func (c *call) issueLabels() reply { return ok(wireAll(c.issue.labels, c.wireLabel)) }

// mayLabel refuses an account without push access.
func (c *call) mayLabel() *reply {
	if c.s.canPush(c.who, c.repo) {
		return nil
	}
	r := fail(http.StatusForbidden, "Must have admin rights to Repository.")
	return &r
}

func listIssueLabels(c *call) reply { return paged(c, c.issue.labels, c.wireLabel) }

func addIssueLabels(c *call) reply {
	if no := c.mayLabel(); no != nil {
		return *no
	}
	names, bad := labelNames(c.body, c.issue.labels)
	if bad != nil {
		return *bad
	}
	c.issue.addLabels(c.by(), names...)
	return c.issueLabels()
}

func setIssueLabels(c *call) reply {
	if no := c.mayLabel(); no != nil {
		return *no
	}
	names, bad := labelNames(c.body, nil)
	if bad != nil {
		return *bad
	}
	c.issue.setLabels(c.by(), names)
	return c.issueLabels()
}

func clearIssueLabels(c *call) reply {
	if no := c.mayLabel(); no != nil {
		return *no
	}
	c.issue.setLabels(c.by(), nil)
	return noContent()
}

func removeIssueLabel(c *call) reply {
	if no := c.mayLabel(); no != nil {
		return *no
	}
	l := c.repo.label(c.params["label"])
	if l == nil || !c.issue.has(l) {
		return fail(http.StatusNotFound, "Label does not exist")
	}
	c.issue.removeLabel(c.by(), l, false)
	return c.issueLabels()
}

func listRepoLabels(c *call) reply { return paged(c, c.repo.labels, c.wireLabel) }

func getRepoLabel(c *call) reply {
	if l := c.repo.label(c.params["label"]); l != nil {
		return ok(c.wireLabel(l))
	}
	return notFound
}

type labelRequest struct {
	Name        string  `json:"name"`
	NewName     string  `json:"new_name"`
	Color       *string `json:"color"`
	Description *string `json:"description"`
}

func (q labelRequest) fill(l *label) {
	if q.Color != nil {
		l.color = strings.TrimPrefix(*q.Color, "#")
	}
	if q.Description != nil {
		l.description = *q.Description
	}
}

// refuse checks a label's new name, color and description; l is the changed label, or nil.
func (q labelRequest) refuse(r *Repo, name string, l *label) *reply {
	if bad := refuseLabel(name); bad != nil {
		return bad
	}
	var out reply
	switch same := r.label(name); {
	case same != nil && same != l:
		out = invalid("Label", "name", "already_exists", "")
	case q.Color != nil && (len(*q.Color) != 6 || strings.Trim(strings.ToLower(*q.Color), "0123456789abcdef") != ""):
		out = invalid("Label", "color", "invalid", "")
	case q.Description != nil && utf8.RuneCountInString(*q.Description) > 100:
		out = invalid("Label", "description", "custom", "description is too long (maximum is 100 characters)")
	default:
		return nil
	}
	return &out
}

func createRepoLabel(c *call) reply {
	var q labelRequest
	if bad := c.decode(&q); bad != nil {
		return *bad
	}
	if no := c.mayLabel(); no != nil {
		return *no
	}
	if bad := q.refuse(c.repo, q.Name, nil); bad != nil {
		return *bad
	}
	l := c.repo.ensureLabel(q.Name)
	q.fill(l)
	c.repo.send("label", "created", c.by(), fields{"label": c.wireLabel(l)})
	return created(c.wireLabel(l))
}

func patchRepoLabel(c *call) reply {
	l := c.repo.label(c.params["label"])
	if l == nil {
		return notFound
	}
	var q labelRequest
	if bad := c.decode(&q); bad != nil {
		return *bad
	}
	if no := c.mayLabel(); no != nil {
		return *no
	}
	name := l.name
	if q.NewName != "" {
		name = q.NewName
	}
	if bad := q.refuse(c.repo, name, l); bad != nil {
		return *bad
	}
	changes := fields{}
	if name != l.name {
		changes["name"] = fields{"from": l.name}
	}
	l.name = name
	q.fill(l)
	c.repo.send("label", "edited", c.by(), fields{"label": c.wireLabel(l), "changes": changes})
	return ok(c.wireLabel(l))
}

func deleteRepoLabel(c *call) reply {
	l := c.repo.label(c.params["label"])
	if l == nil {
		return notFound
	}
	if no := c.mayLabel(); no != nil {
		return *no
	}
	c.repo.dropLabel(c.by(), l)
	return noContent()
}
