package effects

import (
	"context"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// asker is who writes to GitHub: a key.
type asker struct {
	ask      store.Ask                     // of the step that is carried out
	reserved map[reconcile.WriteClass]bool // writes taken from the budget ahead
}

type askerKey struct{}

func askerOf(ctx context.Context) *asker {
	a, _ := ctx.Value(askerKey{}).(*asker)
	return a
}

// AskOf is the ask for a write to GitHub that is made under ctx. What no key asks for only
// shows planning's state.
func AskOf(ctx context.Context) store.Ask {
	if a := askerOf(ctx); a != nil {
		return a.ask
	}
	return store.Ask{Rank: store.RankShown}
}

// OfKey reports whether what is done under ctx is done for a key, whose lease goes on meanwhile.
func OfKey(ctx context.Context) bool { return askerOf(ctx) != nil }

// AnyReserved reports whether a write was reserved for what is done under ctx.
func AnyReserved(ctx context.Context) bool {
	a := askerOf(ctx)
	return a != nil && len(a.reserved) > 0
}

// UseReserved reports whether a write of a class was reserved for what is done under
// ctx, and uses the reservation up.
func UseReserved(ctx context.Context, class reconcile.WriteClass) bool {
	a := askerOf(ctx)
	if a == nil || !a.reserved[class] {
		return false
	}
	delete(a.reserved, class)
	return true
}

// apart is a context for what keys do together. It asks as this step of the key does, also
// when the key has gone on meanwhile.
func (h *hand) apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, askerKey{}, &asker{ask: h.ask})
}

// reserve takes a write from GitHub's budget ahead, so that a key that has to wait for its
// turn asks GitHub nothing meanwhile.
func (h *hand) reserve(e reconcile.Reserve) error {
	switch {
	case h.reserved[e.Class]:
		return nil
	case h.sharesLabels(e.Sharing) && h.imports() && !e.Sharing.Waited: // those of a few seconds come together
		return &mapping.RateLimited{API: "github", Why: "labels of other issues", Turn: true}
	case h.sharesLabels(e.Sharing):
		return nil
	}
	if !e.Keep {
		h.rise()
	}
	if err := h.GitHub.Reserve(h.ctx, e.Class); err != nil {
		return err
	}
	h.reserved[e.Class] = true
	return nil
}
