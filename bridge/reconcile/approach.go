package reconcile

import (
	"planbridge/mapping"
)

// The rules of the approach: from a claimed key to two partners that are seen and linked.

func routeGone(w *work) (verdict, error) {
	if w.link.Parted || w.route != nil && w.served {
		return pass, nil
	}
	if w.link.State != mapping.Dormant {
		w.happens(mapping.EventRouteRemoved)
	}
	w.link.Why = "its route or project is no longer configured"
	return end, nil
}

func parted(w *work) (verdict, error) { return endIf(w.link.Parted, nil) }

func paused(w *work) (verdict, error) {
	if w.Paused(w.link.Route) {
		return end, &waitFor{ServicePaused(w.link.Route), "its route is paused"}
	}
	return pass, nil
}

func routeBack(w *work) (verdict, error) {
	if w.link.State == mapping.Dormant {
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
	if w.link.State != mapping.Creating || w.link.Intent != nil {
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
	return endIf(w.link.State == mapping.Creating && w.link.Intent.Side == mapping.Planning, nil)
}

// joined goes on with an issue and a card that people made, once no other project
// can have a partner of the issue.
func joined(w *work) (verdict, error) {
	if !w.link.Joined() {
		return pass, nil
	}
	if err := w.alone(); err != nil {
		return end, err
	}
	w.happens(mapping.EventCompleted)
	w.link.Intent = nil
	return pass, nil
}

func create(w *work) (verdict, error) {
	if w.link.State != mapping.Creating {
		return pass, nil
	}
	if err := w.adopted(); err != nil {
		return end, err
	}
	return pass, w.partner().once(w.wanted())
}

func hide(w *work) (verdict, error) {
	w.hidden = w.public(w.link.Issue.Repo, false)
	return pass, nil
}

// see takes in both sides. What was seen of the other side while one item was gone was not
// dealt with: an orphan that is linked again is read as a whole.
func see(w *work) (verdict, error) {
	orphan := w.link.State == mapping.Orphaned
	err := w.see()
	if err == nil && orphan && w.link.State == mapping.Linked {
		w.looked = true
		err = w.see()
	}
	if err == nil && orphan && w.link.State == mapping.Creating {
		return end, later(0, "its item is there again, and its partner is still to be made")
	}
	return pass, err
}

// leaveOrReturn moves the link to state left when the issue no longer matches its
// route, and back.
func leaveOrReturn(w *work) (verdict, error) {
	if w.link.State == mapping.Orphaned {
		return end, nil
	}
	if w.issue == nil {
		return endIf(w.link.State == mapping.Left, nil)
	}
	ok, why := w.accepts()
	switch {
	case !ok && w.link.State != mapping.Left:
		w.leave(why)
		return end, nil
	case !ok:
		return end, nil
	case w.link.State == mapping.Left:
		w.happens(mapping.EventReadmitted)
		w.note("", "", "back", "it matches its route again")
		w.looked = true
		return pass, w.see()
	}
	return pass, nil
}
