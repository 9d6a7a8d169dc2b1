package preflight

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"planbridge/bridge/epoch"
	"planbridge/store"
)

// store opens the store, reports what its settings can lose, and counts its links. Warnings of
// the back end are findings.
func (k *checker) store(ctx context.Context, r *findings) {
	path, file := k.Store.File, k.Store.File != ""
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
	s, err := k.services.OpenStore(ctx, slog.New(warned))
	if errors.Is(err, store.ErrInUse) {
		k.inUse(ctx, r, path)
		return
	}
	k.linked.err = errNoStore
	if err != nil {
		r.fault("%v", err)
		return
	}
	defer s.Close()
	if err := ping(ctx, s); err != nil {
		r.fault("%s does not answer: %v", k.Store.Name, err)
		return
	}
	if err := epoch.Check(ctx, s); errors.Is(err, store.ErrCopied) {
		r.fault("%v: store.url has to name the copy", err)
		return
	}
	r.ok("%s can be read and written", k.Store.Name)
	for _, w := range warned.list() {
		r.warn("%s", w)
	}
	if !file {
		r.ok("what a crash of Redis can lose: with appendfsync always nothing, with everysec the last second, " +
			"and a failover what its replica had not got; links that are lost are found again by their markers")
	}
	k.linked.err = nil
	if k.AgainstRunning && k.services.RunningLinks(ctx, k.linked.add) == nil {
		return
	}
	clear(k.linked.places) // of an answer that broke off
	k.linked.err = k.linked.countStore(ctx, s)
}

// inUse reports the running service's statement on its file, which it keeps from other processes.
func (k *checker) inUse(ctx context.Context, r *findings, path string) {
	switch why, err := k.services.RunningUnready(ctx); {
	case err != nil:
		r.warn("%s is in use by another process, and no service answers: %v", path, err)
	case why != "":
		r.fault("%s is in use by a service that is not ready: %s", path, why)
	default:
		r.ok("%s is in use by the service that runs", path)
	}
	k.linked.err = k.services.RunningLinks(ctx, k.linked.add)
}

func ping(ctx context.Context, s store.Store) error {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	return s.Ping(ctx)
}

// warnings is a slog.Handler that collects warnings and errors.
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
