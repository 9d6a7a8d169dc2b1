package reconcile

import (
	"errors"
	"slices"

	"planbridge/mapping"
)

// omittable is a part that an item may be made without, so that one bad value does not keep
// the item from being made.
type omittable string

const (
	theUser     omittable = "user"     // the person in whose name it is made; the route's user is left
	theBucket   omittable = "bucket"   // the first of the ids by which its bucket is addressed
	theEstimate omittable = "estimate" // of an issue, its label
	theText     omittable = "text"     // a summary, a body
	theLongText omittable = "long text"
	theShown    omittable = "shown" // labels that only show planning's state
)

// omission says which refusals may be about a part.
type omission struct {
	thing omittable
	only  []string // the fields that the refusal may name, "" for none; nil: any
	not   []string // fields that it may not name
	gone  bool     // "it is gone" may be about it as well
}

// omissions lists the parts that an item of a side may be made without, in the order in which
// they go.
var omissions = map[mapping.Side][]omission{
	mapping.Planning: {
		{thing: theUser, not: []string{string(mapping.Title), string(mapping.Summary), string(mapping.Estimate), string(mapping.State)}},
		{thing: theEstimate, only: []string{"", string(mapping.Estimate)}},
		{thing: theBucket, gone: true},
		{thing: theText, only: []string{"", string(mapping.Summary)}},
	},
	mapping.GitHub: {
		{thing: theLongText},
		{thing: theText, only: []string{"body"}},
		{thing: theShown, not: []string{"title"}},
		{thing: theEstimate, not: []string{"title"}},
		{thing: theText, not: []string{"title"}},
	},
}

// leaveOut returns the first part, in its side's order, that the item has and that the refusal
// may be about; "": there is none.
func leaveOut(side mapping.Side, has []omittable, why error) omittable {
	var refused *mapping.Rejection
	words := errors.As(why, &refused)
	for _, o := range omissions[side] {
		about := o.gone && IsGone(why)
		if words {
			about = (o.only == nil || slices.Contains(o.only, refused.Field)) && !slices.Contains(o.not, refused.Field)
		}
		if about && slices.Contains(has, o.thing) {
			return o.thing
		}
	}
	return ""
}
