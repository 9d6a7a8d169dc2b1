package effects

import (
	"context"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// asker is the key for which GitHub is written to.
type asker struct {
	ask      store.Ask                     // the ask of the current step
	reserved map[reconcile.WriteClass]bool // writes reserved in the budget
}

type askerKey struct{}

func askerOf(ctx context.Context) *asker {
	a, _ := ctx.Value(askerKey{}).(*asker)
	return a
}

// AskOf returns the ask for a write to GitHub under ctx. A write outside a key only shows
// planning's state.
func AskOf(ctx context.Context) store.Ask {
	if a := askerOf(ctx); a != nil {
		return a.ask
	}
	return store.Ask{Rank: store.RankShown}
}

// OfKey reports whether ctx belongs to the work on a key, whose lease runs meanwhile.
func OfKey(ctx context.Context) bool { return askerOf(ctx) != nil }

// AnyReserved reports whether a write is reserved under ctx.
func AnyReserved(ctx context.Context) bool {
	a := askerOf(ctx)
	return a != nil && len(a.reserved) > 0
}

// UseReserved reports whether a write of a class is reserved under ctx, and uses the reservation
// up.
func UseReserved(ctx context.Context, class reconcile.WriteClass) bool {
	a := askerOf(ctx)
	if a == nil || !a.reserved[class] {
		return false
	}
	delete(a.reserved, class)
	return true
}

// apart returns a context for a shared act. It keeps the ask of the present step after the key
// went on to another one.
func (h *executor) apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, askerKey{}, &asker{ask: h.ask})
}

// reserve takes a write from GitHub's budget ahead. A key that has to wait for its turn then
// sends GitHub no request.
func (h *executor) reserve(e reconcile.Reserve) error {
	switch {
	case h.reserved[e.Class]:
		return nil
	case h.sharesLabels(e.Sharing) && h.imports() && !e.Sharing.Waited: // the labels of the next seconds share one request
		return &mapping.RateLimited{API: "github", Why: "labels of other issues", Turn: true}
	case h.sharesLabels(e.Sharing):
		return nil
	}
	if !e.Keep {
		h.releaseSlot()
	}
	if err := h.GitHub.Reserve(h.ctx, e.Class); err != nil {
		return err
	}
	h.reserved[e.Class] = true
	return nil
}
