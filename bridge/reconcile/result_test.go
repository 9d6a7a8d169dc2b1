package reconcile

import (
	"slices"
	"strings"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// TestAboutAClaim: a claim is logged with the delivery that showed its issue, and what else it
// brings is not looked at.
func TestAboutAClaim(t *testing.T) {
	t.Parallel()
	claim := &store.Claim{
		Link: &mapping.Link{ID: "l", Route: "web", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12}}},
		Inbox: map[mapping.Ref]store.Snapshot{
			mapping.IssueRef(7):     {Data: []byte(`{"Delivery":"d1"}`)},
			mapping.IssueRef(8):     {Data: []byte(`{"Delivery":"d2"}`)},
			mapping.CardRef("card"): {Data: []byte(`no card`)},
		},
	}
	want := []any{"link", mapping.LinkID("l"), "item", "acme/web#12", "route", "web", "delivery", "d1"}
	if got := About(claim); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestTheHistoryNamesTheDelivery: a line of the history, and each line of the log, names the delivery
// that showed the issue.
func TestTheHistoryNamesTheDelivery(t *testing.T) {
	t.Parallel()
	claim := &store.Claim{
		Link:  &mapping.Link{ID: "l", Route: "web", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12}}},
		Inbox: map[mapping.Ref]store.Snapshot{mapping.IssueRef(7): {Data: []byte(`{"Delivery":"d1"}`)}},
	}
	w := newWork(State{Claim: claim, Settings: &Settings{}, Now: noon})
	w.note(mapping.GitHub, mapping.Title, "show", "it changed")
	if got := w.history[0].Delivery; got != "d1" {
		t.Errorf("the history names delivery %q, want d1", got)
	}
	if !slices.Contains(w.log.of, any("d1")) {
		t.Errorf("the log says %v, and no delivery", w.log.of)
	}
}

// TestAClaimThatCannotBeDecoded: the fault is logged.
func TestAClaimThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	for name, claim := range map[string]*store.Claim{
		"stored snapshot of issue:7": {Inbox: map[mapping.Ref]store.Snapshot{mapping.IssueRef(7): {Data: []byte(`{`)}}},
		"stored event":               {Events: [][]byte{[]byte(`{`)}},
	} {
		if _, _, err := decode(claim); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChangedNames: a history tells people which labels came and which went, and not what did not.
func TestChangedNames(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][2][]string{
		"added plan:To Do, bucket:Incoming":          {{"plan:To Do", "bucket:Incoming"}, nil},
		"removed plan:To Do":                         {nil, {"plan:To Do"}},
		"added plan:In Progress; removed plan:To Do": {{"plan:In Progress"}, {"plan:To Do"}},
		"": {},
	} {
		if got := changedNames(names[0], names[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
