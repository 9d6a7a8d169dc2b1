package boltstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/storetest"
)

// filled writes a file with n links, and returns it.
func filled(t testing.TB, path string, n int) []byte {
	t.Helper()
	s := open(t, path, Options{})
	var all []store.Observation
	for i := range n {
		l := &mapping.Link{ID: mapping.LinkID(fmt.Sprintf("l%06d", i)), Project: "p", Pair: mapping.Pair{State: mapping.Entering, Issue: mapping.IssueID{ID: int64(i + 1)}}}
		all = append(all, store.Observation{
			Refs: l.Refs(), Create: l, Delivery: fmt.Sprint(i), Item: l.Refs()[0], At: 1, Digest: "d", Data: []byte(strings.Repeat("text ", 100)),
		})
	}
	if _, err := s.Observe(t.Context(), "p", all); err != nil {
		t.Fatal(err)
	}
	if err := s.PutDoc(t.Context(), "p", "large", make([]byte, 20_000)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestADamagedFileIsRefused: any part of a file is missing or overwritten. Opening it fails by its
// name, or the part was none in use and everything can be read.
func TestADamagedFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.db")
	whole := filled(t, path, 200)
	const page = 4096
	refused := 0
	try := func(what string, data []byte) (err error) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{})
		if err != nil {
			refused++
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", what, err)
			}
			return err
		}
		dump := func(store.Entry) error { return nil }
		if err := errors.Join(s.Dump(t.Context(), dump), s.Repair(t.Context(), "p"), s.PutDoc(t.Context(), "p", "d", nil), s.Close()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return nil
	}
	for n := 1; n < len(whole); n += 3 * page {
		_ = try(fmt.Sprintf("%d bytes are left", n), whole[:n])
	}
	seed := rand.Uint64()
	noise := rand.NewChaCha8([32]byte(fmt.Appendf(nil, "%032d", seed)))
	r := rand.New(noise)
	for n := range len(whole) / page {
		for kind, fill := range map[string]func(b []byte){
			"noise":              func(b []byte) { noise.Read(b) }, //nolint:errcheck // it returns none
			"nothing":            func(b []byte) { clear(b) },
			"another page":       func(b []byte) { copy(b, whole[r.IntN(len(whole)/page)*page:]) },
			"noise in its head":  func(b []byte) { noise.Read(b[:64]) }, //nolint:errcheck // it returns none
			"one bit":            func(b []byte) { b[r.IntN(64)] ^= 1 << r.IntN(8) },
			"noise after its id": func(b []byte) { noise.Read(b[10:16]) }, //nolint:errcheck // it returns none
		} {
			data := append([]byte(nil), whole...)
			fill(data[n*page:][:page])
			_ = try(fmt.Sprintf("seed %d: page %d has %s", seed, n, kind), data)
		}
	}
	for name, data := range map[string][]byte{"noise": noised(noise, 40_000), "text": []byte("no store"), "no heads": append(noised(noise, 2*page), whole[2*page:]...)} {
		if try(name, data) == nil {
			t.Errorf("%s was opened", name)
		}
	}
	if err := try("the whole file", whole); err != nil || refused < 100 {
		t.Errorf("%d files were refused, and of the whole one: %v", refused, err)
	}
}

func noised(noise *rand.ChaCha8, n int) []byte {
	b := make([]byte, n)
	noise.Read(b) //nolint:errcheck // it returns none
	return b
}

// TestALoadReplacesADamagedFile: only a Load that replaces the file does, and everything else names
// the damage.
func TestALoadReplacesADamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.db")
	short := filled(t, path, 200)[:30_000]
	if err := os.WriteFile(path, short, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{Damaged: true})
	entries := func(yield func(store.Entry, error) bool) {
		yield(store.Entry{Project: "p", Document: &store.Document{Name: "d", Data: []byte("text")}}, nil)
	}
	_, epochErr := s.Epoch(t.Context())
	_, docErr := s.Doc(t.Context(), "p", "d")
	for what, err := range map[string]error{
		"Epoch": epochErr, "Doc": docErr, "Ping": s.Ping(t.Context()), "PutDoc": s.PutDoc(t.Context(), "p", "d", nil), "Scrub": s.Scrub(t.Context()),
		"Load": s.Load(t.Context(), entries, false),
	} {
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s of a damaged file: %v", what, err)
		}
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(short) {
		t.Errorf("the damaged file has changed: %v", err)
	}
	if err := s.Load(t.Context(), entries, true); err != nil {
		t.Fatal(err)
	}
	if doc, err := s.Doc(t.Context(), "p", "d"); err != nil || string(doc) != "text" {
		t.Errorf("Doc after the Load = %q, %v", doc, err)
	}
	if err := errors.Join(s.Ping(t.Context()), s.Close()); err != nil {
		t.Error(err)
	}
	if doc, err := open(t, path, Options{}).Doc(t.Context(), "p", "d"); err != nil || string(doc) != "text" {
		t.Errorf("Doc of the file = %q, %v", doc, err)
	}
}

// BenchmarkOpen opens a file with 10,000 links.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "planbridge.db")
	b.Logf("%d bytes", len(filled(b, path, 10_000)))
	for b.Loop() {
		s, err := Open(path, Options{Clock: storetest.NewStillClock()})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
