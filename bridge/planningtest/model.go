package planningtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// attrName is a versioned attribute that the simulator keeps.
type attrName int

const (
	title attrName = iota
	summary
	estimate
	state // of a task its state; of a card the id of its bucket
	iteration
	review
	order
	taskCounters
	taskEstimate
	itemCounters // of a sprint
	startDate    // of a sprint
	endDate      // of a sprint
	attrCount
)

var attrNames = [attrCount]string{"title", "summary", "estimate", "state", "iteration", "iterationReview",
	"order", "taskCounters", "taskEstimate", "itemCounters", "startDate", "endDate"}

// attr is a versioned attribute. Its value is text whatever its type: numbers
// in decimal, counters in JSON, a summary as Markdown; "" stands for null.
type attr struct {
	value   string
	version int64
	past    []Value
}

// Value is one value that an attribute held.
type Value struct {
	Value   string // a number in decimal, counters in JSON, a summary as Markdown; "" for null
	Version int64
	User    string // who wrote it; "" where the service itself computed it
	Time    time.Time
	ByAPI   bool // written through the API, else by a person in the service's own pages
}

// author is who makes a change, and on which way.
type author struct {
	user string
	api  bool
}

type kind int

const (
	card kind = iota
	task
	sprint
)

func (k kind) String() string { return [...]string{"card", "task", "sprint"}[k] }

// item is a card, a task or a sprint.
type item struct {
	kind    kind
	id      string
	cid     int
	version int64
	attrs   [attrCount]attr
	html    string // of the summary

	placeholder bool    // of a card: it holds tasks of no card
	tasks       []*item // of a card

	card  *item       // of a task
	log   []remaining // of a task
	users []assignment

	start, end time.Time // of a sprint
}

// remaining is an entry of a task's timeRemaining.
type remaining struct {
	hours float64
	when  time.Time
	who   string
}

// assignment is an entry of a task's users.
type assignment struct {
	user, who string
	when      time.Time
}

// setting is a value to be given to an attribute.
type setting struct {
	attr  attrName
	value string
}

// keep records a value without touching the version.
func (p *Project) keep(it *item, name attrName, value string, by author) {
	a := &it.attrs[name]
	a.value = value
	if name == summary {
		it.html = render(value)
	}
	a.past = append(a.past, Value{value, a.version, by.user, p.s.clock(), by.api})
}

func (p *Project) raise(it *item, name attrName, value string, by author) {
	it.attrs[name].version++
	p.keep(it, name, value, by)
}

// write gives an item new values in one act. Each changed attribute rises by
// one, and the item by one however many they are (facts of real data: version
// arithmetic). It reports whether anything rose.
func (p *Project) write(it *item, by author, settings ...setting) bool {
	t, rose := &p.s.traits, false
	for _, w := range settings {
		switch {
		case it.attrs[w.attr].value == w.value && !(by.api && t.SameValueRaisesVersion):
			continue
		case by.api && w.attr == state && t.StateVersionKept:
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
	return rose
}

// wrote brings the aggregates above an item up to date.
func (p *Project) wrote(it *item) {
	p.activity++
	switch it.kind {
	case card:
		p.recountSprint(it.attrs[iteration].value)
	case task:
		before := it.card.version
		p.recount(it.card, false)
		if p.s.traits.TaskEditRaisesCardVersion && it.card.version == before {
			it.card.version++
		}
	}
}

// recount computes a card's aggregates over its tasks. Each that changes
// raises itself and the card by one; a created task raises both, changed or
// not (facts of real data).
func (p *Project) recount(c *item, created bool) {
	for _, w := range []setting{{taskCounters, countTasks(c).text()}, {taskEstimate, sumHours(c.tasks)}} {
		if created || c.attrs[w.attr].value != w.value {
			p.raise(c, w.attr, w.value, author{})
			c.version++
		}
	}
	p.recountSprint(c.attrs[iteration].value)
}

// recountSprint computes a sprint's aggregates over its cards; id may be "".
func (p *Project) recountSprint(id string) {
	sp := p.items[id]
	if sp == nil {
		return
	}
	var tasks []*item
	var points []string
	var all, items counters
	for _, c := range p.sprintCards(id) {
		points = append(points, c.attrs[estimate].value)
		tasks = append(tasks, c.tasks...)
		n := countTasks(c)
		all.add(n)
		items.count(n.status())
	}
	rose := false
	for _, w := range []setting{{taskCounters, all.text()}, {itemCounters, items.text()},
		{estimate, sum(points)}, {taskEstimate, sumHours(tasks)}} {
		if sp.attrs[w.attr].value != w.value {
			p.raise(sp, w.attr, w.value, author{})
			rose = true
		}
	}
	if rose {
		sp.version++
	}
}

func (p *Project) sprintCards(id string) []*item {
	return slices.DeleteFunc(slices.Clone(p.cards), func(c *item) bool { return c.attrs[iteration].value != id })
}

// counters is the service's aggregate over tasks or cards.
type counters struct {
	Done       int `json:"done"`
	Todo       int `json:"todo"`
	InProgress int `json:"inProgress"`
}

func (c *counters) count(state string) {
	switch state {
	case "done":
		c.Done++
	case "in-progress":
		c.InProgress++
	default:
		c.Todo++
	}
}

func (c *counters) add(o counters) {
	c.Done += o.Done
	c.Todo += o.Todo
	c.InProgress += o.InProgress
}

func (c counters) total() int { return c.Done + c.Todo + c.InProgress }

// status is done where everything is, todo where nothing was begun, else
// in-progress; "" where there is nothing.
func (c counters) status() string {
	switch c.total() {
	case 0:
		return ""
	case c.Done:
		return "done"
	case c.Todo:
		return "todo"
	}
	return "in-progress"
}

// text is what an attribute holds of the counters.
func (c counters) text() string {
	if c.total() == 0 {
		return ""
	}
	b, _ := json.Marshal(c) // a struct of integers always encodes
	return string(b)
}

func countTasks(c *item) (n counters) {
	for _, t := range c.tasks {
		n.count(t.attrs[state].value)
	}
	return n
}

func sumHours(tasks []*item) string {
	hours := make([]string, len(tasks))
	for i, t := range tasks {
		hours[i] = t.attrs[estimate].value
	}
	return sum(hours)
}

// sum adds decimal texts; it is "" where none of them holds a number.
func sum(numbers []string) string {
	var total float64
	any := false
	for _, n := range numbers {
		if v := number(n); v != nil {
			total += *v
			any = true
		}
	}
	if !any {
		return ""
	}
	return decimal(&total)
}

// decimal is the text of a number, "" for nil.
func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// number is the inverse of decimal.
func number(text string) *float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &v
}
