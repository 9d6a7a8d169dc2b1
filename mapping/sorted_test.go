package mapping

import (
	"slices"
	"testing"
)

func TestSorted(t *testing.T) {
	m := map[string]int{"d": 4, "b": 2, "a": 1, "c": 3, "e": 5}
	var got []int
	for k, v := range Sorted(m) {
		if k == "b" {
			delete(m, "c")
		}
		if k == "e" {
			break
		}
		got = append(got, v)
	}
	if want := []int{1, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for k := range Sorted(m) {
		if k != "a" {
			t.Fatalf("after its end the loop goes on with %s", k)
		}
		break
	}
	for k := range Sorted(map[string]int(nil)) {
		t.Errorf("nothing has the key %s", k)
	}
}

// TestCount: one thing has its own words.
func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 links are", 1: "1 link is", 2: "2 links are", 1000: "1000 links are", -1: "-1 links are"} {
		if got := Count(n, "link is", "links are"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
