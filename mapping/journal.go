package mapping

import "time"

// Journal is the link's record of our writes, while their events, or their late effects, may
// still come. Package journal reads it.
type Journal struct {
	// Pending holds the writes that were about to be made and whose outcome
	// is not yet known, or (Answered) not yet verified by their echo.
	Pending []Pending `json:"pending,omitempty"`
	// InFlight holds writes to GitHub of unknown outcome that had no effect when the bridge
	// searched for it. They may still take effect, which is nobody's edit then.
	InFlight []Pending `json:"late,omitempty"`
	// Consumed are the handled edits on GitHub that our writes made, while other edits may still be
	// searched for.
	Consumed []ConsumedEdit `json:"spent,omitempty"`
	// Written holds our writes to the issue of the last seconds. They identify a read that
	// lags behind them.
	Written []WriteRecord `json:"wrote,omitempty"`
	// Steps holds the issue after each of our writes of the last seconds, until its event has
	// come.
	Steps []Step `json:"steps,omitempty"`
}

// Pending is the record of one attribute's write, saved before the write is
// made.
type Pending struct {
	ID        string    `json:"id"`
	Side      Side      `json:"side"` // the side that is written
	Item      Ref       `json:"item"`
	Attribute Attribute `json:"attr"`
	From      string    `json:"from"`          // the side's earlier value, in its own representation
	To        string    `json:"to"`            // the sent value
	Old       *Base     `json:"old,omitempty"` // the base the write was decided on; nil: none
	Next      Base      `json:"next"`          // the base once the write is known to have happened
	At        time.Time `json:"at"`
	// After is the updated_at before the write: its echo is not older
	// by GitHub's own clock. Zero on planning's side.
	After    time.Time `json:"after,omitzero"`
	Answered bool      `json:"answered,omitempty"` // acknowledged; kept only until its echo is seen
	// Edited bounds, of a write to GitHub, when planning's value came to be.
	Edited Interval `json:"edited,omitzero"`
	// Restores: the write puts an edit back on GitHub that a write of ours ran over. The sides do
	// not agree on it thereby. In a late write it says that no other write repeated it since.
	Restores bool `json:"restores,omitempty"`
	// Verified: its echo was seen and dealt with; kept only until the sides
	// agree.
	Verified bool `json:"verified,omitempty"`
	// Asked: GitHub's edit history was asked for it when it could not be under way any more.
	Asked bool `json:"asked,omitempty"`
}

// ConsumedEdit is a handled edit on GitHub that a write of ours made, so that no other write made
// it.
type ConsumedEdit struct {
	Attribute Attribute `json:"attr"`
	From      string    `json:"from"` // DigestValue of what stood there before it
	To        string    `json:"to"`   // DigestValue of what it wrote
	At        time.Time `json:"at"`   // by GitHub's clock
	// Restores: the write restored an edit and no other write repeated it since.
	Restores bool `json:"restores,omitempty"`
}

// WriteRecord is a write of ours to an attribute of the issue that has happened.
type WriteRecord struct {
	Attribute Attribute `json:"attr"`
	From      string    `json:"from"` // DigestValue of what stood there before it
	At        time.Time `json:"at"`   // when it was answered, by our clock
	// UpdatedAt is the updated_at after it, and To the DigestValue of its value; zero where
	// the answer did not tell. An echo tells the second alone.
	UpdatedAt time.Time `json:"updated,omitzero"`
	To        string    `json:"to,omitempty"`
}

// Step is the issue as one of our writes left it.
type Step struct {
	Digest string    `json:"digest"` // DigestIssue
	At     time.Time `json:"at"`     // when the write was answered, by our clock
}
