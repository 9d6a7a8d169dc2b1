package journal

import (
	"testing"
	"time"

	"planbridge/mapping"
)

func TestTakesBack(t *testing.T) {
	is := func(value string) string {
		if value == "" {
			return ""
		}
		return mapping.DigestValue(mapping.Title, value)
	}
	// wrote is a write of a title at noon; to is "" where no answer told of it, and so is updated.
	wrote := func(from, to string, updated ...int) mapping.WriteRecord {
		o := mapping.WriteRecord{Attribute: mapping.Title, From: is(from), To: is(to), At: noon}
		for _, seconds := range updated {
			o.UpdatedAt = at(seconds)
		}
		return o
	}
	seconds := int(Doubt / time.Second)
	for _, tt := range []struct {
		name    string
		wrote   []mapping.WriteRecord
		base    string
		now     string
		updated int
		edits   Edits
		clock   int
		want    bool
	}{
		{name: "nothing was written", now: "a"},
		{name: "what it wrote", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "b", updated: 1},
		{name: "what stood there before, of the same second", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "a", updated: 1, want: true},
		{name: "what stood there before, earlier", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "a", updated: 0, want: true},
		{name: "what stood there before, later: a person did that", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "a", updated: 2},
		{name: "what stood there before, a while later", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "a", updated: 1, clock: seconds},
		{name: "up to then", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "a", updated: 1, clock: seconds - 1, want: true},
		{name: "what stood there before is agreed on, but was written over", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "a", now: "a", updated: 1, want: true},
		{name: "it was written again since", wrote: []mapping.WriteRecord{wrote("a", "b", 1), wrote("b", "a", 1)}, base: "a", now: "a", updated: 1},
		{name: "it was written by an earlier one", wrote: []mapping.WriteRecord{wrote("a", "b", 1), wrote("b", "c", 1)}, base: "c", now: "a", updated: 0, want: true},
		{
			name: "the body was written so since", base: "b", now: "a", updated: 0, want: true,
			wrote: []mapping.WriteRecord{wrote("a", "b", 1), {Attribute: mapping.Summary, To: is("a"), At: noon, UpdatedAt: at(1)}},
		},
		{
			name: "something else, and the body was written since", base: "b", now: "c", updated: 1, want: true,
			wrote: []mapping.WriteRecord{wrote("a", "b", 1), {Attribute: mapping.Summary, To: is("z"), At: noon, UpdatedAt: at(1)}},
		},
		{name: "something else, and nobody told what was written since", wrote: []mapping.WriteRecord{wrote("a", "b", 1), wrote("b", "")}, base: "b", now: "c", updated: 1, want: true},
		{name: "something else, and no answer told what was written", wrote: []mapping.WriteRecord{wrote("a", "")}, base: "b", now: "c", updated: 9},
		{
			name: "an edit of the second of two", wrote: []mapping.WriteRecord{wrote("a", "b", 1), wrote("b", "c", 1)}, base: "c", now: "x", updated: 1,
			edits: edits(title(dev, 1, "c", "x")),
		},
		{name: "no answer told when", wrote: []mapping.WriteRecord{wrote("a", "")}, base: "b", now: "a", updated: 9, want: true},
		{name: "no answer told when, and it is agreed on", wrote: []mapping.WriteRecord{wrote("a", "")}, base: "a", now: "a", updated: 9},
		{name: "something else, of the same second", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "c", updated: 1, want: true},
		{name: "something else that is agreed on", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "c", now: "c", updated: 1},
		{name: "something else, of another second", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "c", updated: 2},
		{name: "an edit of what it wrote", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "c", updated: 1, edits: edits(title(dev, 1, "b", "c"))},
		{
			name: "an edit of an edit of it", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "d", updated: 1,
			edits: edits(title(dev, 1, "b", "c"), title(dev, 1, "c", "d")),
		},
		{name: "an edit of what stood there before", wrote: []mapping.WriteRecord{wrote("a", "b", 1)}, base: "b", now: "c", updated: 1, edits: edits(title(dev, 1, "a", "c")), want: true},
		{
			name: "what the first of two wrote, and somebody edited", wrote: []mapping.WriteRecord{wrote("a", "b", 1), wrote("b", "c", 1)}, base: "c", now: "x", updated: 1,
			edits: edits(title(dev, 1, "b", "x")), want: true,
		},
		{name: "what an echo told of, of any second", wrote: []mapping.WriteRecord{wrote("a", "b")}, base: "b", now: "c", updated: 9, want: true},
		{name: "an estimate", wrote: []mapping.WriteRecord{{Attribute: mapping.Estimate, From: mapping.DigestValue(mapping.Estimate, ""), At: noon}}, base: "b", now: "b", want: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Book{
				Journal: &mapping.Journal{Written: tt.wrote}, Edits: edits(tt.edits.All...), Now: at(tt.clock),
				Base: map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: tt.base}, mapping.Estimate: {GitHub: "3"}},
			}
			expect(t, "takes back", b.TakesBack(mapping.View{mapping.Title: {Value: tt.now}}, at(tt.updated)), tt.want)
		})
	}
}

func TestRecent(t *testing.T) {
	seconds := int(Doubt / time.Second)
	for _, tt := range []struct {
		name               string
		seen, changed, now int
		want               bool
	}{
		{"seen and changed just now", 0, 0, 0, true},
		{"changed long ago, seen just now", 0, -999, seconds - 1, true},
		{"seen long ago, changed just now", -999, 0, seconds - 1, true},
		{"both long ago", 0, 0, seconds, false},
		{"GitHub's clock is a little ahead", -999, 5, 0, true},
		{"GitHub's clock is far ahead", -999, 999, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) { expect(t, "recent", Recent(at(tt.seen), at(tt.changed), at(tt.now)), tt.want) })
	}
}

func TestBehind(t *testing.T) {
	const least = 3 * time.Second
	for _, tt := range []struct {
		name          string
		since, settle time.Duration
		wait          time.Duration
		believed      bool
	}{
		{"for the first time", 0, time.Minute, least, false},
		{"for a while", 20 * time.Second, time.Minute, 10 * time.Second, false},
		{"not much longer", 55 * time.Second, time.Minute, 5 * time.Second, false},
		{"nearly", 59 * time.Second, time.Minute, least, false},
		{"long enough", time.Minute, time.Minute, 0, true},
		{"long enough for what settles soon, and not for what lags", 5 * time.Second, time.Second, least, false},
		{"long enough for both", Doubt, time.Second, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wait, believed := Behind(tt.since, tt.settle, least)
			expect(t, "the wait", wait, tt.wait)
			expect(t, "believed", believed, tt.believed)
		})
	}
}
