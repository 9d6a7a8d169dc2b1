package operator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"planbridge/bridge/operator"
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

// fixed are settings that no reload replaces.
type fixed struct{ set reconcile.Settings }

func (f *fixed) Settings() *reconcile.Settings { return &f.set }

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
	o := operator.New(operator.Options{Store: &unlisted{s, t}, Settings: &fixed{reconcile.Settings{Routes: routes}}})
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

// TestNumbersNameNothingToChange: the number of a card names its pair for explain alone. What
// parts, erases or cleans a pair takes no number, which may be meant for an issue.
func TestNumbersNameNothingToChange(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: time.Now}).Open(nil)
	l := &mapping.Link{ID: "l1", Project: "p", Route: "a", Pair: mapping.Pair{
		State: mapping.Linked, Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 1}, Card: mapping.CardID{ID: "card", CID: 12},
		Base: map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "A title"}},
	}}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	o := operator.New(operator.Options{Store: s, Settings: &fixed{reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "a", Project: "p"}})}}})
	for _, name := range []string{"12", "#12"} {
		_, erased := o.Erase(t.Context(), status.EraseAsk{Item: name})
		_, clean := o.MayClean(t.Context(), status.CleanAsk{Item: name})
		for what, err := range map[string]error{"unlink": o.Unlink(t.Context(), name), "erase": erased, "clean": clean} {
			if err == nil {
				t.Errorf("%s %s: no error", what, name)
			}
		}
		if got, err := o.FindNumbered(t.Context(), name); err != nil || got.ID != "l1" {
			t.Errorf("FindNumbered(%q) = %+v, %v", name, got, err)
		}
	}
	got, err := s.Link(t.Context(), store.Key{Project: "p", Link: "l1"})
	if err != nil || got.State != mapping.Linked || got.Parted || got.Base[mapping.Title].GitHub != "A title" {
		t.Errorf("the link is changed: %+v, %v", got, err)
	}
}
