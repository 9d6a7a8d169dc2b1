package planningtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"strings"
	"time"

	"planbridge/bridge/planningtest/planningmodel"
)

// The operations, by the names that the journal and faults use, in the order
// of the document's part 4.
const (
	OpProjectRead    = "project.read"
	OpBacklogItems   = "backlog.items"
	OpBucketList     = "bucket.list"
	OpBucketRead     = "bucket.read"
	OpBucketItems    = "bucket.items"
	OpCardCreate     = "card.create"
	OpSprintList     = "sprint.list"
	OpSprintRead     = "sprint.read"
	OpSprintItems    = "sprint.items"
	OpSprintBurndown = "sprint.burndown"
	OpCardRead       = "card.read"
	OpCardUpdate     = "card.update"
	OpTaskList       = "task.list"
	OpTaskCreate     = "task.create"
	OpTaskRead       = "task.read"
	OpTaskUpdate     = "task.update"
)

// endpoints are the sixteen of part 4; paths are below /api/projects/{project}.
var endpoints = []struct {
	op, method, path string
	serve            func(*call) (any, error)
}{
	{OpProjectRead, "GET", "", (*call).readProject},
	{OpBacklogItems, "GET", "/backlog/items", (*call).backlogItems},
	{OpBucketList, "GET", "/backlog/buckets", (*call).bucketList},
	{OpBucketRead, "GET", "/backlog/buckets/{bucket}", (*call).readBucket},
	{OpBucketItems, "GET", "/backlog/buckets/{bucket}/items", (*call).bucketItems},
	{OpCardCreate, "POST", "/backlog/buckets/{bucket}/items", (*call).createCards},
	{OpSprintList, "GET", "/iterations", (*call).sprintList},
	{OpSprintRead, "GET", "/iterations/{sprint}", (*call).readSprint},
	{OpSprintItems, "GET", "/iterations/{sprint}/items", (*call).sprintItems},
	{OpSprintBurndown, "GET", "/iterations/{sprint}/burndown-chart", (*call).burndown},
	{OpCardRead, "GET", "/items/{card}", (*call).readCard},
	{OpCardUpdate, "PUT", "/items/{card}", (*call).updateCard},
	{OpTaskList, "GET", "/items/{card}/tasks", (*call).taskList},
	{OpTaskCreate, "POST", "/items/{card}/tasks", (*call).createTasks},
	{OpTaskRead, "GET", "/tasks/{task}", (*call).readTask},
	{OpTaskUpdate, "PUT", "/tasks/{task}", (*call).updateTask},
}

const maxBody = 64 << 20

// call is one request while it is served.
type call struct {
	s     *Server
	r     *http.Request
	op    string
	body  []byte
	serve func(*call) (any, error)
	fault *ActiveFault // the fault that it met, nil for none

	wire                          // set when it is executed
	api     planningmodel.Session // likewise
	project string                // its id
}

// answer is the answer to a call.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// refusal is an error with the answer it gives.
type refusal struct {
	status int
	body   any // a string is sent as plain text
}

func (e *refusal) Error() string { return fmt.Sprintf("%d: %v", e.status, e.body) }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, object{"error": fmt.Sprintf(format, args...)}}
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+s.prefix+"/{$}", s.page)
	for _, e := range endpoints {
		mux.HandleFunc(e.method+" "+s.prefix+"/api/projects/{project}"+e.path, func(w http.ResponseWriter, r *http.Request) {
			if !s.enter() {
				panic(http.ErrAbortHandler)
			}
			defer s.work.Done()
			s.handle(w, &call{s: s, r: r, op: e.op, serve: e.serve})
		})
	}
	return mux
}

// handle reads a call, applies its fault, and answers.
func (s *Server) handle(w http.ResponseWriter, c *call) {
	started, arrived := s.clock(), time.Now()
	body, err := io.ReadAll(http.MaxBytesReader(w, c.r.Body, maxBody))
	c.body = body
	s.mu.Lock()
	latency, held := s.latency, s.held
	s.mu.Unlock()
	if held != nil && !s.pause(0, true, held) || latency > 0 && !s.until(arrived.Add(latency)) {
		panic(http.ErrAbortHandler)
	}
	var a *answer
	if err != nil {
		a = &answer{status: http.StatusRequestEntityTooLarge}
	} else {
		c.fault = s.meet(c.op, c.r.Method, c.r.URL.Path)
		a = c.fault.apply(c)
	}
	a = c.compressed(a)
	s.record(c, started, a)
	c.send(w, a)
}

// send writes the answer; where there is none the connection is cut.
func (c *call) send(w http.ResponseWriter, a *answer) {
	if a == nil {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), a.header)
	if a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
	w.WriteHeader(a.status)
	if !c.fault.is(Truncate) {
		w.Write(a.body) //nolint:errcheck // a client that went away is no concern of the service
		return
	}
	w.Write(a.body[:len(a.body)/2]) //nolint:errcheck // as above
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// execute carries the call out as one act.
func (c *call) execute() *answer {
	t := c.s.service.Traits()
	c.wire = wire{t: t, html: t.HTMLInAnswers == HTMLAlways}
	value, err := any(nil), c.authorize()
	if err == nil {
		value, err = c.serve(c)
	}
	var r *refusal
	var refused *planningmodel.Refusal
	var conflict *planningmodel.Conflict
	switch {
	case errors.As(err, &r):
		return encode(r.status, r.body)
	case errors.As(err, &refused):
		return encode(refused.Status, object{"error": refused.Words})
	case errors.As(err, &conflict):
		return encode(conflict.Status, c.conflict(conflict))
	}
	return c.validated(encode(or(c.success(), http.StatusOK), value))
}

func (c *call) success() int {
	switch c.r.Method {
	case "POST":
		return c.t.SuccessStatus.Create
	case "PUT":
		return c.t.SuccessStatus.Update
	}
	return c.t.SuccessStatus.Read
}

// encode makes an answer of a JSON value, or of plain text.
func encode(status int, value any) *answer {
	if text, ok := value.(string); ok {
		return &answer{status, http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, []byte(text)}
	}
	body, err := json.Marshal(value)
	if err != nil {
		panic("planningtest: encode an answer: " + err.Error())
	}
	return &answer{status, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, body}
}

// authorize finds the project that the secret opens (part 5: the header is the
// only way).
func (c *call) authorize() (err error) {
	secret, ok := strings.CutPrefix(c.r.Header.Get("Authorization"), "secret ")
	c.project = c.r.PathValue("project")
	if c.api, err = c.s.service.Open(c.project, secret); err != nil || !ok {
		return refuse(http.StatusForbidden, "not authorized")
	}
	if c.fault.is(PartialBatch) {
		c.api = c.api.Failing(c.fault.N)
	}
	if c.r.Method == "GET" || c.r.Method == "HEAD" {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "the body is not application/json")
	}
	return nil
}
