package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// maxFormers bounds the links that an issue may have belonged to, and of which GitHub is
// asked.
const maxFormers = 20

// clockSkew is how far GitHub's clock may differ from ours.
const clockSkew = 10 * time.Minute

// indexWait is when an issue is looked at again that met a store which is being indexed.
const indexWait = 10 * time.Second

// predecessor is a pair whose issue may have become another one, and its link's key.
type predecessor struct {
	key  store.Key
	pair *mapping.Pair
}

// handToPredecessor looks, before an unknown issue enters, whether it is what another
// link's issue has become; then that link takes it. An issue whose opening was
// told was nothing else before. A transfer without a word keeps the author, and the
// title or the time of creation.
func (w entrant) handToPredecessor() error {
	if w.opened {
		return nil
	}
	before, err := w.predecessors()
	if err != nil {
		return err
	}
	if len(before) > 0 && !w.fresh {
		if err := reader(w).readIssue(); err != nil { // what a late event shows may have moved on
			return err
		}
	}
	for _, p := range before {
		if !w.mayHaveBeen(p.pair) {
			continue
		}
		switch was, err := w.isPredecessor(p.pair); {
		case err != nil:
			return err
		case was:
			return w.handOver(p.key, p.pair)
		}
	}
	return nil
}

// predecessors returns the pairs whose issues may have become this one, those with its
// time of creation first.
func (w entrant) predecessors() ([]predecessor, error) {
	var found []predecessor
	traits := mapping.IssueTraits(w.issue.Author, w.issue.Title, w.issue.CreatedAt)
	keys, err := do(w, FindFormer{traits, maxFormers})
	if errors.Is(err, store.ErrNotIndexed) {
		return nil, later(indexWait, "what an earlier version stored is being indexed: %v", err)
	}
	if err != nil {
		return nil, fmt.Errorf("look for what the issue was: %w", err)
	}
	for _, key := range keys {
		link, err := exclusivity(w).readLink(key)
		if err != nil {
			return nil, err
		}
		if link == nil || link.Moving.HandsOver() {
			continue
		}
		for _, pair := range link.Pairs() {
			if w.mayHaveBeen(pair) {
				found = append(found, predecessor{key, pair})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b predecessor) int {
		return cmp.Compare(w.distance(a.pair), w.distance(b.pair))
	})
	return found[:min(len(found), maxFormers)], nil
}

// distance is 0 of a pair whose issue was created when this one was, else 1.
func (w entrant) distance(pair *mapping.Pair) int {
	if pair.Issue.Born.Equal(w.issue.CreatedAt) && !pair.Issue.Born.IsZero() {
		return 0
	}
	return 1
}

// mayHaveBeen reports whether the issue of a pair can have become this one. A pair that
// was made when this issue was already seen, or after its last update, as a transfer is
// one, had its own issue then. A time of creation that a transfer did not keep is the
// transfer's, before which the pair was. A transfer leads to another repository: one that comes
// back is two updates later. So of issues that somebody opens in one second none is read for
// any other, as long as nothing was done with them.
func (w entrant) mayHaveBeen(pair *mapping.Pair) bool {
	own, issue := &pair.Issue, w.issue
	switch {
	case own.Author != issue.Author:
		return false
	case own.ID == issue.ID:
		return true
	case !pair.Created.Before(w.pair.Created), pair.Created.After(issue.UpdatedAt.Add(clockSkew)):
		return false
	case w.distance(pair) == 0:
		return own.Repo != issue.Repo || issue.UpdatedAt.After(issue.CreatedAt)
	case mapping.CanonicalTitle(pair.Base[mapping.Title].GitHub) != mapping.CanonicalTitle(issue.Title):
		return false
	}
	return own.Born.IsZero() || !issue.CreatedAt.Before(pair.Created.Add(-clockSkew))
}

// isPredecessor reports whether the issue of another pair has become this one: that pair has
// it by now, its place redirects here, or nothing is there any more and what cannot
// be made twice is the same, author, title and time of creation.
func (w entrant) isPredecessor(pair *mapping.Pair) (bool, error) {
	if pair.Issue.ID == w.issue.ID {
		return true, nil
	}
	var moved *mapping.MovedError
	issue, err := do(w, ReadIssue{pair.Issue.Repo, pair.Issue.Number})
	if err == nil {
		err = differentIssue(&pair.Issue, &issue)
	}
	if errors.As(err, &moved) && moved.Issue != nil {
		return moved.Issue.ID == w.issue.ID, nil
	}
	if IsGone(err) {
		same := mapping.CanonicalTitle(pair.Base[mapping.Title].GitHub) == mapping.CanonicalTitle(w.issue.Title)
		return same && pair.Issue.Author == w.issue.Author && pair.Issue.Born.Equal(w.issue.CreatedAt) && !pair.Issue.Born.IsZero(), nil
	}
	if err != nil && !unreachable(err) {
		return false, onGitHub(err)
	}
	return false, nil
}

// handOver tells another link that this issue is what its own has become, and
// ends this one.
func (w entrant) handOver(key store.Key, to *mapping.Pair) error {
	edit := mapping.IssueEvent{Look: "transferred", Item: mapping.IssueRef(to.Issue.ID)}
	why := "another link has it"
	if to.Issue.ID != w.issue.ID {
		edit.Moved, why = mapping.NewMove(to.Issue.ID, w.issue), "it is "+where(to)+", transferred"
	}
	if err := w.deliver(key.Project, []store.Observation{{Refs: []mapping.Ref{mapping.IssueRef(to.Issue.ID)}, Event: store.Encode(edit)}}); err != nil {
		return fmt.Errorf("hand over to link %s: %w", key, err)
	}
	w.count(CountPrevented, "transfer")
	return w.decline(why)
}

// Between a create and the moment when its link has what was made, a person may
// take the marker off it, or move the text that holds it elsewhere. What the
// bridge made is then known by what the text was before, and what another link
// has meanwhile stays there.

// madeWith is the text of an issue by which the bridge knows what it made: the body,
// or the one that a person took the marker off, as an event or GitHub's memory tells
// it; "" where there is no marker of ours on an issue that may be ours.
func (w entrant) madeWith(i *mapping.Issue) string {
	if !w.Authorship(i.Author).Perhaps() {
		return ""
	}
	if w.set.Keys.Marked(i.Body) {
		return i.Body
	}
	for _, e := range w.edits {
		if e.Item == mapping.IssueRef(i.ID) && e.BodyFrom != nil && w.set.Keys.Marked(*e.BodyFrom) {
			return *e.BodyFrom
		}
	}
	if !w.Authorship(i.Author).Ours() && !i.UpdatedAt.After(i.CreatedAt) {
		return "" // anybody's, and as it was opened as far as whole seconds tell
	}
	edits, err := do(w, ReadEdits{mapping.NameIssue(i), mapping.Summary})
	if err != nil { // many a GitHub does not tell
		w.log.Debug("earlier bodies are not told", "issue", issueName(i.Repo, i.Number), "err", err)
	}
	for _, e := range edits {
		if e.BodyFrom != nil && w.set.Keys.Marked(*e.BodyFrom) {
			return *e.BodyFrom
		}
	}
	return ""
}

// returnToCreator gives an issue that is about to enter to the link that waits for it: the
// bridge made it for that, and a person took its marker off. It reports whether
// there is one.
func (w entrant) returnToCreator() (handed bool, err error) {
	if w.link.Import != "" {
		return false, nil
	}
	for _, m := range signer(w).marks(w.madeWith(w.issue), mapping.MarkIssue) {
		ref := mapping.CardRef(mapping.ObjectID(m.Partner))
		_, maker, err := exclusivity(w).linkOf(w.link.Project, ref)
		if err != nil {
			return false, err
		}
		if maker == nil || maker.State != mapping.Creating || maker.Issue.ID != 0 {
			continue
		}
		if err := w.handOverWithEvents(w.link.Project, ref); err != nil {
			return false, err
		}
		return true, w.decline("the bridge made it for " + string(ref))
	}
	return false, nil
}

// handOverWithEvents hands over what was seen of the issue, and what its events told, to the link
// that has ref in a project.
func (w entrant) handOverWithEvents(project mapping.ObjectID, ref mapping.Ref) error {
	var told []store.Observation
	for _, event := range w.claim.Events {
		if !w.pair.IsTask() { // a part's are among its root's
			told = append(told, store.Observation{Refs: []mapping.Ref{ref}, Event: event})
		}
	}
	if err := w.handOverIssue(w.issue, project, store.Observation{Refs: []mapping.Ref{ref}}, told...); err != nil {
		return fmt.Errorf("hand over to %s: %w", ref, err)
	}
	return nil
}
