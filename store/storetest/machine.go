package storetest

import (
	"errors"
	"slices"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/store"
)

// This file is the rest of model.go's machine: the operations on claims, and the comparisons after
// each step.

func (m *machine) save(rt *rapid.T) {
	c, k := m.anyClaim(rt)
	link := *c.Link
	link.Why = rapid.StringN(0, 8, 30).Draw(rt, "why")
	link.Route = rapid.SampledFrom([]string{"web", "acme/a b"}).Draw(rt, "route")
	link.State = rapid.SampledFrom(mapping.LinkStates).Draw(rt, "state")
	err := m.o.Store.Save(m.t.Context(), c, &link)
	if (k == nil) != errors.Is(err, store.ErrLeaseLost) || k != nil && err != nil {
		rt.Fatalf("Save = %v, held %v", err, k != nil)
	}
	if k != nil {
		k.why = link.Why
	}
}

func (m *machine) finish(rt *rapid.T) {
	m.end(rt, "Finish", func(c *store.Claim, history []mapping.Entry, out store.Outcome) error {
		return m.o.Store.Finish(m.t.Context(), c, nil, history, out)
	})
}

func (m *machine) finishAndClaim(rt *rapid.T) {
	var ended, next *store.Claim
	ttl := rapid.IntRange(1, 4).Draw(rt, "ttl")
	lost := m.end(rt, "FinishAndClaim", func(c *store.Claim, history []mapping.Entry, out store.Outcome) (err error) {
		ended = c
		next, err = m.o.Store.FinishAndClaim(m.t.Context(), c, nil, history, out, time.Duration(ttl)*time.Minute)
		return err
	})
	if lost {
		return
	}
	ids, _ := m.claimable(ended.Key.Link)
	switch {
	case next == nil && ids == nil:
	case next == nil || !slices.Contains(ids, next.Key.Link):
		rt.Fatalf("FinishAndClaim = %+v, want one of %v", next, ids)
	default:
		m.claimed(rt, next, ttl)
	}
}

// end ends one of the claims in the given way, and reports whether that claim had been lost.
func (m *machine) end(rt *rapid.T, how string, end func(*store.Claim, []mapping.Entry, store.Outcome) error) (lost bool) {
	c, k := m.anyClaim(rt)
	out := store.Outcome{
		Kind:    rapid.SampledFrom([]store.OutcomeKind{store.Done, store.Retry, store.Again, store.Wait, store.Park, store.Hold, store.Remove}).Draw(rt, "outcome"),
		After:   time.Duration(rapid.IntRange(0, 3).Draw(rt, "after")) * time.Minute,
		Service: rapid.SampledFrom([]string{"github", "planning:p"}).Draw(rt, "service"),
		Reason:  "reason", Unspent: rapid.Bool().Draw(rt, "unspent"),
	}
	done := m.done(c, out.Kind)
	entries := make([]mapping.Entry, rapid.IntRange(0, 3).Draw(rt, "entries"))
	err := end(c, entries, out)
	if lost = k == nil && !done; lost != errors.Is(err, store.ErrLeaseLost) || !lost && err != nil {
		rt.Fatalf("%s = %v, held %v, done before %v", how, err, k != nil, done)
	}
	if k != nil {
		m.model.finish(k, m.seen[c], out, len(entries))
	}
	return lost
}

func (m *machine) wake(rt *rapid.T) {
	service := rapid.SampledFrom([]string{"github", "planning:p", "planning"}).Draw(rt, "service")
	want := 0
	for _, k := range m.keys {
		if k.waits == service {
			k.waits, k.due, k.bulk = "", m.now, k.bulk || m.now > k.since
			k.unexplained()
			want++
		}
	}
	if n, err := m.o.Store.Wake(m.t.Context(), m.project, service, 0); err != nil || n != want {
		rt.Fatalf("Wake = %d, %v, want %d", n, err, want)
	}
}

func (m *machine) advance(rt *rapid.T) {
	n := rapid.IntRange(1, 3).Draw(rt, "minutes")
	m.now += n
	m.o.Advance(time.Duration(n) * time.Minute)
}

// check compares everything that can be seen without a claim.
func (m *machine) check(rt *rapid.T) {
	ctx, s := m.t.Context(), m.o.Store
	want := store.Depth{Waiting: map[string]int{}}
	for _, k := range m.keys {
		switch {
		case k.due != never && k.bulk:
			want.Bulk++
			if k.due <= m.now {
				want.Due++
			}
		case k.due != never:
			want.Live++
		case k.waits != "":
			want.Waiting[k.waits]++
		case k.parked:
			want.Failures++
		}
		l, err := s.Link(ctx, m.key(k.id))
		if err != nil || l.Why != k.why {
			rt.Fatalf("Link = %+v, %v, want %q", l, err, k.why)
		}
		if h, err := s.History(ctx, m.key(k.id), 100); err != nil || len(h) != min(k.history, 50) {
			rt.Fatalf("History has %d entries, %v, want %d", len(h), err, k.history)
		}
	}
	d, err := s.Depth(ctx, m.project)
	if err != nil || d.Live != want.Live || d.Bulk != want.Bulk || d.Due != want.Due || d.Failures != want.Failures || len(d.Waiting) != len(want.Waiting) {
		rt.Fatalf("Depth = %+v, %v, want %+v", d, err, want)
	}
	for service, n := range want.Waiting {
		if d.Waiting[service] != n {
			rt.Fatalf("Depth = %+v, want %+v", d, want)
		}
	}
	m.checkFailures(rt)
	m.checkStandings(rt)
	m.checkIndex(rt)
	if d := IndexDiff(m.t.Context(), s, m.project); d != "" {
		rt.Fatal(d)
	}
}

func (m *machine) checkFailures(rt *rapid.T) {
	fs, err := m.o.Store.Failures(m.t.Context(), m.project, 100)
	if err != nil {
		rt.Fatal(err)
	}
	for _, f := range fs {
		k := m.keys[f.Key.Link]
		if k == nil || !k.parked || f.Attempts != k.attempts+k.abandoned || f.Reason != k.reason {
			rt.Fatalf("failure %+v, want %+v", f, k)
		}
	}
}

func (m *machine) checkIndex(rt *rapid.T) {
	for issue := range modelIssues {
		id, err := m.o.Store.Find(m.t.Context(), m.project, issueRef(issue))
		k := m.byIssue(issue)
		if k == nil && !errors.Is(err, store.ErrNotFound) || k != nil && (err != nil || id != k.id) {
			rt.Fatalf("Find of issue %d = %s, %v, want %+v", issue, id, err, k)
		}
	}
	links, next, err := m.o.Store.List(m.t.Context(), m.project, "", 100)
	if err != nil || next != "" || len(links) != len(m.keys) {
		rt.Fatalf("List = %d links, %q, %v, want %d", len(links), next, err, len(m.keys))
	}
	for _, l := range links {
		if m.keys[l.ID] == nil {
			rt.Fatalf("List shows %s, which is gone", l.ID)
		}
	}
}
