package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

// replica is one of several services of a world, with a configuration of its own.
type replica struct {
	*operator
	listen, admin string
	service       *service
}

// newReplica starts a program beside others.
func newReplica(op *operator, program string) *replica {
	own := *op
	r := &replica{operator: &own, listen: freePort(op.t), admin: freePort(op.t)}
	own.program, own.config = program, filepath.Join(op.t.TempDir(), "planbridge.yaml")
	r.write(func(text string) string {
		if program != "" { // the only key of a world that earlier programs may not know
			text = coalesces.ReplaceAllString(text, "")
		}
		return public(r.listen)(admin(r.admin)(text))
	})
	op.world.GitHub.AddHook(bridgetest.RepoName, "http://"+r.listen+"/webhooks/github", bridgetest.WebhookSecret)
	r.service = r.serve("--lease", "4s")
	return r
}

var coalesces = regexp.MustCompile(`(?m)^coalesce:.*\n`)

// ready reports whether the replica takes deliveries.
func (r *replica) ready() bool { return r.run("health", "--ready").status == exitOK }

// end stops the replica in good order.
func (r *replica) end() {
	r.t.Helper()
	r.service.signal(os.Interrupt)
	if got := r.service.ended(); got != exitOK {
		r.t.Errorf("exit status %d", got)
	}
}

var written = regexp.MustCompile(`(?m)^planbridge_attribute_writes_total\{.*\} (\d+)$`)

// writes counts what the replica has written to either side.
func (r *replica) writes() (n int) {
	r.t.Helper()
	resp, err := http.Get("http://" + r.admin + "/metrics")
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range written.FindAllSubmatch(text, -1) {
		some, err := strconv.Atoi(string(m[1]))
		if err != nil {
			r.t.Fatal(err)
		}
		n += some
	}
	return n
}

// schemaOf is the schema of the store in a Redis.
func schemaOf(t *testing.T, server *redistest.Server) string {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer c.Close()
	schema, err := c.HGet(t.Context(), "planbridge:{-}:meta", "schema").Result()
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestRollingUpgrade: two replicas of an earlier program, PLANBRIDGE_OLD, give way to two of
// this one, one after the other, on one Redis, while people write. No word is lost and
// nothing is made twice. Where the store's schema is another, the earlier program takes and writes
// nothing from the moment the new one is there. The target "make upgrade" builds the former.
func TestRollingUpgrade(t *testing.T) {
	old := os.Getenv("PLANBRIDGE_OLD")
	if old == "" {
		t.Skip("PLANBRIDGE_OLD names no earlier program: make upgrade OLD=<revision> does")
	}
	server := redistest.Start(t)
	op := newOperator(t, bridgetest.Options{Store: server.URL}, nil)
	people := &scribes{op: op, words: map[string][]string{}}
	first, second := newReplica(op, old), newReplica(op, old)
	op.until("they poll", func() bool { return op.world.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	people.issue("one")
	people.card("two")
	people.whole("before the upgrade")
	if first.writes()+second.writes() == 0 {
		t.Error("the earlier program does not count its writes")
	}

	former := schemaOf(t, server)
	stop := people.on()
	people.issue("by both of old")
	first.end()
	people.card("by one of old")
	third := newReplica(op, "")
	op.until("the new one is ready", third.ready)
	gaveWay := schemaOf(t, server) != former
	if gaveWay {
		op.until("the old one is ready no more", func() bool { return !second.ready() })
	}
	before := second.writes()
	people.issue("by old and new")
	people.card("by new and old")
	fourth := newReplica(op, "")
	op.until("the second new one is ready", fourth.ready)
	stop()
	people.write()
	if gaveWay && second.writes() != before {
		t.Errorf("the earlier program wrote %d times beside the new one", second.writes()-before)
	}
	second.end()
	people.whole("after the upgrade")
	people.issue("by both of new")
	people.write()
	people.whole("in the end")
	third.end()
	fourth.end()
}
