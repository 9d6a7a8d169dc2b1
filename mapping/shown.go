package mapping

import (
	"slices"
	"strings"
	"time"
)

// Shown is the part of a card that is projected onto its issue, and never read back. It has
// planning's last state of it, and the bridge's own additions to the issue. A person's additions
// belong to the person.
type Shown struct {
	Status string   `json:"status,omitempty"` // of the card's counters, as planning spells it
	Review string   `json:"review,omitempty"` // iterationReview, as planning spells it
	Sprint ObjectID `json:"sprint,omitempty"`
	Users  []string `json:"users,omitempty"` // planning's, on the card's tasks in its sprint

	// Labels are the projected labels that the issue is known to have.
	Labels []string `json:"labels,omitempty"`
	// Made are labels of a form that people use, too, and that the bridge put on the issue or is
	// about to. These are labels with the card's number.
	Made []string `json:"made,omitempty"`
	// Unsure is set while a projection waits for its next turn: the issue may differ from this
	// record.
	Unsure bool `json:"unsure,omitempty"`
	// Waited is set while the labels wait for their share of GitHub's write budget.
	Waited bool `json:"waited,omitempty"`
	// Milestone is the number of the milestone that the bridge set; 0: none.
	Milestone int `json:"milestone,omitempty"`
	// Assignees are the logins that the bridge added. Assigned are the logins that were
	// handled last, whoever had added them.
	Assignees []string `json:"assignees,omitempty"`
	Assigned  []string `json:"assigned,omitempty"`
	// Dropped are logins, and numbers of milestones behind a #, that GitHub accepted without an
	// error and did not set. It does so where the bridge may not push or a person cannot be
	// assigned. They are not tried again.
	Dropped []string `json:"dropped,omitempty"`
	// Closing is set while a close for the review may be under way: it is the issue's
	// updated_at before the close.
	Closing time.Time `json:"closing,omitzero"`
}

// Take records a snapshot of the card. Users that the snapshot does not have stay.
func (s *Shown) Take(card *Card) {
	s.Status, s.Review, s.Sprint = "", card.Review, card.Iteration
	if card.Counters != nil {
		s.Status = card.Counters.Status
	}
	if card.Users != nil {
		s.Users = slices.Clone(card.Users)
	}
}

// Moved is the record after a transfer of the issue, as milestones and possible assignees belong to
// the former repository. s may be nil.
func (s *Shown) Moved() *Shown {
	if s == nil {
		return nil
	}
	return &Shown{Status: s.Status, Review: s.Review, Sprint: s.Sprint, Users: s.Users, Made: s.Made, Assignees: s.Assignees}
}

// Card is the part of the card that labels show. bucketName is "" where it is not known.
func (s *Shown) Card(bucketName string) *Card {
	return &Card{Review: s.Review, BucketName: bucketName, Counters: &Counters{Status: s.Status}}
}

// Project is [ProjectLabels] with the label of the card's number. Of such labels only
// one that the bridge made goes, and none while the card's number is not known.
func (s *Shown) Project(current []string, card *Card, scheme LabelScheme) (add, remove []string) {
	add, remove = ProjectLabels(current, card, scheme)
	want := scheme.CardLabel(card.CID)
	if want != "" && !hasLabel(current, want) {
		add = append(add, want)
	}
	for _, l := range s.Made {
		if hasLabel(current, l) && !strings.EqualFold(l, want) && (want != "" || scheme.Card == "") {
			remove = append(remove, l)
		}
	}
	return add, remove
}

// Make records those of the labels about to be added that have a card's number.
func (s *Shown) Make(labels []string, scheme LabelScheme) {
	for _, l := range labels {
		if scheme.IsCardLabel(l) && !hasLabel(s.Made, l) {
			s.Made = append(s.Made, l)
		}
	}
}

// Carry records the labels that the issue has. The record drops a label of ours that is gone,
// unless it is the card's current one. A person who adds it later then owns it.
func (s *Shown) Carry(labels []string, card *Card, scheme LabelScheme) {
	var made []string
	for _, l := range s.Made {
		if hasLabel(labels, l) || strings.EqualFold(l, scheme.CardLabel(card.CID)) {
			made = append(made, l)
		}
	}
	s.Made, s.Labels = made, scheme.Projections(labels)
	for _, l := range labels {
		if hasLabel(s.Made, l) && !hasLabel(s.Labels, l) {
			s.Labels = append(s.Labels, l)
		}
	}
}

// Projections returns those of an issue's labels that [ProjectLabels] sets and
// removes, and those that say a card's number.
func (s LabelScheme) Projections(labels []string) []string {
	var out []string
	for _, l := range labels {
		if s.isProjection(l, true) || s.IsCardLabel(l) {
			out = append(out, l)
		}
	}
	return out
}

// Reviewed reports whether an issue shows a card's review.
func (s LabelScheme) Reviewed(labels []string, iterationReview string) bool {
	review := ReviewOf(iterationReview)
	return review != "" && hasLabel(labels, s.Prefix+review)
}
