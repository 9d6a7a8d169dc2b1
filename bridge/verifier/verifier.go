// Package verifier compares every link with both sides.
//
// A verification lists both sides once, without holding them in memory. An item that equals
// its base needs no more. Otherwise, or where one is missing, both items are read, and the
// difference is what the reconcile would write. A value that a side refused, or that a person is
// asked about, differs until that ends. A change that a route's direction forbids is no difference.
//
// A scheduled verification makes the pairs with a missing or moved item due, as nothing else may
// ever report it.
package verifier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/inventory"
	"planbridge/bridge/jobs"
	"planbridge/bridge/lease"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// GitHub is the used part of the GitHub client beside the lists.
type GitHub interface {
	Issue(ctx context.Context, repo string, number int) (mapping.Issue, error)
}

// Schedule has the interval of verifications.
type Schedule interface {
	// VerifyInterval is how often all links are verified; 0: by hand only.
	VerifyInterval() time.Duration
}

// Options configure a Verifier. All fields are required.
type Options struct {
	Store     store.Store
	Inventory *inventory.Inventory
	GitHub    GitHub
	Intake    inventory.Intake
	Services  inventory.Readiness
	Metrics   *Metrics
	Jobs      *jobs.Runner
	Guard     *guard.Guard
	Clock     clock.Source
	Schedule  Schedule
	Owner     string        // names the replica
	Session   lease.Session // that its lease ends with; nil: with none
	Logger    *slog.Logger
}

// Verifier carries out verifications.
type Verifier struct{ o Options }

// New makes a Verifier.
func New(o Options) *Verifier { return &Verifier{o} }

// Verify begins a verification, or returns the running one with the same request.
func (v *Verifier) Verify(ctx context.Context, ask status.VerifyAsk) (status.Job, error) {
	first, work, err := v.job(ask, nil)
	if err != nil {
		return status.Job{}, err
	}
	return v.o.Jobs.Start(first, ask, work)
}

// job makes the job of a verification. Where p is not nil, the requests to GitHub wait for
// their share of the budget.
func (v *Verifier) job(ask status.VerifyAsk, p *pace) (first status.Job, work func(context.Context, *jobs.Job) error, err error) {
	routes, err := v.o.Inventory.Routes(ask.Route)
	if err != nil {
		return status.Job{}, nil, fmt.Errorf("verify: %w", err)
	}
	first = status.Job{Kind: "verify", Doing: "waiting for GitHub", Verify: &status.VerifyResult{
		Route: ask.Route, Drift: map[string]int{}, Differences: []status.Difference{},
	}}
	return first, func(ctx context.Context, j *jobs.Job) error {
		if err := v.o.Services.Ready(ctx); err != nil {
			return err
		}
		work := &run{
			Options: v.o, job: j, routes: routes, pace: p, seen: map[store.Key]seenMask{}, doubtful: map[store.Key]bool{},
			seenSubIssues: map[int64]bool{}, listed: map[string]bool{},
		}
		if err := work.do(ctx, ask.Repair); err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		return nil
	}, nil
}

// seenMask has the sides on which a link's item was seen.
type seenMask uint8

const (
	seenIssue seenMask = 1 << iota
	seenCard
)

// run is one verification at work.
type run struct {
	Options
	job      *jobs.Job
	routes   []*mapping.Route
	pace     *pace
	seen     map[store.Key]seenMask // of every link that was compared
	doubtful map[store.Key]bool     // links with an item that differs from the base

	seenSubIssues map[int64]bool  // by the id of the issue
	listed        map[string]bool // repositories whose issues were listed, in lower case
}

func (v *run) do(ctx context.Context, repair bool) error {
	for _, list := range []struct {
		what string
		walk func(context.Context) error
	}{{"issues", v.listIssues}, {"cards", v.listCards}, {"links", v.listLinks}} {
		v.job.Doing("listing the %s", list.what)
		if err := list.walk(ctx); err != nil {
			return err
		}
	}
	v.job.Update(func(now *status.Job) { now.Verify.Links, now.Total = len(v.seen), len(v.doubtful) })
	v.job.Doing("reading what differs")
	differing, err := v.readDoubtful(ctx)
	if err != nil {
		return err
	}
	switch {
	case repair:
		v.job.Doing("repairing")
		differing, err = v.repair(ctx, differing)
	case v.pace != nil:
		err = v.noticeAbsent(ctx, differing)
	}
	if err != nil {
		return err
	}
	v.report(differing)
	return nil
}

// drift is a link with its differences.
type drift struct {
	link  *mapping.Link
	diffs []status.Difference
	gone  []*mapping.Pair // those with an item that is gone or has moved
}

func (v *run) report(differing map[store.Key]drift) {
	byRoute := map[string]int{}
	for _, r := range v.routes {
		byRoute[r.Name] = 0
	}
	var all []status.Difference
	for _, d := range differing {
		byRoute[d.link.Route]++
		all = append(all, d.diffs...)
	}
	slices.SortFunc(all, func(a, b status.Difference) int {
		return cmp.Or(strings.Compare(a.Where, b.Where), strings.Compare(a.Attribute, b.Attribute))
	})
	v.Metrics.show(byRoute, v.routes)
	v.job.Update(func(now *status.Job) {
		r := now.Verify
		if r.Drift = byRoute; len(all) > inventory.MaxItems {
			all, r.More = all[:inventory.MaxItems], true
		}
		r.Differences = append(r.Differences, all...)
	})
}

// linkOf returns the link of an item, where it is compared, and records that the item was seen.
func (v *run) linkOf(ctx context.Context, ref mapping.Ref, side seenMask) (store.Key, *mapping.Link, error) {
	key, known, err := v.Inventory.Known(ctx, ref)
	if err != nil || !known {
		return key, nil, err
	}
	l, err := v.Store.Link(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return key, nil, nil
	}
	if err != nil || !v.compares(l) {
		return key, nil, err
	}
	if root := side == seenIssue && mapping.IssueRef(l.Issue.ID) == ref || side == seenCard && mapping.CardRef(l.Card.ID) == ref; !root {
		if p := l.Part(ref); p != nil && side == seenIssue {
			v.seenSubIssues[p.Issue.ID] = true
		}
		return key, nil, nil // the root's counters cover its parts
	}
	v.seen[key] |= side
	return key, l, nil
}

// named reports whether the configuration names the project of a link, as nobody works other links.
func (v *run) named(l *mapping.Link) bool {
	return v.Inventory.Settings().Routes.Names(l.Project)
}

// compares reports whether a link is compared.
func (v *run) compares(l *mapping.Link) bool {
	return l.State == mapping.Linked && v.named(l) && slices.ContainsFunc(v.routes, func(r *mapping.Route) bool { return r.Name == l.Route })
}

func (v *run) listIssues(ctx context.Context) error {
	return v.Inventory.Issues(ctx, v.routes, mapping.ImportAll, issueWalk{v})
}

// issueWalk compares the issues that a walk shows.
type issueWalk struct{ *run }

// EnterRepository implements [inventory.IssueVisitor].
func (w issueWalk) EnterRepository(_ context.Context, repo string) (string, error) {
	w.listed[strings.ToLower(repo)] = true
	return repo, nil
}

// EndPage implements [inventory.IssueVisitor].
func (w issueWalk) EndPage(ctx context.Context) error { return w.pace.wait(ctx) }

// SkipRepository implements [inventory.IssueVisitor]: each issue is read.
func (w issueWalk) SkipRepository(repo string, routes []string, err error) {
	delete(w.listed, strings.ToLower(repo))
	w.job.Update(func(now *status.Job) {
		now.Verify.Unlisted = append(now.Verify.Unlisted, status.Unlisted{Repository: repo, Route: strings.Join(routes, ", "), Why: err.Error()})
	})
}

// VisitIssue implements [inventory.IssueVisitor].
func (w issueWalk) VisitIssue(ctx context.Context, issue *mapping.Issue) error {
	w.listed[strings.ToLower(issue.Repo)] = true
	return w.guardedListing(issue.Name(), func(of *store.Key) error {
		key, l, err := w.linkOf(ctx, mapping.IssueRef(issue.ID), seenIssue)
		if err != nil || l == nil {
			return err
		}
		*of = key
		set := w.Inventory.Settings()
		route := set.Routes.ByName(l.Route)
		if route == nil {
			route = &mapping.Route{}
		}
		view, _ := route.IssueView(issue, set.Scheme, set.Keys, l.Older())
		w.compare(key, l, mapping.GitHub, view)
		return nil
	})
}

func (v *run) listCards(ctx context.Context) error {
	return v.Inventory.EachProject(v.routes, func(_ mapping.ObjectID, side inventory.Planning) error {
		err := side.EachCard(ctx, func(card mapping.Card) error { return v.visitCard(ctx, &card) })
		if err != nil {
			return fmt.Errorf("list cards: %w", err)
		}
		return nil
	})
}

func (v *run) visitCard(ctx context.Context, card *mapping.Card) error {
	return v.guardedListing(string(card.ID), func(of *store.Key) error {
		key, l, err := v.linkOf(ctx, mapping.CardRef(card.ID), seenCard)
		if err != nil || l == nil {
			return err
		}
		*of = key
		if card.Counters == nil || card.CountersVersion != l.Card.CountersVersion {
			v.doubtful[key] = true // its tasks have to be read
		}
		v.compare(key, l, mapping.Planning, mapping.CardView(card, v.Inventory.Settings().Keys))
		return nil
	})
}

// guardedListing handles one item of a listing, which sets the key of the item's link. Where
// the program panics on the item, that link is read.
func (v *run) guardedListing(item string, take func(key *store.Key) error) error {
	var key store.Key
	err := v.Guard.Do("verification of", item, func() error { return take(&key) })
	if !guard.Panicked(err) {
		return err
	}
	if key != (store.Key{}) {
		v.doubtful[key] = true
	}
	return nil
}

// compare marks a link as doubtful where a side differs from the base.
func (v *run) compare(key store.Key, l *mapping.Link, side mapping.Side, view mapping.View) {
	route := v.Inventory.Settings().Routes.ByName(l.Route)
	if !route.TrackingTask {
		view.Untrack()
	}
	for a, now := range view {
		base, ok := l.Base[a]
		is, was := l.Text(route, a, now.Value), l.Text(route, a, base.GitHub)
		if side == mapping.Planning {
			is, was = now.Value, base.Planning
		}
		if !ok || !mapping.Same(a, is, was) {
			v.doubtful[key] = true
		}
	}
}

// listLinks finds the links without an item in any listing, and those with sub-issues that the
// card's counters do not cover. It adds those with a value that is held back.
func (v *run) listLinks(ctx context.Context) error {
	projects, err := store.ProjectsAfter(ctx, v.Store, v.Inventory.Settings().Routes.Projects())
	if err != nil {
		return err
	}
	for _, project := range projects {
		for l, err := range store.AllLinks(ctx, v.Store, project) {
			if err != nil {
				return err
			}
			v.leaveOut(l)
			key := store.Key{Project: l.Project, Link: l.ID}
			if seen := v.seen[key]; v.compares(l) && (seen != seenIssue|seenCard || isHeld(&l.Pair) || len(v.partsToRead(l)) > 0) {
				v.seen[key], v.doubtful[key] = seen, true
			}
		}
	}
	return nil
}

// namedUncompared is how many uncompared links of a state are named.
const namedUncompared = 20

// leaveOut counts a link that is not compared, as it has no pair yet or no route.
func (v *run) leaveOut(l *mapping.Link) {
	if !v.named(l) {
		l.WithoutProject()
	}
	state := string(l.State)
	if l.HandedOver() || l.State != mapping.Dormant && l.State != mapping.Entering && l.State != mapping.Creating {
		return
	}
	v.job.Update(func(now *status.Job) {
		r := now.Verify
		if r.Route != "" && r.Route != l.Route {
			return
		}
		i := slices.IndexFunc(r.Uncompared, func(u status.Uncompared) bool { return u.State == state })
		if i < 0 {
			i, r.Uncompared = len(r.Uncompared), append(r.Uncompared, status.Uncompared{State: state})
		}
		u := &r.Uncompared[i]
		if u.Links++; u.Links <= namedUncompared {
			u.Items = append(u.Items, l.Where())
		}
	})
}
