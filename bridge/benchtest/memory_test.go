//go:build bench

package benchtest_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// measureMemory asks what a process takes that polls a project of a hundred
// thousand linked cards, and looks at every link once, as it does after its
// store was restarted. The links are put into the store; the cards are shown by
// a server in this process.
func measureMemory(n *numbers) {
	links := n.scaled(100_000)
	n.t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "planbridge.db")
		n.memory(t, "the file store", "file:"+path, links, func() store.Store { return fileStore(t, path) })
	})
	n.t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t, "--appendonly", "no")
		n.memory(t, "Redis", server.URL, links, func() store.Store {
			s, err := redisstore.Open(t.Context(), redisstore.Options{URL: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	})
}

func (n *numbers) memory(t *testing.T, kind, url string, links int, open func() store.Store) {
	var planning *pollBench
	w := bridgetest.StartIn(t, bridgetest.Options{Idle: true, Store: url, Poll: 2 * time.Second, CatchUp: 20 * time.Second, Config: func(yaml string) string {
		yaml = strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: 24h", 1)
		_, service, _ := strings.Cut(yaml, "base_url: ")
		service, _, _ = strings.Cut(service, "\n")
		return strings.Replace(yaml, service, planning.server.URL, 1) + "    direction: to_planning\n"
	}})
	project := mapping.ObjectID(w.Project.ID())
	s := open()
	planning = newPollBench(t, project, s, links)
	planning.poll()
	at, all := time.Now().Add(-time.Hour).UTC().Truncate(time.Second), make([]*mapping.Link, links)
	for i := range all {
		all[i] = cardLink(i, project, at)
	}
	putLinked(t, s, project, all)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := bridgetest.NewProcess(w.World, t.TempDir(), "memory")
	if err == nil {
		p.Lease = usualLease
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	peak, began := watchMemory(p), planning.backlogs.Load()
	var opened time.Time
	w.AwaitWithin("some polls", 4*bridgetest.Patience, func() bool {
		if time.Since(opened) > time.Second {
			openPage(t, p)
			opened = time.Now()
		}
		return planning.backlogs.Load() >= began+5
	})
	row := fmt.Sprintf("%d links, polled every 2 s, each looked at once, the page open: memory of the process in MB, on %%s", links)
	n.atMost(row, kind, peak(), 128)
	n.record(fmt.Sprintf(row, kind), "with the program's and the store's pages", memoryOf(p, "VmRSS"), "MB")
}

// openPage reads the status page, as a browser that shows it does. A process that starts
// need not answer yet.
func openPage(t testing.TB, p *bridgetest.Process) {
	t.Helper()
	resp, err := http.Get("http://" + p.Admin + "/")
	if err != nil {
		return
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Log(err)
	}
}

// putLinked makes links of which nothing is to be done: they are due in a day,
// if nothing is seen of them before.
func putLinked(t testing.TB, s store.Store, project mapping.ObjectID, links []*mapping.Link) {
	t.Helper()
	for some := range slices.Chunk(links, 500) {
		obs := make([]store.Observation, len(some))
		for i, l := range some {
			obs[i] = store.Observation{Refs: l.Refs(), Create: l, Delay: 24 * time.Hour}
		}
		if _, err := s.Observe(t.Context(), project, obs); err != nil {
			t.Fatal(err)
		}
	}
}

// cardLink is the link of the card with that index, with its tracking task.
func cardLink(i int, project mapping.ObjectID, at time.Time) *mapping.Link {
	card := cardID(i)
	base := func(value string, version int64) mapping.Base {
		return mapping.Base{GitHub: value, Planning: value, Version: version}
	}
	return &mapping.Link{
		ID: mapping.LinkID(mapping.NewID()), Project: project, Route: bridgetest.RepoName,
		Children: []*mapping.Pair{{Kind: mapping.Tracking, State: mapping.Linked, Nonce: mapping.NewNonce(), Card: mapping.CardID{ID: mapping.ObjectID(taskOf(string(card)))}}},
		Family:   mapping.Family{Tasks: mapping.TasksSubIssues, Listed: true}, Pair: mapping.Pair{State: mapping.Linked, Origin: mapping.GitHub, Nonce: mapping.NewNonce(),
			Issue: mapping.IssueID{ID: int64(1_000_000 + i), Repo: bridgetest.RepoName, RepoID: 1, Number: i + 1, Author: "octocat", UpdatedAt: at, Digest: mapping.NewID()},
			Card:  mapping.CardID{ID: card, CID: int64(i), Bucket: "b1", BucketName: bridgetest.Bucket, Version: 1},
			Base: map[mapping.Attribute]mapping.Base{
				mapping.Title: base(fmt.Sprintf("Card %d, 1", i), 1), mapping.Summary: base(cardText, 3),
				mapping.Estimate: base("3", 1), mapping.State: base(mapping.StateTodo, 0),
			}, Dates: mapping.Dates{Created: at, Synced: at},
		},
	}
}
