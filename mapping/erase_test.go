package mapping_test

import (
	"testing"
	"time"

	"planbridge/mapping"
)

func TestConflictExpires(t *testing.T) {
	now := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	old, young := now.Add(-time.Second), now.Add(time.Second)
	for name, tt := range map[string]struct {
		c    mapping.Conflict
		want bool
	}{
		"old":                          {mapping.Conflict{State: mapping.ConflictSettled, At: old}, true},
		"old, met again before":        {mapping.Conflict{State: mapping.ConflictSettled, At: old, Again: old, Settled: old}, true},
		"undone":                       {mapping.Conflict{State: mapping.ConflictUndone, At: old, Settled: old}, true},
		"erased":                       {mapping.Conflict{State: mapping.ConflictErased, At: old}, true},
		"young":                        {mapping.Conflict{State: mapping.ConflictSettled, At: young}, false},
		"at that time":                 {mapping.Conflict{State: mapping.ConflictSettled, At: now}, false},
		"old, met again since":         {mapping.Conflict{State: mapping.ConflictSettled, At: old, Again: young}, false},
		"old, answered since":          {mapping.Conflict{State: mapping.ConflictSettled, At: old, Settled: young}, false},
		"old, undone since":            {mapping.Conflict{State: mapping.ConflictUndone, At: old, Settled: young}, false},
		"unanswered":                   {mapping.Conflict{State: mapping.ConflictOpen, At: old}, false},
		"answered and not carried out": {mapping.Conflict{State: mapping.ConflictAnswered, At: old}, false},
	} {
		if got := tt.c.Expired(now); got != tt.want {
			t.Errorf("%s: Expired = %v, want %v", name, got, tt.want)
		}
	}
}
