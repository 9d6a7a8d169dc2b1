package mapping

import "time"

// Entry is one line of a link's history: an act and its reason. explain shows the newest first, and
// the store bounds their number.
type Entry struct {
	At        time.Time `json:"at"`
	Side      Side      `json:"side,omitempty"` // where it was written; "" where nothing was
	Attribute Attribute `json:"attr,omitempty"`
	What      string    `json:"what"` // "write", "agree", "conflict", "create" …
	Why       string    `json:"why"`
	Delivery  string    `json:"delivery,omitempty"` // the delivery that led to it, where known
	Who       string    `json:"who,omitempty"`      // login of the person who caused it, where known
	Took      float64   `json:"took,omitempty"`     // seconds since the change was seen; 0: not known
	// Part names the pair that it was done to, unless that is the issue and its card. It is the
	// name of a sub-issue, or the kind of another pair.
	Part string `json:"part,omitempty"`
}

// Conflict is an entry of the conflict ledger: two conflicting values, both kept whole.
type Conflict struct {
	ID      string   `json:"id"`
	Link    LinkID   `json:"link"`
	Project ObjectID `json:"project"`
	Route   string   `json:"route"`
	Where   string   `json:"where"` // acme/web#12
	// Task is the task whose value it is, unless it is the card's.
	Task      ObjectID  `json:"task,omitempty"`
	Attribute Attribute `json:"attr"`
	Base      *Base     `json:"base,omitempty"`
	GitHub    string    `json:"github"`   // GitHub's value, whole
	Planning  string    `json:"planning"` // planning's value, whole
	// Edited bounds when each side was edited, where people are asked because these times do not
	// show the later one.
	Edited   map[Side]Interval `json:"edited,omitempty"`
	Winner   Side              `json:"winner"` // "" while it is asked
	Rule     string            `json:"rule"`   // which rule decided
	State    string            `json:"state"`  // see the ConflictXxx constants
	Comments []int64           `json:"comments,omitempty"`
	Posted   time.Time         `json:"posted,omitzero"` // when its comment was last sent, whatever the answer
	At       time.Time         `json:"at"`
	Again    time.Time         `json:"again,omitzero"` // when the same values last conflicted again
	Settled  time.Time         `json:"settled,omitzero"`
	// AnsweredBy is the operator whose choice the winner is, and UndoneBy who asked for the undo.
	AnsweredBy string `json:"answered_by,omitempty"`
	UndoneBy   string `json:"undone_by,omitempty"`
}

// ConflictID is the id of a conflict of two values of a planning item. It depends on the values
// alone, and on nothing that a store may lose. So a rebuilt link with another id finds the entry
// and its comment.
func ConflictID(item ObjectID, a Attribute, github, planning string) string {
	return digest([]string{string(item), string(a), canonical(a, github), canonical(a, planning)})
}

// The states of a ledger entry.
const (
	ConflictOpen     = "open"     // asked; nobody has answered yet
	ConflictAnswered = "answered" // an operator chose; the choice is not yet written
	ConflictSettled  = "settled"
	ConflictUndone   = "undone" // the loser was written back
	ConflictErased   = "erased" // its texts were removed
)

// PartedRule is the rule of an entry that was a question until its pair was parted.
const PartedRule = "the pair was parted"

// Part closes a question whose pair was parted. It reports whether the entry was one. Both
// values stay.
func (c *Conflict) Part(at time.Time) bool {
	if c.State != ConflictOpen && c.State != ConflictAnswered {
		return false
	}
	c.State, c.Winner, c.AnsweredBy, c.Rule, c.Settled = ConflictSettled, "", "", PartedRule, at
	return true
}

// Reopen asks a question again whose pair was parted and is linked again. It reports whether
// the entry was one.
func (c *Conflict) Reopen() bool {
	if c.State != ConflictSettled || c.Rule != PartedRule {
		return false
	}
	c.State, c.Rule, c.Settled = ConflictOpen, "the pair was linked again", time.Time{}
	return true
}
