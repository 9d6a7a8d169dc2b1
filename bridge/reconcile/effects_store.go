package reconcile

import (
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// What the core asks of the store, and of the program that it runs in. Errors match those of
// store.

// Save stores the root link under the claim. It fails with store.ErrLeaseLost once the lease
// is over.
type Save struct{ Link *mapping.Link }

// FindLink finds the link that has an item.
type FindLink struct {
	Project mapping.ObjectID
	Ref     mapping.Ref
	// Anywhere looks in all other projects of the store too, behind that one.
	Anywhere bool
}

// FindFormer lists links of whose issues one has one of some traits, at most Most of each
// project of the store.
type FindFormer struct {
	Traits []mapping.Trait
	Most   int
}

// ReadLink reads a link.
type ReadLink struct{ Key store.Key }

// ReadAdoption reads whether everything marked in a project has been seen.
type ReadAdoption struct{ Project mapping.ObjectID }

// Adoption is the store's epoch, and whether everything marked in a project has been seen
// under it.
type Adoption struct {
	Done  bool
	Epoch string
	Since time.Time // when this process first knew that it is done
}

// ReadConflict reads an entry of the ledger of conflicts.
type ReadConflict struct {
	Project mapping.ObjectID
	ID      string
}

// PutConflict writes an entry of the ledger of conflicts.
type PutConflict struct{ Conflict mapping.Conflict }

// Take takes of a budget.
type Take struct {
	Budget store.Budget
	Ask    store.Ask
}

// Observe hands observations over to other keys of a project.
type Observe struct {
	Project      mapping.ObjectID
	Observations []store.Observation
}

// Rename tells the program that a repository has another name.
type Rename struct{ From, To string }

// BeginWrite makes sure that the lease lasts for one external write more.
type BeginWrite struct{}

// Rise lets another key have the slot at the services, until this one needs one again.
type Rise struct{}

// StandAside lets other keys be worked until [ComeBack]. Where too many keys wait already it
// is answered with when to come again, and the key stays.
type StandAside struct{}

// ComeBack ends what StandAside began.
type ComeBack struct{}

func (Save) answeredWith(None)                     {}
func (FindLink) answeredWith(store.Key)            {}
func (FindFormer) answeredWith([]store.Key)        {}
func (ReadLink) answeredWith(*mapping.Link)        {}
func (ReadAdoption) answeredWith(Adoption)         {}
func (ReadConflict) answeredWith(mapping.Conflict) {}
func (PutConflict) answeredWith(None)              {}
func (Take) answeredWith(store.Grant)              {}
func (Observe) answeredWith([]store.Observed)      {}
func (Rename) answeredWith(None)                   {}
func (BeginWrite) answeredWith(None)               {}
func (Rise) answeredWith(None)                     {}
func (StandAside) answeredWith(time.Duration)      {}
func (ComeBack) answeredWith(None)                 {}
