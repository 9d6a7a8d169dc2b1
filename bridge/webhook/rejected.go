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

// What is remembered is bounded: deliveries are late by minutes, and this is
// about those that overtake each other.
const (
	maxRefusals = 10_000
	refusalAge  = time.Hour
)

// rejection is what the newest observation that did not enter showed of an issue, as
// far as entering is about it. The rules themselves are asked anew each time, as
// a reload may have changed them.
type rejection struct {
	id                 int64
	repo               string // in which it was told to be
	gone               string // deleted or transferred; "" while it is there
	state, association string
	labels             []string
	updated, closed    time.Time
	came               time.Time
}

// newer reports whether a refusal is of a later state of the issue than a
// observation is. GitHub's times have whole seconds; that an issue was opened comes
// before all else that happened to it in the same one.
func (r *rejection) newer(s *issueObservation) bool {
	at := s.issue.UpdatedAt
	return r.gone != "" || r.updated.After(at) || s.opened && r.updated.Equal(at)
}

// show returns an issue as it was when it was refused. One that was open for
// longer than delay before it was closed may enter for all that (see
// [mapping.Issue.Lasted]).
func (r *rejection) show(issue *mapping.Issue, delay time.Duration) *mapping.Issue {
	i := *issue
	i.State, i.Association, i.Labels, i.UpdatedAt, i.ClosedAt = r.state, r.association, r.labels, r.updated, r.closed
	if i.Lasted(delay) {
		i.State = "open"
	}
	return &i
}

// rejectedCache remembers, of issues that no link knows, the newest observation that did
// not enter: nothing else tells that one which arrives later is older. They are
// this process's own. All methods are safe for concurrent use.
type rejectedCache struct {
	turns [256]chan struct{} // by issue id: see hold

	mu   sync.Mutex
	byID map[int64]*list.Element
	came list.List // of *refusal, the oldest first
}

func newRejectedCache() *rejectedCache {
	rs := &rejectedCache{byID: map[int64]*list.Element{}}
	for i := range rs.turns {
		rs.turns[i] = make(chan struct{}, 1)
	}
	return rs
}

// hold keeps others from the issues with these ids until release: between
// asking the store or the cache for an issue and acting on the answer
// nothing else may be decided about it. release is never nil.
func (rs *rejectedCache) hold(ctx context.Context, ids []int64) (release func(), err error) {
	turns := make([]int, len(ids))
	for i, id := range ids {
		turns[i] = int(uint64(id) % uint64(len(rs.turns)))
	}
	slices.Sort(turns) // so that two never wait for each other
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

// of returns what is remembered of an issue, nil where that is nothing.
func (rs *rejectedCache) of(id int64) *rejection {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.expire()
	if e := rs.byID[id]; e != nil {
		return e.Value.(*rejection)
	}
	return nil
}

// put remembers an observation that did not enter, unless a newer one is.
func (rs *rejectedCache) put(s *issueObservation) {
	labels := make([]string, len(s.issue.Labels))
	for i, l := range s.issue.Labels {
		labels[i] = strings.Clone(l) // which may be a part of its payload
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

// forget forgets an issue, which has entered.
func (rs *rejectedCache) forget(id int64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if e := rs.byID[id]; e != nil {
		rs.drop(e)
	}
}

// expire and drop are called with rs.mu held.
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
