package mapping

import (
	"slices"
	"strings"
	"time"
)

// Shown is what of a card only shows on its issue and is never taken from
// there: what planning said of it last, and what the bridge has put onto the
// issue for it. What a person puts there stays the person's.
type Shown struct {
	Status string   `json:"status,omitempty"` // of the card's counters, as planning spells it
	Review string   `json:"review,omitempty"` // iterationReview, as planning spells it
	Sprint ObjectID `json:"sprint,omitempty"`
	Users  []string `json:"users,omitempty"` // planning's, on the card's tasks in its sprint

	// Labels are those of planning's that the issue has, as far as is known.
	Labels []string `json:"labels,omitempty"`
	// Made are labels of people's own kind that the bridge put onto the issue, or is
	// about to: those with the card's number.
	Made []string `json:"made,omitempty"`
	// Unsure is set while something waits for its next turn to be shown: what the
	// issue has of it may be another than is noted here.
	Unsure bool `json:"unsure,omitempty"`
	// Waited is set while the labels wait for their share of GitHub's write budget.
	Waited bool `json:"waited,omitempty"`
	// Milestone is the number of the milestone that the bridge set; 0: none.
	Milestone int `json:"milestone,omitempty"`
	// Assignees are the logins that the bridge added, Assigned those that were
	// dealt with last, whoever had added them.
	Assignees []string `json:"assignees,omitempty"`
	Assigned  []string `json:"assigned,omitempty"`
	// Dropped are logins, and numbers of milestones behind a #, that GitHub
	// took without a word and did not set, as it does where the bridge may not
	// push or a person cannot be assigned. They are not tried again.
	Dropped []string `json:"dropped,omitempty"`
	// Closing is set while a close for the review may be under way: the issue's
	// updated_at before it.
	Closing time.Time `json:"closing,omitzero"`
}

// Take takes in what a snapshot of the card says. Users that it does not know
// stay.
func (s *Shown) Take(card *Card) {
	s.Status, s.Review, s.Sprint = "", card.Review, card.Iteration
	if card.Counters != nil {
		s.Status = card.Counters.Status
	}
	if card.Users != nil {
		s.Users = slices.Clone(card.Users)
	}
}

// Moved is what is known once the issue was transferred: milestones, and who
// can be assigned, are of the repository that it left. s may be nil.
func (s *Shown) Moved() *Shown {
	if s == nil {
		return nil
	}
	return &Shown{Status: s.Status, Review: s.Review, Sprint: s.Sprint, Users: s.Users, Made: s.Made, Assignees: s.Assignees}
}

// Card is the part of the card that labels show. bucketName is "" where it is
// not known.
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

// Make notes the labels with a card's number among those that are about to be put
// onto the issue.
func (s *Shown) Make(labels []string, scheme LabelScheme) {
	for _, l := range labels {
		if scheme.IsCardLabel(l) && !hasLabel(s.Made, l) {
			s.Made = append(s.Made, l)
		}
	}
}

// Carry takes in the labels that the issue has. A label that the bridge made and that
// is gone is forgotten, unless it is the card's: whoever sets it then, it is theirs.
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
