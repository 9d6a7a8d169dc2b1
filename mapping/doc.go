// Package mapping is the pure heart of planbridge: what an issue and a card
// are, what a link between them remembers, and what has to be written so that
// both sides agree again.
//
// Its door is [Resolve]: given a [Link] (with the base both sides last agreed
// on) and what the two sides look like now, it answers a [Plan], the writes
// that bring the link to agreement, with a reason for every attribute. Around
// it stand the texts that cross between the sides: the canonical form, the
// three-way merge, signed markers, the defusing of mentions, and the label
// lenses.
//
// Nothing here does I/O, reads a clock or logs; everything is deterministic
// and safe for concurrent use.
package mapping
