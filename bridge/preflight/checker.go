package preflight

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/guard"
)

const (
	probeTimeout = 30 * time.Second // bounds all requests about one place
	maxParallel  = 4                // places at once
	mostRenames  = 20               // repositories beside the routes' that GitHub is asked about
)

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

func newChecker(plan *Plan, services Services, log *slog.Logger) *checker {
	return &checker{
		Plan: plan, services: services, log: log,
		linked: counted{places: map[linkPlace]int{}}, names: map[string]string{}, titles: map[string]string{},
		appEvents: map[string][]string{}, made: map[string]bool{},
	}
}

// calledNow is the current name of a repository, where GitHub reports it.
func (k *checker) calledNow(ctx context.Context, repository string) string {
	name := strings.ToLower(repository)
	if _, known := k.names[name]; !known && k.github != nil && len(k.names) < len(k.Routes.All())+mostRenames {
		repo, _ := k.github.Repository(ctx, repository) // one that is gone has no other name
		k.named(repository, repo.FullName)
	}
	return cmp.Or(k.names[name], repository)
}

// named records the current name of a repository.
func (k *checker) named(repository, now string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.names[strings.ToLower(repository)] = now
}

// entitled records the current titles of buckets.
func (k *checker) entitled(buckets []Bucket) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range buckets {
		k.titles[string(b.ID)] = b.Title
	}
}

// title is the current title of a bucket; or stands in where that is not known.
func (k *checker) title(bucket, or string) string { return cmp.Or(k.titles[bucket], or) }

// sends records the events that an App is subscribed to on an owner's account.
func (k *checker) sends(owner string, events []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.appEvents[strings.ToLower(owner)] = events
}

// sent lists the events that the App's webhook sends about a repository or an account.
func (k *checker) sent(target string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	owner, _, _ := strings.Cut(strings.ToLower(target), "/")
	return k.appEvents[owner]
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
