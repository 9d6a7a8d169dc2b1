package links_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"planbridge/bridge/clock"
	"planbridge/bridge/links"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// unlisted is a store whose links nobody may list.
type unlisted struct {
	store.Store
	t *testing.T
}

func (u *unlisted) List(context.Context, mapping.ObjectID, string, int) ([]*mapping.Link, string, error) {
	u.t.Error("the links are listed")
	return nil, "", errors.New("not listed")
}

// TestFindByIDListsNothing: items with an id are found by the store's indexes, in any project.
func TestFindByIDListsNothing(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	l := &mapping.Link{
		ID: "l1", Project: "second",
		Children: []*mapping.Pair{{Kind: mapping.Tracking, Card: mapping.CardID{ID: "tracking"}}},
		SubLinks: []*mapping.Pair{{Kind: mapping.SubIssue, Card: mapping.CardID{ID: "sub"}}},
		Pair:     mapping.Pair{State: mapping.Linked, Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12}, Card: mapping.CardID{ID: "card"}},
	}
	if _, err := s.Observe(t.Context(), "second", []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	routes := mapping.NewRoutes([]mapping.Route{{Name: "a", Project: "first"}, {Name: "b", Project: "second"}})
	o := links.New(links.Options{Store: &unlisted{s, t}, Settings: &reconcile.Settings{Routes: routes}})
	for _, name := range []string{"l1", "card", "tracking", "sub", "second/l1"} {
		if got, err := o.Find(t.Context(), name); err != nil || got.ID != "l1" {
			t.Errorf("Find(%q) = %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"issue:7", "acme/web", "none", "first/l1", "second/none"} {
		if got, err := o.Find(t.Context(), name); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Find(%q) = %s, %v", name, fmt.Sprint(got), err)
		}
	}
}

// TestNumberOfSeveralItems: a number that several issues or cards have is no name. The error
// lists those that are.
func TestNumberOfSeveralItems(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	for _, l := range []*mapping.Link{
		{ID: "l1", Project: "first", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 71, Repo: "acme/web", Number: 1}, Card: mapping.CardID{ID: "c1", CID: 7}}},
		{ID: "l2", Project: "second", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 72, Repo: "acme/api", Number: 2}, Card: mapping.CardID{ID: "c2", CID: 7}}},
		{
			ID: "l3", Project: "second", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 73, Repo: "acme/api", Number: 3}, Card: mapping.CardID{ID: "c3", CID: 2}},
			SubLinks: []*mapping.Pair{{Kind: mapping.SubIssue, Issue: mapping.IssueID{ID: 74, Repo: "acme/api", Number: 4}, Card: mapping.CardID{ID: "t4", CID: 9}}},
		},
		{
			ID: "l4", Project: "second", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 75, Repo: "acme/api", Number: 5}, Card: mapping.CardID{ID: "c5", CID: 6}},
			Children: []*mapping.Pair{{Kind: mapping.Tracking, Card: mapping.CardID{ID: "t5", CID: 5}}},
		},
	} {
		if _, err := s.Observe(t.Context(), l.Project, []store.Observation{{Create: l}}); err != nil {
			t.Fatal(err)
		}
	}
	routes := mapping.NewRoutes([]mapping.Route{{Name: "a", Project: "first"}, {Name: "b", Project: "second"}})
	f := links.New(links.Options{Store: s, Settings: &reconcile.Settings{Routes: routes}})
	for name, want := range map[string]string{
		"7":  "7 is ambiguous, name one of these: c1 (the partner of acme/web#1), c2 (the partner of acme/api#2)",
		"#2": "#2 is ambiguous, name one of these: acme/api#2, c3 (the partner of acme/api#3)",
		"5":  "5 is ambiguous, name one of these: acme/api#5, t5 (a task of acme/api#5)",
	} {
		if _, err := f.FindNumbered(t.Context(), name); !errors.Is(err, status.ErrName) || err.Error() != want {
			t.Errorf("%s: %v, expected %s", name, err, want)
		}
	}
	for name, want := range map[string]mapping.LinkID{"1": "l1", "3": "l3", "4": "l3", "#9": "l3"} {
		if l, err := f.FindNumbered(t.Context(), name); err != nil || l.ID != want {
			t.Errorf("%s: %v, %v, expected %s", name, l, err, want)
		}
	}
}
