package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/bridge"
	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/bridge/tuning"
	"planbridge/config"
)

// stopTimeout bounds the end of the service; the work in hand is bounded
// below it, and exitDeadline above it.
const stopTimeout = 13 * time.Second

type serveCmd struct {
	DryRun    bool   `help:"Write nothing to either service, and log what would be written."`
	LogLevel  string `enum:"debug,info,warn,error" default:"info" placeholder:"debug|info|warn|error" help:"What to log."`
	LogFormat string `enum:"json,text" default:"json" placeholder:"json|text" help:"How to log, on standard error."`
	leased
}

// Run implements the command: it serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, p *process) error {
	// Before anything else: until then a SIGHUP would end the process.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	defer tuning.Apply(p.env)()

	reloader, err := config.NewReloader(p.config, p.env)
	if err != nil {
		return misuse{err}
	}
	log := c.logger(p)
	redis.SetLogger(redisLog{log})
	app, err := bridge.New(bridge.Options{Config: reloader.Current(), Logger: log, Version: programVersion(), DryRun: c.DryRun, LeaseTTL: c.Lease, Prove: time.Minute})
	if err != nil {
		return err
	}
	if err := app.Start(ctx); err != nil {
		return err
	}
	for {
		select {
		case <-hangup:
			reload(ctx, log, reloader, app)
		case <-ctx.Done():
			log.Info("stopping")
			return stop(app)
		}
	}
}

func (c *serveCmd) logger(p *process) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // the flag's enum has been checked
	o := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "text" {
		return slog.New(factlog.NewHandler(slog.NewTextHandler(p.stderr, o), clock.Runtime{}))
	}
	return slog.New(factlog.NewHandler(slog.NewJSONHandler(p.stderr, o), clock.Runtime{}))
}

// redisLog takes the lines that the Redis client would print on standard error
// as they come, between the JSON.
type redisLog struct{ log *slog.Logger }

// Printf implements the client's logging interface. A server that does not answer is a line for
// debugging. The caller warns that the store is away, and logs the end of that.
func (l redisLog) Printf(ctx context.Context, format string, v ...any) {
	level := slog.LevelWarn
	if isRedisAway(format, v) {
		level = slog.LevelDebug
	}
	l.log.Log(ctx, level, "redis client", "says", fmt.Sprintf(format, v...))
}

// isRedisAway reports whether a line of the Redis client is about a server that does not answer. A
// Sentinel is none: the store may answer without it.
func isRedisAway(format string, v []any) bool {
	for _, about := range []string{"redis: connection pool: ", "redis: all nodes ", "redis: pings to all nodes "} {
		if strings.HasPrefix(format, about) {
			return true
		}
	}
	return !strings.HasPrefix(format, "sentinel: ") && slices.ContainsFunc(v, func(arg any) bool {
		err, _ := arg.(error)
		var network net.Error
		return errors.As(err, &network) || errors.Is(err, io.EOF)
	})
}

// reload puts the file's present content in force. A bad file changes nothing.
func reload(ctx context.Context, log *slog.Logger, reloader *config.Reloader, app *bridge.App) {
	restart, err := reloader.Reload()
	var faults config.Faults
	switch {
	case errors.As(err, &faults):
		for _, f := range faults {
			log.Error("configuration not reloaded, the old one stays in force", "fault", f.Error())
		}
		app.RefuseReload(err)
		return
	case err != nil:
		log.Error("configuration not reloaded, the old one stays in force", "err", err)
		app.RefuseReload(err)
		return
	}
	for _, key := range restart {
		log.Warn("this change shows only after a restart", "key", key)
	}
	if err := app.Reload(ctx, reloader.Current()); err != nil {
		log.Error("configuration not put in force", "err", err)
	}
}

// stop ends the service in good order, or gives up in time before a supervisor kills it.
func stop(app *bridge.App) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return app.Stop(ctx)
}
