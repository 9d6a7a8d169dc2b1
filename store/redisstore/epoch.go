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

// How a handle notices that the store was lost or replaced.
//
// The store has a random epoch in the space {-}. Each project has a copy of the epoch under its
// own hash tag, which the project's scripts can read. It also has a count (seq) of the scripts
// that wrote. Every script gets the handle's epoch and the highest seq in any answer of the
// project to this handle. It does nothing where the copy differs or is missing, or the count is
// lower:
//
//   - The copy is missing after FLUSHALL, on another server, or on a Cluster shard that came back
//     empty.
//   - The copy differs where another replica adopted after such a loss.
//   - The count is lower after a restored backup, after a failover to a replica that lagged, and
//     with an AOF that lacks its last second. Only the handle that wrote lost data can notice its
//     loss.
//
// The handle then refuses everything until Adopt. Adopt makes a fresh epoch, unless another
// handle did meanwhile, and gives each project its copy.
//
// A handle makes a project's copy at the first use. As a missing copy of a known project is a
// loss, {-}:projects lists the project after its copy is made. Where the process dies in between,
// the next user of the project adds it.

// knowledge is the handle's view of the store. It is safe for concurrent use. Adopt begins a new
// one.
type knowledge struct {
	epoch    string
	lost     atomic.Bool
	projects sync.Map // mapping.ObjectID → *atomic.Int64, the highest seq in an answer
}

func newKnowledge(epoch string, projects ...mapping.ObjectID) *knowledge {
	k := &knowledge{epoch: epoch}
	for _, p := range append(projects, "") {
		k.projects.Store(p, new(atomic.Int64))
	}
	return k
}

// copied is a project's copy of the epoch. It contains the schema, so that replicas of an earlier
// program stop when a newer one comes. They would not count their changes.
func (k *knowledge) copied(project mapping.ObjectID) string {
	if project == "" {
		return k.epoch
	}
	return k.epoch + "/" + strconv.Itoa(rules.Schema)
}

// seq returns the project's highest seq; nil before its first use.
func (k *knowledge) seq(project mapping.ObjectID) *atomic.Int64 {
	v, _ := k.projects.Load(project)
	seq, _ := v.(*atomic.Int64)
	return seq
}

// lose makes the handle refuse the store from now on.
func (s *Store) lose(k *knowledge, why string) error {
	if !k.lost.Swap(true) {
		s.log.Error("the store is not the one it was: everything marked is looked at before anything is created", "why", why, "fact", store.FactLost)
	}
	return fmt.Errorf("%s: %w", why, store.ErrEpoch)
}

// learn runs fn while no other goroutine changes the handle's view.
func (s *Store) learn(ctx context.Context, fn func() error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case s.learning <- struct{}{}:
		defer func() { <-s.learning }()
		return fn()
	}
}

// connect connects the handle to the store. At the first contact it checks the servers' settings and
// the schema. It takes the epoch, and makes one in an empty store. learn calls it.
func (s *Store) connect(ctx context.Context) (*knowledge, error) {
	if k := s.known.Load(); k != nil {
		if k.lost.Load() {
			return nil, store.ErrEpoch
		}
		return k, nil
	}
	if err := s.inspect(ctx); err != nil {
		return nil, err
	}
	epoch, err := s.ensureEpoch(ctx, "")
	if err != nil {
		return nil, err
	}
	k := newKnowledge(epoch)
	s.known.Store(k)
	return k, nil
}

// ensureEpoch checks the schema and returns the store's epoch. It makes a fresh epoch where there is
// none or it is the void one.
func (s *Store) ensureEpoch(ctx context.Context, void string) (string, error) {
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

// knowledgeOf returns what a script of the project needs.
func (s *Store) knowledgeOf(ctx context.Context, project mapping.ObjectID) (k *knowledge, seq *atomic.Int64, err error) {
	if k = s.known.Load(); k != nil && !k.lost.Load() {
		if seq = k.seq(project); seq != nil {
			return k, seq, nil
		}
	}
	err = s.learn(ctx, func() error {
		if k, err = s.connect(ctx); err != nil {
			return err
		}
		if seq = k.seq(project); seq == nil {
			seq, err = s.enter(ctx, k, project)
		}
		return err
	})
	return k, seq, err
}

// enter gives the project a copy of the epoch at the handle's first use.
func (s *Store) enter(ctx context.Context, k *knowledge, project mapping.ObjectID) (*atomic.Int64, error) {
	meta := s.meta(project)
	// The copy has an earlier program's form, which stops that program.
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
		// Another replica may do the same.
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
			k, err := s.connect(ctx)
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

// adopt gives the new epoch to every project that the store or the handle knows.
func (s *Store) adopt(ctx context.Context, old *knowledge) (string, error) {
	epoch, err := s.ensureEpoch(ctx, old.epoch)
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
	k := newKnowledge(epoch)
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
