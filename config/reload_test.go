package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"planbridge/config"
)

func TestReloader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.yaml")
	write := func(yaml string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("bad: true")
	if _, err := config.NewReloader(path, environ); err == nil {
		t.Fatal("a first configuration that is bad is taken")
	}
	write(minimal)
	r, err := config.NewReloader(path, environ)
	if err != nil {
		t.Fatal(err)
	}
	first := r.Current()

	write("routes: 5")
	var faults config.Faults
	if _, err := r.Reload(); !errors.As(err, &faults) {
		t.Errorf("a bad file gives %v", err)
	}
	if r.Current() != first {
		t.Error("a bad file replaced the configuration")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reload(); !errors.Is(err, os.ErrNotExist) || r.Current() != first {
		t.Errorf("a missing file gives %v", err)
	}

	write(minimal + "users: {octocat: alice}\n")
	if restart, err := r.Reload(); err != nil || len(restart) > 0 {
		t.Errorf("users need %v, %v", restart, err)
	}
	if r.Current().Users["octocat"] != "alice" || len(first.Users) > 0 {
		t.Error("the new configuration is not in force, or changed the old one")
	}

	write(strings.ReplaceAll(minimal, "planning.example.com", "p.example.com") +
		"server: {listen: \":1\", admin_listen: \"127.0.0.1:2\"}\nstore: {url: \"file:x\", prefix: y}\n")
	restart, err := r.Reload()
	want := []string{"server.listen", "server.admin_listen", "planning.base_url", "store.url", "store.prefix"}
	if err != nil || !slices.Equal(restart, want) {
		t.Errorf("%v, %v", restart, err)
	}
}

// TestReloaderConcurrently is for the race detector.
func TestReloaderConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.yaml")
	if err := os.WriteFile(path, []byte(minimal), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := config.NewReloader(path, environ)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				if _, err := r.Reload(); err != nil {
					t.Error(err)
				}
				if r.Current().Routes[0].Bucket != "Incoming" {
					t.Error("half a configuration")
				}
			}
		})
	}
	wg.Wait()
}
