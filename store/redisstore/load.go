package redisstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// How a store is loaded. First the schema changes to loading, so that no program works on the
// store, not even one that does not know Load. The epoch changes at the same moment, in each
// project too, so that every earlier handle gets ErrEpoch. Then all other keys are deleted and
// the entries stored. The last step restores the schema. A load that ends before leaves a store
// that answers ErrUnfinished.

// schemaLoading is the schema of a store during a load.
const schemaLoading = "loading"

// loadBatch is how many entries one pipeline stores.
const loadBatch = 100

// Load implements [store.Dumps].
func (s *Store) Load(ctx context.Context, entries iter.Seq2[store.Entry, error], replace bool) error {
	if err := s.learn(ctx, func() error { return s.beginLoad(ctx, replace) }); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	err := s.fill(ctx, entries)
	if err == nil {
		_, err = s.run(ctx, scriptLoaded, "", rules.Schema)
	}
	if err != nil {
		s.known.Store(nil) // only another load may use it
		return fmt.Errorf("load: %w", err)
	}
	return nil
}

// beginLoad empties the store and excludes all other handles. learn calls it.
func (s *Store) beginLoad(ctx context.Context, replace bool) error {
	if err := s.inspect(ctx); err != nil {
		return err
	}
	meta := s.meta("")
	schema, err := s.rdb.HGet(ctx, meta, fieldSchema).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("schema of the store: %w", err)
	}
	if schema != schemaLoading {
		if err := checkSchema(schema); err != nil {
			return err
		}
		if err := s.mayLoad(ctx, replace); err != nil {
			return err
		}
	}
	k := newKnowledge(mapping.NewID())
	if err := s.rdb.HSet(ctx, meta, fieldEpoch, k.epoch, fieldSchema, schemaLoading).Err(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	projects, err := s.projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects[1:] {
		if err := s.rdb.HSet(ctx, s.meta(project), fieldEpoch, k.epoch).Err(); err != nil {
			return fmt.Errorf("begin in project %s: %w", project, err)
		}
	}
	if err := s.clear(ctx, meta); err != nil {
		return err
	}
	s.known.Store(k)
	return nil
}

// Unused returns [store.ErrInUse] where others use the store: a poller has a lease, and a worker
// may have a session.
func (s *Store) Unused(ctx context.Context) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	sessions, err := s.rdb.ZRangeByScoreWithScores(ctx, s.base("")+keySessions, &redis.ZRangeBy{Min: fmt.Sprintf("(%d", now.UnixMilli()), Max: "+inf"}).Result()
	if err != nil {
		return fmt.Errorf("sessions: %w", err)
	}
	alive := map[string]time.Time{}
	for _, z := range sessions {
		if id := fmt.Sprint(z.Member); !strings.HasPrefix(id, fallenMark) {
			alive[id] = time.UnixMilli(int64(z.Score))
		}
	}
	leases, err := s.rdb.HGetAll(ctx, s.base("")+keyLeases).Result()
	if err != nil {
		return fmt.Errorf("leases: %w", err)
	}
	for name, lease := range leases {
		parts := append(strings.SplitN(lease, ",", 3), "", "") // see scripts/acquire.lua
		ms, err := strconv.ParseInt(parts[0], 10, 64)
		until, owner, session := time.UnixMilli(ms), parts[1], parts[2]
		if ends := alive[session]; session != "" && ends.Before(until) {
			until = ends
		}
		if err == nil && until.After(now) {
			return inUse(owner+" has the lease "+name, until)
		}
	}
	for id, until := range alive {
		return inUse("the process of session "+id+" is alive", until)
	}
	return nil
}

// mayLoad fails where others use the store, or where it has data that must not be replaced.
func (s *Store) mayLoad(ctx context.Context, replace bool) error {
	if err := s.Unused(ctx); err != nil || replace {
		return err
	}
	projects, err := s.projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		base := s.base(project)
		for _, key := range []string{keyDocs, keySeen, keyLinks, keyTally, keyLedger} {
			n, err := s.rdb.Exists(ctx, base+key).Result()
			if err != nil {
				return fmt.Errorf("project %s: %w", project, err)
			}
			if n > 0 {
				return store.ErrNotEmpty
			}
		}
	}
	return nil
}

// inUse says who uses the store, and until when that is known.
func inUse(who string, until time.Time) error {
	return fmt.Errorf("%w: %s until %s: stop it, or wait until then where it is no more", store.ErrInUse, who, until.UTC().Format(time.RFC3339))
}

// now returns the store's time.
func (s *Store) now(ctx context.Context) (time.Time, error) {
	if s.clock != nil {
		return s.clock.Now(), nil
	}
	now, err := s.rdb.Time(ctx).Result()
	if err != nil {
		return now, fmt.Errorf("clock of redis: %w", err)
	}
	return now, nil
}

// clear deletes all keys except one.
func (s *Store) clear(ctx context.Context, but string) error {
	return s.keys(ctx, escapePattern(s.prefix)+":{*}:*", func(ctx context.Context, c redis.Cmdable, keys []string) error {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, key := range keys {
				if key != but {
					p.Unlink(ctx, key)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("clear: %w", err)
		}
		return nil
	})
}

// fill stores the entries, links in pipelines.
func (s *Store) fill(ctx context.Context, entries iter.Seq2[store.Entry, error]) error {
	if err := scriptLoad.Load(ctx, s.rdb).Err(); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	var batch []store.Entry
	flush := func() error {
		err := s.loadRecords(ctx, batch)
		batch = batch[:0]
		return err
	}
	for e, err := range entries {
		if err == nil && e.Record == nil {
			err = s.load(ctx, &e)
		} else if err == nil {
			if batch = append(batch, e); len(batch) == loadBatch {
				err = flush()
			}
		}
		if err != nil {
			return err
		}
	}
	return flush()
}

// load stores an entry other than a link.
func (s *Store) load(ctx context.Context, e *store.Entry) error {
	switch {
	case e.Document != nil:
		return s.PutDoc(ctx, e.Project, e.Document.Name, e.Document.Data)
	case e.Marks != nil:
		return s.PutMarks(ctx, e.Project, e.Marks.Set, e.Marks.Marks)
	case e.Conflict != nil:
		return s.PutConflict(ctx, *e.Conflict)
	}
	for some := range slices.Chunk(e.Deliveries, scanPage) {
		var pairs []any
		for _, d := range some {
			pairs = append(pairs, d.At.UnixMilli(), d.Key)
		}
		if err := s.write(ctx, e.Project, keySeen, "ZADD", pairs...); err != nil {
			return fmt.Errorf("deliveries of project %s: %w", e.Project, err)
		}
	}
	return nil
}

// loadRecords stores links of any projects.
func (s *Store) loadRecords(ctx context.Context, batch []store.Entry) error {
	var cmds []*redis.Cmd
	pipe := s.rdb.Pipeline()
	for _, e := range batch {
		k, seq, err := s.knowledgeOf(ctx, e.Project)
		if err != nil {
			return err
		}
		args, err := recordArgs(e.Project, e.Record)
		if err != nil {
			return err
		}
		cmds = append(cmds, scriptLoad.EvalSha(ctx, pipe, s.declared(e.Project), s.argv(k, seq, e.Project, args)...))
	}
	// Each command has its own error, checked below.
	pipe.Exec(ctx) //nolint:errcheck // see above
	for i, e := range batch {
		k, seq, err := s.knowledgeOf(ctx, e.Project)
		if err == nil {
			_, err = s.reply(k, seq, cmds[i])
		}
		if err != nil {
			return fmt.Errorf("link %s/%s: %w", e.Project, e.Record.Link.ID, err)
		}
	}
	return nil
}

// heldKey is the Service of a parked key that only Enqueue takes up.
const heldKey = "operator"

// recordArgs lists the arguments of load.lua.
func recordArgs(project mapping.ObjectID, r *store.Record) ([]any, error) {
	l := r.Link
	if err := rules.CheckLink(store.Key{Project: project, Link: l.ID}, l); err != nil {
		return nil, err
	}
	record, err := encode(l)
	if err != nil {
		return nil, err
	}
	history := ""
	lines, err := rules.EncodeHistory(r.History)
	if err != nil {
		return nil, err
	}
	if len(lines) > 0 {
		entries, err := encode(lines)
		if err != nil {
			return nil, err
		}
		history = fmt.Sprintf("%d,%d;%s", len(lines), len(entries), entries)
	}
	place, service := map[store.Place]string{store.Queued: "q", store.Waiting: "w", store.Parked: "f", store.Held: "f"}[r.Place], r.Service
	if r.Place == store.Held {
		service = heldKey
	}
	args := appendEntries([]any{string(l.ID), record}, l)
	// The token is above those of all earlier claims.
	args = append(args, history, place, r.Due.UnixMilli(), flag(r.Bulk), service, r.Reason, r.Attempts, r.Abandoned, time.Now().UnixMilli())
	inbox, err := inboxArgs(r.Inbox)
	if err != nil {
		return nil, err
	}
	args = append(append(args, len(inbox)), inbox...)
	for _, events := range [][][]byte{r.Events, r.Own} {
		args = append(args, len(events))
		for _, event := range events {
			args = append(args, event)
		}
	}
	return args, nil
}

// inboxArgs lists refs, slots in the form of observe.lua, and data.
func inboxArgs(inbox map[mapping.Ref]store.Snapshot) (args []any, err error) {
	for ref, in := range inbox {
		data, err := pack(in.Data)
		if err != nil {
			return nil, err
		}
		slot := fmt.Sprintf("%s%d1,%d,%d,%s", rules.OrderInt(in.At), flag(in.Ambiguous), in.Seen.UnixMilli(), len(in.Digest), in.Digest)
		args = append(args, string(ref), slot, data)
	}
	return args, nil
}

// checkSchema refuses a store of a newer program, and one during a load.
func checkSchema(schema string) error {
	if schema == schemaLoading {
		return store.ErrUnfinished
	}
	if n, err := strconv.Atoi(cmp.Or(schema, "0")); err != nil || n > rules.Schema {
		return fmt.Errorf("schema %q, this program knows %d: %w", schema, rules.Schema, store.ErrSchema)
	}
	return nil
}
