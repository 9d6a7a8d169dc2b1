package preflight

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/bridge/guard"
	"planbridge/bridge/lease"
	"planbridge/bridge/status"
)

// renewAfter is after how many times Every the planning projects are proven again, as a person
// may rename a bucket there.
const renewAfter = 10

// longestStep is the longest pause between two checks whether a proof is due.
const longestStep = 5 * time.Second

// Source returns the configuration in force.
type Source interface {
	// Configuration returns it; version is another one after each reload.
	Configuration() (plan *Plan, services Services, version any)
}

// Monitor shows people what the proofs found.
type Monitor interface {
	// Proven receives the faults that remain after a proof, each with its place.
	Proven(faults []status.Fault)
}

// ProverOptions configure a [Prover]. All fields are required.
type ProverOptions struct {
	Source Source
	// Every is how often failed places are proven again.
	Every   time.Duration
	Clock   clock.Source
	Guard   *guard.Guard
	Logger  *slog.Logger
	Monitor Monitor
}

// Prover proves the configuration of a running service as a check does, at the start and after a
// reload. It covers projects, secrets and buckets, the token, and the repositories. Each fault is
// one line when it is found and one when it is repaired.
type Prover struct {
	o       ProverOptions
	proven  any       // the version that was proven as a whole last
	at      time.Time // of the last proof
	renewed time.Time // when the projects were proven last
	told    []Finding // the faults that were logged
	// doubtful names the places that are proven again.
	doubtful []string
}

// NewProver makes a Prover.
func NewProver(o ProverOptions) *Prover { return &Prover{o: o} }

// Run proves each configuration that comes into force until ctx ends, and from time to time
// its failed places and the planning projects.
func (p *Prover) Run(ctx context.Context) {
	pause := func() time.Duration { return min(longestStep, p.o.Every) }
	lease.Every(ctx, p.o.Guard, "proof of the configuration", p.o.Clock, pause, p.step)
}

func (p *Prover) step(ctx context.Context) {
	plan, services, version := p.o.Source.Configuration()
	now := p.o.Clock.Now()
	whole := version != p.proven
	renews := whole || now.Sub(p.renewed) >= renewAfter*p.o.Every
	if !renews && (len(p.doubtful) == 0 || now.Sub(p.at) < p.o.Every) {
		return
	}
	p.proven, p.at = version, now
	k := newChecker(plan, services, p.o.Logger)
	if renews {
		p.renewed = now
		for _, at := range k.plannings() {
			p.doubtful = append(p.doubtful, at.name)
		}
	}
	p.round(ctx, k, whole)
}

// round proves all places, or the doubtful ones.
func (p *Prover) round(ctx context.Context, k *checker, whole bool) {
	k.brief = true
	some := func(probes []probe) []probe {
		if whole {
			return probes
		}
		return slices.DeleteFunc(probes, func(at probe) bool { return !slices.Contains(p.doubtful, at.name) })
	}
	reached := false
	probes := append(k.plannings(), probe{"github", func(ctx context.Context, r *findings) { reached = k.account(ctx, r) }})
	if hub, err := k.services.OpenGitHub(); err == nil {
		k.github = askOnce(hub, k.Routes)
		defer hub.Close()
	} else {
		probes = k.plannings() // the start has reported it
	}
	looked := some(probes)
	found := runProbes(ctx, looked)
	if repositories := some(k.repositories()); len(repositories) > 0 && k.github != nil {
		if !whole && !slices.ContainsFunc(looked, func(at probe) bool { return at.name == "github" }) {
			reached = true
		}
		if reached {
			looked, found = append(looked, repositories...), append(found, runProbes(ctx, repositories)...)
		} else {
			for _, at := range repositories {
				found = append(found, Finding{Level: LevelFault, Place: at.name, away: true})
			}
		}
	}
	if ctx.Err() == nil {
		p.logChanges(looked, found, whole)
	}
}

// attrs name the fact of a fault. A refused secret is one fact, whichever request meets it.
func (f *Finding) attrs(event string) []any {
	if f.refuses == "" {
		return nil
	}
	return []any{"service", f.refuses, event, factlog.Refused}
}

// logChanges logs new and repaired faults. A place that did not answer keeps its faults. After a
// whole round, the faults of places that the configuration lacks by now are dropped.
func (p *Prover) logChanges(looked []probe, found []Finding, whole bool) {
	is := func(list []Finding, f Finding) bool {
		return slices.ContainsFunc(list, func(other Finding) bool { return other.Place == f.Place && other.Words == f.Words })
	}
	found = slices.DeleteFunc(found, func(f Finding) bool { return f.Level != LevelFault })
	silent := func(place string) bool {
		return slices.ContainsFunc(found, func(f Finding) bool { return f.Place == place && f.away })
	}
	var stand []Finding
	for _, f := range p.told {
		at := slices.ContainsFunc(looked, func(at probe) bool { return at.name == f.Place })
		switch {
		case is(found, f) || silent(f.Place) || !at && !whole:
			stand = append(stand, f)
		case at:
			says := "a part of the configuration works again"
			if whole { // of another configuration
				says = "a fault of the configuration before is gone"
			}
			p.o.Logger.With("place", f.Place, "fault", f.Words).Info(says, f.attrs(factlog.Over)...)
		}
	}
	p.doubtful = nil
	for _, f := range found {
		if !f.away && !is(stand, f) {
			p.o.Logger.With("place", f.Place, "fault", f.Words).Error("a part of the configuration does not work", f.attrs(factlog.Fact)...)
			stand = append(stand, f)
		}
		p.doubtful = append(p.doubtful, f.Place)
	}
	faults := make([]status.Fault, len(stand))
	for i, f := range stand {
		p.doubtful, faults[i] = append(p.doubtful, f.Place), status.Fault{Says: f.Place + ": " + f.Words, Service: f.refuses}
	}
	p.o.Monitor.Proven(faults)
	slices.SortFunc(p.doubtful, strings.Compare)
	p.told, p.doubtful = stand, slices.Compact(p.doubtful)
}
