package reconcile

import (
	"strings"

	"planbridge/mapping"
)

// The rules of the approach: from a claimed key to two partners that are seen and linked.

// reroute gives the pair the route that takes its issue now. Where none is known for the
// repository, that may have another name by now; where several are, the issue tells.
func reroute(w *work) (verdict, error) {
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
			w.owner.Issue.Repo, w.owner.Unfinished, w.looked = now, true, true
			route, among = w.set.Routes.Of(w.link)
		}
	}
	if len(among) > 0 {
		issue, err := w.toChoose()
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
		w.note("", "", "rerouted", "route "+route.Name+" takes it, and not "+w.link.Route)
		w.link.Route = route.Name
	}
	return pass, nil
}

// toChoose returns the issue that a route is chosen by: as it was seen, or as it is read.
func (w *work) toChoose() (*mapping.Issue, error) {
	seen := mapping.Issue{Repo: w.owner.Issue.Repo}
	found, _, err := slot(w.claim, mapping.IssueRef(w.owner.Issue.ID), &seen)
	if found || err != nil || w.owner.Issue.Number == 0 {
		return &seen, err
	}
	read, err := do(w, ReadIssue{w.owner.Issue.Repo, w.owner.Issue.Number})
	switch {
	case err == nil:
		return &read, nil
	case unreachable(err): // what became of it is found out by the rules behind
		return &seen, nil
	}
	return nil, onGitHub(err)
}

func routeGone(w *work) (verdict, error) {
	if w.link.Parted || w.route != nil && w.served {
		return pass, nil
	}
	if w.pair.State != mapping.Dormant {
		w.happens(mapping.EventRouteRemoved)
	}
	w.pair.Why = "its route or project is no longer configured"
	return end, nil
}

func parted(w *work) (verdict, error) { return endIf(w.link.Parted, nil) }

func paused(w *work) (verdict, error) {
	if w.Paused(w.link.Route) && !w.link.Cleaning {
		return end, &waitFor{ServicePaused(w.link.Route), "its route is paused"}
	}
	return pass, nil
}

func routeBack(w *work) (verdict, error) {
	if w.pair.State == mapping.Dormant {
		w.happens(mapping.EventRouteBack)
		w.looked = true
	}
	return pass, nil
}

func events(w *work) (verdict, error) {
	if err := w.takeEvents(); err != nil {
		return end, err
	}
	return pass, w.seeStray()
}

func transferred(w *work) (verdict, error) {
	if err := w.takeMoves(); err != nil {
		return end, err
	}
	return endIf(w.away())
}

// reconsider has a create decided anew whose intent is not known: the link was rebuilt halfway.
func reconsider(w *work) (verdict, error) {
	if w.pair.State != mapping.Creating || w.pair.Intent != nil {
		return pass, nil
	}
	if err := w.adopted(); err != nil {
		return end, err
	}
	w.happens(mapping.EventReconsidered)
	return pass, nil
}

// withSiblings leaves a task that is to be made to the request that makes all of its root's.
func withSiblings(w *work) (verdict, error) {
	return endIf(w.pair.State == mapping.Creating && w.pair.Intent.Side == mapping.Planning, nil)
}

// joined goes on with an issue and a card that people made, once no other project
// can have a partner of the issue.
func joined(w *work) (verdict, error) {
	if !w.pair.Joined() {
		return pass, nil
	}
	if err := w.alone(); err != nil {
		return end, err
	}
	w.happens(mapping.EventCompleted)
	w.pair.Intent = nil
	return pass, nil
}

func create(w *work) (verdict, error) {
	if w.pair.State != mapping.Creating {
		return pass, nil
	}
	if err := w.adopted(); err != nil {
		return end, err
	}
	return pass, w.partner().once(w.wanted())
}

func hide(w *work) (verdict, error) {
	w.hidden = w.public(w.owner.Issue.Repo, false)
	return pass, nil
}

// see takes in both sides. What was seen of the other side while one item was gone was not
// dealt with: an orphan that is linked again is read as a whole.
func see(w *work) (verdict, error) {
	orphan := w.pair.State == mapping.Orphaned
	err := w.see()
	if err == nil && orphan && w.pair.State == mapping.Linked {
		w.looked = true
		err = w.see()
	}
	if err == nil && orphan && w.pair.State == mapping.Creating {
		return end, later(0, "its item is there again, and its partner is still to be made")
	}
	return pass, err
}

// leaveOrReturn moves the link to state left when the issue no longer matches its
// route, and back.
func leaveOrReturn(w *work) (verdict, error) {
	if w.pair.State == mapping.Orphaned {
		return end, nil
	}
	if w.link.Cleaning {
		return pass, nil
	}
	if w.issue == nil {
		return endIf(w.pair.State == mapping.Left, nil)
	}
	ok, why := w.accepts()
	switch {
	case !ok && w.pair.State != mapping.Left:
		w.leave(why)
		return end, nil
	case !ok:
		return end, nil
	case w.pair.State == mapping.Left:
		w.happens(mapping.EventReadmitted)
		w.note("", "", "back", "it matches its route again")
		w.looked = true
		return pass, w.see()
	}
	return pass, nil
}
