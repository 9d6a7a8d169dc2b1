package importer

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/guard"
	"planbridge/bridge/inventory"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// issueVisit receives an issue that the import takes and no link has.
type issueVisit func(context.Context, *mapping.Route, *mapping.Issue) error

// issueWalk is one walk over the issues of the import's routes.
type issueWalk struct {
	*run
	visit issueVisit
	// after is called after each page; nil: the walk counts all issues.
	after  func(context.Context) error
	public bool // whether anybody can read the repository that is listed
}

// eachIssue walks the issues of the routes' repositories, page by page. after is called after each
// page; nil: the walk only counts all issues.
func (im *run) eachIssue(ctx context.Context, visit issueVisit, after func(context.Context) error) error {
	return im.Inventory.Issues(ctx, im.routes, im.ask.State, &issueWalk{run: im, visit: visit, after: after})
}

// EnterRepository implements [inventory.IssueVisitor].
func (w *issueWalk) EnterRepository(ctx context.Context, named string) (string, error) {
	repo, err := w.GitHub.Locate(ctx, named, 0, true)
	if err != nil {
		return "", err
	}
	w.public, err = w.isPublic(ctx, strings.ToLower(named), repo)
	return repo, err
}

// VisitIssue implements [inventory.IssueVisitor].
func (w *issueWalk) VisitIssue(ctx context.Context, issue *mapping.Issue) error {
	return w.guarded(issue.Name(), func() error { return w.issue(ctx, issue, w.public, w.visit, w.after == nil) })
}

// EndPage implements [inventory.IssueVisitor].
func (w *issueWalk) EndPage(ctx context.Context) error {
	if w.after == nil {
		return nil
	}
	return w.after(ctx)
}

// SkipRepository implements [inventory.IssueVisitor].
func (w *issueWalk) SkipRepository(repo string, routes []string, err error) {
	w.unread(repo, strings.Join(routes, ", "), err)
}

// guarded handles one item. An item on which the program panics counts as failed, once, and
// the import goes on.
func (im *run) guarded(where string, do func() error) error {
	err := im.Guard.Do("import of", where, do)
	if !guard.Panicked(err) {
		return err
	}
	im.unread(where, "", err)
	return nil
}

// unread reports once that a repository refuses to be listed. The other repositories are
// imported.
func (im *run) unread(repo, route string, err error) {
	if im.refused[repo] {
		return
	}
	im.refused[repo] = true
	im.count(func(r *status.ImportResult) { r.Failed++ })
	im.list(status.ImportItem{Where: repo, Route: route, What: "failed", Why: err.Error()})
}

// isPublic reports whether anybody can read the repository, where that decides. All walks of an
// import use one answer, so that those that search for partners and those that import take the same
// items.
func (im *run) isPublic(ctx context.Context, named, repo string) (bool, error) {
	if public, known := im.public[named]; known {
		return public, nil
	}
	if near := im.Inventory.Settings().Routes.ForRepo(repo); !slices.ContainsFunc(near, func(r *mapping.Route) bool { return !r.AllowPublic || r.Quarantine == mapping.QuarantineAuto }) {
		return false, nil
	}
	private, err := im.GitHub.Private(ctx, repo)
	if err != nil {
		return false, err
	}
	im.public[named] = !private
	return !private, nil
}

// issue passes an issue to visit where the import takes it.
func (im *run) issue(ctx context.Context, issue *mapping.Issue, public bool, visit issueVisit, counting bool) error {
	set := im.Inventory.Settings()
	e := mapping.Entrance{Scheme: set.Scheme, Own: set.Keys.Made(issue, im.GitHub.Authorship(issue.Author)), Public: public}
	route, why := set.Routes.Importing(issue, e, im.ask.State)
	if route != nil && !im.includes(route) {
		return nil
	}
	if im.again(mapping.IssueRef(issue.ID)) {
		return nil
	}
	key, known, err := im.Inventory.Known(ctx, mapping.IssueRef(issue.ID))
	if err != nil {
		return err
	}
	if why == mapping.WhyQuarantine && !known {
		if e.Released, err = im.isReleased(ctx, issue); err != nil {
			return err
		}
		if route, why = set.Routes.Importing(issue, e, im.ask.State); route != nil && !im.includes(route) {
			return nil
		}
	}
	found := !known && im.marked.issues[issue.ID]
	if found {
		why = ""
	}
	if counting {
		im.countExamined(known, why)
		im.kin.lists(issue)
	}
	if counting && known {
		if err := im.countExisting(ctx, key); err != nil {
			return err
		}
	}
	switch {
	case known && !counting:
		return im.joinIn(ctx, key, issue)
	case known || found || route == nil:
		return nil
	}
	return visit(ctx, route, issue)
}

// isReleased asks GitHub once in an import whether a person let a stranger's issue
// out of quarantine.
func (im *run) isReleased(ctx context.Context, issue *mapping.Issue) (bool, error) {
	if released, asked := im.released[issue.ID]; asked || issue.Untriaged() {
		return released, nil
	}
	released, err := im.GitHub.Released(ctx, issue)
	if err == nil {
		im.released[issue.ID] = released
	}
	return released, err
}

// countExamined counts an issue that was examined; why is the reason why it stays out, "" where it does
// not.
func (im *run) countExamined(known bool, why string) {
	im.count(func(r *status.ImportResult) {
		r.Seen++
		switch {
		case known:
			r.Known++
		case why != "":
			r.StaysOut(why)
		}
	})
}

// again reports whether a counting walk has shown an item before. Lists shift while people
// edit, so that it can stand on two pages, or in two buckets.
func (im *run) again(ref mapping.Ref) bool {
	if im.counted == nil {
		return false
	}
	hash := maphash.String(hashSeed, string(ref))
	before := im.counted[hash]
	im.counted[hash] = true
	return before
}

// joinIn also waits for the keys of an earlier or a concurrent import.
func (im *run) joinIn(ctx context.Context, key store.Key, issue *mapping.Issue) error {
	l, err := im.Store.Link(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if l.Import != "" && (l.State == mapping.Entering || l.State == mapping.Creating) && !slices.Contains(im.waiting, key) {
		im.waiting = append(im.waiting, key)
		im.takeChild(key.Link, issue)
	}
	return nil
}

// importIssues observes the issues that become cards, or are joined with one. Sub-issues are
// left for a later walk, when their parents have cards.
func (im *run) importIssues(ctx context.Context, children bool, page func(context.Context, map[mapping.ObjectID][]store.Observation) error) error {
	batch := map[mapping.ObjectID][]store.Observation{}
	visit := func(_ context.Context, route *mapping.Route, issue *mapping.Issue) error {
		if obs, ok := im.ofIssue(route, issue, children); ok {
			batch[route.Project] = append(batch[route.Project], obs)
		}
		return nil
	}
	err := im.eachIssue(ctx, visit, func(ctx context.Context) error {
		obs := batch
		batch = map[mapping.ObjectID][]store.Observation{}
		if children { // few are left: nobody waits for more
			return page(ctx, obs)
		}
		if err := im.announce(ctx, im.Clock.Now().Add(ahead)); err != nil {
			return err
		}
		return page(ctx, obs)
	})
	if err != nil || children {
		return err
	}
	return im.announce(ctx, time.Time{})
}

// ahead is how long GitHub may take for the next page of issues before keys stop waiting for
// it in their batches.
const ahead = 10 * time.Second

// announce records until when more keys are about to be observed, where that is not known yet.
func (im *run) announce(ctx context.Context, until time.Time) error {
	if !until.IsZero() && until.Sub(im.announced) < ahead/2 {
		return nil
	}
	im.announced = until
	text, err := until.MarshalText()
	if err != nil {
		return err
	}
	for _, project := range im.Inventory.Settings().Routes.Projects() {
		if err := im.Store.PutDoc(ctx, project, store.DocImporting, text); err != nil {
			return fmt.Errorf("store document %s: %w", store.DocImporting, err)
		}
	}
	return nil
}

// ofIssue is the observation by which an issue is imported.
func (im *run) ofIssue(route *mapping.Route, issue *mapping.Issue, children bool) (store.Observation, bool) {
	ref, at := mapping.IssueRef(issue.ID), im.Clock.Now().UTC()
	link := route.EnterIssue(issue, at)
	link.Import = im.ask.State
	switch t := im.titleOf(route, issue.Title); {
	case t.unique():
		joined := route.JoinIssue(issue, t.card, at)
		joined.Import = im.ask.State
		return store.Observation{Refs: joined.Refs(), Create: joined, Bulk: true}, true
	case t != nil, route.Direction == mapping.ToGitHub, isChild(issue) && !children && route.Tasks == mapping.TasksSubIssues:
		return store.Observation{}, false
	}
	im.takeChild(link.ID, issue)
	return store.Observation{
		Refs: []mapping.Ref{ref}, Create: link, Bulk: true,
		Item: ref, At: issue.UpdatedAt.Unix(), Digest: mapping.DigestIssue(issue), Data: store.Encode(issue),
	}, true
}

// errEnough ends a walk over cards, whose answer must not wait for the work on them.
var errEnough = errors.New("enough cards")

// cardsAtOnce is how many cards a walk gathers; the next one goes on.
const cardsAtOnce = 200

// importCards observes the cards that become issues, some at a time.
func (im *run) importCards(ctx context.Context, page func(context.Context, map[mapping.ObjectID][]store.Observation) error) error {
	for {
		batch := map[mapping.ObjectID][]store.Observation{}
		n := 0
		err := im.eachCard(ctx, func(_ context.Context, route *mapping.Route, card *mapping.Card) error {
			if !im.makesIssue(route, card) {
				return nil
			}
			batch[route.Project] = append(batch[route.Project], im.ofCard(route, card))
			if n++; n == cardsAtOnce {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if e := page(ctx, batch); e != nil {
			return e
		}
		if err == nil {
			return nil
		}
		if err := im.awaitRoom(ctx, cardsAtOnce); err != nil {
			return err
		}
	}
}

func (im *run) ofCard(route *mapping.Route, card *mapping.Card) store.Observation {
	ref := mapping.CardRef(card.ID)
	link := route.EnterCard(card, im.Clock.Now().UTC())
	link.Import = im.ask.State
	bare := *card
	bare.Tasks = nil
	return store.Observation{
		Refs: []mapping.Ref{ref}, Create: link, Bulk: true,
		Item: ref, At: card.Version, Digest: mapping.DigestCard(&bare), Data: store.Encode(&bare),
	}
}

// cardVisit receives a card, in a bucket of one of the import's routes, that no link has and
// no marker of ours names.
type cardVisit func(context.Context, *mapping.Route, *mapping.Card) error

// eachCard walks the backlogs of the routes' projects.
func (im *run) eachCard(ctx context.Context, visit cardVisit) error {
	return im.Inventory.EachProject(im.routes, func(project mapping.ObjectID, side inventory.Planning) error {
		ids := map[mapping.ObjectID][]mapping.ObjectID{}
		err := side.BacklogEach(ctx, func(bucket mapping.ObjectID, title string, card mapping.Card) error {
			return im.guarded(string(card.ID), func() error {
				route, err := im.routeOf(ctx, side, ids, project, bucket, title)
				if err != nil || route == nil || card.Placeholder {
					return err
				}
				card.Bucket, card.BucketName = bucket, title
				return im.card(ctx, route, &card, visit)
			})
		})
		if err != nil && !errors.Is(err, errEnough) {
			return fmt.Errorf("list cards: %w", err)
		}
		return err
	})
}

// card passes a card to visit where the import takes it.
func (im *run) card(ctx context.Context, route *mapping.Route, card *mapping.Card, visit cardVisit) error {
	_, marks := im.Inventory.Settings().Keys.In(route.Project).Body(card.Summary.Value)
	if slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Kind == mapping.MarkCard }) {
		return nil
	}
	key, known, err := im.Inventory.Known(ctx, mapping.CardRef(card.ID))
	if known && im.counted != nil {
		err = im.countExisting(ctx, key)
	}
	if known || err != nil || im.marked.cards[card.ID] || im.again(mapping.CardRef(card.ID)) {
		return err
	}
	return visit(ctx, route, card)
}

// routeOf returns the route of a bucket's cards. That is the one that makes issues of them, else
// the first one that the import is for and that owns the bucket.
func (im *run) routeOf(ctx context.Context, side inventory.Planning, known map[mapping.ObjectID][]mapping.ObjectID, project, bucket mapping.ObjectID, title string) (*mapping.Route, error) {
	routes := im.Inventory.Settings().Routes
	ids, ok := known[bucket]
	if !ok {
		ids = []mapping.ObjectID{bucket}
		if slices.ContainsFunc(routes.All(), (*mapping.Route).NamesBucketByID) {
			more, err := side.BucketIDs(ctx, string(bucket))
			if err != nil {
				return nil, err
			}
			ids = append(ids, more...)
		}
		known[bucket] = ids
	}
	if r := routes.ForBucket(project, title, ids...); r != nil {
		if im.includes(r) {
			return r, nil
		}
		return nil, nil
	}
	for _, r := range im.routes {
		if r.Project == project && r.OwnsBucket(title, ids...) {
			return r, nil
		}
	}
	return nil, nil
}
