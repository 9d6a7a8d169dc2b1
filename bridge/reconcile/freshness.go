package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
	"planbridge/store"
)

// staleWait is how long a lagging replica of GitHub gets to catch up.
const staleWait = 3 * time.Second

// doubtful reports whether a read may be older than a person's event of the same second. It differs
// from the event in a synchronised value, or shows the state before it. Whole seconds do not
// decide. After a while the read is believed.
func (w freshness) doubtful(read, seen *mapping.Issue) bool {
	if w.Authorship(seen.Editor).Ours() || !w.recent(w.claim.Inbox[mapping.IssueRef(read.ID)]) {
		return false
	}
	known := w.owner.Issue.Digest
	return mapping.DigestIssue(read) == known && mapping.DigestIssue(seen) != known || !maps.Equal(reader(w).viewOf(read), reader(w).viewOf(seen))
}

// recent reports whether an item changed, or was first seen since its last claim, so recently
// that a read of it may lag. Where GitHub's clock is far from ours, only the sight counts.
func (w freshness) recent(s store.Snapshot) bool {
	return journal.Recent(s.Seen, time.Unix(s.At, 0), w.Now())
}

// takesBack reports whether a snapshot may be older than a recent write of ours. A label that lost
// against one that is held is not agreed on any more.
func (w freshness) takesBack(issue *mapping.Issue) bool {
	book := w.book()
	book.Base = w.pair.Older()
	return book.TakesBack(reader(w).viewOf(issue), issue.UpdatedAt)
}

// wrote records the value before a write of ours to the issue, and its answer where that says
// when the write took effect.
func (w freshness) wrote(a mapping.Attribute, from string, at time.Time, answer *mapping.Issue) {
	made := journal.WroteFrom(a, from, at)
	if answer != nil {
		made.UpdatedAt, made.To = answer.UpdatedAt, mapping.DigestValue(a, reader(w).viewOf(answer)[a].Value)
	}
	journal.Wrote(&w.pair.Journal, made, w.Now())
}

// deferStale puts a key off until a read can no longer lag.
func (w freshness) deferStale() error {
	return w.deferLagging(staleWait, "GitHub's read shows what stood there before a write of ours: it may lag")
}

// deferLagging puts a key off whose read may lag. Edits that come meanwhile do not cause
// another read before they can appear in it.
func (w freshness) deferLagging(wait time.Duration, why string, args ...any) error {
	w.pair.Pace.PutOff(w.Now().UTC().Add(lagPause))
	return later(wait, why, args...)
}

// beginReads records that the issue is read because its snapshot does not decide.
func (w freshness) beginReads() {
	if w.set.Coalesce > 0 {
		w.pair.Pace.Begin(reading, w.Now().UTC(), w.set.Coalesce)
	}
}

// differs reports whether a view of a side differs from the base.
func differs(view mapping.View, agreed map[mapping.Attribute]mapping.Base, side mapping.Side) bool {
	for a, v := range view {
		if base, ok := agreed[a]; ok && !mapping.Same(a, v.Value, *sideValue(side, &base)) {
			return true
		}
	}
	return false
}

// labelsMoving reports whether an estimate label is missing or doubled. That is half of an
// exchange, which GitHub reports in two events.
func (w freshness) labelsMoving() bool {
	return len(w.extra) > 0 || slices.ContainsFunc(mapping.Attributes, func(a mapping.Attribute) bool {
		return a.Spec().Carrier == mapping.CarrierLabels && w.g[a].Value == "" && w.pair.Base[a].GitHub != ""
	})
}

// showsAgreed reports whether GitHub's view equals the base.
func (w freshness) showsAgreed() bool {
	for a, v := range w.g {
		if base, ok := w.pair.Base[a]; !ok || !mapping.Same(a, v.Value, base.GitHub) {
			return false
		}
	}
	return true
}

// showsOwnEvent reports whether the newest snapshot of the issue is an event of our own
// account. It may come from between two of our writes, so that nothing follows from it without
// a read.
func (w freshness) showsOwnEvent() bool {
	return w.issue != nil && !w.fresh && w.Authorship(w.issue.Editor).Perhaps()
}

// A service that was restored from a backup shows times and versions below the known ones.
// Usually such values are merely late: GitHub's replicas lag, deliveries overtake each other,
// and polls overlap our writes. A read of the item separates the two cases; on GitHub it must
// also stay behind for longer than anything lags.

// readsBehind handles a read of the issue. An error puts the key off, where the read is older
// than the known snapshot and may lag. A read that stays behind for longer than GitHub lags is
// believed.
func (w freshness) readsBehind(issue *mapping.Issue) error {
	l := w.link
	if !issue.UpdatedAt.Before(w.newest()) {
		if !w.rewound {
			l.BehindSince = time.Time{}
		}
		return nil
	}
	if l.BehindSince.IsZero() {
		l.BehindSince = w.Now().UTC()
	}
	age := w.since(l.BehindSince)
	if wait, believed := journal.Behind(age, w.set.Settle.GitHub, staleWait); !believed {
		return w.deferLagging(wait, "GitHub's read of %s lags behind what is known", issue.UpdatedAt.Format(time.DateTime))
	}
	w.rewound = true
	w.note(mapping.GitHub, "", "went back", fmt.Sprintf("GitHub tells of %s, though %s was known, for %s: its clock or its data went back",
		issue.UpdatedAt.Format(time.RFC3339), l.Issue.UpdatedAt.Format(time.RFC3339), age.Round(time.Second)))
	return nil
}

// cameLate reports whether an event came long after the state that it shows. Deliveries are
// repeated, and an event in between may have been lost, or may have kept the issue out.
// GitHub's times are whole seconds, so the state may be up to a second newer than its time.
func (w freshness) cameLate() bool {
	ref := mapping.IssueRef(w.owner.Issue.ID)
	shown := unambiguous[mapping.Issue](w.claimState, ref)
	return shown != nil && shown.Delivery != "" && w.claim.Inbox[ref].Seen.Sub(shown.UpdatedAt) > time.Second+w.set.Settle.GitHub
}

// cameTooLate reports whether a snapshot of the issue is older than the known one, and later
// than any late delivery: a read has to decide. A snapshot of the second in which the issue
// was opened is late in any case, as GitHub cannot go back to it.
func (w freshness) cameTooLate(seen *mapping.Issue) bool {
	s := w.claim.Inbox[mapping.IssueRef(w.owner.Issue.ID)]
	opening := seen.Editor != "" && seen.UpdatedAt.Equal(seen.CreatedAt)
	return !opening && seen.UpdatedAt.Before(w.owner.Issue.UpdatedAt) && s.Seen.Sub(seen.UpdatedAt) > w.set.Settle.GitHub && s.Digest != w.owner.Issue.Digest
}

// rewoundNow lists the attributes in which GitHub shows a state before the base. An attribute
// that somebody edited after the base, as events report, is not among them.
func (w freshness) rewoundNow() map[mapping.Attribute]bool {
	if !w.rewound {
		return nil
	}
	rewound := map[mapping.Attribute]bool{}
	for _, a := range mapping.Attributes {
		rewound[a] = !w.editEvents().Leave(a, w.pair.Base[a].GitHub)
	}
	return rewound
}

// wentBack handles the version that a read of the card or task shows. A version below the
// known one says that planning was restored, and its tasks are read, too.
func (w freshness) wentBack(version, counters int64) {
	c := &w.pair.Card
	if version >= c.Version {
		return
	}
	w.note(mapping.Planning, "", "went back", fmt.Sprintf("version %d was known, planning has version %d", c.Version, version))
	c.Version, c.CountersVersion = version, min(c.CountersVersion, counters)
	w.readAnew()
}

// itemWentBack reports whether a task's snapshot is older than the base of its checklist item.
func (w freshness) itemWentBack(t *mapping.Task) bool {
	i := slices.IndexFunc(w.link.Children, func(c *mapping.Pair) bool { return c.Kind == mapping.Checklist && c.Card.ID == t.ID })
	if i < 0 {
		return false
	}
	for a, v := range mapping.ItemTaskView(t) {
		if base, ok := w.link.Children[i].Base[a]; ok && v.Version < base.Version {
			return true
		}
	}
	return false
}

// GitHub reports each of our writes in an event that shows the issue right after that write.
// By then the next write may have been made. Each write leaves a step, and each step explains
// one event of our own account that shows exactly the same issue. An event without a step is a
// snapshot like any other. Somebody edited the issue between two of our writes, or uses our
// account, or the step's answer was lost.

// stepped records the issue after a write of ours, where it is known as a whole. The issue is read
// again until all of that has been handled.
func (w freshness) stepped(issue *mapping.Issue) {
	if issue.ID == 0 {
		return
	}
	w.owner.Unfinished = true
	journal.Step(&w.pair.Journal, mapping.DigestIssue(issue), w.Now())
}

// isStep reports whether a snapshot shows a step of ours, given the time when it came. It then
// uses the step up, and an older snapshot is stale from now on.
func (w freshness) isStep(seen *mapping.Issue, came time.Time) bool {
	if !w.Authorship(seen.Editor).Ours() || !journal.TakeStep(&w.pair.Journal, mapping.DigestIssue(seen), came) {
		return false
	}
	if known := &w.owner.Issue; seen.UpdatedAt.After(known.UpdatedAt) {
		known.UpdatedAt = seen.UpdatedAt
	}
	return true
}

// isShown reports whether an event of our own account is about a label of the bridge, and
// agrees with the answer to our write. There is no step where the issue was not known as a
// whole. Other differences in the event's snapshot have events of their own.
func (w freshness) isShown(e *mapping.OwnEvent) bool {
	s := w.link.Shown
	return s != nil && e.Issue.ID == w.link.Issue.ID && len(w.set.Scheme.Projections([]string{e.Label})) > 0 &&
		containsFold(s.Labels, e.Label) == e.On && w.Authorship(e.Issue.Editor).Ours()
}

// ownEvent handles an event of our own account. One without a step goes into the inbox, where
// the store would have put it.
func (w freshness) ownEvent(e *mapping.OwnEvent) {
	if w.isStep(&e.Issue, e.Came) || w.isShown(e) {
		w.count(CountEchoes, string(mapping.GitHub))
		return
	}
	ref, at, digest := mapping.IssueRef(e.Issue.ID), e.Issue.UpdatedAt.Unix(), mapping.DigestIssue(&e.Issue)
	old, had := w.claim.Inbox[ref]
	if had && (old.At > at || old.At == at && old.Digest == digest) {
		return
	}
	s := store.Snapshot{At: at, Digest: digest, Seen: e.Came}
	if had {
		s.Ambiguous, s.Seen = old.At == at, old.Seen
	}
	if w.claim.Inbox == nil {
		w.claim.Inbox = map[mapping.Ref]store.Snapshot{}
	}
	w.claim.Inbox[ref], w.inbox[ref] = s, &e.Issue
}

// newest is the time of the newest known snapshot of the issue.
func (w freshness) newest() time.Time {
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

// The policy newest compares when each side was edited last, as far as that is known.

// editedOnGitHub bounds when GitHub's value of an attribute was written. An edit of a body's
// checklist alone did not write the text around it.
func (w freshness) editedOnGitHub(a mapping.Attribute) mapping.Interval {
	text := func(value string) string { return w.link.Text(w.route, a, value) }
	book := w.book()
	book.Edits.Bare = func(value string) string { return text(w.strip(value)) }
	return book.EditedOnGitHub(a, text(w.g[a].Value), w.pair.Asking[a] != "")
}

// editedInPlanning bounds when planning's value of an attribute was written. The polls give the times
// of the values that they saw. The state's time comes from the counters of all the card's tasks. It
// counts only where these moved by one step since the known counters, and that step was the state's
// own. Another task may have made it where the state has no base, or people are asked about it.
func (w freshness) editedInPlanning(a mapping.Attribute) mapping.Interval {
	if w.card == nil {
		return mapping.Interval{}
	}
	_, based := w.pair.Base[a]
	polled, told := mapping.CardView(w.card, w.set.Keys)[a]
	switch {
	case a.Spec().Tracked && (!based || w.pair.Asking[a] != "" || w.card.CountersVersion > w.pair.Card.CountersVersion+1),
		!a.Spec().Tracked && (!told || polled.Version != w.p[a].Version),
		a == mapping.Summary && !based && signer(w).hasMarker(w.card.Summary.Value, signer(w).markerOn(mapping.Planning)): // which our marker may have made
		return mapping.Interval{}
	}
	return w.card.Edited(a)
}
