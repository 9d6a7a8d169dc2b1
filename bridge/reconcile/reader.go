package reconcile

import (
	"cmp"
	"errors"
	"maps"
	"strings"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// refresh takes in the snapshots of both sides since the last claim, and reads the items where
// the snapshots do not decide. Where the issue is gone and its sub-issues go on, the tasks of the
// card are taken in before errGone is returned.
func (w reader) refresh() error {
	gone := w.refreshIssue()
	if gone != nil && (!errors.Is(gone, errGone) || !w.link.OutlivesIssue()) {
		return gone
	}
	if err := w.refreshCard(); err != nil || w.pair.IsTask() {
		return cmp.Or(err, gone)
	}
	return cmp.Or(cardTasks(w).refreshTasks(), gone)
}

func (w reader) refreshIssue() error {
	shown, known := w.issueSeen(), w.owner.Issue
	found := shown != nil
	ambiguous := w.claim.Inbox[mapping.IssueRef(known.ID)].Ambiguous
	own := found && w.Authorship(shown.Editor).Perhaps()
	if found && w.Authorship(shown.Editor).Ours() {
		w.count(CountEchoes, string(mapping.GitHub))
	}
	switch {
	case found && !w.namesPlace(shown) || w.mustRead || w.unbased() || w.pair.Gone[mapping.GitHub] > 0 && (found || w.pair.State != mapping.Orphaned || absences(w).confirms()),
		found && freshness(w).cameTooLate(shown):
		freshness(w).beginReads()
		return w.readIssue()
	case !found || w.wasRead() || shown.UpdatedAt.Before(known.UpdatedAt) || w.issue != nil && shown.UpdatedAt.Before(w.issue.UpdatedAt) ||
		!ambiguous && freshness(w).isStep(shown, w.Now()):
		return nil // nothing new, a late delivery of a known state, or read already
	case ambiguous || shown.UpdatedAt.Equal(known.UpdatedAt) && mapping.DigestIssue(shown) != known.Digest:
		freshness(w).beginReads()
		return w.readIssue()
	case shown.UpdatedAt.Equal(known.UpdatedAt):
		return nil
	}
	w.setIssue(shown)
	// An event of our own account that differs shows the state between two of our writes, or a
	// late one. It is no edit of a person.
	if own && differs(w.g, w.pair.Base, mapping.GitHub) || freshness(w).labelsMoving() || freshness(w).takesBack(shown) {
		return w.readIssue()
	}
	return nil
}

// refreshCard takes in the snapshot of the pair's card or task, and reads it where the
// snapshot does not decide.
func (w reader) refreshCard() error {
	shown, listed := w.cardSeen(), false
	if w.pair.IsTask() {
		shown, listed = w.taskSeen(), w.root.tasks.listed
	}
	slot, told := w.claim.Inbox[w.pair.Partner()]
	gone := w.pair.Gone[mapping.Planning] > 0 && (shown != nil || w.pair.State != mapping.Orphaned || absences(w).confirms())
	switch {
	case listed && shown != nil:
		absences(w).noteFound(mapping.Planning)
	case w.mustRead || listed || w.unbased() || slot.Ambiguous || gone:
		return w.readCard()
	case shown == nil || shown.Version < w.pair.Card.Version && !told:
		return nil
	case shown.Version < w.pair.Card.Version, // a poll that overlapped a write, or planning was restored
		mapping.Suspicious(w.pair.Base, w.planningView(shown)):
		return w.readCard()
	}
	w.setCard(shown)
	if told && !differs(w.p, w.pair.Base, mapping.Planning) {
		w.count(CountEchoes, string(mapping.Planning))
	}
	return nil
}

// readIssue reads the issue itself. A read older than the known snapshot is stale: GitHub's
// replicas lag.
func (w reader) readIssue() error {
	switch {
	case w.owner.Issue.Number == 0:
		return nil
	case !w.pair.HasIssue():
		fresh := w.root.fresh
		err := reader{w.root}.readIssue()
		w.issue, w.fresh, w.root.fresh = w.root.issue, w.root.fresh, fresh
		return err
	}
	issue, err := do(w, ReadIssue{w.owner.Issue.Repo, w.owner.Issue.Number})
	if err == nil {
		err = differentIssue(&w.owner.Issue, &issue)
	}
	if err != nil {
		return absences(w).missing(mapping.GitHub, err)
	}
	if err := freshness(w).readsBehind(&issue); err != nil {
		return err
	}
	if freshness(w).takesBack(&issue) {
		return freshness(w).deferStale()
	}
	absences(w).noteFound(mapping.GitHub)
	if shown := w.issueSeen(); shown != nil && shown.UpdatedAt.Equal(issue.UpdatedAt) {
		if freshness(w).doubtful(&issue, shown) {
			return freshness(w).deferLagging(staleWait, "GitHub's read shows nothing of an edit of the same second: it may lag")
		}
		issue.Editor = shown.Editor // a read does not say who edited, the event did
	}
	w.setIssue(&issue)
	w.fresh = true
	return nil
}

// readCard reads the pair's card or task itself.
func (w reader) readCard() error {
	if w.pair.Card.ID == "" {
		return nil
	}
	card, err := w.askPlanning(w.pair.Partner())
	if err != nil {
		return absences(w).missing(mapping.Planning, err)
	}
	absences(w).noteFound(mapping.Planning)
	if shown := w.cardSeen(); shown != nil {
		card.Complete(shown) // the poll tells it once
	}
	freshness(w).wentBack(card.Version, card.CountersVersion)
	w.setCard(card)
	return nil
}

// askPlanning reads a card, or a task in the form of a card.
func (w reader) askPlanning(item mapping.Ref) (*mapping.Card, error) {
	id := mapping.ObjectID(item.ID())
	if item.Kind() == "task" {
		t, err := do(w, ReadTask{id})
		return t.AsCard(), err
	}
	card, err := do(w, ReadCard{id})
	return &card, err
}

// readBoth makes sure that both items were read under this claim.
func (w reader) readBoth() error {
	if err := w.fetch(); err != nil {
		return err
	}
	return w.readPlanning()
}

// readPlanning reads the pair's item in planning, and its tracking task.
func (w reader) readPlanning() error {
	w.certain = true
	if err := w.readCard(); err != nil {
		return err
	}
	return cardTasks(w).readTracking()
}

// fetch reads the issue, unless it was read under this claim.
func (w reader) fetch() error {
	if w.fresh {
		return nil
	}
	return w.readIssue()
}

// haveIssue reads the issue where the claim brought no snapshot of it.
func (w reader) haveIssue() error {
	if w.issue == nil {
		return w.readIssue()
	}
	return nil
}

// needIssue makes sure that the issue is known: by its snapshot, else by a read.
func (w reader) needIssue() error {
	if w.issue != nil {
		return nil
	}
	return w.takeIssue(false)
}

// takeIssue takes the issue's snapshot, or reads the issue where the snapshot does not decide.
// anew: it is read in any case.
func (w reader) takeIssue(anew bool) error {
	shown := unambiguous[mapping.Issue](w.claimState, mapping.IssueRef(w.owner.Issue.ID))
	if shown == nil || anew {
		return w.readIssue()
	}
	w.setIssue(shown)
	return nil
}

func (w reader) needCard() error {
	if w.card != nil {
		return nil
	}
	if w.pair.IsTask() {
		if seen := w.taskSeen(); seen != nil {
			w.setCard(seen)
			return nil
		}
	}
	return w.takeCard(false)
}

// takeCard is takeIssue for the card.
func (w reader) takeCard(anew bool) error {
	shown := unambiguous[mapping.Card](w.claimState, mapping.CardRef(w.pair.Card.ID))
	if shown == nil || anew {
		return w.readCard()
	}
	w.setCard(shown)
	return nil
}

// setIssue makes an issue the current one. The link records it as known only once everything
// in it has been handled (rememberAgreed).
func (w reader) setIssue(issue *mapping.Issue) {
	if w.issue = issue; !w.pair.HasIssue() {
		reader{w.root}.setIssue(issue) // the pair has only a line of its body
		return
	}
	w.g, w.extra = w.route.IssueView(issue, w.set.Scheme, w.set.Keys, w.pair.Older())
	if !w.route.TrackingTask && !w.pair.IsTask() {
		w.g.Untrack()
	}
	signer(w).noteMarker(mapping.GitHub, issue.Body)
	i := &w.owner.Issue
	i.ID, i.NodeID, i.Repo, i.RepoID, i.Number, i.Author, i.Born = issue.ID, issue.NodeID, issue.Repo, issue.RepoID, issue.Number, issue.Author, issue.CreatedAt
}

// setCard makes a card, or a task in the form of a card, the current one.
func (w reader) setCard(card *mapping.Card) {
	if w.card = card; !w.pair.IsTask() {
		send(w, Met{w.link.Project, card.ID})
	}
	w.recordPlace(card)
	signer(w).noteMarker(mapping.Planning, card.Summary.Value)
	maps.Copy(w.p, w.planningView(card))
}

// recordPlace records where a card or a task is, and the projected part of a card.
func (w reader) recordPlace(card *mapping.Card) {
	w.pair.Card.Place(card)
	if w.link.Shown != nil && !w.pair.IsTask() {
		w.link.Shown.Take(card)
	}
}

// keepPlace records where the card of a pair without work is. A poll reports a card's bucket once,
// and no read does.
func (w reader) keepPlace() {
	if shown := w.cardSeen(); shown != nil && shown.Version >= w.pair.Card.Version {
		w.recordPlace(shown)
	}
}

// issueIs takes in the issue after a write.
func (w reader) issueIs(issue *mapping.Issue) {
	w.owner.Unfinished = true
	w.setIssue(issue)
	w.takeAsKnown(issue)
}

// takeAsKnown records an issue as known. Older snapshots are stale from now on.
func (w reader) takeAsKnown(issue *mapping.Issue) {
	w.owner.Issue.UpdatedAt, w.owner.Issue.Digest = issue.UpdatedAt, mapping.DigestIssue(issue)
	if w.pair.HasIssue() && freshness(w).showsAgreed() {
		w.owner.Issue.Agreed = issue.UpdatedAt
	}
}

// rememberAgreed records both items as known, once the sides agree.
func (w reader) rememberAgreed() {
	w.owner.Unfinished, w.owner.BehindSince = false, time.Time{}
	journal.DropVerified(&w.pair.Journal)
	if w.issue != nil {
		w.takeAsKnown(w.issue)
		if w.fresh && !freshness(w).recent(w.claim.Inbox[mapping.IssueRef(w.owner.Issue.ID)]) {
			w.owner.ReadFor = w.seenAs()
		}
		bodyEditor(w).knowBody()
	}
	if w.card == nil {
		return
	}
	c := &w.pair.Card
	c.CID, c.Version, c.CountersVersion = w.card.CID, max(c.Version, w.card.Version), max(c.CountersVersion, w.counters)
}

// namesPlace reports whether a snapshot has the issue's repository as the link knows it. A new
// name is taken over where the link's route has it. Otherwise it may be an old name in a late
// delivery, and a read decides.
func (w reader) namesPlace(seen *mapping.Issue) bool {
	if strings.EqualFold(seen.Repo, w.owner.Issue.Repo) {
		return true
	}
	if !w.route.MatchesRepo(seen.Repo) {
		return false
	}
	w.owner.Issue.Repo = seen.Repo
	return true
}
