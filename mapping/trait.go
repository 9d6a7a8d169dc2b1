package mapping

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"time"
)

// Trait is a digest of values that an issue keeps when it is transferred: its author with its time
// of creation, or with its title. Two issues with one trait need not be the same: a trait is short,
// as the stores index each link by its traits.
type Trait string

// traitLen is how many characters of 6 bits a trait has.
const traitLen = 5

// IssueTraits returns the traits of an issue. The time of creation comes first, as fewer issues
// share it. An unknown value gives no trait.
func IssueTraits(author, title string, born time.Time) []Trait {
	var traits []Trait
	if !born.IsZero() {
		traits = append(traits, trait(author, "born", strconv.FormatInt(born.Unix(), 10)))
	}
	if title = CanonicalTitle(title); title != "" {
		traits = append(traits, trait(author, "title", title))
	}
	return traits
}

func trait(author, kind, value string) Trait {
	sum := sha256.Sum256([]byte(author + "\x00" + kind + "\x00" + value))
	return Trait(base64.RawURLEncoding.EncodeToString(sum[:])[:traitLen])
}

// Traits lists, in order, the traits of the issues that belong to the link. The store indexes the
// link under each. An issue that has not entered has no trait.
func (l *Link) Traits() []Trait {
	var traits []Trait
	for _, pair := range l.Pairs() {
		traits = append(traits, IssueTraits(pair.Issue.Author, pair.Base[Title].GitHub, pair.Issue.Born)...)
	}
	slices.Sort(traits)
	return slices.Compact(traits)
}

// Pairs are the pairs of the link whose issues entered.
func (l *Link) Pairs() []*Pair {
	return slices.DeleteFunc(l.Issues(), func(p *Pair) bool {
		return p.Issue.ID == 0 || p.State == Entering
	})
}
