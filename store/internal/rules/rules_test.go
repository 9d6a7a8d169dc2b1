package rules

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/store"
)

func TestOrderIntSortsAndReturns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		if (a < b) != (OrderInt(a) < OrderInt(b)) {
			t.Fatalf("OrderInt(%d) = %s against OrderInt(%d) = %s", a, OrderInt(a), b, OrderInt(b))
		}
		if back, err := ParseOrderInt(OrderInt(a)); err != nil || back != a {
			t.Fatalf("ParseOrderInt(OrderInt(%d)) = %d, %v", a, back, err)
		}
	})
	if len(OrderInt(math.MinInt64)) != 16 || len(OrderInt(math.MaxInt64)) != 16 {
		t.Error("OrderInt is not of one length")
	}
	if _, err := ParseOrderInt("what"); err == nil {
		t.Error("ParseOrderInt took a word")
	}
}

func TestCheckObservation(t *testing.T) {
	for name, tt := range map[string]struct {
		o  store.Observation
		ok bool
	}{
		"only due":         {store.Observation{}, true},
		"snapshot":         {store.Observation{Item: "issue:1", Data: []byte("x")}, true},
		"create":           {store.Observation{Create: &mapping.Link{ID: "l", Project: "p"}}, true},
		"create elsewhere": {store.Observation{Create: &mapping.Link{ID: "l", Project: "q"}}, false},
		"create nameless":  {store.Observation{Create: &mapping.Link{Project: "p"}}, false},
		"data for no item": {store.Observation{Data: []byte("x")}, false},
	} {
		if err := CheckObservation("p", &tt.o); (err == nil) != tt.ok {
			t.Errorf("%s: CheckObservation = %v", name, err)
		}
	}
}

func TestCheckLink(t *testing.T) {
	key := store.Key{Project: "p", Link: "l"}
	if err := CheckLink(key, nil); err != nil {
		t.Error(err)
	}
	if err := CheckLink(key, &mapping.Link{ID: "l", Project: "p"}); err != nil {
		t.Error(err)
	}
	if err := CheckLink(key, &mapping.Link{ID: "m", Project: "p"}); err == nil {
		t.Error("CheckLink took another link")
	}
}

func TestDeliveryKeyTellsItemsApart(t *testing.T) {
	a := DeliveryKey(&store.Observation{Delivery: "d", Item: "issue:1"})
	b := DeliveryKey(&store.Observation{Delivery: "d", Item: "issue:2"})
	if a == b || len(a) != 12 {
		t.Errorf("DeliveryKey = %x and %x", a, b)
	}
}

func TestWhere(t *testing.T) {
	l := &mapping.Link{ID: "l1"}
	if got := Where(l); got != "l1" {
		t.Errorf("Where = %q", got)
	}
	l.Card.ID = "c1"
	if got := Where(l); got != "c1" {
		t.Errorf("Where = %q", got)
	}
	l.Issue = mapping.IssueID{Repo: "acme/web", Number: 12}
	if got := Where(l); got != "acme/web#12" {
		t.Errorf("Where = %q", got)
	}
}

func TestWakeDelay(t *testing.T) {
	if d := WakeDelay(10, 4); d != 2500*time.Millisecond {
		t.Errorf("WakeDelay(10, 4) = %v", d)
	}
	if d := WakeDelay(2, 0.7); d != 2857*time.Millisecond {
		t.Errorf("WakeDelay(2, 0.7) = %v, want whole milliseconds as in Redis", d)
	}
	if d := WakeDelay(10, 0); d != 0 {
		t.Errorf("WakeDelay without a rate = %v", d)
	}
}

// TestNoKeyWaitsWithoutAReason holds for keys of an earlier program too.
func TestNoKeyWaitsWithoutAReason(t *testing.T) {
	for _, place := range []store.KeyState{store.KeyLater, store.KeyWaiting, store.KeyParked} {
		if Why(place, "github", "") == "" || Why(place, "github", "it is late") != "it is late" {
			t.Errorf("%s has the reasons %q and %q", place, Why(place, "github", ""), Why(place, "github", "it is late"))
		}
	}
	for _, place := range []store.KeyState{store.KeyResting, store.KeyDue, store.KeyWorked} {
		if why := Why(place, "github", "it was late"); why != "" {
			t.Errorf("%s has the reason %q", place, why)
		}
	}
}

// TestReadLabel: a label equals that of the whole link.
func TestReadLabel(t *testing.T) {
	for _, pair := range []mapping.Pair{
		{Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12}, Card: mapping.CardID{ID: "c"}},
		{Issue: mapping.IssueID{ID: 7, Repo: "acme/web"}, Card: mapping.CardID{ID: "c"}},
		{},
	} {
		l := &mapping.Link{ID: "l", Route: "web", Pair: pair, Children: []*mapping.Pair{{Card: mapping.CardID{ID: "task"}}}}
		record, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadLabel(record); err != nil || got != (Label{"web", Where(l)}) {
			t.Errorf("ReadLabel of %s = %+v, %v, want %s", record, got, err, Where(l))
		}
	}
	if got, err := ReadLabel([]byte(`{"route":"web"`)); err == nil {
		t.Errorf("ReadLabel of half a record = %+v", got)
	}
}
