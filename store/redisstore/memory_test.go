package redisstore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
)

// vocabulary is what issues are written with, the most frequent first.
var vocabulary = strings.Fields(`the to and a in of is that it for on when with we not be this error as user have from page should
after can if request are by an but get button which one server there all time message at does file click so no list or only
version test open value show data will was login use new change default has response window set empty response browser
expected log please update save add type still field work some after before would see setting name instead wrong issue same
number they returns you your retry two been other where first now without service config cannot line text large need sometimes
object image timeout between during connection customer again report database steps dialog missing run following table release
happens correctly session load because device build second might session docker attached screenshot memory every production
module parameter query column warning another update reproduce behaviour authentication thread performance migration deploy
keyboard documentation rounding invoice discount subscription notification calendar accessibility internationalisation`)

// prose makes text of n bytes that compresses worse than real Markdown. A KiB of it takes some 530
// bytes, where a KiB of README files takes 490.
func prose(r *rand.Rand, n int) string {
	zipf := rand.NewZipf(r, 1.1, 12, uint64(len(vocabulary)-1))
	var b strings.Builder
	for b.Len() < n {
		switch r.IntN(20) {
		case 0:
			fmt.Fprintf(&b, "`%x` ", r.Uint32())
		case 1:
			b.WriteString(".\n\n")
		default:
			b.WriteString(vocabulary[zipf.Uint64()] + " ")
		}
	}
	return b.String()[:n]
}

func objectID(r *rand.Rand) mapping.ObjectID {
	return mapping.ObjectID(fmt.Sprintf("%012x%012x", r.Uint64()>>16, r.Uint64()>>16))
}

// typicalLink is a link in its usual state, with a body of 1 KiB.
func typicalLink(r *rand.Rand, project mapping.ObjectID) *mapping.Link {
	body, title := prose(r, 1024), prose(r, 50)
	at := time.Unix(1_770_000_000+r.Int64N(1e7), 0).UTC()
	return &mapping.Link{
		ID: mapping.LinkID(mapping.NewID()), Project: project, Route: "acme/web",
		Children: []*mapping.Pair{{Kind: mapping.Tracking, State: mapping.Linked, Nonce: mapping.NewNonce(), Card: mapping.CardID{ID: objectID(r)}}}, Pair: mapping.Pair{
			State: mapping.Linked, Origin: mapping.GitHub, Nonce: mapping.NewNonce(),
			Issue: mapping.IssueID{
				ID: r.Int64N(1 << 31), NodeID: "I_kwDOA" + mapping.NewID()[:10], Repo: "acme/web", RepoID: 123456789,
				Number: r.IntN(20000), Author: "octocat", Born: at.Add(-time.Hour), UpdatedAt: at, Digest: mapping.NewID(),
			},
			Card: mapping.CardID{ID: objectID(r), CID: r.Int64N(20000), Bucket: "5474406", BucketName: "Incoming", Version: 12, CountersVersion: 9},
			Base: map[mapping.Attribute]mapping.Base{
				mapping.Title:    {GitHub: title, Planning: title, Version: 1},
				mapping.Summary:  {GitHub: body, Planning: body + "\n\n[acme/web#12](https://github.com/acme/web/issues/12#" + mapping.NewID() + mapping.NewID() + ")", Version: 12},
				mapping.Estimate: {GitHub: "3", Planning: "3", Version: 1},
				mapping.State:    {GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: 3},
			},
			Dates: mapping.Dates{Created: at, Synced: at.Add(time.Hour)},
		},
	}
}

func usedMemory(t *testing.T, server *redistest.Server) int {
	t.Helper()
	info, err := client(t, server).Info(t.Context(), "memory").Result()
	must(t, err)
	n, err := strconv.Atoi(parseInfo(info)["used_memory_dataset"])
	must(t, err)
	return n
}

// TestMeasuredMemoryPerLink: a further link of a 1 KiB body takes at most 2 KiB of Redis's memory.
// That includes its indexes, its history and the delivery that made it.
func TestMeasuredMemoryPerLink(t *testing.T) {
	const first, links, goal = 3000, 2000, 2048
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	server := redistest.Start(t, "--appendonly", "no")
	s := open(t, Options{URL: server.URL})
	for range first { // until every shard of the index is there
		worked(t, s, r)
	}
	before := usedMemory(t, server)
	var key store.Key
	for range links {
		key = worked(t, s, r)
	}
	per := (usedMemory(t, server) - before) / links
	hash, err := client(t, server).MemoryUsage(t.Context(), "planbridge:{"+string(key.Project)+"}:l:"+string(key.Link)).Result()
	must(t, err)
	t.Logf("seed %d: %d bytes per link, %d of them the last link's own key", seed, per, hash)
	if per > goal {
		t.Errorf("seed %d: %d bytes per link, want at most %d", seed, per, goal)
	}
}

// worked makes a typical link and takes it through its first delivery.
func worked(t *testing.T, s *Store, r *rand.Rand) store.Key {
	t.Helper()
	l := typicalLink(r, "54744060c955ca8169c61ee6")
	key := store.Key{Project: l.Project, Link: l.ID}
	o := store.Observation{
		Delivery: mapping.NewID(), Refs: l.Refs(), Create: l,
		Item: l.Refs()[0], At: 1, Digest: "d", Data: []byte(l.Base[mapping.Summary].GitHub),
	}
	_, err := s.Observe(t.Context(), l.Project, []store.Observation{o})
	must(t, err)
	c, err := s.ClaimKey(t.Context(), key, time.Minute)
	must(t, err)
	must(t, s.Finish(t.Context(), c, c.Link, []mapping.Entry{
		{At: l.Created, Side: mapping.Planning, What: "create", Why: "entered by its webhook", Delivery: mapping.NewID()},
		{At: l.Synced, Side: mapping.Planning, Attribute: mapping.Summary, What: "write", Why: "changed on GitHub", Delivery: mapping.NewID()},
	}, store.Outcome{}))
	return key
}

func BenchmarkObserve(b *testing.B) {
	s := open(b, Options{URL: redistest.Start(b).URL})
	r := rand.New(rand.NewPCG(1, 1))
	body := []byte(prose(r, 4096))
	ref := mapping.IssueRef(1)
	l := &mapping.Link{ID: "l", Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 1}}}
	var n int64
	for b.Loop() {
		n++
		o := store.Observation{Delivery: fmt.Sprint(n), Refs: []mapping.Ref{ref}, Create: l, Item: ref, At: n, Data: body}
		if _, err := s.Observe(b.Context(), "p", []store.Observation{o}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWaitingEventsAreNotWrittenAgain: a key that waits with many events costs the
// log as much for the next one as a key that waits with none.
func TestWaitingEventsAreNotWrittenAgain(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	rdb := client(t, server)
	size := func() int {
		n, err := strconv.Atoi(parseInfo(rdb.Info(t.Context(), "persistence").Val())["aof_current_size"])
		must(t, err)
		return n
	}
	l := &mapping.Link{ID: "l1", Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 1}}}
	event := bytes.Repeat([]byte("e"), 10_000)
	for i := range 20 {
		_, err := s.Observe(t.Context(), "p", []store.Observation{{Refs: l.Refs(), Create: l, Item: "issue:1", At: int64(i), Data: []byte("x"), Event: event}})
		must(t, err)
	}
	before := size()
	_, err := s.Observe(t.Context(), "p", []store.Observation{{Refs: l.Refs(), Item: "issue:1", At: 20, Data: []byte("x"), Event: event}})
	must(t, err)
	if grown := size() - before; grown < len(event) || grown > 2*len(event) {
		t.Errorf("an event of %d bytes made the log grow by %d", len(event), grown)
	}
	c, _, err := s.Claim(t.Context(), "p", time.Minute)
	must(t, err)
	if len(c.Events) != 21 || !bytes.Equal(c.Events[20], event) {
		t.Errorf("the claim carries %d events", len(c.Events))
	}
}
