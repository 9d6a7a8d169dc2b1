package mapping

import (
	"slices"
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
	// Unsure is set while something waits for its next turn to be shown: what the
	// issue has of it may be another than is noted here.
	Unsure bool `json:"unsure,omitempty"`
	// Milestone is the number of the milestone that the bridge set; 0: none.
	Milestone int `json:"milestone,omitempty"`
	// Sent is a milestone that a write of ours may have set though its answer never
	// came: it is no person's.
	Sent int `json:"sent,omitempty"`
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
	return &Shown{Status: s.Status, Review: s.Review, Sprint: s.Sprint, Users: s.Users, Assignees: s.Assignees}
}

// Card is the part of the card that labels show. bucketName is "" where it is
// not known.
func (s *Shown) Card(bucketName string) *Card {
	return &Card{Review: s.Review, BucketName: bucketName, Counters: &Counters{Status: s.Status}}
}

// Projections returns those of an issue's labels that [ProjectLabels] sets and
// removes.
func (s LabelScheme) Projections(labels []string) []string {
	var out []string
	for _, l := range labels {
		if s.isProjection(l, true) {
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
