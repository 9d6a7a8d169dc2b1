package bridge

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/mapping"
)

// gauges are the metrics that are read off the store when somebody asks.
type gauges struct {
	mu     sync.Mutex
	next   time.Time // when counts may be made again
	counts map[string]map[mapping.LinkState]int

	app                            *App
	depth, oldest, links, failures *prometheus.Desc
	remaining                      *prometheus.Desc
}

func newGauges(a *App) *gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("planbridge_"+name, help, labels, nil)
	}
	return &gauges{
		app:       a,
		depth:     desc("queue_depth", "Keys in the queue."),
		oldest:    desc("queue_oldest_seconds", "How long the key that is overdue longest has been due."),
		links:     desc("links", "Links, by state.", "route", "state"),
		remaining: desc("github_rate_limit_remaining", "Requests left of GitHub's primary limit, as of its last answer; absent while no answer told."),
		failures:  desc("failures", "Keys that were given up and wait for an operator or a new change.", "route"),
	}
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.depth, g.oldest, g.links, g.failures, g.remaining} {
		ch <- d
	}
}

// scrapeTimeout bounds what a scrape may ask of the store.
const scrapeTimeout = 5 * time.Second

// Collect implements prometheus.Collector. While the store does not answer the
// gauges are absent, which is what is known.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if n := g.app.github.RateRemaining(); n >= 0 {
		gauge(g.remaining, float64(n))
	}
	set := g.app.set.Load()
	var depth int
	var oldest time.Duration
	failures := map[string]int{}
	for _, r := range set.Routes.All() {
		failures[r.Name] = 0
	}
	for _, project := range set.projects() {
		d, err := g.app.store.Depth(ctx, project)
		if err != nil {
			return
		}
		depth += d.Live + d.Bulk
		for _, n := range d.Waiting {
			depth += n
		}
		if !d.Oldest.IsZero() {
			oldest = max(oldest, time.Since(d.Oldest))
		}
		if d.Failures > 0 {
			parked, err := g.app.store.Failures(ctx, project, d.Failures)
			if err != nil {
				return
			}
			for _, f := range parked {
				failures[f.Route]++
			}
		}
	}
	counts, err := g.countLinks(ctx, set)
	if err != nil {
		return
	}
	gauge(g.depth, float64(depth))
	gauge(g.oldest, oldest.Seconds())
	for route, n := range failures {
		gauge(g.failures, float64(n), route)
	}
	for route, states := range counts {
		for state, n := range states {
			gauge(g.links, float64(n), route, string(state))
		}
	}
}

// linksPage is how many links are read at once.
const linksPage = 500

// countShare bounds the time that counting, which reads every link, may take
// of all time: one part in so many.
const countShare = 20

// countLinks counts the links by route and state, or shows the last count
// where counting again would cost too much.
func (g *gauges) countLinks(ctx context.Context, set *settings) (map[string]map[mapping.LinkState]int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	began := time.Now()
	if began.Before(g.next) {
		return g.counts, nil
	}
	counts := map[string]map[mapping.LinkState]int{}
	for _, r := range set.Routes.All() {
		counts[r.Name] = map[mapping.LinkState]int{}
		for _, state := range mapping.LinkStates {
			counts[r.Name][state] = 0
		}
	}
	for _, project := range set.projects() {
		for cursor := ""; ; {
			links, next, err := g.app.store.List(ctx, project, cursor, linksPage)
			if err != nil {
				return nil, err
			}
			for _, l := range links {
				if counts[l.Route] == nil {
					counts[l.Route] = map[mapping.LinkState]int{}
				}
				counts[l.Route][l.State]++
			}
			if cursor = next; cursor == "" {
				break
			}
		}
	}
	g.counts, g.next = counts, time.Now().Add(countShare*time.Since(began))
	return counts, nil
}
