package bridgetest_test

import (
	"fmt"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/mapping"
	"planbridge/store/redisstore/redistest"
)

// nameless is a GitHub that does not say which account the bridge's token is.
func nameless(status int) githubtest.Options {
	return githubtest.Options{Traits: githubtest.Traits{NoViewer: status}}
}

// TestAccountIsNotNamed: however GitHub refuses, or fails, to name the bridge's account, issues and
// cards are kept the same. People work meanwhile, over restarts too. No item exists twice and no
// text of a person is lost.
func TestAccountIsNotNamed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{403, 500} {
		t.Run(map[int]string{403: "refused", 500: "broken"}[status], func(t *testing.T) {
			t.Parallel()
			p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, GitHub: nameless(status)})
			p.on(20)
			p.restart(func() error { return nil })
			p.on(20)
			stop()
			p.whole()
		})
	}
}

func TestAccountIsNotNamedAndRedisIsEmptied(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: r.URL, GitHub: nameless(404)})
	p.on(10)
	r.Flush()
	p.on(40)
	stop()
	p.whole()
}

// The account that an answer had named is lost with the file.
func TestAccountIsNotNamedAndTheFileIsDeleted(t *testing.T) {
	t.Parallel()
	deletedWhileStopped(t, bridgetest.Options{LeaseTTL: soon, GitHub: nameless(501)})
}

// An idle GitHub, whose lists have not changed since they were read last, is
// looked through once more when the store was lost.
func TestRedisIsEmptiedWhileNothingMoves(t *testing.T) {
	t.Parallel()
	for _, status := range []int{0, 404} {
		r := redistest.Start(t)
		w := start(t, bridgetest.Options{LeaseTTL: soon, Store: r.URL, GitHub: nameless(status)})
		p := newTeam(w, "")
		w.AwaitSettled()
		p.make(2)
		p.whole()
		p.restart(func() error { return nil }) // whose lists show what is there now
		w.AwaitSettled()
		r.Flush()
		w.Await("the links are restored", func() bool {
			linked := 0
			for n := range 4 {
				if l, err := w.App.Operator().Find(t.Context(), fmt.Sprintf("acme/web#%d", n+1)); err == nil && l.State == mapping.Linked {
					linked++
				}
			}
			return linked == 4
		})
		p.act()
		p.act()
		p.whole()
	}
}
