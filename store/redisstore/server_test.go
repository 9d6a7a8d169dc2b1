package redisstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
	"planbridge/store/storetest"
)

// client is a plain connection to look at what the store keeps.
func client(t testing.TB, server *redistest.Server) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: server.Addr, DisableIdentity: true})
	t.Cleanup(func() { c.Close() }) //nolint:errcheck // only reads
	return c
}

func TestOpenRefusesAnEvictingServer(t *testing.T) {
	server := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	_, err := Open(t.Context(), Options{URL: server.URL})
	if !errors.Is(err, ErrEviction) || !strings.Contains(err.Error(), "noeviction") {
		t.Errorf("Open = %v, want a refusal that says what to set", err)
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	if err := client(t, server).HSet(t.Context(), s.meta(""), fieldSchema, 99).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{URL: server.URL}); !errors.Is(err, store.ErrSchema) {
		t.Errorf("Open = %v, want %v", err, store.ErrSchema)
	}
}

func TestOpenWarns(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"without append-only file": {[]string{"--appendonly", "no"}, "appendonly"},
		"where INFO is forbidden":  {[]string{"--user", "default", "on", "nopass", "~*", "&*", "+@all", "-info"}, "does not tell"},
		"not when all is well":     {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			server := redistest.Start(t, tt.args...)
			s := open(t, Options{URL: server.URL, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if got := log.String(); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("log = %q, want %q", got, tt.want)
			}
			if err := s.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A Redis whose memory is full refuses writes, in scripts and pipelines, too, until it has room.
func TestRedisIsFull(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	writes := map[string]func() error{
		"Ping":   func() error { return s.Ping(t.Context()) },
		"PutDoc": func() error { return s.PutDoc(t.Context(), "p1", "d", []byte("text")) },
		"Heartbeat": func() error {
			_, err := s.Heartbeat(t.Context(), "s1", time.Minute)
			return err
		},
	}
	for _, full := range []bool{false, true, false} {
		most := map[bool]string{false: "0", true: "1"}[full]
		if _, err := server.Do("CONFIG", "SET", "maxmemory", most); err != nil {
			t.Fatal(err)
		}
		for name, write := range writes {
			if err := write(); errors.Is(err, store.ErrNoRoom) != full || (err != nil) != full || errors.Is(err, store.ErrAway) {
				t.Errorf("%s with maxmemory %s = %v", name, most, err)
			}
		}
	}
}

// A Redis near its bound takes small writes and refuses large ones, as which deliveries come. Ping
// tells that from the first refusal on, until a large write has room.
func TestRedisIsNearlyFull(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	must(t, s.PutDoc(t.Context(), "p1", "d", nil))
	room := fill(t, server)
	if err := s.PutDoc(t.Context(), "p1", "d", make([]byte, 2*storetest.FillLeaves)); !errors.Is(err, store.ErrNoRoom) {
		t.Fatalf("PutDoc of much = %v", err)
	}
	if _, err := server.Do("CLIENT", "KILL", "TYPE", "normal"); err != nil { // their buffers count
		t.Fatal(err)
	}
	for range 3 {
		must(t, s.PutDoc(t.Context(), "p1", "d", []byte("text")))
		if err := s.Ping(t.Context()); !errors.Is(err, store.ErrNoRoom) {
			t.Errorf("Ping after a refusal = %v", err)
		}
		if _, err := server.Do("CLIENT", "KILL", "TYPE", "normal"); err != nil {
			t.Fatal(err)
		}
	}
	room()
	must(t, s.Ping(t.Context()))
	must(t, s.PutDoc(t.Context(), "p1", "d", make([]byte, 2*storetest.FillLeaves)))
}

// answer is an error that a server answers.
type answer string

func (a answer) Error() string { return string(a) }
func (answer) RedisError()     {}

// TestRedisThatCannotSave: a Redis that cannot write its files takes no writes until an operator
// gives it room, like one whose memory is full.
func TestRedisThatCannotSave(t *testing.T) {
	for text, want := range map[answer]error{
		"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. script: a28, on @user_script:11.": store.ErrNoRoom,
		"MISCONF Errors writing to the AOF file: No space left on device":                                                                   store.ErrNoRoom,
		"ERR Error running script: MISCONF Errors writing to the AOF file: No space left on device":                                         store.ErrNoRoom,
		"OOM command not allowed when used memory > 'maxmemory'.":                                                                           store.ErrNoRoom,
		"LOADING Redis is loading the dataset in memory":                                                                                    store.ErrAway,
		"WRONGTYPE Operation against a key holding the wrong kind of value":                                                                 nil,
	} {
		if got := mark(text); want == nil && got != nil || !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// The service starts while Redis is away, and what is wrong with Redis is
// found at the first contact.
func TestOpenWhileRedisIsAway(t *testing.T) {
	server := redistest.Start(t)
	server.Kill()
	s := open(t, Options{URL: server.URL})
	if err := s.Ping(t.Context()); !errors.Is(err, store.ErrAway) || errors.Is(err, store.ErrEpoch) {
		t.Errorf("Ping of a Redis that is away = %v", err)
	}
	server.Restart()
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping once Redis is there: %v", err)
	}

	server.Kill()
	s = open(t, Options{URL: server.URL})
	server.Restart()
	if _, err := server.Do("CONFIG", "SET", "maxmemory-policy", "volatile-ttl"); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, ErrEviction) {
		t.Errorf("Ping at the first contact = %v, want %v", err, ErrEviction)
	}
	if _, err := server.Do("CONFIG", "SET", "maxmemory-policy", "noeviction"); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping once it is repaired: %v", err)
	}
}

func TestOperationsEndWithTheContext(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	if _, err := server.Do("CLIENT", "PAUSE", "60000", "ALL"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := s.Ping(ctx); err == nil {
		t.Error("Ping of a Redis that hangs succeeded")
	}
	if took := time.Since(began); took > ioTimeout {
		t.Errorf("Ping took %v after its context ended", took)
	}
	server.Kill() // it would take its time to stop
}

func TestScriptsAreLoadedAgain(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	l := &mapping.Link{ID: "l", Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 1}}}
	o := store.Observation{Refs: l.Refs(), Create: l, Delivery: "d"}
	for round := range 3 {
		if _, err := server.Do("SCRIPT", "FLUSH"); err != nil {
			t.Fatal(err)
		}
		seen, err := s.Observe(t.Context(), "p", []store.Observation{o, o})
		if err != nil || seen[0].Duplicate != (round > 0) || !seen[1].Duplicate {
			t.Errorf("Observe in round %d = %+v, %v", round, seen, err)
		}
		if _, err := server.Do("SCRIPT", "FLUSH"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Depth(t.Context(), "p"); err != nil {
			t.Error(err)
		}
	}
}

func TestWakeTakesManySteps(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	const keys = 2*wakeStep + 7
	var obs []store.Observation
	for i := range keys {
		obs = append(obs, store.Observation{Create: &mapping.Link{ID: mapping.LinkID(fmt.Sprint(i)), Project: "p"}, Bulk: true})
	}
	if _, err := s.Observe(t.Context(), "p", obs); err != nil {
		t.Fatal(err)
	}
	for range keys {
		c, _, err := s.Claim(t.Context(), "p", time.Minute)
		if err != nil || c == nil {
			t.Fatalf("Claim = %v, %v", c, err)
		}
		if err := s.Finish(t.Context(), c, nil, nil, store.Outcome{Kind: store.Wait, Service: "github"}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Wake(t.Context(), "p", "github", 1); err != nil || n != keys {
		t.Errorf("Wake = %d, %v, want %d", n, err, keys)
	}
	last, err := client(t, server).ZRangeWithScores(t.Context(), "planbridge:{p}:bulk", 0, -1).Result()
	if err != nil || len(last) != keys {
		t.Fatalf("%d keys are due, %v", len(last), err)
	}
	spread := time.Duration(last[keys-1].Score-last[0].Score) * time.Millisecond
	if want := (keys - 1) * time.Second; spread < want-time.Minute || spread > want+time.Minute {
		t.Errorf("woken over %v, want %v", spread, want)
	}
}

// All keys of the store are named in keys.go, under the prefix and a hash tag.
func TestKeysFollowTheSchema(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL, Prefix: "pre"})
	l := &mapping.Link{ID: "l1", Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 1}}}
	o := store.Observation{Refs: l.Refs(), Create: l, Delivery: "d", Item: "issue:1", Data: []byte("x"), Event: []byte("e")}
	second := *l
	second.ID, second.Issue.ID = "l2", 2
	_, err := s.Observe(t.Context(), "p", []store.Observation{o, {Create: &second, Bulk: true}})
	must(t, err)
	for _, kind := range []store.OutcomeKind{store.Wait, store.Park} {
		c, _, err := s.Claim(t.Context(), "p", time.Minute)
		must(t, err)
		must(t, s.Finish(t.Context(), c, c.Link, []mapping.Entry{{What: "w"}}, store.Outcome{Kind: kind, Service: "github"}))
	}
	must(t, s.PutConflict(t.Context(), mapping.Conflict{ID: "c", Project: "p"}))
	must(t, s.PutDoc(t.Context(), "", "d", nil))
	must(t, s.PutMarks(t.Context(), "p", "cards", map[string]string{"a": "b"}))
	_, err = s.Acquire(t.Context(), "n", "o", time.Minute)
	must(t, err)
	_, err = s.Take(t.Context(), store.Budget{Name: "github", PerMinute: 1, PerHour: 1, Burst: 1}, store.Ask{})
	must(t, err)

	keys, err := client(t, server).Keys(t.Context(), "*").Result()
	must(t, err)
	if len(keys) < 14 {
		t.Errorf("only %d keys: %v", len(keys), keys)
	}
	schema := regexp.MustCompile(`^pre:\{(p\}:(meta|list:\d+|tally|[le]:l[12]|ref:\d+|live|bulk|wait|parked|seen|ledger|ledgerby|docs|marks:cards)` +
		`|-\}:(meta|projects|leases|budgets|budget:github|docs))$`)
	for _, key := range keys {
		if !schema.MatchString(key) {
			t.Errorf("key %q is not in the schema", key)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A slot of version 1, which has its data behind the digest, is compared with
// what is observed as any other.
func TestObservesOverAnOlderVersionsSlot(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL, Prefix: "pre"})
	rdb := client(t, server)
	l := &mapping.Link{ID: "l1", Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 1}}}
	old := store.Observation{Refs: l.Refs(), Create: l, Item: "issue:1", At: 7, Digest: "d1", Data: []byte("old")}
	_, err := s.Observe(t.Context(), "p", []store.Observation{old})
	must(t, err)
	const key, field = "pre:{p}:l:l1", "i:issue:1"
	head, err := rdb.HGet(t.Context(), key, field).Result()
	must(t, err)
	for _, tt := range []struct {
		name, digest string
		at           int64
		stored       bool
		data         string
	}{
		{"the same", "d1", 7, true, "old"},
		{"older", "d2", 6, false, "old"},
		{"another of that second", "d2", 7, true, "new"},
		{"longer digest", "d10", 7, true, "new"},
		{"newer", "d1", 8, true, "new"},
	} {
		must(t, rdb.HSet(t.Context(), key, field, head+"0old").Err())
		must(t, rdb.HDel(t.Context(), key, "d:issue:1").Err())
		o := store.Observation{Refs: l.Refs(), Item: "issue:1", At: tt.at, Digest: tt.digest, Data: []byte("new")}
		got, err := s.Observe(t.Context(), "p", []store.Observation{o})
		must(t, err)
		if got[0].Stored != tt.stored {
			t.Errorf("%s: stored %v, want %v", tt.name, got[0].Stored, tt.stored)
		}
		c, _, err := s.Claim(t.Context(), "p", time.Minute)
		must(t, err)
		if c == nil || len(c.Inbox) != 1 || string(c.Inbox["issue:1"].Data) != tt.data || c.Inbox["issue:1"].Ambiguous != (tt.data == "new" && tt.at == 7) {
			t.Errorf("%s: claimed %+v, want the %s snapshot", tt.name, c, tt.data)
		}
		must(t, s.Finish(t.Context(), c, c.Link, nil, store.Outcome{}))
	}
}
