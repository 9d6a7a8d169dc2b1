package effects

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"planbridge/mapping"
)

// shownAt is an issue of a listing. Number 7 has a parent.
func shownAt(number int, updated time.Time) mapping.Issue {
	issue := mapping.Issue{Number: number, UpdatedAt: updated, Parent: mapping.NoParent}
	if number == 7 {
		issue.Parent = "acme/web#6"
	}
	return issue
}

// lists is a function that lists a repository's issues.
type lists func(ctx context.Context, repo string, since time.Time, page func([]mapping.Issue) bool) error

func (l lists) ListSince(ctx context.Context, repo string, since time.Time, page func([]mapping.Issue) bool) error {
	return l(ctx, repo, since, page)
}

// A listing gives each issue that it shows as new as it is known, and no other. It reads only as
// many pages as save requests.
func TestIssuesAreReadTogether(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	pages := [][]mapping.Issue{
		{shownAt(1, noon), shownAt(2, noon.Add(-time.Second)), shownAt(7, noon)},
		{shownAt(3, noon.Add(time.Minute))},
		{shownAt(4, noon)},
	}
	asked, failing := 0, error(nil)
	s := &Shell{Options: Options{Lists: lists(func(_ context.Context, repo string, since time.Time, page func([]mapping.Issue) bool) error {
		if repo != "acme/web" || !since.Equal(noon.Add(-time.Minute)) {
			t.Errorf("listed %s since %v", repo, since)
		}
		for _, p := range pages {
			if asked++; page(p) {
				return nil
			}
		}
		return failing
	})}}
	readListing := func(numbers ...int) (found []bool) {
		var members []*listed
		for _, n := range numbers {
			members = append(members, &listed{number: n, known: noon})
		}
		members[0].known = noon.Add(-time.Minute)
		asked = 0
		s.readListing(t.Context(), "acme/web", members)
		for _, m := range members {
			if m.parentless != (m.found && m.number != 7) {
				t.Errorf("%d is without a parent: %v", m.number, m.parentless)
			}
			found = append(found, m.found)
		}
		return found
	}
	if got := readListing(1, 2, 3, 4); !got[0] || got[1] || got[2] || got[3] || asked != 1 {
		t.Errorf("of four %v after %d pages", got, asked)
	}
	if got := readListing(1, 2, 3, 4, 11, 12, 13, 14, 15, 16); !got[0] || got[1] || !got[2] || got[3] || asked != 2 {
		t.Errorf("of ten %v after %d pages", got, asked)
	}
	if got := readListing(1, 7); !got[0] || !got[1] || asked != 1 {
		t.Errorf("of two %v after %d pages", got, asked)
	}
	if got := readListing(1); got[0] || asked != 0 {
		t.Errorf("a single one: %v after %d pages", got, asked)
	}
	s.Logger, failing = slog.New(slog.DiscardHandler), errors.New("away")
	if got := readListing(1, 3, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40); !got[0] || !got[1] || got[2] {
		t.Errorf("of a listing that broke off: %v", got)
	}
}
