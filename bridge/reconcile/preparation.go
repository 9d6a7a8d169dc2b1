package reconcile

import (
	"fmt"
	"strings"

	"planbridge/mapping"
)

// This file has the rules of the arrival and the preparation: from a claimed key to two linked
// partners whose state is known.

// reroute gives the pair the route that takes its issue now. Where no route has the
// repository, it may have been renamed. Where several routes have it, the issue decides.
func reroute(w work) (verdict, error) {
	if w.link.Parted {
		w.route = w.set.Routes.ByName(w.link.Route)
	}
	if w.link.Parted || !w.served {
		return pass, nil
	}
	route, among := w.set.Routes.Of(w.link)
	if route == nil && len(among) == 0 && w.owner.Issue.Repo != "" {
		now, err := do(w, Locate{w.owner.Issue.Repo, w.owner.Issue.RepoID, true})
		switch {
		case mapping.Refused(err):
		case err != nil:
			return end, onGitHub(err)
		case !strings.EqualFold(now, w.owner.Issue.Repo):
			w.owner.Issue.Repo = now
			w.readAnew()
			route, among = w.set.Routes.Of(w.link)
		}
	}
	if len(among) > 0 {
		issue, err := looker(w).toChoose()
		if err != nil {
			return end, err
		}
		route = w.set.Routes.Takes(w.link, issue, w.set.Scheme)
	}
	if route == nil && w.link.Cleaning {
		w.route = w.set.Routes.Lend(w.link.Project)
		return pass, nil
	}
	if w.route = route; route != nil && route.Name != w.link.Route {
		w.note("", "", mapping.Rerouted, "it goes by route "+route.Name+" now, it went by "+w.link.Route)
		w.link.Route = route.Name
	}
	return pass, nil
}

func routeGone(w work) (verdict, error) {
	if w.link.Parted || w.route != nil && w.served {
		return pass, nil
	}
	waits, why := w.pair.AwaitsIssue(), "its route or project is no longer configured"
	own, by := w.set.Routes.ByName(w.link.Route), w.set.Routes.Excluding(w.owner.Issue.Repo)
	if own != nil && own.Excludes(w.owner.Issue.Repo) {
		by = own
	}
	switch {
	case !w.served:
	case own != nil && waits:
		why = "route " + own.Name + " makes no issues of cards now"
	case by != nil:
		why = "route " + by.Name + " excludes its repository"
	}
	if waits && w.pair.State == mapping.Creating {
		entrant(w).reconsider()
	}
	if w.pair.State != mapping.Dormant {
		if w.happens(mapping.EventRouteRemoved); waits {
			w.note("", "", "dormant", why)
		}
	}
	w.pair.Why = why
	if w.wasFound() {
		w.takeOldestCard()
	}
	reader(w).keepPlace()
	return end, creator(w).keepFound()
}

func parted(w work) (verdict, error) {
	if !w.link.Parted || cleaner(w).mayOweText() {
		return pass, nil
	}
	reader(w).keepPlace()
	return end, nil
}

func paused(w work) (verdict, error) {
	if w.Paused(w.link.Route) && !w.link.Cleaning {
		return end, &blockedOn{ServicePaused(w.route.Identity()), "its route is paused"}
	}
	return pass, nil
}

func routeBack(w work) (verdict, error) {
	if w.pair.State == mapping.Dormant && !w.link.Parted {
		w.happens(mapping.EventRouteBack)
		w.readAnew()
	}
	return pass, nil
}

func takeInEvents(w work) (verdict, error) {
	intake(w).takeEvents()
	mover(w).checkMarkerCopies()
	return pass, nil
}

func transferred(w work) (verdict, error) {
	if err := mover(w).takeMoves(); err != nil {
		return end, err
	}
	away, err := mover(w).isAway()
	return endIf(away && !w.link.Cleaning, err)
}

// withSiblings leaves a task that is to be made to the request that makes all tasks of its
// root.
func withSiblings(w work) (verdict, error) {
	return endIf(w.pair.State == mapping.Creating && w.pair.Intent.Side == mapping.Planning, nil)
}

// joined goes on with an issue and a card that people joined, once no other project can have a
// partner of the issue.
func joined(w work) (verdict, error) {
	if !w.pair.Joined() {
		return pass, nil
	}
	if err := exclusivity(w).ensureExclusive(); err != nil {
		return end, err
	}
	w.happens(mapping.EventCompleted)
	w.pair.Intent = nil
	return pass, nil
}

func create(w work) (verdict, error) {
	if w.pair.State != mapping.Creating {
		return pass, nil
	}
	if err := exclusivity(w).requireAdoption(); err != nil {
		return end, err
	}
	making, wants := creator(w).partner(), []*want{creator(w).wanted()}
	elsewhere, err := creator(w).pointedElsewhere()
	if err != nil {
		return end, err
	}
	if !elsewhere {
		return pass, making.once(wants...)
	}
	if absent, err := making.absent(wants); len(absent) == 0 || err != nil {
		return pass, err
	}
	entrant(w).reconsider()
	return end, later(0, "its route does not make issues there now")
}

// refreshBoth handles the news of both sides. An orphan that is linked again is read as a whole, as changes
// of one item were not handled while the other one was gone.
func refreshBoth(w work) (verdict, error) {
	orphan := w.pair.State == mapping.Orphaned
	err := reader(w).refresh()
	if err == nil && orphan && w.pair.State == mapping.Linked {
		w.readAnew()
		err = reader(w).refresh()
	}
	if err == nil && orphan && w.pair.State == mapping.Creating {
		return end, later(0, "its item is there again, and its partner is still to be made")
	}
	return pass, err
}

// leaveOrReturn moves the link to the state left when its issue no longer matches its route,
// and back.
func leaveOrReturn(w work) (verdict, error) {
	if w.pair.State == mapping.Orphaned {
		return end, nil
	}
	if w.issue == nil {
		return endIf(w.pair.State == mapping.Left, nil)
	}
	ok, why := entrant(w).accepts(w.issue)
	switch {
	case !ok && w.pair.State != mapping.Left:
		mover(w).leave(why)
		return end, nil
	case !ok:
		return end, nil
	case w.pair.State == mapping.Left:
		w.happens(mapping.EventReadmitted)
		w.note("", "", "back", "it matches its route again")
		w.readAnew()
		return pass, reader(w).refresh()
	}
	return pass, nil
}

// enter decides whether a new item becomes a link. Then the next rule creates its partner.
func enter(w work) (verdict, error) {
	if w.pair.State != mapping.Entering {
		return pass, nil
	}
	if err := exclusivity(w).requireAdoption(); err != nil {
		return end, err
	}
	try := entrant(w).enterIssue
	if w.pair.Origin == mapping.Planning {
		try = entrant(w).enterCard
	}
	err := try()
	return endIf(w.pair.State == mapping.Entering, err)
}

// restored handles a link that was rebuilt from a marker after a loss of the store. Nothing is
// decided before all marked items have been seen: a task or a comment of the link may still be
// under way. People may have copied the card with its marker, and then the oldest card is the
// link's.
func restored(w work) (verdict, error) {
	if !w.wasFound() {
		return pass, nil
	}
	if err := exclusivity(w).requireAdoption(); err != nil {
		return pass, err
	}
	w.takeOldestCard()
	return pass, nil
}

// wasFound reports whether a pair was found by its marker, and never agreed since.
func (w work) wasFound() bool {
	unmade := w.pair.State == mapping.Entering || w.pair.State == mapping.Creating
	return !unmade && w.pair.Synced.IsZero() && w.unbased()
}

// takeOldestCard makes the oldest card with the link's marker that was seen the link's own one.
func (w work) takeOldestCard() {
	for _, c := range allSeen[mapping.Card](w.claimState) {
		if w.pair.Origin == mapping.GitHub && c.CID < w.pair.Card.CID && signer(w).hasMarker(c.Summary.Value, mapping.MarkCard) {
			w.note(mapping.Planning, "", "restored", fmt.Sprintf("card %s is older than its copy %s", c.ID, w.pair.Card.ID))
			w.pair.Card = mapping.NameCard(&c)
		}
	}
}
