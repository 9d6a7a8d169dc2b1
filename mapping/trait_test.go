package mapping

import (
	"slices"
	"testing"
	"time"
)

func TestIssueTraits(t *testing.T) {
	born := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	own := IssueTraits("octocat", "A title", born)
	for name, tt := range map[string]struct {
		got    []Trait
		shared int
		all    int
	}{
		"the same":            {IssueTraits("octocat", " A\ttitle", born.In(time.FixedZone("", 3600))), 2, 2},
		"another title":       {IssueTraits("octocat", "Another", born), 1, 2},
		"another time":        {IssueTraits("octocat", "A title", born.Add(time.Second)), 1, 2},
		"another author":      {IssueTraits("hubot", "A title", born), 0, 2},
		"time is not known":   {IssueTraits("octocat", "A title", time.Time{}), 1, 1},
		"title is not known":  {IssueTraits("octocat", " ", born), 1, 1},
		"a title of a moment": {IssueTraits("octocat", "1767323045", time.Time{}), 0, 1},
		"nothing is known":    {IssueTraits("octocat", "", time.Time{}), 0, 0},
	} {
		shared := 0
		for _, trait := range tt.got {
			if len(trait) != traitLen {
				t.Errorf("%s: trait %q", name, trait)
			}
			if slices.Contains(own, trait) {
				shared++
			}
		}
		if shared != tt.shared || len(tt.got) != tt.all {
			t.Errorf("%s: traits %q share %d with %q, want %d", name, tt.got, shared, own, tt.shared)
		}
	}
	if first := IssueTraits("octocat", "", born); own[0] != first[0] {
		t.Errorf("traits %q, want that of the time of creation first", own)
	}
}

func TestTraitsOfALink(t *testing.T) {
	born := time.Unix(1_700_000_000, 0)
	part := func(state LinkState, id int64) *Pair {
		return &Pair{State: state, Issue: IssueID{ID: id, Author: "octocat", Born: born}}
	}
	l := Link{Pair: *part(Linked, 1)}
	l.Base = map[Attribute]Base{Title: {GitHub: "A title", Planning: "Another"}}
	want := IssueTraits("octocat", "A title", born)
	slices.Sort(want)
	l.SubLinks = []*Pair{part(Linked, 2), part(Entering, 3), part(Creating, 0)}
	if got := l.Traits(); !slices.Equal(got, want) {
		t.Errorf("traits %q, want %q: each once, and none of what has not entered", got, want)
	}
	l.State = Entering
	if got := l.Traits(); len(got) != 1 {
		t.Errorf("traits %q of a link that has not entered, want its part's", got)
	}
}
