package mapping_test

import (
	"testing"

	"planbridge/mapping"
)

func TestActOf(t *testing.T) {
	s := mapping.LabelScheme{InProgress: "in-progress", Estimate: "points/{value}"}
	for _, tt := range []struct {
		name     string
		a        mapping.Attribute
		from, to string
		want     mapping.Act
	}{
		{"a close", mapping.State, mapping.StateTodo, mapping.StateDone, mapping.Act{Event: "closed"}},
		{"a close of what is being worked on", mapping.State, mapping.StateInProgress, mapping.StateDone, mapping.Act{Event: "closed"}},
		{"a reopening", mapping.State, mapping.StateDone, mapping.StateInProgress, mapping.Act{Event: "reopened"}},
		{"work begins", mapping.State, mapping.StateTodo, mapping.StateInProgress, mapping.Act{Event: "labeled", Label: "in-progress"}},
		{"work ends", mapping.State, mapping.StateInProgress, mapping.StateTodo, mapping.Act{Event: "unlabeled", Label: "in-progress"}},
		{"an estimate", mapping.Estimate, "", "3", mapping.Act{Event: "labeled", Label: "points/3"}},
		{"another estimate", mapping.Estimate, "3", "5", mapping.Act{Event: "labeled", Label: "points/5"}},
		{"no estimate any more", mapping.Estimate, "5", "", mapping.Act{Event: "unlabeled", Label: "points/5"}},
		{"no change", mapping.State, mapping.StateTodo, mapping.StateTodo, mapping.Act{}},
		{"a text", mapping.Title, "a", "b", mapping.Act{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.ActOf(tt.a, tt.from, tt.to)
			if got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if got.Opposite().Opposite() != got {
				t.Errorf("%+v is taken back by %+v, and that by %+v", got, got.Opposite(), got.Opposite().Opposite())
			}
		})
	}
}
