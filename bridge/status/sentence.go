package status

import (
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
)

// said is an activity as a sentence: the person, the act, the item and the result. The item's name
// stands between Did and Then, as it is a link.
type said struct {
	At    time.Time
	Who   string // "" where the sentence begins with the item
	Did   string
	Where string
	Link  string // the item for explain
	Then  string
}

// did are the verbs of a person's change, by the attribute.
var did = map[mapping.Attribute]string{
	mapping.Title:    "renamed",
	mapping.Summary:  "edited the text of",
	mapping.Estimate: "changed the estimate of",
	mapping.State:    "changed the state of",
}

// tells has sentences about an item, by what was done. The attribute replaces %.
var tells = map[string]string{
	"answered":    ": a question about the % was answered",
	"mark":        ": its marker was put back",
	"conflict":    ": both sides changed the %",
	"lost update": ": an edit of the % that a write ran over was brought back",
	"refused":     ": a side refused the %",
	"undo":        ": the former % was asked for again",
	"late":        ": an old % arrived late",
	"unverified":  ": whether an edit of the % was written over is not known",
	"withheld":    ": planning's text is not shown in a public repository",
	"show":        " shows what the card tells (%)",
	"moved":       " was transferred",
	"left":        " left its route",
	"dormant":     " waits for a route that makes issues of cards",
	"back":        " is synchronised again",
	"orphaned":    " lost its partner",
	"join":        " was joined with a card",
	"restored":    " was found again by its marker",
	"lost":        ": a task of its card is gone",
}

// ofParts are sentences about a part of a pair, by the part, what was done, and where.
var ofParts = map[string]string{
	string(mapping.Checklist) + " write planning":  ": a line of its checklist changed; its task followed",
	string(mapping.Checklist) + " write github":    ": a task of its checklist changed; its line followed",
	string(mapping.Checklist) + " create planning": ": a line of its checklist became a task",
	string(mapping.Checklist) + " create github":   ": a task became a line of its checklist",
	string(mapping.Tracking) + " create planning":  " has a task for its state now",
}

// sentence describes an activity for people.
func sentence(a *Activity) said {
	s := said{At: a.At, Where: a.Where, Link: a.Link}
	if then := ofParts[a.Part+" "+a.What+" "+a.Side]; then != "" {
		s.Then = then + took(a.Took)
		return s
	}
	partner := "card"
	if a.Task || a.Part != "" {
		partner = "task"
	}
	toPlanning := a.Side == string(mapping.Planning)
	switch a.What {
	case "write", "create":
		s.Who = a.Who
		if s.Who == "" && !toPlanning {
			s.Who = "planning"
		}
	}
	attribute := plainAttribute(a.Attribute)
	switch {
	case a.What == "undo" && a.Side != "":
		s.Who, s.Did, s.Then = a.Who, "undid a conflict about the "+attribute+" of", "; the issue shows what had lost"
		if toPlanning {
			s.Then = "; the " + partner + " shows what had lost"
		}
	case a.What == "answer":
		s.Who, s.Did, s.Then = a.Who, "answered: GitHub's "+attribute+" of", " holds; the "+partner+" followed"
		if !toPlanning {
			s.Did, s.Then = "answered: planning's "+attribute+" of", " holds; the issue followed"
		}
	case a.What == "write" && toPlanning && s.Who == "": // GitHub did not name a person, or there was none
		s.Then = ": the " + attribute + " changed; the " + partner + " followed" + took(a.Took)
	case a.What == "create" && toPlanning && s.Who == "" && !a.Moved:
		s.Then = " was opened; its " + partner + " was made" + took(a.Took)
	case a.What == "write" && toPlanning:
		s.Did, s.Then = verb(a.Attribute), "; the "+partner+" followed"+took(a.Took)
	case a.What == "write":
		s.Did, s.Then = verb(a.Attribute)+" the "+partner+" of", "; the issue followed"+took(a.Took)
	case a.Moved:
		s.Who, s.Then = "", " was moved; its card was made"+took(a.Took)
	case a.What == mapping.Rerouted && a.Why != "":
		s.Then = strings.TrimPrefix(a.Why, "it")
	case a.What == "create" && toPlanning:
		s.Did, s.Then = "opened", "; its "+partner+" was made"+took(a.Took)
	case a.What == "create":
		s.Did, s.Then = "made the "+partner+" of", "; its issue was opened"+took(a.Took)
	case tells[a.What] != "":
		s.Then = strings.ReplaceAll(tells[a.What], "%", attribute)
	default:
		s.Then = ": " + strings.TrimSpace(a.What+" "+attribute)
	}
	return s
}

// verb is the verb for a person's change of an attribute.
func verb(attribute string) string {
	if v := did[mapping.Attribute(attribute)]; v != "" {
		return v
	}
	return "changed"
}

// plainAttribute names an attribute for people.
func plainAttribute(attribute string) string {
	switch mapping.Attribute(attribute) {
	case "":
		return "item"
	case mapping.Summary:
		return "text"
	}
	return attribute
}

// took says how long something took; "" where that is not known.
func took(seconds float64) string {
	switch {
	case seconds <= 0:
		return ""
	case seconds < 10:
		return " in " + strconv.FormatFloat(max(seconds, 0.1), 'f', 1, 64) + " s"
	}
	return " in " + span(time.Duration(seconds*float64(time.Second)))
}
