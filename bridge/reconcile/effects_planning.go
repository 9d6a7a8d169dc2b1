package reconcile

import "planbridge/mapping"

// This file has the effects that the key's planning project carries out. Errors match the
// sentinels of mapping.

// ReadCard reads one card.
type ReadCard struct{ ID mapping.ObjectID }

// ReadTask reads one task.
type ReadTask struct{ ID mapping.ObjectID }

// ReadTasks lists the tasks of a card.
type ReadTasks struct{ Card mapping.ObjectID }

// ReadBuckets reads the ids that may address a bucket, which is given by title or id. The
// likeliest id comes first.
type ReadBuckets struct{ Bucket string }

// CheckProject reads the project itself; nil: it answers under its own id.
type CheckProject struct{}

// CreateCard makes one card. It is never repeated automatically. In an import or a crowd, or after
// the route's brake held it, it shares a request with other keys, with at most Most cards.
type CreateCard struct {
	Link   mapping.LinkID
	Order  int // the issue's number: cards stand as their issues do
	Bucket mapping.ObjectID
	Item   BatchItem
	Import bool
	Braked bool
	Most   int
}

// MadeCard is the answer to a [CreateCard].
type MadeCard struct {
	Card    mapping.Card
	Batch   int  // the number of cards in the request; 0: one of its own
	Refused bool // planning refused the batch, and may have made some of it
}

// FindCards searches every bucket and sprint for cards that carry a link's marker, or name its
// issue as their partner. It is the complete lookup that proves absence; after an error it was
// incomplete. Keys of an import or a crowd share one.
type FindCards struct {
	Link   mapping.LinkID
	Issue  int64
	Import bool
}

// FoundCards is the answer to a [FindCards].
type FoundCards struct {
	Cards []mapping.Card
	// Lacking is a card that can be read though no listing showed it, so that the listings
	// prove nothing. "": no such card is known.
	Lacking mapping.ObjectID
}

// CreateTasks makes tasks on a card with one request. Tasks in the answer, in any order, are
// returned even beside an error.
type CreateTasks struct {
	Card     mapping.ObjectID
	Username string
	Tasks    []NewItem
}

// Update writes attributes of a card or a task under their versions, in the name of a user.
type Update struct {
	Item     mapping.Ref
	Username string
	Images   mapping.Images
	Set      map[mapping.Attribute]mapping.Versioned
}

func (ReadCard) answeredWith(mapping.Card)          {}
func (ReadTask) answeredWith(mapping.Task)          {}
func (ReadTasks) answeredWith([]mapping.Task)       {}
func (ReadBuckets) answeredWith([]mapping.ObjectID) {}
func (CheckProject) answeredWith(None)              {}
func (CreateCard) answeredWith(MadeCard)            {}
func (FindCards) answeredWith(FoundCards)           {}
func (CreateTasks) answeredWith([]mapping.Task)     {}
func (Update) answeredWith(Updated)                 {}
