package planningtest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"planbridge/bridge/planningtest"
)

func TestAuthorization(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	status := func(project, header, value string) int {
		t.Helper()
		req, err := http.NewRequest("GET", w.s.URL()+"/api/projects/"+project+"?secret="+secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(header, value)
		r, err := send(req)
		if err != nil {
			t.Fatal(err)
		}
		return r.status
	}
	other := w.s.AddProject(planningtest.ProjectSpec{Title: "Other"})
	for _, c := range []struct {
		project, header, value string
		want                   int
	}{
		{w.p.ID(), "Authorization", "secret " + secret, 200},
		{w.p.ID(), "Authorization", "Bearer " + secret, 403},
		{w.p.ID(), "Authorization", secret, 403},
		{w.p.ID(), "X-None", "", 403},
		{other.ID(), "Authorization", "secret " + secret, 403},
		{other.ID(), "Authorization", "secret " + other.Secret(), 200},
		{"ffffffffffffffffffffffff", "Authorization", "secret " + secret, 403},
	} {
		if got := status(c.project, c.header, c.value); got != c.want {
			t.Errorf("%s %s: %q: %d, want %d", c.project, c.header, c.value, got, c.want)
		}
	}
	w.p.AddSecret("second")
	if got := w.p.Secret(); got != "second" {
		t.Errorf("newest secret is %q", got)
	}
	w.get("")
	w.p.RevokeSecret(secret)
	w.ask(403, "GET", "", "")
	if got := status(w.p.ID(), "Authorization", "secret second"); got != 200 {
		t.Errorf("the second secret: %d", got)
	}
	w.p.RevokeSecret()
	if got := status(w.p.ID(), "Authorization", "secret second"); got != 403 || w.p.Secret() != "" {
		t.Errorf("after revoking all: %d", got)
	}
}

func TestRefusedBodies(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A"})
	task := w.p.NewTask(id, "alice", planningtest.TaskSpec{Title: "T"})
	before := fmt.Sprint(w.p.Cards())
	for _, c := range []struct{ method, path, body, words string }{
		{"PUT", "/items/" + id, `{`, "no JSON"},
		{"PUT", "/items/" + id, `[]`, "no JSON"},
		{"PUT", "/items/" + id, `{"title":{"value":"B","version":0}}`, "username"},
		{"PUT", "/items/" + id, `{"username":"fred","title":{"value":"B","version":0}}`, "fred"},
		{"PUT", "/items/" + id, `{"username":7}`, "username"},
		{"PUT", "/items/" + id, `{"username":"alice","title":{"value":"B"}}`, "version"},
		{"PUT", "/items/" + id, `{"username":"alice","title":{"value":"B","version":"0"}}`, "version"},
		{"PUT", "/items/" + id, `{"username":"alice","title":{"value":"B","version":0.5}}`, "version"},
		{"PUT", "/items/" + id, `{"username":"alice","title":"B"}`, "value"},
		{"PUT", "/items/" + id, `{"username":"alice","title":{"value":5,"version":0}}`, "title"},
		{"PUT", "/items/" + id, `{"username":"alice","title":{"value":null,"version":0}}`, "title"},
		{"PUT", "/items/" + id, `{"username":"alice","summary":{"value":"x","version":0}}`, "summary"},
		{"PUT", "/items/" + id, `{"username":"alice","summary":{"value":{"html":"x"},"version":0}}`, "summary"},
		{"PUT", "/items/" + id, `{"username":"alice","estimate":{"value":"5","version":0}}`, "estimate"},
		{"PUT", "/items/" + id, `{"username":"alice","estimate":{"value":null,"version":0}}`, "estimate"},
		{"PUT", "/items/" + id, `{"username":"alice","state":{"value":"done","version":0}}`, "state"},
		{"PUT", "/items/" + id, `{"username":"alice","iteration":{"value":null,"version":0}}`, "iteration"},
		{"PUT", "/items/" + id, `{"username":"alice","colour":{"value":"red","version":0}}`, "colour"},
		{"PUT", "/tasks/" + task, `{"username":"alice","state":{"value":"closed","version":0}}`, "state"},
		{"POST", "/items/" + id + "/tasks", `{"username":"alice","estimate":{"value":"0.5"}}`, "estimate"},
		{"POST", "/items/" + id + "/tasks", `{"username":"alice","title":{"value":"T","version":0}}`, "version"},
		{"POST", w.bucketPath("Bugs"), `{"username":"alice","estimate":{"value":"many"}}`, "estimate"},
		{"POST", w.bucketPath("Bugs"), `[{"username":"alice","title":{"value":"X"}},{"username":"fred"}]`, "fred"},
		{"POST", w.bucketPath("Bugs"), `[1`, "no JSON"},
	} {
		if r := w.ask(400, c.method, c.path, c.body); !strings.Contains(r.text, c.words) {
			t.Errorf("%s %s answers %s", c.path, c.body, r.text)
		}
	}
	w.ask(404, "POST", "/items/"+task+"/tasks", `{"username":"alice"}`)
	w.ask(404, "PUT", "/tasks/"+id, `{"username":"alice"}`)
	w.ask(404, "GET", "/items/"+task+"/tasks", "")
	w.ask(404, "POST", "/backlog/buckets/x/items", `{"username":"alice"}`)
	w.ask(404, "GET", "/backlog/buckets/x/items", "")
	w.ask(405, "DELETE", "/items/"+id, "")
	if after := fmt.Sprint(w.p.Cards()); after != before {
		t.Errorf("refused writes changed the cards:\n%s\n%s", before, after)
	}
	w.p.AddMember("fred")
	w.put("/items/"+id, `{"username":"fred","title":{"value":"B","version":0}}`)
	w.p.RemoveMember("fred")
	w.ask(400, "PUT", "/items/"+id, `{"username":"fred","title":{"value":"C","version":1}}`)
}

func TestContentTypeIsRequired(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	req, err := http.NewRequest("POST", w.s.URL()+"/api/projects/"+w.p.ID()+w.bucketPath("Bugs"),
		strings.NewReader(`{"username":"alice","title":{"value":"X"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "secret "+secret)
	if r, err := send(req); err != nil || r.status != http.StatusUnsupportedMediaType {
		t.Errorf("without a content type: %d %v", r.status, err)
	}
}
