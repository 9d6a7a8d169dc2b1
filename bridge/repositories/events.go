package repositories

import (
	"context"
	"fmt"
	"strings"
	"time"

	"planbridge/bridge/identity"
	"planbridge/mapping"
)

// What an event says of a repository is checked against what is remembered: an event
// may be old, or of a repository that has only the name of another one. It makes
// GitHub be asked, and GitHub is believed.

// Believes reports whether an event's repository, by its name and its id (0: the event
// does not tell), is the one that the name stands for. An error says that GitHub would
// have to be asked and does not answer.
func (r *Registry) Believes(ctx context.Context, name string, id int64) (bool, error) {
	if home := r.nameOf(id); id != 0 && home != "" && !strings.EqualFold(home, name) {
		if here, err := r.movedHere(ctx, home, name); here || err != nil {
			return here, err
		}
		if r.o.Routes.HasRoute(name) {
			return false, nil // an old event, of a name that stands for another one
		}
	}
	if !r.o.Routes.HasRoute(name) {
		return true, nil
	}
	e, err := r.entry(ctx, name)
	if err != nil {
		return false, err
	}
	e.mu.Lock()
	known, here := e.known, strings.EqualFold(e.now, name)
	if e.met = e.met || id != 0 && id == known.ID && here; !here {
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

// movedHere reports whether the repository that was called home is called name now.
// GitHub is asked the first time that this is the question, and once in a while then.
func (r *Registry) movedHere(ctx context.Context, home, name string) (bool, error) {
	e, err := r.entry(ctx, home)
	if err != nil {
		return false, err
	}
	e.mu.Lock()
	asOf := time.Now()
	if strings.EqualFold(e.soughtAs, name) && asOf.Sub(e.soughtAt) < DoubtedFor {
		asOf = e.soughtAt
	}
	e.soughtAs, e.soughtAt = name, asOf
	e.mu.Unlock()
	now, err := r.Locate(ctx, home, 0, asOf)
	if mapping.Refused(err) {
		return false, nil
	}
	return strings.EqualFold(now, name), err
}

// firstSight remembers what a name stands for as an event tells it, until GitHub does:
// no delivery waits for that. Whoever asks GitHub at this moment remembers its answer.
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
	e.known, e.met = known, true
	here := strings.EqualFold(e.now, e.name)
	e.mu.Unlock()
	r.mu.Lock()
	r.byID[known.ID] = e.name
	r.mu.Unlock()
	return known.ID == id && here, nil
}

// doubted asks GitHub about a name that an event gives to another id. What GitHub has
// once told stands until it tells otherwise; where it never does, events are believed.
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

// tellPrivate takes in who can read a repository by what an event of it says.
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
	if told || !e.asking.Try() { // whoever asks writes the same document; the next event tells it, too
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

// CheckRename takes in that an event says that a repository has another name: GitHub is
// asked whether it has.
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
	// Neither the old name nor the id is answered: the new name may be.
	if known := r.ID(from); known != 0 {
		if got, err := r.o.GitHub.Identity(ctx, to); err == nil && got.ID == known {
			return r.rename(ctx, from, to, known)
		}
	}
	r.o.Logger.Warn("an event says that a repository was renamed, and GitHub does not: it is not believed", "repo", from, "to", to)
	return nil
}

// answered reports whether GitHub told what a name stands for when it was asked last.
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

// IssueMoved is told that an issue answers from another repository with its id kept, which
// only a rename does. GitHub is asked for the repository as well; where it has no answer
// to that, the issue's will do.
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
