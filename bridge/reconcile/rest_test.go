package reconcile

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// TestRestOf has a row for each way in which the work on a key ends. Each error comes as
// the work wraps it.
func TestRestOf(t *testing.T) {
	why := func(err error) string { return "reconcile acme/web#1: " + err.Error() }
	away := fmt.Errorf("read card: %w", mapping.ErrUnavailable)
	limited := &mapping.RateLimited{After: time.Minute, Why: "too many"}
	broken := &mapping.BrokenError{Invariant: "items", Err: errors.New("twice")}
	stranger := &mapping.StrangerError{Repo: "acme/web"}
	on := situation{project: "p"}
	unmade, over := on, on
	unmade.unmade, over.over = true, true
	down := on
	down.down = func(service string) bool { return service == ServiceGitHub }
	for name, tt := range map[string]struct {
		err  error
		in   situation
		want Rest
	}{
		"agreed":                {nil, over, Rest{Kind: RestAgreed}},
		"the lease was lost":    {store.ErrLeaseLost, over, Rest{Kind: RestLost}},
		"another epoch":         {errors.Join(errRemove, store.ErrEpoch), on, Rest{Kind: RestLost}},
		"an invariant":          {errors.Join(broken, later(0, "soon")), on, Rest{Kind: RestParked, Why: why(errors.Join(broken, later(0, "soon")))}},
		"does not enter":        {errRemove, on, Rest{Kind: RestRemoved}},
		"another link's, fresh": {store.ErrConflict, unmade, Rest{Kind: RestRemoved, Why: why(store.ErrConflict)}},
		"another link's":        {store.ErrConflict, on, Rest{Kind: RestFailed, Why: why(store.ErrConflict)}},
		"later":                 {later(time.Second, "w"), over, Rest{Kind: RestPutOff, After: time.Second, Why: "w"}},
		"folded":                {&requeueAfter{after: time.Second, why: "w", quiet: true, turn: true}, on, Rest{Kind: RestInTurn, After: time.Second, Why: "w", Quiet: true}},
		"in turn":               {inTurn(time.Second, "w"), on, Rest{Kind: RestInTurn, After: time.Second, Why: "w"}},
		"public":                {&publicError{repo: "acme/web"}, on, Rest{Kind: RestParked, Why: "acme/web" + isPublic}},
		"perhaps public":        {&publicError{"acme/web", true}, on, Rest{Kind: RestInTurn, After: untoldWait, Why: "acme/web" + isUntold}},
		"another repository":    {stranger, on, Rest{Kind: RestBlocked, Service: ServiceRepository("acme/web"), Why: why(stranger)}},
		"untitled":              {errUntitled, on, Rest{Kind: RestParked, Why: why(errUntitled)}},
		"waits":                 {&blockedOn{"s", "w"}, over, Rest{Kind: RestBlocked, Service: "s", Why: "w"}},
		"its time is over":      {onPlanning(away), over, Rest{Kind: RestInTurn, Why: "handed back", Quiet: true}},
		"limited":               {onGitHub(limited), down, Rest{Kind: RestLimited, After: time.Minute, Spread: 7 * time.Second, Why: limited.Reason()}},
		"limited, at its turn":  {&mapping.RateLimited{After: time.Minute, Turn: true}, on, Rest{Kind: RestLimited, After: time.Minute, Why: "its turn has not come: "}},
		"answers each other":    {errRunaway, on, Rest{Kind: RestHeld, Why: why(errRunaway)}},
		"unauthorised":          {onPlanning(mapping.ErrUnauthorized), on, Rest{Kind: RestBlocked, Service: ServicePlanning("p"), Why: why(mapping.ErrUnauthorized)}},
		"down":                  {onGitHub(away), down, Rest{Kind: RestBlocked, Service: ServiceGitHub, Why: why(away)}},
		"one answer":            {onPlanning(away), down, Rest{Kind: RestFailed, Service: ServicePlanning("p"), Why: why(away)}},
		"down, nobody says so":  {onGitHub(away), on, Rest{Kind: RestFailed, Service: ServiceGitHub, Why: why(away)}},
		"anything else":         {errors.New("odd"), on, Rest{Kind: RestFailed, Why: why(errors.New("odd"))}},
	} {
		err := tt.err
		if err != nil {
			err = fmt.Errorf("reconcile acme/web#1: %w", err)
		}
		got := restOf(err, tt.in)
		if failed := got.Kind == RestFailed || got.Kind == RestHeld || got.Kind == RestParked || got.Kind == RestLost || got.Kind == RestPutOff; failed && got.Err == nil {
			t.Errorf("%s: no error is told", name)
		}
		got.Err = nil
		if tt.want.Kind == RestLost {
			tt.want.Why = got.Why
		}
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// TestFailing: a key waits for another attempt after a failure, or for its turn.
func TestFailing(t *testing.T) {
	for s, want := range map[store.Standing]bool{
		{State: store.KeyLater, Reason: "its turn comes"}:                                                 false,
		{State: store.KeyLater, Reason: "update card: forbidden", Attempts: 1}:                            true,
		{State: store.KeyLater, Reason: "labels in acme/web cannot be shown: add labels: forbidden"}:      true,
		{State: store.KeyWaiting, Service: ServiceGitHub, Reason: "read issue: unavailable"}:              false,
		{State: store.KeyWaiting, Service: ServicePlanning("p"), Reason: "update card: unauthorized (…)"}: true,
		{State: store.KeyWaiting, Service: ServicePaused("web"), Reason: "its route is paused"}:           false,
		{State: store.KeyDue, Attempts: 3}:                                                                false,
	} {
		if got := Failing(&s); got != want {
			t.Errorf("%+v: %t", s, got)
		}
	}
}
