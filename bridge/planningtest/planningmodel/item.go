package planningmodel

import (
	"slices"
	"time"
)

// Attr is a versioned attribute that the service keeps.
type Attr int

// The attributes.
const (
	Title Attr = iota
	Summary
	Estimate
	State // of a task its state; of a card the id of its bucket
	Iteration
	Review
	Order
	TaskCounters
	TaskEstimate
	ItemCounters // of a sprint
	StartDate    // of a sprint
	EndDate      // of a sprint
	attrCount
)

var attrNames = [attrCount]string{
	"title", "summary", "estimate", "state", "iteration", "iterationReview",
	"order", "taskCounters", "taskEstimate", "itemCounters", "startDate", "endDate",
}

// String is the attribute's name in the API.
func (a Attr) String() string { return attrNames[a] }

// AttrNamed is the attribute with that name in the API.
func AttrNamed(name string) (Attr, bool) {
	i := slices.Index(attrNames[:], name)
	return Attr(i), i >= 0
}

// attr is a versioned attribute. Its value is text whatever its type: numbers
// in decimal, counters in JSON, a summary as Markdown; "" stands for null.
type attr struct {
	value   string
	version int64
	past    []Value
}

// Value is one value that an attribute had.
type Value struct {
	Value   string // a number in decimal, counters in JSON, a summary as Markdown; "" for null
	Version int64
	User    string // its author; "" where the service itself computed it
	Time    time.Time
	ByAPI   bool // written through the API, else by a person in the service's own pages
}

// author is the author of a change, and its way.
type author struct {
	user string
	api  bool
}

// Kind is the kind of an item.
type Kind int

// The kinds.
const (
	KindCard Kind = iota
	KindTask
	KindSprint
)

func (k Kind) String() string { return [...]string{"card", "task", "sprint"}[k] }

// item is a card, a task or a sprint.
type item struct {
	kind    Kind
	id      string
	cid     int
	version int64
	attrs   [attrCount]attr
	html    string // of the summary

	placeholder bool    // of a card: it holds tasks of no card
	tasks       []*item // of a card

	card  *item       // of a task
	log   []Remaining // of a task
	users []Assignment

	start, end time.Time // of a sprint
}

// Remaining is an entry of a task's timeRemaining.
type Remaining struct {
	Hours float64
	When  time.Time
	Who   string
}

// Assignment is an entry of a task's users.
type Assignment struct {
	User, Who string
	When      time.Time
}

// setting is a value to be given to an attribute.
type setting struct {
	attr  Attr
	value string
}

// keep records a value without touching the version.
func (p *Project) keep(it *item, name Attr, value string, by author) {
	a := &it.attrs[name]
	a.value = value
	if name == Summary {
		it.html = render(value)
	}
	a.past = append(a.past, Value{value, a.version, by.user, p.s.o.Now(), by.api})
}

func (p *Project) raise(it *item, name Attr, value string, by author) {
	it.attrs[name].version++
	p.keep(it, name, value, by)
}

// write gives an item new values in one act. Each changed attribute rises by
// one, and the item by one however many they are (facts of real data: version
// arithmetic).
func (p *Project) write(it *item, by author, settings ...setting) {
	t, rose := &p.s.traits, false
	for _, w := range settings {
		switch {
		case it.attrs[w.attr].value == w.value && !(by.api && t.SameValueRaisesVersion):
			continue
		case by.api && w.attr == State && t.StateVersionKept:
			p.keep(it, w.attr, w.value, by)
		default:
			p.raise(it, w.attr, w.value, by)
		}
		rose = true
	}
	if rose {
		it.version++
		p.wrote(it)
	}
}

// wrote brings the aggregates above an item up to date.
func (p *Project) wrote(it *item) {
	p.activity++
	switch it.kind {
	case KindCard:
		p.recountSprint(it.attrs[Iteration].value)
	case KindTask:
		before := it.card.version
		p.recount(it.card, false)
		if p.s.traits.TaskEditRaisesCardVersion && it.card.version == before {
			it.card.version++
		}
	}
}
