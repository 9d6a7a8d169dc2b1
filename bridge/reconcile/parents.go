package reconcile

import (
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

const (
	// maxLevels is how deep GitHub nests sub-issues.
	maxLevels = 8
	// parentFor is how long an issue waits for its parent to enter and to get its card.
	parentFor = 10 * time.Minute
	// parentWait is when the parent is looked up again, and parentMost that of a parent that
	// takes long.
	parentWait, parentMost = 2 * time.Second, 30 * time.Second
	// siblings is how long the parent's link waits for further sub-issues, so that one request
	// makes their tasks.
	siblings = time.Second
	// parentWithin bounds the time of an answer, as a card waits for it. For a repository that is
	// known not to answer, parentKnown is the bound.
	parentWithin = 3 * time.Second
	parentKnown  = time.Second
)

// orPart hands an issue that no route takes by itself to its parent's link: a route's filter
// is not about sub-issues.
func (w parents) orPart(why string) error {
	ignored := mapping.Route{}
	if ok, _ := ignored.Accepts(w.issue, w.set.Scheme); ok && !entrant(w).bridgeMade(w.issue) {
		if handed, err := w.toParent(); handed || err != nil {
			return err
		}
	}
	return entrant(w).decline(why)
}

// toParent hands the issue to the link of the nearest ancestor with a card, where it becomes a
// task. It reports whether there is one.
func (w parents) toParent() (handed bool, err error) {
	repo, number := w.issue.Repo, w.issue.Number
	for range maxLevels {
		parent, err := w.parentOf(repo, number)
		if parent == nil || err != nil {
			return false, err
		}
		id, link, err := w.findParent(parent)
		switch {
		case err != nil:
		case link != nil:
			handed, err = w.toLink(link, parent)
		case id == "":
			err = w.bring(parent)
		}
		if handed || err != nil {
			return handed, err
		}
		repo, number = parent.Repo, parent.Number
	}
	return false, nil
}

// findParent is the link of an ancestor. After a loss of the store, a link may be made anew from a
// card. It knows the issue of its marker only once it has been worked.
func (w parents) findParent(parent *mapping.Issue) (mapping.LinkID, *mapping.Link, error) {
	id, link, err := exclusivity(w).linkOf(w.link.Project, mapping.IssueRef(parent.ID))
	if id != "" || err != nil || !entrant(w).bridgeMade(parent) {
		return id, link, err
	}
	for _, m := range signer(w).marks(parent.Body, mapping.MarkIssue) {
		if m.IsFor(w.link.Project) {
			return exclusivity(w).linkOf(w.link.Project, mapping.CardRef(mapping.ObjectID(m.Partner)))
		}
	}
	return "", nil, nil
}

// parentOf reads an issue's parent; nil: there is none. A parent that may not be read counts
// as none, which is logged once for a repository. So does a parent whose reads keep failing while
// the issue itself can be read. It gets two further attempts, or one where the repository is known
// for it.
func (w parents) parentOf(repo string, number int) (*mapping.Issue, error) {
	patience, further := parentWithin, 2
	if get(w, Remembered{parentless(repo)}) > 0 {
		patience, further = parentKnown, 1
	}
	parent, err := do(w, ReadParent{repo, number, patience})
	issue := issueName(repo, number)
	if err == nil || IsGone(err) {
		_ = get(w, Remember{parentless(repo), 0})
		_ = get(w, Remember{parentUnread(issue), 0})
		return parent, nil
	}
	if !errors.Is(err, mapping.ErrForbidden) && !errors.Is(err, mapping.ErrRejected) {
		// Attempts that failed for another reason say nothing of this one.
		var limited *mapping.RateLimited
		if errors.As(err, &limited) || (situation{project: w.link.Project, down: w.Down}).isDown(&sideError{mapping.GitHub, err}) {
			return nil, onGitHub(err)
		}
		if times := get(w, Remembered{parentUnread(issue)}); times < further {
			_ = get(w, Remember{parentUnread(issue), times + 1})
			return nil, onGitHub(err)
		}
	}
	_ = get(w, Remember{parentUnread(issue), 0})
	if get(w, Remember{parentless(repo), 1}) == 0 {
		logger{w: w}.Warn("parents of issues may not be read: sub-issues get cards of their own", "repo", repo, "err", err)
	}
	return nil, nil
}

// parentless is the memory's name for a repository whose issues' parents may not be read.
// parentUnread counts the failed reads of one issue's parent.
func parentless(repo string) string { return "parents may not be read: " + repo }

func parentUnread(issue string) string { return "parent not read: " + issue }

// bring waits for an ancestor that no link knows, where it will enter with a card that can have
// this issue as a task. It returns nil where the ancestor will not, as where its card is in another
// project. Its event may come after that of its sub-issue. No event comes for an issue that was
// opened while its repository was public, so it enters here. A stranger's issue waits until a
// person admits it.
func (w parents) bring(parent *mapping.Issue) error {
	r, _ := w.set.Routes.Entering(parent, mapping.Entrance{Scheme: w.set.Scheme, Own: entrant(w).bridgeMade(parent), FirstRuns: w})
	if r == nil || r.Project != w.link.Project || r.Tasks != mapping.TasksSubIssues {
		return nil
	}
	if taken, err := exclusivity(w).isTaken(mapping.IssueRef(parent.ID)); taken || err != nil {
		return err
	}
	if parent.Repo == w.issue.Repo && !r.Quarantines(parent, true) {
		link := r.EnterIssue(parent, w.Now().UTC())
		link.ID, link.Nonce = mapping.LinkID(w.draw()), w.newNonce(r.Project)
		if err := entrant(w).handOverIssue(parent, r.Project, store.Observation{Refs: link.Refs(), Create: link}); err != nil {
			return err
		}
	}
	return w.awaitParent(parent)
}

// awaitParent puts the issue off until its parent has a card; nil: it has waited long enough.
func (w parents) awaitParent(parent *mapping.Issue) error {
	age := w.since(w.pair.Created)
	if age > parentFor {
		return nil
	}
	return inTurn(min(max(parentWait, age/8), parentMost), "its parent %s is to get a card first", issueName(parent.Repo, parent.Number))
}

// toLink hands the issue to a link that has a card. It waits for a link that may still get
// one.
func (w parents) toLink(link *mapping.Link, parent *mapping.Issue) (bool, error) {
	route := w.set.Routes.ByName(link.Route)
	switch {
	case route == nil || route.Tasks != mapping.TasksSubIssues || route.Direction == mapping.ToGitHub:
		return false, nil
	case link.State == mapping.Entering || link.State == mapping.Creating:
		return false, w.awaitParent(parent)
	case link.State != mapping.Linked && link.State != mapping.Left:
		return false, nil
	}
	issue := *w.issue
	issue.Imported = w.link.Import == mapping.ImportAll
	if err := entrant(w).handOverIssue(&issue, w.link.Project, store.Observation{Refs: []mapping.Ref{mapping.IssueRef(parent.ID)}, Delay: siblings}); err != nil {
		return false, fmt.Errorf("hand over to %s: %w", where(&link.Pair), err)
	}
	return true, entrant(w).decline("it is a sub-issue of " + issueName(parent.Repo, parent.Number) + " and becomes a task")
}
