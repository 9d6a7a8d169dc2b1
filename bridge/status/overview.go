package status

import (
	"context"
	"maps"
	"slices"
	"time"

	"planbridge/mapping"
)

// look gathers the overview.
func (h *handler) look(ctx context.Context) (Overview, error) {
	out := Overview{Version: h.Version, Projects: []Project{}, Routes: []Route{}}
	queues, err := h.Operator.Overview(ctx)
	if err != nil {
		return out, err
	}
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		d := queues[name]
		waiting := map[string]int{}
		maps.Copy(waiting, d.Waiting)
		out.Projects = append(out.Projects, Project{Name: name, Live: d.Live, Bulk: d.Bulk, Waiting: waiting, Failures: d.Failures, Oldest: d.Oldest})
	}
	counts, err := h.tally.get(ctx, h.Operator)
	if err != nil {
		return out, err
	}
	paused, err := h.Operator.Paused(ctx)
	if err != nil {
		return out, err
	}
	configured := map[string]bool{}
	for _, r := range h.Operator.Routes() {
		configured[r.Name] = true
		out.Routes = append(out.Routes, Route{Name: r.Name, Repository: r.Repository, Project: r.ProjectName, Links: states(counts[r.Name]), Paused: paused[r.Name]})
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if !configured[name] {
			out.Routes = append(out.Routes, Route{Name: name, Links: states(counts[name])})
		}
	}
	return out, nil
}

func states(counts map[mapping.LinkState]int) map[string]int {
	out := map[string]int{}
	for state, n := range counts {
		out[string(state)] = n
	}
	return out
}

// tally counts links by route and state. Counting reads every link, so those
// who ask at the same time share a count, and a count is good for as long as
// ten times what it took: a small store is always shown as it is, a large one
// is not kept busy by people who reload the page.
type tally struct {
	turn   chan struct{}                        // held by who counts
	counts map[string]map[mapping.LinkState]int // never changed once it is here
	until  time.Time
}

func newTally() *tally { return &tally{turn: make(chan struct{}, 1)} }

func (t *tally) get(ctx context.Context, op Operator) (map[string]map[mapping.LinkState]int, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	start := time.Now()
	if start.Before(t.until) {
		return t.counts, nil
	}
	counts := map[string]map[mapping.LinkState]int{}
	err := op.Links(ctx, "", func(l *mapping.Link) error {
		if counts[l.Route] == nil {
			counts[l.Route] = map[mapping.LinkState]int{}
		}
		counts[l.Route][l.State]++
		return nil
	})
	if err != nil {
		return nil, err
	}
	const patience = 10
	t.counts, t.until = counts, time.Now().Add(patience*time.Since(start))
	return counts, nil
}
