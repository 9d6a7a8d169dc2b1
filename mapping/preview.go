package mapping

// Preview is the state of both sides of a link at one moment, and what a reconcile would do
// about it.
type Preview struct {
	GitHub, Planning View
	// Unread says, per side, why it could not be read; the base stands in for it.
	Unread map[Side]string
	Plan   Plan
}
