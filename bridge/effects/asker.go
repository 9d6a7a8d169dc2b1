package effects

import (
	"context"

	"planbridge/bridge/reconcile"
	"planbridge/store"
)

type askerKey struct{}

func askerOf(ctx context.Context) *hand {
	h, _ := ctx.Value(askerKey{}).(*hand)
	return h
}

// AskOf is the ask for a write to GitHub that is made under ctx. What no key asks for only
// shows planning's state.
func AskOf(ctx context.Context) store.Ask {
	if h := askerOf(ctx); h != nil {
		return h.ask
	}
	return store.Ask{Rank: store.RankShown}
}

// OfKey reports whether what is done under ctx is done for a key, whose lease goes on meanwhile.
func OfKey(ctx context.Context) bool { return askerOf(ctx) != nil }

// Reserved reports whether a write of a class was reserved for what is done under
// ctx, and uses the reservation up.
func Reserved(ctx context.Context, class reconcile.WriteClass) bool {
	h := askerOf(ctx)
	if h == nil || h.reserved[class] == 0 {
		return false
	}
	h.reserved[class]--
	return true
}

// reserve takes a write from GitHub's budget ahead, so that a key that has to wait for its
// turn asks GitHub nothing meanwhile.
func (h *hand) reserve(e reconcile.Reserve) error {
	if h.reserved[e.Class] > 0 {
		return nil
	}
	if !e.Keep {
		h.rise()
	}
	if err := h.GitHub.Reserve(h.ctx, e.Class); err != nil {
		return err
	}
	h.reserved[e.Class]++
	return nil
}
