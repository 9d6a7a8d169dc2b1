package redisstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
	"planbridge/store/storetest"
)

// cut is a store that comes back with a part of its last script's writes.
type cut struct {
	*testing.T
	*Store
	server *redistest.Server
	raw    *redis.Client
}

const cutTTL = time.Minute

// issueLink is the n-th link, of an issue.
func issueLink(n int) *mapping.Link {
	return &mapping.Link{
		ID: mapping.LinkID(fmt.Sprint("l", n)), Project: "p", Pair: mapping.Pair{
			State: mapping.Creating,
			Issue: mapping.IssueID{ID: int64(n), Author: "octocat", Born: time.Unix(1_700_000_000, 0).UTC()},
		},
	}
}

func (c *cut) see(n, at int) {
	l := issueLink(n)
	o := store.Observation{Refs: l.Refs(), Create: l, Delivery: fmt.Sprint(n, at), Item: "issue:1", At: int64(at), Digest: fmt.Sprint(at), Data: []byte("data"), Event: []byte("e")}
	_, err := c.Observe(c.Context(), "p", []store.Observation{o})
	must(c, err)
}

func (c *cut) claim(n int) *store.Claim {
	claim, err := c.ClaimKey(c.Context(), store.Key{Project: "p", Link: issueLink(n).ID}, cutTTL)
	must(c, err)
	return claim
}

// free lets the first link be worked, and nothing is to do for it.
func (c *cut) free() { c.end(store.Outcome{}) }

func (c *cut) end(out store.Outcome) { must(c, c.Finish(c.Context(), c.claim(1), nil, nil, out)) }

func (c *cut) enqueue(bulk bool) {
	must(c, c.Enqueue(c.Context(), store.Key{Project: "p", Link: "l1"}, 0, bulk))
}

// act is something that is done to a store of one queued link.
type act struct {
	prepare, do func(*cut)
}

// ends is the end of a claim of the first link, to which a card was made.
func ends(out store.Outcome) act {
	var claim *store.Claim
	return act{func(c *cut) {
		c.see(2, 1)
		claim = c.claim(1)
		claim.Link.Card, claim.Link.Issue.Author = mapping.CardID{ID: "c"}, "hubot"
	}, func(c *cut) {
		_, err := c.FinishAndClaim(c.Context(), claim, claim.Link, []mapping.Entry{{What: "w"}}, out, cutTTL)
		must(c, err)
	}}
}

// acts are all that write more than one thing.
func acts() map[string]act {
	nothing, see := func(*cut) {}, func(c *cut) { c.see(1, 2) }
	waits, park := store.Outcome{Kind: store.Wait, Service: "github"}, store.Outcome{Kind: store.Park, Reason: "r"}
	parked := func(c *cut) { c.end(park) }
	var claim *store.Claim
	return map[string]act{
		"a link is made":        {nothing, func(c *cut) { c.see(2, 1) }},
		"a free one is seen":    {(*cut).free, see},
		"a queued one is seen":  {nothing, see},
		"a leased one is seen":  {func(c *cut) { c.claim(1) }, see},
		"a parked one is seen":  {parked, see},
		"a bulk one is seen":    {func(c *cut) { c.free(); c.enqueue(true) }, see},
		"one is claimed":        {nothing, func(c *cut) { c.claim(1) }},
		"a free one is claimed": {(*cut).free, func(c *cut) { c.claim(1) }},
		"one gets a card": {func(c *cut) { claim = c.claim(1) }, func(c *cut) {
			claim.Link.Card, claim.Link.Issue.Born = mapping.CardID{ID: "c"}, time.Time{}
			must(c, c.Save(c.Context(), claim, claim.Link))
		}},
		"it is done":         ends(store.Outcome{}),
		"it is due again":    ends(store.Outcome{After: time.Minute}),
		"it is tried again":  ends(store.Outcome{Kind: store.Retry, After: time.Second}),
		"it waits":           ends(waits),
		"it is parked":       ends(park),
		"it is removed":      ends(store.Outcome{Kind: store.Remove}),
		"a failure is taken": {parked, func(c *cut) { c.enqueue(true) }},
		"one is woken": {func(c *cut) { c.end(waits) }, func(c *cut) {
			_, err := c.Wake(c.Context(), "p", "github", 0)
			must(c, err)
		}},
	}
}

// TestRepair lets a server come back with each beginning of each script's writes. A server does so
// that loaded a file which was cut within a transaction, and was then started once more. After a
// repair each link is found by its issue and worked once.
func TestRepair(t *testing.T) {
	for name, a := range acts() {
		t.Run(name, func(t *testing.T) {
			c := &cut{T: t, server: redistest.Start(t)}
			c.raw = client(t, c.server)
			c.Store = open(t, Options{URL: c.server.URL})
			c.see(1, 1)
			a.prepare(c)
			before, from := c.dump(), c.kept()
			a.do(c)
			written := c.writtenSince(from)
			for n := range written {
				c.restore(before)
				for _, command := range written[:n+1] {
					must(t, c.raw.Do(t.Context(), command...).Err())
				}
				c.judge(fmt.Sprintf("%d of %d writes, the last %.60q", n+1, len(written), written[n]), n+1 == len(written))
			}
		})
	}
}

// TestRepairOfTwoLinksWithOneItem: the index decides which of them has it, and the
// other is told when it is stored.
func TestRepairOfTwoLinksWithOneItem(t *testing.T) {
	server := redistest.Start(t)
	c := &cut{T: t, Store: open(t, Options{URL: server.URL}), server: server, raw: client(t, server)}
	c.see(1, 1)
	first := c.claim(1)
	must(t, c.raw.HDel(t.Context(), "planbridge:{p}:ref:"+shard("issue:1"), "issue:1").Err())
	other := *first.Link
	other.ID = "l2"
	_, err := c.Observe(t.Context(), "p", []store.Observation{{Refs: other.Refs(), Create: &other}})
	must(t, err)
	must(t, c.Repair(t.Context(), "p"))
	if err := c.Save(t.Context(), first, first.Link); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Save of the other link = %v, want %v", err, store.ErrConflict)
	}
	must(t, c.Finish(t.Context(), first, nil, nil, store.Outcome{Kind: store.Remove}))
	if got := c.work(); !slices.Equal(got, []mapping.LinkID{"l2"}) {
		t.Errorf("worked are %v, want the link that the index names", got)
	}
	if id, err := c.Find(t.Context(), "p", "issue:1"); id != "l2" || err != nil {
		t.Errorf("link of the issue = %q, %v", id, err)
	}
}

// dump is all that the server keeps.
func (c *cut) dump() map[string]string {
	keys, err := c.raw.Keys(c.Context(), "*").Result()
	must(c, err)
	all := map[string]string{}
	for _, key := range keys {
		all[key], err = c.raw.Dump(c.Context(), key).Result()
		must(c, err)
	}
	return all
}

func (c *cut) restore(all map[string]string) {
	c.server.Flush()
	for key, data := range all {
		must(c, c.raw.Restore(c.Context(), key, 0, data).Err())
	}
}

// kept is how long the append-only file is.
func (c *cut) kept() int64 {
	_, n := c.server.Kept()
	return n
}

// writtenSince are the commands that the file got since it was so long.
func (c *cut) writtenSince(from int64) (commands [][]any) {
	path, _ := c.server.Kept()
	data, err := os.ReadFile(path)
	must(c, err)
	for r := bufio.NewReader(bytes.NewReader(data[from:])); ; {
		n, err := number(r, '*')
		if errors.Is(err, io.EOF) {
			return commands
		}
		must(c, err)
		words := make([]any, n)
		for i := range words {
			size, err := number(r, '$')
			must(c, err)
			word := make([]byte, size+2)
			_, err = io.ReadFull(r, word)
			must(c, err)
			words[i] = string(word[:size])
		}
		if name := words[0]; name != "MULTI" && name != "EXEC" && name != "SELECT" {
			commands = append(commands, words)
		}
	}
}

// number reads a line of the protocol that tells a length.
func number(r *bufio.Reader, kind byte) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("line %q, want one with %q", line, kind)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

// judge repairs what the server keeps and demands that it is sound.
func (c *cut) judge(when string, whole bool) {
	c.Helper()
	var log bytes.Buffer
	later := storetest.Clock(func() time.Time { return time.Now().Add(time.Hour) }) // all leases have ended
	h := &cut{T: c.T, Store: open(c.T, Options{URL: c.server.URL, Logger: slog.New(slog.NewTextHandler(&log, nil)), Clock: later})}
	must(c, h.Repair(c.Context(), "p"))
	if repaired := log.String(); whole && repaired != "" {
		c.Errorf("%s: a sound store was repaired: %s", when, repaired)
	}
	log.Reset()
	must(c, h.Repair(c.Context(), "p"))
	if log.Len() > 0 {
		c.Errorf("%s: repaired twice: %s", when, log.String())
	}
	if d := storetest.IndexDiff(c.Context(), h, "p"); d != "" {
		c.Errorf("%s: %s", when, d)
	}
	h.see(1, 9)
	h.see(2, 9)
	_, err := h.Wake(c.Context(), "p", "github", 0)
	must(c, err)
	if got := h.work(); !slices.Equal(got, []mapping.LinkID{"l1", "l2"}) {
		c.Errorf("%s: worked are %v, want each of two links once", when, got)
	}
	links, _, err := h.List(c.Context(), "p", "", 9)
	if err != nil || len(links) != 2 {
		c.Errorf("%s: %d links, %v, want 2", when, len(links), err)
	}
	for n := 1; n <= 2; n++ {
		if id, err := h.Find(c.Context(), "p", mapping.IssueRef(int64(n))); id != issueLink(n).ID || err != nil {
			c.Errorf("%s: link of issue %d = %q, %v", when, n, id, err)
		}
	}
	if d, err := h.Depth(c.Context(), "p"); err != nil || d.Live+d.Bulk+d.Failures+len(d.Waiting) > 0 {
		c.Errorf("%s: left are %+v, %v", when, d, err)
	}
}

// work claims, stores and ends what is due, and returns what that was.
func (c *cut) work() (worked []mapping.LinkID) {
	for {
		claim, _, err := c.Claim(c.Context(), "p", cutTTL)
		must(c, err)
		if claim == nil {
			slices.Sort(worked)
			return worked
		}
		worked = append(worked, claim.Key.Link)
		must(c, c.Save(c.Context(), claim, claim.Link))
		must(c, c.Finish(c.Context(), claim, claim.Link, nil, store.Outcome{}))
	}
}
