package reconcile

import (
	"fmt"

	"planbridge/mapping"
)

// issueSeen is the issue's snapshot in the inbox, and cardSeen the card's; nil: there is none.
func (w reader) issueSeen() *mapping.Issue {
	return seen[mapping.Issue](w.claimState, mapping.IssueRef(w.owner.Issue.ID))
}

// wasRead reports whether an earlier claim read the issue for its snapshot in the inbox.
func (w reader) wasRead() bool { return w.seenAs() == w.owner.ReadFor && !w.mustRead }

// seenAs names the issue's snapshot in the inbox; "": there is none.
func (w reader) seenAs() string {
	s, seen := w.claim.Inbox[mapping.IssueRef(w.owner.Issue.ID)]
	if !seen {
		return ""
	}
	return fmt.Sprint(s.At, " ", s.Digest)
}

func (w reader) cardSeen() *mapping.Card {
	return seen[mapping.Card](w.claimState, mapping.CardRef(w.pair.Card.ID))
}

// taskSeen is the newest known state of a part's task, in the form of a card; nil: there is none.
func (w reader) taskSeen() *mapping.Card {
	t, seen := w.root.tasks.seen[w.pair.Card.ID]
	if !seen {
		return nil
	}
	return t.AsCard()
}

// planningView has the values of the pair's card or task.
func (w reader) planningView(c *mapping.Card) mapping.View {
	view := mapping.CardView(c, w.set.Keys)
	if w.pair.IsTask() {
		view[mapping.State] = c.State
	}
	return view
}

// viewOf has the values of the issue in a snapshot of it.
func (w reader) viewOf(issue *mapping.Issue) mapping.View {
	view, _ := w.route.IssueView(issue, w.set.Scheme, w.set.Keys, w.pair.Older())
	return view
}
