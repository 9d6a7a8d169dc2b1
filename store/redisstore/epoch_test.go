package redisstore

import (
	"errors"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
)

// lost demands that a handle refuses a project and then adopts.
func lost(t *testing.T, s *Store, project mapping.ObjectID) string {
	t.Helper()
	old := s.known.Load().epoch
	if _, err := s.Depth(t.Context(), project); !errors.Is(err, store.ErrEpoch) {
		t.Errorf("an operation after the loss = %v, want %v", err, store.ErrEpoch)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, store.ErrEpoch) {
		t.Errorf("another project's operation = %v, want %v", err, store.ErrEpoch)
	}
	epoch, err := s.Adopt(t.Context())
	if err != nil || epoch == old {
		t.Errorf("Adopt = %q, %v, want another than before", epoch, err)
	}
	if _, err := s.Depth(t.Context(), project); err != nil {
		t.Errorf("an operation after Adopt: %v", err)
	}
	return epoch
}

func TestARollbackIsALoss(t *testing.T) {
	server := redistest.Start(t)
	a, b := open(t, Options{URL: server.URL}), open(t, Options{URL: server.URL})
	for range 3 {
		must(t, a.PutDoc(t.Context(), "p", "d", nil))
		must(t, b.PutDoc(t.Context(), "q", "d", nil))
	}
	// As a restored backup or a replica that lagged would have it.
	must(t, client(t, server).HIncrBy(t.Context(), a.meta("p"), "seq", -1).Err())
	epoch := lost(t, a, "p")
	if again := lost(t, b, "q"); again != epoch {
		t.Errorf("the other handle adopts %q, want %q", again, epoch)
	}
}

func TestALostProjectIsALoss(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	must(t, s.PutDoc(t.Context(), "p", "d", nil))
	must(t, s.PutDoc(t.Context(), "q", "d", nil))
	must(t, client(t, server).Del(t.Context(), s.meta("p"), "planbridge:{p}:docs").Err())
	// Also for a handle that never used the project, as after a restart.
	fresh := open(t, Options{URL: server.URL})
	lost(t, fresh, "p")
	if _, err := s.Depth(t.Context(), "q"); !errors.Is(err, store.ErrEpoch) {
		t.Errorf("the other handle on another project = %v, want %v", err, store.ErrEpoch)
	}
}

// Another server under the same address, with a store of its own.
func TestAReplacedStoreIsALoss(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	must(t, s.PutDoc(t.Context(), "p", "d", nil))
	server.Flush()
	other := open(t, Options{URL: server.URL})
	must(t, other.PutDoc(t.Context(), "p", "d", nil))
	want, err := other.Epoch(t.Context())
	must(t, err)
	if got := lost(t, s, "p"); got != want {
		t.Errorf("adopted %q, want the epoch that is there, %q", got, want)
	}
	must(t, other.Ping(t.Context()))
}

// The process may die after a project's copy was made and before that was
// remembered.
func TestAnUnregisteredProjectIsRepaired(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, Options{URL: server.URL})
	must(t, s.PutDoc(t.Context(), "p", "d", nil))
	c := client(t, server)
	must(t, c.HDel(t.Context(), "planbridge:{-}:projects", "p").Err())
	must(t, open(t, Options{URL: server.URL}).PutDoc(t.Context(), "p", "d", nil))
	if ok, err := c.HExists(t.Context(), "planbridge:{-}:projects", "p").Result(); err != nil || !ok {
		t.Errorf("the project is not registered, %v", err)
	}

	must(t, c.Del(t.Context(), "planbridge:{-}:projects", "planbridge:{-}:meta").Err())
	lost(t, open(t, Options{URL: server.URL}), "p") // a new epoch beside an old copy
}

func TestPrefixesAreApart(t *testing.T) {
	server := redistest.Start(t)
	a, b := open(t, Options{URL: server.URL, Prefix: "a"}), open(t, Options{URL: server.URL, Prefix: "b"})
	must(t, a.PutDoc(t.Context(), "p", "d", []byte("x")))
	if _, err := b.Doc(t.Context(), "p", "d"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Doc of another prefix = %v", err)
	}
}
