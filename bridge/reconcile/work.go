package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
	"planbridge/store"
)

// logger names the link, and the delivery that led to this work where one did.
func (w *work) logger() logger { return logger{w, about(w.link, w.owner, w.delivery)} }

// about is what the lines about a link are logged with.
func about(l *mapping.Link, p *mapping.Pair, delivery string) []any {
	of := []any{"link", l.ID, "item", where(p), "route", l.Route}
	if delivery != "" {
		of = append(of, "delivery", delivery)
	}
	return of
}

// newestDelivery is the webhook delivery that showed the issue last.
func newestDelivery(claim *store.Claim, p *mapping.Pair) string {
	var seen mapping.Issue
	if found, _, err := slot(claim, mapping.IssueRef(p.Issue.ID), &seen); err != nil || !found {
		return ""
	}
	return seen.Delivery
}

// run works the key by the state its link is in. Its error names the link once.
func (w *work) run() error {
	name := where(w.owner)
	err := w.settle()
	if err != nil {
		err = w.readdress(err)
	}
	if copied := w.enterCopies(); copied != nil {
		err = worst([]error{err, copied})
	}
	err = w.keepPrivate(w.withFamily(err))
	w.confirmLater()
	if broken := w.brokenBy(); broken != nil && !lostLease(err) {
		err = broken
	}
	if err != nil && !errors.Is(err, errGone) {
		return fmt.Errorf("reconcile %s: %w", name, err)
	}
	return nil
}

// slot decodes an inbox slot into v and reports whether there is one, and
// whether it is ambiguous.
func slot[T any](claim *store.Claim, ref mapping.Ref, v *T) (found, ambiguous bool, err error) {
	s, ok := claim.Inbox[ref]
	if !ok {
		return false, false, nil
	}
	if err := json.Unmarshal(s.Data, v); err != nil {
		return false, false, fmt.Errorf("stored snapshot of %s: %w", ref, err)
	}
	return true, s.Ambiguous, nil
}

// eachSeen visits what the inbox shows of items of a kind.
func eachSeen[T any](w *work, kind string, visit func(v T, ambiguous bool) error) error {
	for ref := range mapping.Sorted(w.claim.Inbox) {
		if ref.Kind() != kind {
			continue
		}
		var v T
		_, ambiguous, err := slot(w.claim, ref, &v)
		if err == nil {
			err = visit(v, ambiguous)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// see takes in what was seen of both sides since the last time, and reads the
// items where that does not tell.
func (w *work) see() error {
	if err := w.seeIssue(); err != nil {
		return err
	}
	if w.pair.IsTask() {
		return w.seeTask()
	}
	if err := w.seeCard(); err != nil {
		return err
	}
	return w.seeTasks()
}

func (w *work) seeIssue() error {
	var seen mapping.Issue
	found, ambiguous, err := slot(w.claim, mapping.IssueRef(w.owner.Issue.ID), &seen)
	if err != nil {
		return err
	}
	known := w.owner.Issue
	own := found && w.Whose(seen.Editor).Perhaps()
	if found && w.Whose(seen.Editor).Ours() {
		w.count(CountEchoes, string(mapping.GitHub))
	}
	switch {
	case found && !w.stands(&seen) || w.looked || w.unbased() || w.pair.Gone[mapping.GitHub] > 0 && (found || w.pair.State != mapping.Orphaned || w.confirms()):
		w.beginReads()
		return w.readIssue()
	case found && w.cameTooLate(&seen):
		w.beginReads()
		return w.readIssue()
	case !found || seen.UpdatedAt.Before(known.UpdatedAt) || !ambiguous && w.isStep(&seen, w.Now()):
		return nil // nothing new, or a late delivery of what is known already
	case ambiguous || seen.UpdatedAt.Equal(known.UpdatedAt) && mapping.DigestIssue(&seen) != known.Digest:
		w.beginReads()
		return w.readIssue()
	case seen.UpdatedAt.Equal(known.UpdatedAt):
		return nil
	}
	w.setIssue(&seen)
	if own && w.changed() || w.labelsMoving() || w.takesBack(&seen) {
		return w.readIssue()
	}
	return nil
}

// changed reports whether GitHub's view differs from the base. In an event of
// our own account that is the state between two of our writes, or a late one,
// and not a person's edit.
func (w *work) changed() bool {
	for a, v := range w.g {
		if base, ok := w.pair.Base[a]; ok && !mapping.Same(a, v.Value, base.GitHub) {
			return true
		}
	}
	return false
}

// labelsMoving reports that an estimate label is missing or doubled: one half
// of an exchange that GitHub tells in two events.
func (w *work) labelsMoving() bool {
	return len(w.extra) > 0 || slices.ContainsFunc(mapping.Attributes, func(a mapping.Attribute) bool {
		return a.Spec().Carrier == mapping.CarrierLabels && w.g[a].Value == "" && w.pair.Base[a].GitHub != ""
	})
}

// bridgeMade reports whether the bridge made an issue.
func (w *work) bridgeMade(issue *mapping.Issue) bool {
	return w.set.Keys.Made(issue, w.Whose(issue.Author))
}

// setIssue makes a snapshot the one that counts. The link takes it as known
// only when all it shows has been dealt with (remember).
func (w *work) setIssue(issue *mapping.Issue) {
	if w.issue = issue; !w.pair.HasIssue() {
		w.root.setIssue(issue) // the pair has a line of its body, and nothing else of it
		return
	}
	w.g, w.extra = w.route.IssueView(issue, w.set.Scheme, w.set.Keys, w.pair.Base)
	if !w.route.TrackingTask && !w.pair.IsTask() {
		w.g.Untrack()
	}
	w.marked(mapping.GitHub, issue.Body)
	i := &w.owner.Issue
	i.ID, i.NodeID, i.Repo, i.RepoID, i.Number, i.Author, i.Born = issue.ID, issue.NodeID, issue.Repo, issue.RepoID, issue.Number, issue.Author, issue.CreatedAt
}

// know takes a snapshot as known: what is older is stale from now on.
func (w *work) know(issue *mapping.Issue) {
	w.owner.Issue.UpdatedAt, w.owner.Issue.Digest = issue.UpdatedAt, mapping.DigestIssue(issue)
	if w.pair.HasIssue() && w.showsAgreed() {
		w.owner.Issue.Agreed = issue.UpdatedAt
	}
}

// showsAgreed reports whether GitHub's view shows nothing but what both sides agreed on.
func (w *work) showsAgreed() bool {
	for a, v := range w.g {
		if base, ok := w.pair.Base[a]; !ok || !mapping.Same(a, v.Value, base.GitHub) {
			return false
		}
	}
	return true
}

// newest is the time of the newest snapshot of the issue that is known.
func (w *work) newest() time.Time {
	at := w.owner.Issue.UpdatedAt
	if w.rewound {
		at = time.Time{}
	} else if s, ok := w.claim.Inbox[mapping.IssueRef(w.owner.Issue.ID)]; ok && time.Unix(s.At, 0).After(at) {
		at = time.Unix(s.At, 0)
	}
	if w.issue != nil && w.issue.UpdatedAt.After(at) {
		at = w.issue.UpdatedAt
	}
	return at
}

// unbased reports whether an attribute has never been agreed on, so that both
// sides have to be read in full.
func (w *work) unbased() bool {
	for _, a := range mapping.Attributes {
		if _, ok := w.pair.Base[a]; ok || a.Spec().Tracked {
			continue
		}
		if _, refused := w.pair.Refused[a]; !refused {
			return true
		}
	}
	return false
}

// readIssue reads the issue itself. A read older than what is known is stale:
// GitHub's replicas lag.
func (w *work) readIssue() error {
	switch {
	case w.owner.Issue.Number == 0:
		return nil
	case !w.pair.HasIssue():
		fresh := w.root.fresh
		err := w.root.readIssue()
		w.issue, w.fresh, w.root.fresh = w.root.issue, w.root.fresh, fresh
		return err
	}
	issue, err := do(w, ReadIssue{w.owner.Issue.Repo, w.owner.Issue.Number})
	if err == nil {
		err = another(&w.owner.Issue, &issue)
	}
	if err != nil {
		return w.missing(mapping.GitHub, err)
	}
	if err := w.readsBehind(&issue); err != nil {
		return err
	}
	if w.takesBack(&issue) {
		return w.errLags()
	}
	w.found(mapping.GitHub)
	var seen mapping.Issue
	if found, _, err := slot(w.claim, mapping.IssueRef(w.owner.Issue.ID), &seen); err == nil && found && seen.UpdatedAt.Equal(issue.UpdatedAt) {
		if w.doubtful(&issue, &seen) {
			return w.lags("GitHub's read shows nothing of an edit of the same second: it may lag")
		}
		issue.Editor = seen.Editor // a read does not say who edited, the event did
	}
	w.setIssue(&issue)
	w.fresh = true
	return nil
}

func (w *work) seeCard() error {
	var seen mapping.Card
	found, ambiguous, err := slot(w.claim, mapping.CardRef(w.pair.Card.ID), &seen)
	if err != nil {
		return err
	}
	if w.looked || w.unbased() || ambiguous || w.pair.Gone[mapping.Planning] > 0 && (found || w.pair.State != mapping.Orphaned || w.confirms()) {
		return w.readCard()
	}
	if !found {
		return nil
	}
	if seen.Version < w.pair.Card.Version { // a poll that overlapped a write, or planning was restored
		return w.readCard()
	}
	if mapping.Suspicious(w.pair.Base, mapping.CardView(&seen, w.set.Keys)) {
		return w.readCard()
	}
	w.setCard(&seen)
	if w.echoed() {
		w.count(CountEchoes, string(mapping.Planning))
	}
	return nil
}

// echoed reports whether planning's view is what was agreed on: what the poll
// saw was a write of ours.
func (w *work) echoed() bool {
	for a, v := range w.p {
		if base, ok := w.pair.Base[a]; ok && !mapping.Same(a, v.Value, base.Planning) {
			return false
		}
	}
	return true
}

// setCard makes a snapshot the one that counts.
func (w *work) setCard(card *mapping.Card) {
	if w.card = card; !w.pair.IsTask() {
		tell(w, Met{w.link.Project, card.ID})
	}
	w.pair.Card.Place(card)
	if w.link.Shown != nil && !w.pair.IsTask() {
		w.link.Shown.Take(card)
	}
	w.marked(mapping.Planning, card.Summary.Value)
	for a, v := range mapping.CardView(card, w.set.Keys) {
		w.p[a] = v
	}
}

func (w *work) readCard() error {
	if w.pair.Card.ID == "" {
		return nil
	}
	if w.pair.IsTask() {
		return w.readTask()
	}
	card, err := do(w, ReadCard{w.pair.Card.ID})
	if err != nil {
		return w.missing(mapping.Planning, err)
	}
	w.found(mapping.Planning)
	var seen mapping.Card
	if found, _, err := slot(w.claim, mapping.CardRef(w.pair.Card.ID), &seen); err == nil && found {
		card.Complete(&seen) // the poll tells it once
	}
	w.wentBack(card.Version, card.CountersVersion)
	w.setCard(&card)
	return nil
}

// remember takes what was seen as known, once the sides agree.
func (w *work) remember() {
	w.owner.Unfinished, w.owner.BehindSince = false, time.Time{}
	journal.Agree(&w.pair.Journal)
	if w.issue != nil {
		w.know(w.issue)
		w.knowBody()
	}
	if w.card == nil {
		return
	}
	c := &w.pair.Card
	c.CID, c.Version, c.CountersVersion = w.card.CID, max(c.Version, w.card.Version), max(c.CountersVersion, w.counters)
}

// save stores the link under the lease; ErrLeaseLost when that ended. Another key
// may have the seat meanwhile.
func (w *work) save() error {
	if err := w.brokenBy(); err != nil {
		return err
	}
	if !w.fresh { // what people write on GitHub between our read and our write is run over
		tell(w, Rise{})
	}
	if err := w.saveRecord(); err != nil {
		return fmt.Errorf("save link: %w", err)
	}
	return nil
}

// writing saves the link (which checks the lease), and makes sure that one external write
// may be made.
func (w *work) writing() error {
	if err := w.save(); err != nil {
		return err
	}
	if err := done(w, BeginWrite{}); err != nil {
		return later(0, "%v", err)
	}
	return nil
}

// rise lets another key have the slot at the services, once planning has answered: to take
// the answer in and to store it needs none. Only between a read of GitHub and the write that
// follows the slot is kept.
func (w *work) rise() {
	if !w.fresh {
		tell(w, Rise{})
	}
}

// note adds a line to the link's history and to the log.
func (w *work) note(side mapping.Side, a mapping.Attribute, what, why string) {
	part := string(w.pair.Kind)
	if w.pair.Kind == mapping.SubIssue {
		part = where(w.pair)
	}
	w.notePart(part, side, a, what, why)
}

// notePart is note for a part of the pair; "": the pair itself.
func (w *work) notePart(part string, side mapping.Side, a mapping.Attribute, what, why string) {
	e := mapping.Entry{At: w.Now().UTC(), Side: side, Attribute: a, What: what, Why: why, Delivery: w.delivery, Part: part}
	if what == "write" || what == "create" {
		if took, known := w.took(); known {
			e.Took = took.Seconds()
		}
		if side == mapping.Planning {
			e.Who = w.person(what == "create")
		}
	}
	w.history = append(w.history, e)
	w.log.Info(what, "side", string(side), "attribute", string(a), "why", why)
}

// username is in whose name planning is written: the person who edited the
// issue, or made it, where the user table knows them, else the route's. A read
// does not say who edited.
func (w *work) username() string {
	if w.issue == nil {
		return w.route.Username
	}
	who := w.issue.Editor
	if who == "" && w.pair.State == mapping.Creating {
		who = w.issue.Author
	}
	if user, ok := w.set.Users[strings.ToLower(who)]; ok && who != "" && !w.Stranger(who) {
		return user
	}
	return w.route.Username
}

// person is the login of who made the change that is written to planning, or opened the
// issue; "" where nobody said, and where it was the bridge.
func (w *work) person(opened bool) string {
	if w.issue == nil {
		return ""
	}
	who := w.issue.Editor
	if opened {
		who = w.issue.Author
	}
	if who == "" || w.Whose(who).Perhaps() {
		return ""
	}
	return who
}

func issueName(repo string, number int) string { return repo + "#" + strconv.Itoa(number) }

// issueURL is the address of the issue's page: the one that GitHub tells, else where
// it would be.
func (w *work) issueURL() string {
	if i := w.issue; i != nil && i.Number == w.owner.Issue.Number && i.Page != "" {
		return i.Page
	}
	return w.set.WebURL + "/" + w.owner.Issue.Repo + "/issues/" + strconv.Itoa(w.owner.Issue.Number)
}
