package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"planbridge/mapping"
)

// These bound the walks of all links: at least a minute apart, and at most a twentieth of the time.
const (
	censusPause = time.Minute
	censusShare = 20
)

// manyRefusals bounds the reasons that one census distinguishes.
const manyRefusals = 100

// census has facts that only a walk of all links shows: which parts dormant links lack, and which
// values a side refuses. The store does not count them.
type census struct {
	mu      sync.Mutex
	dormant bool // there were dormant links of configured routes
	next    time.Time
	taken
}

// taken is the result of one walk.
type taken struct {
	lacks    lacking
	refusals []refusal
}

// lacking counts dormant links of configured routes, except unlinked ones, by their missing part.
type lacking struct{ project, route int }

// refusal is a value that a side refuses of some items, with a similar message.
type refusal struct {
	side, attribute, words string // of the first item
	where, link            string
	count                  int
}

// census returns the result of the last walk of the links, and makes a new walk where that is due.
func (h *handler) census(ctx context.Context, routes []Route) (taken, error) {
	dormant := map[string]bool{}
	for i := range routes {
		if routes[i].Links[string(mapping.Dormant)] > 0 && routes[i].Repository != "" {
			dormant[routes[i].Name] = true
		}
	}
	c := &h.walked
	c.mu.Lock()
	defer c.mu.Unlock()
	began := h.Clock.Now()
	if len(dormant) == 0 {
		c.lacks = lacking{}
	}
	if first := len(dormant) > 0 && !c.dormant; !first && began.Before(c.next) {
		return c.taken, nil
	}
	found := taken{}
	err := h.Operator.Links(ctx, "", func(l *mapping.Link) error {
		if l.State == mapping.Dormant && !l.Parted && dormant[l.Route] {
			found.lacks.count(l)
		}
		found.noteRefused(l)
		return nil
	})
	if err == nil {
		now := h.Clock.Now()
		c.dormant, c.taken, c.next = len(dormant) > 0, found, now.Add(max(censusPause, censusShare*now.Sub(began)))
	}
	return found, err
}

func (l *lacking) count(link *mapping.Link) {
	if link.Why == mapping.WhyWithoutProject(link.Project) {
		l.project++
	} else {
		l.route++
	}
}

// noteRefused adds the values of a link that a side refuses, each reason once for the link.
func (t *taken) noteRefused(l *mapping.Link) {
	var counted []int
	for _, p := range l.All() {
		if p.State != mapping.Linked || l.State != mapping.Linked {
			continue
		}
		for a, r := range mapping.Sorted(p.Refused) {
			i := slices.IndexFunc(t.refusals, func(have refusal) bool {
				return have.side == string(r.Side) && have.attribute == string(a) && sharedReason(have.words) == sharedReason(r.Message)
			})
			switch {
			case i < 0 && len(t.refusals) == manyRefusals:
				continue
			case i < 0:
				i = len(t.refusals)
				t.refusals = append(t.refusals, refusal{string(r.Side), string(a), r.Message, l.Where(), string(l.ID), 0})
			case slices.Contains(counted, i):
				continue
			}
			t.refusals[i].count++
			counted = append(counted, i)
		}
	}
}

// refused reports the values that a side refuses.
func (t *taken) refused() (out []problem) {
	most := slices.SortedStableFunc(slices.Values(t.refusals), func(a, b refusal) int { return cmp.Compare(b.count, a.count) })
	few, more := atMost(most, pageProblems)
	for _, r := range few {
		of := r.where
		if r.count > 1 {
			of = mapping.Count(r.count, "item", "items") + ", such as " + r.where
		}
		says := fmt.Sprintf("%s does not take the %s of %s: %s", capital(sideName(r.side)), plainAttribute(r.attribute), of, cut(pageReason, r.words))
		out = append(out, problem{true, says, explainPath(r.link)})
	}
	if more > 0 {
		out = append(out, problem{true, fmt.Sprintf("Values are refused for %s more.", mapping.Count(more, "reason", "reasons")), ""})
	}
	return out
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
