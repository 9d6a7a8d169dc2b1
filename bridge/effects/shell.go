package effects

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"runtime/debug"
	"time"

	"planbridge/bridge/engine"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// executor carries out the steps of the work on one key.
type executor struct {
	*Shell
	ctx      context.Context
	claim    *store.Claim
	lease    engine.Lease // nil: a preview, which only reads
	planning Planning     // nil: the project is not configured
	keys     mapping.Keys

	asker                    // the key that writes to GitHub
	resume   func()          // ends a yield; nil: the key does not yield
	writing  context.Context // context of external writes; endWrite ends it
	endWrite context.CancelFunc
}

func (s *Shell) executor(ctx context.Context, claim *store.Claim, lease engine.Lease) *executor {
	h := &executor{
		Shell: s, claim: claim, lease: lease, planning: s.Projects.Planning(claim.Link.Project),
		keys: s.Settings.Settings().Keys.In(claim.Link.Project), asker: asker{reserved: map[reconcile.WriteClass]bool{}},
	}
	h.ctx = context.WithValue(ctx, askerKey{}, &h.asker)
	h.writing, h.endWrite = h.ctx, func() {}
	return h
}

// state returns the core's first state; planning is nil where the project is not configured.
func (s *Shell) state(claim *store.Claim, planning Planning) reconcile.State {
	seed := reconcile.Seed{Jitter: uint64(s.Clock.Int64N(math.MaxInt64))}
	rand.Read(seed.IDs[:]) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24; it aborts the program.
	return reconcile.State{
		Seed: seed, Claim: claim, Settings: s.Settings.Settings(), Process: process{s.Renderer, s.Host, s}, Now: s.Clock.Now(), Served: planning != nil,
	}
}

// Work works a claimed key to its end before ctx ends. It does not finish the claim.
func (s *Shell) Work(ctx context.Context, claim *store.Claim, lease engine.Lease) reconcile.Result {
	h := s.executor(ctx, claim, lease)
	state := s.state(claim, h.planning)
	work := reconcile.Begin(state)
	err := s.guarded(claim, func() { h.carryOut(s.Watcher.Watch(state, work.Steps())) })
	return work.Result(s.Clock.Now(), err, ctx.Err() != nil)
}

// guarded turns a panic into a failure of this one key. A fault that one issue triggers must not
// stop the service for all others.
func (s *Shell) guarded(claim *store.Claim, work func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.Log(claim).Error("panic", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	work()
	return nil
}

// carryOut carries out each step in turn.
func (h *executor) carryOut(steps iter.Seq[*reconcile.Step]) {
	defer func() { h.endYield(); h.endWrite() }()
	for step := range steps {
		h.ask = step.Ask
		answer := func(v any, err error) { step.Answer(v, cutShort(err)) }
		if !h.atProcess(step.Effect, answer) && !h.atStore(step.Effect, answer) && !h.beforeServices(step.Effect, answer) && !h.atServices(step.Effect, answer) {
			panic(fmt.Sprintf("no effect: %T", step.Effect))
		}
		step.Now, step.Over = h.Clock.Now(), h.ctx.Err() != nil
	}
}

// beforeServices carries out effects that may wait for other keys, or whose answer may be known.
// They take a slot only for a call.
func (h *executor) beforeServices(effect any, answer func(any, error)) bool {
	switch e := effect.(type) {
	case reconcile.Reserve:
		answer(only(h.reserve(e)))
	case reconcile.KnownMilestone:
		answer(h.knownMilestone(e))
	case reconcile.ReadSprint:
		answer(h.sprint(e))
	case reconcile.ReadPublic:
		if e.Ask {
			h.acquireSlot()
		}
		public, known := h.GitHub.Public(h.ctx, e.Repo, e.Ask)
		answer(reconcile.Publicity{Public: public, Known: known}, nil)
	case reconcile.ReadParent:
		parent, err := h.readParent(e)
		answer(parent, err)
	case reconcile.FindCards:
		answer(h.findCards(e))
	case reconcile.CreateCard:
		answer(h.createCard(e))
	default:
		return false
	}
	return true
}

// atServices carries out a call of a service, with a slot.
func (h *executor) atServices(effect any, answer func(any, error)) bool {
	h.acquireSlot()
	return h.readsGitHub(effect, answer) || h.writesGitHub(effect, answer) || h.atPlanning(effect, answer)
}

// overError is the error of an effect that the end of the claim's time cut short.
type overError struct{ error }

func (e overError) Unwrap() []error { return []error{e.error, reconcile.ErrOver} }

func cutShort(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return overError{err}
	}
	return err
}

// acquireSlot takes a slot at the services for the key. A preview needs none.
func (h *executor) acquireSlot() {
	if h.lease != nil {
		h.lease.Acquire()
	}
}

// releaseSlot gives the key's slot to another key.
func (h *executor) releaseSlot() {
	if h.lease != nil {
		h.lease.Release()
	}
}

// beginWrite takes a slot, and sets the deadline of external writes.
func (h *executor) beginWrite() error {
	ctx, cancel, err := h.lease.Writing(h.ctx)
	if err != nil {
		return err
	}
	h.endWrite()
	h.writing, h.endWrite = ctx, cancel
	return nil
}

// only is the answer to an effect without a result.
func only(err error) (reconcile.None, error) { return reconcile.None{}, err }

// Preview reads both items of a root link and decides about them as the next reconcile would. It
// writes nothing, neither to a service nor to the store. It returns nil for a link without a
// complete pair or without a configured route. An error means that the core could not decide. A
// side that cannot be read is no error.
func (s *Shell) Preview(ctx context.Context, link *mapping.Link) (*mapping.Preview, error) {
	return inspect(ctx, s, link, reconcile.BeginPreview)
}

// PlanCleaning reads the items of a root link and returns what parting the pair would remove from
// them. It writes nothing.
func (s *Shell) PlanCleaning(ctx context.Context, link *mapping.Link) ([]mapping.CleanStep, error) {
	return inspect(ctx, s, link, reconcile.BeginCleaning)
}

// inspect carries out work that only reads, on a copy of a link.
func inspect[R any](ctx context.Context, s *Shell, link *mapping.Link, begin func(reconcile.State) *reconcile.Inspection[R]) (R, error) {
	l, err := clone(link)
	if err != nil {
		var none R
		return none, err
	}
	claim := &store.Claim{Key: store.Key{Project: l.Project, Link: l.ID}, Link: l, Until: s.Clock.Now()}
	h := s.executor(ctx, claim, nil)
	work := begin(s.state(claim, h.planning))
	h.carryOut(work.Steps())
	return work.Result()
}

// PlanMove reads the items of a root link and returns what a move of its issue to other routes
// changes. It writes nothing.
func (s *Shell) PlanMove(ctx context.Context, link *mapping.Link, routes mapping.Routes) (mapping.MovePlan, error) {
	return inspect(ctx, s, link, func(of reconcile.State) *reconcile.Inspection[mapping.MovePlan] {
		return reconcile.BeginRelocation(of, routes)
	})
}

// CutOff notes that requests sent for a link may take effect until now: their process or their
// claim's time ended.
func (s *Shell) CutOff(link *mapping.Link, now time.Time) { reconcile.CutOff(link, now) }

// Log returns the logger for lines about a claimed key.
func (s *Shell) Log(claim *store.Claim) *slog.Logger {
	return s.Logger.With(reconcile.About(claim)...)
}

// Refused returns how a key comes to rest after the store refused its result. The store then has
// nothing of the link. It returns nil where it made the link smaller, so that the store may take
// it.
func (s *Shell) Refused(claim *store.Claim, link *mapping.Link, err error) *reconcile.Rest {
	rest, broken := reconcile.Refused(s.state(claim, s.Projects.Planning(claim.Link.Project)), link, err)
	if broken != nil {
		s.Metrics.of(reconcile.CountViolations, link.Route, broken.Invariant).Inc()
		s.Log(claim).Error("invariant broken", "invariant", broken.Invariant, "err", broken.Err)
	}
	return rest
}

// clone copies a link with its parts and children, as the store would.
func clone(link *mapping.Link) (*mapping.Link, error) {
	data, err := json.Marshal(link)
	if err != nil {
		return nil, fmt.Errorf("copy link %s: %w", link.ID, err)
	}
	l := new(mapping.Link)
	if err := json.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("copy link %s: %w", link.ID, err)
	}
	return l, nil
}
