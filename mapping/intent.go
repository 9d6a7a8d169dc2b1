package mapping

import "time"

// Intent is the record of one create, saved before it is made.
type Intent struct {
	Side  Side      `json:"side"` // where the item is being created
	Nonce string    `json:"nonce"`
	At    time.Time `json:"at"`
	// Sent is set once the request may have left; until then nothing can
	// have been created.
	Sent bool `json:"sent,omitempty"`
	// ExclusiveFor is the database id of the issue of which no other project can have a partner
	// since then. It is 0 while no check was made, or none is needed.
	ExclusiveFor int64 `json:"alone,omitempty"`
	// Base is the base once the item exists with the values that were sent.
	Base map[Attribute]Base `json:"base,omitempty"`
	// After is, on GitHub, the highest issue number known when the intent was
	// written: the item, if made, has a higher one.
	After int `json:"after,omitempty"`
	// Lookups counts the complete lookups in a row that found nothing.
	Lookups int `json:"lookups,omitempty"`
	// Most bounds how many items the request may make, after one of more was
	// refused; 0: as many as a batch holds.
	Most int `json:"most,omitempty"`
	// Braked is set once the route's brake put the item off. It comes again with others.
	Braked bool `json:"braked,omitempty"`
}

// Refusal is a value that a side does not take.
type Refusal struct {
	Side    Side      `json:"side"`
	Value   string    `json:"value"` // digest of the refused value
	Message string    `json:"words"` // the service's own
	At      time.Time `json:"at"`
}
