package redisstore

import (
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"

	"planbridge/store"
)

// away is an error of a command that no server answered, or that it cannot answer for now.
type away struct{ error }

func (e away) Is(target error) bool { return target == store.ErrAway }

func (e away) Unwrap() error { return e.error }

// cannotNow begin the answers of a server that answers the same command later.
var cannotNow = []string{"LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "READONLY"}

// tellAway marks the errors of a Redis that is away as [store.ErrAway].
type tellAway struct{}

// DialHook implements [redis.Hook].
func (tellAway) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements [redis.Hook].
func (tellAway) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if isAway(err) {
			err = away{err}
			cmd.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (tellAway) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if isAway(cmd.Err()) {
				cmd.SetErr(away{cmd.Err()})
			}
		}
		if isAway(err) {
			err = away{err}
		}
		return err
	}
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
