package planningmodel

import (
	"slices"
	"time"
)

// Attribute is an attribute as an answer shows it. Its value is text whatever
// its type: a number in decimal, counters in JSON (see [ParseCounters]), a
// summary as Markdown; "" stands for null.
type Attribute struct {
	Value   string
	Version int64
}

// Item is a card, a task or a sprint as an answer shows it.
type Item struct {
	Kind    Kind
	ID      string
	CID     int
	Version int64
	Attrs   [attrCount]Attribute
	HTML    string // of the summary
	Place   int    // of an item of a batch: its position in the batch

	Placeholder bool   // of a card: it holds tasks of no card
	Status      string // of a card: the status of its tasks; "" without tasks
	Tasks       []Item // of a card in a sprint's listing

	Card      string // of a task: the id of its card
	Remaining []Remaining
	Users     []Assignment

	Start, End           time.Time // of a sprint
	Future, Active, Past bool      // of a sprint: where it is in time
}

func (it *item) view() Item {
	v := Item{
		Kind: it.kind, ID: it.id, CID: it.cid, Version: it.version, HTML: it.html,
		Placeholder: it.placeholder, Start: it.start, End: it.end,
	}
	for i := range it.attrs {
		v.Attrs[i] = Attribute{it.attrs[i].value, it.attrs[i].version}
	}
	switch it.kind {
	case KindCard:
		v.Status = countTasks(it).Status()
	case KindTask:
		v.Card, v.Remaining, v.Users = it.card.id, slices.Clone(it.log), slices.Clone(it.users)
	}
	return v
}

// sprintView is the view of a sprint.
func (p *Project) sprintView(sp *item) Item {
	v, now := sp.view(), p.s.o.Now()
	v.Future, v.Past = now.Before(sp.start), now.After(sp.end)
	v.Active = !v.Future && !v.Past
	return v
}

// Bucket is a bucket of the backlog. Its two ids are shown where
// [Traits.BucketIDsDiffer] says so.
type Bucket struct {
	Title     string
	ID        string // in cards' state and in the project
	ListingID string
}

// ListedID is the id by which the bucket listings show a bucket.
func (t *Traits) ListedID(b Bucket) string {
	if t.BucketIDsDiffer {
		return b.ListingID
	}
	return b.ID
}

// ShownState is a card's shown state: the id of its bucket. A card that left the backlog for a
// sprint shows a word about its tasks, which may be "".
func (t *Traits) ShownState(card *Item) (bucket, word string) {
	if card.Attrs[Iteration].Value != "" && !t.SprintCardsInBacklog {
		return "", card.Status
	}
	return card.Attrs[State].Value, ""
}

// ShowsStatus reports whether an item's counters are shown with their status.
func (t *Traits) ShowsStatus(it *Item) bool { return it.Kind == KindCard || !t.OmitOptional }

// ProjectInfo is the API's data of the project itself.
type ProjectInfo struct {
	ID, Title, Type    string
	Owner, Timezone    string
	Start, End         time.Time
	Activity           int64
	BucketsVersion     int64
	Buckets            []Bucket
	Members, Followers int
}
