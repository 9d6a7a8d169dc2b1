package redisstore

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"planbridge/store"
)

// away is an error of a command that no server answered, or that it cannot answer for now.
type away struct{ error }

func (e away) Is(target error) bool { return target == store.ErrAway }

func (e away) Unwrap() error { return e.error }

// noRoom is the error of a command that a server refused because its memory is full.
type noRoom struct{ error }

func (e noRoom) Is(target error) bool { return target == store.ErrNoRoom }

func (e noRoom) Unwrap() error { return e.error }

// cannotNow begin the answers of a server that answers the same command later.
var cannotNow = []string{"LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "READONLY"}

// tellAway marks the errors of a Redis that is away as [store.ErrAway], and those of one that is
// full as [store.ErrNoRoom].
type tellAway struct{}

// DialHook implements [redis.Hook].
func (tellAway) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements [redis.Hook].
func (tellAway) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if marked := mark(err); marked != nil {
			cmd.SetErr(marked)
			return marked
		}
		return err
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (tellAway) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if marked := mark(cmd.Err()); marked != nil {
				cmd.SetErr(marked)
			}
		}
		if marked := mark(err); marked != nil {
			return marked
		}
		return err
	}
}

// mark is an error that says that the server is away, or full; nil: it is neither.
func mark(err error) error {
	switch {
	case isAway(err):
		return away{err}
	case err != nil && !errors.Is(err, store.ErrNoRoom) && strings.Contains(err.Error(), "OOM command not allowed"):
		return noRoom{err} // a script's error may have words before these
	}
	return nil
}

func isAway(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, store.ErrAway) {
		return false
	}
	for _, answer := range cannotNow {
		if redis.HasErrorPrefix(err, answer) {
			return true
		}
	}
	var answered redis.Error
	return !errors.As(err, &answered)
}
