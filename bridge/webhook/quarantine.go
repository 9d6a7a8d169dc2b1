package webhook

import (
	"container/list"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"planbridge/mapping"
)

// The number of counted issues is bounded: anybody can open issues without end.
const (
	maxQuarantined = 10_000
	quarantineAge  = 30 * 24 * time.Hour
)

// released reports whether an observation shows that its issue left quarantine: by a label, an
// assignee or a parent. Adding a sub-issue takes triage rights in the parent's repository. That
// must be a configured one, as anybody has those rights in a repository of their own.
func (in *Intake) released(s issueObservation) bool {
	parent, _, _ := strings.Cut(s.issue.Parent, "#")
	if s.parent != nil {
		parent = s.parent.Repo
	}
	return s.released || parent != "" && len(in.o.Settings.Routes().ForRepo(parent)) > 0
}

// release asks GitHub whether a person let a listed issue out of quarantine, as the delivery may
// be lost. If so, the issue enters.
func (in *Intake) release(ctx context.Context, p *routed) error {
	if p.why != mapping.WhyQuarantine || !p.seen.listed {
		return nil
	}
	released, err := in.o.Accounts.Released(ctx, p.seen.issue)
	if err != nil || !released {
		return err
	}
	p.seen.released = true
	routes := in.o.Settings.Routes()
	return in.admit(p, p.seen, routes, routes.ForRepo(p.seen.issue.Repo))
}

// quarantined updates the count of waiting issues for an issue without a link.
func (in *Intake) quarantined(p *routed) {
	issue := p.seen.issue
	if p.why != mapping.WhyQuarantine || p.seen.gone != "" {
		in.waiting.remove(issue.ID)
		return
	}
	if route, _ := in.o.Settings.Routes().ForIssue(issue, in.o.Settings.Scheme()); route != nil {
		in.waiting.add(issue, route.Name)
	}
}

// quarantine counts the issues that wait for a person, as far as this process saw them. GitHub's
// events always tell who was let in, so that nothing of a stranger's issue is stored. All methods
// are safe for concurrent use.
type quarantine struct {
	metrics *Metrics
	log     *slog.Logger

	mu   sync.Mutex
	byID map[int64]*list.Element
	came list.List // of waiting, the oldest first
}

type waiting struct {
	id    int64
	route string
	came  time.Time
}

func newQuarantine(m *Metrics, log *slog.Logger) *quarantine {
	return &quarantine{metrics: m, log: log, byID: map[int64]*list.Element{}}
}

func (q *quarantine) add(issue *mapping.Issue, route string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire()
	if e := q.byID[issue.ID]; e != nil && e.Value.(waiting).route == route {
		return
	}
	q.drop(q.byID[issue.ID])
	q.byID[issue.ID] = q.came.PushBack(waiting{issue.ID, route, time.Now()})
	q.metrics.quarantined.WithLabelValues(route).Inc()
	q.log.Info("an issue waits in quarantine", "repo", issue.Repo, "issue", issue.Number, "route", route)
}

func (q *quarantine) remove(id int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(q.byID[id])
}

// The caller of expire and drop holds q.mu.
func (q *quarantine) expire() {
	for e := q.came.Front(); e != nil; e = q.came.Front() {
		if q.came.Len() < maxQuarantined && time.Since(e.Value.(waiting).came) < quarantineAge {
			return
		}
		q.drop(e)
	}
}

func (q *quarantine) drop(e *list.Element) {
	if e == nil {
		return
	}
	was := q.came.Remove(e).(waiting)
	delete(q.byID, was.id)
	q.metrics.quarantined.WithLabelValues(was.route).Dec()
}
