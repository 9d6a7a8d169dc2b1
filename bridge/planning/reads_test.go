package planning

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
)

const fullTask = `{"_id":{"$oid":"` + taskID + `"},"version":3,"cid":13,"project":{"value":{"$oid":"p"},"version":0},
"owner":{"value":{"$oid":"` + cardID + `"},"version":0},"ownerType":{"value":null,"version":0},
"title":{"value":"A task","version":1},"summary":{"value":"","version":0},"estimate":{"value":0.5,"version":2},
"type":{"value":null,"version":0},"state":{"value":"in-progress","version":9},"order":{"value":"000000000.5","version":0},
"timeEntriesTotal":0,"_order":0}`

var fullTaskMapped = mapping.Task{
	ID: taskID, CID: 13, Version: 3, Owner: cardID,
	Title:    mapping.Versioned{Value: "A task", Version: 1},
	Estimate: mapping.Versioned{Value: "0.5", Version: 2},
	State:    mapping.Versioned{Value: "in-progress", Version: 9},
}

const sprintJSON = `{"_id":{"$oid":"` + sprintID + `"},"startDate":{"value":{"$date":"2014-11-25T00:00:00.000Z"},"version":0},
"endDate":{"value":{"$date":1418169600000},"version":0},"estimate":{"value":null,"version":0},"itemCounters":{"value":null,"version":0},
"summary":{"value":{"markdown":"goal"},"version":0},"taskCounters":{"value":{"done":1.0,"total":4},"version":2},
"taskEstimate":{"value":12.5,"version":0},"title":{"value":"Sprint 1","version":0},"version":4,"nonWorkingDays":[0,6],
"isFuture":false,"isActive":true,"isPast":false}`

var sprintMapped = Sprint{
	ID: sprintID, Title: "Sprint 1", Summary: "goal", Version: 4, TaskEstimate: "12.5", IsActive: true,
	Start: time.Date(2014, 11, 25, 0, 0, 0, 0, time.UTC), End: time.Date(2014, 12, 10, 0, 0, 0, 0, time.UTC),
	Counters: &mapping.Counters{Done: 1, Total: 4},
}

const projectJSON = `{"_id":{"$oid":"` + testProject + `"},"activityCounter":{"value":1,"version":1},
"backlogBuckets":{"value":[{"title":"Incoming","id":{"$oid":"b1"}},{"title":"Bugs","id":"b2"}],"version":1},
"startDate":{"value":"2014-11-25T00:00:00.000Z","version":0},"endDate":{"value":null,"version":0},
"integrations":{"api":{"enabled":true}},"owner":{"value":"alice","version":0},"summary":{"value":"","version":0},
"timezone":{"value":"Europe/Berlin","version":0},"title":{"value":"Web","version":0},"type":{"value":"PRIVATE","version":0},
"userCounters":{"value":{"total":2,"observers":0,"participants":2},"version":0},"version":5}`

// TestCheckProject: a project is there where it answers under its own id.
func TestCheckProject(t *testing.T) {
	for answer, want := range map[string]error{
		projectJSON: nil,
		strings.Replace(projectJSON, testProject, "54744060c955ca8169c61eff", 1): mapping.ErrNotFound,
	} {
		c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(answer)) }) //nolint:errcheck // the client tells
		if err := c.CheckProject(ctx()); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	c, _ := serve(t, http.NotFound)
	if err := c.CheckProject(ctx()); !errors.Is(err, mapping.ErrNotFound) {
		t.Errorf("%v, want %v", err, mapping.ErrNotFound)
	}
}

// TestReads asks every reading endpoint and compares path and result.
func TestReads(t *testing.T) {
	bucket := Bucket{ID: "b1", Title: "Incoming"}
	cardIn := func(id mapping.ObjectID) []mapping.Card {
		c := fullCardMapped
		c.Bucket, c.StateID = id, c.Bucket // the card's own id of it differs
		return []mapping.Card{c}
	}
	for _, tt := range []struct {
		path, answer string
		ask          func(*Client) (any, error)
		want         any
	}{
		{"", projectJSON, func(c *Client) (any, error) { return c.Project(ctx()) }, Project{
			ID: testProject, Title: "Web", Owner: "alice", Type: "PRIVATE", Timezone: "Europe/Berlin", Version: 5, APIEnabled: true,
			Start: sprintMapped.Start, Buckets: []Bucket{bucket, {ID: "b2", Title: "Bugs"}},
		}},
		{"/backlog/buckets", `[{"bucket":"Incoming","id":{"$oid":"b1"}}]`, func(c *Client) (any, error) { return c.Buckets(ctx()) }, []Bucket{bucket}},
		{"/backlog/buckets/b1", `{"bucket":"Incoming","id":"b1"}`, func(c *Client) (any, error) { return c.Bucket(ctx(), "b1") }, bucket},
		{"/backlog/buckets/b1/items", "[" + fullCard + "]", func(c *Client) (any, error) { return c.BucketCards(ctx(), "b1") }, cardIn("b1")},
		{
			"/backlog/items", `[{"bucket":"Incoming","id":"b1","items":[]}]`, func(c *Client) (any, error) { return c.Backlog(ctx()) },
			[]BucketItems{{ID: "b1", Title: "Incoming"}},
		},
		{"/iterations", "[" + sprintJSON + "]", func(c *Client) (any, error) { return c.Sprints(ctx()) }, []Sprint{sprintMapped}},
		{"/iterations/s1", sprintJSON, func(c *Client) (any, error) { return c.Sprint(ctx(), "s1") }, sprintMapped},
		{"/items/" + cardID, fullCard, func(c *Client) (any, error) { return c.Card(ctx(), cardID) }, fullCardMapped},
		{"/items/a%2F..%3Fb", fullCard, func(c *Client) (any, error) { return c.Card(ctx(), "a/..?b") }, fullCardMapped},
		{"/items/" + cardID + "/tasks", "[" + fullTask + "]", func(c *Client) (any, error) { return c.Tasks(ctx(), cardID) }, []mapping.Task{fullTaskMapped}},
		{"/items/" + cardID + "/tasks", "[]", func(c *Client) (any, error) { return c.Tasks(ctx(), cardID) }, []mapping.Task{}},
		{"/tasks/" + taskID, fullTask, func(c *Client) (any, error) { return c.Task(ctx(), taskID) }, fullTaskMapped},
		{
			"/iterations/s1/burndown-chart", `{"_id":"x","items":[{"cid":1,"originalEstimate":3,"timeRemaining":[3,1],"title":"t"}],
			"numDays":3,"originalEstimate":3.5,"timeRemaining":[3,1.5,null],"when":{"$date":"2014-11-25T00:00:00.000Z"},
			"startDate":{"$date":"2014-11-25T00:00:00.000Z"},"endDate":{"$date":"2014-12-10T00:00:00.000Z"}}`,
			func(c *Client) (any, error) { return c.Burndown(ctx(), "s1") },
			Burndown{
				ID: "x", When: sprintMapped.Start, Start: sprintMapped.Start, End: sprintMapped.End, NumDays: 3, OriginalEstimate: 3.5,
				Remaining: []float64{3, 1.5}, Items: []BurndownItem{{CID: 1, Title: "t", OriginalEstimate: 3, Remaining: []float64{3, 1}}},
			},
		},
	} {
		c, rec := serve(t, answering(200, tt.answer), func(o *Options) { o.BaseURL += "/prefix/" })
		got, err := tt.ask(c)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.path, diff)
		}
		want := request{"GET", "/prefix/api/projects/" + testProject + tt.path, "secret " + testSecret, ""}
		if diff := cmp.Diff([]request{want}, rec.requests(), cmp.AllowUnexported(request{})); diff != "" {
			t.Errorf("%s: %s", tt.path, diff)
		}
	}
}

// An answer of 2xx that is not what the endpoint answers is no result: an
// empty listing would prove absence.
func TestReadsRefuseGarbage(t *testing.T) {
	for _, body := range []string{"", " ", "null", "true", `"x"`, "<html>maintenance</html>", `{"_id":`, "[1]", `[{}]`, `[null]`, `{}`, `{"error":"x"}`} {
		c, _ := serve(t, answering(200, body))
		for name, ask := range map[string]func() error{
			"card":     func() error { _, err := c.Card(ctx(), cardID); return err },
			"tasks":    func() error { _, err := c.Tasks(ctx(), cardID); return err },
			"cards":    func() error { _, err := c.BucketCards(ctx(), "b"); return err },
			"backlog":  func() error { _, err := c.Backlog(ctx()); return err },
			"sprints":  func() error { _, err := c.Sprints(ctx()); return err },
			"items":    func() error { _, err := c.SprintItems(ctx(), "s"); return err },
			"project":  func() error { _, err := c.Project(ctx()); return err },
			"buckets":  func() error { _, err := c.Buckets(ctx()); return err },
			"one task": func() error { _, err := c.Task(ctx(), taskID); return err },
		} {
			if err := ask(); !errors.Is(err, mapping.ErrUnavailable) {
				t.Errorf("%s of %q: %v", name, body, err)
			}
		}
		if c.Down() {
			t.Errorf("%q: an odd answer must not count as an outage", body)
		}
	}
}

func TestAnySuccessStatus(t *testing.T) {
	for _, status := range []int{200, 201, 202, 203, 206, 299} {
		c, _ := serve(t, answering(status, fullCard))
		if _, err := c.Card(ctx(), cardID); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// An id that would address another resource is never sent.
func TestBadIDs(t *testing.T) {
	c, rec := serve(t, answering(200, "[]"))
	for _, id := range []mapping.ObjectID{"", ".", ".."} {
		_, err := c.Card(ctx(), id)
		wantFault(t, err, mapping.ErrRejected)
		_, err = c.UpdateTask(ctx(), id, "u", mapping.LinkImages, title("x", 1))
		wantFault(t, err, mapping.ErrRejected)
		_, err = c.CreateCard(ctx(), id, "u", NewCard{Title: "x"})
		wantFault(t, err, mapping.ErrRejected)
	}
	if got := rec.requests(); len(got) != 0 {
		t.Errorf("requests %v, want none", got)
	}
}

func TestSprintItemsForms(t *testing.T) {
	flat := strings.TrimSuffix(fullTask, "}") + `,"timeRemaining":[{"duration":2,"when":{"$date":1},"who":"bob"}],
		"users":[{"when":{"$date":1},"who":"bob","user":"alice"},{"user":"carol"},{"user":"alice"},{"user":null}]}`
	other := strings.ReplaceAll(fullTask, taskID, "t2")
	nested := strings.TrimSuffix(fullCard, "}") + `,"milestone":{"value":null,"version":0},"tasks":[` +
		strings.Replace(flat, `"owner":{"value":{"$oid":"`+cardID+`"},"version":0},`, "", 1) + `]}`
	second := fullTaskMapped
	second.ID = "t2"
	withTask := fullCardMapped
	withTask.Tasks = []mapping.Task{fullTaskMapped}
	placeholder := `{"_id":"tp","isStandaloneTP":true,"state":{"value":"in-progress","version":1},"type":"","owner":{"value":{"$oid":"o"},"version":0}}`
	users := map[mapping.ObjectID][]string{taskID: {"alice", "carol"}}
	for name, tt := range map[string]struct {
		body string
		want SprintItems
	}{
		"flat":   {"[" + fullCard + "," + flat + "]", SprintItems{[]mapping.Card{fullCardMapped}, []mapping.Task{fullTaskMapped}, users}},
		"nested": {"[" + nested + "]", SprintItems{[]mapping.Card{withTask}, nil, users}},
		"both":   {"[" + nested + "," + flat + "]", SprintItems{[]mapping.Card{withTask}, []mapping.Task{fullTaskMapped}, users}},
		"a task by its counter of time": {
			"[" + other + "]",
			SprintItems{nil, []mapping.Task{second}, nil},
		},
		"a task by its owner": {
			"[" + strings.Replace(other, `"timeEntriesTotal":0,`, "", 1) + "]",
			SprintItems{nil, []mapping.Task{second}, nil},
		},
		"a card whose state is a word": {
			`[{"_id":"c","state":{"value":"done","version":1},"taskCounters":{"value":null,"version":0}}]`,
			SprintItems{[]mapping.Card{{ID: "c"}}, nil, nil},
		},
		"a card with an owner": {
			`[{"_id":"c","owner":{"value":{"$oid":"x"},"version":1},"iterationReview":{"value":null,"version":0}}]`,
			SprintItems{[]mapping.Card{{ID: "c"}}, nil, nil},
		},
		"a placeholder": {"[" + placeholder + "]", SprintItems{[]mapping.Card{{ID: "tp", Placeholder: true}}, nil, nil}},
		"nothing":       {"[]", SprintItems{}},
	} {
		c, _ := serve(t, answering(200, tt.body))
		got, err := c.SprintItems(ctx(), sprintID)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if tt.want.Users == nil {
			tt.want.Users = map[mapping.ObjectID][]string{}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestReadFaults(t *testing.T) {
	for status, want := range map[int]error{
		400: mapping.ErrRejected, 401: mapping.ErrUnauthorized, 403: mapping.ErrUnauthorized, 404: mapping.ErrNotFound,
		405: mapping.ErrRejected, 408: mapping.ErrUnavailable, 409: mapping.ErrRejected, 410: mapping.ErrGone, 418: mapping.ErrRejected,
		500: mapping.ErrUnavailable, 502: mapping.ErrUnavailable, 503: mapping.ErrUnavailable, 504: mapping.ErrUnavailable,
		304: mapping.ErrMoved, 301: mapping.ErrMoved,
	} {
		c, _ := serve(t, answering(status, "user alice is not a member"))
		_, err := c.Card(ctx(), cardID)
		wantFault(t, err, want)
		if !strings.HasPrefix(err.Error(), "planning: read card "+cardID+": ") || strings.Count(err.Error(), "planning") != 1 {
			t.Errorf("%d: %v", status, err)
		}
		_, err = c.Backlog(ctx())
		wantFault(t, err, want)
	}
}

func TestSecretIsReplaced(t *testing.T) {
	c, rec := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "secret new" {
			w.WriteHeader(403)
			return
		}
		answering(200, fullCard)(w, r)
	})
	_, err := c.Card(ctx(), cardID)
	wantFault(t, err, mapping.ErrUnauthorized)
	c.SetSecret(" new\n")
	if _, err := c.Card(ctx(), cardID); err != nil {
		t.Error(err)
	}
	c.SetSecret("two\nlines")
	_, err = c.Card(ctx(), cardID)
	wantFault(t, err, mapping.ErrUnauthorized)
	if n := len(rec.requests()); n != 2 {
		t.Errorf("%d requests, want 2: a secret that no header can carry is not sent", n)
	}
}
