package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// How a handle notices that the store is not the one it was.
//
// The store has a random epoch in the space {-}. Each project has a copy of it
// under its own hash tag, where the project's scripts can see it, and a count
// (seq) of the scripts that wrote. Every script is given the handle's epoch and
// the highest seq that this project ever answered the handle with, and does
// nothing where the copy is another or missing or the count is lower:
//
//   - FLUSHALL, another server, a Cluster shard that came back empty: the copy
//     is missing.
//   - another replica adopted after such a loss: the copy is another.
//   - a restored backup, a failover to a replica that lagged, an AOF whose
//     last second is gone: the count is lower than what this handle was told
//     when it wrote. (A loss of nothing that this handle wrote is seen by the
//     handle that wrote it.)
//
// From then on the handle refuses everything until Adopt, which makes a fresh
// epoch where nobody else has made one since, and gives each project its copy.
//
// A project's copy is made when a handle first uses it. Since a missing copy
// is a loss for whoever knows the project, that is remembered in
// {-}:projects, after the copy is made; where the process dies in between, the
// next to use the project does it.

// knowledge is what a handle has learnt of the store. It is safe for
// concurrent use; Adopt begins another.
type knowledge struct {
	epoch    string
	lost     atomic.Bool
	projects sync.Map // mapping.ObjectID → *atomic.Int64, the highest seq that was answered
}

func know(epoch string, projects ...mapping.ObjectID) *knowledge {
	k := &knowledge{epoch: epoch}
	for _, p := range append(projects, "") {
		k.projects.Store(p, new(atomic.Int64))
	}
	return k
}

// copied is a project's copy of the epoch. It names the schema, so that replicas of
// an earlier program, which would keep no count of what they change, stop when one
// of a newer program comes.
func (k *knowledge) copied(project mapping.ObjectID) string {
	if project == "" {
		return k.epoch
	}
	return k.epoch + "/" + strconv.Itoa(rules.Schema)
}

// seq returns the project's highest seq; nil where the project was not used yet.
func (k *knowledge) seq(project mapping.ObjectID) *atomic.Int64 {
	v, _ := k.projects.Load(project)
	seq, _ := v.(*atomic.Int64)
	return seq
}

// lose ends the trust in the store.
func (s *Store) lose(k *knowledge, why string) error {
	if !k.lost.Swap(true) {
		s.log.Error("the store is not the one it was", "why", why)
	}
	return fmt.Errorf("%s: %w", why, store.ErrEpoch)
}

// learn runs fn while nobody else changes what the handle knows.
func (s *Store) learn(ctx context.Context, fn func() error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case s.learning <- struct{}{}:
		defer func() { <-s.learning }()
		return fn()
	}
}

// meet makes sure that the handle knows the store: at the first contact it
// checks the servers' settings and the schema, and takes the epoch, making one
// in an empty store. It is called by learn.
func (s *Store) meet(ctx context.Context) (*knowledge, error) {
	if k := s.known.Load(); k != nil {
		if k.lost.Load() {
			return nil, store.ErrEpoch
		}
		return k, nil
	}
	if err := s.inspect(ctx); err != nil {
		return nil, err
	}
	epoch, err := s.settle(ctx, "")
	if err != nil {
		return nil, err
	}
	k := know(epoch)
	s.known.Store(k)
	return k, nil
}

// settle checks the schema and returns the store's epoch, making a fresh one
// where there is none or it is the void one.
func (s *Store) settle(ctx context.Context, void string) (string, error) {
	meta := s.meta("")
	schema, err := s.rdb.HGet(ctx, meta, fieldSchema).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", fmt.Errorf("schema of the store: %w", err)
	}
	if err := checkSchema(schema); err != nil {
		return "", err
	}
	epoch, err := scriptAdopt.Run(ctx, s.rdb, []string{meta}, void, mapping.NewID(), rules.Schema, schemaLoading).Text()
	if err != nil {
		return "", fmt.Errorf("epoch of the store: %w", err)
	}
	if epoch == "" { // a load began just now
		return "", store.ErrUnfinished
	}
	return epoch, nil
}

// join returns what a script of the project has to be given.
func (s *Store) join(ctx context.Context, project mapping.ObjectID) (k *knowledge, seq *atomic.Int64, err error) {
	if k = s.known.Load(); k != nil && !k.lost.Load() {
		if seq = k.seq(project); seq != nil {
			return k, seq, nil
		}
	}
	err = s.learn(ctx, func() error {
		if k, err = s.meet(ctx); err != nil {
			return err
		}
		if seq = k.seq(project); seq == nil {
			seq, err = s.enter(ctx, k, project)
		}
		return err
	})
	return k, seq, err
}

// enter makes sure, at the handle's first use of a project, that it has a copy
// of the epoch.
func (s *Store) enter(ctx context.Context, k *knowledge, project mapping.ObjectID) (*atomic.Int64, error) {
	meta := s.meta(project)
	// As an earlier program has it, which stops with this.
	if err := scriptRenew.Run(ctx, s.rdb, []string{meta}, k.epoch, k.copied(project)).Err(); err != nil {
		return nil, fmt.Errorf("project %s: %w", project, err)
	}
	copied, err := s.rdb.HGet(ctx, meta, fieldEpoch).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("project %s: %w", project, err)
	}
	global := k.seq("")
	r, err := s.exec(ctx, k, global, scriptRead, "", keyProjects, "HEXISTS", 1, string(project))
	if err != nil {
		return nil, err
	}
	registered := r.num() == 1
	if copied == "" && !registered {
		// Another replica may be doing the same.
		made, err := s.rdb.HSetNX(ctx, meta, fieldEpoch, k.copied(project)).Result()
		if err == nil && made {
			err = s.rdb.HSet(ctx, meta, fieldForm, indexForm).Err()
		}
		if err != nil {
			return nil, fmt.Errorf("project %s: %w", project, err)
		}
		if copied, err = s.rdb.HGet(ctx, meta, fieldEpoch).Result(); err != nil {
			return nil, fmt.Errorf("project %s: %w", project, err)
		}
	}
	if copied != k.copied(project) {
		k.projects.Store(project, new(atomic.Int64)) // for Adopt to repair
		return nil, s.lose(k, "project "+string(project)+" has epoch "+strconv.Quote(copied))
	}
	if !registered {
		if _, err := s.exec(ctx, k, global, scriptWrite, "", keyProjects, "HSET", 2, string(project), "1"); err != nil {
			return nil, err
		}
	}
	seq := new(atomic.Int64)
	k.projects.Store(project, seq)
	return seq, nil
}

// Epoch implements [store.Store].
func (s *Store) Epoch(ctx context.Context) (string, error) {
	epoch, err := s.read(ctx, "", "meta", "HGET", fieldEpoch)
	if err != nil {
		return "", fmt.Errorf("epoch: %w", err)
	}
	return fmt.Sprint(epoch), nil
}

// Adopt implements [store.Store].
func (s *Store) Adopt(ctx context.Context) (epoch string, err error) {
	err = s.learn(ctx, func() error {
		old := s.known.Load()
		if old == nil || !old.lost.Load() {
			k, err := s.meet(ctx)
			if err == nil {
				epoch = k.epoch
			}
			return err
		}
		epoch, err = s.adopt(ctx, old)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("adopt: %w", err)
	}
	return epoch, nil
}

// adopt gives every project that the store or the handle knows the epoch under
// which the store goes on.
func (s *Store) adopt(ctx context.Context, old *knowledge) (string, error) {
	epoch, err := s.settle(ctx, old.epoch)
	if err != nil {
		return "", err
	}
	registry := s.base("") + keyProjects
	names, err := s.rdb.HKeys(ctx, registry).Result()
	if err != nil {
		return "", fmt.Errorf("projects: %w", err)
	}
	old.projects.Range(func(p, _ any) bool {
		if p != mapping.ObjectID("") {
			names = append(names, string(p.(mapping.ObjectID)))
		}
		return true
	})
	k := know(epoch)
	for _, name := range names {
		p := mapping.ObjectID(name)
		if err := s.rdb.HSet(ctx, s.meta(p), fieldEpoch, k.copied(p)).Err(); err != nil {
			return "", fmt.Errorf("project %s: %w", p, err)
		}
		if err := s.rdb.HSet(ctx, registry, name, "1").Err(); err != nil {
			return "", fmt.Errorf("project %s: %w", p, err)
		}
		k.projects.Store(p, new(atomic.Int64))
	}
	s.known.Store(k)
	return epoch, nil
}
