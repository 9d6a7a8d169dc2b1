package status

import (
	"strings"
	"testing"
	"time"
)

func TestSharedReason(t *testing.T) {
	for reason, want := range map[string]string{
		"": "",
		"github: edit issue acme/web#12: rejected: answer 422: title is too long": "github: edit issue …: rejected: answer 422: title is too long",
		"put off 21 times since 2020-11-21T12:00:00Z: it lags":                    "put off … times since …: it lags",
		`bucket "Incomming of all" is not there (5fb8f011c7a4c1)`:                 "bucket … is not there (…)",
		`one " quote alone`:                             `one " quote alone`,
		"see https://example.com/x?y=1, then wait 3m2s": "see …, then wait …",
		"the service is away":                           "the service is away",
	} {
		if got := sharedReason(reason); got != want {
			t.Errorf("%q: %q, want %q", reason, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	at := time.Date(2020, 11, 21, 12, 0, 0, 0, time.UTC)
	rows := []row{{Reason: "forbidden", Route: "a", At: at}}
	for i := range 12 {
		rows = append(rows, row{Reason: "reconcile acme/web#1: answer 500", Route: string(rune('p' + i%5)), At: at.Add(-time.Duration(i) * time.Hour)})
	}
	long := strings.Repeat("a long title ", 100)
	if one, other := sharedReason("reconcile acme/web#9: "+long), sharedReason("reconcile acme/web#1000: "+long); one != other {
		t.Errorf("two reasons that show alike: %q and %q", one, other)
	}
	rows = append(rows, row{Reason: "reconcile acme/web#2: answer 502", At: at}, row{Reason: "forbidden", Service: "github", At: at})
	got := grouped(rows)
	if len(got) != 4 {
		t.Fatalf("%d groups: %+v", len(got), got)
	}
	g := got[0]
	if g.Count != 12 || g.Reason != "reconcile …: answer 500" || len(g.Rows) != groupRows || g.Hidden() != 12-groupRows || !g.First.Equal(at.Add(-11*time.Hour)) || !g.Last.Equal(at) {
		t.Errorf("the largest group: %+v", g)
	}
	if len(g.Routes) != groupRoutes || g.More != 2 || g.Routes[0] != "p" {
		t.Errorf("its routes: %v and %d", g.Routes, g.More)
	}
	if got[2].Reason != "reconcile acme/web#2: answer 502" {
		t.Errorf("a group of one: %+v", got[2])
	}
}

// TestGroupedByService: keys that wait for one service are one group, whatever they were about to
// do.
func TestGroupedByService(t *testing.T) {
	rows := []row{
		{Reason: "read card 1: unavailable", Service: "planning:p", WaitsFor: "planning project web"},
		{Reason: "create card: unavailable", Service: "planning:p", WaitsFor: "planning project web"},
		{Reason: "its route is paused", Service: "paused:web", WaitsFor: "somebody to resume route web"},
	}
	got := grouped(rows)
	if len(got) != 2 || got[0].Count != 2 || got[0].Reason != "waits for planning project web" || got[0].ID != rows[1].group() {
		t.Errorf("%+v", got)
	}
}
