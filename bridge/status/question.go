package status

import (
	"planbridge/mapping"
)

// question is a conflict as the pages show it: both values, with their difference.
type question struct {
	Conflict
	Explain            string // the item for explain
	OnGitHub, InPlan   []stretch
	CanAnswer, CanUndo bool
}

func questionOf(c *mapping.Conflict) question {
	q := question{
		Conflict: conflictOf(c), Explain: string(c.Link),
		CanAnswer: c.State == mapping.ConflictOpen, CanUndo: c.State == mapping.ConflictSettled,
	}
	q.OnGitHub, q.InPlan = beside(c.GitHub, c.Planning)
	return q
}

// What names the attribute for people.
func (q *question) What() string { return plainAttribute(q.Attribute) }

// Text reports whether the values are texts of several lines.
func (q *question) Text() bool { return mapping.Attribute(q.Attribute) == mapping.Summary }
