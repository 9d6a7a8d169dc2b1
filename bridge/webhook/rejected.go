package webhook

import (
	"container/list"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/mapping"
)

// The cache is bounded: deliveries are late by minutes, and it serves those that overtake each
// other.
const (
	maxRefusals = 10_000
	refusalAge  = time.Hour
)

// rejection is the part of the newest rejected observation of an issue that decides about
// entering. The rules are asked anew each time, as a reload may have changed them.
type rejection struct {
	id                 int64
	repo               string // its repository in the observation
	gone               string // deleted or transferred; "" while it exists
	state, association string
	labels             []string
	updated, closed    time.Time
	came               time.Time
}

// newer reports whether the rejection shows a later state of the issue than an observation.
// GitHub's times have whole seconds. Within one second, opening an issue comes first.
func (r *rejection) newer(s *issueObservation) bool {
	at := s.issue.UpdatedAt
	return r.gone != "" || r.updated.After(at) || s.opened && r.updated.Equal(at)
}

// show returns an issue as it was when rejected. One that was open for longer than delay before
// it was closed may still enter (see [mapping.Issue.Lasted]).
func (r *rejection) show(issue *mapping.Issue, delay time.Duration) *mapping.Issue {
	i := *issue
	i.State, i.Association, i.Labels, i.UpdatedAt, i.ClosedAt = r.state, r.association, r.labels, r.updated, r.closed
	if i.Lasted(delay) {
		i.State = "open"
	}
	return &i
}

// rejectedCache remembers the newest rejected observation of issues without a link. Without it, a
// late observation could not be recognised as older. Each process has its own. All methods are
// safe for concurrent use.
type rejectedCache struct {
	turns [256]chan struct{} // by issue id: see hold

	mu   sync.Mutex
	byID map[int64]*list.Element
	came list.List // of *rejection, the oldest first
}

func newRejectedCache() *rejectedCache {
	rs := &rejectedCache{byID: map[int64]*list.Element{}}
	for i := range rs.turns {
		rs.turns[i] = make(chan struct{}, 1)
	}
	return rs
}

// hold locks the issues with these ids until release. Between a question about an issue to the
// store or cache and its use, no other delivery may decide about that issue. The function release
// is never nil.
func (rs *rejectedCache) hold(ctx context.Context, ids []int64) (release func(), err error) {
	turns := make([]int, len(ids))
	for i, id := range ids {
		turns[i] = int(uint64(id) % uint64(len(rs.turns)))
	}
	slices.Sort(turns) // sorted, so that two callers never wait for each other
	turns = slices.Compact(turns)
	held := 0
	release = func() {
		for _, t := range turns[:held] {
			<-rs.turns[t]
		}
	}
	for _, t := range turns {
		select {
		case rs.turns[t] <- struct{}{}:
			held++
		case <-ctx.Done():
			return release, ctx.Err()
		}
	}
	return release, nil
}

// of returns the rejection of an issue, or nil.
func (rs *rejectedCache) of(id int64) *rejection {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.expire()
	if e := rs.byID[id]; e != nil {
		return e.Value.(*rejection)
	}
	return nil
}

// put remembers a rejected observation, unless a newer one is known.
func (rs *rejectedCache) put(s *issueObservation) {
	labels := make([]string, len(s.issue.Labels))
	for i, l := range s.issue.Labels {
		labels[i] = strings.Clone(l) // a label may share memory with its payload
	}
	r := &rejection{
		id: s.issue.ID, repo: strings.Clone(s.issue.Repo), gone: s.gone, state: s.issue.State, association: strings.Clone(s.issue.Association), labels: labels,
		updated: s.issue.UpdatedAt, closed: s.issue.ClosedAt, came: time.Now(),
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if e := rs.byID[r.id]; e != nil {
		if r.gone == "" && e.Value.(*rejection).newer(s) {
			return
		}
		rs.drop(e)
	}
	rs.byID[r.id] = rs.came.PushBack(r)
	rs.expire()
}

// forget removes an issue that entered.
func (rs *rejectedCache) forget(id int64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if e := rs.byID[id]; e != nil {
		rs.drop(e)
	}
}

// The caller of expire and drop holds rs.mu.
func (rs *rejectedCache) expire() {
	for e := rs.came.Front(); e != nil; e = rs.came.Front() {
		if rs.came.Len() <= maxRefusals && time.Since(e.Value.(*rejection).came) < refusalAge {
			return
		}
		rs.drop(e)
	}
}

func (rs *rejectedCache) drop(e *list.Element) {
	delete(rs.byID, rs.came.Remove(e).(*rejection).id)
}
