// Package preflight proves a configuration against the live services, by reading alone. On
// request it creates missing webhooks.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
)

// Level is the severity of a [Finding].
type Level string

// The levels of findings.
const (
	LevelOK    Level = "ok"
	LevelWarn  Level = "warn"  // works, or cannot be checked
	LevelFault Level = "fault" // does not work
)

// Finding is one result of a check.
type Finding struct {
	Level Level  `json:"level"`
	Place string `json:"place"`
	Words string `json:"words"`
	// away: the service did not answer, which proves nothing.
	away bool
	// refuses is the service that refuses the secret, as keys name what they wait for.
	refuses string
}

// RequestTimeout bounds one request of a check.
const RequestTimeout = 10 * time.Second

const (
	probeTimeout = 30 * time.Second // bounds all requests about one place
	maxParallel  = 4                // places at once
)

// Check proves a configuration against the live services. It writes nothing but the webhooks
// that [Plan].HookURL asks for. A service that is down is a fault among the others and stops nothing. The
// findings have the order of the file: secrets, store, projects, GitHub, routes. The last ones are about
// links that are where no route leads now.
func Check(ctx context.Context, plan *Plan, services Services, log *slog.Logger) []Finding {
	k := newChecker(plan, services, log)
	found := k.all(ctx)
	if k.github != nil {
		defer k.github.Close()
	}
	return append(found, runProbes(ctx, []probe{{PlaceLinks, k.links}})...)
}

func newChecker(plan *Plan, services Services, log *slog.Logger) *checker {
	return &checker{
		Plan: plan, services: services, log: log,
		linked: counted{places: map[linkPlace]int{}}, names: map[string]string{}, titles: map[string]string{},
		appEvents: map[string][]string{}, made: map[string]bool{},
	}
}

// all checks everything that the configuration names.
func (k *checker) all(ctx context.Context) []Finding {
	probes := append([]probe{{"secrets", k.secrets}, {"configuration", k.doubts}, {"store", k.store}}, k.plannings()...)
	hub, err := k.services.OpenGitHub()
	if err != nil {
		return append(runProbes(ctx, probes), Finding{Level: LevelFault, Place: "github", Words: err.Error()})
	}
	k.github = askOnce(hub, k.Routes)
	reached := false
	probes = append(probes, probe{"github", func(ctx context.Context, r *findings) { reached = k.account(ctx, r) }})
	found := runProbes(ctx, probes)
	if !reached {
		return append(found, Finding{Level: LevelWarn, Place: "github", Words: "no repository was looked at"})
	}
	return append(found, runProbes(ctx, k.repositories())...)
}

// plannings lists a place for each planning project.
func (k *checker) plannings() (probes []probe) {
	for _, name := range slices.Sorted(maps.Keys(k.Projects)) {
		probes = append(probes, probe{"planning " + name, func(ctx context.Context, r *findings) { k.project(ctx, r, name) }})
	}
	return probes
}

// checker proves one configuration.
type checker struct {
	*Plan
	services Services
	brief    bool   // webhooks are left out
	github   GitHub // nil: it cannot be made
	log      *slog.Logger
	linked   counted // by the store's probe

	mu     sync.Mutex
	names  map[string]string // of repositories, in lower case, to what each is called now
	titles map[string]string // of buckets, by id
	// appEvents are those that the App's webhook sends, by account in lower case.
	appEvents map[string][]string

	making sync.Mutex
	made   map[string]bool // where a webhook was made
}

// probe checks one place.
type probe struct {
	name string
	run  func(ctx context.Context, r *findings)
}

// runProbes runs a few probes at a time, and keeps their order in the findings.
func runProbes(ctx context.Context, probes []probe) []Finding {
	all := make([]findings, len(probes))
	var running sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	g := guard.New(slog.New(slog.DiscardHandler))
	for i, p := range probes {
		slots <- struct{}{}
		g.Spawn(&running, "check", func() {
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(ctx, probeTimeout)
			defer cancel()
			all[i].place, all[i].now = p.name, time.Now()
			if err := g.Do("check of", p.name, func() error { p.run(ctx, &all[i]); return nil }); err != nil {
				all[i].fault("%v", err)
			}
		})
	}
	running.Wait()
	list := []Finding{}
	for i := range all {
		list = append(list, all[i].list...)
	}
	return list
}

// findings collects the results for one place.
type findings struct {
	place string
	now   time.Time // when it began
	list  []Finding
}

func (f *findings) add(l Level, format string, args ...any) {
	f.list = append(f.list, Finding{Level: l, Place: f.place, Words: fmt.Sprintf(format, args...)})
}

func (f *findings) ok(format string, args ...any)    { f.add(LevelOK, format, args...) }
func (f *findings) warn(format string, args ...any)  { f.add(LevelWarn, format, args...) }
func (f *findings) fault(format string, args ...any) { f.add(LevelFault, format, args...) }

// refused adds a fault: a service refuses the secret.
func (f *findings) refused(service, format string, args ...any) {
	f.fault(format, args...)
	f.list[len(f.list)-1].refuses = service
}

// away adds a fault that another service causes: it does not answer, or accepts no more
// requests for a while. The format says what follows from that.
func (f *findings) away(err error, format string, args ...any) {
	if limited, ok := errors.AsType[*mapping.RateLimited](err); ok {
		until := f.now.Add(limited.After + time.Minute - 1).Truncate(time.Minute) // many places say the same
		f.fault("it was not looked at: %s takes no more requests until %s (%s)", limited.Service(), until.UTC().Format(time.RFC3339), limited.Why)
	} else {
		f.fault(format+": %v", append(args, err)...)
	}
	f.list[len(f.list)-1].away = true
}

// Routes are told apart in words, as several can share a place.
func ofRoute(r *mapping.Route) string { return "route " + r.Name + ": " }
