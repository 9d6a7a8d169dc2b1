package planningtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/planningtest"
)

const secret = "0123456789abcdef0123456789abcdef"

// world is a server with one project and a bare client for it.
type world struct {
	*testing.T
	s *planningtest.Server
	p *planningtest.Project
}

func newWorld(t *testing.T, o planningtest.Options) *world {
	t.Helper()
	s, err := planningtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p := s.AddProject(planningtest.ProjectSpec{
		Title: "Web", Secret: secret, Members: []string{"bridge", "alice"},
		Followers: []string{"fred"}, Buckets: []string{"Incoming", "Bugs"},
	})
	return &world{t, s, p}
}

// reply is an answer: its status, its text, and its JSON where it is some.
type reply struct {
	status int
	header http.Header
	text   string
	json   any
}

// try asks for a path below the project; body is JSON text, "" for none.
func (w *world) try(method, path, body string) (reply, error) {
	req, err := http.NewRequest(method, w.s.URL()+"/api/projects/"+w.p.ID()+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "secret "+secret)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return send(req)
}

func send(req *http.Request) (reply, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	r := reply{status: resp.StatusCode, header: resp.Header, text: string(b)}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&r.json) != nil {
		r.json = nil
	}
	return r, err
}

// ask is try that must be answered with the status.
func (w *world) ask(status int, method, path, body string) reply {
	w.Helper()
	r, err := w.try(method, path, body)
	if err != nil {
		w.Fatal(err)
	}
	if r.status != status {
		w.Fatalf("%s %s: status %d, want %d: %s", method, path, r.status, status, r.text)
	}
	return r
}

func (w *world) get(path string) reply { w.Helper(); return w.ask(200, "GET", path, "") }

func (w *world) put(path, body string) reply { w.Helper(); return w.ask(200, "PUT", path, body) }

func (w *world) post(path, body string) reply { w.Helper(); return w.ask(200, "POST", path, body) }

// at walks into JSON by names and indexes; a missing item is "(none)".
func (r reply) at(path string) any {
	v := r.json
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[name]; !ok {
				return "(none)"
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(x) {
				return "(none)"
			}
			v = x[i]
		default:
			return "(none)"
		}
	}
	return v
}

// want compares values at paths, in their JSON form.
func (w *world) want(r reply, wants map[string]string) {
	w.Helper()
	for path, want := range wants {
		got, ok := r.at(path).(string)
		if !ok || got != "(none)" {
			b, err := json.Marshal(r.at(path))
			if err != nil {
				w.Fatal(err)
			}
			got = string(b)
		}
		if got != want {
			w.Errorf("%s = %s, want %s", path, got, want)
		}
	}
	if w.Failed() {
		w.Logf("answer: %s", r.text)
	}
}

func (r reply) id(t *testing.T, path string) string {
	t.Helper()
	id, ok := r.at(path + ".$oid").(string)
	if !ok || len(id) != 24 {
		t.Fatalf("no object id at %s in %s", path, r.text)
	}
	return id
}

func (r reply) len() int { l, _ := r.json.([]any); return len(l) }

// eventually waits for a state of the world.
func (w *world) eventually(what string, cond func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := w.s.Wait(ctx, func(*planningtest.Server) bool { return cond() }); err != nil {
		w.Fatalf("%s: %v", what, err)
	}
}

func points(v float64) *float64 { return new(v) }

// bucketPath is the items path of a bucket.
func (w *world) bucketPath(title string) string {
	return "/backlog/buckets/" + w.p.BucketID(title) + "/items"
}

func (w *world) newCard(spec planningtest.CardSpec) string {
	return w.p.NewCard("Incoming", "alice", spec)
}
