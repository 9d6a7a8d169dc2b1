// Package repositories knows the repositories behind GitHub's names, and who can read each one.
//
// A name may be given to another repository. The package remembers the id of its first one.
package repositories

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/guard"
	"planbridge/bridge/identity"
	"planbridge/mapping"
)

const (
	// BelievedFor is how long GitHub's answer about a name is used for writes.
	BelievedFor = visibleFor
	// AnewFor is how long it is used after an item was not found under the name.
	AnewFor = 5 * time.Second
	// DoubtedFor is the least time between two questions to GitHub about an event's different id.
	DoubtedFor = 30 * time.Second
	// strangerEvery is the least time between two log lines about a name that another repository
	// has.
	strangerEvery = 10 * time.Minute
)

// Repository is one repository in GitHub's words.
type Repository struct {
	ID       int64 // 0: GitHub tells none
	FullName string
	Private  bool
}

// GitHub is the client that the Registry asks. Errors match the sentinels of mapping.
type GitHub interface {
	// Identity returns the repository behind a name.
	Identity(ctx context.Context, name string) (Repository, error)
	RepositoryByID(ctx context.Context, owner string, id int64) (Repository, error)
}

// Routes has the configuration's repositories.
type Routes interface {
	// HasRoute reports whether a route is for a name, the present one or the configured one.
	HasRoute(name string) bool
	// Renamed reports a rename that GitHub confirmed.
	Renamed(ctx context.Context, from, to string) error
}

// Options configure a Registry. All fields are required, except VisibilityAge.
type Options struct {
	Store  identity.Documents
	GitHub GitHub
	Routes Routes
	Logger *slog.Logger
	// VisibilityAge is how long GitHub's answer about a repository's readers is used; 0: 5
	// minutes.
	VisibilityAge time.Duration
}

// Registry knows the repository behind each route's name, and who can read it. It is safe for
// concurrent use.
type Registry struct {
	o       Options
	visible visibilities

	mu     sync.Mutex
	byName map[string]*repository // by lower-case name
	byID   map[int64]string       // the name last seen for each id
}

// repository is one name. mu guards the fields below it; asking is held during a question to
// GitHub.
type repository struct {
	name   string
	asking guard.Turn

	mu    sync.Mutex
	known identity.Record
	// now is the present name of the repository; "" where another one has the name and the
	// original cannot be found.
	now       string
	asked     time.Time // when GitHub last answered or refused
	told      bool      // GitHub answered then
	confirmed bool      // an answer or an event in this process confirmed the id
	warned    time.Time // when a log line last said that another repository has the name
	unproven  bool      // a log line said that GitHub does not tell
	// doubtID is the last different id for the name in an event, and doubtAt is when GitHub was
	// asked about it.
	doubtID int64
	doubtAt time.Time
	// soughtAs is the last other name for its id in an event, and soughtAt is when GitHub was
	// asked about it.
	soughtAs string
	soughtAt time.Time
}

// New makes a Registry on the records in the store.
func New(o Options) *Registry {
	return &Registry{o: o, visible: visibilities{age: o.VisibilityAge}, byName: map[string]*repository{}, byID: map[int64]string{}}
}

// Recall reads a name's record from the store, so that a renamed repository is recognised.
func (r *Registry) Recall(ctx context.Context, name string) error {
	_, err := r.entry(ctx, name)
	return err
}

// entry returns the entry of a name, at first from the store.
func (r *Registry) entry(ctx context.Context, name string) (*repository, error) {
	r.mu.Lock()
	e := r.byName[strings.ToLower(name)]
	r.mu.Unlock()
	if e != nil {
		return e, nil
	}
	known, err := identity.Read(ctx, r.o.Store, identity.DocRepository(name))
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.byName[strings.ToLower(name)]; e != nil {
		return e, nil
	}
	e = &repository{name: name, asking: guard.NewTurn(), known: known, now: name}
	if known.Other != 0 {
		e.now = ""
	}
	if known.Private != nil {
		r.visible.learn(name, *known.Private)
	}
	r.byName[strings.ToLower(name)] = e
	if known.ID != 0 && r.byID[known.ID] == "" {
		r.byID[known.ID] = name
	}
	return e, nil
}

// Forget drops a name's entry, so that the store is read again.
func (r *Registry) Forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byName, strings.ToLower(name))
}

// NameOf returns the name under which this process last met a repository; "" where it does not
// know the id.
func (r *Registry) NameOf(id int64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// ID returns the id of the repository behind a name, 0 where that is unknown or another one has
// the name.
func (r *Registry) ID(name string) int64 {
	r.mu.Lock()
	e := r.byName[strings.ToLower(name)]
	r.mu.Unlock()
	if e == nil {
		return 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !strings.EqualFold(e.now, name) {
		return 0
	}
	return e.known.ID
}

// Locate returns the present name of the repository behind a name, from an answer of GitHub not
// older than asOf. The argument id selects the repository where the name may have changed hands; 0:
// the present one. A [mapping.StrangerError] says that another repository has the name. Where
// GitHub refuses to tell, the name stands for itself. Where it does not answer, its last answer to
// this process counts.
func (r *Registry) Locate(ctx context.Context, name string, id int64, asOf time.Time) (string, error) {
	e, err := r.entry(ctx, name)
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	fresh := e.asked.After(asOf)
	e.mu.Unlock()
	if !fresh {
		err = r.ask(ctx, e, asOf)
	}
	e.mu.Lock()
	known, now, confirmed := e.known, e.now, e.confirmed
	e.mu.Unlock()
	switch {
	case id != 0 && known.Accepted && id != known.ID:
		return r.formerly(ctx, name, id)
	case now == "" && known.Other != 0:
		r.warn(e)
		return "", &mapping.StrangerError{Repo: name, ID: known.Other, Known: known.ID}
	case err != nil && !confirmed:
		return "", err
	}
	return now, nil
}

// formerly returns the present name of a repository whose name an operator accepted for another.
func (r *Registry) formerly(ctx context.Context, name string, id int64) (string, error) {
	owner, _, _ := strings.Cut(name, "/")
	got, err := r.o.GitHub.RepositoryByID(ctx, owner, id)
	if err != nil {
		return "", err
	}
	return got.FullName, nil
}

// ask asks GitHub about a name, unless another goroutine did since asOf.
func (r *Registry) ask(ctx context.Context, e *repository, asOf time.Time) error {
	if err := e.asking.Take(ctx); err != nil {
		return err
	}
	defer e.asking.End()
	e.mu.Lock()
	fresh := e.asked.After(asOf)
	e.mu.Unlock()
	if fresh {
		return nil
	}
	began := time.Now()
	known, err := r.remembered(ctx, e)
	if err != nil {
		return err
	}
	was, _ := r.visible.of(e.name)
	got, err := r.o.GitHub.Identity(ctx, e.name)
	if err == nil {
		r.visible.put(e.name, was, visibility{public: !got.Private, told: true, until: r.visible.until(began)})
	}
	if err == nil && got.ID == 0 {
		got.ID = known.ID // a GitHub without ids
	}
	switch {
	case err != nil && !mapping.Refused(err):
		return err
	case err != nil && known.ID == 0:
		e.answer(known, e.name, began, false)
		return nil
	case err != nil:
		return r.askByID(ctx, e, known, 0, began)
	case known.ID != 0 && known.Proven && got.ID != known.ID:
		return r.askByID(ctx, e, known, got.ID, began)
	}
	if known.ID != 0 && got.ID != known.ID {
		r.o.Logger.Warn("GitHub tells another id of a repository than its events did: GitHub is believed", "repo", e.name, "id", got.ID, "events", known.ID)
	}
	return r.record(ctx, e, known, identity.Record{ID: got.ID, Proven: got.ID != 0, Accepted: known.Accepted, Private: known.Private}, got.FullName, began)
}

// remembered returns a name's record from the store, which another replica may have changed, or
// this process's record where it knows more.
func (r *Registry) remembered(ctx context.Context, e *repository) (identity.Record, error) {
	stored, err := identity.Read(ctx, r.o.Store, identity.DocRepository(e.name))
	if err != nil {
		return stored, err
	}
	e.mu.Lock()
	mine := e.known
	e.mu.Unlock()
	known := stored
	switch {
	case stored.ID == 0 && mine.ID != 0:
		known = mine
	case stored.ID == mine.ID && mine.Proven:
		known.Proven = true
	}
	if known == stored {
		return known, nil
	}
	return known, identity.Put(ctx, r.o.Store, identity.DocRepository(e.name), known)
}

// askByID searches for a name's original repository by its id: another one (other) has the name,
// or none (0).
func (r *Registry) askByID(ctx context.Context, e *repository, known identity.Record, other int64, began time.Time) error {
	owner, _, _ := strings.Cut(e.name, "/")
	got, err := r.o.GitHub.RepositoryByID(ctx, owner, known.ID)
	next := known
	next.Other = other
	switch {
	case err != nil && !mapping.Refused(err):
		return err
	case err == nil && got.ID == known.ID && !(other != 0 && strings.EqualFold(got.FullName, e.name)):
		return r.record(ctx, e, known, next, got.FullName, began)
	case err == nil && got.ID == known.ID: // GitHub contradicts itself
		return mapping.ErrUnavailable
	case other == 0: // neither the name nor the id exists for us
		e.answer(known, e.name, began, false)
		return nil
	}
	return r.record(ctx, e, known, next, "", began)
}

// record records GitHub's answer: the repository behind the name, and its present name.
func (r *Registry) record(ctx context.Context, e *repository, known, next identity.Record, now string, began time.Time) error {
	if now == "" && next.Other == 0 {
		now = e.name
	}
	if next != known {
		if err := identity.Put(ctx, r.o.Store, identity.DocRepository(e.name), next); err != nil {
			return err
		}
	}
	if now != "" && !strings.EqualFold(now, e.name) && next.ID != 0 {
		if err := r.rename(ctx, e.name, now, next.ID); err != nil {
			return err
		}
	} else if now != "" && next.ID != 0 {
		r.mu.Lock()
		r.byID[next.ID] = e.name
		r.mu.Unlock()
	}
	e.answer(next, now, began, true)
	if next.Other != 0 {
		r.warn(e)
	}
	return nil
}

// rename records a rename: the new name stands for the repository, too.
func (r *Registry) rename(ctx context.Context, from, to string, id int64) error {
	there, err := r.entry(ctx, to)
	if err != nil {
		return err
	}
	there.mu.Lock()
	known := there.known
	there.mu.Unlock()
	next := identity.Record{ID: id, Proven: true, Accepted: known.Accepted, Private: known.Private}
	if next != known {
		if err := identity.Put(ctx, r.o.Store, identity.DocRepository(to), next); err != nil {
			return err
		}
	}
	there.answer(next, to, time.Now(), true) // also where it had that name before
	r.mu.Lock()
	r.byID[id] = to
	r.mu.Unlock()
	return r.o.Routes.Renamed(ctx, from, to)
}

// answer records GitHub's answer, or its refusal (told is false).
func (e *repository) answer(known identity.Record, now string, asked time.Time, told bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known, e.now, e.asked, e.told, e.confirmed = known, now, asked, told, true
}

// warn logs at intervals that another repository has the name.
func (r *Registry) warn(e *repository) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known.Other == 0 || time.Since(e.warned) < strangerEvery {
		return
	}
	e.warned = time.Now()
	r.o.Logger.Error("another repository has the name of one that a route is for: nothing is taken from it and nothing written to it; "+
		"if it is to be believed: planbridge accept repository "+e.name, "repo", e.name, "id", e.known.Other, "known_id", e.known.ID, "now", e.now)
}

// Note records a repository in a listing.
func (r *Registry) Note(ctx context.Context, got Repository) error {
	e, err := r.entry(ctx, got.FullName)
	if err != nil {
		return err
	}
	e.mu.Lock()
	known := e.known
	e.mu.Unlock()
	if got.ID == 0 || known.ID != 0 && known.ID != got.ID || known.Other != 0 {
		return nil // GitHub is asked about it
	}
	if err := e.asking.Take(ctx); err != nil {
		return err
	}
	defer e.asking.End()
	return r.record(ctx, e, known, identity.Record{ID: got.ID, Proven: true, Accepted: known.Accepted, Private: known.Private}, got.FullName, time.Now())
}
