package reconcile_test

import (
	"fmt"
	"slices"
	"testing"

	"planbridge/mapping"
)

// showsNumbers switches to another pattern of labels with a card's number, as a new
// configuration does.
func (w *world) showsNumbers(pattern string) {
	set := *w.recon.Settings.Settings()
	set.Scheme.Card = pattern
	w.recon.Settings = &program{w, &set}
}

// TestCardNumberOfOldLinks: switching the number on costs a link nothing before it is worked. Then
// it costs one read for a person's label and one write, and after that nothing. The label goes with
// its pattern, a person's of the same pattern stays.
func TestCardNumberOfOldLinks(t *testing.T) {
	passes(t, func(w *world) {
		w.agree()
		w.card().CID = 7
		w.faults.armed, w.faults.at = true, -1
		version := func() { w.plans(func(*mapping.Card) {}) }
		version()
		w.settle()
		labelled := func(name string) func() {
			return func() {
				w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(slices.Clone(i.Labels), name) })
			}
		}
		for _, tt := range []struct {
			what   string
			do     func()
			want   map[string]int
			labels string
		}{
			{"switching it on", func() { w.showsNumbers("card/{value}") }, map[string]int{}, "[]"},
			{"the card's next version", version, map[string]int{"Issue": 1, "AddLabels": 1}, "[card/7]"},
			{"another version", version, map[string]int{}, "[card/7]"},
			{"a person's label", labelled("card/9"), map[string]int{}, "[card/7 card/9]"},
			{"a person's label of the next pattern", labelled("no/7"), map[string]int{}, "[card/7 card/9 no/7]"},
			{"another pattern", func() { w.showsNumbers("no/{value}"); version() }, map[string]int{"Issue": 1, "RemoveLabel": 1}, "[card/9 no/7]"},
			{"switching it off", func() { w.showsNumbers(""); version() }, map[string]int{}, "[card/9 no/7]"},
		} {
			w.faults.points = nil
			tt.do()
			w.settle()
			got := map[string]int{}
			for _, p := range w.faults.points {
				if p.kind != "store" {
					got[p.name]++
				}
			}
			numbers := slices.DeleteFunc(slices.Sorted(slices.Values(w.issue().Labels)), func(l string) bool {
				return !mapping.LabelScheme{Card: "card/{value}"}.IsCardLabel(l) && !mapping.LabelScheme{Card: "no/{value}"}.IsCardLabel(l)
			})
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || fmt.Sprint(numbers) != tt.labels {
				w.fail("%s cost %v and left %v, want %v and %s", tt.what, got, numbers, tt.want, tt.labels)
			}
		}
	})
}
