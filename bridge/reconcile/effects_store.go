package reconcile

import (
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// This file has the effects that the store and the engine carry out. Errors match those of
// store.

// Save stores the root link under the claim. It fails with store.ErrLeaseLost after the lease
// ended.
type Save struct{ Link *mapping.Link }

// FindLink finds the link that has an item.
type FindLink struct {
	Project mapping.ObjectID
	Ref     mapping.Ref
	// Anywhere also searches all other projects of the store, after that one.
	Anywhere bool
}

// FindFormer lists links with an issue that has one of the traits, at most Most of each
// project.
type FindFormer struct {
	Traits []mapping.Trait
	Most   int
}

// ReadLink reads a link.
type ReadLink struct{ Key store.Key }

// ReadAdoption reads whether a project is adopted: whether all its marked items have been
// seen.
type ReadAdoption struct{ Project mapping.ObjectID }

// ReadListed reads whether the issues of a repository that the bridge made were looked through for the
// project's links, under the store's epoch.
type ReadListed struct {
	Project mapping.ObjectID
	Repo    string
}

// Adoption is the store's epoch, and whether a project is adopted under it.
type Adoption struct {
	Done  bool
	Epoch string
	Since time.Time // when this process first knew it
}

// ReadConflict reads an entry of the conflict ledger.
type ReadConflict struct {
	Project mapping.ObjectID
	ID      string
}

// PutConflict writes an entry of the conflict ledger.
type PutConflict struct{ Conflict mapping.Conflict }

// Take takes items from a budget.
type Take struct {
	Budget store.Budget
	Ask    store.Ask
}

// Observe delivers observations to other keys of a project.
type Observe struct {
	Project      mapping.ObjectID
	Observations []store.Observation
}

// Rename reports that a repository has another name.
type Rename struct{ From, To string }

// BeginWrite makes sure that the lease covers one more external write.
type BeginWrite struct{}

// Rise gives the slot at the services to another key, until this key needs one again.
type Rise struct{}

// StandAside lets other keys be worked until [ComeBack]. Where too many keys wait already, the
// answer says when to come again, and the key keeps its slot.
type StandAside struct{}

// ComeBack ends a StandAside.
type ComeBack struct{}

func (Save) answeredWith(None)                     {}
func (FindLink) answeredWith(store.Key)            {}
func (FindFormer) answeredWith([]store.Key)        {}
func (ReadLink) answeredWith(*mapping.Link)        {}
func (ReadAdoption) answeredWith(Adoption)         {}
func (ReadListed) answeredWith(bool)               {}
func (ReadConflict) answeredWith(mapping.Conflict) {}
func (PutConflict) answeredWith(None)              {}
func (Take) answeredWith(store.Grant)              {}
func (Observe) answeredWith([]store.Observed)      {}
func (Rename) answeredWith(None)                   {}
func (BeginWrite) answeredWith(None)               {}
func (Rise) answeredWith(None)                     {}
func (StandAside) answeredWith(time.Duration)      {}
func (ComeBack) answeredWith(None)                 {}
