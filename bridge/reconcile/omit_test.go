package reconcile

import (
	"errors"
	"fmt"
	"testing"

	"planbridge/mapping"
)

// The part that is left out of a refused item, by its parts and the field that the refusal names.
func TestLeaveOut(t *testing.T) {
	words := func(field string) error {
		return fmt.Errorf("create: %w", &mapping.Rejection{Status: 422, Field: field, Message: "no"})
	}
	gone, down := fmt.Errorf("bucket: %w", mapping.ErrNotFound), errors.New("down")
	card := []omittable{theUser, theBucket, theEstimate, theText}
	bare := []omittable{theBucket, theEstimate, theText} // in the name of the route's user
	issue := []omittable{theEstimate, theText, theShown}
	long := []omittable{theEstimate, theText, theShown, theLongText}
	for _, c := range []struct {
		side mapping.Side
		has  []omittable
		why  error
		want omittable
	}{
		{mapping.Planning, card, words(""), theUser},
		{mapping.Planning, card, words("username"), theUser},
		{mapping.Planning, card, words("title"), theBucket},
		{mapping.Planning, card, words("estimate"), theEstimate},
		{mapping.Planning, card, words("summary"), theBucket},
		{mapping.Planning, card, gone, theBucket},
		{mapping.Planning, bare, words(""), theEstimate},
		{mapping.Planning, bare, words("username"), theBucket},
		{mapping.Planning, bare, words("title"), theBucket},
		{mapping.Planning, []omittable{theEstimate, theText}, words("title"), ""},
		{mapping.Planning, []omittable{theEstimate, theText}, words("username"), ""},
		{mapping.Planning, []omittable{theEstimate, theText}, words("summary"), theText},
		{mapping.Planning, []omittable{theEstimate, theText}, gone, ""},
		{mapping.Planning, []omittable{theText}, words(""), theText},
		{mapping.Planning, nil, words(""), ""},
		{mapping.Planning, card, down, ""},
		{mapping.GitHub, issue, words(""), theShown},
		{mapping.GitHub, issue, words("labels"), theShown},
		{mapping.GitHub, issue, words("body"), theText},
		{mapping.GitHub, issue, words("title"), ""},
		{mapping.GitHub, long, words(""), theLongText},
		{mapping.GitHub, []omittable{theEstimate, theText}, words("labels"), theEstimate},
		{mapping.GitHub, []omittable{theText}, words("labels"), theText},
		{mapping.GitHub, nil, words(""), ""},
		{mapping.GitHub, issue, gone, ""},
		{mapping.GitHub, issue, down, ""},
	} {
		if got := leaveOut(c.side, c.has, c.why); got != c.want {
			t.Errorf("%s %v, %v: left out %q, want %q", c.side, c.has, c.why, got, c.want)
		}
	}
}

// unknown is a kind of which it cannot be told whether its items exist.
type unknown struct {
	kind
	asked bool
}

func (u *unknown) find([]*want) error { return errors.New("between two links") }

func (u *unknown) ready(*want) (bool, error) { u.asked = true; return false, nil }

// An item that may exist already is not made, though it was never sent.
func TestNothingIsMadeThatMayBeThere(t *testing.T) {
	u := &unknown{}
	c := &creation{w: work{&state{set: &Settings{}}}, side: mapping.GitHub, kind: u}
	if err := c.once(&want{intent: &mapping.Intent{}}); err == nil || u.asked {
		t.Errorf("it was to be made: %v, with the error %v", u.asked, err)
	}
}
