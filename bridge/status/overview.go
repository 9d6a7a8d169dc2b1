package status

import (
	"context"
	"maps"
	"slices"
	"strings"

	"planbridge/mapping"
)

// collectOverview collects the overview.
func (h *handler) collectOverview(ctx context.Context) (Overview, error) {
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
	counts, err := h.Operator.Counts(ctx)
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
		out.Routes = append(out.Routes, Route{Name: r.Name, Repository: strings.Join(r.Repositories, ", "), Project: r.ProjectName, Links: states(counts[r.Name]), Paused: paused[r.Name]})
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
