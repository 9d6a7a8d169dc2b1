// Package renames makes routes follow renamed repositories, and recognises renamed routes.
//
// Its entry point is [Follower]. Routes are by name. A route that names a repository exactly
// follows it to its new name, until the configuration is changed. The store keeps the new names, so
// that a restart and every other replica use them, too. It also keeps the former names of a route:
// a route from the same repositories to the same bucket is the same route (identities.go).
package renames

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"planbridge/bridge/catchup"
	"planbridge/bridge/clock"
	"planbridge/bridge/identity"
	"planbridge/bridge/settings"
	"planbridge/mapping"
)

// Links adopt a repository's new name by themselves, where a route has it.
type Links interface {
	Renamed(from, to string)
}

// Store stores the records of names.
type Store interface {
	identity.Documents
	Docs(ctx context.Context, project mapping.ObjectID, prefix string) ([]string, error)
}

// Repositories returns the present name of the repository behind a name, as GitHub reported it at
// asOf or later.
type Repositories interface {
	Locate(ctx context.Context, name string, id int64, asOf time.Time) (string, error)
}

// Options configure a Follower. All fields are required.
type Options struct {
	Store        Store
	Settings     *settings.Current
	Repositories Repositories
	Links        Links
	// Timeout bounds the questions to GitHub about new names in a configuration.
	Timeout clock.Timeout
	Clock   clock.Clock
	Logger  *slog.Logger
}

// Follower makes the settings follow renamed repositories and routes. It is safe for concurrent
// use.
type Follower struct {
	o Options
	// identifying has an element while a goroutine works on the book. That takes calls of the
	// store, so that a wait for it ends with the context.
	identifying chan struct{}
	book        book        // as this process knows it; identifying guards it
	unwritten   atomic.Bool // the store does not have it yet
}

// New returns a Follower.
func New(o Options) *Follower { return &Follower{o: o, identifying: make(chan struct{}, 1)} }

// Follow records that a repository has another name: a route that names the former one exactly
// follows it. Where a route has the new name already, the links follow that soon.
func (f *Follower) Follow(ctx context.Context, from, to string) error {
	if strings.EqualFold(from, to) || from == "" || to == "" {
		return nil
	}
	return f.o.Settings.Update(func(set *settings.Settings) (*settings.Settings, error) {
		names, followed := set.Follow(from, to)
		if len(followed) == 0 {
			f.o.Links.Renamed(from, to)
			return nil, nil
		}
		for route, configured := range mapping.Sorted(followed) {
			f.o.Logger.Warn("a repository was renamed: its route follows it until the configuration names it as it is called now", "route", route, "configured", configured, "repo", to)
		}
		if err := catchup.Rename(ctx, f.o.Store, from, to); err != nil {
			return nil, fmt.Errorf("rename %s: %w", from, err)
		}
		return set.WithNames(names), identity.PutRenames(ctx, f.o.Store, names)
	})
}

// Learn applies the names that this or another replica has learned. It drops names that the
// configuration no longer has, and stores routes that the store lacks.
func (f *Follower) Learn(ctx context.Context) error {
	if err := f.identifyAgain(ctx); err != nil {
		return err
	}
	names, err := identity.Renames(ctx, f.o.Store)
	if names == nil || err != nil {
		return err
	}
	return f.o.Settings.Update(func(set *settings.Settings) (*settings.Settings, error) {
		next := set.WithNames(names)
		stale := len(names) != len(next.Renamed)
		if maps.Equal(next.Renamed, set.Renamed) && !stale {
			return nil, nil
		}
		for was, now := range mapping.Sorted(next.Renamed) {
			if set.Renamed[was] != now {
				f.o.Logger.Warn("a route names a repository as it was called before: it follows it", "configured", was, "repo", now)
			}
		}
		if stale {
			err = identity.PutRenames(ctx, f.o.Store, next.Renamed)
		}
		return next, err
	})
}
