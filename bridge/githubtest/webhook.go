package githubtest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// hook is a webhook of a repository, an organization or an App.
type hook struct {
	id      int64
	target  string // "owner/name", "org", or "" for an App
	repo    *Repo  // where target is a repository
	app     *App
	url     string
	secret  string
	events  []string // empty: all
	created time.Time
	last    fields // last_response
}

// AddHook makes a webhook of the repository "owner/name", or of the organization where target has
// no slash, and pings it. It is for the named events (none: all). It returns the hook's id.
func (s *Server) AddHook(target, url, secret string, events ...string) int64 {
	h := &hook{target: target, url: url, secret: secret, events: events}
	s.locked(func() {
		if strings.Contains(target, "/") {
			if h.repo = s.repo(target); h.repo == nil {
				panic("githubtest: hook: no repository " + target)
			}
		}
		s.addHook(h)
	})
	return h.id
}

// AddAppHook makes the webhook of an App: events of all its repositories.
func (s *Server) AddAppHook(a *App, url, secret string, events ...string) int64 {
	h := &hook{app: a, url: url, secret: secret, events: events}
	s.locked(func() { s.addHook(h) })
	return h.id
}

func (s *Server) addHook(h *hook) {
	h.id, h.created = s.nextID(), s.now()
	h.last = fields{"code": nil, "status": "unused", "message": nil}
	s.hookWork.hooks = append(s.hookWork.hooks, h)
	s.ping(h)
}

func (s *Server) ping(h *hook) {
	payload := fields{"zen": "Keep it logically awesome.", "hook_id": h.id, "hook": s.wireHook(h)}
	if h.repo != nil {
		payload["repository"] = s.wireRepo(h.repo, identity{})
	}
	s.enqueue(h, &Delivery{Event: "ping", GUID: newGUID(), Payload: encode(payload)})
}

// wants reports whether the hook gets an event in r.
func (h *hook) wants(r *Repo, event string) bool {
	if len(h.events) > 0 && !slices.Contains(h.events, event) && !slices.Contains(h.events, "*") {
		return false
	}
	switch {
	case h.repo != nil:
		return h.repo == r
	case h.app != nil:
		return strings.EqualFold(h.app.Owner, r.owner.login)
	}
	return strings.EqualFold(h.target, r.owner.login)
}

// send sends an event in the repository to every hook that wants it.
func (r *Repo) send(event, action string, by actor, extra fields) {
	r.sendIssue(event, action, by, nil, extra)
}

func (r *Repo) sendIssue(event, action string, by actor, i *issue, extra fields) {
	s := r.s
	payload := fields{"action": action, "repository": s.wireRepo(r, identity{}), "sender": s.wireUser(by.login)}
	if r.owner.kind == "Organization" {
		payload["organization"] = fields{
			"login": r.owner.login, "id": r.owner.id,
			"node_id": nodeID("O", r.owner.id), "url": s.api + "/orgs/" + r.owner.login,
		}
	}
	number := 0
	if i != nil {
		payload["issue"], number = s.wireIssue(i, i.facts), i.number
	}
	maps.Copy(payload, extra)
	guid := newGUID() // names the event: all its hooks get the same
	for _, h := range s.hookWork.hooks {
		if !h.wants(r, event) {
			continue
		}
		if h.app != nil {
			payload["installation"] = fields{"id": h.app.Installation}
		}
		s.enqueue(h, &Delivery{
			Event: event, Action: action, Repo: r.fullName(), RepoID: r.id, Number: number,
			GUID: guid, Payload: encode(payload),
		})
		delete(payload, "installation")
	}
}

// send sends an issues event. Most events of pull requests come as pull_request events, which
// planbridge does not take.
func (i *issue) send(action string, by actor, extra fields) {
	if !i.pull {
		i.repo.sendIssue("issues", action, by, i, extra)
	}
}

func (i *issue) sendComment(action string, by actor, c *comment, extra fields) {
	out := fields{"comment": i.repo.s.wireComment(i, c)}
	maps.Copy(out, extra)
	i.repo.sendIssue("issue_comment", action, by, i, out)
}

// sendRelation sends the addition or removal of a sub-issue. The parent's repository gets the
// child, and the child's repository the parent.
func sendRelation(what string, by actor, parent, child *issue) {
	s := parent.repo.s
	extra := fields{
		"parent_issue_id": parent.id, "parent_issue": s.wireIssue(parent, parent.facts),
		"sub_issue_id": child.id, "sub_issue": s.wireIssue(child, child.facts),
		"parent_issue_repo": s.wireRepo(parent.repo, identity{}), "sub_issue_repo": s.wireRepo(child.repo, identity{}),
	}
	parent.repo.send("sub_issues", "sub_issue_"+what, by, extra)
	child.repo.send("sub_issues", "parent_issue_"+what, by, extra)
}

func newGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("githubtest: encode: " + err.Error())
	}
	return b
}
