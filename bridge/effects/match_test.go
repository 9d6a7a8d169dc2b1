package effects

import (
	"errors"
	"fmt"
	"testing"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// The answer to a batch is matched by markers, whatever its order.
func TestDeal(t *testing.T) {
	keys := mapping.NewKeys([]byte("0123456789abcdef0123456789abcdef"))
	card := func(id mapping.ObjectID, link mapping.LinkID) mapping.Card {
		m := mapping.Marker{Kind: mapping.MarkCard, Link: link, Nonce: "n", Partner: "1"}
		return mapping.Card{ID: id, Summary: mapping.Versioned{Value: keys.AppendFooter("text", m, "acme/web", 1, "https://github.com/acme/web/issues/1")}}
	}
	for name, tt := range map[string]struct {
		cards []mapping.Card
		err   error
		want  string
		is    error // the error of a member without a card
	}{
		"in another order": {[]mapping.Card{card("c2", "l2"), card("c1", "l1")}, nil, "c1 c2", nil},
		"a part":           {[]mapping.Card{card("c2", "l2")}, fmt.Errorf("cut: %w", mapping.ErrUncertain), " c2", mapping.ErrUncertain},
		"a stranger":       {[]mapping.Card{card("c9", "l9"), {ID: "c8"}, card("c1", "l1")}, nil, "c1 ", mapping.ErrUncertain},
		"refused":          {nil, &mapping.Rejection{Message: "no"}, " ", errRefusedBatch},
		"away":             {nil, mapping.ErrUnavailable, " ", mapping.ErrUnavailable},
	} {
		members := []*batched{{link: "l1", keys: keys}, {link: "l2", keys: keys}}
		matchByMarker(members, tt.cards, tt.err)
		if got := fmt.Sprintf("%s %s", members[0].card.ID, members[1].card.ID); got != tt.want {
			t.Errorf("%s: cards %q, want %q", name, got, tt.want)
		}
		for _, m := range members {
			if m.card.ID == "" && !errors.Is(m.err, tt.is) || m.card.ID != "" && m.err != nil {
				t.Errorf("%s: %+v", name, m.err)
			}
			if errors.Is(m.err, errRefusedBatch) && reconcile.Certain(m.err) {
				t.Errorf("%s: a refused batch is taken for certain", name)
			}
		}
	}
}
