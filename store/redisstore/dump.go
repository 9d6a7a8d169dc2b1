package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// Bounds on what one script of a dump reads. Redis answers nobody else during a script, for some
// milliseconds.
const (
	dumpRecords   = 50
	dumpConflicts = 200
)

// dumped is a part of a project's space in a dump.
type dumped struct {
	what string
	dump func(s *Store, ctx context.Context, project mapping.ObjectID, visit func(store.Entry) error) error
}

// dumpOrder lists the dumped parts in order.
var dumpOrder = []dumped{
	{"documents", (*Store).dumpDocuments},
	{"marks", (*Store).dumpMarks},
	{"deliveries", (*Store).dumpDeliveries},
	{"links", (*Store).dumpLinks},
	{"ledger", (*Store).dumpLedger},
}

// Dump implements [store.Dumps].
func (s *Store) Dump(ctx context.Context, visit func(store.Entry) error) error {
	if _, err := s.Epoch(ctx); err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	projects, err := s.projects(ctx)
	if err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	for _, d := range dumpOrder {
		for _, project := range projects {
			if err := d.dump(s, ctx, project, visit); err != nil {
				return fmt.Errorf("dump %s of project %s: %w", d.what, project, err)
			}
		}
	}
	return nil
}

// projects lists the known projects, after the space of no project.
func (s *Store) projects(ctx context.Context) ([]mapping.ObjectID, error) {
	names, err := s.rdb.HKeys(ctx, s.base("")+keyProjects).Result()
	if err != nil {
		return nil, fmt.Errorf("projects: %w", err)
	}
	slices.Sort(names)
	projects := []mapping.ObjectID{""}
	for _, name := range names {
		projects = append(projects, mapping.ObjectID(name))
	}
	return projects, nil
}

func (s *Store) dumpDocuments(ctx context.Context, project mapping.ObjectID, visit func(store.Entry) error) error {
	return s.scan(ctx, project, keyDocs, "HSCAN", func(pairs *reply) error {
		for pairs.more() {
			d := &store.Document{Name: pairs.str()}
			d.Data = []byte(pairs.str())
			if err := visit(store.Entry{Project: project, Document: d}); err != nil {
				return err
			}
		}
		return pairs.err
	})
}

func (s *Store) dumpMarks(ctx context.Context, project mapping.ObjectID, visit func(store.Entry) error) error {
	base := s.base(project) + keyMarks
	var sets []string
	err := s.keys(ctx, escapePattern(base)+"*", func(_ context.Context, _ redis.Cmdable, keys []string) error {
		for _, key := range keys {
			sets = append(sets, strings.TrimPrefix(key, base))
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(sets)
	for _, set := range slices.Compact(sets) {
		err := s.scan(ctx, project, keyMarks+set, "HSCAN", func(pairs *reply) error {
			some := &store.MarkSet{Set: set, Marks: map[string]string{}}
			for pairs.more() {
				id := pairs.str()
				some.Marks[id] = pairs.str()
			}
			if len(some.Marks) == 0 || pairs.err != nil {
				return pairs.err
			}
			return visit(store.Entry{Project: project, Marks: some})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) dumpDeliveries(ctx context.Context, project mapping.ObjectID, visit func(store.Entry) error) error {
	return s.scan(ctx, project, keySeen, "ZSCAN", func(pairs *reply) error {
		var some []store.Delivery
		for pairs.more() {
			some = append(some, store.Delivery{Key: []byte(pairs.str()), At: time.UnixMilli(pairs.num()).UTC()})
		}
		if len(some) == 0 || pairs.err != nil {
			return pairs.err
		}
		return visit(store.Entry{Project: project, Deliveries: some})
	})
}

func (s *Store) dumpLinks(ctx context.Context, project mapping.ObjectID, visit func(store.Entry) error) error {
	for cursor, begun := "", false; cursor != "" || !begun; begun = true {
		r, err := s.run(ctx, scriptDump, project, cursor, dumpRecords)
		if err != nil {
			return err
		}
		for cursor = r.str(); r.more(); {
			if err := visitLink(project, r.list(), visit); err != nil {
				return err
			}
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// visitLink visits the link in an answer of dump.lua.
func visitLink(project mapping.ObjectID, r *reply, visit func(store.Entry) error) error {
	key := store.Key{Project: project, Link: mapping.LinkID(r.str())}
	record, spoilt := recordOf(key, r)
	if record != nil {
		if err := visit(store.Entry{Project: project, Record: record}); err != nil {
			return err
		}
	}
	if spoilt == nil {
		return nil
	}
	return visit(store.Entry{Project: project, Spoilt: fmt.Sprintf("link %s: %v", key, spoilt)})
}

// recordOf reads a link from an answer of dump.lua. It reports and omits unreadable parts.
// Without its link there is no record.
func recordOf(key store.Key, r *reply) (*store.Record, error) {
	since := r.num()
	fields := map[string]string{}
	for all := r.list(); all.more(); {
		name := all.str()
		fields[name] = all.str()
	}
	out := &store.Record{Link: new(mapping.Link)}
	if err := decode(fields["r"], out.Link); err != nil {
		return nil, err
	}
	if err := rules.CheckLink(key, out.Link); err != nil {
		return nil, err
	}
	claim := &store.Claim{Inbox: map[mapping.Ref]store.Snapshot{}}
	var spoilt error
	for name, value := range fields {
		if name == "r" {
			continue
		}
		if err := claimField(claim, name, value); err != nil {
			spoilt = errors.Join(spoilt, fmt.Errorf("field %s: %w", name, err))
			ref, _ := strings.CutPrefix(name[1:], ":")
			delete(claim.Inbox, mapping.Ref(ref))
		}
	}
	history, err := historyOf(fields["h"])
	if err != nil {
		spoilt = errors.Join(spoilt, err)
	}
	out.History, out.Inbox = history, claim.Inbox
	out.Events = slices.Concat(claim.Events, r.list().events())
	out.Own = r.list().events()
	placeOf(out, fields, time.UnixMilli(since).UTC())
	return out, errors.Join(spoilt, r.err)
}

// placeOf sets the place of the key.
func placeOf(r *store.Record, fields map[string]string, since time.Time) {
	number := func(name string) int { return int((&reply{values: []any{fields[name]}}).num()) }
	if fields["a"] != "" {
		r.Attempts = number("a")
	}
	if fields["k"] != "" {
		r.Abandoned = number("k")
	}
	r.Bulk, r.Reason = fields["b"] == "1", fields["f"]
	noted, why, _ := strings.Cut(fields["y"], ",")
	at, err := strconv.ParseInt(noted, 10, 64)
	known := err == nil
	switch place := fields["p"]; {
	case place == "q":
		if r.Place, r.Due = store.Queued, since; known && at == since.UnixMilli() {
			r.Reason = why
		}
	case place == "w":
		if r.Place, r.Service = store.Waiting, fields["s"]; known {
			r.Due, r.Reason = time.UnixMilli(at).UTC(), why
		}
	case place == "f" && fields["s"] == heldKey:
		r.Place, r.Due = store.Held, since
	case place == "f":
		r.Place, r.Due = store.Parked, since
	}
}

func (s *Store) dumpLedger(ctx context.Context, project mapping.ObjectID, visit func(store.Entry) error) error {
	for cursor, begun := "", false; cursor != "" || !begun; begun = true {
		r, err := s.run(ctx, scriptConflicts, project, cursor, dumpConflicts)
		if err != nil {
			return err
		}
		for cursor = r.str(); r.more(); {
			c := new(mapping.Conflict)
			e := store.Entry{Project: project, Conflict: c}
			if err := decodeConflict(r.str(), c); err != nil {
				e = store.Entry{Project: project, Spoilt: fmt.Sprintf("an entry of the ledger of project %s: %v", project, err)}
			}
			if err := visit(e); err != nil {
				return err
			}
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// scanPage is roughly how many elements one step of a scan reads. Redis answers others between
// two steps.
const scanPage = 1000

// scan visits all elements of a project's key, as pairs, page by page. It visits each element
// that exists throughout, some of them perhaps twice.
func (s *Store) scan(ctx context.Context, project mapping.ObjectID, key, command string, visit func(pairs *reply) error) error {
	for cursor, begun := "0", false; cursor != "0" || !begun; begun = true {
		v, err := s.read(ctx, project, key, command, cursor, "COUNT", scanPage)
		page, ok := v.([]any)
		if err == nil && (!ok || len(page) != 2) {
			err = fmt.Errorf("redis: %v is no page", v)
		}
		if err != nil {
			return err
		}
		cursor = fmt.Sprint(page[0])
		pairs, _ := page[1].([]any)
		if err := visit(&reply{values: pairs}); err != nil {
			return err
		}
	}
	return nil
}

// keys visits the keys that match a pattern, server by server and page by page, with a client of
// that server. It visits each key that exists throughout.
func (s *Store) keys(ctx context.Context, pattern string, visit func(ctx context.Context, c redis.Cmdable, keys []string) error) error {
	var one sync.Mutex
	server := func(ctx context.Context, c redis.Cmdable) error {
		for cursor, begun := uint64(0), false; cursor != 0 || !begun; begun = true {
			keys, next, err := c.Scan(ctx, cursor, pattern, scanPage).Result()
			if err != nil {
				return fmt.Errorf("keys: %w", err)
			}
			one.Lock()
			err = visit(ctx, c, keys)
			one.Unlock()
			if err != nil {
				return err
			}
			cursor = next
		}
		return nil
	}
	if cluster, ok := s.rdb.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return server(ctx, c) })
	}
	return server(ctx, s.rdb)
}

// escapePattern makes a text match itself in a pattern.
func escapePattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}
