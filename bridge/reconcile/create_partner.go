package reconcile

import (
	"strconv"

	"planbridge/mapping"
)

func (w *work) wanted() *want { return &want{w: w, intent: w.pair.Intent} }

// partner is the making of the item that the link's intent names.
func (w *work) partner() *creation {
	imported := w.link.Import != "" && !w.pair.IsTask()
	if w.pair.Intent.Side == mapping.GitHub {
		what := "create issue in " + w.owner.Issue.Repo
		return &creation{w: w, side: mapping.GitHub, what: what, proofs: 1, free: imported, kind: &newIssue{work: w, how: "webhook"}}
	}
	return &creation{w: w, side: mapping.Planning, what: "create card", proofs: 2, free: imported, aside: imported, kind: &newCard{work: w, how: "poll"}}
}

// adoptLost looks, among what was seen, for a partner that was made before the
// store was lost; then nothing is created.
func (w *work) adoptLost(side mapping.Side) (bool, error) {
	w.pair.Intent = &mapping.Intent{Side: side}
	k := w.wanted()
	err := w.partner().find([]*want{k})
	if !k.done || err != nil {
		w.pair.Intent = nil
	}
	return k.done, err
}

// wouldCreate says what a dry run would do. The link goes, and the next change makes another.
func (w *work) wouldCreate() error {
	if get(w, Remember{"dry run " + where(w.owner), 1}) == 0 {
		w.log.Info("dry run: would create", "side", w.pair.Intent.Side)
	}
	return errRemove
}

// needIssue makes sure that a snapshot of the issue is at hand.
func (w *work) needIssue() error {
	if w.issue != nil {
		return nil
	}
	var seen mapping.Issue
	if found, ambiguous, err := slot(w.claim, mapping.IssueRef(w.owner.Issue.ID), &seen); err != nil {
		return err
	} else if found && !ambiguous {
		w.setIssue(&seen)
		return nil
	}
	return w.readIssue()
}

func (w *work) needCard() error {
	if w.card != nil {
		return nil
	}
	if w.pair.IsTask() {
		return w.needTask()
	}
	var seen mapping.Card
	if found, ambiguous, err := slot(w.claim, mapping.CardRef(w.pair.Card.ID), &seen); err != nil {
		return err
	} else if found && !ambiguous {
		w.setCard(&seen)
		return nil
	}
	return w.readCard()
}

// cardText is a summary with the footer that names and marks the issue.
func (w *work) cardText(summary string) string {
	if w.pair.Origin != mapping.GitHub && !w.pair.Copied || w.link.Cleaning {
		return summary
	}
	mark := mapping.Marker{Kind: w.markerOn(mapping.Planning), Link: w.link.ID, Nonce: w.pair.Nonce, Partner: strconv.FormatInt(w.owner.Issue.ID, 10)}
	return w.set.Keys.AppendFooter(summary, mark, w.owner.Issue.Repo, w.owner.Issue.Number, w.issueURL())
}

// issueText is a body with the comment that marks the card, where the bridge
// made the issue.
func (w *work) issueText(body string) string {
	if w.pair.Origin != mapping.Planning || w.link.Cleaning {
		return body
	}
	mark := mapping.Marker{Kind: w.markerOn(mapping.GitHub), Link: w.link.ID, Nonce: w.pair.Nonce, Partner: string(w.pair.Card.ID)}
	return w.set.Keys.AppendComment(body, mark)
}

// answered is the base after planning answered to a write: what it says now,
// where that is what was sent or its normalisation of it; else what was sent,
// and what it says now is a change of planning to decide on.
func (w *work) answered(a mapping.Attribute, base mapping.Base, sent string, now mapping.Versioned) mapping.Base {
	if w.agrees(a, sent, now.Value) {
		base.Planning, base.Version = now.Value, now.Version
	}
	return base
}

func (w *work) linked(side mapping.Side, why string) {
	for a, base := range mapping.Sorted(w.pair.Base) {
		if base.Planning != "" || base.GitHub != "" {
			w.count(CountWrites, w.link.Route, string(side), string(a))
		}
	}
	w.happens(mapping.EventCompleted)
	w.pair.Intent, w.owner.Unfinished = nil, true
	w.log = w.logger()
	w.lag(side)
	w.note(side, "", "create", why)
}

// refuseUser takes in that planning refuses a person's username.
func (w *work) refuseUser(user string, why error) {
	w.count(CountUserRefused, w.link.Route)
	w.log.Warn("planning refuses a user; the route's user writes instead", "username", user, "err", why)
}

// refuseValue blocks one value of one attribute until it changes, and says so
// once.
func (w *work) refuseValue(side mapping.Side, a mapping.Attribute, value string, why *mapping.Rejection) {
	if w.pair.Refused == nil {
		w.pair.Refused = map[mapping.Attribute]mapping.Refusal{}
	}
	w.pair.Refused[a] = mapping.Refusal{Side: side, Value: mapping.DigestText(value), Words: why.Words, At: w.Now().UTC()}
	w.note(side, a, "refused", why.Error())
}
