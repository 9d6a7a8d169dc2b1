package reconcile_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/effects"
	"planbridge/bridge/engine"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
	"planbridge/store/memstore"
)

const (
	project      = mapping.ObjectID("p1")
	pollInterval = 30 * time.Second
	settleGitHub = 2 * time.Minute
	// maxSteps bounds the claims of one run, many times what any needs.
	maxSteps = 2000
)

var (
	keys   = mapping.NewKeys([]byte("a key that nobody knows, of some length"))
	scheme = mapping.LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"}
)

// world is both services, a store and a bridge between them, in fake time:
// deliveries, polls, leases and retries come when they are due.
type world struct {
	hub   *hub
	plan  *plan
	store store.Store
	// memory is what the store is a handle of, path the store's file, where it has one.
	memory *memstore.Memory
	path   string
	// opening is part of the epoch: another for a copy that was restored.
	opening string
	faults  *faults
	route   mapping.Route // of what enters
	more    []mapping.Route
	recon   *effects.Shell
	engine  *engine.Engine // works its keys
	host    *host
	brakes  reconcile.Brakes // none as usual
	limits  limits           // GitHub's write budgets; none as usual
	// coalesce is how long edits are folded: not at all as usual. every is the time
	// between two polls.
	coalesce, every time.Duration
	dryRun          bool                      // only says what it would do
	others          []mapping.ObjectID        // further projects
	down            string                    // the service that does not answer; "": all do
	planned         []mapping.PlanningProject // that the configuration names, be there a route to them or not
	crowd           int                       // workers of a reconciler that runs by itself; 0: as usual
	// dice are what is left to chance, where no crowd does the work: a run with the
	// same seed is the same run.
	dice *rand.PCG

	agenda []appointment
	polled map[mapping.Ref]string // digests of what the poll has shown
	// firstRun is when a route began to run; nil: that is not known.
	firstRun func(route string) time.Time
	// versions and changed are what the poll knows of the cards' attributes.
	versions map[mapping.ObjectID][4]int64
	changed  map[mapping.ObjectID]map[mapping.Attribute]mapping.Interval
	last     time.Time // of the last poll
	next     time.Time // of the next one
	words    *journal
	watched  func(*reconcile.Step) // sees each step; nil: nobody does
	log      bytes.Buffer
	errs     []error
}

type appointment struct {
	at time.Time
	do func()
}

// inWorld runs f in a world of its own, whose store is in memory, and returns what
// went wrong there.
func inWorld(t *testing.T, f func(*world)) (err error) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		memory := memstore.New(memstore.Options{Clock: clock.Runtime{}})
		w := newWorld(memory.Open(nil))
		w.memory = memory
		f(w)
		err = w.result()
	})
	return err
}

// passes runs f in a world of its own, and fails the test with what went wrong there.
func passes(t *testing.T, f func(*world)) {
	t.Helper()
	if err := inWorld(t, f); err != nil {
		t.Error(err)
	}
}

// onFile is inWorld with a store in a file.
func onFile(t *testing.T, f func(*world)) (err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	synctest.Test(t, func(t *testing.T) {
		s, openErr := boltstore.Open(path, boltstore.Options{})
		if openErr != nil {
			t.Fatal(openErr)
		}
		w := newWorld(s)
		w.path = path
		defer func() { w.check(w.store.Close()) }()
		f(w)
		err = w.result()
	})
	return err
}

func newWorld(s store.Store) *world {
	w := &world{
		store: s, plan: &plan{}, polled: map[mapping.Ref]string{}, versions: map[mapping.ObjectID][4]int64{}, changed: map[mapping.ObjectID]map[mapping.Attribute]mapping.Interval{}, next: time.Now().Add(pollInterval), every: pollInterval, words: newJournal(), dice: rand.NewPCG(0, 0),
		route: mapping.Route{
			Name: "web", Repositories: []string{repo}, NewCardsIn: repo, Project: project, ProjectName: "web", Username: "bridge", Bucket: "Incoming",
			Authors: mapping.AuthorsAny, Direction: mapping.Both, CreateIssues: true, Tasks: mapping.TasksNone, TrackingTask: true,
		},
	}
	w.hub = &hub{w: w, told: map[int64]string{}, colors: map[string]string{}}
	w.faults = &faults{w: w}
	epoch, err := s.Epoch(context.Background())
	w.check(err)
	w.adopted(s, project, epoch)
	w.restart()
	return w
}

// adopted says in a store that all marked items of a project and of the repositories have been seen.
func (w *world) adopted(s store.Store, p mapping.ObjectID, epoch string) {
	w.check(s.PutDoc(context.Background(), p, store.DocAdopted, []byte(epoch)))
	for _, r := range []string{repo, "acme/other", "acme/api", "acme/new"} {
		w.check(s.PutDoc(context.Background(), "", store.DocRepositoryAdopted(r), store.RepositoryAdopted{Epoch: epoch}.Encode()))
	}
}

func (w *world) epoch(ctx context.Context) (string, error) {
	epoch, err := w.store.Epoch(ctx)
	return epoch + w.opening, err
}

func (w *world) check(err error) {
	if err != nil {
		w.errs = append(w.errs, err)
	}
}

func (w *world) fail(format string, args ...any) {
	w.errs = append(w.errs, fmt.Errorf(format, args...))
}

// seeded is the runtime's clock that draws from a dice.
type seeded struct {
	clock.Runtime
	dice *rand.Rand
}

// Int64N implements [clock.Source].
func (s seeded) Int64N(n int64) int64 { return s.dice.Int64N(n) }

// restart begins a new process: nothing in memory survives.
func (w *world) restart() {
	set := &reconcile.Settings{
		Routes: mapping.NewRoutes(append([]mapping.Route{w.route}, w.more...), w.planned...), Users: map[string]string{dev: "alice", "ghost": "carol"}, Scheme: scheme, Keys: keys, WebURL: "https://github.com",
		Settle: reconcile.PerSide{GitHub: settleGitHub, Planning: 30 * time.Second}, Quiet: 3 * time.Second, Brakes: w.brakes, DryRun: w.dryRun,
		Coalesce: w.coalesce,
	}
	var ticks clock.Source = clock.Runtime{} // of a crowd's goroutines: the runtime's
	if w.crowd == 0 {
		ticks = seeded{dice: rand.New(w.dice)}
	}
	around := &program{w, set}
	w.recon = effects.New(effects.Options{
		Store: &polledStore{faultyStore{w.store, w.faults}, w}, Epoch: around, GitHub: &limitedHub{&faultyHub{w.hub, w.faults}, w.store, &w.limits},
		Projects: around, Renderer: around, Settings: around, Host: around, Watcher: around, Clock: ticks,
		Logger: slog.New(slog.NewTextHandler(io.MultiWriter(&w.log), nil)),
	})
	w.host = &host{projects: w.configured, retry: engine.Retry{MaxAttempts: 12, MaxInterval: 5 * time.Minute}}
	w.engine = engineOf(w.recon, w.host, w.crowd)
}

// after makes an appointment.
func (w *world) after(d time.Duration, do func()) {
	w.agenda = append(w.agenda, appointment{time.Now().Add(d), do})
}

// observe stores an observation as the intake and the poll do: known links come first, and only an
// unknown issue makes a link.
func (w *world) observe(obs store.Observation, create *mapping.Link) {
	for _, p := range w.worked() {
		got, err := w.store.Observe(context.Background(), p, []store.Observation{obs})
		w.check(err)
		if err != nil || got[0].Key != (store.Key{}) {
			return
		}
	}
	if create != nil {
		obs.Create = create
		_, err := w.store.Observe(context.Background(), create.Project, []store.Observation{obs})
		w.check(err)
	}
}

// worked are the projects whose keys are worked.
func (w *world) worked() []mapping.ObjectID {
	if len(w.planned) == 0 {
		return []mapping.ObjectID{project}
	}
	return w.configured()
}

func (w *world) configured() []mapping.ObjectID {
	return append([]mapping.ObjectID{project}, w.others...)
}

// entering follows an issue's marker, or proposes its link.
func (w *world) entering(obs *store.Observation, issue *mapping.Issue) *mapping.Link {
	if !keys.Made(issue, w.hub.Authorship(issue.Author)) {
		return w.route.EnterIssue(issue, time.Now().UTC())
	}
	_, marks := keys.Body(issue.Body)
	for _, m := range marks {
		if m.Kind == mapping.MarkSubIssue {
			obs.Link, obs.Refs = m.Link, append(obs.Refs, mapping.TaskRef(mapping.ObjectID(m.Partner)))
		}
		if m.Kind == mapping.MarkIssue {
			obs.Link, obs.Refs = m.Link, append(obs.Refs, mapping.CardRef(mapping.ObjectID(m.Partner)))
			return w.route.RebuildFromIssue(issue, m, time.Now().UTC())
		}
	}
	return nil
}

// poll shows the store every card and task that differs from what the last
// poll showed, and reports whether there was one.
func (w *world) poll() (news bool) {
	polled := mapping.Interval{From: w.last, To: time.Now()}
	w.last, w.next = polled.To, polled.To.Add(w.every)
	news = w.hub.list()
	if w.plan.gone {
		return news
	}
	for _, c := range w.plan.cards {
		ref, digest := mapping.CardRef(c.ID), mapping.DigestCard(c)
		if w.polled[ref] == digest {
			continue
		}
		w.polled[ref], news = digest, true
		card := *c
		card.Polled, card.Times = polled, w.times(c, polled)
		obs := store.Observation{Refs: []mapping.Ref{ref}, Item: ref, At: c.Version, Digest: digest, Data: encode(card)}
		w.observe(obs, w.enteringCard(&obs, c))
	}
	return w.pollTasks() || news
}

// times is when each of a card's attributes came to be, as the poll tells it.
func (w *world) times(c *mapping.Card, polled mapping.Interval) map[mapping.Attribute]mapping.Interval {
	was, known := w.versions[c.ID]
	times := map[mapping.Attribute]mapping.Interval{}
	for i, version := range c.Versions() {
		a := mapping.Attributes[i]
		if at, ok := w.changed[c.ID][a]; ok {
			times[a] = at
		}
		if !known || was[i] != version {
			times[a] = polled
		}
	}
	w.versions[c.ID], w.changed[c.ID] = c.Versions(), times
	return times
}

func (w *world) enteringCard(obs *store.Observation, c *mapping.Card) *mapping.Link {
	_, marks := keys.Body(c.Summary.Value)
	for _, m := range marks {
		if m.Kind == mapping.MarkCard {
			obs.Link = m.Link
			return nil
		}
	}
	return w.route.EnterCard(c, time.Now().UTC())
}

// settle lets time pass until everything has come to rest.
func (w *world) settle() {
	for range maxSteps {
		if len(w.errs) > 0 || w.step() {
			return
		}
	}
	w.fail("nothing comes to rest in %d steps", maxSteps)
}

// step does the next thing that is due; it reports whether there is none.
func (w *world) step() (rest bool) {
	w.keepAppointments()
	var wait time.Duration
	for _, p := range w.worked() {
		claim, due, err := w.store.Claim(context.Background(), p, time.Minute)
		w.check(err)
		if claim != nil {
			w.work(claim)
			return false
		}
		if due > 0 && (wait == 0 || due < wait) {
			wait = due
		}
	}
	if !w.next.After(time.Now()) && w.poll() {
		return false
	}
	wake := time.Time{}
	if wait > 0 {
		wake = time.Now().Add(wait)
	}
	for _, a := range w.agenda {
		if wake.IsZero() || a.at.Before(wake) {
			wake = a.at
		}
	}
	if wake.IsZero() {
		time.Sleep(time.Second)
		return !w.poll() && w.wake() == 0 && !w.hub.behind()
	}
	if wake.After(w.next) {
		wake = w.next
	}
	time.Sleep(max(time.Until(wake), time.Millisecond))
	return false
}

func (w *world) keepAppointments() {
	for {
		i := slices.IndexFunc(w.agenda, func(a appointment) bool { return !a.at.After(time.Now()) })
		if i < 0 {
			return
		}
		do := w.agenda[i].do
		w.agenda = slices.Delete(w.agenda, i, i+1)
		do()
	}
}

// wake tells the keys that wait for a service that it is back.
func (w *world) wake() (woken int) {
	for _, p := range w.worked() {
		for _, service := range []string{reconcile.ServiceGitHub, reconcile.ServicePlanning(p), reconcile.ServiceAdoption, reconcile.ServiceListing("acme/web")} {
			n, err := w.store.Wake(context.Background(), p, service, 100)
			w.check(err)
			woken += n
		}
	}
	return woken
}

// work lets the bridge work one key. A crash ends its goroutine, and all that
// the process had in memory.
func (w *world) work(claim *store.Claim) {
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.faults.cut, w.faults.over = cancel, false
	go func() {
		defer close(done)
		w.engine.Work(ctx, claim)
	}()
	<-done
	w.faults.over = false
	if w.faults.crashed {
		w.faults.crashed = false
		w.restart()
	}
}
