//go:build bench

package benchtest_test

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/epoch"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
)

// measureLook restarts Redis under a process with a hundred thousand links, none of which
// changed. It asks how long it takes until the process makes things again, and how many keys
// it claims for that. Its cards have no tasks: the tour through the tasks goes on meanwhile, and
// the first sight of a task is news of its link.
func measureLook(n *numbers) {
	links, t := n.scaled(100_000), n.t
	server := redistest.Start(t)
	p := newPolledLinks(t, server.URL, untasked, links, func() store.Store { return openRedis(t, server) }, func(project mapping.ObjectID, s store.Store) {
		now := []byte(epochOf(t, s))
		for space, doc := range map[mapping.ObjectID]string{project: store.DocAdopted, "": store.DocRepositoryAdopted(bridgetest.RepoName)} {
			if err := s.PutDoc(t.Context(), space, doc, now); err != nil {
				t.Fatal(err)
			}
		}
	})
	s := openRedis(t, server)
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // it only reads
	quiet := func() bool {
		doc, err := s.Doc(t.Context(), mapping.ObjectID(p.world.Project.ID()), store.DocAdopted)
		queues, asked := p.Queues(t.Context())
		return err == nil && asked == nil && string(doc) == epochOf(t, s) && len(queues.Projects) == 1 && queues.Projects[0].Oldest.IsZero()
	}
	polls := p.planning.backlogs.Load()
	p.world.AwaitWithin("some polls", 10*time.Minute, func() bool { return p.planning.backlogs.Load() >= polls+2 && quiet() })
	claims := p.claims(t)
	server.Restart()
	began := time.Now()
	p.world.AwaitWithin("the look after a restart of Redis", time.Hour, quiet)
	at := strconv.Itoa(links)
	n.atMost("Redis restarts under %s links: s until all is adopted and nothing is due", at, time.Since(began).Seconds(), 60)
	n.atMost("… keys that are claimed for it, of %s", at, p.claims(t)-claims, 0)
}

func epochOf(t testing.TB, s store.Store) string {
	t.Helper()
	now, err := epoch.Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// claims counts the keys that the process worked.
func (p *polledLinks) claims(t testing.TB) (n float64) {
	t.Helper()
	resp, err := http.Get("http://" + p.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		if !strings.HasPrefix(series, "planbridge_reconcile_total{") {
			continue
		}
		worked, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		n += worked
	}
	return n
}
