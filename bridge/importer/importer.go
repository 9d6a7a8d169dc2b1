// Package importer imports items that are older than a route's first run.
//
// Untouched issues become cards, old cards become issues, and with match, pairs that people
// made on both sides are joined. An import only observes, behind all live changes. The
// reconcile makes the partners by its own rules, the cards in batches. So an import can be
// broken off, run again and run twice at any moment.
//
// An import walks both sides twice. First it counts items and looks for partners, before
// anything is made. Then it observes, until a walk finds nothing new: lists shift while people
// edit. It holds neither side in memory.
package importer

import (
	"context"
	"fmt"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/inventory"
	"planbridge/bridge/jobs"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// GitHub is the used part of the GitHub client beside the lists.
type GitHub interface {
	// Locate returns the present name of the repository behind a name.
	Locate(ctx context.Context, repo string, id int64, anew bool) (string, error)
	// Private reports whether only members can read a repository.
	Private(ctx context.Context, repo string) (bool, error)
	// Released reports whether a person let an issue out of quarantine.
	Released(ctx context.Context, issue *mapping.Issue) (bool, error)
	// Authorship reports whether a login is the bridge's own.
	Authorship(login string) mapping.Authorship
}

// Budget bounds the writes of imports.
type Budget interface {
	// Forecast is how long GitHub's budgets take for so many new issues and other writes of
	// imports. It also returns the configuration's key that bounds it.
	Forecast(issues, edits int) (time.Duration, string)
}

// Options configure an Importer. All fields are required.
type Options struct {
	Store     store.Store
	Inventory *inventory.Inventory
	GitHub    GitHub
	Intake    inventory.Intake
	Services  inventory.Readiness
	Budget    Budget
	Jobs      *jobs.Runner
	Guard     *guard.Guard
	Clock     clock.Clock
}

// Importer carries out imports.
type Importer struct{ o Options }

// New makes an Importer.
func New(o Options) *Importer { return &Importer{o} }

// maxFailures bounds how many failures of a project are read.
const maxFailures = 10_000

// inHand bounds how many keys of an import are in the queue at once: enough for full batches,
// and few enough for a flat memory.
const inHand = 1000

// Import begins an import, or returns the running one with the same request.
func (i *Importer) Import(ctx context.Context, ask status.ImportAsk) (status.Job, error) {
	if ask.State == "" {
		ask.State = mapping.ImportOpen
	}
	switch {
	case ask.State != mapping.ImportOpen && ask.State != mapping.ImportAll:
		return status.Job{}, status.BadAsk("import: state %q is neither open nor all", ask.State)
	case ask.Match != "" && ask.Match != "title":
		return status.Job{}, status.BadAsk("import: match %q is not title", ask.Match)
	}
	routes, err := i.o.Inventory.Routes(ask.Route)
	if err != nil {
		return status.Job{}, fmt.Errorf("import: %w", err)
	}
	first := status.Job{Kind: "import", Doing: "waiting for GitHub", Import: &status.ImportResult{Route: ask.Route, DryRun: ask.DryRun, Items: []status.ImportItem{}}}
	return i.o.Jobs.Start(first, ask, func(ctx context.Context, j *jobs.Job) error {
		if err := i.o.Services.Ready(ctx); err != nil {
			return err
		}
		epoch, err := i.o.Store.Epoch(ctx)
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		im := &run{
			Options: i.o, job: j, ask: ask, routes: routes, epoch: epoch, titles: map[titleKey]*title{},
			refused: map[string]bool{}, public: map[string]bool{}, released: map[int64]bool{}, met: map[store.Key]bool{}, children: map[mapping.LinkID]child{},
		}
		return im.do(ctx)
	})
}

// run is one import at work.
type run struct {
	Options
	job       *jobs.Job
	ask       status.ImportAsk
	routes    []*mapping.Route
	epoch     string              // of the store that was surveyed
	titles    map[titleKey]*title // of unlinked cards, in which partners are searched
	counted   map[uint64]bool     // hashes of the items that a walk has shown; nil: a repeated item does no harm
	waiting   []store.Key         // observed and not done, oldest first
	met       map[store.Key]bool  // earlier links that were under way when the walk found them
	refused   map[string]bool     // repositories that could not be listed
	public    map[string]bool     // whether anybody can read a repository, as the first walk saw it; by lower-case name
	released  map[int64]bool      // strangers' issues that were asked for, and whether a person let them in
	announced time.Time           // until when more keys are announced
	kin       *kinship            // of the survey
	marked    marked              // of the survey
	// children are the waiting keys whose issues were listed as sub-issues.
	children map[mapping.LinkID]child
}

func (im *run) do(ctx context.Context) error {
	if err := im.survey(ctx); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if im.ask.DryRun {
		return nil
	}
	if err := im.carryOut(ctx); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return nil
}

func (im *run) count(change func(*status.ImportResult)) {
	im.job.Update(func(now *status.Job) { change(now.Import) })
}

func (im *run) list(item status.ImportItem) {
	im.count(func(r *status.ImportResult) {
		if len(r.Items) == inventory.MaxItems {
			r.More = true
			return
		}
		r.Items = append(r.Items, item)
	})
}

// includes reports whether the import includes the route.
func (im *run) includes(route *mapping.Route) bool {
	for _, r := range im.routes {
		if r == route || r.Name == route.Name {
			return true
		}
	}
	return false
}

// passes bounds how often the lists are walked. They shift while people edit, so that a walk
// can miss an item at a page's border.
const passes = 5

// carryOut observes the items to import until a walk finds nothing new. Sub-issues come last,
// when their parents have cards.
func (im *run) carryOut(ctx context.Context) error {
	for pass := range passes {
		found := 0
		page := func(ctx context.Context, obs map[mapping.ObjectID][]store.Observation) error {
			n, err := im.observe(ctx, obs)
			found += n
			return err
		}
		im.job.Doing("importing issues")
		if err := im.importIssues(ctx, pass > 0, page); err != nil {
			return err
		}
		im.job.Doing("importing cards")
		if err := im.importCards(ctx, page); err != nil {
			return err
		}
		if err := im.awaitRoom(ctx, 0); err != nil {
			return err
		}
		if found == 0 && pass > 0 {
			return nil
		}
	}
	return nil
}

// observe stores observations, bounds the keys in hand, and returns how many links were made.
func (im *run) observe(ctx context.Context, byProject map[mapping.ObjectID][]store.Observation) (made int, err error) {
	for project, obs := range mapping.Sorted(byProject) {
		for len(obs) > 0 {
			if err := im.sameStore(ctx); err != nil {
				return made, err
			}
			seen, err := im.Intake.Observe(ctx, project, obs)
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
				if err := inventory.Wait(ctx, time.Second); err != nil {
					return made, err
				}
			}
		}
	}
	return made, im.awaitRoom(ctx, inHand)
}

// sameStore fails once the store is another one than the surveyed one: its pairs and partners
// are not known.
func (im *run) sameStore(ctx context.Context) error {
	switch now, err := im.Store.Epoch(ctx); {
	case err != nil:
		return err
	case now != im.epoch:
		return fmt.Errorf("the store was lost or restored meanwhile: run the import again: %w", store.ErrEpoch)
	}
	return nil
}

// awaitRoom waits until at most so many keys are in hand.
func (im *run) awaitRoom(ctx context.Context, most int) error {
	for {
		if err := im.sweep(ctx); err != nil {
			return err
		}
		if len(im.waiting) <= most {
			return nil
		}
		if err := inventory.Wait(ctx, inventory.LookEvery); err != nil {
			return err
		}
	}
}

// unready ends a check of the keys in hand after this many unfinished ones. The rest is
// younger, and hardly further.
const unready = 100

// sweep finds the keys in hand that are finished.
func (im *run) sweep(ctx context.Context) error {
	depths, err := im.depths(ctx)
	if err != nil {
		return err
	}
	parked, err := im.parked(ctx, depths)
	if err != nil {
		return err
	}
	kept := im.waiting[:0]
	became := map[keyStatus]int{}
	for i, key := range im.waiting {
		if len(kept) == unready && len(parked) == 0 {
			kept = append(kept, im.waiting[i:]...)
			break
		}
		now, err := im.statusOf(ctx, key, parked)
		if err != nil {
			return err
		}
		if now == underWay {
			kept = append(kept, key)
			continue
		}
		became[now]++
		delete(im.children, key.Link)
	}
	im.waiting = kept
	waits, err := im.waits(ctx, depths)
	if err != nil {
		return err
	}
	im.job.Update(func(now *status.Job) {
		now.WaitFor(waits)
		now.Done += became[done] + became[handed] + became[dropped] + became[failed]
		now.Total = max(now.Total, now.Done)
		now.Import.Handed += became[handed]
		now.Import.Dropped += became[dropped]
		now.Import.Failed += became[failed]
	})
	return nil
}

// depths are the depths of the queues of the keys in hand.
func (im *run) depths(ctx context.Context) (map[mapping.ObjectID]store.Depth, error) {
	out := map[mapping.ObjectID]store.Depth{}
	for _, key := range im.waiting {
		if _, known := out[key.Project]; known {
			continue
		}
		d, err := im.Store.Depth(ctx, key.Project)
		if err != nil {
			return nil, err
		}
		out[key.Project] = d
	}
	return out, nil
}

// parked lists the failures of the projects that have some, by key.
func (im *run) parked(ctx context.Context, depths map[mapping.ObjectID]store.Depth) (map[store.Key]string, error) {
	out := map[store.Key]string{}
	for project, d := range mapping.Sorted(depths) {
		if d.Failures == 0 {
			continue
		}
		failures, err := im.Store.Failures(ctx, project, maxFailures)
		if err != nil {
			return nil, err
		}
		for _, f := range failures {
			out[f.Key] = f.Reason
		}
	}
	return out, nil
}
