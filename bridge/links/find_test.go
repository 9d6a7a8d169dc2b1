package links_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"planbridge/bridge/links"
	"planbridge/bridge/reconcile"
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

// TestFindByIDListsNothing: what has an id is found by the store's indexes, in whichever
// project it is.
func TestFindByIDListsNothing(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: time.Now}).Open(nil)
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
	for _, name := range []string{"l1", "card", "tracking", "sub"} {
		if got, err := o.Find(t.Context(), name); err != nil || got.ID != "l1" {
			t.Errorf("Find(%q) = %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"issue:7", "acme/web", "none"} {
		if got, err := o.Find(t.Context(), name); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Find(%q) = %s, %v", name, fmt.Sprint(got), err)
		}
	}
}
