package redisstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
)

//go:embed scripts/*.lua
var sources embed.FS

// The scripts; each file in scripts/ has its arguments and its answer.
var (
	scriptObserve     = load("observe")
	scriptEnqueue     = load("enqueue")
	scriptClaim       = load("take", "claim")
	scriptCheck       = load("check")
	scriptSave        = load("save")
	scriptFinish      = load("take", "finish")
	scriptWake        = load("wake")
	scriptStanding    = load("standing")
	scriptQueued      = load("queued")
	scriptFailures    = load("failures")
	scriptDepth       = load("oldest", "depth")
	scriptTally       = load("oldest", "tally")
	scriptList        = load("listing", "list")
	scriptRepair      = load("listing", "repair")
	scriptIndexLinks  = load("indexlinks")
	scriptFind        = load("find")
	scriptFindTraits  = load("findtraits")
	scriptPutConflict = load("putconflict")
	scriptConflicts   = load("conflicts")
	scriptDropLedger  = load("dropledger")
	scriptDropDoc     = load("dropdoc")
	scriptHeartbeat   = load("heartbeat")
	scriptEndSessions = load("endsessions")
	scriptEndLeases   = load("endleases")
	scriptAcquire     = load("acquire")
	scriptRelease     = load("release")
	scriptTake        = load("budget")
	scriptTaken       = load("taken")
	scriptHold        = load("hold")
	scriptHeld        = load("held")
	scriptMarks       = load("marks")
	scriptRead        = load("read")
	scriptWrite       = load("write")
	scriptDump        = load("listing", "dump")
	scriptLoad        = load("load")
	scriptLoaded      = load("loaded")
	scriptAdopt       = redis.NewScript(source("adopt"))
	scriptRenew       = redis.NewScript(source("renew"))
)

// load joins the parts of a script after the prelude.
func load(names ...string) *redis.Script {
	var text strings.Builder
	text.WriteString(source("prelude"))
	for _, name := range names {
		text.WriteString(source(name))
	}
	return redis.NewScript(text.String())
}

// source reads an embedded script; a missing one is a fault of the build.
func source(name string) string {
	data, err := sources.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic(err)
	}
	return string(data)
}

// run runs a script on a project's keys.
func (s *Store) run(ctx context.Context, script *redis.Script, project mapping.ObjectID, args ...any) (*reply, error) {
	k, seq, err := s.knowledgeOf(ctx, project)
	if err != nil {
		return nil, err
	}
	return s.exec(ctx, k, seq, script, project, args...)
}

func (s *Store) exec(ctx context.Context, k *knowledge, seq *atomic.Int64, script *redis.Script, project mapping.ObjectID, args ...any) (*reply, error) {
	keys, argv := s.declared(project), s.argv(k, seq, project, args)
	cmd := script.EvalSha(ctx, s.rdb, keys, argv...)
	if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
		answered(args)
		cmd = script.Eval(ctx, s.rdb, keys, argv...)
	}
	var refused redis.Error
	if err := cmd.Err(); err == nil || errors.As(err, &refused) {
		answered(args)
	}
	r, err := s.reply(k, seq, cmd)
	s.noteRefusal(project, err)
	return r, err
}

// argv puts the prelude's arguments before those of a script.
func (s *Store) argv(k *knowledge, seq *atomic.Int64, project mapping.ObjectID, args []any) []any {
	now := ""
	if s.clock != nil {
		now = strconv.FormatInt(s.clock.Now().UnixMilli(), 10)
	}
	return append([]any{k.copied(project), seq.Load(), now}, args...)
}

// reply reads a script's answer and remembers its seq.
func (s *Store) reply(k *knowledge, seq *atomic.Int64, cmd *redis.Cmd) (*reply, error) {
	values, err := cmd.Slice()
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	r := &reply{values: values}
	switch code := r.str(); code {
	case "OK":
	case "EPOCH":
		return nil, s.lose(k, "epoch "+strconv.Quote(r.str()))
	case "NOTFOUND":
		return nil, store.ErrNotFound
	case "CONFLICT":
		return nil, conflictOf(r.str())
	case "LEASE":
		return nil, store.ErrLeaseLost
	case "UNINDEXED":
		return nil, store.ErrNotIndexed
	case "FULL":
		return nil, store.ErrFull
	default:
		return nil, fmt.Errorf("redis: unknown reply %q", code)
	}
	for now := r.num(); ; {
		old := seq.Load()
		if now <= old || seq.CompareAndSwap(old, now) {
			return r, r.err
		}
	}
}

// conflictOf returns the error for an item that belongs to another link, or nil.
func conflictOf(ref string) error {
	if ref == "" {
		return store.ErrConflict
	}
	return fmt.Errorf("%s: %w", ref, store.ErrConflict)
}

// reply reads the values of a script's answer in order. err is the first fault.
type reply struct {
	values []any
	err    error
}

func (r *reply) more() bool { return len(r.values) > 0 && r.err == nil }

// next returns the next value, nil after the last.
func (r *reply) next() any {
	if len(r.values) == 0 {
		r.err = fmt.Errorf("redis: short reply")
		return nil
	}
	v := r.values[0]
	r.values = r.values[1:]
	return v
}

// str returns the next text, "" for nil.
func (r *reply) str() string {
	switch v := r.next().(type) {
	case string:
		return v
	case nil:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

// list returns the next value, which is a list.
func (r *reply) list() *reply {
	values, _ := r.next().([]any)
	return &reply{values: values}
}

// events reads the rest of a list with generations and events in turn.
func (r *reply) events() (events [][]byte) {
	for r.more() {
		r.next()
		events = append(events, []byte(r.str()))
	}
	return events
}

// num returns the next number, 0 for nil.
func (r *reply) num() int64 {
	switch v := r.next().(type) {
	case int64:
		return v
	case nil:
		return 0
	case string:
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			r.err = fmt.Errorf("redis: reply %q is no number", v)
		}
		return int64(n)
	default:
		r.err = fmt.Errorf("redis: reply %v is no number", v)
		return 0
	}
}
