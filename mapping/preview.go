package mapping

// Preview is what both sides of a link show at one moment, and what would be
// done about it.
type Preview struct {
	GitHub, Planning View
	// Unread says, per side, why it could not be read; the base stands in for it.
	Unread map[Side]string
	Plan   Plan
}
