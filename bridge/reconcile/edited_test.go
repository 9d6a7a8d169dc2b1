package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// TestEditedInPlanning: the policy newest needs to know when planning's value was written. It is not
// known where somebody else, or the bridge, may have written since.
func TestEditedInPlanning(t *testing.T) {
	edited := mapping.Interval{From: noon.Add(-time.Minute), To: noon}
	checkWhen := func(a mapping.Attribute, cases []ruleCase) {
		say := func(w work) (string, error) {
			switch freshness(w).editedInPlanning(a) {
			case edited:
				return "then", nil
			case mapping.Interval{}:
				return "not known", nil
			}
			return "at another time", nil
		}
		t.Run(string(a), func(t *testing.T) { checkSays(t, say, cases) })
	}
	// polled has a poll see values of these versions, with the counters at 8, and the card as it is now.
	polled := func(version, now int64, summary string) func(work) {
		return func(w work) {
			w.card = &mapping.Card{
				ID: "c", Title: versioned("a", version), Summary: versioned(summary, version), CountersVersion: 8,
				Times: map[mapping.Attribute]mapping.Interval{mapping.Title: edited, mapping.Summary: edited, mapping.State: edited},
			}
			w.p[mapping.Title], w.p[mapping.Summary] = versioned("a", now), versioned(summary, now)
		}
	}
	counters := func(n int64) func(*mapping.Link) {
		return func(l *mapping.Link) { l.Card.CountersVersion = n }
	}
	unbased := func(a mapping.Attribute) func(*mapping.Link) {
		return func(l *mapping.Link) { delete(l.Base, a) }
	}
	asked := func(l *mapping.Link) { l.Asking = map[mapping.Attribute]string{mapping.State: "x"} }
	marked := testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkCard, Link: "l", Nonce: "n", Partner: "7"})
	checkWhen(mapping.Title, []ruleCase{
		{name: "the card was not seen", says: "not known"},
		{name: "the poll saw this value", known: polled(5, 5, "text"), says: "then"},
		{name: "the poll saw an earlier one", known: polled(5, 6, "text"), says: "not known"},
		{name: "the counters moved by more, which says nothing of a title", link: counters(3), known: polled(5, 5, "text"), says: "then"},
		{name: "a title without a base", link: unbased(mapping.Title), known: polled(5, 5, "text"), says: "then"},
	})
	checkWhen(mapping.Summary, []ruleCase{
		{name: "the poll saw this text", known: polled(5, 5, marked), says: "then"},
		{name: "a text without a base", link: unbased(mapping.Summary), known: polled(5, 5, "text"), says: "then"},
		{name: "a text without a base that our marker is in", link: unbased(mapping.Summary), known: polled(5, 5, marked), says: "not known"},
	})
	checkWhen(mapping.State, []ruleCase{
		{name: "the state moved by one step", link: counters(7), known: polled(5, 5, "text"), says: "then"},
		{name: "the counters did not move", link: counters(8), known: polled(5, 5, "text"), says: "then"},
		{name: "the counters moved by more", link: counters(6), known: polled(5, 5, "text"), says: "not known"},
		{name: "the state moved by one step, or another task did", link: links(counters(7), unbased(mapping.State)), known: polled(5, 5, "text"), says: "not known"},
		{name: "people are asked about the state", link: links(counters(7), asked), known: polled(5, 5, "text"), says: "not known"},
	})
}
