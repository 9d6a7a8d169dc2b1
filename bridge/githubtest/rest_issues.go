package githubtest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// shown is an issue as a reader sees it: the facts of some moment.
type shown struct {
	*issue
	facts
}

func (c *call) wireShown(v shown) fields {
	out := c.s.wireIssue(v.issue, v.facts)
	delete(out, "closed_by") // only a single issue has it
	return out
}

func (c *call) wireIssue(i *issue) fields { return c.s.wireIssue(i, i.facts) }

func getIssue(c *call) reply {
	i := c.issue
	f, exists := i.at(c.s.age() - c.s.traits.StaleReads)
	if i.stale > 0 && len(i.past) > 0 {
		i.stale--
		f, exists = i.past[len(i.past)-1].facts, true
	}
	if !exists {
		return notFound
	}
	return ok(c.s.wireIssue(i, f))
}

// listIssues answers a page of the issues and pull requests that match.
func listIssues(c *call) reply {
	if v := c.query.Get("since"); v != "" {
		if _, err := time.Parse(time.RFC3339, v); err != nil {
			return invalid("Issue", "since", "invalid", "")
		}
	}
	at := c.s.listTime()
	var list []shown
	for _, i := range c.repo.all() {
		if f, exists := i.at(at); exists && c.selects(i, f) {
			list = append(list, shown{i, f})
		}
	}
	order := c.order()
	slices.SortStableFunc(list, order)
	if c.s.traits.CursorPages {
		return c.cursorPage(list, order)
	}
	return paged(c, list, c.wireShown)
}

// selects applies the query's filters.
func (c *call) selects(i *issue, f facts) bool {
	q := c.query
	if state := cmp.Or(q.Get("state"), "open"); state != "all" && state != f.state {
		return false
	}
	if since, err := time.Parse(time.RFC3339, q.Get("since")); err == nil && f.updated.Before(since) {
		return false
	}
	if who := q.Get("creator"); who != "" && !strings.EqualFold(who, i.author) {
		return false
	}
	if who := q.Get("assignee"); who != "" && who != "*" && who != "none" && !slices.Contains(f.assignees, who) {
		return false
	}
	switch m := q.Get("milestone"); {
	case m == "", m == "*" && f.milestone != nil, m == "none" && f.milestone == nil:
	case f.milestone == nil || strconv.Itoa(f.milestone.number) != m:
		return false
	}
	for name := range strings.SplitSeq(q.Get("labels"), ",") {
		if name != "" && !slices.ContainsFunc(f.labels, func(l *label) bool { return strings.EqualFold(l.name, name) }) {
			return false
		}
	}
	return true
}

// order is the query's sort: by creation, newest first, unless it says else.
func (c *call) order() func(a, b shown) int {
	key := func(v shown) int64 { return v.created.Unix() }
	switch c.query.Get("sort") {
	case "updated":
		key = func(v shown) int64 { return v.facts.updated.Unix() }
	case "comments":
		key = func(v shown) int64 { return int64(v.facts.comments) }
	}
	return func(a, b shown) int {
		by := cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.number, b.number))
		if c.query.Get("direction") == "asc" {
			return by
		}
		return -by
	}
}

// cursorPage pages by after=, as GitHub does for large repositories. The
// cursor names the last issue of the page by number and time of update.
func (c *call) cursorPage(list []shown, order func(a, b shown) int) reply {
	if c.page() > 1 {
		return fail(http.StatusUnprocessableEntity, "Pagination with the page parameter is not supported for large "+
			"datasets, please use cursor based pagination (after/before)")
	}
	if after := c.query.Get("after"); after != "" {
		raw, err := base64.StdEncoding.DecodeString(after)
		var last shown
		var updated, made int64
		last.issue = &issue{}
		if _, scan := fmt.Sscanf(string(raw), "cursor:%d:%d:%d:%d", &last.issue.number, &updated, &made, &last.facts.comments); err != nil || scan != nil {
			return fail(http.StatusUnprocessableEntity, "The after parameter is invalid.")
		}
		last.facts.updated, last.issue.created = time.Unix(updated, 0), time.Unix(made, 0)
		list = slices.DeleteFunc(list, func(v shown) bool { return order(v, last) <= 0 })
	}
	out := ok(wireAll(list[:min(c.perPage(), len(list))], c.wireShown))
	if len(list) > c.perPage() {
		v := list[c.perPage()-1]
		cursor := fmt.Sprintf("cursor:%d:%d:%d:%d", v.number, v.facts.updated.Unix(), v.created.Unix(), v.facts.comments)
		out.header = c.link("after", map[string]string{"next": base64.StdEncoding.EncodeToString([]byte(cursor))})
	}
	return out
}

// issueRequest is the body of a create and of a PATCH. A raw field distinguishes absent (nil) from
// null.
type issueRequest struct {
	Title       json.RawMessage `json:"title"`
	Body        json.RawMessage `json:"body"`
	State       *string         `json:"state"`
	StateReason *string         `json:"state_reason"`
	Labels      json.RawMessage `json:"labels"`
	Assignees   *[]string       `json:"assignees"`
	Milestone   json.RawMessage `json:"milestone"`
}

// text is the raw JSON as text; titles may be numbers.
func text(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	var v any
	json.Unmarshal(raw, &v) //nolint:errcheck // it was decoded once already
	out := ""
	if v != nil {
		out = fmt.Sprint(v)
	}
	return &out
}

// refuseTexts says why GitHub does not take a title or a body.
func (c *call) refuseTexts(title, body *string) *reply {
	var r reply
	switch {
	case title != nil && strings.TrimSpace(*title) == "":
		r = invalid("Issue", "title", "missing_field", "")
	case title != nil && utf8.RuneCountInString(*title) > maxTitle:
		r = invalid("Issue", "title", "custom", "title is too long (maximum is 256 characters)")
	case body != nil && utf8.RuneCountInString(*body) > maxBody:
		r = invalid("Issue", "body", "custom", "body is too long (maximum is 65536 characters)")
	case c.s.traits.RefuseControl && strings.ContainsFunc(orEmpty(title)+orEmpty(body), control):
		r = invalid("Issue", "body", "custom", "body contains control characters")
	default:
		return nil
	}
	if c.s.traits.BareRefusals {
		delete(r.body.(fields), "errors")
	}
	return &r
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func control(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r) }

// milestoneOf reads a milestone's number; none is true for null.
func (c *call) milestoneOf(raw json.RawMessage) (m *milestone, none bool, refused *reply) {
	if raw == nil || string(raw) == "null" {
		return nil, raw != nil, nil
	}
	number, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if m = c.repo.milestone(number); err != nil || m == nil {
		r := invalid("Issue", "milestone", "invalid", "")
		return nil, false, &r
	}
	return m, false, nil
}

func createIssue(c *call) reply {
	var q issueRequest
	if bad := c.decode(&q); bad != nil {
		return *bad
	}
	title, body := text(q.Title), text(q.Body)
	if title == nil {
		return fail(http.StatusUnprocessableEntity, "Invalid request.\n\n\"title\" wasn't supplied.")
	}
	if bad := c.refuseTexts(title, body); bad != nil {
		return *bad
	}
	n := newIssue{title: *title}
	if body != nil {
		n.body = *body
	}
	if c.s.canPush(c.who, c.repo) { // without it they are dropped in silence
		var bad *reply
		if n.labels, bad = labelNames(q.Labels, nil); bad != nil {
			return *bad
		}
		if q.Assignees != nil {
			n.assignees = *q.Assignees
		}
		if n.milestone, _, bad = c.milestoneOf(q.Milestone); bad != nil {
			return *bad
		}
	}
	i := c.repo.create(c.by(), n)
	c.Number = i.number
	out := created(c.wireIssue(i))
	out.header = header("Location", out.body.(fields)["url"].(string))
	return out
}

// patchIssue edits an issue, either completely or not at all.
func patchIssue(c *call) reply {
	i, push := c.issue, c.s.canPush(c.who, c.repo)
	if !push && !strings.EqualFold(i.author, c.who.login) {
		return fail(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	var q issueRequest
	if bad := c.decode(&q); bad != nil {
		return *bad
	}
	if string(q.Title) == "null" {
		q.Title = nil
	}
	title, body := text(q.Title), text(q.Body)
	if bad := c.refuseTexts(title, body); bad != nil {
		return *bad
	}
	if bad := refuseState(q); bad != nil {
		return *bad
	}
	if !push {
		q.Labels, q.Assignees, q.Milestone = nil, nil, nil
	}
	names, bad := labelNames(q.Labels, nil)
	if bad != nil {
		return *bad
	}
	m, none, bad := c.milestoneOf(q.Milestone)
	if bad != nil {
		return *bad
	}
	i.setTexts(c.by(), title, body)
	if q.Labels != nil {
		i.setLabels(c.by(), names)
	}
	if q.Assignees != nil {
		i.setAssignees(c.by(), *q.Assignees)
	}
	if m != nil || none {
		i.setMilestone(c.by(), m)
	}
	if q.State != nil {
		reason := ""
		if q.StateReason != nil {
			reason = *q.StateReason
		}
		i.setState(c.by(), *q.State, reason)
	}
	return ok(c.wireIssue(i))
}

func refuseState(q issueRequest) *reply {
	var r reply
	if q.State != nil && *q.State != "open" && *q.State != "closed" {
		r = invalid("Issue", "state", "invalid", "")
		return &r
	}
	reasons := []string{"completed", "not_planned", "duplicate", "reopened"}
	if q.StateReason != nil && !slices.Contains(reasons, *q.StateReason) {
		r = invalid("Issue", "state_reason", "invalid", "")
		return &r
	}
	return nil
}
