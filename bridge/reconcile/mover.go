package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// An issue that answers at another address has its old database id after a rename of its
// repository. After a transfer it has another one, and the link gets a new key. Its card stays in
// place. Events report a transfer, and a redirect proves one whose events were lost. GitHub's
// current answer counts, as the events of several transfers come in any order.

// readdress handles an error of GitHub that is about the place and not about the issue: the
// issue moved, or its repository is read-only. nil stays nil.
func (w mover) readdress(err error) error {
	if isGitHubs(err) && errors.Is(err, mapping.ErrMoved) {
		return w.follow(err)
	}
	return pauses(w).readOnly(err)
}

// follow finds out where the issue of a failed read or write is now.
func (w mover) follow(err error) error {
	if now, locateErr := do(w, Locate{w.owner.Issue.Repo, w.owner.Issue.RepoID, true}); locateErr == nil && !strings.EqualFold(now, w.owner.Issue.Repo) {
		return w.toRepository(now)
	}
	if w.owner.Issue.Number == 0 { // there is no issue yet that could have moved
		return err
	}
	var moved *mapping.MovedError
	if !errors.As(err, &moved) || moved.Issue == nil { // a write is not redirected
		_, err = do(w, ReadIssue{w.owner.Issue.Repo, w.owner.Issue.Number})
		if err == nil {
			return later(staleWait, "GitHub does not agree with itself on where the issue is")
		}
		if !errors.As(err, &moved) {
			return absences(w).missing(mapping.GitHub, err)
		}
	}
	switch {
	case moved.Issue != nil:
		return w.moveTo(moved.Issue)
	case strings.Contains(moved.Location, "/discussions/"):
		return absences(w).missing(mapping.GitHub, fmt.Errorf("converted to a discussion: %w", mapping.ErrGone))
	}
	return w.moveOutOfReach(mapping.IssueID{Repo: moved.Repo, Number: moved.Number})
}

// takeMoves follows the transfers that events reported. It reads the issue at the new address,
// which may have moved on, or may be out of reach.
func (w mover) takeMoves() error {
	for _, m := range w.moves {
		if m.From != w.owner.Issue.ID || m.To.ID == m.From || m.To.ID == 0 {
			continue
		}
		var moved *mapping.MovedError
		issue, err := do(w, ReadIssue{m.To.Repo, m.To.Number})
		switch {
		case err == nil && issue.ID == m.To.ID:
			return w.moveTo(&issue)
		case errors.As(err, &moved) && moved.Issue != nil:
			return w.moveTo(moved.Issue)
		case err != nil && !unreachable(err):
			return onGitHub(err)
		}
		if _, err := do(w, ReadIssue{w.owner.Issue.Repo, w.owner.Issue.Number}); unreachable(err) {
			return w.moveOutOfReach(m.To)
		}
	}
	return nil
}

// checkMarkerCopies has the link's issue read where another issue carries the link's marker.
// That one is the link's issue after a transfer without an event, or a copy. The address of
// the link's own issue decides.
func (w mover) checkMarkerCopies() {
	for _, i := range w.markerCopies() {
		if w.mustRead = true; !w.Authorship(i.Author).Ours() {
			w.log.Warn("another issue carries this one's marker: it is a copy, or this one transferred", "other", issueName(i.Repo, i.Number), "author", i.Author)
		}
	}
}

// markerCopies are the other issues that carry the link's marker, without what its own were before
// transfers.
func (w mover) markerCopies() []mapping.Issue {
	return slices.DeleteFunc(allSeen[mapping.Issue](w.claimState), func(i mapping.Issue) bool {
		return i.ID == w.owner.Issue.ID || w.link.Was(i.ID) || w.link.Part(mapping.IssueRef(i.ID)) != nil || !w.Authorship(i.Author).Perhaps() || !signer(w).hasMarker(i.Body, mapping.MarkIssue)
	})
}

// successor is the issue with the link's marker that the link's own one became; nil: none shows. A
// transfer keeps author and birth, which tell it from a copy.
func (w mover) successor() *mapping.Issue {
	own := &w.owner.Issue
	for _, i := range w.markerCopies() {
		if i.Author == own.Author && i.CreatedAt.Equal(own.Born) {
			return &i
		}
	}
	return nil
}

// comeBack follows an issue that is away to where an issue carries the link's marker: no event
// may have told of its transfer. Where its own address is out of reach, it is compared.
func (w mover) comeBack() error {
	if len(w.markerCopies()) == 0 {
		return nil
	}
	next, moved := w.successor(), (*mapping.MovedError)(nil)
	switch err := looker(w).lookAtIssue(); {
	case errors.As(err, &moved) && moved.Issue != nil:
		return w.moveTo(moved.Issue)
	case !unreachable(err):
		return onGitHub(err)
	case next == nil:
		return nil
	}
	return w.moveTo(next)
}

// moveTo records where the issue was proven to be. The error puts the key off, so that the
// routes of the new place decide everything else.
func (w mover) moveTo(issue *mapping.Issue) error {
	was := w.owner.Issue
	if issue.ID == was.ID {
		if err := done(w, Rename{was.Repo, issue.Repo}); err != nil {
			return err
		}
		w.owner.Issue.Repo, w.owner.Issue.Number = issue.Repo, issue.Number
		return quietly(0, "its repository is now %s", issue.Repo)
	}
	link, before := *w.link, *w.pair
	undo := func() { *w.link, *w.pair = link, before }
	w.pair.MoveTo(mapping.NewMove(was.ID, issue).To)
	if !w.pair.IsTask() {
		w.link.Shown = w.link.Shown.Moved()
	}
	delete(w.pair.Gone, mapping.GitHub)
	w.owner.Unfinished = true // the card's footer names another issue
	w.keepState(issue)
	if err := w.settleIn(issue); err != nil {
		undo()
		return err
	}
	if err := saver(w).save(); err != nil {
		undo()
		if errors.Is(err, store.ErrConflict) && before.State == mapping.Entering {
			return entrant(w).decline("it was transferred, and its link with it")
		}
		if errors.Is(err, store.ErrConflict) {
			return later(time.Second, "%s was taken for a new issue: its link goes first", issueName(issue.Repo, issue.Number))
		}
		return err
	}
	w.note(mapping.GitHub, "", "moved", issueName(was.Repo, was.Number)+" is now "+issueName(issue.Repo, issue.Number))
	return later(0, "its issue is now %s", issueName(issue.Repo, issue.Number))
}

// keepState handles a transfer that dropped the in-progress label, because the new repository
// has no such label. No person changed the state then.
func (w mover) keepState(issue *mapping.Issue) {
	base, ok := w.pair.Base[mapping.State]
	view, _ := w.route.IssueView(issue, w.set.Scheme, w.set.Keys, w.pair.Older())
	if ok && base.GitHub == mapping.StateInProgress && view[mapping.State].Value == mapping.StateTodo {
		base.GitHub, base.Planning = mapping.StateTodo, mapping.StateTodo
		w.pair.SetBase(mapping.State, base)
	}
}

// settleIn gives the link the route of its issue's new place. Where no route of its project
// covers that place, the link rests.
func (w mover) settleIn(issue *mapping.Issue) error {
	route := w.set.Routes.Takes(w.link, issue, w.set.Scheme)
	if route == nil {
		why := "for which there is no route"
		if len(w.set.Routes.ForRepo(issue.Repo)) > 0 {
			why = "whose routes belong to another planning project"
		}
		return w.goAway(issue.Repo, why)
	}
	if route.Direction != mapping.ToPlanning {
		if may, err := visibility(w).mayShow(route, issue.Repo); err != nil {
			return err
		} else if !may {
			return w.goAway(issue.Repo, "which is public, and its route does not allow that")
		}
	}
	if w.pair.Away = ""; !w.pair.IsTask() {
		w.link.Route = route.Name
	}
	if w.pair.State == mapping.Left && w.pair.Intent != nil {
		w.happens(mapping.EventResumed)
	}
	return nil
}

// moveOutOfReach lets the link rest: its issue went where the token does not reach. It may be back
// already, by a transfer that only its marker shows.
func (w mover) moveOutOfReach(to mapping.IssueID) error {
	if w.pair.State == mapping.Entering {
		return entrant(w).decline("it was transferred")
	}
	if next := w.successor(); next != nil {
		return w.moveTo(next)
	}
	if to.ID != 0 && to.ID != w.owner.Issue.ID {
		to.Author, to.Born = w.owner.Issue.Author, w.owner.Issue.Born
		w.pair.MoveTo(to)
	}
	if err := w.goAway(to.Repo, "which the bridge cannot read"); err != nil {
		return err
	}
	return saver(w).save()
}

// goAway lets the link rest while its issue is where no route is. A link that has not entered
// is removed.
func (w mover) goAway(repo, why string) error {
	if w.pair.State == mapping.Entering {
		return entrant(w).decline("it was transferred before it entered")
	}
	if repo == "" {
		repo = "another repository"
	}
	w.pair.Away = repo
	w.leave("it was transferred to " + repo + ", " + why)
	return nil
}

// isAway reports whether the link's issue is in a repository that no route of its project
// covers. Once a route covers it, the link goes on.
func (w mover) isAway() (bool, error) {
	if w.pair.Away == "" {
		return false, nil
	}
	shown := looker(w).shownOrPlace()
	if w.set.Routes.Takes(w.link, shown, w.set.Scheme) == nil {
		w.leave(w.pair.Why)
		return true, w.comeBack()
	}
	if err := w.settleIn(shown); err != nil || w.pair.Away != "" {
		return true, err
	}
	w.owner.Unfinished = true
	return true, later(0, "%s has a route again", w.owner.Issue.Repo)
}

// leave lets the link rest for a reason.
func (w mover) leave(why string) {
	if w.pair.State != mapping.Left || w.pair.Why != why {
		w.note("", "", "left", why)
	}
	if w.pair.State != mapping.Left {
		w.happens(mapping.EventExcluded)
	}
	w.pair.Why = why
}

// toRepository puts the link off to go on under its repository's current name. A card without
// an issue gets it there.
func (w mover) toRepository(now string) error {
	w.owner.Issue.Repo, w.owner.Unfinished = now, true
	return quietly(0, "its repository is now %s", now)
}
