package budget

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"planbridge/store"
)

// TestBudgetForgets: a budget drops items outside each window, so that a large budget's record
// stays as small as its use.
func TestBudgetForgets(t *testing.T) {
	var b State
	for i := range int64(3 * 3600) {
		now := i * int64(time.Second)
		var g store.Grant
		if b, g = b.Take(now, store.Budget{PerMinute: 300, PerHour: 300 * 60, Burst: 300}, store.Ask{Route: "r"}); g.Items == 0 {
			t.Fatalf("second %d: wait %s", i, g.Wait)
		}
	}
	if len(b.Taken) > 61 {
		t.Errorf("%d of three hours are kept, want those of a minute", len(b.Taken))
	}
}

// TestBudgetForms: a budget survives its stored form, and reads the earlier one.
func TestBudgetForms(t *testing.T) {
	want := State{Taken: Times{1, 1_770_000_000_000_000_000, 1_770_000_000_000_000_001}, Next: 7}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range []string{string(data), `{"t":[1,1770000000000000000,1770000000000000001],"n":7}`} {
		var got State
		if err := json.Unmarshal([]byte(stored), &got); err != nil || !slices.Equal(got.Taken, want.Taken) || got.Next != want.Next {
			t.Errorf("%s reads as %v, %v", stored, got, err)
		}
	}
	for _, none := range []string{`{"t":null,"n":1}`, `{"n":1}`, `{"t":"","n":1}`} {
		var got State
		if err := json.Unmarshal([]byte(none), &got); err != nil || len(got.Taken) > 0 {
			t.Errorf("%s reads as %v, %v", none, got, err)
		}
	}
}

// TestSharesHaveOneOrder: the same budget gives the same share each time, though the last digits
// of a sum depend on its order.
func TestSharesHaveOneOrder(t *testing.T) {
	for range 200 {
		b := State{Used: map[string]Usage{"a": {Items: 1e16}, "b": {Items: 1}, "c": {Items: 1}, "r": {Items: 2.5e15 + 0.5}}}
		if got := b.level(0, store.Ask{Route: "r"}); got != 1 {
			t.Fatalf("level %d, want 1 as in the order of names", got)
		}
	}
}

// TestTakeLeavesItsState: a snapshot of a store shares its budgets.
func TestTakeLeavesItsState(t *testing.T) {
	var b State
	for range 5 { // the last ones wait
		before, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		next, _ := b.Take(1, store.Budget{PerMinute: 2, Burst: 2}, store.Ask{Route: "r", Author: "a"})
		if after, err := json.Marshal(b); err != nil || string(after) != string(before) {
			t.Fatalf("Take made %s of %s, %v", after, before, err)
		}
		b = next
	}
	if len(b.Taken) == 0 || len(b.Waits) == 0 || len(b.Turns) == 0 {
		t.Errorf("%+v has not all that a budget holds", b)
	}
}

// TestNamesAreOneLine: a route whose name has a line break is a route, not an author of another
// one.
func TestNamesAreOneLine(t *testing.T) {
	b, _ := State{}.Take(1, store.Budget{PerMinute: 60, Burst: 60}, store.Ask{Route: "a\nb", Items: 40})
	if u, known := b.Used["a b"]; !known || u.Items != 40 {
		t.Errorf("used is %v", b.Used)
	}
}
