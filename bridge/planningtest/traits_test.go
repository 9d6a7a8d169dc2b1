package planningtest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"planbridge/bridge/planningtest"
)

type traits = planningtest.Traits

// with changes the traits for what follows.
func (w *world) with(change func(*traits)) *world {
	w.s.SetTraits(func(t *traits) { *t = traits{}; change(t) })
	return w
}

func TestConflictShapes(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A", Summary: "now"})
	task := w.p.NewTask(id, "alice", planningtest.TaskSpec{Title: "T"})
	current := `{"value":"A","version":0}`
	for shape, wants := range map[planningtest.ConflictShape]map[string]string{
		"":                              {"title": current, "summary.value.markdown": `"now"`, "version": "3"},
		planningtest.ConflictAttributes: {"title": current, "estimate": "(none)"},
		planningtest.ConflictItem:       {"item.title": current, "item.cid": "1", "title": "(none)"},
		planningtest.ConflictCurrent:    {"current.title": current, "current.summary.version": "0"},
		planningtest.ConflictErrors:     {"errors.1.attribute": `"title"`, "errors.1.current": current},
		planningtest.ConflictEmpty:      {"error": `"version conflict"`, "title": "(none)"},
		planningtest.ConflictArray:      {"0.title": current, "1": "(none)"},
	} {
		w.with(func(t *traits) { t.ConflictShape = shape })
		w.want(w.ask(409, "PUT", "/items/"+id, `{"username":"bridge","title":{"value":"B","version":4},
			"summary":{"value":{"markdown":"x"},"version":0}}`), wants)
	}
	w.with(func(t *traits) { t.ConflictShape = planningtest.ConflictItem })
	w.want(w.ask(409, "PUT", "/tasks/"+task, `{"username":"bridge","state":{"value":"done","version":4}}`), map[string]string{
		"item.owner.value": `{"$oid":"` + id + `"}`, "item.state.value": `"todo"`,
	})
	w.with(func(t *traits) { t.ConflictShape = planningtest.ConflictText })
	r := w.ask(409, "PUT", "/items/"+id, `{"username":"bridge","title":{"value":"B","version":4}}`)
	if r.text != "version conflict: title is at version 0" || !strings.HasPrefix(r.header.Get("Content-Type"), "text/plain") {
		t.Errorf("conflict as text: %s %v", r.text, r.header)
	}
	for _, status := range []int{200, 400, 412, 422, 500} {
		w.with(func(t *traits) { t.ConflictStatus = status })
		w.ask(status, "PUT", "/items/"+id, `{"username":"bridge","title":{"value":"B","version":4}}`)
	}
	if c := w.p.Card(id); c.Title != "A" || c.Version != 3 {
		t.Errorf("refused updates changed the card: %+v", c)
	}
}

func TestSuccessStatuses(t *testing.T) {
	w := newWorld(t, planningtest.Options{Traits: traits{
		SuccessStatus: planningtest.StatusByKind{Read: 202, Create: 201, Update: 204},
	}})
	id := w.ask(201, "POST", w.bucketPath("Bugs"), `{"username":"bridge","title":{"value":"A"}}`).id(t, "_id")
	w.ask(202, "GET", "/items/"+id, "")
	if r := w.ask(204, "PUT", "/items/"+id, `{"username":"bridge","title":{"value":"B","version":0}}`); r.text != "" {
		t.Errorf("a 204 with %q", r.text)
	}
	if got := w.p.Card(id).Title; got != "B" {
		t.Errorf("title %q", got)
	}
}

func TestFormsOfValues(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A", Estimate: points(3)})
	task := w.p.NewTask(id, "alice", planningtest.TaskSpec{Title: "T", Summary: "s", Estimate: points(1.5)})
	sp := w.p.NewSprint(planningtest.SprintSpec{Title: "S", Summary: "goal"})
	w.p.MoveToSprint(id, sp)
	for _, c := range []struct {
		name   string
		change func(*traits)
		path   string
		wants  map[string]string
	}{
		{"plain", func(*traits) {}, "/items/" + id, map[string]string{
			"summary.value": `""`, "estimate.value": "3", "_id.$oid": `"` + id + `"`, "milestone": "(none)",
		}},
		{"null summary", func(t *traits) { t.EmptySummary = planningtest.EmptyNull }, "/items/" + id, map[string]string{
			"summary.value": "null",
		}},
		{"object summary", func(t *traits) { t.EmptySummary = planningtest.EmptyObject }, "/items/" + id, map[string]string{
			"summary.value": `{"markdown":""}`,
		}},
		{"html on reads", func(t *traits) { t.HTMLInAnswers = planningtest.HTMLAlways }, "/tasks/" + task, map[string]string{
			"summary.value.html": `"\u003cp\u003es\u003c/p\u003e"`,
		}},
		{"numeric strings", func(t *traits) { t.NumericStrings = true }, "/items/" + id, map[string]string{
			"estimate.value": `"3"`, "taskCounters.value.todo": "1",
		}},
		{"floats", func(t *traits) { t.FloatNumbers = true }, "/items/" + id, map[string]string{
			"estimate.value": "3.0", "taskCounters.value.todo": "1.0", "version": "4",
		}},
		{"bare ids", func(t *traits) { t.BareOIDs = true }, "/tasks/" + task, map[string]string{
			"_id": `"` + task + `"`, "owner.value": `"` + id + `"`, "project.value": `"` + w.p.ID() + `"`,
		}},
		{"unknown", func(t *traits) { t.UnknownFields = true }, "/iterations/" + sp, map[string]string{
			"title": `{"modifiedBy":"somebody","value":"S","version":0}`, "milestone.value": "null", "value.value": "3",
			"summary.value": `{"markdown":"goal"}`,
		}},
		{"unknown of a project", func(t *traits) { t.UnknownFields = true }, "", map[string]string{
			"nonWorkingDays.value": "[0,6]",
		}},
		{"omitted of a task", func(t *traits) { t.OmitOptional = true }, "/tasks/" + task, map[string]string{
			"type": "(none)", "owner.value.$oid": `"` + id + `"`,
		}},
		{"omitted of a sprint", func(t *traits) { t.OmitOptional = true }, "/iterations/" + sp, map[string]string{
			"taskCounters.value": `{"done":0,"inProgress":0,"todo":1,"total":1}`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &world{t, w.s, w.p}
			v.want(v.with(c.change).get(c.path), c.wants)
		})
	}
	w.with(func(t *traits) { t.OmitOptional = true; t.HTMLInAnswers = planningtest.HTMLNever })
	w.want(w.post("/items/"+id+"/tasks", `[{"username":"bridge","summary":{"value":{"markdown":"x"}}}]`), map[string]string{
		"0.owner": "(none)", "0.ownerType": "(none)", "0.type": "(none)", "0.timeEntriesTotal": "(none)", "0._order": "(none)",
		"0.summary.value": `{"markdown":"x"}`, "0.title.value": `""`,
	})
	w.with(func(t *traits) { t.UnknownFields = true })
	w.want(w.put("/items/"+id, `{"username":"bridge","title":{"value":"B","version":0}}`), map[string]string{
		"milestone.version": "0", "title.modifiedBy": `"somebody"`,
	})
}

func TestSprintForms(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	sp := w.p.NewSprint(planningtest.SprintSpec{Title: "S"})
	id := w.newCard(planningtest.CardSpec{Title: "A"})
	w.p.NewTask(id, "alice", planningtest.TaskSpec{Title: "T"})
	w.p.MoveToSprint(id, sp)
	for form, want := range map[planningtest.SprintForm][2]string{
		planningtest.SprintFlat:   {"(none)", `"T"`},
		planningtest.SprintNested: {`"T"`, "(none)"},
		planningtest.SprintBoth:   {`"T"`, `"T"`},
	} {
		w.with(func(t *traits) { t.SprintForm = form })
		w.want(w.get("/iterations/"+sp+"/items"), map[string]string{
			"0.title.value": `"A"`, "0.tasks.0.title.value": want[0], "1.title.value": want[1],
		})
	}
	w.with(func(t *traits) { t.SprintCardsInBacklog = true })
	bucket := `{"$oid":"` + w.p.BucketID("Incoming") + `"}`
	w.want(w.get(w.bucketPath("Incoming")), map[string]string{"0.title.value": `"A"`, "0.state.value": bucket})
	w.want(w.get("/backlog/items"), map[string]string{"0.items.0.title.value": `"A"`})
}

func TestBucketIDs(t *testing.T) {
	w := newWorld(t, planningtest.Options{}).with(func(t *traits) { t.BucketIDsDiffer = true })
	id := w.newCard(planningtest.CardSpec{Title: "A"})
	listing, state := w.get("/backlog/buckets").id(t, "0.id"), w.p.BucketID("Incoming")
	if listing == state {
		t.Fatal("the ids do not differ")
	}
	w.want(w.get("/items/"+id), map[string]string{"state.value.$oid": `"` + state + `"`})
	w.want(w.get("/backlog/items"), map[string]string{"0.id.$oid": `"` + listing + `"`, "0.items.0.title.value": `"A"`})
	w.want(w.get(""), map[string]string{"backlogBuckets.value.0.id.$oid": `"` + state + `"`})
	for accepted, want := range map[planningtest.BucketIDAccepted][2]int{
		"": {200, 200}, planningtest.BucketIDBoth: {200, 200},
		planningtest.BucketIDListing: {200, 404}, planningtest.BucketIDState: {404, 200},
	} {
		w.with(func(t *traits) { t.BucketIDsDiffer = true; t.BucketIDAccepted = accepted })
		for i, b := range []string{listing, state} {
			w.ask(want[i], "GET", "/backlog/buckets/"+b+"/items", "")
			w.ask(want[i], "POST", "/backlog/buckets/"+b+"/items", `{"username":"bridge"}`)
		}
	}
	w.with(func(*traits) {}).ask(404, "GET", "/backlog/buckets/"+listing, "")
}

func TestVersionTraits(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A"})
	task := w.p.NewTask(id, "alice", planningtest.TaskSpec{Title: "T"})

	w.with(func(t *traits) { t.SameValueRaisesVersion = true })
	w.want(w.put("/items/"+id, `{"username":"bridge","title":{"value":"A","version":0}}`), map[string]string{
		"title.version": "1", "version": "4",
	})

	w.with(func(t *traits) { t.StateVersionSticks = true })
	w.want(w.put("/tasks/"+task, `{"username":"bridge","state":{"value":"done","version":0}}`), map[string]string{
		"state": `{"value":"done","version":0}`, "version": "1",
	})
	if got := w.p.Task(task); got.StateVersion != 1 {
		t.Errorf("stored state at version %d", got.StateVersion)
	}

	w.with(func(t *traits) { t.StateVersionKept = true })
	w.put("/tasks/"+task, `{"username":"bridge","state":{"value":"todo","version":1}}`)
	if got := w.p.Task(task); got.StateVersion != 1 || got.State != "todo" || len(w.p.History(task, "state")) != 3 {
		t.Errorf("stored state %+v", got)
	}

	w.with(func(t *traits) { t.CreateEstimateVersion1 = true })
	w.want(w.post(w.bucketPath("Bugs"), `{"username":"bridge","title":{"value":"X"},"estimate":{"value":2}}`), map[string]string{
		"estimate": `{"value":2,"version":1}`, "title.version": "0",
	})

	before := w.p.Card(id).Version
	w.with(func(t *traits) { t.TaskEditRaisesCardVersion = true })
	w.put("/tasks/"+task, `{"username":"bridge","title":{"value":"U","version":0}}`)
	if got := w.p.Card(id).Version; got != before+1 {
		t.Errorf("card at version %d, was %d", got, before)
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t, planningtest.Options{}).with(func(t *traits) {
		*t = traits{MaxTitle: 3, MaxBatch: 2, RefuseEstimate: true, UnknownUserStatus: 404, MissingItemStatus: 410}
	})
	id := w.newCard(planningtest.CardSpec{Title: "A"})
	title := `{"username":"bridge","title":{"value":%q,"version":0}}`
	w.put("/items/"+id, fmt.Sprintf(title, "äöü"))
	w.ask(400, "PUT", "/items/"+id, fmt.Sprintf(title, "four"))
	w.ask(400, "POST", w.bucketPath("Bugs"), `[{"username":"bridge"},{"username":"bridge"},{"username":"bridge"}]`)
	for _, estimate := range []string{"1.5", "-1"} {
		r := w.ask(400, "PUT", "/items/"+id, `{"username":"bridge","estimate":{"value":`+estimate+`,"version":0}}`)
		if !strings.Contains(r.text, "estimate") {
			t.Errorf("refused with %s", r.text)
		}
	}
	w.post("/items/"+id+"/tasks", `{"username":"bridge","estimate":{"value":1.5}}`)
	w.ask(400, "POST", "/items/"+id+"/tasks", `{"username":"bridge","estimate":{"value":-1.5}}`)
	w.ask(404, "PUT", "/items/"+id, `{"username":"fred"}`)
	w.ask(410, "GET", "/items/"+w.p.ID(), "")
	w.with(func(t *traits) { t.MaxTitle = 1; t.RefusalStatus = 422 })
	w.ask(422, "PUT", "/items/"+id, fmt.Sprintf(title, "four"))
}

func TestBatchOrders(t *testing.T) {
	batch := `[{"username":"bridge","title":{"value":"1"}},{"username":"bridge","title":{"value":"2"}},
		{"username":"bridge","title":{"value":"3"}},{"username":"bridge","title":{"value":"4"}}]`
	orders := func(order planningtest.BatchOrder) string {
		w := newWorld(t, planningtest.Options{}).with(func(t *traits) { t.BatchOrder = order })
		r := w.post(w.bucketPath("Bugs"), batch)
		var got strings.Builder
		for i := range r.len() {
			fmt.Fprint(&got, r.at(fmt.Sprintf("%d.title.value", i)))
		}
		if cards := w.p.Cards(); cards[0].Title != "1" || cards[3].Title != "4" {
			t.Errorf("made in order %+v", cards)
		}
		return got.String()
	}
	if same, reversed := orders(planningtest.BatchSame), orders(planningtest.BatchReversed); same != "1234" || reversed != "4321" {
		t.Errorf("same: %s, reversed: %s", same, reversed)
	}
	shuffled := orders(planningtest.BatchShuffled)
	if shuffled == "1234" || len(shuffled) != 4 || shuffled != orders(planningtest.BatchShuffled) {
		t.Errorf("shuffled: %s, want another order, the same every time", shuffled)
	}
}

func TestRewritingTexts(t *testing.T) {
	w := newWorld(t, planningtest.Options{}).with(func(t *traits) { t.NormaliseMarkdown = true })
	id := w.newCard(planningtest.CardSpec{Title: "A", Summary: "a\r\nb"})
	if got := w.p.Card(id).Summary; got != "a\nb" {
		t.Errorf("a person's text is stored as %q", got)
	}
	w.want(w.put("/items/"+id, `{"username":"bridge","summary":{"value":{"markdown":"* x\n* y \n\n"},"version":0}}`),
		map[string]string{"summary.value.markdown": `"- x\n- y"`})
	w.with(func(t *traits) { t.RewriteMarkdown = planningtest.Mangle })
	w.want(w.put("/items/"+id, `{"username":"bridge","summary":{"value":{"markdown":"*x*"},"version":1}}`),
		map[string]string{"summary.value.markdown": `"\\*x\\*"`})
	w.p.EditCard(id, "alice", func(c *planningtest.CardEdit) { c.Title = "B" })
	if got := w.p.Card(id); got.Summary != `\*x\*` || got.SummaryVersion != 2 {
		t.Errorf("an edit of the title rewrote the summary: %+v", got)
	}
}

func TestPage(t *testing.T) {
	w := newWorld(t, planningtest.Options{Prefix: "/p"})
	id := w.newCard(planningtest.CardSpec{Title: "A", Estimate: points(3)})
	w.p.NewTask(id, "alice", planningtest.TaskSpec{Title: "T"})
	w.p.NewSprint(planningtest.SprintSpec{Title: "S"})
	req, err := http.NewRequest("GET", w.s.URL()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := send(req)
	if err != nil || r.status != 200 {
		t.Fatal(r.status, err)
	}
	for _, want := range []string{w.p.ID(), secret, `"Incoming"`, `#1 ` + id + ` "A" estimate=3`, `[todo] #2`, `"S"`} {
		if !strings.Contains(r.text, want) {
			t.Errorf("the page lacks %q:\n%s", want, r.text)
		}
	}
}
