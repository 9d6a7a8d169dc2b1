package mapping

import (
	"cmp"
	"time"
)

// IssueID identifies the issue of a link, and its newest known snapshot.
type IssueID struct {
	ID     int64  `json:"id,omitempty"` // 0 while the issue is not created
	NodeID string `json:"node,omitempty"`
	Repo   string `json:"repo,omitempty"`
	RepoID int64  `json:"repo_id,omitempty"`
	Number int    `json:"number,omitempty"`
	Author string `json:"author,omitempty"`
	// Born is the issue's created_at, which identifies an issue that was transferred without an
	// event.
	Born time.Time `json:"born,omitzero"`
	// UpdatedAt and Digest are those of the newest snapshot taken into account. An older snapshot
	// is stale. One of the same second with another digest forces a read.
	UpdatedAt time.Time `json:"updated,omitzero"`
	Digest    string    `json:"digest,omitempty"`
	// Agreed is the updated_at of the newest snapshot that showed only values both sides had agreed
	// on. Other values were edited since then.
	Agreed time.Time `json:"agreed,omitzero"`
}

// Place records where a snapshot shows the card. Only listings have the bucket's title. It stays
// known after a snapshot without a title that has no bucket, as in a sprint, or the same bucket by
// either id.
func (c *CardID) Place(card *Card) {
	switch {
	case card.Bucket == "" && c.BucketName == "":
		c.BucketName = c.Made
	case card.Bucket != "" && (card.BucketName != "" || card.Bucket != c.Bucket && card.Bucket != c.StateID):
		c.Bucket, c.BucketName, c.StateID, c.Made = card.Bucket, card.BucketName, card.StateID, ""
	}
}

// BucketTitle is the bucket's listed title, else that of the bucket in which the card was made, else
// its id.
func (c *CardID) BucketTitle() string { return cmp.Or(c.BucketName, c.Made, string(c.Bucket)) }

// CardID identifies the card of a link, and its newest known version.
type CardID struct {
	ID              ObjectID `json:"id,omitempty"` // "" while the card is not created
	CID             int64    `json:"cid,omitempty"`
	Bucket          ObjectID `json:"bucket,omitempty"` // where the card was made or last seen
	BucketName      string   `json:"bucket_name,omitempty"`
	StateID         ObjectID `json:"state_id,omitempty"` // Card.StateID of that snapshot
	Made            string   `json:"made,omitempty"`     // title of the bucket it was made in, until one is seen
	Version         int64    `json:"version,omitempty"`
	CountersVersion int64    `json:"counters_version,omitempty"`
}
