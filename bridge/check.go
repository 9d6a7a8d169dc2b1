package bridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/guard"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

// Level says how bad a [Finding] is.
type Level string

// The levels of findings.
const (
	LevelOK    Level = "ok"
	LevelWarn  Level = "warn"  // works, or cannot be told
	LevelFault Level = "fault" // does not work
)

// Finding is one thing that Check found out.
type Finding struct {
	Level Level  `json:"level"`
	Place string `json:"place"`
	Words string `json:"words"`
	// away: the service did not answer, which proves nothing.
	away bool
}

// Bounds of a check.
const (
	checkRequest  = 10 * time.Second // one request
	checkPlace    = 30 * time.Second // all of one place
	checkParallel = 4                // places at once
)

// Running visits the links of the service that runs with this configuration; an
// error says why there was none that answered.
type Running func(ctx context.Context, visit func(status.Link)) error

// Check proves a configuration against the live services, by reading alone. A
// service that is down is a fault among the others and stops nothing. The
// findings stand in the order of the file: secrets, store, projects, GitHub, routes; at
// the end are the links that are where no route leads now. Where another process
// has the store, running tells of them.
func Check(ctx context.Context, c *config.Config, running Running, log *slog.Logger) []Finding {
	k := newChecker(newSettings(c, false), log)
	k.running = running
	found := k.services(ctx)
	if k.github != nil {
		defer k.github.Close()
	}
	return append(found, look(ctx, []place{{"links", k.links}})...)
}

func newChecker(set *settings, log *slog.Logger) *checker {
	return &checker{
		config: set.config, set: set, log: log,
		linked: counted{places: map[linkPlace]int{}}, names: map[string]string{}, titles: map[string]string{},
	}
}

// services looks at all that the configuration names.
func (k *checker) services(ctx context.Context) []Finding {
	places := append([]place{{"secrets", k.secrets}, {"store", k.store}}, k.plannings()...)
	hub, err := newGitHubClient(k.config, github.Options{Timeout: checkRequest, Logger: k.log})
	if err != nil {
		return append(look(ctx, places), Finding{Level: LevelFault, Place: "github", Words: err.Error()})
	}
	k.github = hub
	reached := false
	places = append(places, place{"github", func(ctx context.Context, r *findings) { reached = k.account(ctx, r) }})
	found := look(ctx, places)
	if !reached {
		return append(found, Finding{Level: LevelWarn, Place: "github", Words: "no repository was looked at"})
	}
	return append(found, look(ctx, k.repositories())...)
}

// plannings lists a place for each planning project.
func (k *checker) plannings() (places []place) {
	for _, name := range slices.Sorted(maps.Keys(k.config.Planning.Projects)) {
		places = append(places, place{"planning " + name, func(ctx context.Context, r *findings) { k.project(ctx, r, name) }})
	}
	return places
}

// checker proves one configuration.
type checker struct {
	brief   bool // webhooks are left out
	config  *config.Config
	set     *settings
	github  *github.Client // nil: it cannot be made
	log     *slog.Logger
	running Running
	linked  counted // by the store's place

	mu     sync.Mutex
	names  map[string]string // of repositories, in lower case, to what each is called now
	titles map[string]string // of buckets, by id
}

// place is one thing to look at.
type place struct {
	name string
	look func(ctx context.Context, r *findings)
}

// look looks at places, a few at a time, and keeps their order.
func look(ctx context.Context, places []place) []Finding {
	all := make([]findings, len(places))
	var looking sync.WaitGroup
	turns := make(chan struct{}, checkParallel)
	g := guard.New(slog.New(slog.DiscardHandler))
	for i, p := range places {
		turns <- struct{}{}
		g.Spawn(&looking, "check", func() {
			defer func() { <-turns }()
			ctx, cancel := context.WithTimeout(ctx, checkPlace)
			defer cancel()
			all[i].place = p.name
			if err := g.Do("check of", p.name, func() error { p.look(ctx, &all[i]); return nil }); err != nil {
				all[i].fault("%v", err)
			}
		})
	}
	looking.Wait() // a place tells what is wrong in its findings
	list := []Finding{}
	for i := range all {
		list = append(list, all[i].list...)
	}
	return list
}

// findings collects what is found out about one place.
type findings struct {
	place string
	list  []Finding
}

func (f *findings) add(l Level, format string, args ...any) {
	f.list = append(f.list, Finding{Level: l, Place: f.place, Words: fmt.Sprintf(format, args...)})
}

func (f *findings) ok(format string, args ...any)    { f.add(LevelOK, format, args...) }
func (f *findings) warn(format string, args ...any)  { f.add(LevelWarn, format, args...) }
func (f *findings) fault(format string, args ...any) { f.add(LevelFault, format, args...) }

// away adds a fault that another service is to blame for: it does not answer.
func (f *findings) away(format string, args ...any) {
	f.fault(format, args...)
	f.list[len(f.list)-1].away = true
}

// Routes are told apart in words, as several can share a place.
func ofRoute(r *mapping.Route) string { return "route " + r.Name + ": " }

// store opens the store, says what its settings can lose, and counts its links.
// What the back end warns of when it is opened is a finding.
func (k *checker) store(ctx context.Context, r *findings) {
	path, file := k.config.Store.File()
	if _, err := os.Stat(path); file && errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			r.fault("%s cannot be made: there is no directory %s", path, filepath.Dir(path))
			k.linked.err = errNoStore
			return
		}
		r.ok("%s is not there yet and will be made", path)
		return
	}
	warned := &warnings{}
	s, err := OpenStore(ctx, k.config, slog.New(warned))
	if errors.Is(err, store.ErrInUse) {
		r.ok("%s is in use by another process; where that is planbridge, all is well", path)
		k.linked.err = k.running(ctx, k.linked.add)
		return
	}
	k.linked.err = errNoStore
	if err != nil {
		r.fault("%v", err)
		return
	}
	defer s.Close()
	if err := ping(ctx, s); err != nil {
		r.fault("%s does not answer: %v", k.config.Store.Redacted(), err)
		return
	}
	r.ok("%s can be read and written", k.config.Store.Redacted())
	for _, w := range warned.list() {
		r.warn("%s", w)
	}
	if !file {
		r.ok("what a crash of Redis can lose: with appendfsync always nothing, with everysec the last second, " +
			"and a failover what its replica had not got; links that are lost are found again by their markers")
	}
	k.linked.err = k.linked.countStore(ctx, s, k.config.Planning.Projects)
}

func ping(ctx context.Context, s store.Store) error {
	ctx, cancel := context.WithTimeout(ctx, checkRequest)
	defer cancel()
	return s.Ping(ctx)
}

// warnings is a slog.Handler that keeps the words of warnings and errors.
type warnings struct {
	mu    sync.Mutex
	words []string
}

func (w *warnings) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.words
}

// Enabled implements slog.Handler.
func (w *warnings) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements slog.Handler.
func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	parts := []string{r.Message}
	r.Attrs(func(a slog.Attr) bool {
		parts = append(parts, a.Value.String())
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.words = append(w.words, strings.Join(parts, ": "))
	return nil
}

// WithAttrs implements slog.Handler.
func (w *warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements slog.Handler.
func (w *warnings) WithGroup(string) slog.Handler { return w }
