//go:build bench

package bridgetest_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// measureMemory asks what a process takes that polls a project of a hundred
// thousand linked cards, by its store. The links are put into the store; the
// cards are shown by a server in this process.
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
		n.shown(fmt.Sprintf("%d links: what Redis itself holds", links), fmt.Sprintf("%.0f MB", dataset(t, server)/1e6))
	})
}

func (n *numbers) memory(t *testing.T, kind, url string, links int, open func() store.Store) {
	var planning *pollBench
	w := start(t, bridgetest.Options{Idle: true, Store: url, Poll: 2 * time.Second, CatchUp: 20 * time.Second, Config: func(yaml string) string {
		yaml = strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: 24h", 1)
		_, service, _ := strings.Cut(yaml, "base_url: ")
		service, _, _ = strings.Cut(service, "\n")
		return strings.Replace(yaml, service, planning.server.URL, 1) + "    direction: to_planning\n"
	}})
	project := mapping.ObjectID(w.Project.ID())
	s := open()
	planning = newPollBench(t, project, s, links)
	planning.poll()
	putCardLinks(t, s, project, links)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := newProcess(w.World, t.TempDir(), "memory")
	if err == nil {
		err = p.start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	peak, began := p.watchMemory(), planning.backlogs.Load()
	w.wait("some polls", 4*patience, func() bool { return planning.backlogs.Load() >= began+5 })
	row := fmt.Sprintf("%d links in %s, polled every 2 s: memory of the process", links, kind)
	n.shown(row, fmt.Sprintf("%.0f MB", peak()))
	n.record(row, "with the program's and the store's pages", p.status("VmRSS"), "MB")
}

// putCardLinks links every card of a pollBench with an issue, by the store's
// contract: each link is made, claimed and finished.
func putCardLinks(t *testing.T, s store.Store, project mapping.ObjectID, links int) {
	t.Helper()
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	var obs []store.Observation
	for i := range links {
		l := cardLink(i, project, at)
		obs = append(obs, store.Observation{Refs: l.Refs(), Create: l})
	}
	for some := range slices.Chunk(obs, 500) {
		if _, err := s.Observe(t.Context(), project, some); err != nil {
			t.Fatal(err)
		}
	}
	var working sync.WaitGroup
	for range 32 {
		working.Go(func() {
			for {
				c, _, err := s.Claim(t.Context(), project, time.Minute)
				if err == nil && c != nil {
					err = s.Finish(t.Context(), c, c.Link, nil, store.Outcome{})
				}
				if err != nil {
					t.Error(err)
				}
				if err != nil || c == nil {
					return
				}
			}
		})
	}
	working.Wait()
}

// cardLink is the link of the card with that index, with its tracking task.
func cardLink(i int, project mapping.ObjectID, at time.Time) *mapping.Link {
	card := cardID(i)
	base := func(value string, version int64) mapping.Base {
		return mapping.Base{GitHub: value, Planning: value, Version: version}
	}
	return &mapping.Link{
		ID: mapping.LinkID(mapping.NewID()), Project: project, Route: bridgetest.RepoName, State: mapping.Linked, Origin: mapping.GitHub, Nonce: mapping.NewNonce(),
		Issue: mapping.IssueID{ID: int64(1_000_000 + i), Repo: bridgetest.RepoName, RepoID: 1, Number: i + 1, Author: "octocat", UpdatedAt: at, Digest: mapping.NewID()},
		Card:  mapping.CardID{ID: card, CID: int64(i), Bucket: "b1", BucketName: bridgetest.Bucket, Version: 1},
		Base: map[mapping.Attribute]mapping.Base{
			mapping.Title: base(fmt.Sprintf("Card %d, 1", i), 1), mapping.Summary: base(cardText, 3),
			mapping.Estimate: base("3", 1), mapping.State: base(mapping.StateTodo, 0),
		},
		Children: []mapping.Child{{Kind: mapping.Tracking, State: mapping.Linked, Nonce: mapping.NewNonce(), Task: mapping.ObjectID(taskOf(string(card)))}},
		Created:  at, Synced: at,
	}
}
