package redisstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
	"planbridge/store/storetest"
)

// meanwhile does something before each page of a Repair.
type meanwhile func(page int)

// repairWhile repairs a project while others use it, and returns what the log says
// of it.
func (c *cut) repairWhile(project mapping.ObjectID, do meanwhile) (log string, pages int) {
	c.Helper()
	var out bytes.Buffer
	h := open(c.T, Options{URL: c.server.URL, Logger: slog.New(slog.NewTextHandler(&out, nil)), Hook: beforePage{do, &pages}})
	must(c, h.Repair(c.Context(), project))
	return out.String(), pages
}

type beforePage struct {
	do    meanwhile
	pages *int
}

func (beforePage) DialHook(next redis.DialHook) redis.DialHook { return next }

func (beforePage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (b beforePage) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" && cmd.Args()[1] == scriptRepair.Hash() {
			b.do(*b.pages)
			*b.pages++
		}
		return next(ctx, cmd)
	}
}

// crowd are people and workers who use a project, and what they made of its links.
type crowd struct {
	*cut
	*rand.Rand
	held   []*store.Claim
	places map[mapping.LinkID]string // as field p of a link says it
	last   int
}

// act does one thing to one link.
func (w *crowd) act() {
	n := 1 + w.IntN(w.last)
	id := issueLink(n).ID
	_, known := w.places[id]
	switch w.IntN(7) {
	case 0:
		w.last++
		w.see(w.last, 1)
		w.places[issueLink(w.last).ID] = "q"
	case 1:
		err := w.Enqueue(w.Context(), store.Key{Project: "p", Link: id}, time.Duration(w.IntN(2))*time.Minute, w.IntN(2) == 0)
		if !known && errors.Is(err, store.ErrNotFound) {
			return
		}
		must(w, err)
		w.places[id] = "q"
	case 2:
		_, err := w.Wake(w.Context(), "p", "github", 0)
		must(w, err)
		for id, place := range w.places {
			if place == "w" {
				w.places[id] = "q"
			}
		}
	case 3, 4:
		w.hold()
	default:
		if len(w.held) > 0 {
			w.let()
		}
	}
}

// hold leases the next key.
func (w *crowd) hold() {
	claim, _, err := w.Claim(w.Context(), "p", cutTTL)
	must(w, err)
	if claim != nil {
		w.held = append(w.held, claim)
		w.places[claim.Key.Link] = "q"
	}
}

// let ends the oldest lease in some way.
func (w *crowd) let() {
	claim := w.held[0]
	w.held = w.held[1:]
	ends := []struct {
		store.Outcome
		place string
	}{
		{store.Outcome{}, ""},
		{store.Outcome{Kind: store.Remove}, ""},
		{store.Outcome{Kind: store.Again, After: time.Minute}, "q"},
		{store.Outcome{Kind: store.Wait, Service: "github"}, "w"},
		{store.Outcome{Kind: store.Park, Reason: "r"}, "f"},
	}
	end := ends[w.IntN(len(ends))]
	if n, err := w.raw.HExists(w.Context(), "planbridge:{p}:l:"+string(claim.Key.Link), "n").Result(); n || err != nil {
		must(w, err)
		end = ends[2] // it was enqueued under the lease
	}
	must(w, w.Finish(w.Context(), claim, nil, nil, end.Outcome))
	if w.places[claim.Key.Link] = end.place; end.Kind == store.Remove {
		delete(w.places, claim.Key.Link)
	}
}

// stand is where the server has the keys of links, by its queues, and where the
// links say that they are; they have to agree.
func (w *crowd) stand() map[mapping.LinkID]string {
	w.Helper()
	in := map[string]string{}
	for queue, place := range map[string]string{"live": "q", "bulk": "q", "wait": "w", "parked": "f"} {
		members, err := w.raw.ZRange(w.Context(), "planbridge:{p}:"+queue, 0, -1).Result()
		must(w, err)
		for _, m := range members {
			in[strings.TrimLeft(m[strings.LastIndex(m, "\x00")+1:], "01")] += place
		}
	}
	out := map[mapping.LinkID]string{}
	for cursor, begun := "", false; cursor != "" || !begun; begun = true {
		links, next, err := w.List(w.Context(), "p", cursor, 500)
		must(w, err)
		for cursor = next; len(links) > 0; links = links[1:] {
			id := string(links[0].ID)
			p, err := w.raw.HGet(w.Context(), "planbridge:{p}:l:"+id, "p").Result()
			if p != in[id] || err != nil && !errors.Is(err, redis.Nil) {
				w.Errorf("link %s is in %q and says %q, %v", id, in[id], p, err)
			}
			out[links[0].ID] = p
			delete(in, id)
		}
	}
	if len(in) > 0 {
		w.Errorf("%d keys of no link stand in queues: %.300q", len(in), in)
	}
	return out
}

// TestRepairWhileOthersWork: between the pages of a Repair keys are made, claimed, ended in every
// way, enqueued and woken. Partly stored data is repaired, and others' writes stay as they are.
func TestRepairWhileOthersWork(t *testing.T) {
	server, seed := redistest.Start(t), rand.Uint64()
	t.Logf("seed %d", seed)
	c := &cut{T: t, Store: open(t, Options{URL: server.URL}), server: server, raw: client(t, server)}
	w := &crowd{cut: c, Rand: rand.New(rand.NewPCG(seed, 0)), places: map[mapping.LinkID]string{}}
	const links, lost = 4 * repairPage, 25
	for range links {
		w.last++
		w.see(w.last, 1)
		w.places[issueLink(w.last).ID] = "q"
		if w.IntN(4) > 0 {
			w.hold()
			w.let()
		}
	}
	for n := range lost { // due so late that nobody claims them
		score := float64(time.Now().Add(time.Duration(1+w.IntN(100)) * time.Hour).UnixMilli())
		for _, queue := range []string{"live", "bulk", "parked"} {
			must(t, c.raw.ZAdd(t.Context(), "planbridge:{p}:"+queue, redis.Z{Score: score, Member: fmt.Sprint("gone", queue, n)}).Err())
		}
		must(t, c.raw.ZAdd(t.Context(), "planbridge:{p}:wait", redis.Z{Member: fmt.Sprintf("planning\x000gone%d", n)}).Err())
	}
	log, pages := c.repairWhile("p", func(int) {
		for range 20 {
			w.act()
		}
	})
	if want := fmt.Sprintf("places=%d\n", 4*lost); pages < 3*links/repairPage || !strings.HasSuffix(log, want) {
		t.Errorf("after %d pages the log says %q, want %q", pages, log, want)
	}
	got := w.stand()
	for id, place := range w.places {
		if got[id] != place {
			t.Errorf("link %s is in %q, want %q", id, got[id], place)
		}
		delete(got, id)
	}
	if len(got) > 0 {
		t.Errorf("links that are gone are there: %v", got)
	}
	if d := storetest.IndexDiff(t.Context(), c, "p"); d != "" {
		t.Error(d)
	}
	if log, _ := c.repairWhile("p", func(int) {}); log != "" {
		t.Errorf("repaired twice: %s", log)
	}
}

// TestRepairOfALinkThatGoesMeanwhile: a link that was parked, which is stored in part,
// is taken up by a change and removed between any two pages. That it still stands
// among those that are parked is forgotten, too.
func TestRepairOfALinkThatGoesMeanwhile(t *testing.T) {
	server := redistest.Start(t)
	for at, pages := 0, 1; at < pages; at++ {
		server.Flush()
		c := &cut{T: t, Store: open(t, Options{URL: server.URL}), server: server, raw: client(t, server)}
		c.see(2, 1)
		c.see(1, 1)
		must(t, c.raw.ZRem(t.Context(), "planbridge:{p}:live", "l1").Err())
		must(t, c.raw.ZAdd(t.Context(), "planbridge:{p}:parked", redis.Z{Member: "l1"}).Err())
		_, pages = c.repairWhile("p", func(page int) {
			if page == at {
				c.see(1, 2)
				c.end(store.Outcome{Kind: store.Remove})
			}
		})
		w := &crowd{cut: c}
		if got := w.stand(); !maps.Equal(got, map[mapping.LinkID]string{"l2": "q"}) {
			t.Errorf("removed before page %d: links stand %v", at, got)
		}
	}
}
