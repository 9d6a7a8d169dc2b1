package repositories

import (
	"context"
	"fmt"
	"strings"
	"time"

	"planbridge/bridge/identity"
	"planbridge/mapping"
)

// An event's facts about a repository are checked against the records. The event may be old, or
// concern another repository with the same name. A difference makes the registry ask GitHub, and
// GitHub's answer counts.

// Identify returns the present name of the repository that an event is about. The event tells a
// name and an id (0: unknown); its name may be a former one. "" says that another repository has
// the name. It returns an error where only GitHub could tell and does not answer.
func (r *Registry) Identify(ctx context.Context, name string, id int64) (string, error) {
	if home := r.NameOf(id); home != "" && !strings.EqualFold(home, name) {
		now, err := r.calledNow(ctx, home, name)
		if err != nil {
			return "", err
		}
		if now != "" && (strings.EqualFold(now, name) || r.o.Routes.HasRoute(now)) {
			return now, nil
		}
		if r.o.Routes.HasRoute(name) {
			return "", nil // an old event, with a name that belongs to another repository now
		}
	}
	if ok, err := r.believes(ctx, name, id); err != nil || !ok {
		return "", err
	}
	return name, nil
}

// believes reports whether an event's id (0: unknown) is of the repository that its name stands
// for.
func (r *Registry) believes(ctx context.Context, name string, id int64) (bool, error) {
	if !r.o.Routes.HasRoute(name) {
		return true, nil
	}
	e, err := r.entry(ctx, name)
	if err != nil {
		return false, err
	}
	e.mu.Lock()
	known, here := e.known, strings.EqualFold(e.now, name)
	if e.confirmed = e.confirmed || id != 0 && id == known.ID && here; !here {
		defer r.warn(e)
	}
	e.mu.Unlock()
	switch {
	case id == 0 || known.ID == id:
		return here, nil
	case known.ID == 0:
		return r.firstSight(ctx, e, id)
	}
	return r.doubted(ctx, e, id)
}

// calledNow returns the present name of the repository called home, as an event has another name
// for it; "" where GitHub refuses to tell. It asks GitHub at the first such question, and then at
// intervals.
func (r *Registry) calledNow(ctx context.Context, home, name string) (string, error) {
	e, err := r.entry(ctx, home)
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	asOf := time.Now()
	if strings.EqualFold(e.soughtAs, name) && asOf.Sub(e.soughtAt) < DoubtedFor {
		asOf = e.soughtAt
	}
	e.soughtAs, e.soughtAt = name, asOf
	e.mu.Unlock()
	now, err := r.Locate(ctx, home, 0, asOf)
	if mapping.Refused(err) || err == nil && !r.answered(home) {
		return "", nil
	}
	return now, err
}

// firstSight records a name's repository from an event until GitHub confirms it, so that no
// delivery waits. Where another goroutine asks GitHub now, that one stores the answer.
func (r *Registry) firstSight(ctx context.Context, e *repository, id int64) (bool, error) {
	if !e.asking.Try() {
		return true, nil
	}
	defer e.asking.End()
	known, err := r.remembered(ctx, e)
	if err != nil {
		return false, err
	}
	if known.ID == 0 {
		known.ID = id
		if err := identity.Put(ctx, r.o.Store, identity.DocRepository(e.name), known); err != nil {
			return false, err
		}
	}
	e.mu.Lock()
	e.known, e.confirmed = known, true
	here := strings.EqualFold(e.now, e.name)
	e.mu.Unlock()
	r.mu.Lock()
	r.byID[known.ID] = e.name
	r.mu.Unlock()
	return known.ID == id && here, nil
}

// doubted asks GitHub about a name that an event gives to another id. GitHub's last answer stands
// until a new one. Without any answer from GitHub, events count.
func (r *Registry) doubted(ctx context.Context, e *repository, id int64) (bool, error) {
	e.mu.Lock()
	asOf := time.Now()
	if e.doubtID == id && asOf.Sub(e.doubtAt) < DoubtedFor {
		asOf = e.doubtAt
	}
	e.doubtID, e.doubtAt = id, asOf
	e.mu.Unlock()
	err := r.ask(ctx, e, asOf)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.known.ID == id:
		return strings.EqualFold(e.now, e.name), nil
	case e.known.Proven:
		return false, err
	case err != nil:
		return false, err
	}
	if !e.unproven {
		e.unproven = true
		r.o.Logger.Warn("events tell several ids of one repository, and GitHub none: it is told by its name", "repo", e.name, "id", id, "known_id", e.known.ID)
	}
	return true, nil
}

// tellPrivate records from an event who can read a repository.
func (r *Registry) tellPrivate(ctx context.Context, name string, private bool) error {
	if !r.o.Routes.HasRoute(name) {
		return nil
	}
	e, err := r.entry(ctx, name)
	if err != nil {
		return err
	}
	e.mu.Lock()
	told := e.known.Private != nil && *e.known.Private == private
	e.mu.Unlock()
	if told || !e.asking.Try() { // the asking goroutine writes the same document; the next event repeats the fact
		return nil
	}
	defer e.asking.End()
	known, err := r.remembered(ctx, e)
	if err != nil {
		return err
	}
	known.Private = &private
	if err := identity.Put(ctx, r.o.Store, identity.DocRepository(name), known); err != nil {
		return err
	}
	e.mu.Lock()
	e.known = known
	e.mu.Unlock()
	return nil
}

// CheckRename asks GitHub to confirm an event's rename of a repository.
func (r *Registry) CheckRename(ctx context.Context, from, to string) error {
	if !r.o.Routes.HasRoute(from) {
		return nil
	}
	now, err := r.Locate(ctx, from, 0, time.Now())
	switch {
	case mapping.Refused(err):
		return nil
	case err != nil:
		return fmt.Errorf("rename of %s: %w", from, err)
	case strings.EqualFold(now, to) || r.answered(from):
		return nil
	}
	// GitHub knows neither the old name nor the id. It may know the new name.
	if known := r.ID(from); known != 0 {
		if got, err := r.o.GitHub.Identity(ctx, to); err == nil && got.ID == known {
			return r.rename(ctx, from, to, known)
		}
	}
	r.o.Logger.Warn("an event says that a repository was renamed, and GitHub does not: it is not believed", "repo", from, "to", to)
	return nil
}

// answered reports whether GitHub's last answer named the repository behind a name.
func (r *Registry) answered(name string) bool {
	r.mu.Lock()
	e := r.byName[strings.ToLower(name)]
	r.mu.Unlock()
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.told
}

// IssueMoved reports that an issue with an unchanged id answers from another repository, which
// only a rename causes. It also asks GitHub for the repository. Where GitHub has no answer, the
// issue's answer counts.
func (r *Registry) IssueMoved(ctx context.Context, from, to string) error {
	now, err := r.Locate(ctx, from, 0, time.Now().Add(-BelievedFor))
	if err == nil && !strings.EqualFold(now, to) {
		now, err = r.Locate(ctx, from, 0, time.Now())
	}
	switch {
	case mapping.Refused(err), err == nil && strings.EqualFold(now, to), err == nil && r.answered(from):
		return nil
	case err != nil:
		return fmt.Errorf("rename of %s: %w", from, err)
	}
	return r.o.Routes.Renamed(ctx, from, to)
}
