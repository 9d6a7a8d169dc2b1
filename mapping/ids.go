package mapping

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
)

// ObjectID names an object of the planning service: the string inside its
// `{"$oid": …}` wrapper (docs/planning-api.md 2.1). It is opaque.
type ObjectID string

// LinkID names a root link. It is random, made once and never reused; the
// queue's keys and the markers carry it.
type LinkID string

// NewID returns a fresh random identifier of 16 hexadecimal characters, used
// for links and conflicts.
func NewID() string { return randomHex(8) }

// NewNonce returns a fresh random nonce of 16 hexadecimal characters. A nonce
// names one intent to create one item.
func NewNonce() string { return randomHex(8) }

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24; it aborts the program.
	return hex.EncodeToString(b)
}

// Ref names an item of either side by its database id, as the store's indexes
// and inboxes know it: "issue:123", "card:5447…", "task:5447…", "nonce:…".
type Ref string

// IssueRef is the [Ref] of the issue with the given database id.
func IssueRef(id int64) Ref { return Ref("issue:" + strconv.FormatInt(id, 10)) }

// CardRef is the [Ref] of a card.
func CardRef(id ObjectID) Ref { return Ref("card:" + string(id)) }

// TaskRef is the [Ref] of a task.
func TaskRef(id ObjectID) Ref { return Ref("task:" + string(id)) }

// Kind returns the part before the colon: issue, card or task.
func (r Ref) Kind() string {
	kind, _, _ := strings.Cut(string(r), ":")
	return kind
}

// ID is the item's id on its side, as text.
func (r Ref) ID() string {
	_, id, _ := strings.Cut(string(r), ":")
	return id
}
