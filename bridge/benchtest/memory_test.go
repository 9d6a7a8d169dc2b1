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

// measureMemory measures the memory of a process that polls a project of a hundred thousand linked
// cards. The process reads every link once, as after a restart of its store. The links are put into
// the store; the cards are shown by a server in this process.
func measureMemory(n *numbers) {
	links := n.scaled(100_000)
	n.t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "planbridge.db")
		n.memory(t, "the file store", "file:"+path, links, func() store.Store { return fileStore(t, path) })
	})
	n.t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t, "--appendonly", "no")
		n.memory(t, "Redis", server.URL, links, func() store.Store { return openRedis(t, server) })
	})
}

// openRedis opens a store of a server.
func openRedis(t testing.TB, server *redistest.Server) store.Store {
	t.Helper()
	s, err := redisstore.Open(t.Context(), redisstore.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (n *numbers) memory(t *testing.T, kind, url string, links int, open func() store.Store) {
	p := newPolledLinks(t, url, "", links, open, func(mapping.ObjectID, store.Store) {})
	peak, began := watchMemory(p.Process), p.planning.backlogs.Load()
	var opened time.Time
	p.world.AwaitWithin("some polls", 4*bridgetest.Patience, func() bool {
		if time.Since(opened) > time.Second {
			openPage(t, p.Process)
			opened = time.Now()
		}
		return p.planning.backlogs.Load() >= began+5
	})
	row := fmt.Sprintf("%d links, polled every 2 s, each looked at once, the page open: memory of the process in MB, on %%s", links)
	n.atMost(row, kind, peak(), 128)
	n.record(fmt.Sprintf(row, kind), "with the program's and the store's pages", memoryOf(p.Process, "VmRSS"), "MB")
}

// polledLinks is a process that polls a project of linked cards.
type polledLinks struct {
	*bridgetest.Process
	world    *bridgetest.TestWorld
	planning *pollBench
}

// untasked are lines of YAML for a route whose cards have no tasks.
const untasked = "    tasks: none\n    tracking_task: false\n"

// newPolledLinks puts links into a store, prepares it, and starts the process. The route has more
// lines of YAML.
func newPolledLinks(t *testing.T, url, route string, links int, open func() store.Store, prepare func(mapping.ObjectID, store.Store)) *polledLinks {
	t.Helper()
	p := new(polledLinks)
	p.world = bridgetest.StartIn(t, bridgetest.Options{Idle: true, Store: url, Poll: 2 * time.Second, CatchUp: 20 * time.Second, Config: func(yaml string) string {
		yaml = strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: 24h", 1)
		_, service, _ := strings.Cut(yaml, "base_url: ")
		service, _, _ = strings.Cut(service, "\n")
		return strings.Replace(yaml, service, p.planning.server.URL, 1) + "    direction: to_planning\n" + route
	}})
	project := mapping.ObjectID(p.world.Project.ID())
	s := open()
	p.planning = newPollBench(t, project, s, links)
	p.planning.poll()
	at, all := time.Now().Add(-time.Hour).UTC().Truncate(time.Second), make([]*mapping.Link, links)
	for i := range all {
		if all[i] = cardLink(i, project, at); route == untasked {
			all[i].Children, all[i].Family = nil, mapping.Family{}
		}
	}
	putLinked(t, s, project, all)
	prepare(project, s)
	err := s.Close()
	if err == nil {
		p.Process, err = bridgetest.NewProcess(p.world.World, t.TempDir(), "links")
	}
	if err == nil {
		p.Lease = usualLease
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
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
		Family:   mapping.Family{Tasks: mapping.TasksSubIssues, Listed: true}, Pair: mapping.Pair{
			State: mapping.Linked, Origin: mapping.GitHub, Nonce: mapping.NewNonce(),
			Issue: mapping.IssueID{ID: int64(1_000_000 + i), Repo: bridgetest.RepoName, RepoID: 1, Number: i + 1, Author: "octocat", UpdatedAt: at, Digest: mapping.NewID()},
			Card:  mapping.CardID{ID: card, CID: int64(i), Bucket: "b1", BucketName: bridgetest.Bucket, Version: 1},
			Base: map[mapping.Attribute]mapping.Base{
				mapping.Title: base(fmt.Sprintf("Card %d, 1", i), 1), mapping.Summary: base(cardText, 3),
				mapping.Estimate: base("3", 1), mapping.State: base(mapping.StateTodo, 0),
			}, Dates: mapping.Dates{Created: at, Synced: at},
		},
	}
}
