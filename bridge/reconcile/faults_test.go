package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// fate is what befalls one call of the bridge to the world outside.
type fate string

const (
	crashBefore fate = "crash before it"
	crashAfter  fate = "crash after it took effect"
	lost        fate = "lost on its way"
	answerLost  fate = "its answer lost"
	late        fate = "takes effect after its answer was given up"
	unavailable fate = "unavailable"
	taken       fate = "another link has the item"
)

// lateness is how long a late call is under way: longer than the first retry
// takes, less than what settle allows for.
const lateness = 20 * time.Second

// point is one call to the world outside: of the store, or a read or a write
// of a service.
type point struct {
	name string
	kind string
}

func (p point) fates() []fate {
	switch p.kind {
	case "write":
		return []fate{crashBefore, crashAfter, lost, answerLost, late, unavailable}
	case "read":
		return []fate{crashBefore, lost, unavailable}
	}
	return []fate{crashBefore, crashAfter, lost, answerLost}
}

// faults counts the points that are passed while it is armed and lets one call
// meet its fate.
type faults struct {
	w       *world
	armed   bool
	points  []point
	at      int // index of the point
	fate    fate
	fired   bool
	crashed bool
	then    func() // people's acts right after it, once
	// before is called before each call with its index.
	before func(i int, p point)
	// draw, where set, says what befalls each call.
	draw func(p point) fate
	// cut ends the time of the claim that is worked. over: it has ended.
	cut  func()
	over bool
	// writes is called before each write that nothing befalls, and wrote after it; nil: nobody is told.
	writes func(name string) (wrote func())
}

func call[T any](f *faults, kind, name string, do func() (T, error)) (T, error) {
	if f.crashed { // on another goroutine of the process, which is no more
		runtime.Goexit()
	}
	if f.over && name != "Finish" && name != "FinishAndClaim" {
		var none T
		return none, context.Canceled
	}
	if !f.armed {
		return do()
	}
	i, p := len(f.points), point{name, kind}
	f.points = append(f.points, p)
	if f.before != nil {
		f.before(i, p)
	}
	fate := f.fate
	if f.draw != nil {
		fate = f.draw(p)
	} else if i != f.at {
		fate = ""
	}
	if fate == "" {
		if kind != "write" || f.writes == nil {
			return do()
		}
		wrote := f.writes(name)
		v, err := do()
		if err == nil { // a write that is refused writes nothing
			wrote()
		}
		return v, err
	}
	return befall(f, p, fate, do)
}

func befall[T any](f *faults, p point, fate fate, do func() (T, error)) (T, error) {
	var none T
	f.fired = true
	defer func() {
		if f.then != nil {
			f.then()
		}
	}()
	broken := fmt.Errorf("%s: %w", p.name, mapping.ErrUncertain)
	if p.kind == "store" {
		broken = errors.New("store: connection reset")
	}
	switch fate {
	case isOver:
		f.over = true
		f.cut()
		if p.name != "Finish" && p.name != "FinishAndClaim" {
			return none, context.Canceled
		}
		return do()
	case crashBefore:
		f.crashed = true
		runtime.Goexit()
	case crashAfter:
		do() //nolint:errcheck // nobody is left to see it
		f.crashed = true
		runtime.Goexit()
	case answerLost:
		do() //nolint:errcheck // that is the point
	case late:
		f.w.after(lateness, func() { do() }) //nolint:errcheck // that is the point
	case taken:
		return none, fmt.Errorf("%s: %w", p.name, store.ErrConflict)
	case unavailable:
		return none, fmt.Errorf("%s: %w", p.name, mapping.ErrUnavailable)
	case lost:
	}
	return none, broken
}

// act is call for what answers with nothing but an error.
func act(f *faults, kind, name string, do func() error) error {
	_, err := call(f, kind, name, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// faultyStore is the store as the bridge sees it.
type faultyStore struct {
	store.Store
	f *faults
}

func (s *faultyStore) Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error) {
	return call(s.f, "store", "Doc", func() ([]byte, error) { return s.Store.Doc(ctx, project, name) })
}

func (s *faultyStore) Conflict(ctx context.Context, project mapping.ObjectID, id string) (mapping.Conflict, error) {
	return call(s.f, "store", "Conflict", func() (mapping.Conflict, error) { return s.Store.Conflict(ctx, project, id) })
}

func (s *faultyStore) PutConflict(ctx context.Context, c mapping.Conflict) error {
	return act(s.f, "store", "PutConflict", func() error { return s.Store.PutConflict(ctx, c) })
}

func (s *faultyStore) Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	return call(s.f, "store", "Observe", func() ([]store.Observed, error) { return s.Store.Observe(ctx, project, obs) })
}

func (s *faultyStore) Save(ctx context.Context, c *store.Claim, link *mapping.Link) error {
	return act(s.f, "store", "Save", func() error { return s.Store.Save(ctx, c, link) })
}

func (s *faultyStore) Finish(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome) error {
	s.demandReason(c.Key, out)
	return act(s.f, "store", "Finish", func() error { return s.Store.Finish(ctx, c, link, history, out) })
}

func (s *faultyStore) FinishAndClaim(ctx context.Context, c *store.Claim, link *mapping.Link, history []mapping.Entry, out store.Outcome, ttl time.Duration) (*store.Claim, error) {
	s.demandReason(c.Key, out)
	return call(s.f, "store", "FinishAndClaim", func() (*store.Claim, error) {
		return s.Store.FinishAndClaim(ctx, c, link, history, out, ttl)
	})
}

// demandReason holds every world to it that no key waits without a reason.
func (s *faultyStore) demandReason(key store.Key, out store.Outcome) {
	if out.Unexplained() {
		s.f.w.fail("key %s waits without a reason: %+v", key, out)
	}
}

// faultyHub is GitHub as the bridge sees it.
type faultyHub struct {
	*hub
	f *faults
}

func (h *faultyHub) Issue(ctx context.Context, repo string, number int) (mapping.Issue, error) {
	return call(h.f, "read", "Issue", func() (mapping.Issue, error) { return h.hub.Issue(ctx, repo, number) })
}

func (h *faultyHub) LastNumber(ctx context.Context, repo string) (int, error) {
	return call(h.f, "read", "LastNumber", func() (int, error) { return h.hub.LastNumber(ctx, repo) })
}

func (h *faultyHub) Comments(ctx context.Context, repo string, number int, since time.Time) ([]reconcile.Comment, error) {
	return call(h.f, "read", "Comments", func() ([]reconcile.Comment, error) { return h.hub.Comments(ctx, repo, number, since) })
}

func (h *faultyHub) Edits(ctx context.Context, issue mapping.IssueID, a mapping.Attribute) ([]mapping.IssueEvent, error) {
	return call(h.f, "read", "Edits", func() ([]mapping.IssueEvent, error) { return h.hub.Edits(ctx, issue, a) })
}

func (h *faultyHub) CreateIssue(ctx context.Context, repo string, n reconcile.NewIssue) (mapping.Issue, error) {
	return call(h.f, "write", "CreateIssue", func() (mapping.Issue, error) { return h.hub.CreateIssue(ctx, repo, n) })
}

func (h *faultyHub) EditIssue(ctx context.Context, repo string, number int, e reconcile.IssueEdit) (mapping.Issue, error) {
	return call(h.f, "write", "EditIssue", func() (mapping.Issue, error) { return h.hub.EditIssue(ctx, repo, number, e) })
}

func (h *faultyHub) AddLabels(ctx context.Context, repo string, number int, labels []string) ([]string, error) {
	return call(h.f, "write", "AddLabels", func() ([]string, error) { return h.hub.AddLabels(ctx, repo, number, labels) })
}

func (h *faultyHub) RemoveLabel(ctx context.Context, repo string, number int, label string) ([]string, error) {
	return call(h.f, "write", "RemoveLabel", func() ([]string, error) { return h.hub.RemoveLabel(ctx, repo, number, label) })
}

func (h *faultyHub) CreateComment(ctx context.Context, repo string, number int, body string) (reconcile.Comment, error) {
	return call(h.f, "write", "CreateComment", func() (reconcile.Comment, error) { return h.hub.CreateComment(ctx, repo, number, body) })
}

// faultyPlan is planning as the bridge sees it.
type faultyPlan struct {
	*plan
	f *faults
}

func (p *faultyPlan) Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error) {
	return call(p.f, "read", "Card", func() (mapping.Card, error) { return p.plan.Card(ctx, id) })
}

func (p *faultyPlan) Task(ctx context.Context, id mapping.ObjectID) (mapping.Task, error) {
	return call(p.f, "read", "Task", func() (mapping.Task, error) { return p.plan.Task(ctx, id) })
}

func (p *faultyPlan) Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error) {
	return call(p.f, "read", "Tasks", func() ([]mapping.Task, error) { return p.plan.Tasks(ctx, card) })
}

func (p *faultyPlan) EachCard(ctx context.Context, visit func(mapping.Card) error) error {
	return act(p.f, "read", "EachCard", func() error { return p.plan.EachCard(ctx, visit) })
}

func (p *faultyPlan) CreateCard(ctx context.Context, bucket mapping.ObjectID, user string, item reconcile.NewItem) (mapping.Card, error) {
	return call(p.f, "write", "CreateCard", func() (mapping.Card, error) { return p.plan.CreateCard(ctx, bucket, user, item) })
}

func (p *faultyPlan) UpdateCard(ctx context.Context, id mapping.ObjectID, user string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	return call(p.f, "write", "UpdateCard", func() (reconcile.Updated, error) { return p.plan.UpdateCard(ctx, id, user, images, set) })
}

func (p *faultyPlan) UpdateTask(ctx context.Context, id mapping.ObjectID, user string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	return call(p.f, "write", "UpdateTask", func() (reconcile.Updated, error) { return p.plan.UpdateTask(ctx, id, user, images, set) })
}

// beforeEach does something before each of the bridge's calls of that name, with the call's number,
// from 1. It returns the number of calls so far. Each call that do makes meets a fate.
func (w *world) beforeEach(name string, do func(n int, meets func(fate))) (calls *int) {
	calls = new(int)
	w.faults.armed, w.faults.at = true, -1
	w.faults.before = func(i int, p point) {
		if p.name == name {
			*calls++
			do(*calls, func(f fate) { w.faults.at, w.faults.fate = i, f })
		}
	}
	return calls
}
