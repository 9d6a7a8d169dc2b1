package catchup

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

const (
	// hookPath ends the URL of the bridge's webhook (docs/operations.md, "The listeners").
	// Other hooks belong to other programs, which a redelivery could harm.
	hookPath = "/webhooks/github"
	// kept is how long GitHub keeps deliveries.
	kept = 72 * time.Hour
	// hookAccessRetry is how long an owner that refused to list its hooks is not asked again.
	hookAccessRetry = 24 * time.Hour
	// maxRedeliveries bounds one round, and maxAttempts the requests for one event.
	maxRedeliveries, maxAttempts = 20, 3
)

// handled are the events that the bridge uses.
var handled = []string{"issues", "sub_issues", "repository"}

// docRedeliver names the document that keeps how far a hook's deliveries have been read.
func docRedeliver(hook int64) string { return fmt.Sprint(HookDocs, hook) }

// HookDocs begins the names of those documents, which are in the space of no project.
const HookDocs = "redeliver:"

// HookNeeded reports whether the document of a hook, named by the hook's id, is still useful.
// GitHub keeps deliveries for some days, and older ones are not read.
func (c *CatchUp) HookNeeded(ctx context.Context, hook string) (bool, error) {
	var l deliveryProgress
	found, err := store.ReadJSON(ctx, c.o.Store, "", HookDocs+hook, &l)
	return found && c.clock.Now().Sub(l.At) < kept, err
}

// deliveryProgress is that document.
type deliveryProgress struct {
	At    time.Time      `json:"at"`    // of the last read, by this side's clock
	Since time.Time      `json:"since"` // all before it arrived or was given up
	Asked map[string]int `json:"asked,omitempty"`
}

// Redeliver finds failed deliveries and asks GitHub to repeat them, for all hooks whose last read
// is long enough ago. A listing shows an issue; only a delivery has the value before an edit.
func (c *CatchUp) Redeliver(ctx context.Context) error {
	if c.o.Hooks == nil || c.o.Hooks.Down() {
		return nil
	}
	if err := c.round.Take(ctx); err != nil {
		return err
	}
	defer c.round.End()
	if c.clock.Now().Sub(c.redelivered) < c.o.RedeliverInterval {
		return nil
	}
	owners, err := c.owners(ctx)
	if err != nil {
		return fmt.Errorf("redeliver: %w", err)
	}
	budget := maxRedeliveries
	for _, owner := range owners {
		if c.clock.Now().Before(c.hookAccessDenied[owner]) {
			continue
		}
		err := c.o.Guard.Do("redelivery for", owner, func() error { return c.redeliverOwner(ctx, owner, &budget) })
		if guard.Panicked(err) {
			continue
		}
		if mapping.Refused(err) {
			c.o.Logger.Info("failed deliveries are not looked for here: GitHub does not show the hooks", "owner", owner, "err", err)
			c.hookAccessDenied[owner] = c.clock.Now().Add(hookAccessRetry)
			err = nil
		}
		if err != nil {
			return fmt.Errorf("redeliver %s: %w", cmp.Or(owner, "the app's deliveries"), err)
		}
	}
	c.redelivered = c.clock.Now()
	return nil
}

// owners lists the accounts and repositories that may have a hook for the routes'
// repositories.
func (c *CatchUp) owners(ctx context.Context) ([]string, error) {
	repos, err := c.repositories(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	if c.o.App {
		out = append(out, "")
	}
	for _, repo := range repos {
		if org, _, _ := strings.Cut(repo, "/"); !slices.Contains(out, org) {
			out = append(out, org)
		}
	}
	return append(out, repos...), nil
}

func (c *CatchUp) redeliverOwner(ctx context.Context, owner string, budget *int) error {
	hooks, err := c.o.Hooks.ListHooks(ctx, owner)
	if err != nil {
		return err
	}
	for _, h := range hooks {
		if u, err := url.Parse(h.URL); err != nil || !h.Active || !strings.HasSuffix(strings.TrimRight(u.Path, "/"), hookPath) {
			continue
		}
		if err := c.redeliverHook(ctx, owner, h.ID, budget); err != nil {
			return err
		}
	}
	return nil
}

func (c *CatchUp) redeliverHook(ctx context.Context, owner string, hook int64, budget *int) error {
	l, err := c.readProgress(ctx, hook)
	if err != nil || l.Since.IsZero() || c.clock.Now().Sub(l.At) < c.o.RedeliverInterval {
		return err
	}
	l.At = c.clock.Now().UTC()
	list, err := c.o.Hooks.Deliveries(ctx, owner, hook, l.Since)
	if err != nil {
		return err
	}
	failed := l.advance(list)
	for _, d := range failed {
		if *budget == 0 {
			break
		}
		*budget--
		l.Asked[d.GUID]++
		err := c.o.Guard.Do("redelivery of", d.GUID, func() error { return c.o.Hooks.Redeliver(ctx, owner, hook, d.ID) })
		if guard.Panicked(err) {
			continue
		}
		if err != nil && !mapping.Refused(err) {
			return err
		}
		c.o.Logger.Info("a delivery that failed is asked for again", "delivery", d.GUID, "event", d.Event, "at", d.At, "err", err)
	}
	return store.WriteJSON(ctx, c.o.Store, "", docRedeliver(hook), l)
}

// readProgress reads how far a hook's deliveries have been read: at first, to when the first route
// began to run. Its Since is zero while that is not known.
func (c *CatchUp) readProgress(ctx context.Context, hook int64) (deliveryProgress, error) {
	l := deliveryProgress{Asked: map[string]int{}}
	if found, err := store.ReadJSON(ctx, c.o.Store, "", docRedeliver(hook), &l); found || err != nil {
		return l, err
	}
	if l.Since = c.firstRun(c.o.Settings.Routes().All()); !l.Since.IsZero() {
		l.Since = latest(l.Since.Add(-c.o.Settle), c.clock.Now().Add(-kept)).UTC().Truncate(time.Second)
	}
	return l, nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// advance goes through the deliveries since the last read, newest first. It returns the last
// attempts of events that never arrived, oldest event first. Since moves to the oldest event
// that may still arrive, or past all of them.
func (l *deliveryProgress) advance(list []Delivery) (failed []Delivery) {
	arrived, last := map[string]bool{}, map[string]Delivery{}
	for _, d := range list {
		arrived[d.GUID] = arrived[d.GUID] || d.OK
		if _, later := last[d.GUID]; !later {
			last[d.GUID] = d
		}
	}
	if len(list) > 0 {
		l.Since = latest(l.Since, list[0].At)
	}
	asked := map[string]int{}
	for _, d := range slices.Backward(list) {
		// An attempt whose first one is not in the list belongs to an event
		// that was given up.
		if d.Redelivery || arrived[d.GUID] || !slices.Contains(handled, d.Event) {
			continue
		}
		if asked[d.GUID] = l.Asked[d.GUID]; asked[d.GUID] >= maxAttempts {
			continue
		}
		if len(failed) == 0 {
			l.Since = d.At
		}
		failed = append(failed, last[d.GUID])
	}
	l.Asked = asked
	return failed
}
