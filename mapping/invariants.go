package mapping

import (
	"errors"
	"fmt"
)

// An Invariant holds of every record that is stored. A record that breaks one shows a
// fault of this program.
type Invariant struct {
	Name string
	// Check says how the record breaks the invariant; nil: it does not.
	Check func(*Link) error
}

// InvariantStates names the invariant that a pair's state changes as [Transitions] says. It holds
// of changes, and so is not in [Invariants].
const InvariantStates = "states"

// Invariants are those that a record shows by itself.
var Invariants = []Invariant{
	{"partners", ofPairs(checkPartners)},
	{"creating", ofPairs(checkCreating)},
	{"items", checkItems},
}

// BrokenError says which invariant a record breaks.
type BrokenError struct {
	Invariant string
	Err       error
}

func (e *BrokenError) Error() string { return fmt.Sprintf("invariant %s: %v", e.Invariant, e.Err) }
func (e *BrokenError) Unwrap() error { return e.Err }

// Broken returns the first of [Invariants] that the record of a root link breaks; nil:
// none.
func (l *Link) Broken() *BrokenError {
	for _, i := range Invariants {
		if err := i.Check(l); err != nil {
			return &BrokenError{i.Name, err}
		}
	}
	return nil
}

// name names a pair of a record for people.
func (p *Pair) name() string {
	if p.HasIssue() {
		return fmt.Sprintf("issue %d and item %q", p.Issue.ID, p.Card.ID)
	}
	return fmt.Sprintf("task %q", p.Card.ID)
}

func ofPairs(check func(*Pair) error) func(*Link) error {
	return func(l *Link) error {
		for _, p := range l.All() {
			if err := check(p); err != nil {
				return fmt.Errorf("%s: %w", p.name(), err)
			}
		}
		return nil
	}
}

// checkPartners: a linked pair has both its items, and no create of it is under way.
func checkPartners(p *Pair) error {
	switch {
	case p.State != Linked:
	case p.Issue.ID == 0 && p.HasIssue():
		return errors.New("it is linked and has no issue")
	case p.Card.ID == "":
		return errors.New("it is linked and has no item of planning's")
	case p.Intent != nil:
		return errors.New("it is linked and a create of it is under way")
	}
	return nil
}

// checkCreating: a pair that is being created names the create that may be under way.
func checkCreating(p *Pair) error {
	if p.State == Creating && p.Intent == nil {
		return errors.New("it is being made by no create")
	}
	return nil
}

// checkItems: no item belongs to two pairs, and no two pairs have one nonce.
func checkItems(l *Link) error {
	issues, items, nonces := map[int64]bool{}, map[ObjectID]bool{}, map[string]bool{}
	for _, p := range l.All() {
		switch {
		case p.Issue.ID != 0 && issues[p.Issue.ID]:
			return fmt.Errorf("%s: another pair has the issue", p.name())
		case p.Card.ID != "" && items[p.Card.ID]:
			return fmt.Errorf("%s: another pair has planning's item", p.name())
		case p.Nonce != "" && nonces[p.Nonce]:
			return fmt.Errorf("%s: another pair has its nonce", p.name())
		}
		issues[p.Issue.ID], items[p.Card.ID], nonces[p.Nonce] = true, true, true
	}
	return nil
}
