package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/jobs"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// An import takes what is older than a route's first run: issues that nobody
// touched since become cards, old cards become issues, and with match pairs
// that people made on both sides are joined. It only observes, behind all live
// changes; the reconcile makes the partners by its own rules, the cards in
// batches. So it can be broken off, run again and run twice at any moment.
//
// It walks twice: once to count and to look for partners, before anything is
// made, and then to observe, until a walk finds nothing new (lists shift while
// people edit). Neither side is held in memory.

// maxItems bounds how many items a job lists.
const maxItems = 10_000

// maxFailures bounds how many failures of a project are read.
const maxFailures = 10_000

// inHand bounds how many keys of an import are in the queue at once: enough
// for full batches, and so few that memory is flat.
const inHand = 1000

// Import implements [status.Services].
func (s services) Import(ctx context.Context, ask status.ImportAsk) (status.Job, error) {
	if ask.State == "" {
		ask.State = mapping.ImportOpen
	}
	switch {
	case ask.State != mapping.ImportOpen && ask.State != mapping.ImportAll:
		return status.Job{}, fmt.Errorf("import: state %q is neither open nor all: %w", ask.State, status.ErrState)
	case ask.Match != "" && ask.Match != "title":
		return status.Job{}, fmt.Errorf("import: match %q is not title: %w", ask.Match, status.ErrState)
	}
	routes, err := s.routesNamed(ask.Route)
	if err != nil {
		return status.Job{}, fmt.Errorf("import: %w", err)
	}
	first := status.Job{Kind: "import", Doing: "waiting for GitHub", Import: &status.ImportResult{Route: ask.Route, DryRun: ask.DryRun, Items: []status.ImportItem{}}}
	return s.jobs.Start(first, ask, func(ctx context.Context, j *jobs.Job) error {
		if err := (liveServices{s.App}).Ready(ctx); err != nil {
			return err
		}
		im := &importer{App: s.App, job: j, ask: ask, routes: routes, titles: map[titleKey]*title{}, refused: map[string]bool{}, released: map[int64]bool{}, met: map[store.Key]bool{}, children: map[mapping.LinkID]child{}}
		return im.run(ctx)
	})
}

// importer is one import at work.
type importer struct {
	*App
	job       *jobs.Job
	ask       status.ImportAsk
	routes    []*mapping.Route
	titles    map[titleKey]*title // of unlinked cards, where partners are looked for
	counted   map[uint64]bool     // hashes of what a walk has shown; nil: what it shows again does no harm
	waiting   []store.Key         // observed and not done, oldest first
	met       map[store.Key]bool  // links of before that were under way when they were met
	refused   map[string]bool     // repositories that could not be listed
	released  map[int64]bool      // strangers' issues that were asked for, and whether a person let them in
	announced time.Time           // until when it is known that more keys are to come
	// children are those of waiting whose issues were listed as sub-issues.
	children map[mapping.LinkID]child
}

func (im *importer) run(ctx context.Context) error {
	if err := im.survey(ctx); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if im.ask.DryRun {
		return nil
	}
	if err := im.make(ctx); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return nil
}

func (im *importer) doing(format string, args ...any) {
	im.job.Doing(format, args...)
}

func (im *importer) count(change func(*status.ImportResult)) {
	im.job.Update(func(now *status.Job) { change(now.Import) })
}

func (im *importer) list(item status.ImportItem) {
	im.count(func(r *status.ImportResult) {
		if len(r.Items) == maxItems {
			r.More = true
			return
		}
		r.Items = append(r.Items, item)
	})
}

// takes reports whether the import is for the route.
func (im *importer) takes(route *mapping.Route) bool {
	for _, r := range im.routes {
		if r == route || r.Name == route.Name {
			return true
		}
	}
	return false
}

// survey counts what is to be done, and with match looks for partners: first
// the titles of the cards, then which issues have one of them, each walked
// before anything is made.
func (im *importer) survey(ctx context.Context) error {
	defer func() { im.counted = nil }()
	if im.ask.Match != "" {
		im.counted = map[uint64]bool{}
		im.doing("looking for partners among the cards")
		if err := im.cardTitles(ctx); err != nil {
			return err
		}
		im.doing("looking for partners among the issues")
		if err := im.issueTitles(ctx); err != nil {
			return err
		}
	}
	im.counted = map[uint64]bool{}
	im.doing("counting")
	if err := im.eachIssue(ctx, im.countIssue, nil); err != nil {
		return err
	}
	if err := im.eachCard(ctx, im.countCard); err != nil {
		return err
	}
	im.job.Update(func(now *status.Job) {
		r := now.Import
		now.Total = r.Cards + r.Issues + r.Joined + r.UnderWay
		r.Forecast = im.forecast(r.Issues).Seconds()
	})
	return nil
}

// forecast is how long the budget of imports makes so many new issues take.
func (im *importer) forecast(issues int) time.Duration {
	c := im.set.Load().config.GitHub
	each := max(time.Minute/time.Duration(importShare(c.WritesPerMinute)), time.Hour/time.Duration(importShare(c.WritesPerHour)))
	return time.Duration(issues) * each
}

// countIssue takes an issue into the counts.
func (im *importer) countIssue(_ context.Context, route *mapping.Route, issue *mapping.Issue) error {
	item := status.ImportItem{Where: issue.Name(), Title: issue.Title, Route: route.Name}
	switch t := im.titleOf(route, issue.Title); {
	case t.unique():
		item.What, item.Partner = "join", string(t.card.ID)
		im.count(func(r *status.ImportResult) { r.Joined++ })
	case t != nil:
		item.What, item.Why = "ambiguous", t.why()
		im.count(func(r *status.ImportResult) { r.Ambiguous++ })
		im.list(item)
		return nil
	case route.Direction == mapping.ToGitHub:
		im.count(func(r *status.ImportResult) { r.StaysOut("its route only goes to GitHub") })
		return nil
	case isChild(issue):
		item.What, item.Why = "child", "it follows its parent "+issue.Parent
		im.count(func(r *status.ImportResult) { r.Children++ })
	default:
		item.What = "card"
		im.count(func(r *status.ImportResult) { r.Cards++ })
	}
	if im.ask.DryRun {
		im.list(item)
	}
	return nil
}

func (im *importer) countCard(_ context.Context, route *mapping.Route, card *mapping.Card) error {
	if !route.MakesIssues() || im.titleOf(route, card.Title.Value).matched() {
		return nil
	}
	im.count(func(r *status.ImportResult) { r.Issues++ })
	if im.ask.DryRun {
		im.list(status.ImportItem{Where: string(card.ID), Title: card.Title.Value, Route: route.Name, What: "issue"})
	}
	return nil
}

func isChild(issue *mapping.Issue) bool {
	return issue.Parent != "" && issue.Parent != mapping.NoParent
}

// passes bounds how often the lists are walked: they shift while people edit,
// so that a walk can miss what stands at a page's border.
const passes = 5

// make observes what is to be imported until a walk finds nothing new:
// sub-issues last, when their parents have cards.
func (im *importer) make(ctx context.Context) error {
	for pass := range passes {
		found := 0
		page := func(ctx context.Context, obs map[mapping.ObjectID][]store.Observation) error {
			n, err := im.observe(ctx, obs)
			found += n
			return err
		}
		im.doing("importing issues")
		if err := im.importIssues(ctx, pass > 0, page); err != nil {
			return err
		}
		im.doing("importing cards")
		if err := im.importCards(ctx, page); err != nil {
			return err
		}
		if err := im.settle(ctx, 0); err != nil {
			return err
		}
		if found == 0 && pass > 0 {
			return nil
		}
	}
	return nil
}

// observe stores observations, makes sure that not too many keys are in hand,
// and returns how many links were made.
func (im *importer) observe(ctx context.Context, byProject map[mapping.ObjectID][]store.Observation) (made int, err error) {
	for project, obs := range mapping.Sorted(byProject) {
		for len(obs) > 0 {
			seen, err := (&kicking{im.store, im.App}).Observe(ctx, project, obs)
			if err != nil {
				return made, err
			}
			var full []store.Observation
			for i, s := range seen {
				switch {
				case s.Err != nil:
					full = append(full, obs[i])
				case s.Created:
					made++
					im.waiting = append(im.waiting, s.Key)
				default:
					delete(im.children, obs[i].Create.ID)
				}
			}
			if obs = full; len(obs) > 0 {
				if err := wait(ctx, time.Second); err != nil {
					return made, err
				}
			}
		}
	}
	return made, im.settle(ctx, inHand)
}

// lookEvery is how often it is looked what became of the keys in hand.
const lookEvery = 250 * time.Millisecond

// settle waits until at most so many keys are in hand.
func (im *importer) settle(ctx context.Context, most int) error {
	for {
		if err := im.sweep(ctx); err != nil {
			return err
		}
		if len(im.waiting) <= most {
			return nil
		}
		if err := wait(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// unready is how many keys that are not done end a look at those in hand: the
// rest, which is younger, is hardly further.
const unready = 100

// sweep looks which of the keys in hand are done.
func (im *importer) sweep(ctx context.Context) error {
	parked, err := im.parked(ctx)
	if err != nil {
		return err
	}
	kept := im.waiting[:0]
	became := map[fate]int{}
	for i, key := range im.waiting {
		if len(kept) == unready && len(parked) == 0 {
			kept = append(kept, im.waiting[i:]...)
			break
		}
		f, err := im.fateOf(ctx, key, parked)
		if err != nil {
			return err
		}
		if f == underWay {
			kept = append(kept, key)
			continue
		}
		became[f]++
		delete(im.children, key.Link)
	}
	im.waiting = kept
	waits, err := im.waits(ctx)
	if err != nil {
		return err
	}
	im.job.Update(func(now *status.Job) {
		now.WaitsFor = waits
		now.Done += became[done] + became[handed] + became[dropped] + became[failed]
		now.Total = max(now.Total, now.Done)
		now.Import.Handed += became[handed]
		now.Import.Dropped += became[dropped]
		now.Import.Failed += became[failed]
	})
	return nil
}

// waits names what keys of the projects wait for: a service that is away, a
// route that is paused.
func (im *importer) waits(ctx context.Context) ([]string, error) {
	all := map[string]bool{}
	for _, project := range im.set.Load().Routes.Projects() {
		d, err := im.store.Depth(ctx, project)
		if err != nil {
			return nil, err
		}
		for service := range d.Waiting {
			all[service] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// parked lists the failures of the projects, by key.
func (im *importer) parked(ctx context.Context) (map[store.Key]string, error) {
	out := map[store.Key]string{}
	for _, project := range im.set.Load().Routes.Projects() {
		failures, err := im.store.Failures(ctx, project, maxFailures)
		if err != nil {
			return nil, err
		}
		for _, f := range failures {
			out[f.Key] = f.Reason
		}
	}
	return out, nil
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listOptions are those of a walk over all issues that the import takes.
func (im *importer) listOptions() github.ListOptions {
	return github.ListOptions{State: im.ask.State, Unconditional: true}
}

// encoded is for plain data of this module, which always has a JSON form.
func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("bridge: encode: " + err.Error())
	}
	return data
}

// routesNamed returns the routes of that name, all for "".
func (s services) routesNamed(name string) ([]*mapping.Route, error) {
	all := s.set.Load().Routes.All()
	if name == "" {
		return all, nil
	}
	for _, r := range all {
		if r.Name == name {
			return []*mapping.Route{r}, nil
		}
	}
	return nil, fmt.Errorf("route %s: %w", name, store.ErrNotFound)
}

// known returns the key of the link that an item belongs to, in any project.
func (a *App) known(ctx context.Context, ref mapping.Ref) (store.Key, bool, error) {
	return store.FindIn(ctx, a.store, a.set.Load().Routes.Projects(), ref)
}
