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

// TestRestartIsNamed: values that the intake, the polls and GitHub's client get only at the start
// are named, so that nobody waits for them.
func TestRestartIsNamed(t *testing.T) {
	load := func(settings string) *config.Config {
		t.Helper()
		c, err := config.Parse([]byte(minimal), "planbridge.yaml", environ)
		if err != nil {
			t.Fatal(err)
		}
		for key := range strings.FieldsSeq(settings) {
			switch key {
			case "github.settle":
				c.GitHub.Settle++
			case "github.enter_delay":
				c.GitHub.EnterDelay++
			case "github.former_accounts":
				c.GitHub.FormerAccounts = []string{"old-bot"}
			case "planning.settle":
				c.Planning.Settle++
			}
		}
		return c
	}
	for _, key := range []string{"github.settle", "github.enter_delay", "github.former_accounts", "planning.settle"} {
		if got := config.Diff(load(""), load(key)); !slices.Equal(got, []string{key}) {
			t.Errorf("%s: %v", key, got)
		}
	}
	if got := config.Diff(load(""), load("")); len(got) > 0 {
		t.Errorf("nothing changed, and %v needs a restart", got)
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
