package mapping

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestJournalIsStoredFlat: a journal is in its link's record without a name of its own. It is
// between the base and the intent, as in records of earlier releases.
func TestJournalIsStoredFlat(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := Link{
		ID: "l",
		Pair: Pair{
			Journal: Journal{
				Pending:  []Pending{{ID: "p", Side: GitHub, Item: "issue:1", Attribute: Title, From: "a", To: "b", At: noon, Answered: true}},
				InFlight: []Pending{{ID: "l", Side: Planning, Item: "card:c", Attribute: Title, From: "a", To: "b", At: noon}},
				Consumed: []ConsumedEdit{{Attribute: Title, From: "x", To: "y", At: noon}},
				Written:  []WriteRecord{{Attribute: Title, From: "x", At: noon}},
				Steps:    []Step{{Digest: "d", At: noon}},
			},
			Base: map[Attribute]Base{Title: {GitHub: "a"}}, Intent: &Intent{Nonce: "n"}, Dates: Dates{Created: noon},
		},
	}
	const want = `{"id":"l","project":"","route":"","state":"","origin":"","nonce":"","issue":{},"card":{},"base":{"title":{"g":"a","p":"","n":0}},` +
		`"pending":[{"id":"p","side":"github","item":"issue:1","attr":"title","from":"a","to":"b","next":{"g":"","p":"","n":0},"at":"2026-03-01T12:00:00Z","answered":true}],` +
		`"late":[{"id":"l","side":"planning","item":"card:c","attr":"title","from":"a","to":"b","next":{"g":"","p":"","n":0},"at":"2026-03-01T12:00:00Z"}],` +
		`"spent":[{"attr":"title","from":"x","to":"y","at":"2026-03-01T12:00:00Z"}],"wrote":[{"attr":"title","from":"x","at":"2026-03-01T12:00:00Z"}],` +
		`"steps":[{"digest":"d","at":"2026-03-01T12:00:00Z"}],"intent":{"side":"","nonce":"n","at":"0001-01-01T00:00:00Z"},"created":"2026-03-01T12:00:00Z"}`
	got, err := json.Marshal(&l)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
	if got, err = json.Marshal(&Link{}); err != nil || strings.Contains(string(got), "pending") || strings.Contains(string(got), "Journal") {
		t.Errorf("an empty journal: %v\n%s", err, got)
	}
}
