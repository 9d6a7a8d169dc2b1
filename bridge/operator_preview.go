package bridge

import (
	"context"
	"log/slog"
	"time"

	"planbridge/bridge/effects"
	"planbridge/bridge/github"
	"planbridge/bridge/planning"
	"planbridge/bridge/reconcile"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

// previewPatience bounds the reads of a preview: whoever asks waits for it.
const previewPatience = 15 * time.Second

// Preview reads both items of a link and says what the next reconcile would do;
// nil where there is no pair yet.
func (o *Operator) Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error) {
	r, done, err := o.reader()
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, previewPatience)
	defer cancel()
	return r.Preview(ctx, l)
}

// newReader makes what reads the live services where no service runs that has
// its clients open.
func newReader(c *config.Config, s store.Store, set *settings) (*effects.Shell, func(), error) {
	hub, closeHub, err := newHubReader(c, s)
	if err != nil {
		return nil, nil, err
	}
	sides, closers := map[mapping.ObjectID]effects.Planning{}, []func(){closeHub}
	done := func() {
		for _, closer := range closers {
			closer()
		}
	}
	for _, p := range c.Planning.Projects {
		id := mapping.ObjectID(p.ID)
		client, err := planning.New(planning.Options{
			BaseURL: c.Planning.BaseURL, Project: id, Secret: p.Secret.Reveal(), Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			done()
			return nil, nil, err
		}
		side := newPlanningSide(client)
		closers = append(closers, side.Close)
		sides[id] = side
	}
	return effects.New(effects.Options{
		Store: s, GitHub: hub, SameRendering: planning.SameRendering,
		Planning: func(id mapping.ObjectID) effects.Planning { return sides[id] },
		Settings: func() *reconcile.Settings { return &set.Settings },
		Logger:   slog.New(slog.DiscardHandler),
	}), done, nil
}

// newHubReader makes what reads GitHub alone.
func newHubReader(c *config.Config, s store.Store) (*githubSide, func(), error) {
	hub, err := newGitHubClient(c, github.Options{Hold: holds{s}.close, Held: holds{s}.left, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, err
	}
	return newGitHubSide(hub, s, slog.New(slog.DiscardHandler), func(context.Context, string) {}), hub.Close, nil
}
