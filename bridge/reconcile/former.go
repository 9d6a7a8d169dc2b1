package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// maxFormers bounds the links that are compared with an issue, each at the cost of a read.
const maxFormers = 20

// clockSkew is how far GitHub's clock may differ from ours.
const clockSkew = 10 * time.Minute

// indexWait is when an issue is handled again that met a store which is being indexed.
const indexWait = 10 * time.Second

// predecessor is a pair whose issue may have become another one, with the key of its link.
type predecessor struct {
	key  store.Key
	pair *mapping.Pair
}

// handToPredecessor finds out, before an unknown issue enters, whether it is the transferred
// issue of another link. Then that link takes it over. An issue whose opening an event
// reported was no other issue before. A transfer keeps the author, and the title or the time
// of creation.
func (w entrant) handToPredecessor() error {
	if w.opened {
		return nil
	}
	before, err := w.predecessors()
	if err != nil {
		return err
	}
	if len(before) > 0 && !w.fresh {
		if err := reader(w).readIssue(); err != nil { // the issue of a late event may have moved on
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

// predecessors returns the pairs whose issues may have become this one. Pairs with the same
// time of creation come first.
func (w entrant) predecessors() ([]predecessor, error) {
	var born, others []predecessor
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
			switch {
			case !w.mayHaveBeen(pair):
			case w.bornWith(pair):
				born = append(born, predecessor{key, pair})
			default:
				others = append(others, predecessor{key, pair})
			}
		}
	}
	found := slices.Concat(born, others)
	return found[:min(len(found), maxFormers)], nil
}

// bornWith reports whether a pair's issue was created at the same time as this one.
func (w entrant) bornWith(pair *mapping.Pair) bool {
	return pair.Issue.Born.Equal(w.issue.CreatedAt) && !pair.Issue.Born.IsZero()
}

// isTitled reports whether a pair's issue had the title of this one.
func (w entrant) isTitled(pair *mapping.Pair) bool {
	return mapping.CanonicalTitle(pair.Base[mapping.Title].GitHub) == mapping.CanonicalTitle(w.issue.Title)
}

// mayHaveBeen reports whether a pair's issue can have become this one.
//
// A transfer is an update of the issue, and leads to another repository; the way back takes two
// updates. A pair that was made after this issue's last update had its own issue by then. So had a
// pair that was made after this issue was first seen. A time of creation that the transfer did not
// keep is that of the transfer, and the pair is older. So the issues that somebody opens in one
// second are not compared with each other, as long as nobody updates them.
func (w entrant) mayHaveBeen(pair *mapping.Pair) bool {
	own, issue := &pair.Issue, w.issue
	switch {
	case own.Author != issue.Author:
		return false
	case own.ID == issue.ID:
		return true
	case !pair.Created.Before(w.pair.Created), pair.Created.After(issue.UpdatedAt.Add(clockSkew)):
		return false
	case w.bornWith(pair):
		return own.Repo != issue.Repo || issue.UpdatedAt.After(issue.CreatedAt)
	case !w.isTitled(pair):
		return false
	}
	return own.Born.IsZero() || !issue.CreatedAt.Before(pair.Created.Add(-clockSkew))
}

// isPredecessor reports whether a pair's issue has become this one. That holds where the pair
// has this issue already, or its place redirects here. It also holds where nothing is left at
// its place, and author, title and time of creation are the same, which no two issues share.
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
		return w.isTitled(pair) && pair.Issue.Author == w.issue.Author && w.bornWith(pair), nil
	}
	if err != nil && !unreachable(err) {
		return false, onGitHub(err)
	}
	return false, nil
}

// handOver reports to another link that its issue has become this one, and ends this link.
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

// A person may remove the marker, or move the text with it elsewhere, between a create and the
// moment when the link records its item. The former text then identifies the bridge's item. An item
// that another link has taken meanwhile stays there.

// madeWith is the text that identifies an issue as the bridge's. It is the body, or an earlier body
// with a marker that a person removed, as an event or GitHub's history reports it. It is "" for an
// issue that may be ours and has no marker.
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
		return "" // anybody's, and unchanged since it was opened, by whole seconds
	}
	edits, err := do(w, ReadEdits{mapping.NameIssue(i), mapping.Summary})
	if err != nil { // some GitHub servers do not tell
		w.log.Debug("earlier bodies are not told", "issue", issueName(i.Repo, i.Number), "err", err)
	}
	for _, e := range edits {
		if e.BodyFrom != nil && w.set.Keys.Marked(*e.BodyFrom) {
			return *e.BodyFrom
		}
	}
	return ""
}

// returnToCreator hands an issue that is about to enter to the link that waits for it. The bridge
// made it for that link, and a person removed its marker. It reports whether there is such a link.
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

// handOverWithEvents hands an issue and its events over to the link that has ref in a project.
func (w entrant) handOverWithEvents(project mapping.ObjectID, ref mapping.Ref) error {
	var told []store.Observation
	for _, event := range w.claim.Events {
		if !w.pair.IsTask() { // a part's events are among its root's
			told = append(told, store.Observation{Refs: []mapping.Ref{ref}, Event: event})
		}
	}
	if err := w.handOverIssue(w.issue, project, store.Observation{Refs: []mapping.Ref{ref}}, told...); err != nil {
		return fmt.Errorf("hand over to %s: %w", ref, err)
	}
	return nil
}
