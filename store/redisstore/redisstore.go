// Package redisstore is a store in Redis, for production and for several replicas. Its entry
// point is [Open].
//
// keys.go describes the keys. Every decision is one Lua script (scripts/*.lua, each with its
// arguments and its answer), so that it is atomic. Redis's clock decides about leases and due
// times. epoch.go describes how the handle notices a lost store.
package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"planbridge/mapping"
	"planbridge/store"
)

// The library has one log for the whole process, on standard error, and an unreachable Redis
// floods it. The errors returned here have the same information.
func init() { logging.Disable() }

// Bounds on one command.
const (
	dialTimeout = 3 * time.Second
	ioTimeout   = 3 * time.Second
	maxRetries  = 2
	defaultPool = 32
)

// ErrEviction: Redis may evict keys when its memory is full, and would silently lose links.
var ErrEviction = errors.New("redis may evict keys")

// Options configure a store.
type Options struct {
	// URL is what [redisurl.Parse] reads.
	URL string
	// Prefix is the prefix of every key; "": planbridge.
	Prefix string
	// QueueLimit bounds the queued keys of a project, those that wait for a service included. 0:
	// no bound.
	QueueLimit int
	Logger     *slog.Logger // nil: silent
	// Hook observes every command; nil: none.
	Hook redis.Hook
	// Unfinished also opens a store whose Load did not end, for another Load.
	Unfinished bool
	// Clock is the store's clock, to the millisecond, so that tests can advance time; nil:
	// Redis's.
	Clock store.Clock
}

// Store is a [store.Store] in Redis. It is safe for concurrent use.
type Store struct {
	rdb    redis.UniversalClient
	prefix string
	limit  int
	log    *slog.Logger
	clock  store.Clock // nil: Redis's

	known    atomic.Pointer[knowledge] // nil before the first contact
	learning chan struct{}             // held to change known; a channel, so that waiting ends with the context
	close    func() error
	observes sync.Map                      // mapping.ObjectID → *gathering
	full     sync.Map                      // mapping.ObjectID → nothing: a write was refused for lack of room; Ping clears it
	session  atomic.Pointer[store.Session] // nil before the first heartbeat
	claims   atomic.Int64                  // how many were sent

	unanswered unanswered
}

var _ store.Store = (*Store)(nil)

// Open returns a handle on the store. An unreachable Redis is no error: the handle connects and
// checks it later. An error is a fault that Open can find within ctx and an operator must repair:
// [ErrEviction], [store.ErrSchema], [store.ErrUnfinished] or an invalid URL. Errors never show
// the URL.
func Open(ctx context.Context, o Options) (*Store, error) {
	opt, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	s := &Store{
		rdb: redis.NewUniversalClient(opt), prefix: o.Prefix, limit: o.QueueLimit, log: o.Logger, clock: o.Clock,
		learning: make(chan struct{}, 1),
	}
	s.rdb.AddHook(awayHook{})
	if o.Hook != nil {
		s.rdb.AddHook(o.Hook)
	}
	s.close = sync.OnceValue(s.rdb.Close)
	if s.prefix == "" {
		s.prefix = "planbridge"
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	err = s.learn(ctx, func() error { _, err := s.connect(ctx); return err })
	switch {
	case errors.Is(err, store.ErrUnfinished) && o.Unfinished:
	case errors.Is(err, ErrEviction), errors.Is(err, store.ErrSchema), errors.Is(err, store.ErrUnfinished):
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.close())
	case err != nil:
		s.log.Warn("redis is away; the store is used once it is there", "err", err)
	}
	return s, nil
}

// Close ends the handle. It may be called more than once.
func (s *Store) Close() error { return s.close() }

// Ping implements [store.Store].
func (s *Store) Ping(ctx context.Context) error {
	err := s.write(ctx, "", "meta", "HSET", "ping", "1")
	if err == nil {
		err = s.probeRoom(ctx)
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Scrub implements [store.Store]. Each server rewrites its append-only file in the background. A
// server that forbids that command keeps deleted bytes until it rewrites the file by itself.
func (s *Store) Scrub(ctx context.Context) error {
	rewrite := func(ctx context.Context, c redis.Cmdable) error { return c.BgRewriteAOF(ctx).Err() }
	var err error
	if cluster, ok := s.rdb.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return rewrite(ctx, c) })
	} else {
		err = rewrite(ctx, s.rdb)
	}
	if err != nil && !strings.Contains(err.Error(), "already in progress") {
		return fmt.Errorf("scrub store: %w", err)
	}
	return nil
}

// read runs one read command on a key of a project.
func (s *Store) read(ctx context.Context, project mapping.ObjectID, key, command string, args ...any) (any, error) {
	r, err := s.run(ctx, scriptRead, project, append([]any{key, command, len(args)}, args...)...)
	if err != nil {
		return nil, err
	}
	return r.next(), r.err
}

// write runs one write command on a key of a project.
func (s *Store) write(ctx context.Context, project mapping.ObjectID, key, command string, args ...any) error {
	_, err := s.run(ctx, scriptWrite, project, append([]any{key, command, len(args)}, args...)...)
	return err
}
