package reconcile

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"planbridge/mapping"
)

// Seed is what a claim draws by chance from: ids are told apart by the first part, and waits
// are spread by the second one. Each part is drawn once a claim.
type Seed struct {
	IDs    [16]byte
	Jitter uint64
}

// drawn is the next number that a claim draws for a purpose. It follows from the seed and from
// how many were drawn before.
func (t *turn) drawn(purpose string) uint64 {
	t.draws++
	seed := t.seed.IDs[:]
	if purpose == "jitter" {
		seed = binary.BigEndian.AppendUint64(nil, t.seed.Jitter)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %x %d", purpose, seed, t.draws))
	return binary.BigEndian.Uint64(sum[:])
}

// draw is a fresh id of 16 hexadecimal characters.
func (t *turn) draw() string { return fmt.Sprintf("%016x", t.drawn("id")) }

// newNonce is a fresh nonce of an item in a project.
func (t *turn) newNonce(project mapping.ObjectID) string { return mapping.NonceIn(project, t.draw()) }
