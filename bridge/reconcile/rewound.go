package reconcile

import (
	"fmt"
	"slices"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// A service that was restored from a backup shows times and versions from before those
// that are known. What is older than that is late as a rule: GitHub's replicas lag, its
// deliveries overtake each other, and polls overlap our writes. A read of the item, and
// on GitHub that it goes on for longer than anything lags, tells the two apart.

// readsBehind takes in that the issue was read. An error puts the key off: the read is older
// than what is known, and may lag. What is behind for longer than GitHub lags is believed.
func (w *work) readsBehind(issue *mapping.Issue) error {
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
		return w.lagsFor(wait, "GitHub's read of %s lags behind what is known", issue.UpdatedAt.Format(time.DateTime))
	}
	w.rewound = true
	w.note(mapping.GitHub, "", "went back", fmt.Sprintf("GitHub tells of %s, though %s was known, for %s: its clock or its data went back",
		issue.UpdatedAt.Format(time.RFC3339), l.Issue.UpdatedAt.Format(time.RFC3339), age.Round(time.Second)))
	return nil
}

// cameTooLate reports whether what was seen of the issue is older than what is known, and
// came later than anything of GitHub's does that is only late: a read has to tell.
func (w *work) cameTooLate(seen *mapping.Issue) bool {
	s := w.claim.Inbox[mapping.IssueRef(w.owner.Issue.ID)]
	return seen.UpdatedAt.Before(w.owner.Issue.UpdatedAt) && s.Seen.Sub(seen.UpdatedAt) > w.set.Settle.GitHub && s.Digest != w.owner.Issue.Digest
}

// rewoundNow lists the attributes in which GitHub shows a time before the base. What
// somebody made of the base's value, as events tell, is none of them.
func (w *work) rewoundNow() map[mapping.Attribute]bool {
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
func (w *work) wentBack(version, counters int64) {
	c := &w.pair.Card
	if version >= c.Version {
		return
	}
	w.note(mapping.Planning, "", "went back", fmt.Sprintf("version %d was known, planning has version %d", c.Version, version))
	c.Version, c.CountersVersion = version, min(c.CountersVersion, counters)
	w.looked = true
}

// itemWentBack reports whether a task that was seen is older than what is known of the
// checklist item that it is for.
func (w *work) itemWentBack(t *mapping.Task) bool {
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
