package seen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"planbridge/mapping"
)

// A mark may hold a stamp: the hash of the card's text when its digest was taken, and the
// card's versions. A process that starts decodes no card whose text still has that hash. The
// stamp stands among the routes, where an earlier version of the program keeps and ignores it.
// It names its digest, as that version changes the digest and keeps the stamp.

const (
	stampSign = "\x02"
	// textForm counts the ways in which a text becomes a digest. It rises when a card's
	// decoding or its digest changes, so that all cards are decoded once; see TestTextForm.
	textForm = 1
	// stampDigest is the length of the part of the digest in a stamp.
	stampDigest = 6
)

// TextSeed is the seed of the hashes of texts in a bucket's listing.
func TextSeed(bucket Bucket) uint64 {
	return max(xxhash.Sum64String(fmt.Sprintf("%d %q %q", textForm, bucket.ID, bucket.Title)), 1)
}

// HashText hashes a card's text in the listing of the bucket that the seed is of. All
// processes get the same hash, which is never 0.
func HashText(seed uint64, text []byte) uint64 {
	var h xxhash.Digest
	h.ResetWithSeed(seed)
	_, _ = h.Write(text) // it never fails
	return max(h.Sum64(), 1)
}

// stamp is the entry's stamp; "": it has none.
func (k *Entry) stamp() string {
	if k.Text == 0 || !k.Told || len(k.Digest) < stampDigest {
		return ""
	}
	parts := []string{k.Digest[:stampDigest], strconv.FormatUint(k.Text, 36), strconv.FormatInt(k.Version, 36)}
	for _, v := range k.Versions {
		parts = append(parts, strconv.FormatInt(v, 36))
	}
	if k.Bucket != nil && k.Bucket.StateID != "" {
		parts = append(parts, string(k.Bucket.StateID))
	}
	return stampSign + strings.Join(parts, " ")
}

// takeRoutes reads the routes' part of a mark: the stamp, and the routes themselves. Most entries
// have the same routes, and share them.
func (m *Cache) takeRoutes(k *Entry, marked string) {
	before, stamp, stamped := strings.Cut(marked, stampSign)
	if stamped {
		stamp, after, _ := strings.Cut(stamp, "\x1f")
		m.readStamp(k, stamp)
		marked = strings.Trim(before+after, "\x1f")
	}
	if marked == "" {
		return
	}
	shared, ok := m.routes[marked]
	if !ok {
		own := strings.Clone(marked)
		shared = strings.Split(own, "\x1f")
		m.routes[own] = shared
	}
	k.Routes = shared
}

func (m *Cache) readStamp(k *Entry, stamp string) {
	digest, rest, _ := strings.Cut(stamp, " ")
	if digest == "" || !strings.HasPrefix(k.Digest, digest) {
		return
	}
	text, rest, _ := strings.Cut(rest, " ")
	hash, err := strconv.ParseUint(text, 36, 64)
	if err != nil {
		return
	}
	var numbers [5]int64
	for i := range numbers {
		text, rest, _ = strings.Cut(rest, " ")
		if numbers[i], err = strconv.ParseInt(text, 36, 64); err != nil {
			return
		}
	}
	k.Text, k.Version, k.Told = hash, numbers[0], true
	copy(k.Versions[:], numbers[1:])
	if rest != "" {
		k.Bucket = m.state(rest)
	}
}

// state is the shared bucket of a state without other data.
func (m *Cache) state(id string) *KnownBucket {
	if m.last == nil || string(m.last.StateID) != id {
		m.last = m.Bucket(KnownBucket{StateID: mapping.ObjectID(strings.Clone(id))}) // without the rest of the mark
	}
	return m.last
}
