// Package mapping is the pure heart of planbridge. It has the types of issues, cards and the links
// between them, and decides which writes make both sides agree again.
//
// The entry point is [Resolve]. It takes a [Link], with the base that both sides last agreed on,
// and the current state of both sides. It returns a [Plan]: the writes that bring the link to
// agreement, with a reason for each attribute. Further files handle the texts that cross between
// the sides: the canonical form, the three-way merge, signed markers, the defusing of mentions, and
// the labels.
//
// The package does no I/O, reads no clock and logs nothing. Everything in it is deterministic
// and safe for concurrent use.
package mapping
