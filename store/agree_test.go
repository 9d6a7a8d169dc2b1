package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
	"planbridge/store"
	"planbridge/store/boltstore"
	"planbridge/store/internal/rules"
	"planbridge/store/memstore"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

func TestMain(m *testing.M) {
	mappingtest.ShareWorlds()
	m.Run()
}

// TestStoresAgree runs one random history of operations on all back ends, under one clock. It
// compares all answers and content, to the millisecond. The queue's rules exist twice, in Go and
// in Lua, and this test keeps them equal. rapid prints the seed of a failure.
func TestStoresAgree(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	dir := memory(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t, rt, server)
		h.addBolt(filepath.Join(dir, mapping.NewID()))
		defer h.close()
		h.begin(rt)
		rt.Repeat(h.operations())
	})
}

// TestStoresAgreeOnSessions is TestStoresAgree for the back ends that several processes share.
func TestStoresAgreeOnSessions(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t, rt, server)
		defer h.close()
		h.begin(rt)
		operations := h.operations()
		operations["heartbeat"], operations["heartbeatMore"] = h.heartbeat, h.heartbeat
		operations["endSessions"], operations["endSessionsMore"] = h.endSessions, h.endSessions
		rt.Repeat(operations)
	})
}

// operations are the operations of a random history, by name.
func (h *history) operations() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"": h.compare, "observe": h.observe, "observeMore": h.observe, "enqueue": h.enqueue,
		"claim": h.claim, "claimMore": h.claim, "claimKey": h.claimKey, "check": h.check, "save": h.save,
		"finish": h.finish, "finishMore": h.finish, "finishAndClaim": h.finishAndClaim, "wake": h.wake, "wakeMore": h.wake,
		"repair": h.repair, "lease": h.lease, "advance": h.advance, "crash": h.crash,
	}
}

// memory is a directory in memory, where the system has one.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "planbridge")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // the system removes it anyway
	return dir
}

// replicas is how many handles each store has. boltstore has one process, which counts as both.
const replicas = 2

// backEnd is one of the stores.
type backEnd struct {
	name    string
	handles []store.Store
	// crash ends a replica and returns the new handles.
	crash func(replica int) []store.Store
	// claims are all claims given, in the order of history.claims.
	claims []*store.Claim
}

// history is a run of operations.
type history struct {
	t      *testing.T
	now    atomic.Int64
	limit  int
	stores []*backEnd
	seen   *view            // the stores' last content
	links  int              // links made
	claims []mapping.LinkID // the link of each claim
}

const project = mapping.ObjectID("p")

// Now is the clock of all stores.
func (h *history) Now() time.Time { return time.UnixMilli(h.now.Load()) }

func newHistory(t *testing.T, rt *rapid.T, server *redistest.Server) *history {
	h := &history{t: t, limit: rapid.SampledFrom([]int{0, 0, 3}).Draw(rt, "queue limit")}
	h.now.Store(time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC).UnixMilli())
	m := memstore.New(memstore.Options{Clock: h, QueueLimit: h.limit})
	h.add("memstore", func() store.Store { return m.Open(nil) }, func(s store.Store) { s.(*memstore.Store).Crash() })
	server.Flush()
	h.add("redisstore", func() store.Store {
		s, err := redisstore.Open(t.Context(), redisstore.Options{URL: server.URL, QueueLimit: h.limit, Clock: h})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, func(s store.Store) { s.Close() }) //nolint:errcheck // this is a crash
	return h
}

func (h *history) add(name string, open func() store.Store, end func(store.Store)) {
	b := &backEnd{name: name}
	for range replicas {
		b.handles = append(b.handles, open())
	}
	b.crash = func(replica int) []store.Store {
		end(b.handles[replica])
		b.handles[replica] = open()
		return b.handles
	}
	h.stores = append(h.stores, b)
}

func (h *history) addBolt(path string) {
	open := func() []store.Store {
		s, err := boltstore.Open(path, boltstore.Options{QueueLimit: h.limit, Clock: h})
		if err != nil {
			h.t.Fatal(err)
		}
		return slices.Repeat([]store.Store{s}, replicas)
	}
	b := &backEnd{name: "boltstore", handles: open()}
	b.crash = func(replica int) []store.Store {
		b.handles[replica].Close() //nolint:errcheck // this is a crash
		return open()
	}
	h.stores = append(h.stores, b)
}

func (h *history) close() {
	for _, b := range h.stores {
		for _, s := range b.handles {
			s.Close() //nolint:errcheck // its content is discarded
		}
	}
}

// each asks every store, by one of its handles, and requires equal answers.
func (h *history) each(rt *rapid.T, what string, ask func(ctx context.Context, b *backEnd, s store.Store) any) (answer any) {
	replica := rapid.IntRange(0, replicas-1).Draw(rt, "replica")
	for i, b := range h.stores {
		got := ask(h.t.Context(), b, b.handles[replica])
		if i == 0 {
			answer = got
		} else if diff := differ(answer, got); diff != "" {
			rt.Fatalf("%s: %s (-) and %s (+) differ:\n%s", what, h.stores[0].name, b.name, diff)
		}
	}
	return answer
}

var same = cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(store.Claim{}, "Until"), cmpopts.IgnoreFields(store.Observed{}, "Err")}

// differ describes a difference. Mostly there is none, which comparing deeply shows much faster.
func differ(a, b any) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return cmp.Diff(a, b, same...)
}

// kindOf names the error of the contract that err is.
func kindOf(err error) string {
	for _, kind := range []error{store.ErrNotFound, store.ErrConflict, store.ErrLeaseLost, store.ErrFull, store.ErrEpoch, store.ErrSpoilt} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	if err != nil {
		return "another error: " + err.Error()
	}
	return ""
}

// view is all that a store shows without a claim.
type view struct {
	Records    map[mapping.LinkID]*store.Record
	Deliveries map[string]time.Time
	Depth      store.Depth
	Tally      store.Tally
	Failures   []store.Failure
	Standing   []store.Standing // of each link
	Standings  []store.Standing
	Found      map[mapping.Ref]mapping.LinkID
	Traits     map[string][]mapping.LinkID // by author and title
	Listed     []mapping.LinkID
}

func (h *history) compare(rt *rapid.T) {
	h.seen = h.each(rt, "what is held", func(ctx context.Context, _ *backEnd, s store.Store) any {
		v := &view{Records: map[mapping.LinkID]*store.Record{}, Deliveries: map[string]time.Time{}, Found: map[mapping.Ref]mapping.LinkID{}}
		err := s.Dump(ctx, func(e store.Entry) error {
			if e.Record != nil {
				v.Records[e.Record.Link.ID] = withoutEmpty(e.Record)
			}
			for _, d := range e.Deliveries {
				if d.At.After(h.Now().Add(-rules.Deliveries)) { // others may be gone at any time
					v.Deliveries[string(d.Key)] = d.At
				}
			}
			if e.Spoilt != "" {
				return errors.New(e.Spoilt)
			}
			return nil
		})
		var errs [7]error
		v.Depth, errs[0] = s.Depth(ctx, project)
		v.Failures, errs[1] = s.Failures(ctx, project, 100)
		v.Standings, errs[2] = s.Standings(ctx, project, 100)
		slices.SortStableFunc(v.Standings, func(a, b store.Standing) int {
			return strings.Compare(string(a.Key.Link), string(b.Key.Link))
		})
		links, _, listErr := s.List(ctx, project, "", 100)
		slices.SortFunc(links, func(a, b *mapping.Link) int { return strings.Compare(string(a.ID), string(b.ID)) })
		for _, l := range links {
			v.Listed = append(v.Listed, l.ID)
			at, err := s.Standing(ctx, store.Key{Project: project, Link: l.ID})
			if err != nil {
				rt.Fatal(err)
			}
			v.Standing = append(v.Standing, at)
		}
		for _, ref := range refs {
			if id, err := s.Find(ctx, project, ref); err == nil {
				v.Found[ref] = id
			} else if !errors.Is(err, store.ErrNotFound) {
				errs[4] = err
			}
		}
		v.Traits = map[string][]mapping.LinkID{}
		for _, author := range authors {
			for _, title := range titles {
				ids, err := s.FindByTraits(ctx, project, mapping.IssueTraits(author, title, time.Time{}), 3)
				v.Traits[author+" "+title], errs[6] = ids, errors.Join(errs[6], err)
			}
		}
		errs[3] = listErr
		v.Tally, errs[5] = s.Tally(ctx, project)
		if err := errors.Join(append(errs[:], err)...); err != nil {
			rt.Fatal(err)
		}
		return v
	}).(*view)
}

// withoutEmpty returns a record without empty lists: stores may answer an empty list or none.
func withoutEmpty(r *store.Record) *store.Record {
	if len(r.Inbox) == 0 {
		r.Inbox = nil
	}
	if len(r.Events) == 0 {
		r.Events = nil
	}
	if len(r.Own) == 0 {
		r.Own = nil
	}
	return r
}

func (h *history) advance(rt *rapid.T) {
	h.now.Add(rapid.SampledFrom([]int64{1, 1, 1000, 30_000, 30_000, 60_000, 60_000, 600_000, rules.Deliveries.Milliseconds() / 2}).Draw(rt, "ms"))
}

// crash ends one replica of each store after all leases ended. The file's leases end with its
// process, and the others' do not.
func (h *history) crash(rt *rapid.T) {
	h.now.Add(longestTTL.Milliseconds())
	replica := rapid.IntRange(0, replicas-1).Draw(rt, "replica")
	for _, b := range h.stores {
		b.handles = b.crash(replica)
	}
}

func (h *history) lease(rt *rapid.T) {
	name := rapid.SampledFrom([]string{"poll", "other"}).Draw(rt, "name")
	owner := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "owner")
	release := rapid.Bool().Draw(rt, "release")
	h.each(rt, "lease", func(ctx context.Context, _ *backEnd, s store.Store) any {
		if release {
			return kindOf(s.Release(ctx, name, owner))
		}
		got, err := s.Acquire(ctx, name, owner, time.Minute)
		return fmt.Sprint(got, kindOf(err))
	})
}
