package redisstore

import (
	"context"
	"crypto/sha1" //nolint:gosec // it only spreads
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// Observe implements [store.Queue]. Concurrent callers share round trips and scripts (see
// gather.go).
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

// scriptMost bounds the observations of one script. Redis answers nobody else during a script,
// for some milliseconds.
const scriptMost = 32

// observe sends observations in one pipeline of scripts.
func (s *Store) observe(ctx context.Context, project mapping.ObjectID, args [][]any) ([]store.Observed, error) {
	k, seq, err := s.knowledgeOf(ctx, project)
	if err != nil {
		return nil, err
	}
	pipe := func() []*redis.Cmd {
		var cmds []*redis.Cmd
		// Each command has its own error, checked below.
		s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error { //nolint:errcheck // see above
			for some := range slices.Chunk(args, scriptMost) {
				cmds = append(cmds, scriptObserve.EvalSha(ctx, p, s.declared(project), s.argv(k, seq, project, s.together(some))...))
			}
			return nil
		})
		return cmds
	}
	cmds := pipe()
	if redis.HasErrorPrefix(cmds[0].Err(), "NOSCRIPT") {
		// The pipeline's first command runs first, so that nothing was done.
		if err := scriptObserve.Load(ctx, s.rdb).Err(); err != nil {
			return nil, fmt.Errorf("redis: %w", err)
		}
		cmds = pipe()
	}
	seen := make([]store.Observed, 0, len(args))
	at := 0
	for _, cmd := range cmds {
		some := args[at:min(at+scriptMost, len(args))]
		at += len(some)
		got, err := s.observedBy(k, seq, cmd, project)
		if isScriptError(err) {
			got, err = s.oneByOne(ctx, k, seq, project, some)
		}
		if err != nil {
			return nil, err
		}
		seen = append(seen, got...)
	}
	if len(seen) != len(args) {
		return nil, fmt.Errorf("redis: %d answers to %d observations", len(seen), len(args))
	}
	return seen, nil
}

// observedBy reads a script's answer.
func (s *Store) observedBy(k *knowledge, seq *atomic.Int64, cmd *redis.Cmd, project mapping.ObjectID) (seen []store.Observed, err error) {
	r, err := s.reply(k, seq, cmd)
	s.noteRefusal(project, err)
	if err != nil {
		return nil, err
	}
	for r.more() {
		seen = append(seen, observed(project, r))
	}
	return seen, r.err
}

// isScriptError reports a script that failed on stored data, as opposed to a server that takes no
// script now.
func isScriptError(err error) bool {
	var answered redis.Error
	if !errors.As(err, &answered) {
		return false
	}
	text := answered.Error()
	return (strings.HasPrefix(text, "ERR ") || strings.HasPrefix(text, "WRONGTYPE ")) && strings.Contains(text, "script")
}

// oneByOne repeats the observations of a failed script, which may have stored a part of them. The
// faulty observation gets the error, and the others are stored.
func (s *Store) oneByOne(ctx context.Context, k *knowledge, seq *atomic.Int64, project mapping.ObjectID, args [][]any) ([]store.Observed, error) {
	var seen []store.Observed
	for _, one := range args {
		cmd := scriptObserve.Run(ctx, s.rdb, s.declared(project), s.argv(k, seq, project, s.together([][]any{one}))...)
		got, err := s.observedBy(k, seq, cmd, project)
		if isScriptError(err) {
			s.log.Error("an observation cannot be stored", "project", project, "err", err)
			got, err = []store.Observed{{Err: fmt.Errorf("%w: %w", store.ErrSpoilt, err)}}, nil
		}
		if err != nil {
			return nil, err
		}
		seen = append(seen, got...)
	}
	return seen, nil
}

// together joins the arguments of several observations for one script.
func (s *Store) together(some [][]any) []any {
	all := append(make([]any, 0, 5+8*len(some)), s.limit, rules.Deliveries.Milliseconds(), rules.DeliverySweep, rules.Events, len(some))
	for _, args := range some {
		all = append(all, args[0])
	}
	for _, args := range some {
		all = append(all, args[1:]...)
	}
	return all
}

// observation lists the arguments of observe.lua for one observation, its delivery first.
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
	var first, firstShard string
	further := o.Refs
	if len(further) > 0 {
		first, firstShard, further = string(further[0]), shard(further[0]), further[1:]
	}
	head, err := header(o, len(further), len(newRefs),
		string(o.Link), item, rules.OrderInt(o.At), strconv.Itoa(len(o.Digest))+","+o.Digest, newID, firstShard, first)
	if err != nil {
		return nil, err
	}
	args := append(make([]any, 0, 5+len(further)+len(newRefs)), delivery, head, data)
	if len(o.Event) > 0 {
		args = append(args, o.Event)
	}
	if o.Create != nil {
		marks := strings.Join(marksOf(o.Create), "\n")
		if len(marks) > math.MaxUint16 {
			return nil, fmt.Errorf("link %s has too many parts", o.Create.ID)
		}
		args = append(args, append(append(binary.BigEndian.AppendUint16(nil, uint16(len(marks))), marks...), record...))
	}
	for _, ref := range further {
		args = append(args, shard(ref)+" "+string(ref))
	}
	for _, ref := range newRefs {
		args = append(args, string(ref))
	}
	return args, nil
}

// header packs short values into one argument, since each argument of a script costs Redis as
// much as some bytes.
func header(o *store.Observation, refs, newRefs int, texts ...string) ([]byte, error) {
	h := make([]byte, 0, 160)
	h = binary.BigEndian.AppendUint64(h, math.Float64bits(float64(millis(o.Delay))))
	h = append(h, byte(flag(o.Bulk)|flag(len(o.Event) > 0)<<1|flag(o.Create != nil)<<2|flag(o.Own)<<3))
	h = binary.BigEndian.AppendUint16(h, uint16(refs))
	h = binary.BigEndian.AppendUint16(h, uint16(newRefs))
	for _, text := range texts {
		if len(text) > math.MaxUint16 {
			return nil, fmt.Errorf("%.40q… is too long", text)
		}
		h = append(binary.BigEndian.AppendUint16(h, uint16(len(text))), text...)
	}
	return h, nil
}

// shard is the shard that refkey of the scripts computes for a ref, which is costly there.
func shard(ref mapping.Ref) string {
	sum := sha1.Sum([]byte(ref)) //nolint:gosec // it only spreads
	return strconv.Itoa(int(binary.BigEndian.Uint16(sum[:])) % refShards)
}

// Bits of a script's answer to an observation.
const (
	saidCreated = 1 << iota
	saidDuplicate
	saidStored
	saidFull
)

func observed(project mapping.ObjectID, r *reply) (o store.Observed) {
	if id := r.str(); id != "" {
		o.Key = store.Key{Project: project, Link: mapping.LinkID(id)}
	}
	said := r.num()
	o.Created, o.Duplicate, o.Stored = said&saidCreated != 0, said&saidDuplicate != 0, said&saidStored != 0
	if said&saidFull != 0 {
		o.Err = fmt.Errorf("%s: %w", o.Key, store.ErrFull)
	}
	return o
}

// appendEntries adds the index entries of a link (nil: none) in the form that the scripts' args()
// reads.
func appendEntries(args []any, l *mapping.Link) []any {
	if l == nil {
		return append(args, 0)
	}
	marks, refs := marksOf(l), l.Refs()
	args = append(args, len(marks)+len(refs))
	for _, mark := range marks {
		args = append(args, mark)
	}
	for _, ref := range refs {
		args = append(args, string(ref))
	}
	return args
}

// marksOf returns the entries of a link besides its refs: the class under which it is counted,
// and its traits. A line end would end the class.
func marksOf(l *mapping.Link) []string {
	marks := []string{"=" + strings.ReplaceAll(rules.Class(l), "\n", " ")}
	for _, t := range l.Traits() {
		marks = append(marks, "~"+string(t))
	}
	return marks
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
