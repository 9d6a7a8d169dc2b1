package reconcile

import (
	"context"

	"planbridge/mapping"
)

// The rules of the approach: from a claimed key to two partners that are seen and linked.

func routeGone(_ context.Context, w *work) (verdict, error) {
	if w.link.Parted || w.route != nil && w.planning != nil {
		return pass, nil
	}
	if w.link.State != mapping.Dormant {
		w.happens(mapping.EventRouteRemoved)
	}
	w.link.Why = "its route or project is no longer configured"
	return end, nil
}

func parted(_ context.Context, w *work) (verdict, error) { return endIf(w.link.Parted, nil) }

func paused(_ context.Context, w *work) (verdict, error) {
	if w.Paused != nil && w.Paused(w.link.Route) {
		return end, &waitFor{ServicePaused(w.link.Route), "its route is paused"}
	}
	return pass, nil
}

func routeBack(_ context.Context, w *work) (verdict, error) {
	if w.link.State == mapping.Dormant {
		w.happens(mapping.EventRouteBack)
		w.looked = true
	}
	return pass, nil
}

func events(_ context.Context, w *work) (verdict, error) {
	if err := w.takeEvents(); err != nil {
		return end, err
	}
	return pass, w.seeStray()
}

func transferred(ctx context.Context, w *work) (verdict, error) {
	if err := w.takeMoves(ctx); err != nil {
		return end, err
	}
	return endIf(w.away(ctx))
}

// reconsider has a create decided anew whose intent is not known: the link was rebuilt halfway.
func reconsider(ctx context.Context, w *work) (verdict, error) {
	if w.link.State != mapping.Creating || w.link.Intent != nil {
		return pass, nil
	}
	if err := w.adopted(ctx); err != nil {
		return end, err
	}
	w.happens(mapping.EventReconsidered)
	return pass, nil
}

// withSiblings leaves a task that is to be made to the request that makes all of its root's.
func withSiblings(_ context.Context, w *work) (verdict, error) {
	return endIf(w.link.State == mapping.Creating && w.link.Intent.Side == mapping.Planning, nil)
}

// joined goes on with an issue and a card that people made, once no other project
// can have a partner of the issue.
func joined(ctx context.Context, w *work) (verdict, error) {
	if !w.link.Joined() {
		return pass, nil
	}
	if err := w.alone(ctx); err != nil {
		return end, err
	}
	w.happens(mapping.EventCompleted)
	w.link.Intent = nil
	return pass, nil
}

func create(ctx context.Context, w *work) (verdict, error) {
	if w.link.State != mapping.Creating {
		return pass, nil
	}
	if err := w.adopted(ctx); err != nil {
		return end, err
	}
	return pass, w.partner().once(ctx, w.wanted())
}

func hide(ctx context.Context, w *work) (verdict, error) {
	w.hidden = w.public(ctx, w.link.Issue.Repo, false)
	return pass, nil
}

// see takes in both sides. What was seen of the other side while one item was gone was not
// dealt with: an orphan that is linked again is read as a whole.
func see(ctx context.Context, w *work) (verdict, error) {
	orphan := w.link.State == mapping.Orphaned
	err := w.see(ctx)
	if err == nil && orphan && w.link.State == mapping.Linked {
		w.looked = true
		err = w.see(ctx)
	}
	if err == nil && orphan && w.link.State == mapping.Creating {
		return end, later(0, "its item is there again, and its partner is still to be made")
	}
	return pass, err
}

// leaveOrReturn moves the link to state left when the issue no longer matches its
// route, and back.
func leaveOrReturn(ctx context.Context, w *work) (verdict, error) {
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
		return pass, w.see(ctx)
	}
	return pass, nil
}
