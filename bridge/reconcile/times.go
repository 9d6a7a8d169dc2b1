package reconcile

import (
	"slices"
	"time"

	"planbridge/mapping"
)

// When an attribute was edited last, as far as that is known. The policy newest
// compares the two sides' bounds.

// editedOnGitHub bounds when GitHub's value of an attribute was made. An event tells
// the second: GitHub's stamps leave out what is less. Where none tells of this value,
// it was made after all that is known and until the issue was last updated; of a value
// that people are asked about more may be known than is agreed.
func (w *work) editedOnGitHub(a mapping.Attribute) mapping.Interval {
	if w.issue == nil {
		return mapping.Interval{}
	}
	if at, ok := w.toldOf(a, w.g[a].Value); ok {
		return at
	}
	if w.link.Asking[a] != "" {
		return mapping.Interval{}
	}
	return mapping.Interval{From: w.link.Issue.UpdatedAt, To: w.issue.UpdatedAt.Add(time.Second)}
}

// toldOf is when an event tells that somebody else wrote a value.
func (w *work) toldOf(a mapping.Attribute, value string) (mapping.Interval, bool) {
	for _, e := range slices.Backward(w.edits) {
		if _, to, ok := editOf(e, a); ok && mapping.Same(a, w.strip(to), value) && !w.GitHub.Whose(e.Sender).Perhaps() {
			return mapping.Interval{From: e.At, To: e.At.Add(time.Second)}, true
		}
	}
	return mapping.Interval{}, false
}

// editedInPlanning bounds when planning's value of an attribute was made. The polls
// tell of the values that they saw. Of the state they tell by the counters of all of
// the card's tasks: only where these moved by one step is that step the state's.
func (w *work) editedInPlanning(a mapping.Attribute) mapping.Interval {
	if w.card == nil {
		return mapping.Interval{}
	}
	if a.Spec().Tracked {
		if w.card.CountersVersion > w.link.Card.CountersVersion+1 {
			return mapping.Interval{}
		}
		return w.card.Edited(a)
	}
	if polled, ok := mapping.CardView(w.card, w.set.Keys)[a]; !ok || polled.Version != w.p[a].Version {
		return mapping.Interval{}
	}
	return w.card.Edited(a)
}

// editedBefore is when the sides were edited that met in a write of ours, which ran
// over an edit of GitHub.
func (w *work) editedBefore(l lostUpdate) map[mapping.Side]mapping.Interval {
	github, ok := w.toldOf(l.write.Attribute, l.text)
	if !ok && !l.by.IsZero() {
		github = mapping.Interval{From: l.write.After, To: l.by.Add(time.Second)}
	}
	return map[mapping.Side]mapping.Interval{mapping.GitHub: github, mapping.Planning: l.write.Edited}
}
