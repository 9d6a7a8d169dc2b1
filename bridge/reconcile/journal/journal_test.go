package journal

import (
	"testing"
	"time"

	"planbridge/mapping"
)

func TestDue(t *testing.T) {
	for _, tt := range []struct {
		name string
		j    mapping.Journal
		now  int
		want bool
	}{
		{name: "nothing on record", now: 99},
		{name: "not answered", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"))}, want: true},
		{name: "answered", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", answered))}, now: 29},
		{name: "overdue", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", answered))}, now: 30, want: true},
		{name: "dealt with", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", verified))}, now: 99},
		{name: "given up", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b"))}, now: 29},
		{name: "given up, and not under way any more", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b"))}, now: 30, want: true},
		{name: "given up, and dealt with", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b", verified))}, now: 30},
		{name: "GitHub was asked", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b", asked))}, now: 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, "due", Book{Journal: &tt.j, Settle: at(30).Sub(noon), Now: at(tt.now)}.Due(), tt.want)
		})
	}
}

func TestWaits(t *testing.T) {
	const echo, late = "GitHub has not told of our write of the title yet: it is asked then", "a write of the summary that was given up may still be under way"
	waits := func(all ...Wait) []Wait { return all }
	for _, tt := range []struct {
		name string
		j    mapping.Journal
		now  int
		want []Wait
	}{
		{name: "nothing on record"},
		{name: "not answered", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"))}},
		{name: "answered", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", answered))}, now: 10, want: waits(Wait{20 * time.Second, echo})},
		{
			name: "overdue: GitHub could not be asked", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", answered))}, now: 30,
			want: waits(Wait{30 * time.Second, echo}),
		},
		{name: "dealt with", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", verified))}},
		{name: "given up", j: mapping.Journal{InFlight: pendings(write("l", mapping.Summary, "a", "b"))}, now: 10, want: waits(Wait{20 * time.Second, late})},
		{name: "given up, and to be asked about", j: mapping.Journal{InFlight: pendings(write("l", mapping.Summary, "a", "b"))}, now: 40, want: waits(Wait{-10 * time.Second, late})},
		{name: "asked about", j: mapping.Journal{InFlight: pendings(write("l", mapping.Summary, "a", "b", asked))}},
		{name: "given up, of an attribute that GitHub has no memory of", j: mapping.Journal{InFlight: pendings(write("l", mapping.Estimate, "1", "2"))}},
		{
			name: "both", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", answered)), InFlight: pendings(write("l", mapping.Summary, "a", "b", made(5)))}, now: 10,
			want: waits(Wait{20 * time.Second, echo}, Wait{25 * time.Second, late}),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, "waits", Book{Journal: &tt.j, Settle: 30 * time.Second, Now: at(tt.now)}.Waits(), tt.want)
		})
	}
}

func TestEditedOnGitHub(t *testing.T) {
	for _, tt := range []struct {
		name   string
		issue  *mapping.Issue
		edits  Edits
		asking bool
		want   mapping.Interval
	}{
		{name: "nothing was seen", edits: edits(title(dev, 5, "a", "b"))},
		{name: "an event tells", issue: known(9, ""), edits: edits(title(dev, 5, "a", "b")), want: mapping.Interval{From: at(5), To: at(6)}},
		{name: "an event tells of what is asked about", issue: known(9, ""), edits: edits(title(dev, 5, "a", "b")), asking: true, want: mapping.Interval{From: at(5), To: at(6)}},
		{name: "no event tells of what is asked about", issue: known(9, ""), asking: true},
		{name: "no event tells", issue: known(9, ""), want: mapping.Interval{From: at(1), To: at(10)}},
		{name: "our own event tells nothing, nor what is known by it", issue: known(9, ""), edits: edits(title(ours, 5, "a", "b")), want: mapping.Interval{From: at(1), To: at(10)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Book{Edits: edits(tt.edits.All...), GitHub: mapping.View{mapping.Title: {Value: "b"}}, Issue: tt.issue, Known: at(8), Agreed: at(1)}
			expect(t, "edited", b.EditedOnGitHub(mapping.Title, b.GitHub[mapping.Title].Value, tt.asking), tt.want)
		})
	}
}
