package reconcile

import (
	"errors"
	"testing"
	"time"

	"planbridge/mapping"
)

// TestLabelsThatWaitComeTogether: labels that may share a request wait for one common moment,
// whatever limits them. Others wait by themselves.
func TestLabelsThatWaitComeTogether(t *testing.T) {
	turn := mapping.RateLimited{API: "github", After: 1100 * time.Millisecond, Why: "write budget", Turn: true}
	limit := mapping.RateLimited{API: "github", After: time.Minute, Why: "secondary limit", Resource: "graphql"}
	for name, tt := range map[string]struct {
		err    error
		node   string
		after  time.Duration
		spread time.Duration
		waited bool
	}{
		"its turn":            {&turn, "I_7", sharesEvery, 0, true},
		"a limit":             {&limit, "I_7", time.Minute, 0, true},
		"a turn of its own":   {&turn, "", turn.After, 0, false},
		"a limit of its own":  {&limit, "", time.Minute, 7 * time.Second, false},
		"what is no limit":    {errAway, "I_7", 0, 0, false},
		"and none of its own": {errAway, "", 0, 0, false},
	} {
		c := ruleCase{link: func(l *mapping.Link) { l.Shown = &mapping.Shown{} }}
		w := labelProjector(c.work())
		err := w.waitForShare(onGitHub(tt.err), Sharing{Node: tt.node})
		var limited *mapping.RateLimited
		if is := errors.As(err, &limited); is != (tt.after > 0) || is && (limited.After != tt.after || spread(limited) != tt.spread) {
			t.Errorf("%s: it waits by %+v", name, limited)
		}
		if side := (*sideError)(nil); !errors.As(err, &side) { // else the claim ends
			t.Errorf("%s: no side says it: %v", name, err)
		}
		if !errors.Is(err, errShare) || w.link.Shown.Waited != tt.waited {
			t.Errorf("%s: %v, waited %v", name, err, w.link.Shown.Waited)
		}
	}
}
