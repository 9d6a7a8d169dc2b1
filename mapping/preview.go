package mapping

// Preview is the state of both sides of a link at one moment, and the plan that a reconcile would
// carry out.
type Preview struct {
	GitHub, Planning View
	// Unread has, per unread side, why it could not be read; the base stands in for it.
	Unread map[Side]string
	// Gone are the unread sides that answer that the item is gone or is elsewhere. Nothing is
	// decided then.
	Gone []Side
	Plan Plan
}
