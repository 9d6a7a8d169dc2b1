package catchup_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/catchup"
	"planbridge/bridge/guard"
	"planbridge/mapping"
)

// panickyHub is GitHub, on one of whose repositories the program panics.
type panickyHub struct{ catchup.GitHub }

func (h panickyHub) ListIssues(ctx context.Context, repo string, q catchup.Query, page func([]mapping.Issue, time.Time) error) (bool, error) {
	if repo == "acme/bad" {
		panic("a listing")
	}
	return h.GitHub.ListIssues(ctx, repo, q, page)
}

type panickyHooks struct{ *hooks }

func (h panickyHooks) Redeliver(ctx context.Context, owner string, hook, id int64) error {
	if id == 1 {
		panic("a delivery")
	}
	return h.hooks.Redeliver(ctx, owner, hook, id)
}

// TestAPanicOnARepositoryCostsTheCatchUpNoOther, and one on a delivery no other.
func TestAPanicOnARepositoryCostsTheCatchUpNoOther(t *testing.T) {
	redelivering(t, func(w *catchUpWorld, h *hooks) {
		g := guard.New(slog.New(slog.DiscardHandler))
		bad := route("bad", "Bad")
		all := w.options.Routes().All()
		w.options.Routes = func() mapping.Routes {
			list := []mapping.Route{bad}
			for _, r := range all {
				list = append(list, *r)
			}
			return mapping.NewRoutes(list)
		}
		w.options.Guard, w.options.GitHub, w.options.Hooks = g, panickyHub{w.options.GitHub}, panickyHooks{h}
		w.catchUp = w.options.catchUp()
		h.deliver("bad", "issues", false, false)
		h.deliver("good", "issues", false, false)
		if err := w.catchUp.Poll(w.t.Context()); err != nil {
			t.Error(err)
		}
		w.redeliver()
		var names []string
		for _, f := range g.Failures() {
			names = append(names, strings.TrimSpace(f.What+" "+f.Item))
		}
		slices.Sort(names)
		if !slices.Equal(names, []string{"adoption of acme/bad", "redelivery of bad"}) {
			t.Errorf("set aside are %q", names)
		}
		if !slices.Contains(h.asked, "good") || len(w.hub.calls) == 0 {
			t.Errorf("asked for %q, listed %q", h.asked, w.hub.calls)
		}
	})
}
