package mapping

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// spare returns a list that has room for more, as one that grew by appending.
func spare[T any](list ...T) []T { return append(make([]T, 0, len(list)+8), list...) }

// TestTwoCopiesGrowApart has a row for each list that copies of a record share. An addition to one
// copy does not show in the other one.
func TestTwoCopiesGrowApart(t *testing.T) {
	for name, grow := range map[string]func() (first, second any){
		"tasks that are forgotten": func() (any, any) {
			one := Family{Forgotten: spare[ObjectID]("a")}
			other := one
			one.Forget([]ObjectID{"first"})
			other.Forget([]ObjectID{"second"})
			return one.Forgotten[1], other.Forgotten[1]
		},
		"issues that were transferred": func() (any, any) {
			one := Pair{Issue: IssueID{ID: 2}, Transfer: Transfer{Former: spare[int64](1)}}
			other := one
			other.Issue.ID = 3
			one.MoveTo(IssueID{ID: 9})
			other.MoveTo(IssueID{ID: 9})
			return one.Former[1] == 2, other.Former[1] != 3
		},
		"sides that were written": func() (any, any) {
			one := Exchange{Wrote: map[Side]time.Time{GitHub: at(1)}}
			other := one
			one.Answer(GitHub, at(2))
			return one.Wrote[GitHub].Equal(at(2)), !other.Wrote[GitHub].Equal(at(1))
		},
	} {
		if first, second := grow(); first == second {
			t.Errorf("%s: both copies have %v", name, first)
		}
	}
}

// TestRecallLeavesTheListAlone: a copy of the record still has the task that was recalled.
func TestRecallLeavesTheListAlone(t *testing.T) {
	f := Family{Forgotten: []ObjectID{"a", "b", "c"}}
	copied := f
	f.Recall("a")
	if !slices.Equal(copied.Forgotten, []ObjectID{"a", "b", "c"}) || !slices.Equal(f.Forgotten, []ObjectID{"b", "c"}) {
		t.Errorf("the copy has %v, the family %v", copied.Forgotten, f.Forgotten)
	}
}

// TestKeysAreCopies: a key that its owner overwrites in memory still signs as before.
func TestKeysAreCopies(t *testing.T) {
	secret := []byte("a key of sixteen")
	keys := NewKeys(secret)
	text := keys.Sign(Marker{Kind: MarkIssue, Link: "l", Nonce: "n", Partner: "c"})
	clear(secret)
	if _, ok := keys.Parse(text); !ok {
		t.Error("a marker of the key is none any more")
	}
	if _, ok := NewKeys(secret).Parse(text); ok {
		t.Error("the overwritten key signs the same")
	}
}

// TestNamesOfManyRoutesStay: a line about many routes leaves the list of their names whole.
func TestNamesOfManyRoutesStay(t *testing.T) {
	var c RouteChanges
	for n := range 12 {
		c.Added = append(c.Added, fmt.Sprint("r", n))
	}
	const want = "added r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, 2 more"
	for range 2 {
		if got := c.String(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	if c.Added[10] != "r10" || c.Added[11] != "r11" {
		t.Errorf("the names became %v", c.Added)
	}
}

// TestRouteChangesOfOneAnother: as many routes that came as went are a change, too.
func TestRouteChangesOfOneAnother(t *testing.T) {
	one := []string{"web"}
	for name, tt := range map[string]struct {
		changes RouteChanges
		none    bool
	}{
		"nothing":           {RouteChanges{}, true},
		"one came":          {RouteChanges{Added: one}, false},
		"one went":          {RouteChanges{Removed: one}, false},
		"one for another":   {RouteChanges{Added: one, Removed: one}, false},
		"one has changed":   {RouteChanges{Changed: []RouteChange{{Name: "web"}}}, false},
		"came, and changed": {RouteChanges{Added: one, Changed: []RouteChange{{Name: "api"}}}, false},
		"went, and changed": {RouteChanges{Removed: one, Changed: []RouteChange{{Name: "api"}}}, false},
	} {
		if got := tt.changes.None(); got != tt.none {
			t.Errorf("%s: nothing differs: %t", name, got)
		}
	}
}
