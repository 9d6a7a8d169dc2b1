package githubtest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// call is one request on its way through the server.
type call struct {
	Call
	s      *Server
	r      *http.Request
	route  *route
	params map[string]string
	query  url.Values
	body   []byte
	who    identity
	repo   *Repo  // where the path names one
	issue  *issue // where the path names one

	cut      bool // a fault removes the answer
	answered int  // a fault answers this instead; 0: none
}

// serve handles one request: the outage, the latency and the faults first, then the endpoint, then
// the journal, then the answer.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	down, latency, held := s.down || s.ctx.Err() != nil, s.latency, s.held
	if down {
		s.mu.Unlock()
		cut(w)
	}
	s.tasks.Add(1) // under the lock, and so never once Close waits
	s.mu.Unlock()
	defer s.tasks.Done()
	if !s.wait(r.Context(), held) || !s.sleep(r.Context(), latency) {
		cut(w)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		cut(w)
		return
	}
	c := s.newCall(r, body)
	h := s.fault(c.Call)
	if h == nil {
		s.write(w, r, s.perform(c))
		return
	}
	c.Call.Fault = string(h.f.Kind)
	s.misbehave(w, c, h)
}

// misbehave serves a call that a fault hit.
func (s *Server) misbehave(w http.ResponseWriter, c *call, h *FaultHandle) {
	f := &h.f
	switch f.Kind {
	case DropBefore:
		s.record(c, 0)
		cut(w)
	case Drop:
		c.cut = true
		s.perform(c)
		cut(w)
	case Delay:
		if h.wait(c.r.Context()) {
			s.write(w, c.r, s.perform(c))
		}
	case After:
		c.answered = f.answer().status
		s.perform(c)
		s.write(w, c.r, f.answer())
	case LateEffect:
		s.locked(func() { s.late++ })
		s.tasks.Go(func() {
			if h.wait(context.Background()) {
				c.answered = f.answer().status
				s.perform(c)
			}
			s.locked(func() { s.late-- })
		})
		s.write(w, c.r, f.answer())
	case Garbage:
		a := s.perform(c)
		a.header.Set("Content-Type", "text/html")
		a.body = []byte("<html><body>Unicorn!</body></html>")
		s.write(w, c.r, a)
	case Hollow:
		a := s.perform(c)
		a.body = []byte("{}")
		s.write(w, c.r, a)
	case Truncate:
		a := s.perform(c)
		a.header.Set("Content-Length", strconv.Itoa(len(a.body)+1))
		a.body = a.body[:len(a.body)/2]
		s.write(w, c.r, a)
		http.NewResponseController(w).Flush() //nolint:errcheck // the client may be gone
		cut(w)
	default: // Before, Status
		a := f.answer()
		s.record(c, a.status)
		s.write(w, c.r, a)
	}
}

// cut ends the connection without an answer, or in the middle of one.
func cut(http.ResponseWriter) { panic(http.ErrAbortHandler) }

func (s *Server) newCall(r *http.Request, body []byte) *call {
	c := &call{s: s, r: r, body: body, query: r.URL.Query()}
	c.Call = Call{Method: r.Method, Path: r.URL.RequestURI(), Body: string(body), Op: "unknown"}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.byID(s.endpoint(r.URL))
	if c.route, c.params = match(r.Method, p); c.route != nil {
		c.Op, c.write = c.route.op, c.route.writes()
	}
	if c.Op == "graphql" && mutates(body) {
		c.Op, c.write = "graphql.labels", true
	}
	if owner := c.params["owner"]; owner != "" {
		c.Repo = owner + "/" + c.params["repo"]
		c.Number, _ = strconv.Atoi(c.params["number"])
	}
	c.who, _ = s.identify(r.Header)
	c.Login = c.who.login
	return c
}

// endpoint is the path below the base of the API.
func (s *Server) endpoint(u *url.URL) string {
	p := u.EscapedPath()
	if !s.opts.Enterprise {
		return p
	}
	if p == "/api/graphql" {
		return "/graphql"
	}
	below, is := strings.CutPrefix(p, "/api/v3")
	if !is {
		return ""
	}
	return below
}

// byID turns /repositories/ID/… into /repos/OWNER/NAME/…
func (s *Server) byID(p string) string {
	rest, is := strings.CutPrefix(p, "/repositories/")
	if !is {
		return p
	}
	id, tail, _ := strings.Cut(rest, "/")
	for _, r := range s.repos {
		if strconv.FormatInt(r.id, 10) == id {
			return strings.TrimSuffix("/repos/"+r.fullName()+"/"+tail, "/")
		}
	}
	return p
}

// perform carries a call out, records it in the journal and returns GitHub's answer.
func (s *Server) perform(c *call) answer {
	s.mu.Lock()
	race := s.race
	s.mu.Unlock()
	if race != nil && c.write {
		for _, i := range c.targets() {
			race(c.Op, i.Repo, i.Number)
		}
	}
	s.mu.Lock()
	before := s.lastID
	a := s.guard(c).encode()
	s.conditional(c, &a)
	s.stampHeaders(c, &a)
	status := a.status
	if c.answered != 0 {
		status = c.answered
	} else if c.cut {
		status = 0
	}
	s.keep(c, status)
	var echoes []*queued
	if s.traits.EchoBeforeAnswer && c.write && !s.hookWork.paused {
		echoes = s.since(before)
	}
	s.notify()
	s.mu.Unlock()
	for _, q := range echoes {
		select {
		case <-q.done:
		case <-c.r.Context().Done():
		case <-s.ctx.Done():
		}
	}
	return a
}

// since are the deliveries made after the id that may leave at once.
func (s *Server) since(id int64) (out []*queued) {
	for _, q := range s.hookWork.queue {
		if q.ID > id && q.due <= s.age() {
			out = append(out, q)
		}
	}
	return out
}

func (s *Server) record(c *call, status int) { s.locked(func() { s.keep(c, status) }) }

func (s *Server) keep(c *call, status int) {
	s.lastSeq++
	c.Seq, c.Time, c.Status = s.lastSeq, s.now(), status
	s.journal = append(s.journal, c.Call)
}

// guard checks the preconditions of every endpoint: credentials, limits, the repository and the
// issue that the path names.
func (s *Server) guard(c *call) reply {
	id, known := s.identify(c.r.Header)
	if !known {
		return fail(http.StatusUnauthorized, "Bad credentials")
	}
	c.who = id
	if c.route == nil {
		return notFound
	}
	if limited := s.limit(c); limited != nil {
		return *limited
	}
	if c.Method != http.MethodGet && (c.r.Header.Get("If-Match") != "" || c.r.Header.Get("If-None-Match") != "") {
		return fail(http.StatusBadRequest,
			"Conditional request headers are not allowed in unsafe requests unless supported by the endpoint")
	}
	if c.Repo != "" {
		if stopped := s.enter(c); stopped != nil {
			return *stopped
		}
	}
	asApp := c.who.app != nil && strings.HasPrefix(c.route.pattern, "/app/")
	if c.write && c.who.token == nil && !asApp {
		return fail(http.StatusUnauthorized, "Requires authentication")
	}
	return c.route.handle(c)
}

// enter finds the repository and the issue, or says why it cannot.
func (s *Server) enter(c *call) *reply {
	c.repo = s.repo(c.Repo)
	if c.repo == nil {
		if r := s.moved[lower(c.Repo)]; r != nil && s.canRead(c.who, r) {
			return s.redirect(c, r, 0)
		}
		return &notFound
	}
	var r reply
	switch {
	case !s.canRead(c.who, c.repo):
		return &notFound
	case c.write && c.repo.spec.Archived:
		r = fail(http.StatusForbidden, "Repository was archived so is read-only.")
		return &r
	case c.repo.spec.NoIssues && strings.Contains(c.route.pattern, "/issues"):
		r = fail(http.StatusGone, "Issues has been disabled in this repository.")
		return &r
	case c.params["number"] == "":
		return nil
	}
	i := c.repo.issues[c.Number]
	switch {
	case i == nil:
		return &notFound
	case i.movedTo != nil:
		return s.redirect(c, i.movedTo.repo, i.movedTo.number)
	case i.converted && s.traits.DiscussionRedirect:
		r = fail(http.StatusMovedPermanently, "Moved Permanently")
		r.header = header("Location", fmt.Sprintf("%s/repos/%s/discussions/%d", s.api, c.repo.fullName(), c.Number))
		return &r
	case i.deleted:
		r = fail(http.StatusGone, "This issue was deleted")
		return &r
	}
	c.issue = i
	return nil
}

// redirect points to where the repository, and the issue in it, went.
func (s *Server) redirect(c *call, r *Repo, number int) *reply {
	tail := belowRepo(s.endpoint(c.r.URL))
	if number > 0 {
		tail = strings.Replace(tail, "/"+c.params["number"], fmt.Sprintf("/%d", number), 1)
	}
	to := fmt.Sprintf("%s/repositories/%d%s", s.api, r.id, tail)
	if c.r.URL.RawQuery != "" {
		to += "?" + c.r.URL.RawQuery
	}
	status, words := http.StatusMovedPermanently, "Moved Permanently"
	if s.traits.Redirect307 && c.Method != http.MethodGet {
		status, words = http.StatusTemporaryRedirect, "Temporary Redirect"
	}
	out := fail(status, words)
	out.body.(fields)["url"] = to
	out.header = header("Location", to)
	return &out
}

// conditional gives a GET its ETag, and 304 where the client has it.
func (s *Server) conditional(c *call, a *answer) {
	if c.Method != http.MethodGet || a.status != http.StatusOK {
		return
	}
	sum := sha256.Sum256(append([]byte(c.Login+"\n"), a.body...))
	tag := fmt.Sprintf("W/\"%x\"", sum[:16])
	a.header.Set("ETag", tag)
	a.header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	if asked := c.r.Header.Get("If-None-Match"); asked != "" && strings.TrimPrefix(asked, "W/") == strings.TrimPrefix(tag, "W/") {
		a.status, a.body = http.StatusNotModified, nil
		a.header.Del("Content-Type")
		if t := c.who.token; t != nil {
			t.core.used-- // a 304 is free
		}
	}
}

// decode reads the request's JSON object.
func (c *call) decode(v any) *reply {
	if err := json.Unmarshal(c.body, v); err != nil {
		r := fail(http.StatusBadRequest, "Problems parsing JSON")
		return &r
	}
	return nil
}

func (c *call) by() actor { return actor{login: c.who.login, api: true} }

// write sends an answer.
func (s *Server) write(w http.ResponseWriter, r *http.Request, a answer) {
	maps.Copy(w.Header(), a.header)
	w.Header().Set("X-Github-Request-Id", newGUID())
	if w.Header().Get("Date") == "" {
		w.Header().Set("Date", s.Now().Format(http.TimeFormat))
	}
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		w.Write(a.body) //nolint:errcheck // the client may be gone
	}
}
