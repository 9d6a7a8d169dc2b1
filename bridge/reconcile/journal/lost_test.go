package journal

import (
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

func TestForgotten(t *testing.T) {
	const base, edited, wrote = "one\n\ntwo\n\nthree", "ONE\n\ntwo\n\nthree", "one\n\ntwo\n\nTHREE"
	seconds := int(Doubt / time.Second)
	for _, tt := range []struct {
		name string
		a    mapping.Attribute
		all  Edits
		want string // the texts that were run over
	}{
		{"no edits", mapping.Title, edits(), ""},
		{"a title that we replaced", mapping.Title, edits(title(dev, 1, "a", "b"), title(ours, 2, "b", "c")), "b"},
		{"at the last moment", mapping.Title, edits(title(dev, 1, "a", "b"), title(ours, 1+seconds, "b", "c")), "b"},
		{"so late that we knew it", mapping.Title, edits(title(dev, 1, "a", "b"), title(ours, 2+seconds, "b", "c")), ""},
		{"a person replaced it", mapping.Title, edits(title(dev, 1, "a", "b"), title("ann", 2, "b", "c")), ""},
		{"an account replaced it that may be ours", mapping.Title, edits(title(dev, 1, "a", "b"), title(maybe, 2, "b", "c")), "b"},
		{"an account that may be ours replaced its own", mapping.Title, edits(title(maybe, 1, "a", "b"), title(maybe, 2, "b", "c")), ""},
		{"an account that may be ours replaced ours", mapping.Title, edits(title(ours, 1, "a", "b"), title(maybe, 2, "b", "c")), ""},
		{"we replaced our own", mapping.Title, edits(title(ours, 1, "a", "b"), title(ours, 2, "b", "c")), ""},
		{"ours was made from something else", mapping.Title, edits(title(dev, 1, "a", "b"), title(ours, 2, "x", "c")), ""},
		{"it stands there again", mapping.Title, edits(title(dev, 1, "a", "b"), title(ours, 2, "b", "c"), title(dev, 9, "c", "b")), ""},
		{"two titles", mapping.Title, edits(title(dev, 1, "a", "b"), title(ours, 2, "b", "c"), title(dev, 3, "c", "d"), title(ours, 4, "d", "e")), "b, d"},
		{"an edit of the body between", mapping.Title, edits(title(dev, 1, "a", "b"), body(dev, 1, "x", "y"), title(ours, 2, "b", "c")), "b"},
		{"a body that we replaced", mapping.Summary, edits(body(dev, 1, base, edited), body(ours, 2, edited, wrote)), edited},
		{"a body that we emptied", mapping.Summary, edits(body(dev, 1, base, edited), body(ours, 2, edited, "")), edited},
		{"what we wrote holds it", mapping.Summary, edits(body(dev, 1, base, edited), body(ours, 2, edited, "ONE\n\ntwo\n\nTHREE")), ""},
		{
			"what was written later holds it", mapping.Summary,
			edits(body(dev, 1, base, edited), body(ours, 2, edited, wrote), body(dev, 9, wrote, "ONE\n\ntwo\n\nTHREE")), "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var texts []string
			for _, l := range tt.all.Forgotten(tt.a, mapping.Merge) {
				texts = append(texts, l.Text)
				if l.Write.Attribute != tt.a || l.Write.From != l.Text || l.By.IsZero() {
					t.Errorf("lost: %+v", l)
				}
			}
			expect(t, "forgotten", strings.Join(texts, ", "), tt.want)
		})
	}
}

func TestLost(t *testing.T) {
	p, base := write("p", mapping.Title, "a", "b"), map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "agreed"}}
	for _, tt := range []struct {
		name  string
		j     mapping.Journal
		value string
		known Matches
		want  bool
	}{
		{name: "a person's", value: "x", want: true},
		{name: "agreed on", value: "agreed", j: mapping.Journal{Pending: pendings(write("q", mapping.Title, "a", "agreed", answered))}, want: true},
		{name: "answered", value: "x", j: mapping.Journal{Pending: pendings(write("q", mapping.Title, "a", "x", answered))}},
		{name: "told of", value: "x", j: mapping.Journal{InFlight: pendings(write("q", mapping.Title, "a", "x"))}, known: Matches{"q": {}}},
		{name: "not known to have happened", value: "x", j: mapping.Journal{InFlight: pendings(write("q", mapping.Title, "a", "x"))}, want: true},
		{name: "it restored an edit", value: "x", j: mapping.Journal{Pending: pendings(write("q", mapping.Title, "a", "x", answered, restores))}, want: true},
		{name: "the write itself", value: "b", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", answered))}, want: true},
		{name: "on planning", value: "x", j: mapping.Journal{Pending: pendings(write("q", mapping.Title, "a", "x", answered, toPlanning))}, want: true},
		{name: "of another attribute", value: "x", j: mapping.Journal{Pending: pendings(write("q", mapping.Summary, "a", "x", answered))}, want: true},
		{name: "another value was answered", value: "x", j: mapping.Journal{Pending: pendings(write("q", mapping.Title, "a", "y", answered))}, want: true},
		{name: "of an edit of the body that was dealt with", value: "x", j: mapping.Journal{Consumed: []mapping.ConsumedEdit{spentOn(write("", mapping.Summary, "", "x"), Overwritten{})}}, want: true},
		{name: "of an edit to something else", value: "x", j: mapping.Journal{Consumed: []mapping.ConsumedEdit{spentOn(write("", mapping.Title, "x", "y"), Overwritten{Text: "x"})}}, want: true},
		{name: "of an edit that was dealt with", value: "x", j: mapping.Journal{Consumed: []mapping.ConsumedEdit{spentOn(write("", mapping.Title, "", "x"), Overwritten{})}}},
		{
			name: "of one that restored an edit", value: "x",
			j:    mapping.Journal{Consumed: []mapping.ConsumedEdit{{Attribute: mapping.Title, To: mapping.DigestValue(mapping.Title, "x"), Restores: true}}},
			want: true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, "lost", Book{Journal: &tt.j, Base: base}.Lost(p, tt.value, tt.known), tt.want)
		})
	}
}

func TestRestored(t *testing.T) {
	const base, ours, person, both, other = "one\n\ntwo\n\nthree", "one\n\ntwo\n\nTHREE", "ONE\n\ntwo\n\nthree", "ONE\n\ntwo\n\nTHREE", "one\n\ntwo\n\n3"
	for _, tt := range []struct {
		name     string
		a        mapping.Attribute
		now      string
		text     string
		mayMerge bool
		want     string
		clean    bool
	}{
		{"it stands there again", mapping.Title, "x", "x", true, "x", true},
		{"a title does not merge", mapping.Title, ours, person, true, person, false},
		{"a text merges", mapping.Summary, ours, person, true, both, true},
		{"a text may not be merged", mapping.Summary, ours, person, false, person, false},
		{"a text stands there again, and may not be merged", mapping.Summary, person, person, false, person, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Book{GitHub: mapping.View{tt.a: {Value: tt.now}}, Merge: mapping.Merge}
			text, clean := b.Restored(LostUpdate{Write: write("p", tt.a, base, ours), Text: tt.text}, tt.mayMerge)
			expect(t, "the text", text, tt.want)
			expect(t, "clean", clean, tt.clean)
		})
	}
	b := Book{GitHub: mapping.View{mapping.Summary: {Value: other}}, Merge: mapping.Merge}
	if _, clean := b.Restored(LostUpdate{Write: write("p", mapping.Summary, base, ours), Text: ours}, true); clean {
		t.Error("two edits of one line merge")
	}
}

func TestEditedBefore(t *testing.T) {
	planned := mapping.Interval{From: at(2), To: at(3)}
	p := write("p", mapping.Title, "a", "b", after(1), func(p *mapping.Pending) { p.Edited = planned })
	for _, tt := range []struct {
		name  string
		edits Edits
		by    time.Time
		want  mapping.Interval
	}{
		{name: "an event tells", edits: edits(title(dev, 5, "a", "x")), by: at(7), want: mapping.Interval{From: at(5), To: at(6)}},
		{name: "no event tells: before it was run over", by: at(7), want: mapping.Interval{From: at(1), To: at(8)}},
		{name: "nothing tells"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := edits(tt.edits.All...).EditedBefore(LostUpdate{Write: p, Text: "x", By: tt.by})
			expect(t, "edited", got, map[mapping.Side]mapping.Interval{mapping.GitHub: tt.want, mapping.Planning: planned})
		})
	}
}
