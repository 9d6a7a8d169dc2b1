package reconcile_test

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// TestEchoesToldTwice: two webhooks report every edit. A write is made twice, as its answer was
// lost and the read after it lagged. The repeated first echo does not count as the second, which
// ran over an edit.
func TestEchoesToldTwice(t *testing.T) {
	t.Parallel()
	for a, c := range map[mapping.Attribute]struct{ card, issue func(string) string }{
		mapping.Title:   {to("tok9"), to("tok8")},
		mapping.Summary: {line("tok3", "tok3 tok9"), line("tok2", "tok2 tok8")},
	} {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.hub.hooks, w.hub.stale = 2, 5*time.Second
				w.hub.lag = func(int) time.Duration { return 20 * time.Second }
				patches := w.beforeEach("EditIssue", func(n int, meets func(fate)) {
					switch n {
					case 1:
						meets(answerLost)
					case 2:
						w.editIssue(a, c.issue)
					}
				})
				w.editCard(a, c.card)
				w.settle()
				w.verify(ends{conflicts: 1})
				if *patches < 2 {
					w.fail("the write was not repeated")
				}
			})
		})
	}
}
