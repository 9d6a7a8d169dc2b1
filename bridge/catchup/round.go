package catchup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"planbridge/bridge/factlog"
	"planbridge/bridge/guard"
	"planbridge/mapping"
)

// scarceAnHour bounds the repositories with news that are listed in an hour while GitHub's
// requests are scarce. A listing without news is a 304, which costs nothing. The next round
// begins with the others. Deliveries report most news, and people's changes go first.
const scarceAnHour = 600

// Run catches up until ctx ends, whenever this replica holds the lease.
func (c *CatchUp) Run(ctx context.Context) {
	defer c.lease.Release(ctx)
	c.lease.Every(ctx, c.o.Guard, "round of the catch-up", c.clock, func() time.Duration { return c.o.Interval }, c.turn)
}

// Soon begins the next round at once: a reload may have brought repositories that were never listed.
// It is safe for concurrent use.
func (c *CatchUp) Soon() {
	select {
	case c.soon <- struct{}{}:
	default: // one is to begin
	}
}

func (c *CatchUp) turn(ctx context.Context) {
	held, _, err := c.lease.Acquire(ctx)
	if err == nil && !held {
		c.o.Logger.Info("another replica lists GitHub", "service", "github", factlog.Over, FactNotListed)
	}
	if err == nil && held {
		err = c.lease.Hold(ctx, c.o.Guard, "catch-up", "", func(ctx context.Context) error {
			if err := c.Poll(ctx); err != nil {
				return err
			}
			if err := c.afterLoss(ctx); err != nil {
				return err
			}
			return c.o.Guard.Do("redelivery", "", func() error { return c.Redeliver(ctx) })
		})
	}
	if err != nil && ctx.Err() == nil && !guard.Panicked(err) {
		level, fact := factlog.Answer(err, FactNotListed)
		c.o.Logger.Log(ctx, level, "catch up", "service", "github", "err", err, factlog.Fact, fact)
		c.o.Host.Failed(err)
	}
}

// FactNotListed names the fact that catch-ups fail although GitHub answers.
const FactNotListed = "GitHub is not listed"

// afterLoss does the round that adopts as soon as there can be one.
func (c *CatchUp) afterLoss(ctx context.Context) error {
	wait := c.unsettled()
	if wait <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return c.Poll(ctx)
	}
}

// Poll does one round over all repositories, whoever holds the lease. A repository that
// refuses to be listed does not block the others, and is no error. A GitHub or a store that
// does not answer is one.
func (c *CatchUp) Poll(ctx context.Context) error {
	if err := c.round.Take(ctx); err != nil {
		return err
	}
	defer c.round.End()
	epoch, err := c.o.Store.Epoch(ctx)
	if err != nil {
		return fmt.Errorf("catch up: read the store's epoch: %w", err)
	}
	if c.epoch != epoch {
		c.epoch, c.seen, c.told = epoch, map[string]map[int64]lastSeen{}, map[string]bool{}
	}
	repos, err := c.repositories(ctx)
	if err == nil {
		repos, err = c.located(ctx, repos, c.clock.Now().Add(-locatedFor))
	}
	if err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	repos, c.putOff = startAt(repos, c.putOff), ""
	adopted := c.adopt(ctx, repos, epoch)
	answered, lists := false, max(1, int(scarceAnHour*c.o.Interval.Hours()))
	for i, repo := range repos {
		if lists <= 0 && c.told[repo] && c.o.GitHub.RateScarce() {
			c.putOff = cmp.Or(c.putOff, repo)
			continue
		}
		err := adopted[repo]
		if err == nil {
			err = c.o.Guard.Do("catch-up of", repo, func() error {
				counted, err := c.repository(ctx, repo)
				if counted {
					lists--
				}
				return err
			})
		}
		c.tellListing(repo, err)
		switch {
		case guard.Panicked(err), mapping.Refused(err): // logged once; the others are listed
		case err == nil:
			answered = true
		default:
			c.putOff = cmp.Or(c.putOff, repos[(i+1)%len(repos)])
			return fmt.Errorf("catch up %s: %w", repo, err)
		}
	}
	if answered {
		c.o.Host.Answered(ctx)
	}
	return nil
}

// startAt moves the repositories from first on before the others.
func startAt(repos []string, first string) []string {
	i := max(0, slices.Index(repos, first))
	return slices.Concat(repos[i:], repos[:i])
}
