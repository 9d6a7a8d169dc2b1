package redisstore

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// marked is the error of a command that also is an error of the store, with Redis's words.
type marked struct {
	error
	as error
}

func (e marked) Is(target error) bool { return target == e.as }

func (e marked) Unwrap() error { return e.error }

// transientAnswers are prefixes of answers of a server that will take the same command later.
var transientAnswers = []string{"LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "READONLY"}

// lacksRoom are parts of answers of a server that takes no writes until an operator gives it room:
// its memory or its disk is full. A script's error may have words before these.
var lacksRoom = []string{"OOM command not allowed", "MISCONF "}

// awayHook marks errors of a Redis that is away as [store.ErrAway], and those of a full one as
// [store.ErrNoRoom].
type awayHook struct{}

// DialHook implements [redis.Hook].
func (awayHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements [redis.Hook].
func (awayHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if told := mark(err); told != nil {
			cmd.SetErr(told)
			return told
		}
		return err
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (awayHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if told := mark(cmd.Err()); told != nil {
				cmd.SetErr(told)
			}
		}
		if told := mark(err); told != nil {
			return told
		}
		return err
	}
}

// mark marks an error of a server that is away or full. It returns nil for any other error.
func mark(err error) error {
	switch {
	case isAway(err):
		return marked{err, store.ErrAway}
	case err == nil || errors.Is(err, store.ErrNoRoom):
		return nil
	case slices.ContainsFunc(lacksRoom, func(words string) bool { return strings.Contains(err.Error(), words) }):
		return marked{err, store.ErrNoRoom}
	}
	return nil
}

func isAway(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, store.ErrAway) {
		return false
	}
	for _, answer := range transientAnswers {
		if redis.HasErrorPrefix(err, answer) {
			return true
		}
	}
	var answered redis.Error
	return !errors.As(err, &answered)
}

// noteRefusal remembers that a write of a project was refused for lack of room. The projects of a
// Cluster are on several servers.
func (s *Store) noteRefusal(project mapping.ObjectID, err error) {
	if errors.Is(err, store.ErrNoRoom) {
		s.full.Store(project, nil)
	}
}

// probeRoom tries a large write for each project that had one refused. A Redis near its bound still
// takes small ones. What a command carries counts as used memory before it runs, so that nothing
// large is stored.
func (s *Store) probeRoom(ctx context.Context) (err error) {
	s.full.Range(func(key, _ any) bool {
		project := key.(mapping.ObjectID)
		if _, err = s.run(ctx, scriptWrite, project, "meta", "HSET", 2, "ping", "1", make([]byte, rules.Probe)); err == nil {
			s.full.Delete(project)
		}
		return err == nil
	})
	return err
}
