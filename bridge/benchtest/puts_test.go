//go:build bench

package benchtest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
)

// bare is the peer of the bridge's writes. Its goroutines only make PUTs of the same size to cards
// of a project of their own, on the same service. Their rate is the machine's bound for everybody.
type bare struct {
	w       *workshop
	project *planningtest.Project
	cards   []string
	client  *http.Client
	rounds  int
}

func (w *workshop) newBare(at int) *bare {
	p := w.Planning.AddProject(planningtest.ProjectSpec{Title: "Peer", Members: []string{bridgetest.BridgeUser}, Buckets: []string{bridgetest.Bucket}})
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = at
	w.T.Cleanup(t.CloseIdleConnections)
	return &bare{w: w, project: p, cards: p.AddCards(bridgetest.Bucket, w.issues), client: &http.Client{Transport: t}}
}

// rate makes as many PUTs as there are cards, so many at once, and returns how
// many the service took per second.
func (b *bare) rate(at int) float64 {
	b.w.T.Helper()
	b.rounds++
	b.w.Planning.ResetJournal()
	var next atomic.Int64
	var group sync.WaitGroup
	for range at {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(b.cards); i = int(next.Add(1)) - 1 {
				if err := b.put(i); err != nil {
					b.w.T.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return b.w.written(time.Time{})
}

func (b *bare) put(i int) error {
	body := fmt.Sprintf(`{"title":{"value":"Issue %d, edit %d","version":-1},"username":%q}`, i+1, b.rounds, bridgetest.BridgeUser)
	url := b.w.Planning.URL() + "/api/projects/" + b.project.ID() + "/items/" + b.cards[i]
	req, err := http.NewRequestWithContext(b.w.T.Context(), http.MethodPut, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "secret "+b.project.Secret())
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it is read to its end
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("a bare PUT was answered with %s", resp.Status)
	}
	return nil
}

// written is the rate of the journal's writes to cards per second. It counts from the first to the
// last of those that began since then.
func (w *workshop) written(since time.Time) float64 {
	var first, last time.Time
	many := 0
	for _, c := range w.Planning.Journal() {
		if c.Op != planningtest.OpCardUpdate || c.Time.Before(since) {
			continue
		}
		many++
		if first.IsZero() || c.Time.Before(first) {
			first = c.Time
		}
		if end := c.Time.Add(c.Duration); end.After(last) {
			last = end
		}
	}
	return float64(many) / last.Sub(first).Seconds()
}

// processorTime is what this process has used, the simulators included.
func (w *workshop) processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		w.T.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
