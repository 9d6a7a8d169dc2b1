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

// InvariantStates is the name of the invariant that a pair's state changes as
// [Transitions] has it. It holds of changes, and so is none of [Invariants].
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

// heldPair is what every kind of pair in a record has.
type heldPair struct {
	state  LinkState
	nonce  string
	intent *Intent
	issue  int64    // 0 of a task of the card, which has no issue, and while it is not known
	item   ObjectID // of planning; "" while it is not known
	task   bool     // it is a task of the card and what that stands for
}

func (p heldPair) String() string {
	if p.task {
		return fmt.Sprintf("task %q", p.item)
	}
	return fmt.Sprintf("issue %d and item %q", p.issue, p.item)
}

// held lists the pairs of a root link's record: itself, its parts and the tasks of all.
func (l *Link) held() []heldPair {
	pairs := make([]heldPair, 0, 1+len(l.Parts)+len(l.Children))
	add := func(p *Link) {
		pairs = append(pairs, heldPair{p.State, p.Nonce, p.Intent, p.Issue.ID, p.Card.ID, false})
		for i := range p.Children {
			c := &p.Children[i]
			pairs = append(pairs, heldPair{c.State, c.Nonce, c.Intent, 0, c.Task, true})
		}
	}
	add(l)
	for _, p := range l.Parts {
		add(p)
	}
	return pairs
}

func ofPairs(check func(heldPair) error) func(*Link) error {
	return func(l *Link) error {
		for _, p := range l.held() {
			if err := check(p); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
		return nil
	}
}

// checkPartners: a linked pair has both its items, and no create of it is under way.
func checkPartners(p heldPair) error {
	switch {
	case p.state != Linked:
	case p.issue == 0 && !p.task:
		return errors.New("it is linked and has no issue")
	case p.item == "":
		return errors.New("it is linked and has no item of planning's")
	case p.intent != nil:
		return errors.New("it is linked and a create of it is under way")
	}
	return nil
}

// checkCreating: a pair that is being made says which create may be under way.
func checkCreating(p heldPair) error {
	if p.state == Creating && p.intent == nil {
		return errors.New("it is being made by no create")
	}
	return nil
}

// checkItems: no item belongs to two pairs, and no two pairs have one nonce.
func checkItems(l *Link) error {
	issues, items, nonces := map[int64]bool{}, map[ObjectID]bool{}, map[string]bool{}
	for _, p := range l.held() {
		switch {
		case p.issue != 0 && issues[p.issue]:
			return fmt.Errorf("%s: another pair has the issue", p)
		case p.item != "" && items[p.item]:
			return fmt.Errorf("%s: another pair has planning's item", p)
		case p.nonce != "" && nonces[p.nonce]:
			return fmt.Errorf("%s: another pair has its nonce", p)
		}
		issues[p.issue], items[p.item], nonces[p.nonce] = true, true, true
	}
	return nil
}
