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

// staleWait is how long a lagging replica of GitHub is given to catch up.
const staleWait = 3 * time.Second

// doubtful reports whether a read may be from before a person's event of the very
// same second: it shows something else than that, of what the bridge is to write,
// or just what was known before. Whole seconds do not tell. After a while it is
// believed.
func (w freshness) doubtful(read, seen *mapping.Issue) bool {
	if w.Authorship(seen.Editor).Ours() || !w.recent(w.claim.Inbox[mapping.IssueRef(read.ID)]) {
		return false
	}
	known := w.owner.Issue.Digest
	return mapping.DigestIssue(read) == known && mapping.DigestIssue(seen) != known || !maps.Equal(w.viewOf(read), w.viewOf(seen))
}

// recent reports whether an item was changed, or first seen since it was last
// worked, so short a while ago that reads of it may lag. A clock of GitHub's that
// is far from ours does not tell the former.
func (w freshness) recent(s store.Snapshot) bool {
	return journal.Recent(s.Seen, time.Unix(s.At, 0), w.Now())
}

// takesBack reports whether a snapshot may be from before a recent write of ours.
func (w freshness) takesBack(issue *mapping.Issue) bool {
	return w.book().TakesBack(w.viewOf(issue), issue.UpdatedAt)
}

// wrote notes what stood there before a write of ours to the issue, and the answer
// to it, where that tells when it took effect.
func (w freshness) wrote(a mapping.Attribute, from string, at time.Time, answer *mapping.Issue) {
	made := journal.WroteFrom(a, from, at)
	if answer != nil {
		made.UpdatedAt, made.To = answer.UpdatedAt, mapping.DigestValue(a, w.viewOf(answer)[a].Value)
	}
	journal.Wrote(&w.pair.Journal, made, w.Now())
}

// deferStale puts a key off until a read cannot lag any more.
func (w freshness) deferStale() error {
	return w.deferLagging(staleWait, "GitHub's read shows what stood there before a write of ours: it may lag")
}

// deferLagging puts a key off whose read may lag. Edits that come meanwhile do not have it
// read again before they can show there.
func (w freshness) deferLagging(wait time.Duration, why string, args ...any) error {
	w.pair.Pace.PutOff(w.Now().UTC().Add(lagPause))
	return later(wait, why, args...)
}

// beginReads notes that the issue is read because what was seen does not tell.
func (w freshness) beginReads() {
	if w.set.Coalesce > 0 {
		w.pair.Pace.Begin(reading, w.Now().UTC(), w.set.Coalesce)
	}
}

// differs reports whether a view of a side shows something else than what was agreed on.
func differs(view mapping.View, agreed map[mapping.Attribute]mapping.Base, side mapping.Side) bool {
	for a, v := range view {
		if base, ok := agreed[a]; ok && !mapping.Same(a, v.Value, *sideValue(side, &base)) {
			return true
		}
	}
	return false
}

// labelsMoving reports that an estimate label is missing or doubled: one half
// of an exchange that GitHub tells in two events.
func (w freshness) labelsMoving() bool {
	return len(w.extra) > 0 || slices.ContainsFunc(mapping.Attributes, func(a mapping.Attribute) bool {
		return a.Spec().Carrier == mapping.CarrierLabels && w.g[a].Value == "" && w.pair.Base[a].GitHub != ""
	})
}

// showsAgreed reports whether GitHub's view shows nothing but what both sides agreed on.
func (w freshness) showsAgreed() bool {
	for a, v := range w.g {
		if base, ok := w.pair.Base[a]; !ok || !mapping.Same(a, v.Value, base.GitHub) {
			return false
		}
	}
	return true
}

// showsOwnEvent reports whether the newest snapshot of the issue is an event of our own:
// it may be from between two of our writes, so that nothing is concluded from
// it without a read.
func (w freshness) showsOwnEvent() bool {
	return w.issue != nil && !w.fresh && w.Authorship(w.issue.Editor).Perhaps()
}

// A service that was restored from a backup shows times and versions from before those
// that are known. What is older than that is late as a rule: GitHub's replicas lag, its
// deliveries overtake each other, and polls overlap our writes. A read of the item, and
// on GitHub that it goes on for longer than anything lags, tells the two apart.

// readsBehind takes in that the issue was read. An error puts the key off: the read is older
// than what is known, and may lag. What is behind for longer than GitHub lags is believed.
func (w freshness) readsBehind(issue *mapping.Issue) error {
	l := w.link
	if !issue.UpdatedAt.Before(reader(w).newest()) {
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

// cameLate reports whether an event of the issue came long after what it shows. Deliveries are
// made again, and what came meanwhile may have been lost, or kept the issue out. GitHub's times
// are whole seconds, so that an event may be of up to a second later than it says.
func (w freshness) cameLate() bool {
	ref := mapping.IssueRef(w.owner.Issue.ID)
	shown := unambiguous[mapping.Issue](w.claimState, ref)
	return shown != nil && shown.Delivery != "" && w.claim.Inbox[ref].Seen.Sub(shown.UpdatedAt) > time.Second+w.set.Settle.GitHub
}

// cameTooLate reports whether what was seen of the issue is older than what is known, and
// came later than anything of GitHub's does that is only late: a read has to tell. An event of
// the second in which the issue was opened is late in any case: GitHub cannot go back to it.
func (w freshness) cameTooLate(seen *mapping.Issue) bool {
	s := w.claim.Inbox[mapping.IssueRef(w.owner.Issue.ID)]
	opening := seen.Editor != "" && seen.UpdatedAt.Equal(seen.CreatedAt)
	return !opening && seen.UpdatedAt.Before(w.owner.Issue.UpdatedAt) && s.Seen.Sub(seen.UpdatedAt) > w.set.Settle.GitHub && s.Digest != w.owner.Issue.Digest
}

// rewoundNow lists the attributes in which GitHub shows a time before the base. What
// somebody made of the base's value, as events tell, is none of them.
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

// wentBack takes in the version that a read of the link's card or task shows. A lower
// one than is known says that planning was restored: its tasks are read, too.
func (w freshness) wentBack(version, counters int64) {
	c := &w.pair.Card
	if version >= c.Version {
		return
	}
	w.note(mapping.Planning, "", "went back", fmt.Sprintf("version %d was known, planning has version %d", c.Version, version))
	c.Version, c.CountersVersion = version, min(c.CountersVersion, counters)
	w.readAnew()
}

// itemWentBack reports whether a task that was seen is older than what is known of the
// checklist item that it is for.
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

// GitHub tells of each write of ours in an event that shows the issue as that
// write left it, and by the time it comes we may have made the next one. Each
// write leaves a step behind, and each step explains one event of our own
// account that shows exactly it. An event that no step explains is a snapshot as
// any other: somebody did something between two of our writes, or has our
// account, or the step's answer was lost.

// stepped notes what a write of ours made of the issue, where that is known as a
// whole. Until all of it has been dealt with, the issue is read again.
func (w freshness) stepped(issue *mapping.Issue) {
	if issue.ID == 0 {
		return
	}
	w.owner.Unfinished = true
	journal.Step(&w.pair.Journal, mapping.DigestIssue(issue), w.Now())
}

// isStep reports whether a snapshot that came at a time of our clock shows a
// step of ours, and takes in what that tells: what is older is stale. The step
// is spent: another one that shows the same is not explained by it.
func (w freshness) isStep(seen *mapping.Issue, came time.Time) bool {
	if !w.Authorship(seen.Editor).Ours() || !journal.TakeStep(&w.pair.Journal, mapping.DigestIssue(seen), came) {
		return false
	}
	if known := &w.owner.Issue; seen.UpdatedAt.After(known.UpdatedAt) {
		known.UpdatedAt = seen.UpdatedAt
	}
	return true
}

// isShown reports whether an event of our own account tells of a label of the bridge that
// the issue has, or lacks, as the answer to our write said. No step explains it where the
// issue was not known as a whole by then. What else its snapshot shows has events of its own.
func (w freshness) isShown(e *mapping.OwnEvent) bool {
	s := w.link.Shown
	return s != nil && e.Issue.ID == w.link.Issue.ID && len(w.set.Scheme.Projections([]string{e.Label})) > 0 &&
		containsFold(s.Labels, e.Label) == e.On && w.Authorship(e.Issue.Editor).Ours()
}

// ownEvent takes in an event of our own account: one that shows no step goes to
// the inbox, as the store would have put it there.
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
