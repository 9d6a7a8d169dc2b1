package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Headline describes an item's state in one line, with absolute times.
func (d *LinkDetail) Headline() string {
	says, _ := headline(d, moments{})
	return says
}

// moments writes times relative to now; with the zero value, it writes absolute times.
type moments struct{ now time.Time }

// ago is a past moment.
func (m moments) ago(t time.Time) string {
	if m.now.IsZero() {
		return "at " + t.UTC().Format(time.RFC3339)
	}
	return ago(m.now, t)
}

// since is how long a state has lasted that began at a moment.
func (m moments) since(t time.Time) string {
	if m.now.IsZero() {
		return "since " + t.UTC().Format(time.RFC3339)
	}
	return "for " + span(m.now.Sub(t))
}

// in is a future moment.
func (m moments) in(t time.Time) string {
	if m.now.IsZero() {
		return "at " + t.UTC().Format(time.RFC3339)
	}
	return in(m.now, t)
}

// headline describes an item's state in one line, and says whether somebody has to act.
func headline(d *LinkDetail, now moments) (says string, bad bool) {
	if d.Was != "" {
		is := *d
		is.Was = ""
		says, bad = headline(&is, now)
		return "It was " + d.Was + " before. " + says, bad
	}
	if o := d.Outside; o != nil {
		if o.Route != "" {
			return "It is not synchronised by route " + o.Route + ": " + o.Why, false
		}
		return "It is not synchronised: " + o.Why, false
	}
	if c := d.Part; c != nil {
		return c.headline(d, now)
	}
	if q := d.Queue; q != nil && q.State == string(store.KeyParked) {
		return fmt.Sprintf("It was given up %s after %s, and waits for a retry or a new change: %s", now.ago(q.At), mapping.Count(q.Attempts, "attempt", "attempts"), q.Reason), true
	}
	if says, bad := outOfStep(d.Link.State, d.Link.Why); says != "" {
		return says, bad
	}
	if d.Link.Paused {
		return "Its route is paused: changes are taken and wait until somebody resumes it.", true
	}
	if says := d.questioned(); says != "" {
		return says, true
	}
	if q := d.Queue; q != nil {
		switch store.KeyState(q.State) {
		case store.KeyWaiting:
			return fmt.Sprintf("It has been waiting for %s %s: %s", cmp.Or(q.WaitsFor, q.Service), now.since(q.At), q.Reason), false
		case store.KeyLater:
			return fmt.Sprintf("It is looked at again %s: %s", now.in(q.At), q.Reason), false
		case store.KeyDue:
			return fmt.Sprintf("It has been due and waiting for a free worker %s.", now.since(q.At)), false
		case store.KeyWorked:
			return "It is being worked at this moment.", false
		}
	}
	return restingLine(d, now)
}

// restingLine describes a pair that waits for nothing.
func restingLine(d *LinkDetail, now moments) (says string, bad bool) {
	switch mapping.LinkState(d.Link.State) {
	case mapping.Entering:
		return "It was seen, and no partner was made yet.", false
	case mapping.Creating:
		return "Its partner is being made.", false
	}
	if says := d.blocked(); says != "" {
		return says, true
	}
	if d.Now != nil && len(d.Now.Gone) > 0 {
		return d.Now.Absence() + ". It is looked at by the next verification of all links, and by planbridge verify --repair at once.", false
	}
	if d.Now != nil && len(d.Now.Unread) > 0 {
		side := slices.Sorted(maps.Keys(d.Now.Unread))[0]
		return fmt.Sprintf("What %s shows now could not be read: %s", sideName(side), d.Now.Unread[side]), false
	}
	if d.Now != nil && len(d.Now.Next) > 0 {
		n := d.Now.Next[0]
		return fmt.Sprintf("The sides differ in the %s; the next look does this: %s, %s", plainAttribute(n.Attribute), n.Action, n.Why), false
	}
	if d.Link.Synced.IsZero() {
		return "Nothing is to be done.", false
	}
	return "Both sides agree; that was last confirmed " + now.ago(d.Link.Synced) + ".", false
}

// Absence says that a side lacks its item, or has it elsewhere; "": both have their items.
func (n *Now) Absence() string {
	if len(n.Gone) == 0 {
		return ""
	}
	side, item := n.Gone[0], "the issue"
	if side == string(mapping.Planning) {
		item = "the card or its tracking task"
	}
	return fmt.Sprintf("%s does not have %s there any more: %s", capital(sideName(side)), item, n.Unread[side])
}

// capital begins a sentence.
func capital(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

// outOfStep says why a resting pair is not synchronised; "": it is.
func outOfStep(state, why string) (says string, bad bool) {
	switch mapping.LinkState(state) {
	case mapping.Left, mapping.Orphaned, mapping.Dormant, mapping.Erased:
		return fmt.Sprintf("It is not synchronised (%s): %s", state, cmp.Or(why, "nothing more is known")), state == string(mapping.Orphaned)
	}
	return "", false
}

// Held says what keeps a value of the pair, or of a part of it, from being written; "": nothing.
func (d *LinkDetail) Held() string { return cmp.Or(d.questioned(), d.blocked()) }

// questioned describes the questions to people about the pair or a part of it.
func (d *LinkDetail) questioned() string {
	says := asked(d.Asking, "")
	for i := range d.Children {
		says = cmp.Or(says, asked(d.Children[i].Asking, " of "+d.Children[i].name()))
	}
	return says
}

// blocked says which value of the pair or of a part of it a side refuses.
func (d *LinkDetail) blocked() string {
	says := refused(d.Refused, "")
	for i := range d.Children {
		says = cmp.Or(says, refused(d.Children[i].Refused, " of "+d.Children[i].name()))
	}
	return says
}

// asked names the attributes of a pair that people are asked about; "": none.
func asked(about map[string]string, of string) string {
	if len(about) == 0 {
		return ""
	}
	return fmt.Sprintf("Both sides changed the %s%s, and somebody has to choose.", some(plainAttributes(about)), of)
}

// refused names the values of a pair that a side refuses; "": none.
func refused(what map[string]Refusal, of string) string {
	for _, a := range attributesOf(what) {
		r := what[a]
		side := sideName(r.Side)
		return fmt.Sprintf("%s does not take the %s%s: %s", capital(side), plainAttribute(a), of, r.Words)
	}
	return ""
}

// Name is the item's name for people.
func (d *LinkDetail) Name() string {
	switch {
	case d.Outside != nil:
		return d.Outside.Name()
	case d.Part != nil && d.Part.isIssue():
		return d.Part.name()
	}
	return d.Link.Where
}

func (c *Child) isIssue() bool { return c.Issue != nil && c.Issue.Number != 0 }

// name is the name of a part of a pair for people.
func (c *Child) name() string {
	if c.isIssue() {
		return c.Issue.Name()
	}
	return "task " + c.Task
}

// The values of [Child.Parent].
const parentNone, parentAnother = "none", "another"

// Left says that a sub-issue has left its parent, whose card keeps its task; "": it has not.
func (c *Child) Left() string {
	return map[string]string{parentNone: "no sub-issue any more", parentAnother: "a sub-issue of another issue now"}[c.Parent]
}

// headline describes a part of a pair, and then the pair.
func (c *Child) headline(d *LinkDetail, now moments) (says string, bad bool) {
	whole := *d
	whole.Part = nil
	what := map[string]string{
		KindOf(&mapping.Pair{Kind: mapping.SubIssue}): "a sub-issue of %s, and a task of its card",
		string(mapping.Checklist):                     "a line of the checklist of %s, and a task of its card",
		string(mapping.Tracking):                      "the tracking task of %s",
	}[c.Kind]
	if left := c.Left(); left != "" {
		what = left + "; it was one of %s, whose card keeps its task"
	}
	if says, bad = outOfStep(c.State, c.Why); says == "" {
		if says, bad = asked(c.Asking, ""), true; says == "" {
			says = refused(c.Refused, "")
		}
	}
	if says == "" {
		if says, bad = headline(&whole, now); c.Why != "" {
			says = "It waits: " + c.Why + ". " + says
		}
	}
	return "It is " + fmt.Sprintf(what, d.Link.Where) + ". " + says, bad
}

// partOf is the part of a pair that an item names; nil: it names the pair itself.
func partOf(d *LinkDetail, l *mapping.Link, item Item) *Child {
	for i, p := range slices.Concat(l.Children, l.SubLinks) {
		issue := item.Number != 0 && strings.EqualFold(p.Issue.Repo, item.Repository) && p.Issue.Number == item.Number
		if issue || string(p.Card.ID) == item.Name || item.Numbers(p) {
			return &d.Children[i]
		}
	}
	return nil
}
