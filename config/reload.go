package config

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Reloader has the present configuration and reloads it from the file on demand. All methods are
// safe for concurrent use.
type Reloader struct {
	path    string
	env     func(string) (string, bool)
	mu      sync.Mutex // one Reload at a time
	current atomic.Pointer[Config]
}

// NewReloader loads the configuration for the first time. Its arguments and errors are those of
// [Load].
func NewReloader(path string, env func(string) (string, bool)) (*Reloader, error) {
	c, err := Load(path, env)
	if err != nil {
		return nil, err
	}
	r := &Reloader{path: path, env: env}
	r.current.Store(c)
	return r, nil
}

// Current returns the present configuration.
func (r *Reloader) Current() *Config { return r.current.Load() }

// Reload replaces the configuration by the file's present content, with its secrets. It returns
// the changed keys that take effect only after a restart (see [Diff]). When the file is bad it
// changes nothing and returns the error of [Load].
func (r *Reloader) Reload() (restart []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := Load(r.path, r.env)
	if err != nil {
		return nil, err
	}
	return Diff(r.current.Swap(c), c), nil
}

// Diff returns the keys that differ and are read only when the service starts: listeners, the
// store, intervals, and the services with their accounts. Some take effect partly: the work on a
// link reads github.settle each time, the catch-up only at the start.
func Diff(before, after *Config) []string {
	keys := []struct {
		path    string
		changed bool
	}{
		{"server.listen", before.Server.Listen != after.Server.Listen},
		{"server.admin_listen", before.Server.AdminListen != after.Server.AdminListen},
		{"github.api_url", before.GitHub.APIURL != after.GitHub.APIURL},
		{"github.token", !before.GitHub.Token.Equal(after.GitHub.Token)},
		{"github.app", !before.GitHub.App.equal(after.GitHub.App)},
		{"github.catch_up_interval", before.GitHub.CatchUpInterval != after.GitHub.CatchUpInterval},
		{"github.settle", before.GitHub.Settle != after.GitHub.Settle},
		{"github.enter_delay", before.GitHub.EnterDelay != after.GitHub.EnterDelay},
		{"github.former_accounts", !slices.Equal(before.GitHub.FormerAccounts, after.GitHub.FormerAccounts)},
		{"planning.poll_interval", before.Planning.PollInterval != after.Planning.PollInterval},
		{"planning.poll_min", before.Planning.PollMin != after.Planning.PollMin},
		{"planning.task_sweep_interval", before.Planning.TaskSweepInterval != after.Planning.TaskSweepInterval},
		{"planning.settle", before.Planning.Settle != after.Planning.Settle},
		{"planning.base_url", before.Planning.BaseURL != after.Planning.BaseURL},
		{"store.url", before.Store.URL != after.Store.URL},
		{"store.prefix", before.Store.Prefix != after.Store.Prefix},
	}
	var changed []string
	for _, key := range keys {
		if key.changed {
			changed = append(changed, key.path)
		}
	}
	return changed
}

func (a *App) equal(b *App) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && a.PrivateKey.Equal(b.PrivateKey)
}
