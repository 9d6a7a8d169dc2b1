package mapping

// Preview is the state of both sides of a link at one moment, and what a reconcile would do
// about it.
type Preview struct {
	GitHub, Planning View
	// Unread says, per side, why it could not be read; the base stands in for it.
	Unread map[Side]string
	// Gone are, of these, the sides that answer that the item is gone or is elsewhere. Then
	// nothing is decided.
	Gone []Side
	Plan Plan
}
