package boltstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
	"planbridge/store/storetest"
)

func open(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T, queueLimit int) storetest.Opened {
		clock := storetest.NewStillClock()
		path := filepath.Join(t.TempDir(), "planbridge.db")
		o := Options{QueueLimit: queueLimit, Clock: clock}
		s := open(t, path, o)
		return storetest.Opened{
			Store:   s,
			Advance: clock.Advance,
			Alone:   true,
			// A killed process leaves the file unchanged, so the next one opens a copy made while
			// this one has it open.
			Restart: func(t testing.TB) store.Store {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				left := filepath.Join(t.TempDir(), "left.db")
				if err := os.WriteFile(left, data, 0o600); err != nil {
					t.Fatal(err)
				}
				return open(t, left, o)
			},
			Fill: func(t testing.TB) func() { return fill(t, path) },
		}
	})
}

func TestOpenRefusesAFileInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.db")
	open(t, path, Options{})
	_, err := Open(path, Options{})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("second Open = %v, want a refusal that names the file", err)
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.db")
	s := open(t, path, Options{})
	err := s.update(t.Context(), func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketMeta).Put(metaSchema, []byte("99"))
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Close() //nolint:errcheck // reported by open's cleanup
	if _, err := Open(path, Options{}); !errors.Is(err, store.ErrSchema) {
		t.Errorf("Open of a newer file = %v, want %v", err, store.ErrSchema)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, store.ErrSchema) {
		t.Errorf("a refused Open keeps the file: %v", err)
	}
}

func TestOpenRefusesADirectory(t *testing.T) {
	if _, err := Open(t.TempDir(), Options{}); err == nil {
		t.Error("Open of a directory succeeded")
	}
}

func TestPingNoticesThatTheFileIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.db")
	s := open(t, path, Options{})
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("Ping is content without its file")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("Ping is content with another file")
	}
}

func TestOperationsRespectTheContext(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "planbridge.db"), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Ping = %v", err)
	}
	if _, err := s.Depth(ctx, "p"); !errors.Is(err, context.Canceled) {
		t.Errorf("Depth = %v", err)
	}
}

// Operations that share a commit are undone one by one.
func TestAFailureUndoesItselfAlone(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "planbridge.db"), Options{})
	refused := errors.New("refused")
	group := make([]write, 9)
	for i := range group {
		group[i] = write{done: make(chan error, 1), fn: func(tx *bbolt.Tx) error {
			if err := tx.Bucket(bucketMeta).Put([]byte{'n', byte(i)}, nil); err != nil {
				return err
			}
			if i%3 == 1 {
				return refused
			}
			return nil
		}}
	}
	s.commit(slices.Clone(group))
	err := s.view(t.Context(), func(tx *bbolt.Tx) error {
		for i, w := range group {
			kept := tx.Bucket(bucketMeta).Get([]byte{'n', byte(i)}) != nil
			if err := <-w.done; kept != (err == nil) || (i%3 == 1) != errors.Is(err, refused) {
				t.Errorf("operation %d: kept %v, error %v", i, kept, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOldDeliveriesAreClearedAway(t *testing.T) {
	clock := storetest.NewStillClock()
	s := open(t, filepath.Join(t.TempDir(), "planbridge.db"), Options{Clock: clock})
	l := &mapping.Link{ID: "l", Project: "p"}
	deliver := func(prefix string, n int) {
		t.Helper()
		var obs []store.Observation
		for i := range n {
			obs = append(obs, store.Observation{Delivery: fmt.Sprint(prefix, i), Link: l.ID, Create: l})
		}
		if _, err := s.Observe(t.Context(), "p", obs); err != nil {
			t.Fatal(err)
		}
	}
	deliver("old", 100)
	clock.Advance(rules.Deliveries)
	deliver("new", 100/rules.DeliverySweep)
	err := s.read(t.Context(), "p", func(sp space) error {
		want := 100 / rules.DeliverySweep
		if n, m := sp.b("seen").Stats().KeyN, sp.b("seentime").Stats().KeyN; n != want || m != want {
			t.Errorf("%d and %d deliveries are kept, want %d", n, m, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// BenchmarkObserve reports observations by concurrent callers a second. A disk with a few hundred
// fsyncs a second should reach 2000.
func BenchmarkObserve(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "planbridge.db"), Options{})
			body := []byte(strings.Repeat("a body of a kibibyte ", 50))
			var n atomic.Int64
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
						l := &mapping.Link{ID: mapping.LinkID(mapping.NewID()), Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: i}}}
						o := store.Observation{Delivery: fmt.Sprint(i), Refs: l.Refs(), Create: l, Item: l.Refs()[0], At: 1, Data: body}
						if _, err := s.Observe(context.Background(), "p", []store.Observation{o}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "observations/s")
		})
	}
}

func TestClosedIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.db")
	s := open(t, path, Options{})
	if err := s.PutDoc(t.Context(), "p", "d", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, path, Options{}).Doc(t.Context(), "p", "d"); err != nil || string(got) != "x" {
		t.Errorf("Doc = %q, %v", got, err)
	}
}
