package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// The first questions of a rule that makes something: whether the project was seen as a whole.
const (
	notAdopted = "nothing is created before all marked items of both sides were seen once"
	tooEarly   = "everything marked was seen after it was claimed"
)

var adoption = []string{"ReadAdoption"}

func entering(l *mapping.Link) { l.State, l.Card, l.Base = mapping.Entering, mapping.CardID{}, nil }

func creating(sent bool) func(*mapping.Link) {
	return func(l *mapping.Link) {
		entering(l)
		l.State, l.Intent = mapping.Creating, &mapping.Intent{Side: mapping.Planning, Sent: sent}
	}
}

// unadopted are the outcomes of a rule that asks whether the project is adopted, and may not go on.
func unadopted(link func(*mapping.Link), want verdict) []ruleCase {
	return []ruleCase{
		{name: "the project was not seen as a whole", link: link, answers: map[string]any{"ReadAdoption": Adoption{}}, asked: adoption, want: want, err: notAdopted},
		{
			name: "it was, after the key was claimed", link: link, answers: map[string]any{"ReadAdoption": Adoption{Done: true, Since: noon}},
			asked: adoption, want: want, err: tooEarly,
		},
		{
			name: "it was, at the moment of the claim", link: link, known: func(w work) { w.claim.Until = noon.Add(time.Minute) },
			answers: map[string]any{"ReadAdoption": Adoption{Done: true, Since: noon}}, asked: adoption, want: want, err: tooEarly,
		},
		{name: "the store does not say", link: link, answers: map[string]any{"ReadAdoption": errAway}, asked: adoption, want: want, err: "read adoption"},
	}
}

func TestEnterNeedsAWholeProject(t *testing.T) {
	checkRule(t, enter, append(unadopted(entering, end),
		ruleCase{name: "it has entered", want: pass, check: isState(mapping.Linked, "")},
		ruleCase{name: "its partner is being made", link: creating(false), want: pass, check: isState(mapping.Creating, "")},
	))
}

func TestCreateNeedsAWholeProject(t *testing.T) {
	checkRule(t, create, append(unadopted(creating(false), end),
		ruleCase{name: "both items are there", want: pass, check: isState(mapping.Linked, "")},
		ruleCase{name: "it has not entered", link: entering, want: pass, check: isState(mapping.Entering, "")},
	))
}

func TestRestoredNeedsAWholeProject(t *testing.T) {
	found := func(l *mapping.Link) { l.Base = nil }
	adopted := map[string]any{"ReadAdoption": Adoption{Done: true, Since: noon.Add(-time.Hour), Epoch: "e"}}
	checkRule(t, restored, append(unadopted(found, pass),
		ruleCase{name: "it was agreed on", want: pass},
		ruleCase{name: "it was in agreement once", link: func(l *mapping.Link) { found(l); l.Synced = noon }, want: pass},
		ruleCase{name: "it has not entered", link: entering, want: pass},
		ruleCase{name: "its partner is being made", link: creating(true), want: pass},
		ruleCase{
			name: "it was made of a card, of which there are no copies", link: func(l *mapping.Link) { found(l); l.Origin = mapping.Planning },
			known: func(w work) { w.claim.Until = noon.Add(time.Minute) }, answers: adopted, asked: adoption, want: pass,
		},
		ruleCase{
			name: "that the project was seen is known", link: func(l *mapping.Link) { found(l); l.Origin = mapping.Planning },
			known: func(w work) { w.epoch = "known" }, want: pass,
		},
	))
}

func TestUnmadePairs(t *testing.T) {
	cleaned := func(why string) func(work) string {
		return func(w work) string {
			if w.cleaned != why {
				return "it is done with because " + w.cleaned
			}
			return ""
		}
	}
	const without = "it had not two items"
	checkRule(t, unmade, append(unadopted(creating(true), end),
		ruleCase{name: "both items are there", want: pass, check: cleaned("")},
		ruleCase{name: "it has not entered", link: entering, want: end, check: cleaned(without)},
		ruleCase{name: "nothing was sent yet", link: creating(false), want: end, check: cleaned(without)},
		ruleCase{name: "a task, for which its root has waited", link: func(l *mapping.Link) { creating(true)(l); l.Kind = mapping.SubIssue }, want: end, check: cleaned(without)},
	))
}

func TestJoinIsOfJoinedPairs(t *testing.T) {
	checkRule(t, joined, []ruleCase{
		{name: "both items are there", want: pass, check: isState(mapping.Linked, "")},
		{name: "it has not entered", link: entering, want: pass, check: isState(mapping.Entering, "")},
		{name: "its card is to be made", link: creating(false), want: pass, check: isState(mapping.Creating, "")},
	})
}
