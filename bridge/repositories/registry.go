// Package repositories knows what the names of GitHub's repositories stand for, and who can
// read each repository.
//
// A name may be given to another repository. What it stood for first is remembered by its id.
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
	// BelievedFor is how long GitHub's answer on what a repository's name stands for
	// is believed where something is written.
	BelievedFor = visibleFor
	// AnewFor is how long it is where something was not found under the name.
	AnewFor = 5 * time.Second
	// DoubtedFor is how long GitHub is not asked again because of an event that names a
	// repository by another id.
	DoubtedFor = 30 * time.Second
	// strangerEvery is how often it is said at most that another repository has a name.
	strangerEvery = 10 * time.Minute
)

// Repository is one repository as GitHub tells of it.
type Repository struct {
	ID       int64 // 0: GitHub tells none
	FullName string
	Private  bool
}

// GitHub is what is asked of GitHub. Errors match the sentinels of mapping.
type GitHub interface {
	// Identity tells what a name stands for.
	Identity(ctx context.Context, name string) (Repository, error)
	RepositoryByID(ctx context.Context, owner string, id int64) (Repository, error)
}

// Routes are those of the configuration.
type Routes interface {
	// HasRoute reports whether a route is for a name, as it is or as it was configured.
	HasRoute(name string) bool
	// Renamed is told of a rename that GitHub has borne out.
	Renamed(ctx context.Context, from, to string) error
}

// Options configure a Registry. All fields are required, but for VisibilityAge.
type Options struct {
	Store  identity.Documents
	GitHub GitHub
	Routes Routes
	Logger *slog.Logger
	// VisibilityAge is how long GitHub's answer is believed on who can read a repository; 0: 5 minutes.
	VisibilityAge time.Duration
}

// Registry knows which repository each name of a route stands for, and who can read it. It
// is safe for concurrent use.
type Registry struct {
	o       Options
	visible visibilities

	mu     sync.Mutex
	byName map[string]*repository // by lower-case name
	byID   map[int64]string       // the name by which one was met last
}

// repository is one name. mu guards what follows it, asking is held while GitHub is
// asked.
type repository struct {
	name   string
	asking guard.Turn

	mu    sync.Mutex
	known identity.Record
	// now is what the repository that is meant is called; "" where another one has the
	// name and the one that is meant is not to be found.
	now      string
	asked    time.Time // when GitHub was asked last, and told or refused to tell
	told     bool      // it told then
	met      bool      // this process has an answer or an event that bears the id out
	warned   time.Time // when it was said last that another one has the name
	unproven bool      // it was said that GitHub does not tell
	// doubtID is the id by which an event named it last that it has not, and doubtAt
	// when GitHub was asked because of that.
	doubtID int64
	doubtAt time.Time
	// soughtAs is the name by which an event told of its id last, and soughtAt when
	// GitHub was asked because of that.
	soughtAs string
	soughtAt time.Time
}

// New makes a Registry that remembers what the store holds.
func New(o Options) *Registry {
	return &Registry{o: o, visible: visibilities{age: o.VisibilityAge}, byName: map[string]*repository{}, byID: map[int64]string{}}
}

// Recall reads what a name stands for from the store, so that it is known again where it has
// another name meanwhile.
func (r *Registry) Recall(ctx context.Context, name string) error {
	_, err := r.entry(ctx, name)
	return err
}

// entry returns what is known of a name, at first from the store.
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
		r.visible.tell(name, *known.Private)
	}
	r.byName[strings.ToLower(name)] = e
	if known.ID != 0 && r.byID[known.ID] == "" {
		r.byID[known.ID] = name
	}
	return e, nil
}

// Forget lets a name be looked up in the store anew.
func (r *Registry) Forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byName, strings.ToLower(name))
}

func (r *Registry) nameOf(id int64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// ID returns the id of the repository that a name stands for, 0 where that is not
// known or another one has the name.
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

// Locate returns what the repository that a name stands for is called now, as GitHub
// told it at asOf or later. id is that of the repository that is meant where that may
// be the one before; 0: whichever the name stands for. A [mapping.StrangerError] says
// that another one has the name. Where GitHub refuses to tell, a name stands for itself;
// where it does not answer, what it told this process before stands.
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
	known, now, met := e.known, e.now, e.met
	e.mu.Unlock()
	switch {
	case id != 0 && known.Accepted && id != known.ID:
		return r.formerly(ctx, name, id)
	case now == "" && known.Other != 0:
		r.warn(e)
		return "", &mapping.StrangerError{Repo: name, ID: known.Other, Known: known.ID}
	case err != nil && !met:
		return "", err
	}
	return now, nil
}

// formerly returns what a repository is called whose name an operator gave to another.
func (r *Registry) formerly(ctx context.Context, name string, id int64) (string, error) {
	owner, _, _ := strings.Cut(name, "/")
	got, err := r.o.GitHub.RepositoryByID(ctx, owner, id)
	if err != nil {
		return "", err
	}
	return got.FullName, nil
}

// ask asks GitHub what a name stands for, unless somebody else has since asOf.
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
		got.ID = known.ID // a GitHub that tells no ids
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
	return r.settle(ctx, e, known, identity.Record{ID: got.ID, Proven: got.ID != 0, Accepted: known.Accepted, Private: known.Private}, got.FullName, began)
}

// remembered is what a name stands for as the store has it, where another replica may
// have put what it learned, or this process where it knows more.
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

// askByID looks for the repository that a name stood for by its id: another one (other)
// has the name, or none (0).
func (r *Registry) askByID(ctx context.Context, e *repository, known identity.Record, other int64, began time.Time) error {
	owner, _, _ := strings.Cut(e.name, "/")
	got, err := r.o.GitHub.RepositoryByID(ctx, owner, known.ID)
	next := known
	next.Other = other
	switch {
	case err != nil && !mapping.Refused(err):
		return err
	case err == nil && got.ID == known.ID && !(other != 0 && strings.EqualFold(got.FullName, e.name)):
		return r.settle(ctx, e, known, next, got.FullName, began)
	case err == nil && got.ID == known.ID: // GitHub does not agree with itself
		return mapping.ErrUnavailable
	case other == 0: // neither the name nor the id is there for us
		e.answer(known, e.name, began, false)
		return nil
	}
	return r.settle(ctx, e, known, next, "", began)
}

// settle takes in GitHub's answer: what the name stands for, and what that is called.
func (r *Registry) settle(ctx context.Context, e *repository, known, next identity.Record, now string, began time.Time) error {
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

// rename takes in that a repository is called otherwise: the new name stands for it,
// too.
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

// answer takes in what GitHub told, or that it refuses to (told is false).
func (e *repository) answer(known identity.Record, now string, asked time.Time, told bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known, e.now, e.asked, e.told, e.met = known, now, asked, told, true
}

// warn says that another repository has the name, once in a while.
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

// Note takes in a repository that a listing showed.
func (r *Registry) Note(ctx context.Context, got Repository) error {
	e, err := r.entry(ctx, got.FullName)
	if err != nil {
		return err
	}
	e.mu.Lock()
	known := e.known
	e.mu.Unlock()
	if got.ID == 0 || known.ID != 0 && known.ID != got.ID || known.Other != 0 {
		return nil // it is asked about
	}
	if err := e.asking.Take(ctx); err != nil {
		return err
	}
	defer e.asking.End()
	return r.settle(ctx, e, known, identity.Record{ID: got.ID, Proven: true, Accepted: known.Accepted, Private: known.Private}, got.FullName, time.Now())
}
