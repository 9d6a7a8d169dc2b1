package redisstore

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
	"planbridge/store/redisstore/redistest"
)

// node is one server of a Cluster.
type node struct {
	*redis.Client
	id, host, port string
}

// twoNodes runs a Cluster whose first node has all slots but one: a node without any would
// become a replica.
func twoNodes(t *testing.T) (s *Store, nodes []*node) {
	for range 2 {
		server := redistest.Start(t, "--cluster-enabled", "yes")
		n := &node{Client: client(t, server)}
		var err error
		n.host, n.port, err = net.SplitHostPort(server.Addr)
		must(t, err)
		n.id, err = n.ClusterMyID(t.Context()).Result()
		must(t, err)
		nodes = append(nodes, n)
	}
	must(t, nodes[0].ClusterAddSlotsRange(t.Context(), 1, 16383).Err())
	must(t, nodes[1].ClusterAddSlots(t.Context(), 0).Err())
	must(t, nodes[0].ClusterMeet(t.Context(), nodes[1].host, nodes[1].port).Err())
	eventually(t, "cluster", func() error {
		for _, n := range nodes {
			info, err := n.ClusterInfo(t.Context()).Result()
			if err != nil || !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_known_nodes:2") {
				return fmt.Errorf("%s: %w", info, err)
			}
		}
		return nil
	})
	s = open(t, Options{URL: "redis://" + nodes[0].host + ":" + nodes[0].port + "?cluster=1"})
	must(t, s.rdb.(*redis.ClusterClient).ForEachShard(t.Context(), func(_ context.Context, c *redis.Client) error {
		c.Options().MinRetryBackoff, c.Options().MaxRetryBackoff = time.Millisecond, time.Millisecond
		return nil
	}))
	o := s.rdb.(*redis.ClusterClient).Options()
	o.MinRetryBackoff, o.MaxRetryBackoff = time.Millisecond, time.Millisecond
	return s, nodes
}

// crowded fills a store with links in every place, and with something of all else.
func crowded(t *testing.T, s *Store) (claim *store.Claim) {
	ctx := t.Context()
	for n := range 4 {
		l := issueLink(n + 1)
		o := store.Observation{Refs: l.Refs(), Create: l, Item: mapping.IssueRef(l.Issue.ID), At: 1, Digest: "1", Data: []byte("data"), Event: []byte("e"), Delivery: fmt.Sprint("d", n)}
		_, err := s.Observe(ctx, "p", []store.Observation{o})
		must(t, err)
	}
	for n, out := range []store.Outcome{{Kind: store.Wait, Service: "github"}, {Kind: store.Park, Reason: "r"}} {
		c, err := s.ClaimKey(ctx, store.Key{Project: "p", Link: issueLink(n + 1).ID}, time.Hour)
		must(t, err)
		must(t, s.Finish(ctx, c, c.Link, []mapping.Entry{{What: "w"}}, out))
	}
	claim, err := s.ClaimKey(ctx, store.Key{Project: "p", Link: "l3"}, time.Hour)
	must(t, err)
	claim.Link.Card = mapping.CardID{ID: "c"} // for whoever saves it
	must(t, s.PutConflict(ctx, mapping.Conflict{ID: "c", Project: "p"}))
	must(t, s.PutDoc(ctx, "p", "doc", []byte("text")))
	must(t, s.PutMarks(ctx, "p", "cards", map[string]string{"a": "b"}))
	_, err = s.Acquire(ctx, "lease", "me", time.Hour)
	must(t, err)
	_, err = s.Heartbeat(ctx, "other", time.Hour)
	must(t, err)
	return claim
}

// everyScript is something that runs each script, in an order in which they all succeed.
// Those without the prelude touch one key, which they declare.
func everyScript(t *testing.T, s *Store, claim *store.Claim) []struct {
	script string
	do     func() error
} {
	ctx, key := t.Context(), store.Key{Project: "p", Link: "l3"}
	see := issueLink(7)
	return []struct {
		script string
		do     func() error
	}{
		{"read", func() error { _, err := s.Doc(ctx, "p", "doc"); return err }},
		{"write", func() error { return s.PutDoc(ctx, "p", "doc", []byte("other")) }},
		{"marks", func() error { _, err := s.Marks(ctx, "p", "cards"); return err }},
		{"find", func() error { _, err := s.Find(ctx, "p", issueLink(1).Refs()[0]); return err }},
		{"findtraits", func() error {
			_, err := s.FindByTraits(ctx, "p", issueLink(1).Traits(), 5)
			return err
		}},
		{"list", func() error { _, _, err := s.List(ctx, "p", "", 10); return err }},
		{"dump", func() error {
			return s.dumpLinks(ctx, "p", func(store.Entry) error { return nil })
		}},
		{"conflicts", func() error { _, _, err := s.Conflicts(ctx, "p", "", 10); return err }},
		{"queued", func() error { _, err := s.Standings(ctx, "p", 10); return err }},
		{"standing", func() error { _, err := s.Standing(ctx, store.Key{Project: "p", Link: issueLink(1).ID}); return err }},
		{"failures", func() error { _, err := s.Failures(ctx, "p", 10); return err }},
		{"depth", func() error { _, err := s.Depth(ctx, "p"); return err }},
		{"tally", func() error { _, err := s.Tally(ctx, "p"); return err }},
		{"observe", func() error {
			_, err := s.Observe(ctx, "p", []store.Observation{{Refs: see.Refs(), Create: see, Delivery: "new"}})
			return err
		}},
		{"observe", func() error {
			ref := mapping.IssueRef(2) // of a parked one
			_, err := s.Observe(ctx, "p", []store.Observation{{Refs: []mapping.Ref{ref}, Item: ref, At: 2, Digest: "2", Event: []byte("f"), Delivery: "other"}})
			return err
		}},
		{"enqueue", func() error { return s.Enqueue(ctx, store.Key{Project: "p", Link: "l4"}, 0, true) }},
		{"wake", func() error { _, err := s.Wake(ctx, "p", "github", 0); return err }},
		{"check", func() error { return s.Check(ctx, claim) }},
		{"save", func() error { return s.Save(ctx, claim, claim.Link) }},
		{"finish", func() error {
			_, err := s.FinishAndClaim(ctx, claim, claim.Link, []mapping.Entry{{What: "w"}}, store.Outcome{Kind: store.Retry, After: time.Hour}, time.Hour)
			return err
		}},
		{"claim", func() error { _, err := s.ClaimKey(ctx, key, time.Hour); return err }},
		{"claim", func() error { _, _, err := s.Claim(ctx, "p", time.Hour); return err }},
		{"repair", func() error { return s.Repair(ctx, "p") }},
		{"indexlinks", func() error { _, err := s.run(ctx, scriptIndexLinks, "p", 1, "l4", "", 0); return err }},
		{"putconflict", func() error { return s.PutConflict(ctx, mapping.Conflict{ID: "d", Project: "p"}) }},
		{"dropledger", func() error {
			_, err := s.DropConflicts(ctx, "p", []mapping.Conflict{{ID: "c", Project: "p"}})
			return err
		}},
		{"dropdoc", func() error { _, err := s.DropDoc(ctx, "p", "doc", []byte("other")); return err }},
		{"load", func() error {
			must(t, scriptLoad.Load(ctx, s.rdb).Err())
			return s.loadRecords(ctx, []store.Entry{{Project: "p", Record: &store.Record{Link: issueLink(8)}}})
		}},
		{"acquire", func() error { _, err := s.Acquire(ctx, "lease", "me", time.Hour); return err }},
		{"release", func() error { return s.Release(ctx, "lease", "me") }},
		{"budget", func() error {
			_, err := s.Take(ctx, store.Budget{Name: "github", PerMinute: 1, PerHour: 1, Burst: 1}, store.Ask{Route: "r"})
			return err
		}},
		{"taken", func() error { _, _, err := s.Taken(ctx, "github"); return err }},
		{"hold", func() error { return s.Hold(ctx, "github", time.Hour) }},
		{"held", func() error { _, err := s.Held(ctx, "github"); return err }},
		{"heartbeat", func() error { _, err := s.Heartbeat(ctx, "me", time.Hour); return err }},
		{"endleases", func() error { _, err := s.endLeases(ctx, "p", []any{1, "other"}); return err }},
		{"endsessions", func() error { _, err := s.run(ctx, scriptEndSessions, "", 1, "other"); return err }},
		{"loaded", func() error { _, err := s.run(ctx, scriptLoaded, "", rules.Schema); return err }},
	}
}

// content is all that both nodes keep, whoever has a slot.
func content(t *testing.T, nodes []*node) map[string]string {
	all := map[string]string{}
	for i, n := range nodes {
		keys, err := n.Keys(t.Context(), "*").Result()
		must(t, err)
		kinds := asking(t, n, keys, func(p redis.Pipeliner, key string) { p.Type(t.Context(), key) })
		values := asking(t, n, keys, func(p redis.Pipeliner, key string) {
			switch kind := kinds[key].(*redis.StatusCmd).Val(); kind {
			case "hash":
				p.HGetAll(t.Context(), key)
			case "zset":
				p.ZRangeWithScores(t.Context(), key, 0, -1)
			case "list":
				p.LRange(t.Context(), key, 0, -1)
			default:
				t.Fatalf("%s is a %s", key, kind)
			}
		})
		for key, value := range values {
			if fields, ok := value.(*redis.MapStringStringCmd); ok { // which Redis gives in any order
				all[fmt.Sprint(i, " ", key)] = fmt.Sprint(fields.Val())
			} else {
				all[fmt.Sprint(i, " ", key)] = value.String()
			}
		}
	}
	return all
}

// asking sends a command for each key, which a node takes for a slot that is on its way to
// it, too.
func asking(t *testing.T, n *node, keys []string, send func(redis.Pipeliner, string)) map[string]redis.Cmder {
	cmds, err := n.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for _, key := range keys {
			p.Do(t.Context(), "ASKING")
			send(p, key)
		}
		return nil
	})
	must(t, err)
	answers := map[string]redis.Cmder{}
	for i, key := range keys {
		answers[key] = cmds[2*i+1]
	}
	return answers
}

// slotsOf are the slots of the project and of no project.
func slotsOf(t *testing.T, s *Store, n *node) (slots []int64) {
	for _, project := range []mapping.ObjectID{"p", ""} {
		slot, err := n.ClusterKeySlot(t.Context(), s.meta(project)).Result()
		must(t, err)
		slots = append(slots, slot)
	}
	return slots
}

func setSlots(t *testing.T, n *node, slots []int64, state ...any) {
	for _, slot := range slots {
		must(t, n.Do(t.Context(), append([]any{"CLUSTER", "SETSLOT", slot}, state...)...).Err())
	}
}

// TestNoScriptRunsInASlotThatMoves: the keys of a project are on two nodes. Meanwhile no script
// returns the state of one of them, and none leaves a part of its writes.
func TestNoScriptRunsInASlotThatMoves(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	s, nodes := twoNodes(t)
	claim := crowded(t, s)
	slots := slotsOf(t, s, nodes[0])
	ops := everyScript(t, s, claim)
	isMeta := func(key string) bool { return strings.HasSuffix(key, ":meta") }
	for pass, order := range []string{"meta first", "meta last", "anyhow"} {
		from, to := nodes[pass%2], nodes[1-pass%2]
		keys, err := from.Keys(t.Context(), "*").Result()
		must(t, err)
		slices.Sort(keys)
		random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		slices.SortStableFunc(keys, func(a, b string) int {
			switch {
			case order == "anyhow" || isMeta(a) == isMeta(b):
				return 0
			case isMeta(a) == (order == "meta first"):
				return -1
			}
			return 1
		})
		setSlots(t, to, slots, "IMPORTING", from.id)
		setSlots(t, from, slots, "MIGRATING", to.id)
		moved := 0
		for _, n := range []int{0, 2, random.IntN(len(keys)-4) + 2, len(keys) - 2, len(keys)} {
			for ; moved < n; moved++ {
				must(t, from.Migrate(t.Context(), to.host, to.port, keys[moved], 0, 5*time.Second).Err())
			}
			before := content(t, nodes)
			for _, op := range ops {
				what := fmt.Sprintf("%s, %d of %d keys moved: %s", order, moved, len(keys), op.script)
				if err := op.do(); err == nil {
					t.Errorf("%s: it was answered", what)
				}
				after := content(t, nodes)
				if !maps.Equal(before, after) {
					t.Errorf("%s: it left something", what)
				}
				before = after
			}
			if t.Failed() {
				t.FailNow()
			}
		}
		setSlots(t, to, slots, "NODE", to.id)
		setSlots(t, from, slots, "NODE", to.id)
		eventually(t, "the slots have moved", func() error { return s.Ping(t.Context()) })
	}
	ran := map[string]bool{}
	for _, op := range ops {
		ran[op.script] = true
		if err := op.do(); err != nil {
			t.Errorf("%s, when all have moved: %v", op.script, err)
		}
	}
	everyFileRan(t, ran)
}

// everyFileRan demands that each script that has the prelude is among those that ran.
func everyFileRan(t *testing.T, ran map[string]bool) {
	files, err := fs.Glob(sources, "scripts/*.lua")
	must(t, err)
	for _, part := range []string{"prelude", "take", "listing", "oldest", "adopt", "renew"} {
		ran[part] = true // parts of scripts, and those of one key
	}
	for _, file := range files {
		if name := strings.TrimSuffix(strings.TrimPrefix(file, "scripts/"), ".lua"); !ran[name] {
			t.Errorf("nothing runs %s", file)
		}
	}
}
