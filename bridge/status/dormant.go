package status

import (
	"context"
	"maps"
	"sync"
	"time"

	"planbridge/mapping"
)

// dormantPause is the least time between two walks that find out why links are dormant.
const dormantPause = time.Minute

// dormancy counts the dormant links of configured routes that no operator parted. The store
// counts both kinds together, so that a walk separates them whenever the counts changed.
type dormancy struct {
	mu     sync.Mutex
	counts map[string]int // dormant links by route, as of the walk; nil: none was made
	walked time.Time
	lacks  lacking
}

// lacking counts dormant links by what they lack.
type lacking struct{ project, route int }

// lacking counts the dormant links of configured routes by what they lack.
func (h *handler) lacking(ctx context.Context, routes []Route) (lacking, error) {
	counts := map[string]int{}
	for i := range routes {
		if n := routes[i].Links[string(mapping.Dormant)]; n > 0 && routes[i].Repository != "" {
			counts[routes[i].Name] = n
		}
	}
	d := &h.dormancy
	d.mu.Lock()
	defer d.mu.Unlock()
	now := h.Now()
	switch {
	case len(counts) == 0:
		d.counts, d.lacks = nil, lacking{}
		return d.lacks, nil
	case maps.Equal(counts, d.counts), d.counts != nil && now.Sub(d.walked) < dormantPause:
		return d.lacks, nil
	}
	var lacks lacking
	err := h.Operator.Links(ctx, "", func(l *mapping.Link) error {
		switch {
		case l.State != mapping.Dormant, l.Parted, counts[l.Route] == 0:
		case l.Why == mapping.WhyWithoutProject(l.Project):
			lacks.project++
		default:
			lacks.route++
		}
		return nil
	})
	if err == nil {
		d.counts, d.walked, d.lacks = counts, now, lacks
	}
	return lacks, err
}

// problems reports the dormant links.
func (l lacking) problems() (out []problem) {
	if l.project > 0 {
		out = append(out, problem{false, mapping.Count(l.project, "link is dormant: planning.projects does not name its project.",
			"links are dormant: planning.projects does not name their project."), "#routes"})
	}
	if l.route > 0 {
		out = append(out, problem{false, mapping.Count(l.route, "link is dormant: no route takes its issue.",
			"links are dormant: no route takes their issues."), "#routes"})
	}
	return out
}
