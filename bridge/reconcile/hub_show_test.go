package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// The projections' calls of GitHub, in memory.

// EnsureLabel makes a label with its colour, but while points are short.
func (h *hub) EnsureLabel(_ context.Context, _, name, color, _ string) error {
	if h.pointsShort > 0 {
		h.pointsShort--
		return &mapping.RateLimited{API: "github", After: time.Second, Why: "its turn has not come: request points", Turn: true}
	}
	if _, exists := h.colors[name]; !exists {
		h.colors[name] = color
	}
	return nil
}

// label gives an issue's labels no colour where they do not exist, as GitHub does.
func (h *hub) label(names []string) {
	for _, name := range names {
		if _, exists := h.colors[name]; !exists {
			h.colors[name] = ""
		}
	}
}

func (h *hub) Assign(_ context.Context, _ string, number int, logins []string) (mapping.Issue, error) {
	return h.assignees(number, func(have []string) []string {
		for _, login := range logins {
			if !slices.Contains(have, login) && !slices.Contains(h.strangers, login) {
				have = append(have, login)
			}
		}
		return have
	})
}

func (h *hub) Unassign(_ context.Context, _ string, number int, logins []string) (mapping.Issue, error) {
	return h.assignees(number, func(have []string) []string {
		return slices.DeleteFunc(have, func(login string) bool { return slices.Contains(logins, login) })
	})
}

func (h *hub) assignees(number int, to func([]string) []string) (mapping.Issue, error) {
	i, err := h.at(number)
	if err != nil {
		return mapping.Issue{}, err
	}
	h.writes++
	h.change(i, bot, func(s *mapping.Issue) { s.Assignees = to(slices.Clone(s.Assignees)) })
	return i.snapshot(""), nil
}

func (h *hub) Milestones(context.Context, string) ([]mapping.Milestone, error) {
	return slices.Clone(h.milestones), nil
}

// PutMilestone takes a title once, as GitHub does.
func (h *hub) PutMilestone(_ context.Context, _ string, m mapping.Milestone) (mapping.Milestone, error) {
	h.writes++
	if slices.ContainsFunc(h.milestones, func(o mapping.Milestone) bool { return o.Title == m.Title && o.Number != m.Number }) {
		return m, &mapping.Rejection{Status: 422, Field: "title", Message: "already_exists"}
	}
	if m.Number == 0 {
		m.Number = len(h.milestones) + 1
		h.milestones = append(h.milestones, m)
		return m, nil
	}
	if m.Number > len(h.milestones) {
		return m, fmt.Errorf("milestone %d: %w", m.Number, mapping.ErrNotFound)
	}
	h.milestones[m.Number-1] = m
	return m, nil
}

// Acted tells from the past of the issue what the bridge did to it.
func (h *hub) Acted(_ context.Context, _ string, number int, since time.Time, act mapping.Act) (at time.Time, err error) {
	i, err := h.at(number)
	if err != nil {
		return at, err
	}
	for _, d := range i.events {
		switch {
		case d.by != bot || d.at.Before(since):
		case d.Act == act:
			at = d.at
		case d.Act == act.Opposite():
			at = time.Time{}
		}
	}
	return at, nil
}

// ghEvent is one change of an issue's state or labels.
type ghEvent struct {
	mapping.Act
	by string
	at time.Time
}

// eventsOf lists what made an issue of another one.
func eventsOf(was, is *mapping.Issue, by string) (all []ghEvent) {
	did := func(event, label string) {
		all = append(all, ghEvent{mapping.Act{Event: event, Label: label}, by, is.UpdatedAt})
	}
	switch {
	case was.State != "closed" && is.State == "closed":
		did(mapping.ActClosed, "")
	case was.State == "closed" && is.State != "closed":
		did(mapping.ActReopened, "")
	}
	for _, l := range is.Labels {
		if !slices.Contains(was.Labels, l) {
			did(mapping.ActLabeled, l)
		}
	}
	for _, l := range was.Labels {
		if !slices.Contains(is.Labels, l) {
			did(mapping.ActUnlabeled, l)
		}
	}
	return all
}

func (h *faultyHub) Assign(ctx context.Context, repo string, number int, logins []string) (mapping.Issue, error) {
	return call(h.f, "write", "Assign", func() (mapping.Issue, error) { return h.hub.Assign(ctx, repo, number, logins) })
}

func (h *faultyHub) Unassign(ctx context.Context, repo string, number int, logins []string) (mapping.Issue, error) {
	return call(h.f, "write", "Unassign", func() (mapping.Issue, error) { return h.hub.Unassign(ctx, repo, number, logins) })
}

func (h *faultyHub) Milestones(ctx context.Context, repo string) ([]mapping.Milestone, error) {
	return call(h.f, "read", "Milestones", func() ([]mapping.Milestone, error) { return h.hub.Milestones(ctx, repo) })
}

func (h *faultyHub) PutMilestone(ctx context.Context, repo string, m mapping.Milestone) (mapping.Milestone, error) {
	return call(h.f, "write", "PutMilestone", func() (mapping.Milestone, error) { return h.hub.PutMilestone(ctx, repo, m) })
}

func (h *faultyHub) Acted(ctx context.Context, repo string, number int, since time.Time, act mapping.Act) (time.Time, error) {
	return call(h.f, "read", "Acted", func() (time.Time, error) { return h.hub.Acted(ctx, repo, number, since, act) })
}
