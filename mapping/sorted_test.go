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
}
