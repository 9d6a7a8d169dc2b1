package bridge

import (
	"context"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/github"
	"planbridge/bridge/lease"
	"planbridge/config"
)

// A service that runs proves its configuration as check does, at the start and after a
// reload: projects, secrets and buckets, the token, and the repositories. Each fault is one
// line when it is found and one when it is mended.

// prover remembers the faults that were told of.
type prover struct {
	app    *App
	proven *config.Config // as a whole, last
	at     time.Time      // of the last proof
	told   []Finding
	// doubtful names the places that are to be looked at again.
	doubtful []string
}

// prove proves each configuration that comes in force until ctx ends, and once in a while
// what of it does not work.
func (a *App) prove(ctx context.Context) {
	p := &prover{app: a}
	pause := func() time.Duration { return min(watchInterval, a.o.Prove) }
	lease.Every(ctx, a.guard, "proof of the configuration", clock.New(a.o.Now, a.o.Random), pause, p.step)
}

func (p *prover) step(ctx context.Context) {
	c, now := p.app.set.Load().config, p.app.o.Now()
	whole := c != p.proven
	if whole || len(p.doubtful) > 0 && now.Sub(p.at) >= p.app.o.Prove {
		p.proven, p.at = c, now
		p.round(ctx, whole)
	}
}

// round looks at all places, or at those that are doubtful.
func (p *prover) round(ctx context.Context, whole bool) {
	k := newChecker(p.app.set.Load(), p.app.log)
	k.brief = true
	some := func(places []place) []place {
		if whole {
			return places
		}
		return slices.DeleteFunc(places, func(at place) bool { return !slices.Contains(p.doubtful, at.name) })
	}
	reached := false
	places := append(k.plannings(), place{"github", func(ctx context.Context, r *findings) { reached = k.account(ctx, r) }})
	if hub, err := newGitHubClient(k.config, github.Options{Timeout: checkRequest, Logger: p.app.log}); err == nil {
		k.github = hub
		defer hub.Close()
	} else {
		places = k.plannings() // the start has told of it
	}
	looked := some(places)
	found := look(ctx, looked)
	if repositories := some(k.repositories()); len(repositories) > 0 && k.github != nil {
		if !whole && !slices.ContainsFunc(looked, func(at place) bool { return at.name == "github" }) {
			reached = true
		}
		if reached {
			looked, found = append(looked, repositories...), append(found, look(ctx, repositories)...)
		} else {
			for _, at := range repositories {
				found = append(found, Finding{Level: LevelFault, Place: at.name, away: true})
			}
		}
	}
	if ctx.Err() == nil {
		p.tell(looked, found, whole)
	}
}

// tell logs the faults that are new and those that are mended. A place that did not answer
// keeps its faults. Where all places were looked at, the faults of those that the
// configuration has no more are forgotten.
func (p *prover) tell(looked []place, found []Finding, whole bool) {
	is := func(list []Finding, f Finding) bool {
		return slices.ContainsFunc(list, func(other Finding) bool { return other.Place == f.Place && other.Words == f.Words })
	}
	found = slices.DeleteFunc(found, func(f Finding) bool { return f.Level != LevelFault })
	silent := func(place string) bool {
		return slices.ContainsFunc(found, func(f Finding) bool { return f.Place == place && f.away })
	}
	var stand []Finding
	for _, f := range p.told {
		at := slices.ContainsFunc(looked, func(at place) bool { return at.name == f.Place })
		switch {
		case is(found, f) || silent(f.Place) || !at && !whole:
			stand = append(stand, f)
		case at:
			p.app.log.Info("a part of the configuration works again", "place", f.Place, "fault", f.Words)
		}
	}
	p.doubtful = nil
	for _, f := range found {
		if !f.away && !is(stand, f) {
			p.app.log.Error("a part of the configuration does not work", "place", f.Place, "fault", f.Words)
			stand = append(stand, f)
		}
		p.doubtful = append(p.doubtful, f.Place)
	}
	for _, f := range stand {
		p.doubtful = append(p.doubtful, f.Place)
	}
	slices.SortFunc(p.doubtful, strings.Compare)
	p.told, p.doubtful = stand, slices.Compact(p.doubtful)
}
