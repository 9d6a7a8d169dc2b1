package pairing_test

import (
	"context"
	"testing"

	"planbridge/bridge/clock"
	"planbridge/bridge/links"
	"planbridge/bridge/pairing"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// both are the services, with one open issue and one card.
type both struct{ body string }

func (both) Ready(context.Context) error { return nil }

func (b both) Issue(_ context.Context, repo string, number int) (mapping.Issue, error) {
	return mapping.Issue{ID: 7, Repo: repo, Number: number, Body: b.body, State: "open"}, nil
}

func (both) Card(context.Context, mapping.ObjectID, mapping.ObjectID) (mapping.Card, error) {
	return mapping.Card{ID: "card"}, nil
}

// idle is the queue of no service.
type idle struct{}

func (idle) Kick() {}

var keys = mapping.NewKeys([]byte("a key that nobody knows, of some length"))

// over is the pairing of a store, with an issue of that body.
func over(s store.Store, body string) *pairing.Pairing {
	set := &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "web", Repositories: []string{"acme/web"}, Project: "p", Authors: mapping.AuthorsAny}}), Keys: keys}
	return pairing.New(pairing.Options{
		Store: s, Settings: set, Services: both{body}, Finder: links.New(links.Options{Store: s, Settings: set}),
		Holder: links.Holder{Store: s, Clock: clock.Runtime{}}, Queue: idle{}, Clock: clock.Runtime{},
	})
}

// given is the pairing of a store with one link, whose issue is acme/web#12.
func given(t *testing.T, l *mapping.Link) (*pairing.Pairing, func() *mapping.Link) {
	t.Helper()
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	l.ID, l.Project, l.Issue, l.Card = "l1", "p", mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12}, mapping.CardID{ID: "card"}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	p := over(s, "")
	return p, func() *mapping.Link {
		now, err := s.Link(t.Context(), store.Key{Project: "p", Link: "l1"})
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
}

// TestUnlinkEndsTakingApart: a pair that was to be taken apart and was given up is unlinked.
func TestUnlinkEndsTakingApart(t *testing.T) {
	p, link := given(t, &mapping.Link{Pair: mapping.Pair{State: mapping.Linked}, Cleaning: true})
	if err := p.Unlink(t.Context(), "l1"); err != nil {
		t.Fatal(err)
	}
	if l := link(); l.Cleaning || !l.Parted {
		t.Errorf("cleaning %v, parted %v", l.Cleaning, l.Parted)
	}
}

// TestLinkEndsTakingApart: a pair that is linked again is not taken apart.
func TestLinkEndsTakingApart(t *testing.T) {
	p, link := given(t, &mapping.Link{Pair: mapping.Pair{State: mapping.Dormant}, Parted: true, Cleaning: true})
	if _, err := p.Link(t.Context(), "acme/web#12", "card"); err != nil {
		t.Fatal(err)
	}
	if l := link(); l.Cleaning || l.Parted || l.State != mapping.Linked {
		t.Errorf("%s, cleaning %v, parted %v", l.State, l.Cleaning, l.Parted)
	}
}

// TestALostPairIsLinked: the store lost a pair, and an operator links it. The item that planbridge
// made keeps its marker: of an issue that it made for this card the origin is planning.
func TestALostPairIsLinked(t *testing.T) {
	for name, c := range map[string]struct {
		kind    mapping.MarkerKind
		partner string
		want    mapping.Side
	}{
		"planbridge made the issue":           {mapping.MarkIssue, "card", mapping.Planning},
		"it made the issue for another card":  {mapping.MarkIssue, "other", mapping.GitHub},
		"it made the issue for a task":        {mapping.MarkSubIssue, "card", mapping.GitHub},
		"people made the issue, and the card": {"", "", mapping.GitHub},
	} {
		t.Run(name, func(t *testing.T) {
			s, body := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil), "What to do"
			if c.kind != "" {
				body = keys.AppendComment(body, mapping.Marker{Kind: c.kind, Link: "00000000000000aa", Nonce: "00000000000000bb", Partner: c.partner})
			}
			l, err := over(s, body).Link(t.Context(), "acme/web#12", "card")
			if err != nil {
				t.Fatal(err)
			}
			if l.Origin != string(c.want) {
				t.Errorf("the origin is %s, want %s", l.Origin, c.want)
			}
		})
	}
}

// TestTheOriginOfAPairThatIsLinkedAgain: the item that planbridge made keeps its marker, also where
// the pair was erased, or was parted and gets another card.
func TestTheOriginOfAPairThatIsLinkedAgain(t *testing.T) {
	marked := func(partner string) string {
		return keys.AppendComment("What to do", mapping.Marker{Kind: mapping.MarkIssue, Link: "00000000000000aa", Nonce: "00000000000000bb", Partner: partner})
	}
	for name, c := range map[string]struct {
		state  mapping.LinkState
		origin mapping.Side
		card   mapping.ObjectID // that the pair had
		body   string
		want   mapping.Side
	}{
		"erased, planbridge made the issue":                {mapping.Erased, mapping.Planning, "card", marked("card"), mapping.Planning},
		"erased, and the issue has no marker any more":     {mapping.Erased, mapping.Planning, "card", "", mapping.Planning},
		"erased, planbridge made the card":                 {mapping.Erased, mapping.GitHub, "card", "", mapping.GitHub},
		"another card, for which planbridge made it":       {mapping.Dormant, mapping.GitHub, "other", marked("card"), mapping.Planning},
		"another card, and planbridge made it for a third": {mapping.Dormant, mapping.Planning, "other", marked("other"), mapping.GitHub},
		"another card, of people":                          {mapping.Dormant, mapping.GitHub, "other", "", mapping.GitHub},
	} {
		t.Run(name, func(t *testing.T) {
			s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
			l := &mapping.Link{ID: "l1", Project: "p", Parted: true, Pair: mapping.Pair{
				State: c.state, Origin: c.origin, Nonce: "00000000000000bb", Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12}, Card: mapping.CardID{ID: c.card},
			}}
			if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: l}}); err != nil {
				t.Fatal(err)
			}
			got, err := over(s, c.body).Link(t.Context(), "acme/web#12", "card")
			if err != nil {
				t.Fatal(err)
			}
			if got.Origin != string(c.want) || got.State != string(mapping.Linked) {
				t.Errorf("it is %s, its origin %s, want %s", got.State, got.Origin, c.want)
			}
		})
	}
}

// TestTheFormerCardStaysApart: an issue that was parted gets another card. Its former card does not
// enter again, and may be linked with another issue.
func TestTheFormerCardStaysApart(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	l := &mapping.Link{ID: "l1", Project: "p", Route: "web", Parted: true, Pair: mapping.Pair{
		State: mapping.Dormant, Origin: mapping.GitHub, Nonce: "00000000000000bb", Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12}, Card: mapping.CardID{ID: "former"},
	}}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	if _, err := over(s, "").Link(t.Context(), "acme/web#12", "card"); err != nil {
		t.Fatal(err)
	}
	key, held, err := store.FindIn(t.Context(), s, []mapping.ObjectID{"p"}, mapping.CardRef("former"))
	if err != nil || !held || key.Link == "l1" {
		t.Fatalf("its former card is held: %v, by %s (%v)", held, key, err)
	}
	apart, err := s.Link(t.Context(), key)
	if err != nil || apart.State != mapping.Dormant || !apart.Parted || apart.Card.ID != "former" {
		t.Errorf("it is %+v (%v)", apart, err)
	}
}
