package redisstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// Observe implements [store.Queue]. What several callers observe at the same
// time shares round trips and scripts (see gather.go).
func (s *Store) Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	args := make([][]any, len(obs))
	for i := range obs {
		if err := rules.CheckObservation(project, &obs[i]); err != nil {
			return nil, err
		}
		var err error
		if args[i], err = s.observation(&obs[i]); err != nil {
			return nil, fmt.Errorf("observe in project %s: %w", project, err)
		}
	}
	if len(obs) == 0 {
		return nil, nil
	}
	seen, err := s.gathering(project).observe(ctx, args)
	if err != nil {
		return nil, fmt.Errorf("observe in project %s: %w", project, err)
	}
	return seen, nil
}

// scriptMost bounds the observations of one script, and with it how long it
// keeps Redis from others: some milliseconds.
const scriptMost = 32

// observe sends observations in one pipeline, so many to a script.
func (s *Store) observe(ctx context.Context, project mapping.ObjectID, args [][]any) ([]store.Observed, error) {
	k, seq, err := s.join(ctx, project)
	if err != nil {
		return nil, err
	}
	pipe := func() []*redis.Cmd {
		var cmds []*redis.Cmd
		// Each command has its own error, which is looked at below.
		s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error { //nolint:errcheck // see above
			for some := range slices.Chunk(args, scriptMost) {
				head := []any{s.limit, rules.Deliveries.Milliseconds(), rules.DeliverySweep, rules.Events, len(some)}
				argv := s.argv(k, seq, slices.Concat(append([][]any{head}, some...)...))
				cmds = append(cmds, scriptObserve.EvalSha(ctx, p, []string{s.meta(project)}, argv...))
			}
			return nil
		})
		return cmds
	}
	cmds := pipe()
	if redis.HasErrorPrefix(cmds[0].Err(), "NOSCRIPT") {
		// Nothing was done: a pipeline's first command is the first to run.
		if err := scriptObserve.Load(ctx, s.rdb).Err(); err != nil {
			return nil, fmt.Errorf("redis: %w", err)
		}
		cmds = pipe()
	}
	seen := make([]store.Observed, 0, len(args))
	for _, cmd := range cmds {
		r, err := s.reply(k, seq, cmd)
		if err != nil {
			return nil, err
		}
		for r.more() {
			seen = append(seen, observed(project, r))
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	if len(seen) != len(args) {
		return nil, fmt.Errorf("redis: %d answers to %d observations", len(seen), len(args))
	}
	return seen, nil
}

// observation lists what observe.lua takes of one observation.
func (s *Store) observation(o *store.Observation) ([]any, error) {
	var delivery, item, newID string
	var data, record []byte
	var newRefs []mapping.Ref
	var err error
	if o.Delivery != "" {
		delivery = rules.DeliveryKey(o)
	}
	if o.Data != nil {
		item = string(o.Item)
		if data, err = pack(o.Data); err != nil {
			return nil, err
		}
	}
	if o.Create != nil {
		newID, newRefs = string(o.Create.ID), o.Create.Refs()
		if record, err = encode(o.Create); err != nil {
			return nil, err
		}
	}
	args := []any{
		delivery, millis(o.Delay), flag(o.Bulk), string(o.Link),
		item, rules.OrderInt(o.At), o.Digest, data, o.Event, newID, record,
	}
	args = appendRefs(args, o.Refs)
	return appendRefs(args, newRefs), nil
}

func observed(project mapping.ObjectID, r *reply) (o store.Observed) {
	if id := r.str(); id != "" {
		o.Key = store.Key{Project: project, Link: mapping.LinkID(id)}
	}
	o.Created, o.Duplicate, o.Stored = r.num() == 1, r.num() == 1, r.num() == 1
	if r.str() == "FULL" {
		o.Err = fmt.Errorf("%s: %w", o.Key, store.ErrFull)
	}
	return o
}

// appendRefs adds a list in the form that the scripts' args() reads.
func appendRefs(args []any, refs []mapping.Ref) []any {
	args = append(args, len(refs))
	for _, ref := range refs {
		args = append(args, string(ref))
	}
	return args
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// millis rounds up, so that nothing is due too early.
func millis(d time.Duration) int64 {
	return (max(d, 0) + time.Millisecond - 1).Milliseconds()
}
