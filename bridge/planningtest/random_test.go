package planningtest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"planbridge/bridge/planningtest"
)

// oracle is the required state of a card after each act. It follows the document's rules and the
// version arithmetic of real data, without the simulator's code.
type oracle struct {
	id            string
	title, bucket string
	titleV        int64
	bucketV       int64
	countersV     int64
	hoursV        int64
	version       int64
	tasks         []*taskOracle
	titles        []string // all it ever had
}

type taskOracle struct {
	id, state       string
	stateV, version int64
}

// TestRandomActsKeepTheArithmetic lets people and the API act at random and
// compares every card with its oracle after each act.
func TestRandomActsKeepTheArithmetic(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t, planningtest.Options{})
	var cards []*oracle
	for i := range 4 {
		title := fmt.Sprintf("card %d", i)
		cards = append(cards, &oracle{
			id: w.newCard(planningtest.CardSpec{Title: title}), title: title,
			bucket: "Incoming", version: 1, titles: []string{title},
		})
	}
	for step := range 800 {
		o := cards[rng.IntN(len(cards))]
		switch act := rng.IntN(6); {
		case act == 0:
			o.retitled(fmt.Sprint("by hand ", step/2)) // at times the same again
			w.p.EditCard(o.id, "alice", func(c *planningtest.CardEdit) { c.Title = o.title })
		case act == 1:
			w.putTitle(rng, o, fmt.Sprint("by api ", step/2))
		case act == 2:
			w.addTask(rng, o)
		case act == 3 && len(o.tasks) > 0:
			w.putState(rng, o, o.tasks[rng.IntN(len(o.tasks))])
		case act == 4 && len(o.tasks) > 0:
			i := rng.IntN(len(o.tasks))
			w.p.DeleteTask(o.tasks[i].id)
			o.tasks = append(o.tasks[:i:i], o.tasks[i+1:]...)
			o.countersV++
			o.version++
		case act == 5:
			if bucket := []string{"Incoming", "Bugs"}[rng.IntN(2)]; bucket != o.bucket {
				o.bucketV++
				o.version++
				o.bucket = bucket
			}
			w.p.MoveCard(o.id, o.bucket)
		}
		if w.compare(o); t.Failed() {
			t.Fatalf("at step %d, see the seed above", step)
		}
	}
	for _, o := range cards {
		w.compareHistory(o)
	}
}

func (o *oracle) retitled(title string) {
	if title != o.title {
		o.title = title
		o.titleV++
		o.version++
		o.titles = append(o.titles, title)
	}
}

// version picks one that is right, one that forces, or one that is wrong.
func version(rng *rand.Rand, current int64) (v int64, taken bool) {
	switch rng.IntN(4) {
	case 0:
		return current + 1, false
	case 1:
		return -1, true
	}
	return current, true
}

func (w *world) putTitle(rng *rand.Rand, o *oracle, title string) {
	v, taken := version(rng, o.titleV)
	body := fmt.Sprintf(`{"username":"bridge","title":{"value":%q,"version":%d}}`, title, v)
	if !taken {
		w.want(w.ask(409, "PUT", "/items/"+o.id, body), map[string]string{
			"title": fmt.Sprintf(`{"value":%q,"version":%d}`, o.title, o.titleV),
		})
		return
	}
	o.retitled(title)
	w.want(w.put("/items/"+o.id, body), map[string]string{
		"version": fmt.Sprint(o.version), "title": fmt.Sprintf(`{"value":%q,"version":%d}`, o.title, o.titleV),
	})
}

func (w *world) addTask(rng *rand.Rand, o *oracle) {
	var id string
	if rng.IntN(2) == 0 {
		id = w.p.NewTask(o.id, "alice", planningtest.TaskSpec{Title: "T"})
	} else {
		id = w.post("/items/"+o.id+"/tasks", `{"username":"bridge","title":{"value":"T"}}`).id(w.T, "_id")
	}
	o.tasks = append(o.tasks, &taskOracle{id: id, state: "todo"})
	o.countersV++
	o.hoursV++
	o.version += 2
}

func (w *world) putState(rng *rand.Rand, o *oracle, task *taskOracle) {
	state := []string{"todo", "in-progress", "done"}[rng.IntN(3)]
	v, taken := version(rng, task.stateV)
	body := fmt.Sprintf(`{"username":"bridge","state":{"value":%q,"version":%d}}`, state, v)
	if !taken {
		w.ask(409, "PUT", "/tasks/"+task.id, body)
		return
	}
	if state != task.state {
		task.state = state
		task.stateV++
		task.version++
		o.countersV++
		o.version++
	}
	w.put("/tasks/"+task.id, body)
}

// compare holds the card to its oracle, in the simulator's memory and over
// the API.
func (w *world) compare(o *oracle) {
	w.Helper()
	c := w.p.Card(o.id)
	got := fmt.Sprint(c.Title, c.TitleVersion, c.Bucket, c.BucketVersion, c.CountersVersion, c.HoursVersion, c.Version)
	want := fmt.Sprint(o.title, o.titleV, o.bucket, o.bucketV, o.countersV, o.hoursV, o.version)
	if got != want || len(c.Tasks) != len(o.tasks) {
		w.Errorf("card is %s with %d tasks, want %s with %d", got, len(c.Tasks), want, len(o.tasks))
		return
	}
	for i, task := range o.tasks {
		got := c.Tasks[i]
		if got.ID != task.id || got.State != task.state || got.StateVersion != task.stateV || got.Version != task.version {
			w.Errorf("task %d is %+v, want %+v", i, got, *task)
		}
	}
	w.want(w.get("/items/"+o.id), map[string]string{
		"version": fmt.Sprint(o.version), "title.version": fmt.Sprint(o.titleV), "state.version": fmt.Sprint(o.bucketV),
		"taskCounters.version": fmt.Sprint(o.countersV), "title.value": fmt.Sprintf("%q", o.title),
	})
}

func (w *world) compareHistory(o *oracle) {
	history := w.p.History(o.id, "title")
	if len(history) != len(o.titles) {
		w.Fatalf("%d titles in the history, want %d", len(history), len(o.titles))
	}
	for i, v := range history {
		if v.Value != o.titles[i] || v.Version != int64(i) || v.ByAPI != (v.User == "bridge") {
			w.Errorf("title %d is %+v, want %q", i, v, o.titles[i])
		}
	}
}
