package reconcile

import "planbridge/mapping"

// What the core asks of the planning project that the key belongs to. Errors match the
// sentinels of mapping.

// ReadCard reads one card.
type ReadCard struct{ ID mapping.ObjectID }

// ReadTask reads one task.
type ReadTask struct{ ID mapping.ObjectID }

// ReadTasks lists the tasks of a card.
type ReadTasks struct{ Card mapping.ObjectID }

// ReadBuckets reads the ids by which a bucket, given by title or id, may be addressed, the
// likeliest first.
type ReadBuckets struct{ Bucket string }

// CheckProject reads the project itself: nil where it answers under its own id.
type CheckProject struct{}

// CreateCard makes one card. It is never repeated by itself. Of an import, or in a crowd, it
// goes out with those of other keys, at most Most with one request.
type CreateCard struct {
	Link   mapping.LinkID
	Order  int // the issue's number: cards stand as their issues do
	Bucket mapping.ObjectID
	Item   BatchItem
	Import bool
	Most   int
}

// MadeCard is the answer to a [CreateCard].
type MadeCard struct {
	Card    mapping.Card
	Batch   int  // how many went out together; 0: it went alone
	Refused bool // planning refused the batch, and may have made some of it
}

// FindCards looks through every bucket and sprint for the cards that carry the marker of a
// link, or name its issue as their partner: the complete lookup that proves absence. An error
// means that it was not complete. Keys of an import, and those of a crowd, share one.
type FindCards struct {
	Link   mapping.LinkID
	Issue  int64
	Import bool
}

// FoundCards is the answer to a [FindCards].
type FoundCards struct {
	Cards []mapping.Card
	// Lacking is a card that can be read though no listing showed it: the listings prove
	// nothing. "": none is known.
	Lacking mapping.ObjectID
}

// CreateTasks makes tasks on a card with one request. What was answered, in any order, comes
// back also beside an error.
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
