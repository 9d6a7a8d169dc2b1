package verifier

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"planbridge/bridge/guard"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// inOrder lists the keys of a map, so that services are asked in the same order each time.
func inOrder[V any](m map[store.Key]V) []store.Key {
	return slices.SortedFunc(maps.Keys(m), func(a, b store.Key) int { return cmp.Compare(a.String(), b.String()) })
}

// readDoubtful reads the items of the doubtful links themselves.
func (v *run) readDoubtful(ctx context.Context) (map[store.Key]drift, error) {
	out := map[store.Key]drift{}
	for _, key := range inOrder(v.doubtful) {
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

// guardedRead is read; a panic on the link counts as a difference.
func (v *run) guardedRead(ctx context.Context, key store.Key) (d drift, err error) {
	err = v.Guard.Do("verification of", key.String(), func() error {
		d, err = v.read(ctx, key)
		return err
	})
	if !guard.Panicked(err) {
		return d, err
	}
	var l *mapping.Link
	if v.Guard.Do("link of", key.String(), func() (err error) { l, err = v.Store.Link(ctx, key); return err }) != nil {
		return drift{}, nil // the failures name it
	}
	diff := differenceOf(l, &l.Pair, err.Error())
	diff.Held = "panic"
	return drift{link: l, diffs: []status.Difference{diff}}, nil
}

// read compares a link with its items as they are read.
func (v *run) read(ctx context.Context, key store.Key) (d drift, err error) {
	d.link, err = v.Store.Link(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return d, nil
	}
	if err != nil || !v.compares(d.link) {
		return d, err
	}
	route := v.Inventory.Settings().Routes.ByName(d.link.Route)
	for _, pair := range append([]*mapping.Pair{&d.link.Pair}, v.partsToRead(d.link)...) {
		diffs, err := v.differences(ctx, d.link, pair, route)
		if missing := (*missingError)(nil); errors.As(err, &missing) {
			diffs, err = []status.Difference{differenceOf(d.link, pair, missing.Error())}, nil
			if missing.gone {
				d.gone = append(d.gone, pair)
			}
		}
		if err != nil {
			return d, err
		}
		d.diffs = append(d.diffs, diffs...)
	}
	return d, nil
}

// isHeld reports whether a side refuses a value of a pair, or a person is asked. Its base then has what
// each side shows, though the two differ.
func isHeld(p *mapping.Pair) bool { return len(p.Refused)+len(p.Asking) > 0 }

// partsToRead are a link's sub-issues that the card's counters do not cover. A side refuses a
// value, a person is asked, or no listing showed the issue.
func (v *run) partsToRead(l *mapping.Link) (out []*mapping.Pair) {
	for _, p := range l.SubLinks {
		if p.State == mapping.Linked && (isHeld(p) || !v.seenSubIssues[p.Issue.ID]) {
			out = append(out, p)
		}
	}
	return out
}

// differences reads the two items of a pair that has an issue and compares them.
func (v *run) differences(ctx context.Context, l *mapping.Link, pair *mapping.Pair, route *mapping.Route) (diffs []status.Difference, err error) {
	g, p, err := v.views(ctx, l, pair, route)
	if err != nil {
		return nil, err
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

// views reads both items of a pair. A [missingError] says which of them is missing.
func (v *run) views(ctx context.Context, l *mapping.Link, pair *mapping.Pair, route *mapping.Route) (g, p mapping.View, err error) {
	if err := v.pace.wait(ctx); err != nil {
		return nil, nil, err
	}
	set, side := v.Inventory.Settings(), v.Inventory.Project(l.Project)
	issue, err := v.GitHub.Issue(ctx, pair.Issue.Repo, pair.Issue.Number)
	if err != nil {
		return nil, nil, missing("the issue", err)
	}
	if pair.IsTask() {
		task, err := side.Task(ctx, pair.Card.ID)
		hours := set.Scheme
		hours.Estimate = hours.Hours // a task's estimate is in hours
		g, _ = route.IssueView(&issue, hours, set.Keys, pair.Older())
		return g, mapping.TaskItemView(&task, set.Keys), missing("the task", err)
	}
	card, err := side.Card(ctx, pair.Card.ID)
	if err != nil {
		return nil, nil, missing("the card", err)
	}
	g, _ = route.IssueView(&issue, set.Scheme, set.Keys, pair.Older())
	p = mapping.CardView(&card, set.Keys)
	child := l.Child(mapping.Tracking)
	if child == nil || child.State != mapping.Linked || !route.TrackingTask {
		g.Untrack()
		return g, p, nil
	}
	task, err := side.Task(ctx, child.Card.ID)
	if err != nil {
		return nil, nil, missing("its tracking task", err)
	}
	maps.Copy(p, mapping.TaskView(&task))
	return g, p, nil
}

func differenceOf(l *mapping.Link, p *mapping.Pair, why string) status.Difference {
	return status.Difference{Where: p.Where(), Link: string(l.ID), Route: l.Route, Why: why}
}
