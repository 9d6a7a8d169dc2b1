//go:build bench

package benchtest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// measureCalls counts the calls of changes and of idle polls with one, a
// hundred and ten thousand links.
func measureCalls(n *numbers) {
	for _, links := range []int{1, 100, 10_000} {
		if links > 100 {
			links = max(n.scaled(links), 200)
		}
		n.t.Run(fmt.Sprint("links=", links), func(t *testing.T) {
			part := numbers{t: t, size: n.size}
			w := imported(t, links)
			part.calls(w, links)
			n.Rows, n.Raw = append(n.Rows, part.Rows...), append(n.Raw, part.Raw...)
		})
	}
}

func (n *numbers) calls(w *bridgetest.TestWorld, links int) {
	edits := min(links, 20)
	cards := map[string]string{}
	for _, c := range w.Project.Cards() {
		cards[c.Title] = c.ID
	}
	card := func(number int) string { return cards[fmt.Sprintf("old %d", number)] }
	w.AwaitWithin("the labels of the import", 4*bridgetest.Patience, func() bool {
		for i := range edits {
			if len(w.Repo.Issue(i+1).Labels) == 0 {
				return false
			}
		}
		return true
	})
	w.AwaitSettled()
	each := func(calls int) float64 { return float64(calls) / float64(edits) }
	at := strconv.Itoa(links)

	github, planning := w.Spent(func() {
		for i := range edits {
			w.Repo.Edit(i+1, "octocat", func(e *githubtest.IssueEdit) { e.Title = fmt.Sprintf("GitHub's %d", i+1) })
		}
	}, func() bool { return w.Project.Card(card(edits)).Title == fmt.Sprintf("GitHub's %d", edits) })
	n.atMost("planning calls per GitHub edit, %s links", at, each(planning.Sum(bridgetest.AnyCall)), 1)
	n.atMost("GitHub reads per GitHub edit, %s links", at, each(github.Sum(bridgetest.Reads)), 0)

	github, planning = w.Spent(func() {
		for i := range edits {
			w.Project.EditCard(card(i+1), "alice", func(e *planningtest.CardEdit) { e.Title = fmt.Sprintf("planning's %d", i+1) })
		}
	}, func() bool { return w.Repo.Issue(edits).Title == fmt.Sprintf("planning's %d", edits) })
	n.atMost("GitHub calls per planning edit, %s links", at, each(github.Sum(bridgetest.AnyCall)), 2)
	n.atMost("planning calls per planning edit, %s links", at, each(planning.Sum(bridgetest.AnyCall)), 0)

	n.idle(w, at)
}

// idle counts what is asked while nothing happens: once GitHub's lists are
// listed no more, which is a minute and github.settle after the last change.
func (n *numbers) idle(w *bridgetest.TestWorld, at string) {
	began := time.Now()
	w.AwaitWithin("the catch-up comes to rest", 4*bridgetest.Patience, func() bool {
		lists := 0
		for _, c := range slices.Backward(w.GitHub.Journal()) {
			switch {
			case c.Op != "issues.list":
			case c.Status != http.StatusNotModified:
				return false
			default:
				if lists++; lists == 3 {
					return true
				}
			}
		}
		return false
	})
	n.record(at+" links", "until the catch-up is at rest", time.Since(began).Seconds(), "s")
	w.GitHub.ResetJournal()
	w.Planning.ResetJournal()
	w.AwaitWithin("polls", 4*bridgetest.Patience, func() bool {
		return w.Planning.Calls(planningtest.OpBacklogItems) > 10 && w.GitHub.Calls("issues.list") > 2
	})
	polls, other := w.Planning.Calls(planningtest.OpBacklogItems), 0
	for _, c := range w.GitHub.Journal() {
		if c.Status != http.StatusNotModified {
			other++
			n.t.Logf("while idle GitHub answered %s with %d", c.Op, c.Status)
		}
	}
	n.atMost("planning calls per idle poll without sprints, %s links", at, float64(len(w.Planning.Journal())/polls), 2)
	n.atMost("GitHub's answers but 304 while idle, %s links", at, float64(other), 0)
}

// measureStore asks Redis what a link takes, by the size of its body.
func measureStore(n *numbers) {
	for _, size := range []int{1024, 102, 16 << 10} {
		const first = 1000 // until every shard of the index is there
		r := rand.New(rand.NewPCG(uint64(size), 1))
		server := redistest.Start(n.t, "--appendonly", "no")
		s, err := redisstore.Open(n.t.Context(), redisstore.Options{URL: server.URL})
		if err != nil {
			n.t.Fatal(err)
		}
		links := max(n.scaled(2000), 200)
		n.putLinks(s, r, first, size)
		before := dataset(n.t, server)
		n.putLinks(s, r, links, size)
		each := (dataset(n.t, server) - before) / float64(links)
		at := fmt.Sprintf("%.2g", float64(size)/1024)
		if size == 1024 {
			n.atMost("Redis bytes per link of a body of %s KiB", at, each, 2048)
		} else {
			n.shown("… of a body of %s KiB", at, figure(each))
		}
		n.record("link of a body of "+at+" KiB", "used_memory_dataset", each, "bytes")
		if err := s.Close(); err != nil {
			n.t.Error(err)
		}
	}
}

func dataset(t testing.TB, server *redistest.Server) float64 {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer c.Close() //nolint:errcheck // nothing was written
	info, err := c.InfoMap(t.Context(), "memory").Result()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseFloat(info["Memory"]["used_memory_dataset"], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// words are what bodies are made of.
var words = strings.Fields(`the to and a in of is that it for on when with we not be this error as user have from page should
after can if request are by an but get button which one server there all time message at does file click so no list or only
version test open value show data will was login use new change default has response window set browser expected log please
update save add type still field work some before would see setting name instead wrong issue number returns you your retry two
been other where first now without service config cannot line text large need sometimes object image timeout during connection
customer again report database steps dialog missing run following table release correctly session load because device build`)

// prose is text that compresses about as text does.
func prose(r *rand.Rand, size int) string {
	zipf := rand.NewZipf(r, 1.1, 12, uint64(len(words)-1))
	var b strings.Builder
	for b.Len() < size {
		switch r.IntN(20) {
		case 0:
			fmt.Fprintf(&b, "`%x` ", r.Uint32())
		default:
			b.WriteString(words[zipf.Uint64()] + " ")
		}
	}
	return b.String()[:size]
}

func objectID(r *rand.Rand) mapping.ObjectID {
	return mapping.ObjectID(fmt.Sprintf("%012x%012x", r.Uint64()>>16, r.Uint64()>>16))
}

// putLinks stores links as they are after their first delivery was worked.
func (n *numbers) putLinks(s store.Store, r *rand.Rand, many, size int) {
	n.t.Helper()
	var obs []store.Observation
	for range many {
		body, title, at := prose(r, size), prose(r, 50), time.Unix(1_770_000_000+r.Int64N(1e7), 0).UTC()
		l := &mapping.Link{
			ID: mapping.LinkID(mapping.NewID()), Project: intakeProject, Route: bridgetest.RepoName,
			Children: []*mapping.Pair{{Kind: mapping.Tracking, State: mapping.Linked, Nonce: mapping.NewNonce(), Card: mapping.CardID{ID: objectID(r)}}},
			Epoch:    mapping.DigestText("epoch"), Pair: mapping.Pair{
				State: mapping.Linked, Origin: mapping.GitHub, Nonce: mapping.NewNonce(),
				Issue: mapping.IssueID{
					ID: r.Int64N(1 << 31), NodeID: "I_kwDOA" + mapping.NewID()[:10], Repo: bridgetest.RepoName, RepoID: 123456789,
					Number: r.IntN(20000), Author: "octocat", UpdatedAt: at, Digest: mapping.NewID(),
				},
				Card: mapping.CardID{ID: objectID(r), CID: r.Int64N(20000), Bucket: "5474406", BucketName: "Incoming", Version: 12, CountersVersion: 9},
				Base: map[mapping.Attribute]mapping.Base{
					mapping.Title:    {GitHub: title, Planning: title, Version: 1},
					mapping.Summary:  {GitHub: body, Planning: body + "\n\n[acme/web#12](https://github.com/acme/web/issues/12#" + mapping.NewID() + mapping.NewID() + ")", Version: 12},
					mapping.Estimate: {GitHub: "3", Planning: "3", Version: 1},
					mapping.State:    {GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: 3},
				}, Dates: mapping.Dates{Created: at, Synced: at.Add(time.Hour)},
			},
		}
		obs = append(obs, store.Observation{Delivery: mapping.NewID(), Refs: l.Refs(), Create: l, Item: l.Refs()[0], At: 1, Digest: "d", Data: []byte(body)})
	}
	for some := range slices.Chunk(obs, 200) {
		if _, err := s.Observe(n.t.Context(), intakeProject, some); err != nil {
			n.t.Fatal(err)
		}
	}
	history := []mapping.Entry{
		{At: time.Now(), Side: mapping.Planning, What: "create", Why: "entered by its webhook", Delivery: mapping.NewID()},
		{At: time.Now(), Side: mapping.Planning, Attribute: mapping.Summary, What: "write", Why: "changed on GitHub", Delivery: mapping.NewID()},
	}
	for {
		c, _, err := s.Claim(n.t.Context(), intakeProject, time.Minute)
		if err != nil {
			n.t.Fatal(err)
		}
		if c == nil {
			return
		}
		if err := s.Finish(n.t.Context(), c, c.Link, history, store.Outcome{}); err != nil {
			n.t.Fatal(err)
		}
	}
}
