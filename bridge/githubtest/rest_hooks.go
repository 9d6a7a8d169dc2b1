package githubtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) wireHook(h *hook) fields {
	var kind, base string
	switch {
	case h.app != nil:
		kind, base = "App", s.api+"/app"
	case h.repo == nil:
		kind, base = "Organization", s.api+"/orgs/"+h.target
	default:
		kind, base = "Repository", s.api+"/repos/"+h.repo.fullName()
	}
	url := base + "/hooks/" + strconv.FormatInt(h.id, 10)
	events := h.events
	if len(events) == 0 {
		events = []string{"*"}
	}
	return fields{
		"type": kind, "id": h.id, "name": "web", "active": true, "events": events, "config": s.hookConfig(h),
		"created_at": stamp(h.created), "updated_at": stamp(h.created), "url": url, "ping_url": url + "/pings",
		"deliveries_url": url + "/deliveries", "last_response": h.last,
	}
}

func (s *Server) hookConfig(h *hook) fields {
	out := fields{"url": h.url, "content_type": "json", "insecure_ssl": "0"}
	if s.traits.FormPayload {
		out["content_type"] = "form"
	}
	if h.secret != "" {
		out["secret"] = "********"
	}
	return out
}

// hooks are those that the path's repository, organization or the calling App
// owns; only an administrator may see them.
func (c *call) hooks() ([]*hook, *reply) {
	mine := func(h *hook) bool { return h.app != nil && h.app == c.who.app }
	switch org := c.params["org"]; {
	case c.repo != nil:
		mine = func(h *hook) bool { return h.repo == c.repo }
	case org != "":
		mine = func(h *hook) bool { return h.app == nil && h.repo == nil && strings.EqualFold(h.target, org) }
	case c.who.app == nil:
		r := fail(http.StatusUnauthorized, "A JSON web token could not be decoded")
		return nil, &r
	}
	if t := c.who.token; c.who.app == nil && (t == nil || t.readOnly || c.s.traits.NoPush) {
		return nil, &notFound
	}
	var out []*hook
	for _, h := range c.s.hookWork.hooks {
		if mine(h) {
			out = append(out, h)
		}
	}
	return out, nil
}

func listHooks(c *call) reply {
	hooks, no := c.hooks()
	if no != nil {
		return *no
	}
	return paged(c, hooks, c.s.wireHook)
}

func getAppHookConfig(c *call) reply {
	hooks, no := c.hooks()
	if no != nil {
		return *no
	}
	if len(hooks) == 0 {
		return notFound
	}
	return ok(c.s.hookConfig(hooks[0]))
}

// hookSpec has the values of a webhook.
type hookSpec struct {
	Name   string
	Active bool
	Events []string
	Config hookConfigSpec
}

type hookConfigSpec struct {
	URL         string
	ContentType string `json:"content_type"`
	Secret      string
}

func createHook(c *call) reply {
	hooks, no := c.hooks()
	if no != nil {
		return *no
	}
	var in hookSpec
	if no := c.decode(&in); no != nil {
		return *no
	}
	switch {
	case in.Name != "web" || in.Config.URL == "" || in.Config.ContentType != "json":
		return fail(http.StatusUnprocessableEntity, "Validation Failed")
	case slices.ContainsFunc(hooks, func(h *hook) bool { return h.url == in.Config.URL }):
		return fail(http.StatusUnprocessableEntity, "Hook already exists on this repository")
	}
	h := &hook{target: c.params["org"], repo: c.repo, url: in.Config.URL, secret: in.Config.Secret, events: in.Events}
	if c.repo != nil {
		h.target = c.repo.fullName()
	}
	c.s.addHook(h)
	return created(c.s.wireHook(h))
}

func setAppHookConfig(c *call) reply {
	hooks, no := c.hooks()
	if no != nil {
		return *no
	}
	var in hookConfigSpec
	if no := c.decode(&in); no != nil {
		return *no
	}
	if len(hooks) > 0 {
		hooks[0].url, hooks[0].secret = in.URL, in.Secret
		return ok(c.s.hookConfig(hooks[0]))
	}
	h := &hook{app: c.who.app, url: in.URL, secret: in.Secret}
	c.s.addHook(h)
	return ok(c.s.hookConfig(h))
}

func pingHook(c *call) reply {
	hooks, no := c.hooks()
	if no != nil {
		return *no
	}
	for _, h := range hooks {
		if strconv.FormatInt(h.id, 10) == c.params["hook"] {
			c.s.ping(h)
			return noContent()
		}
	}
	return notFound
}

// deliveries are the listed ones of the path's hook, newest first.
func (c *call) deliveries() ([]*queued, *reply) {
	hooks, no := c.hooks()
	if no != nil {
		return nil, no
	}
	id, named := c.params["hook"]
	hooks = slices.DeleteFunc(hooks, func(h *hook) bool { return named && strconv.FormatInt(h.id, 10) != id })
	if len(hooks) == 0 {
		return nil, &notFound
	}
	var out []*queued
	for _, q := range slices.Backward(c.s.hookWork.log) {
		if slices.Contains(hooks, q.hook) && !(q.Drop && q.Lose) {
			out = append(out, q)
		}
	}
	return out, nil
}

func wireDelivery(q *queued) fields {
	words := http.StatusText(q.Status)
	if q.Status == http.StatusBadGateway {
		words = "failed to connect to host"
	}
	return fields{
		"id": q.ID, "guid": q.GUID, "delivered_at": stamp(q.At), "redelivery": q.Redelivery,
		"duration": q.Duration.Seconds(), "status": words, "status_code": q.Status, "event": q.Event,
		"action": orNull(q.Action), "installation_id": nil, "repository_id": q.RepoID, "throttled_at": nil,
	}
}

// listDeliveries pages by cursor: the id of the last delivery before the page.
func listDeliveries(c *call) reply {
	list, no := c.deliveries()
	if no != nil {
		return *no
	}
	if cursor := c.query.Get("cursor"); cursor != "" {
		at := slices.IndexFunc(list, func(q *queued) bool { return "v1_"+strconv.FormatInt(q.ID, 10) == cursor })
		if at < 0 {
			return fail(http.StatusUnprocessableEntity, "Invalid cursor")
		}
		list = list[at+1:]
	}
	per := c.perPage()
	out := ok(wireAll(list[:min(per, len(list))], wireDelivery))
	if len(list) > per {
		out.header = c.link("cursor", map[string]string{"next": "v1_" + strconv.FormatInt(list[per-1].ID, 10)})
	}
	return out
}

// delivery finds the delivery that the path names.
func (c *call) delivery() (*queued, *reply) {
	list, no := c.deliveries()
	if no != nil {
		return nil, no
	}
	for _, q := range list {
		if strconv.FormatInt(q.ID, 10) == c.params["delivery"] {
			return q, nil
		}
	}
	return nil, &notFound
}

func getDelivery(c *call) reply {
	q, no := c.delivery()
	if no != nil {
		return *no
	}
	headers := fields{}
	for k, v := range c.s.deliveryHeader(q, q.Payload, "application/json") {
		headers[k] = v[0]
	}
	out := wireDelivery(q)
	out["url"] = q.hook.url
	out["request"] = fields{"headers": headers, "payload": json.RawMessage(q.Payload)}
	out["response"] = fields{"headers": fields{}, "payload": ""}
	return ok(out)
}

func redeliver(c *call) reply {
	q, no := c.delivery()
	if no != nil {
		return *no
	}
	c.s.redeliver(q)
	return reply{status: http.StatusAccepted, body: fields{}}
}
