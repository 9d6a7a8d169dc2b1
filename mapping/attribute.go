package mapping

// Attribute is one synchronised value of a link.
type Attribute string

// The attributes that are synchronised between an issue and its card (or its
// card's tracking task, for State).
const (
	Title    Attribute = "title"    // one line of text
	Summary  Attribute = "summary"  // Markdown: the body, the card's summary.markdown
	Estimate Attribute = "estimate" // a decimal number as text; "" where none is set
	State    Attribute = "state"    // StateTodo, StateInProgress or StateDone
)

// Attributes lists every attribute in the order in which plans, ledgers and
// pages show them.
var Attributes = []Attribute{Title, Summary, Estimate, State}

// The values of [State] in both representations (docs/planning-api.md part 3).
const (
	StateTodo       = "todo"
	StateInProgress = "in-progress"
	StateDone       = "done"
)

// Side is one of the two services.
type Side string

// The two sides.
const (
	GitHub   Side = "github"
	Planning Side = "planning"
)

// Other returns the opposite side.
func (s Side) Other() Side {
	if s == GitHub {
		return Planning
	}
	return GitHub
}

// Versioned is a planning value together with the attribute version that the
// optimistic lock compares (docs/planning-api.md 2.1, 4.2).
type Versioned struct {
	Value   string `json:"v"`
	Version int64  `json:"n"`
}

// ForceVersion makes planning take a write whatever the stored version is
// (docs/planning-api.md 4.2 rule 4). Only a route with force: true uses it.
const ForceVersion = -1

// Base is what both sides last agreed on for one attribute. Each side has its own representation,
// as a side may normalise Markdown or cut a title, which is no edit.
type Base struct {
	GitHub   string `json:"g"`
	Planning string `json:"p"`
	Version  int64  `json:"n"` // planning's version of Planning
}
