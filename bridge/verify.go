package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/jobs"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// A verification compares every link with what both sides hold now. It lists
// both sides once, without holding them: an item that is as it was agreed on
// needs no more. Where one is not, or is missing, the two items are read
// themselves, and the difference is what the reconcile would write, were it not
// that a side refused it or a person is asked: those differ for as long as that
// lasts. What a route's direction keeps from being written is none.

// Verify implements [status.Services].
func (s services) Verify(ctx context.Context, ask status.VerifyAsk) (status.Job, error) {
	first, work, err := s.verification(ask, nil)
	if err != nil {
		return status.Job{}, err
	}
	return s.jobs.Start(first, ask, work)
}

// verification makes the job of a verification; pace, where not nil, is asked before each
// request to GitHub.
func (s services) verification(ask status.VerifyAsk, pace func(context.Context) error) (first status.Job, work func(context.Context, *jobs.Job) error, err error) {
	routes, err := s.routesNamed(ask.Route)
	if err != nil {
		return status.Job{}, nil, fmt.Errorf("verify: %w", err)
	}
	if pace == nil {
		pace = func(context.Context) error { return nil }
	}
	first = status.Job{Kind: "verify", Doing: "waiting for GitHub", Verify: &status.VerifyResult{
		Route: ask.Route, Drift: map[string]int{}, Differences: []status.Difference{},
	}}
	return first, func(ctx context.Context, j *jobs.Job) error {
		if err := (liveServices{s.App}).Ready(ctx); err != nil {
			return err
		}
		v := &verifier{
			importer: importer{App: s.App, job: j, routes: routes, ask: status.ImportAsk{State: mapping.ImportAll}},
			pace:     pace, seen: map[store.Key]sides{}, doubtful: map[store.Key]bool{},
		}
		if err := v.run(ctx, ask.Repair); err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		return nil
	}, nil
}

// sides tells of which sides a link's item was seen.
type sides uint8

const (
	seenIssue sides = 1 << iota
	seenCard
)

// verifier is one verification at work.
type verifier struct {
	importer // its walks and its routes
	pace     func(context.Context) error
	seen     map[store.Key]sides // of every link that was compared
	doubtful map[store.Key]bool  // links one of whose items is not what was agreed on
}

func (v *verifier) run(ctx context.Context, repair bool) error {
	for _, list := range []struct {
		what string
		walk func(context.Context) error
	}{{"issues", v.listIssues}, {"cards", v.listCards}, {"links", v.listLinks}} {
		v.doing("listing the %s", list.what)
		if err := list.walk(ctx); err != nil {
			return err
		}
	}
	v.job.Update(func(now *status.Job) { now.Verify.Links, now.Total = len(v.seen), len(v.doubtful) })
	v.doing("reading what differs")
	differing, err := v.readDoubtful(ctx)
	if err != nil {
		return err
	}
	if repair {
		v.doing("repairing")
		if differing, err = v.repair(ctx, differing); err != nil {
			return err
		}
	}
	v.report(differing)
	return nil
}

// different is a link with its differences.
type different struct {
	link  *mapping.Link
	diffs []status.Difference
}

func (v *verifier) report(differing map[store.Key]different) {
	drift := map[string]int{}
	for _, r := range v.routes {
		drift[r.Name] = 0
	}
	var all []status.Difference
	for _, d := range differing {
		drift[d.link.Route]++
		all = append(all, d.diffs...)
	}
	slices.SortFunc(all, func(a, b status.Difference) int {
		if a.Where < b.Where || a.Where == b.Where && a.Attribute < b.Attribute {
			return -1
		}
		return 1
	})
	for route, n := range drift {
		v.drift.WithLabelValues(route).Set(float64(n))
	}
	v.job.Update(func(now *status.Job) {
		r := now.Verify
		if r.Drift = drift; len(all) > maxItems {
			all, r.More = all[:maxItems], true
		}
		r.Differences = append(r.Differences, all...)
	})
}

// linkOf returns the link that an item belongs to, where it is one that is to
// be compared, and notes that the item was seen.
func (v *verifier) linkOf(ctx context.Context, ref mapping.Ref, side sides) (store.Key, *mapping.Link, error) {
	key, known, err := v.known(ctx, ref)
	if err != nil || !known {
		return key, nil, err
	}
	l, err := v.store.Link(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return key, nil, nil
	}
	if err != nil || !v.compares(l) {
		return key, nil, err
	}
	if root := side == seenIssue && mapping.IssueRef(l.Issue.ID) == ref || side == seenCard && mapping.CardRef(l.Card.ID) == ref; !root {
		return key, nil, nil // a part's: the root's counters tell
	}
	v.seen[key] |= side
	return key, l, nil
}

// compares reports whether a link is to be compared.
func (v *verifier) compares(l *mapping.Link) bool {
	return l.State == mapping.Linked && slices.ContainsFunc(v.routes, func(r *mapping.Route) bool { return r.Name == l.Route })
}

func (v *verifier) listIssues(ctx context.Context) error {
	repos, err := v.repositories(ctx)
	if err != nil {
		return err
	}
	set := v.set.Load()
	for _, repo := range repos {
		_, err := v.github.ListIssues(ctx, repo, github.ListOptions{Unconditional: true}, func(page []mapping.Issue, _ time.Time) error {
			if err := v.pace(ctx); err != nil {
				return err
			}
			for i := range page {
				err := v.guardedListing(page[i].Name(), func(of *store.Key) error {
					key, l, err := v.linkOf(ctx, mapping.IssueRef(page[i].ID), seenIssue)
					if err != nil {
						return err
					}
					if l == nil {
						return nil
					}
					*of = key
					route := set.Routes.ByName(l.Route)
					if route == nil {
						route = &mapping.Route{}
					}
					view, _ := route.IssueView(&page[i], set.Scheme, set.Keys, l.Base)
					v.compare(key, l, mapping.GitHub, view)
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !unlistable(err) { // else each issue is read
			return fmt.Errorf("list issues of %s: %w", repo, err)
		}
	}
	return nil
}

func (v *verifier) listCards(ctx context.Context) error {
	set := v.set.Load()
	for _, project := range set.Routes.Projects() {
		p := v.projects.get(project)
		if p == nil || !slices.ContainsFunc(v.routes, func(r *mapping.Route) bool { return r.Project == project }) {
			continue
		}
		err := p.side.EachCard(ctx, func(card mapping.Card) error {
			return v.guardedListing(string(card.ID), func(of *store.Key) error {
				key, l, err := v.linkOf(ctx, mapping.CardRef(card.ID), seenCard)
				if err != nil || l == nil {
					return err
				}
				*of = key
				if card.Counters == nil || card.CountersVersion != l.Card.CountersVersion {
					v.doubtful[key] = true // its tasks have to be read
				}
				v.compare(key, l, mapping.Planning, mapping.CardView(&card, set.Keys))
				return nil
			})
		})
		if err != nil {
			return fmt.Errorf("list cards: %w", err)
		}
	}
	return nil
}

// compare takes a link for doubtful where a side does not hold what was agreed
// on.
func (v *verifier) compare(key store.Key, l *mapping.Link, side mapping.Side, view mapping.View) {
	route := v.set.Load().Routes.ByName(l.Route)
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

// listLinks finds the links of which no listing showed an item, and those with
// sub-issues that the card's counters say nothing of.
func (v *verifier) listLinks(ctx context.Context) error {
	for _, project := range v.set.Load().Routes.Projects() {
		for l, err := range store.AllLinks(ctx, v.store, project) {
			if err != nil {
				return err
			}
			v.leaveOut(l)
			key := store.Key{Project: l.Project, Link: l.ID}
			if seen := v.seen[key]; v.compares(l) && (seen != seenIssue|seenCard || len(heldParts(l)) > 0) {
				v.seen[key], v.doubtful[key] = seen, true
			}
		}
	}
	return nil
}

// namedUncompared is how many links of a state are named that are not compared.
const namedUncompared = 20

// leaveOut counts a link that is not compared, as it has no pair yet or no route.
func (v *verifier) leaveOut(l *mapping.Link) {
	state := string(l.State)
	if l.State != mapping.Dormant && l.State != mapping.Entering && l.State != mapping.Creating {
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

// inOrder lists the keys of a map, so that services are asked in the same order each time.
func inOrder[V any](m map[store.Key]V) []store.Key {
	return slices.SortedFunc(maps.Keys(m), func(a, b store.Key) int { return cmp.Compare(a.String(), b.String()) })
}

// readDoubtful reads the items of the doubtful links themselves.
func (v *verifier) readDoubtful(ctx context.Context) (map[store.Key]different, error) {
	out := map[store.Key]different{}
	for _, key := range inOrder(v.doubtful) {
		if err := v.pace(ctx); err != nil {
			return nil, err
		}
		d, err := v.guardedRead(ctx, key)
		if err != nil {
			return nil, err
		}
		if len(d.diffs) > 0 {
			out[key] = d
		}
		v.job.Update(func(now *status.Job) { now.Done++ })
	}
	return out, nil
}

// read compares a link with its items as they are read.
func (v *verifier) read(ctx context.Context, key store.Key) (d different, err error) {
	d.link, err = v.store.Link(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return d, nil
	}
	if err != nil || !v.compares(d.link) {
		return d, err
	}
	route := v.set.Load().Routes.ByName(d.link.Route)
	for _, pair := range append([]*mapping.Pair{&d.link.Pair}, heldParts(d.link)...) {
		diffs, err := v.differences(ctx, d.link, pair, route)
		if err != nil {
			return d, err
		}
		d.diffs = append(d.diffs, diffs...)
	}
	return d, nil
}

// heldParts are a link's sub-issues that may differ from their tasks for as long as a
// side refuses a value or a person is asked.
func heldParts(l *mapping.Link) (out []*mapping.Pair) {
	for _, p := range l.Parts {
		if p.State == mapping.Linked && len(p.Refused)+len(p.Asking) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// differences reads the two items of a pair that has an issue and compares them.
func (v *verifier) differences(ctx context.Context, l *mapping.Link, pair *mapping.Pair, route *mapping.Route) (diffs []status.Difference, err error) {
	g, p, missing, err := v.views(ctx, l, pair, route)
	if err != nil {
		return nil, err
	}
	if missing != "" {
		return []status.Difference{differenceOf(l, pair, missing)}, nil
	}
	for _, decided := range mapping.Resolve(mapping.Input{Link: l, Pair: pair, Route: route, GitHub: g, Planning: p}).Decisions {
		if decided.Action == mapping.Adopt || decided.Action == mapping.Restrained {
			continue
		}
		diff := differenceOf(l, pair, decided.Why)
		if decided.Action == mapping.Blocked || pair.Asking[decided.Attribute] != "" && decided.Action == mapping.Ask {
			diff.Held = string(decided.Action)
		}
		diff.Attribute, diff.GitHub, diff.Planning = string(decided.Attribute), g[decided.Attribute].Value, p[decided.Attribute].Value
		diffs = append(diffs, diff)
	}
	return diffs, nil
}

// views reads both items of a pair, or says which of them is missing.
func (v *verifier) views(ctx context.Context, l *mapping.Link, pair *mapping.Pair, route *mapping.Route) (g, p mapping.View, missing string, err error) {
	set, side := v.set.Load(), v.projects.get(l.Project).side
	issue, err := v.github.Issue(ctx, pair.Issue.Repo, pair.Issue.Number)
	if err != nil {
		missing, err = absent("the issue", err)
		return nil, nil, missing, err
	}
	if pair.IsTask() {
		task, err := side.Task(ctx, pair.Card.ID)
		missing, err = absent("the task", err)
		hours := set.Scheme
		hours.Estimate = hours.Hours // a task's estimate is in hours
		g, _ = route.IssueView(&issue, hours, set.Keys, pair.Base)
		return g, mapping.TaskItemView(&task, set.Keys), missing, err
	}
	card, err := side.Card(ctx, pair.Card.ID)
	if err != nil {
		missing, err = absent("the card", err)
		return nil, nil, missing, err
	}
	g, _ = route.IssueView(&issue, set.Scheme, set.Keys, pair.Base)
	p = mapping.CardView(&card, set.Keys)
	child := l.Child(mapping.Tracking)
	if child == nil || child.State != mapping.Linked || !route.TrackingTask {
		g.Untrack()
		return g, p, "", nil
	}
	task, err := side.Task(ctx, child.Card.ID)
	if err != nil {
		missing, err = absent("its tracking task", err)
		return nil, nil, missing, err
	}
	maps.Copy(p, mapping.TaskView(&task))
	return g, p, "", nil
}

// absent says why an item cannot be read, where that is no fault of a service
// that does not answer.
func absent(what string, err error) (string, error) {
	switch {
	case errors.Is(err, mapping.ErrNotFound), errors.Is(err, mapping.ErrGone):
		return what + " is gone", nil
	case errors.Is(err, mapping.ErrMoved):
		return what + " has moved", nil
	case errors.Is(err, mapping.ErrForbidden):
		return what + " may not be read", nil
	}
	return "", err
}

func differenceOf(l *mapping.Link, p *mapping.Pair, why string) status.Difference {
	return status.Difference{Where: p.Where(), Link: string(l.ID), Route: l.Route, Why: why}
}

// repairPatience bounds how long a repair is waited for.
const repairPatience = time.Minute

// held reports whether nothing would be written about any of the differences.
func (d different) held() bool {
	return !slices.ContainsFunc(d.diffs, func(diff status.Difference) bool { return diff.Held == "" })
}

// repair has the differing links looked at in full, waits until they are, and
// returns those that differ still. What is held after the look stays so, and is
// waited for no longer.
func (v *verifier) repair(ctx context.Context, differing map[store.Key]different) (map[store.Key]different, error) {
	asked := time.Now()
	for _, key := range inOrder(differing) {
		d := differing[key]
		obs := store.Observation{Refs: d.link.Refs()[:1], Event: encoded(mapping.Edit{Look: "verify"})}
		if _, err := v.observed().Observe(ctx, key.Project, []store.Observation{obs}); err != nil {
			return nil, err
		}
	}
	still, looking := maps.Clone(differing), maps.Clone(differing)
	for until := asked.Add(repairPatience); len(looking) > 0 && time.Now().Before(until); {
		if err := wait(ctx, lookEvery); err != nil {
			return nil, err
		}
		for _, key := range inOrder(looking) {
			l, err := v.store.Link(ctx, key)
			if err == nil && !l.Synced.After(asked) && v.compares(l) {
				continue
			}
			d, err := v.guardedRead(ctx, key)
			if err != nil {
				return nil, err
			}
			if still[key] = d; len(d.diffs) == 0 {
				delete(still, key)
			}
			if d.held() {
				delete(looking, key)
			}
		}
	}
	v.job.Update(func(now *status.Job) { now.Verify.Repaired = len(differing) - len(still) })
	return still, nil
}
