package planningmodel

import (
	"encoding/json"
	"slices"
	"strconv"
)

// recount computes a card's aggregates over its tasks. Each that changes
// raises itself and the card by one; a created task raises both, changed or
// not (facts of real data).
func (p *Project) recount(c *item, created bool) {
	for _, w := range []setting{{TaskCounters, countTasks(c).text()}, {TaskEstimate, sumHours(c.tasks)}} {
		if created || c.attrs[w.attr].value != w.value {
			p.raise(c, w.attr, w.value, author{})
			c.version++
		}
	}
	p.recountSprint(c.attrs[Iteration].value)
}

// recountSprint computes a sprint's aggregates over its cards; id may be "".
func (p *Project) recountSprint(id string) {
	sp := p.items[id]
	if sp == nil {
		return
	}
	var tasks []*item
	var points []string
	var all, items Counters
	for _, c := range p.sprintCards(id) {
		points = append(points, c.attrs[Estimate].value)
		tasks = append(tasks, c.tasks...)
		n := countTasks(c)
		all.add(n)
		items.count(n.Status())
	}
	rose := false
	for _, w := range []setting{
		{TaskCounters, all.text()},
		{ItemCounters, items.text()},
		{Estimate, sum(points)},
		{TaskEstimate, sumHours(tasks)},
	} {
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
	return slices.DeleteFunc(slices.Clone(p.cards), func(c *item) bool { return c.attrs[Iteration].value != id })
}

// Counters is the service's aggregate over tasks or cards.
type Counters struct {
	Done       int `json:"done"`
	Todo       int `json:"todo"`
	InProgress int `json:"inProgress"`
}

func (c *Counters) count(state string) {
	switch state {
	case "done":
		c.Done++
	case "in-progress":
		c.InProgress++
	default:
		c.Todo++
	}
}

func (c *Counters) add(o Counters) {
	c.Done += o.Done
	c.Todo += o.Todo
	c.InProgress += o.InProgress
}

// Total is their sum.
func (c Counters) Total() int { return c.Done + c.Todo + c.InProgress }

// Status is done where everything is, todo where nothing was begun, else
// in-progress; "" where there is nothing.
func (c Counters) Status() string {
	switch c.Total() {
	case 0:
		return ""
	case c.Done:
		return "done"
	case c.Todo:
		return "todo"
	}
	return "in-progress"
}

// text is the counters' form in an attribute.
func (c Counters) text() string {
	if c.Total() == 0 {
		return ""
	}
	b, _ := json.Marshal(c) // a struct of integers always encodes
	return string(b)
}

// ParseCounters is the inverse of text.
func ParseCounters(text string) (c Counters) {
	json.Unmarshal([]byte(text), &c) //nolint:errcheck // it is what text made
	return c
}

func countTasks(c *item) (n Counters) {
	for _, t := range c.tasks {
		n.count(t.attrs[State].value)
	}
	return n
}

func sumHours(tasks []*item) string {
	hours := make([]string, len(tasks))
	for i, t := range tasks {
		hours[i] = t.attrs[Estimate].value
	}
	return sum(hours)
}

// sum adds decimal texts; it is "" where none of them holds a number.
func sum(numbers []string) string {
	var total float64
	found := false
	for _, n := range numbers {
		if v := number(n); v != nil {
			total += *v
			found = true
		}
	}
	if !found {
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
