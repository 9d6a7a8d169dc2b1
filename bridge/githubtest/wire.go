package githubtest

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // due dates are floored in Pacific time, also where the system has no zones
)

// fields is a JSON object.
type fields = map[string]any

var pacific = func() *time.Location {
	l, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		panic("githubtest: embedded time zones: " + err.Error())
	}
	return l
}()

// nodeID is the GraphQL id of an object.
func nodeID(kind string, id int64) string {
	return kind + "_kwDO" + base64.RawURLEncoding.EncodeToString(fmt.Append(nil, id))
}

// ofNode is the id that a node id was made of; 0: it is of no such node.
func ofNode(kind, node string) int64 {
	text, is := strings.CutPrefix(node, kind+"_kwDO")
	raw, err := base64.RawURLEncoding.DecodeString(text)
	id, bad := strconv.ParseInt(string(raw), 10, 64)
	if !is || err != nil || bad != nil {
		return 0
	}
	return id
}

// orNull is GitHub's form of an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func stampOrNull(t *time.Time) any {
	if t == nil {
		return nil
	}
	return stamp(*t)
}

func (s *Server) wireUser(login string) fields {
	a := s.user(login)
	url := s.api + "/users/" + a.login
	return fields{
		"login": a.login, "id": a.id, "node_id": nodeID("U", a.id), "gravatar_id": "",
		"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", a.id),
		"url":        url, "html_url": s.html + "/" + a.login,
		"followers_url": url + "/followers", "repos_url": url + "/repos", "events_url": url + "/events{/privacy}",
		"type": a.kind, "user_view_type": "public", "site_admin": false,
	}
}

// wireRepo shows a repository; permissions only to a known account.
func (s *Server) wireRepo(r *Repo, id identity) fields {
	url := s.api + "/repos/" + r.fullName()
	visibility := "public"
	if r.spec.Private {
		visibility = "private"
	}
	out := fields{
		"id": r.id, "node_id": nodeID("R", r.id), "name": r.name, "full_name": r.fullName(),
		"private": r.spec.Private, "visibility": visibility, "owner": s.wireUser(r.owner.login),
		"html_url": s.html + "/" + r.fullName(), "description": orNull(r.spec.Description), "fork": false,
		"url": url, "issues_url": url + "/issues{/number}", "labels_url": url + "/labels{/name}",
		"issue_comment_url": url + "/issues/comments{/number}", "milestones_url": url + "/milestones{/number}",
		"issue_events_url": url + "/issues/events{/number}", "hooks_url": url + "/hooks",
		"created_at": stamp(r.created), "updated_at": stamp(r.pushed), "pushed_at": stamp(r.pushed),
		"has_issues": !r.spec.NoIssues, "archived": r.spec.Archived, "disabled": false,
		"default_branch": "main", "is_template": false,
	}
	if !id.anonymous() {
		push := s.canPush(id, r)
		out["permissions"] = fields{"admin": push, "maintain": push, "push": push, "triage": push, "pull": true}
	}
	return out
}

func (s *Server) wireLabel(r *Repo, l *label) fields {
	return fields{
		"id": l.id, "node_id": nodeID("LA", l.id), "name": l.name, "color": l.color,
		"url":     s.api + "/repos/" + r.fullName() + "/labels/" + escape(l.name),
		"default": false, "description": orNull(l.description),
	}
}

func (s *Server) wireMilestone(r *Repo, m *milestone) fields {
	url := fmt.Sprintf("%s/repos/%s/milestones/%d", s.api, r.fullName(), m.number)
	open, closed := 0, 0
	for _, i := range r.all() {
		switch {
		case i.milestone != m:
		case i.state == "open":
			open++
		default:
			closed++
		}
	}
	return fields{
		"url": url, "labels_url": url + "/labels", "id": m.id, "node_id": nodeID("MI", m.id), "number": m.number,
		"html_url": fmt.Sprintf("%s/%s/milestone/%d", s.html, r.fullName(), m.number),
		"title":    m.title, "description": orNull(m.description), "state": m.state, "creator": s.wireUser(m.creator),
		"open_issues": open, "closed_issues": closed, "due_on": stampOrNull(m.due),
		"created_at": stamp(m.created), "updated_at": stamp(m.updated), "closed_at": stampOrNull(m.closed),
	}
}

// wireIssue shows an issue as f says it was.
func (s *Server) wireIssue(i *issue, f facts) fields {
	repoURL := s.api + "/repos/" + i.repo.fullName()
	url := fmt.Sprintf("%s/issues/%d", repoURL, i.number)
	page := fmt.Sprintf("%s/%s/issues/%d", s.html, i.repo.fullName(), i.number)
	labels, assignees := []fields{}, []fields{}
	for _, l := range f.labels {
		labels = append(labels, s.wireLabel(i.repo, l))
	}
	for _, login := range f.assignees {
		assignees = append(assignees, s.wireUser(login))
	}
	out := fields{
		"url": url, "repository_url": repoURL, "labels_url": url + "/labels{/name}",
		"comments_url": url + "/comments", "events_url": url + "/events", "timeline_url": url + "/timeline",
		"html_url": page, "id": i.id, "node_id": nodeID("I", i.id), "number": i.number,
		"title": f.title, "user": s.wireUser(i.author), "labels": labels, "state": f.state,
		"locked": f.locked, "assignee": nil, "assignees": assignees, "milestone": nil, "comments": f.comments,
		"created_at": stamp(i.created), "updated_at": stamp(f.updated), "closed_at": stampOrNull(f.closed),
		"author_association": i.repo.association(i.author), "active_lock_reason": nil, "type": nil,
		"sub_issues_summary": i.summary(), "body": orNull(f.body), "state_reason": orNull(f.reason),
		"reactions": fields{"url": url + "/reactions", "total_count": 0}, "performed_via_github_app": nil,
	}
	if len(assignees) > 0 {
		out["assignee"] = assignees[0]
	}
	if f.milestone != nil {
		out["milestone"] = s.wireMilestone(i.repo, f.milestone)
	}
	if f.closedBy != "" {
		out["closed_by"] = s.wireUser(f.closedBy)
	}
	if i.parent != nil {
		out["parent_issue_url"] = fmt.Sprintf("%s/repos/%s/issues/%d", s.api, i.parent.repo.fullName(), i.parent.number)
	}
	if i.pull {
		pull := strings.Replace(page, "/issues/", "/pull/", 1)
		out["html_url"], out["draft"] = pull, false
		out["pull_request"] = fields{
			"url": strings.Replace(url, "/issues/", "/pulls/", 1), "html_url": pull,
			"diff_url": pull + ".diff", "patch_url": pull + ".patch", "merged_at": nil,
		}
	}
	return out
}

func (i *issue) summary() fields {
	done := 0
	for _, c := range i.subs {
		if c.state == "closed" {
			done++
		}
	}
	percent := 0
	if len(i.subs) > 0 {
		percent = int(math.Round(100 * float64(done) / float64(len(i.subs))))
	}
	return fields{"total": len(i.subs), "completed": done, "percent_completed": percent}
}

func (s *Server) wireComment(i *issue, c *comment) fields {
	return fields{
		"url":       fmt.Sprintf("%s/repos/%s/issues/comments/%d", s.api, i.repo.fullName(), c.id),
		"html_url":  fmt.Sprintf("%s/%s/issues/%d#issuecomment-%d", s.html, i.repo.fullName(), i.number, c.id),
		"issue_url": fmt.Sprintf("%s/repos/%s/issues/%d", s.api, i.repo.fullName(), i.number),
		"id":        c.id, "node_id": nodeID("IC", c.id), "user": s.wireUser(c.author), "body": c.body,
		"created_at": stamp(c.created), "updated_at": stamp(c.updated),
		"author_association": i.repo.association(c.author), "performed_via_github_app": nil,
	}
}

func (s *Server) wireEvent(i *issue, e *event) fields {
	out := fields{
		"id": e.id, "node_id": nodeID("EV", e.id), "event": e.kind, "actor": s.wireUser(e.actor),
		"url":       fmt.Sprintf("%s/repos/%s/issues/events/%d", s.api, i.repo.fullName(), e.id),
		"commit_id": nil, "commit_url": nil, "created_at": stamp(e.at), "performed_via_github_app": nil,
	}
	switch {
	case e.label != nil:
		out["label"] = fields{"name": e.label.name, "color": e.label.color}
	case e.kind == "renamed":
		out["rename"] = fields{"from": e.from, "to": e.to}
	case e.assignee != "":
		out["assignee"], out["assigner"] = s.wireUser(e.assignee), s.wireUser(e.actor)
	case e.milestone != "":
		out["milestone"] = fields{"title": e.milestone}
	case e.kind == "closed" || e.kind == "reopened":
		out["state_reason"] = orNull(e.reason)
	case e.other != nil:
		key := "sub_issue"
		if strings.HasPrefix(e.kind, "parent_") {
			key = "parent_issue"
		}
		out[key] = fields{"id": e.other.id, "number": e.other.number}
	}
	return out
}
