package planning

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
)

// wantBody compares the one request's method, path and body.
func wantBody(t *testing.T, rec *recorder, method, path, body string) {
	t.Helper()
	all := rec.requests()
	if len(all) != 1 {
		t.Fatalf("%d requests, want 1", len(all))
	}
	if all[0].method != method || all[0].path != "/api/projects/"+testProject+path {
		t.Errorf("%s %s, want %s …%s", all[0].method, all[0].path, method, path)
	}
	var got, want any
	if err := json.Unmarshal([]byte(all[0].body), &got); err != nil {
		t.Fatalf("%q: %v", all[0].body, err)
	}
	if err := json.Unmarshal([]byte(body), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateBodies(t *testing.T) {
	c, rec := serve(t, answering(200, `{}`))
	if _, err := c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, set{
		mapping.Title: {Value: "a <b> & \"c\"", Version: 0}, mapping.Summary: {Value: "*x* <script>1</script>", Version: 2}, mapping.Estimate: {Value: "8.0", Version: -1},
	}); err != nil {
		t.Fatal(err)
	}
	wantBody(t, rec, "PUT", "/items/"+cardID, `{"username":"alice","title":{"value":"a <b> & \"c\"","version":0},
		"summary":{"value":{"markdown":"*x* <script>1</script>","html":"<p><em>x</em> </p>"},"version":2},"estimate":{"value":8,"version":-1}}`)

	c, rec = serve(t, answering(200, `{}`))
	if _, err := c.UpdateTask(ctx(), taskID, "bob", mapping.LinkImages, set{mapping.State: {Value: "done", Version: 9}, mapping.Estimate: {Value: "0.25", Version: 1}}); err != nil {
		t.Fatal(err)
	}
	wantBody(t, rec, "PUT", "/tasks/"+taskID, `{"username":"bob","state":{"value":"done","version":9},"estimate":{"value":0.25,"version":1}}`)
}

// Values that the API cannot take are refused here, blaming the attribute, and not sent.
func TestUpdateRefusedHere(t *testing.T) {
	c, rec := serve(t, answering(200, `{}`))
	for field, tries := range map[string][]set{
		"":         {{}, nil},
		"state":    {{mapping.State: {Value: "done"}}},
		"labels":   {{"labels": {Value: "x"}}},
		"estimate": {{mapping.Estimate: {}}, {mapping.Estimate: {Value: "XL"}}, {mapping.Estimate: {Value: "0.5"}}, {mapping.Estimate: {Value: "NaN"}}},
	} {
		for _, s := range tries {
			_, err := c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, s)
			var r *mapping.Rejection
			if !errors.As(err, &r) || r.Field != field || r.Message == "" {
				t.Errorf("%v: %v", s, err)
			}
		}
	}
	if n := len(rec.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestCreateBodies(t *testing.T) {
	c, rec := serve(t, answering(201, fullCard))
	got, err := c.CreateCard(ctx(), "b7", "alice", NewCard{Title: "T", Summary: "*s*", Estimate: "3"})
	if err != nil {
		t.Fatal(err)
	}
	want := fullCardMapped
	want.Bucket, want.StateID = "b7", want.Bucket // the card's own id of it differs
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantBody(t, rec, "POST", "/backlog/buckets/b7/items",
		`{"username":"alice","title":{"value":"T"},"summary":{"value":{"markdown":"*s*"}},"estimate":{"value":3}}`)

	c, rec = serve(t, answering(200, "["+fullTask+","+fullTask+"]"))
	tasks, err := c.CreateTasks(ctx(), cardID, "bob", []NewTask{{Title: "a"}, {Title: "b", Estimate: "0.5"}})
	if err != nil || len(tasks) != 2 {
		t.Fatal(tasks, err)
	}
	wantBody(t, rec, "POST", "/items/"+cardID+"/tasks",
		`[{"username":"bob","title":{"value":"a"}},{"username":"bob","title":{"value":"b"},"estimate":{"value":0.5}}]`)
}

// A task's answer may leave out its owner and more (facts of real data).
func TestCreateTaskShortAnswer(t *testing.T) {
	c, _ := serve(t, answering(200, `{"_id":{"$oid":"`+taskID+`"},"cid":4,"version":0,"estimate":{"value":null,"version":0},
		"title":{"value":"T","version":0},"summary":{"value":"","version":0},"state":{"value":"todo","version":0}}`))
	got, err := c.CreateTask(ctx(), cardID, "bob", NewTask{Title: "T"})
	want := mapping.Task{ID: taskID, CID: 4, Owner: cardID, Title: mapping.Versioned{Value: "T"}, State: mapping.Versioned{Value: "todo"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestCreateAnswers: an object or an array, whatever was sent; anything less
// than what was asked for leaves the outcome unknown.
func TestCreateAnswers(t *testing.T) {
	one := `{"_id":"a","title":{"value":"A","version":0}}`
	for _, tt := range []struct {
		name, answer string
		send, made   int
		known        bool
	}{
		{"object for one", one, 1, 1, true},
		{"array for one", "[" + one + "]", 1, 1, true},
		{"array for two", "[" + one + "," + one + "]", 2, 2, true},
		{"more than sent", "[" + one + "," + one + "]", 1, 2, true},
		{"object for two", one, 2, 1, false},
		{"short array", "[" + one + "]", 2, 1, false},
		{"one without id", "[" + one + ",{}]", 2, 1, false},
		{"empty array", "[]", 1, 0, false},
		{"empty object", "{}", 1, 0, false},
		{"nothing", "", 1, 0, false},
		{"null", "null", 1, 0, false},
		{"an error", `{"error":"no such bucket"}`, 1, 0, false},
		{"a page", "<html>", 1, 0, false},
		{"cut", one[:20], 1, 0, false},
	} {
		for _, status := range []int{200, 201, 202} {
			c, rec := serve(t, answering(status, tt.answer))
			made, err := c.CreateCards(ctx(), "b", "u", make([]NewCard, tt.send))
			if (err == nil) != tt.known || len(made) != tt.made {
				t.Errorf("%s, %d: %d made, %v", tt.name, status, len(made), err)
			}
			if err != nil {
				wantFault(t, err, mapping.ErrUncertain)
			}
			if n := len(rec.requests()); n != 1 {
				t.Errorf("%s: %d requests; a create is never repeated", tt.name, n)
			}
		}
	}
}

// TestCreateToldInPart: sent values that an answer leaves out are not empty. The item is read;
// where it cannot be, the outcome is unknown.
func TestCreateToldInPart(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		estimate     string // sent
		reads        int
	}{
		{"the id alone", `{"_id":"a"}`, "", 1},
		{"no title", `{"_id":"a","summary":{"value":{"markdown":"s"},"version":0}}`, "", 1},
		{"no summary", `{"_id":"a","title":{"value":"T","version":0}}`, "", 1},
		{"an empty summary", `{"_id":"a","title":{"value":"T","version":0},"summary":{"value":null,"version":0}}`, "", 1},
		{"no estimate", `{"_id":"a","title":{"value":"T","version":0},"summary":{"value":{"markdown":"s"},"version":0}}`, "5", 1},
		{"a null estimate", `{"_id":"a","title":{"value":"T","version":0},"summary":{"value":{"markdown":"s"},"version":0},"estimate":null}`, "5", 1},
		{"none was sent", `{"_id":"a","title":{"value":"T","version":0},"summary":{"value":{"markdown":"s"},"version":0}}`, "", 0},
	} {
		for _, readable := range []bool{true, false} {
			c, rec := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost:
					_, _ = io.WriteString(w, tt.answer)
				case !readable:
					w.WriteHeader(http.StatusNotFound)
				default:
					_, _ = io.WriteString(w, `{"_id":"a","title":{"value":"T","version":4},"summary":{"value":{"markdown":"s"},"version":5},"estimate":{"value":5,"version":6}}`)
				}
			})
			card, err := c.CreateCard(ctx(), "b7", "alice", NewCard{Title: "T", Summary: "s", Estimate: tt.estimate})
			if n := len(rec.requests()) - 1; n != tt.reads {
				t.Errorf("%s: %d reads, want %d", tt.name, n, tt.reads)
			}
			if !readable && tt.reads > 0 {
				wantFault(t, err, mapping.ErrUncertain)
				continue
			}
			if err != nil || card.ID != "a" || card.Bucket != "b7" || card.Title.Value != "T" || card.Summary.Value != "s" {
				t.Errorf("%s: %+v, %v", tt.name, card, err)
			}
			if tt.reads > 0 && (card.Title.Version != 4 || card.Estimate.Value != "5") {
				t.Errorf("%s: not as it was read: %+v", tt.name, card)
			}
		}
	}

	c, rec := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.WriteString(w, `[{"_id":"a","title":{"value":"A","version":0}},{"_id":"b"}]`)
			return
		}
		_, _ = io.WriteString(w, `{"_id":"b","title":{"value":"B","version":1},"state":{"value":"todo","version":0}}`)
	})
	tasks, err := c.CreateTasks(ctx(), cardID, "bob", []NewTask{{Title: "A"}, {Title: "B"}})
	if err != nil || len(tasks) != 2 || tasks[0].State.Value != mapping.StateTodo || tasks[1].Title.Value != "B" || tasks[1].Owner != cardID {
		t.Errorf("tasks %+v, %v", tasks, err)
	}
	if n := len(rec.requests()); n != 2 {
		t.Errorf("%d requests, want the create and one read", n)
	}
}

func TestCreateNothing(t *testing.T) {
	c, rec := serve(t, answering(500, ""))
	if made, err := c.CreateCards(ctx(), "b", "u", nil); made != nil || err != nil {
		t.Error(made, err)
	}
	_, err := c.CreateCard(ctx(), "b", "u", NewCard{Title: "x", Estimate: "1.5"})
	var r *mapping.Rejection
	if !errors.As(err, &r) || r.Field != "estimate" {
		t.Error(err)
	}
	if len(rec.requests()) != 0 {
		t.Error("something was sent")
	}
}

// TestWriteFaults: the meaning of a refused or failed write, by its status.
func TestWriteFaults(t *testing.T) {
	for status, want := range map[int]error{
		400: mapping.ErrRejected, 401: mapping.ErrUnauthorized, 403: mapping.ErrUnauthorized, 404: mapping.ErrNotFound,
		408: mapping.ErrUncertain, 410: mapping.ErrGone, 413: mapping.ErrRejected, 422: mapping.ErrRejected, 425: mapping.ErrUncertain,
		500: mapping.ErrUncertain, 502: mapping.ErrUncertain, 503: mapping.ErrUncertain, 504: mapping.ErrUncertain,
		301: mapping.ErrMoved, 307: mapping.ErrMoved, 308: mapping.ErrMoved, 302: mapping.ErrUncertain, 303: mapping.ErrUncertain,
	} {
		c, rec := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}, func(o *Options) { o.BreakerAfter = 100 })
		for name, write := range map[string]func() error{
			"create card":  func() error { _, err := c.CreateCard(ctx(), "b", "u", NewCard{}); return err },
			"create tasks": func() error { _, err := c.CreateTasks(ctx(), "c", "u", make([]NewTask, 2)); return err },
			"update card":  func() error { _, err := c.UpdateCard(ctx(), "c", "u", mapping.LinkImages, title("x", 1)); return err },
			"update task":  func() error { _, err := c.UpdateTask(ctx(), "t", "u", mapping.LinkImages, title("x", 1)); return err },
		} {
			before := len(rec.requests())
			err := write()
			if !errors.Is(err, want) {
				t.Errorf("%s, %d: %v", name, status, err)
			}
			if n := len(rec.requests()) - before; n != 1 {
				t.Errorf("%s, %d: %d requests", name, status, n)
			}
		}
	}
}
