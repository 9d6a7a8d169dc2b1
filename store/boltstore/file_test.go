package boltstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// A file that is deleted or replaced while it is open is a lost store. The handle refuses
// everything until Adopt, which goes on with the present file.
func TestFileTakenAwayWhileOpen(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"replaced": func(path string) error { return os.Rename(path+".old", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "planbridge.db")
			before := open(t, path+".old", Options{})
			if err := before.PutDoc(t.Context(), "p", "d", []byte("old")); err != nil {
				t.Fatal(err)
			}
			if err := before.Close(); err != nil {
				t.Fatal(err)
			}
			s := open(t, path, Options{})
			epoch, incarnation := know(t, s)
			link := &mapping.Link{ID: "l", Project: "p"}
			if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: link}}); err != nil {
				t.Fatal(err)
			}
			claim, _, err := s.Claim(t.Context(), "p", time.Minute)
			if err != nil || claim == nil {
				t.Fatalf("Claim = %v, %v", claim, err)
			}
			if err := take(path); err != nil {
				t.Fatal(err)
			}

			if _, err := s.Epoch(t.Context()); !errors.Is(err, store.ErrEpoch) {
				t.Errorf("Epoch = %v", err)
			}
			if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: link}}); !errors.Is(err, store.ErrEpoch) {
				t.Errorf("Observe = %v", err)
			}
			if _, err := s.Doc(t.Context(), "p", "d"); !errors.Is(err, store.ErrEpoch) {
				t.Errorf("Doc = %v", err)
			}
			if _, err := s.Adopt(t.Context()); err != nil {
				t.Fatal(err)
			}
			if now, other := know(t, s); now == epoch || other == incarnation {
				t.Errorf("epoch %q and incarnation %q are the same", now, other)
			}
			if err := s.Finish(t.Context(), claim, link, nil, store.Outcome{}); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("a claim of before: Finish = %v", err)
			}
			doc, err := s.Doc(t.Context(), "p", "d")
			if name == "replaced" && string(doc) != "old" || name == "deleted" && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("Doc after Adopt = %q, %v", doc, err)
			}
			if err := s.PutDoc(t.Context(), "p", "new", []byte("1")); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, path, Options{})
			if doc, err := again.Doc(t.Context(), "p", "new"); err != nil || string(doc) != "1" {
				t.Errorf("what was written after Adopt = %q, %v", doc, err)
			}
		})
	}
}

// An Adopt that cannot open the file leaves the store lost, and is tried again.
func TestAdoptIsTriedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.db")
	s := open(t, path, Options{})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, store.ErrEpoch) {
		t.Errorf("Ping = %v", err)
	}
	if _, err := s.Adopt(t.Context()); err == nil {
		t.Error("a directory was adopted")
	}
	if err := s.Ping(t.Context()); !errors.Is(err, store.ErrEpoch) {
		t.Errorf("Ping after an Adopt that failed = %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Adopt(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping once it is repaired = %v", err)
	}
}

// A restored old copy differs only by its incarnation.
func TestEachOpeningIsAnotherIncarnation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.db")
	s := open(t, path, Options{})
	epoch, incarnation := know(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if now, other := know(t, open(t, path, Options{})); now != epoch || other == incarnation {
		t.Errorf("epoch %q, incarnation %q after %q, %q", now, other, epoch, incarnation)
	}
}

func know(t *testing.T, s *Store) (epoch, incarnation string) {
	t.Helper()
	epoch, err := s.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if incarnation, err = s.Incarnation(context.Background()); err != nil || incarnation == "" {
		t.Fatalf("Incarnation = %q, %v", incarnation, err)
	}
	return epoch, incarnation
}
