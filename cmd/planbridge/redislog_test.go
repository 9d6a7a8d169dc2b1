package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"planbridge/bridge/logtest"
)

// TestRedisLog: the Redis client's lines about a server that does not answer are for debugging, as
// the fact that the store is away covers them. Its other lines are warnings.
func TestRedisLog(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for _, c := range []struct {
		format string
		arg    any
		level  string
	}{
		{"redis: connection pool: failed to dial after 5 attempts: %v", refused, "DEBUG"},
		{"redis: connection pool: failed to get a usable connection after %d attempts", 3, "DEBUG"},
		{"redis: pings to all nodes are failing, picking a random node across the cluster%s", "", "DEBUG"},
		{"push: error processing pending notifications before reading reply: %v", io.EOF, "DEBUG"},
		{"getting command info: %s", context.DeadlineExceeded, "DEBUG"},
		{"sentinel: GetMasterAddrByName name=\"m\" failed: %s", refused, "WARN"},
		{"redis: re-authentication failed: %v", errors.New("WRONGPASS"), "WARN"},
		{"addIdleConn panic: %+v", "index out of range", "WARN"},
	} {
		log := &logtest.Text{}
		redisLog{slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}.Printf(t.Context(), c.format, c.arg)
		if !strings.Contains(log.String(), "level="+c.level+` msg="redis client" says=`) {
			t.Errorf("%s: logged %s, want %s", c.format, log, c.level)
		}
	}
}
