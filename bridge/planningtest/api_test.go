package planningtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/planningtest"
)

var monday = time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)

func fixedClock() time.Time { return monday }

func TestProject(t *testing.T) {
	w := newWorld(t, planningtest.Options{Prefix: "planning/"})
	if !strings.HasSuffix(w.s.URL(), "/planning") {
		t.Errorf("URL %s lacks the prefix", w.s.URL())
	}
	w.want(w.get(""), map[string]string{
		"_id":                          `{"$oid":"` + w.p.ID() + `"}`,
		"title":                        `{"value":"Web","version":0}`,
		"type.value":                   `"PRIVATE"`,
		"owner.value":                  `"bridge"`,
		"integrations":                 `{"api":{"enabled":true}}`,
		"startDate.value":              `"2014-11-24T00:00:00.000Z"`,
		"userCounters.value":           `{"observers":1,"participants":2,"total":3}`,
		"backlogBuckets.value.1.title": `"Bugs"`,
		"backlogBuckets.value.1.id":    `{"$oid":"` + w.p.BucketID("Bugs") + `"}`,
	})
	id := w.p.AddBucket("Ideas")
	w.p.RenameBucket("Ideas", "Later")
	w.want(w.get(""), map[string]string{
		"backlogBuckets.version": "2",
		"backlogBuckets.value.2": `{"id":{"$oid":"` + id + `"},"title":"Later"}`,
	})
}

func TestBacklog(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	a := w.newCard(planningtest.CardSpec{Title: "A", Summary: "text", Estimate: points(3)})
	w.newCard(planningtest.CardSpec{Title: "B"})
	w.p.MoveCard(a, "Bugs")
	bug := `{"$oid":"` + w.p.BucketID("Bugs") + `"}`
	w.want(w.get("/backlog/items"), map[string]string{
		"0.bucket": `"Incoming"`, "0.items.0.title.value": `"B"`, "0.items.0._order": "0", "0.items.1": "(none)",
		"1.bucket": `"Bugs"`, "1.id": bug,
		"1.items.0._id": `{"$oid":"` + a + `"}`, "1.items.0.state": `{"value":` + bug + `,"version":1}`,
	})
	w.want(w.get("/backlog/buckets"), map[string]string{
		"1": `{"bucket":"Bugs","id":` + bug + `}`, "2": "(none)",
	})
	w.want(w.get("/backlog/buckets/"+w.p.BucketID("Bugs")), map[string]string{"bucket": `"Bugs"`, "id": bug})
	w.want(w.get(w.bucketPath("Bugs")), map[string]string{
		"0.title.value": `"A"`, "0.cid": "1", "0.version": "2", "0.estimate": `{"value":3,"version":0}`,
		"0.summary.value":      `{"markdown":"text"}`,
		"0.iteration.value":    "null",
		"0.isStandaloneTP":     "false",
		"0.order.value":        `"000000001.0"`,
		"0.taskCounters.value": "null",
		"0.totalComments":      `{"value":0,"version":0}`,
		"0.type.value":         `{"version":0}`,
		"1":                    "(none)",
	})
	w.want(w.get("/items/"+a), map[string]string{"title.value": `"A"`, "_order": "(none)"})
	w.p.DeleteCard(a)
	if got := w.get(w.bucketPath("Bugs")).text; got != "[]" {
		t.Errorf("after the delete the bucket holds %s", got)
	}
	w.ask(404, "GET", "/items/"+a, "")
	w.ask(404, "GET", "/backlog/buckets/"+a, "")
}

func TestCreateCards(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	r := w.post(w.bucketPath("Incoming"), `{"username":"bridge","title":{"value":"One"},
		"summary":{"value":{"markdown":"a <b>\n\nc"}},"estimate":{"value":"5"}}`)
	w.want(r, map[string]string{
		"cid": "1", "version": "1", "title": `{"value":"One","version":0}`, "estimate": `{"value":5,"version":0}`,
		"summary.value.html": `"\u003cp\u003ea \u0026lt;b\u0026gt;\u003c/p\u003e\n\u003cp\u003ec\u003c/p\u003e"`,
		"summary.version":    "0", "taskCounters.value": "null", "totalAttachments.value": "0",
		"state.value": `{"$oid":"` + w.p.BucketID("Incoming") + `"}`, "_order": "(none)",
	})
	c := w.p.Card(r.id(t, "_id"))
	if c.Title != "One" || c.Summary != "a <b>\n\nc" || *c.Estimate != 5 || c.Bucket != "Incoming" || c.Version != 1 {
		t.Errorf("made %+v", c)
	}
	w.want(w.post(w.bucketPath("Bugs"), `[{"username":"bridge","title":{"value":"Two"}},
		{"username":"alice","title":{"value":"Three"}}]`), map[string]string{
		"0.title.value": `"Two"`, "0.cid": "2", "0._order": "0", "0.summary.value": `""`, "0.estimate.value": "null",
		"1.title.value": `"Three"`, "1.cid": "3", "1._order": "1", "2": "(none)",
	})
	if got := w.post(w.bucketPath("Bugs"), `[]`).text; got != "[]" {
		t.Errorf("an empty batch makes %s", got)
	}
	if h := w.p.History(w.p.Cards()[2].ID, "title"); len(h) != 1 || h[0].User != "alice" || !h[0].ByAPI {
		t.Errorf("history %+v", h)
	}
}

func TestUpdateCard(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A", Estimate: points(1)})
	path := "/items/" + id
	w.want(w.put(path, `{"username":"bridge","title":{"value":"B","version":0},
		"summary":{"value":{"markdown":"m","html":"<p>m!</p>"},"version":0}}`), map[string]string{
		"_id": `{"$oid":"` + id + `"}`, "version": "2", "title": `{"value":"B","version":1}`,
		"summary.version": "1", "summary.value.markdown": `"m"`, "estimate": "(none)", "iteration.value": "null",
		"project.value": `{"$oid":"` + w.p.ID() + `"}`, "state.value": `{"$oid":"` + w.p.BucketID("Incoming") + `"}`,
	})
	if c := w.p.Card(id); c.SummaryHTML != "<p>m!</p>" || c.TitleVersion != 1 || c.EstimateVersion != 0 {
		t.Errorf("stored %+v", c)
	}
	before := w.p.Card(id)
	w.want(w.ask(409, "PUT", path, `{"username":"bridge","title":{"value":"C","version":1},
		"estimate":{"value":8,"version":7}}`), map[string]string{
		"title": `{"value":"B","version":1}`, "estimate": `{"value":1,"version":0}`, "version": "2",
	})
	if c := w.p.Card(id); c.Title != before.Title || c.Version != before.Version {
		t.Errorf("a refused update changed the card: %+v", c)
	}
	w.want(w.put(path, `{"username":"bridge","title":{"value":"C","version":-1}}`), map[string]string{
		"title": `{"value":"C","version":2}`, "version": "3",
	})
	w.want(w.put(path, `{"username":"bridge","title":{"value":"C","version":2}}`), map[string]string{
		"title": `{"value":"C","version":2}`, "version": "3",
	})
	w.want(w.put(path, `{"username":"bridge"}`), map[string]string{"version": "3", "title": "(none)"})
	var got []string
	for _, v := range w.p.History(id, "title") {
		got = append(got, fmt.Sprint(v.Value, v.Version, v.User, v.ByAPI))
	}
	if want := "A0alicefalse B1bridgetrue C2bridgetrue"; strings.Join(got, " ") != want {
		t.Errorf("history %v, want %s", got, want)
	}
}

func TestTasks(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A"})
	r := w.post("/items/"+id+"/tasks", `{"username":"bridge","title":{"value":"T"},
		"summary":{"value":{"markdown":"s"}},"estimate":{"value":0.5}}`)
	w.want(r, map[string]string{
		"cid": "2", "version": "0", "title": `{"value":"T","version":0}`, "estimate": `{"value":0.5,"version":0}`,
		"state": `{"value":"todo","version":0}`, "summary.value": `{"html":"\u003cp\u003es\u003c/p\u003e","markdown":"s"}`,
		"owner.value": `{"$oid":"` + id + `"}`, "timeEntriesTotal": "0", "type.value": "null",
	})
	task := r.id(t, "_id")
	wantCard := func(version, counters, hours int64, status string) {
		t.Helper()
		c := w.p.Card(id)
		if c.Version != version || c.CountersVersion != counters || c.HoursVersion != hours || c.Status != status {
			t.Errorf("card at %d, counters %d, hours %d, %q; want %d %d %d %q",
				c.Version, c.CountersVersion, c.HoursVersion, c.Status, version, counters, hours, status)
		}
	}
	wantCard(3, 1, 1, "todo") // a created task raises the card by two
	w.want(w.put("/tasks/"+task, `{"username":"bridge","state":{"value":"done","version":0},
		"title":{"value":"U","version":0}}`), map[string]string{
		"version": "1", "state": `{"value":"done","version":1}`, "title.version": "1", "summary": "(none)",
		"owner.value": `{"$oid":"` + id + `"}`, "project.value": `{"$oid":"` + w.p.ID() + `"}`,
	})
	wantCard(4, 2, 1, "done")
	w.put("/tasks/"+task, `{"username":"bridge","title":{"value":"V","version":1}}`)
	wantCard(4, 2, 1, "done")
	w.put("/tasks/"+task, `{"username":"bridge","estimate":{"value":2,"version":0}}`)
	wantCard(5, 2, 2, "done")
	w.post("/items/"+id+"/tasks", `[{"username":"bridge","title":{"value":"X"}},{"username":"bridge","title":{"value":"Y"}}]`)
	wantCard(9, 4, 4, "in-progress")
	w.want(w.get("/items/"+id), map[string]string{
		"taskCounters": `{"value":{"done":1,"inProgress":0,"status":"in-progress","todo":2,"total":3},"version":4}`,
	})
	w.want(w.get("/items/"+id+"/tasks"), map[string]string{
		"0.title.value": `"V"`, "2.title.value": `"Y"`, "2._order": "2", "3": "(none)",
	})
	w.want(w.get("/tasks/"+task), map[string]string{
		"title.value": `"V"`, "type": `{"value":null,"version":0}`, "_order": "(none)",
	})
	w.ask(409, "PUT", "/tasks/"+task, `{"username":"bridge","state":{"value":"todo","version":0}}`)
	w.p.DeleteTask(task)
	wantCard(11, 5, 5, "todo")
	w.ask(404, "GET", "/tasks/"+task, "")
	if h := w.p.History(task, "state"); len(h) != 2 || h[1].Value != "done" {
		t.Errorf("the deleted task's history is %+v", h)
	}
}

func TestSprints(t *testing.T) {
	w := newWorld(t, planningtest.Options{Clock: fixedClock})
	day := func(n int) time.Time { return monday.AddDate(0, 0, n).Truncate(24 * time.Hour) }
	past := w.p.NewSprint(planningtest.SprintSpec{Title: "0", Start: day(-14), End: day(-1)})
	now := w.p.NewSprint(planningtest.SprintSpec{Title: "1", Summary: "goal", Start: day(0), End: day(2)})
	w.p.NewSprint(planningtest.SprintSpec{Title: "2", Start: day(7), End: day(13)})
	w.want(w.get("/iterations"), map[string]string{
		"0.isPast": "true", "0.isActive": "false", "1.isActive": "true", "1.isPast": "false", "1.isFuture": "false",
		"2.isFuture": "true", "1.summary.value": `"goal"`, "2._order": "2",
		"1.startDate": `{"value":{"$date":"2026-11-16T00:00:00.000Z"},"version":0}`, "1.itemCounters.value": "null",
	})
	id := w.newCard(planningtest.CardSpec{Title: "A", Estimate: points(5)})
	task := w.p.NewTask(id, "alice", planningtest.TaskSpec{Title: "T", Estimate: points(4), State: "in-progress"})
	w.p.MoveToSprint(id, past)
	w.p.MoveToSprint(id, now)
	hole := w.p.NewPlaceholder(now)
	w.p.LogTime(task, "alice", 1.5)
	w.p.Assign(task, "bob", "carol")
	w.p.Unassign(task, "carol")
	if got := w.get(w.bucketPath("Incoming")).text; got != "[]" {
		t.Errorf("a card in a sprint is still in the backlog: %s", got)
	}
	w.want(w.get("/iterations/"+now), map[string]string{
		"title.value": `"1"`, "estimate.value": "5", "taskEstimate.value": "4", "itemCounters.value.total": "2",
		"taskCounters.value": `{"done":0,"inProgress":1,"status":"in-progress","todo":0,"total":1}`,
	})
	w.want(w.get("/iterations/"+past), map[string]string{"estimate.value": "null", "taskCounters.value": "null"})
	w.want(w.get("/iterations/"+now+"/items"), map[string]string{
		"0._id": `{"$oid":"` + id + `"}`, "0.taskEstimate.value": "4", "0.state.value": `"in-progress"`,
		"0.iteration": `{"value":{"$oid":"` + now + `"},"version":2}`, "0.tasks": "(none)",
		"1._id": `{"$oid":"` + task + `"}`, "1.owner.value": `{"$oid":"` + id + `"}`, "1.state.value": `"in-progress"`,
		"1.timeRemaining":        `[{"duration":1.5,"when":{"$date":"2026-11-16T09:00:00.000Z"},"who":"alice"}]`,
		"1.users.0.user":         `"alice"`,
		"1.users.1.user":         `"bob"`,
		"1.users.2":              "(none)",
		"2._id":                  `{"$oid":"` + hole + `"}`,
		"2.isStandaloneTP":       "true",
		"2.type.value":           `""`,
		"2.state.value":          "null",
		"2.summary.value":        `""`,
		"2.iterationReview":      `{"value":null,"version":0}`,
		"3":                      "(none)",
		"1._order":               "1",
		"0.taskCounters.version": "2",
	})
	w.want(w.get("/iterations/"+now+"/burndown-chart"), map[string]string{
		"numDays": "3", "originalEstimate": "4", "timeRemaining": "[1.5,1.5,1.5]", "endDate": `{"$date":"2026-11-18T00:00:00.000Z"}`,
		"items.0": `{"cid":2,"originalEstimate":4,"timeRemaining":[1.5,1.5,1.5],"title":"T"}`, "when.$date": `"2026-11-16T09:00:00.000Z"`,
	})
	w.p.EditSprint(now, func(s *planningtest.SprintSpec) { s.Title = "One"; s.End = day(3) })
	if sp := w.p.Sprint(now); sp.Title != "One" || !sp.End.Equal(day(3)) || len(sp.Cards) != 2 {
		t.Errorf("sprint %+v", sp)
	}
	w.p.MoveToSprint(id, "")
	if w.get(w.bucketPath("Incoming")).len() != 1 {
		t.Error("the card did not come back to the backlog")
	}
	w.ask(404, "GET", "/iterations/"+id, "")
	w.ask(404, "GET", "/iterations/"+id+"/items", "")
	w.ask(404, "GET", "/iterations/"+id+"/burndown-chart", "")
	if got := w.p.Task(task); *got.Remaining != 1.5 || strings.Join(got.Users, " ") != "alice bob" {
		t.Errorf("task %+v", got)
	}
}

func TestPeople(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A", Summary: "s", Estimate: points(1)})
	w.p.EditCard(id, "alice", func(c *planningtest.CardEdit) { c.Title += "!"; c.Estimate = nil })
	w.p.Review(id, "Approved")
	if got := w.p.Card(id).SummaryHTML; got != "<p>s</p>" {
		t.Errorf("html %q", got)
	}
	c := w.p.Card(id)
	if c.Title != "A!" || c.Summary != "s" || c.Estimate != nil || c.Version != 3 || c.TitleVersion != 1 ||
		c.SummaryVersion != 0 || c.EstimateVersion != 1 || c.Review != "Approved" || c.ReviewVersion != 1 {
		t.Errorf("card %+v", c)
	}
	w.want(w.get("/items/"+id), map[string]string{
		"estimate": `{"value":null,"version":1}`, "iterationReview": `{"value":"Approved","version":1}`,
	})
	task := w.p.NewTask(id, "alice", planningtest.TaskSpec{Title: "T"})
	w.p.EditTask(task, "bob", func(e *planningtest.TaskEdit) { e.State = "done"; e.Summary = "how" })
	got := w.p.Task(task)
	if got.State != "done" || got.StateVersion != 1 || got.Summary != "how" || got.Version != 1 || got.Card != id {
		t.Errorf("task %+v", got)
	}
	if h := w.p.History(task, "state"); len(h) != 2 || h[1].User != "bob" || h[1].ByAPI {
		t.Errorf("history %+v", h)
	}
	if ids := w.p.AddCards("Bugs", 250); len(ids) != 250 || w.get(w.bucketPath("Bugs")).len() != 250 {
		t.Error("AddCards did not make 250 cards")
	}
	if n := len(w.p.Cards()); n != 251 {
		t.Errorf("%d cards", n)
	}
	w.p.DeleteCard(id)
	if w.p.Card(id).ID != "" || w.p.Task(task).ID != "" || w.p.Sprint(id).ID != "" || w.p.History("nope", "title") != nil {
		t.Error("what is deleted is still there")
	}
	defer func() {
		if recover() == nil {
			t.Error("an act on a deleted card did not panic")
		}
	}()
	w.p.EditCard(id, "alice", func(*planningtest.CardEdit) {})
}
