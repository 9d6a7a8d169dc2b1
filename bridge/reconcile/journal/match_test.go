package journal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"planbridge/mapping"
)

// ran shows what each write ran over and when, in seconds after noon.
func ran(m Matches) string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(m)) {
		all = append(all, fmt.Sprintf("%s: %s at %d", id, m[id].Text, int(m[id].At.Sub(noon).Seconds())))
	}
	return strings.Join(all, ", ")
}

func TestMatch(t *testing.T) {
	ab := write("w", mapping.Title, "a", "b")
	for _, tt := range []struct {
		name  string
		j     mapping.Journal
		edits Edits
		known Matches
		want  string
	}{
		{name: "nothing on record", edits: edits(title(ours, 1, "a", "b"))},
		{name: "its echo", j: mapping.Journal{Pending: pendings(ab)}, edits: edits(title(ours, 1, "a", "b")), want: "w: a at 1"},
		{name: "the echo of one that was given up", j: mapping.Journal{InFlight: pendings(ab)}, edits: edits(title(ours, 1, "a", "b")), want: "w: a at 1"},
		{name: "it ran over an edit", j: mapping.Journal{Pending: pendings(ab)}, edits: edits(title(dev, 1, "a", "x"), title(ours, 1, "x", "b")), want: "w: x at 1"},
		{name: "an account that may be ours", j: mapping.Journal{Pending: pendings(ab)}, edits: edits(title(maybe, 1, "x", "b")), want: "w: x at 1"},
		{
			// Seed 114500271 of the random run found that each got the edit of the other one.
			name:  "one value was written twice, and each ran over an edit",
			j:     mapping.Journal{Pending: pendings(write("w", mapping.Title, "a", "b"), write("x", mapping.Title, "c", "b"))},
			edits: edits(title(dev, 1, "a", "d"), title(ours, 1, "d", "b"), title(ours, 1, "b", "c"), title(dev, 1, "c", "e"), title(ours, 2, "e", "b")),
			want:  "w: d at 1, x: e at 2",
		},
		{
			name:  "the same, reported in another order",
			j:     mapping.Journal{Pending: pendings(write("w", mapping.Title, "a", "b"), write("x", mapping.Title, "c", "b"))},
			edits: edits(title(ours, 1, "d", "b"), title(ours, 2, "e", "b"), title(dev, 1, "c", "e"), title(ours, 1, "b", "c"), title(dev, 1, "a", "d")),
			want:  "w: d at 1, x: e at 2",
		},
		{name: "a person wrote the same", j: mapping.Journal{Pending: pendings(ab)}, edits: edits(title(dev, 1, "a", "b"))},
		{name: "we wrote something else", j: mapping.Journal{Pending: pendings(ab)}, edits: edits(title(ours, 1, "a", "c"))},
		{name: "an edit from before it", j: mapping.Journal{Pending: pendings(write("w", mapping.Title, "a", "b", after(2)))}, edits: edits(title(ours, 1, "a", "b"))},
		{
			name: "an edit of the second that is known", j: mapping.Journal{Pending: pendings(write("w", mapping.Title, "a", "b", after(1)))},
			edits: edits(title(ours, 1, "a", "b")), want: "w: a at 1",
		},
		{name: "an edit of the body", j: mapping.Journal{Pending: pendings(ab)}, edits: edits(body(ours, 1, "a", "b"))},
		{
			name: "of title and body", j: mapping.Journal{Pending: pendings(ab, write("x", mapping.Summary, "c", "d"))},
			edits: edits(title(ours, 1, "a", "b"), body(ours, 1, "y", "d|footer")), want: "w: a at 1, x: y at 1",
		},
		{name: "it was dealt with", j: mapping.Journal{Pending: pendings(write("w", mapping.Title, "a", "b", verified))}, edits: edits(title(ours, 1, "a", "b"))},
		{name: "a write to planning", j: mapping.Journal{Pending: pendings(write("w", mapping.Title, "a", "b", toPlanning))}, edits: edits(title(ours, 1, "a", "b"))},
		{
			name: "the edit was spent by another", j: mapping.Journal{Pending: pendings(ab), Consumed: []mapping.ConsumedEdit{spentOn(ab, Overwritten{"a", at(1)})}},
			edits: edits(title(ours, 1, "a", "b")),
		},
		{
			name: "an edit of another second was spent", j: mapping.Journal{Pending: pendings(ab), Consumed: []mapping.ConsumedEdit{spentOn(ab, Overwritten{"a", at(2)})}},
			edits: edits(title(ours, 1, "a", "b")), want: "w: a at 1",
		},
		{
			name: "one of two equal edits was spent", j: mapping.Journal{Pending: pendings(ab), Consumed: []mapping.ConsumedEdit{spentOn(ab, Overwritten{"a", at(1)})}},
			edits: edits(title(ours, 1, "a", "b"), title(ours, 1, "a", "b")), want: "w: a at 1",
		},
		{
			name: "an edit of the body was spent", j: mapping.Journal{Pending: pendings(ab), Consumed: []mapping.ConsumedEdit{spentOn(write("", mapping.Summary, "a", "b"), Overwritten{"a", at(1)})}},
			edits: edits(title(ours, 1, "a", "b")), want: "w: a at 1",
		},
		{
			name: "an edit of something else was spent", j: mapping.Journal{Pending: pendings(ab), Consumed: []mapping.ConsumedEdit{spentOn(ab, Overwritten{"z", at(1)})}},
			edits: edits(title(ours, 1, "a", "b")), want: "w: a at 1",
		},
		{
			name: "an edit to something else was spent", j: mapping.Journal{Pending: pendings(ab), Consumed: []mapping.ConsumedEdit{spentOn(write("", mapping.Title, "a", "c"), Overwritten{"a", at(1)})}},
			edits: edits(title(ours, 1, "a", "b")), want: "w: a at 1",
		},
		{
			name:  "one that was dealt with has spent its edit once",
			j:     mapping.Journal{Pending: pendings(write("v", mapping.Title, "a", "b", verified), ab), Consumed: []mapping.ConsumedEdit{spentOn(ab, Overwritten{"a", at(1)})}},
			edits: edits(title(ours, 1, "a", "b"), title(ours, 1, "a", "b")), known: Matches{"v": {"a", at(1)}}, want: "v: a at 1, w: a at 1",
		},
		{
			name: "the match of a body spends no title", j: mapping.Journal{Pending: pendings(ab, write("x", mapping.Summary, "a", "b"))},
			edits: edits(title(ours, 1, "a", "b")), known: Matches{"x": {"a", at(1)}}, want: "w: a at 1, x: a at 1",
		},
		{
			name: "the newest of two writes first", j: mapping.Journal{Pending: pendings(ab, write("x", mapping.Title, "a", "b", after(2)))},
			edits: edits(title(ours, 3, "a", "b")), want: "x: a at 3",
		},
		{
			name: "each of two writes has its edit", j: mapping.Journal{Pending: pendings(ab, write("x", mapping.Title, "a", "b", after(2)))},
			edits: edits(title(ours, 1, "a", "b"), title(ours, 3, "a", "b")), want: "w: a at 1, x: a at 3",
		},
		{
			name: "what came from what was expected first", j: mapping.Journal{InFlight: pendings(ab), Pending: pendings(write("x", mapping.Title, "y", "b"))},
			edits: edits(title(ours, 1, "a", "b")), want: "w: a at 1",
		},
		{
			name: "the match of another is not taken again", j: mapping.Journal{InFlight: pendings(ab), Pending: pendings(write("x", mapping.Title, "a", "b"))},
			edits: edits(title(ours, 1, "a", "b")), known: Matches{"w": {"a", at(1)}}, want: "w: a at 1",
		},
		{
			name: "what is known stays", j: mapping.Journal{Pending: pendings(ab)}, edits: edits(title(ours, 2, "c", "b")), known: Matches{"w": {"a", at(1)}, "gone": {"z", at(0)}},
			want: "gone: z at 0, w: a at 1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := maps.Clone(tt.known)
			expect(t, "matches", ran(Match(&tt.j, tt.edits, tt.known)), tt.want)
			expect(t, "the argument", tt.known, before)
		})
	}
}

func TestUnclear(t *testing.T) {
	late, again := write("l", mapping.Title, "a", "b"), write("p", mapping.Title, "c", "b", answered)
	for _, tt := range []struct {
		name    string
		j       mapping.Journal
		known   Matches
		rest    string
		unclear bool
	}{
		{name: "nothing was given up", j: mapping.Journal{Pending: pendings(again)}, known: Matches{"p": {"c", at(1)}}, rest: "p: c at 1"},
		{name: "nothing is known", j: mapping.Journal{InFlight: pendings(late)}},
		{
			name: "another one ran over what it was made from", j: mapping.Journal{InFlight: pendings(late), Pending: pendings(write("q", mapping.Title, "c", "d"))},
			known: Matches{"q": {"c", at(1)}}, rest: "q: c at 1",
		},
		{
			name: "another one ran over something else", j: mapping.Journal{InFlight: pendings(late), Pending: pendings(write("q", mapping.Title, "c", "d"))},
			known: Matches{"q": {"x", at(1)}}, rest: "q: x at 1", unclear: true,
		},
		{
			name: "another one's body did", j: mapping.Journal{InFlight: pendings(late), Pending: pendings(write("q", mapping.Summary, "c", "d"))},
			known: Matches{"q": {"x", at(1)}}, rest: "q: x at 1",
		},
		{
			name:  "one of two is unclear, the other is matched",
			j:     mapping.Journal{InFlight: pendings(late, write("m", mapping.Title, "e", "f")), Pending: pendings(write("q", mapping.Title, "c", "d"))},
			known: Matches{"m": {"e", at(1)}, "q": {"x", at(1)}}, rest: "m: e at 1, q: x at 1", unclear: true,
		},
		{
			name: "a body of the same words was not written in its stead", j: mapping.Journal{InFlight: pendings(late), Pending: pendings(write("p", mapping.Summary, "c", "b", answered))},
			known: Matches{"p": {"c", at(1)}}, rest: "p: c at 1",
		},
		{
			name: "nor was what was written to planning", j: mapping.Journal{InFlight: pendings(late), Pending: pendings(write("p", mapping.Title, "c", "b", toPlanning))},
			known: Matches{"p": {"c", at(1)}}, rest: "p: c at 1",
		},
		{
			name: "nor what was dealt with", j: mapping.Journal{InFlight: pendings(late), Pending: pendings(write("p", mapping.Title, "c", "b", verified))},
			known: Matches{"p": {"c", at(1)}}, rest: "p: c at 1",
		},
		{
			name: "a body is under way, and a title ran over something else", j: mapping.Journal{InFlight: pendings(write("l", mapping.Summary, "a", "b")), Pending: pendings(again)},
			known: Matches{"p": {"x", at(1)}}, rest: "p: x at 1",
		},
		{
			name: "one to planning is, and a title ran over something else", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "z", toPlanning)), Pending: pendings(again)},
			known: Matches{"p": {"x", at(1)}}, rest: "p: x at 1",
		},
		{name: "it is matched itself", j: mapping.Journal{InFlight: pendings(late)}, known: Matches{"l": {"x", at(1)}}, rest: "l: x at 1"},
		{
			name: "an edit is its, or of the one in its stead", j: mapping.Journal{InFlight: pendings(late), Pending: pendings(again)},
			known: Matches{"p": {"c", at(1)}, "other": {"z", at(2)}}, rest: "other: z at 2", unclear: true,
		},
		{name: "the same, told of it", j: mapping.Journal{InFlight: pendings(late), Pending: pendings(again)}, known: Matches{"l": {"c", at(1)}}, unclear: true},
		{name: "neither was told of", j: mapping.Journal{InFlight: pendings(late), Pending: pendings(again)}},
		{
			name: "it was dealt with", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b", verified)), Pending: pendings(again)},
			known: Matches{"p": {"c", at(1)}}, rest: "p: c at 1",
		},
		{
			name: "of another attribute", j: mapping.Journal{InFlight: pendings(write("l", mapping.Summary, "a", "b")), Pending: pendings(again)},
			known: Matches{"p": {"c", at(1)}}, rest: "p: c at 1",
		},
		{
			name: "to planning", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b", toPlanning)), Pending: pendings(again)},
			known: Matches{"p": {"c", at(1)}}, rest: "p: c at 1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := maps.Clone(tt.known)
			rest, unclear := Unclear(&tt.j, mapping.Title, tt.known)
			expect(t, "the rest", ran(rest), tt.rest)
			expect(t, "unclear", unclear, tt.unclear)
			expect(t, "the argument", tt.known, before)
		})
	}
}

func TestOurs(t *testing.T) {
	for _, tt := range []struct {
		name string
		j    mapping.Journal
		want bool
	}{
		{name: "nobody on record wrote it"},
		{name: "pending", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"))}, want: true},
		{name: "given up", j: mapping.Journal{InFlight: pendings(write("p", mapping.Title, "a", "b"))}, want: true},
		{name: "happened", j: mapping.Journal{Written: []mapping.WriteRecord{{Attribute: mapping.Title, To: mapping.DigestValue(mapping.Title, "b")}}}, want: true},
		{name: "another value", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "b", "a"))}},
		{name: "a body of the same words happened", j: mapping.Journal{Written: []mapping.WriteRecord{{Attribute: mapping.Summary, To: mapping.DigestValue(mapping.Title, "b")}}}},
		{name: "to planning", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", toPlanning))}},
		{name: "another attribute", j: mapping.Journal{Pending: pendings(write("p", mapping.Summary, "a", "b"))}},
		{name: "of a write of which no answer told", j: mapping.Journal{Written: []mapping.WriteRecord{{Attribute: mapping.Title}}}},
	} {
		t.Run(tt.name, func(t *testing.T) { expect(t, "ours", Ours(&tt.j, mapping.Title, "b"), tt.want) })
	}
}

func TestOverdue(t *testing.T) {
	for _, tt := range []struct {
		name  string
		p     mapping.Pending
		known Matches
		now   int
		want  string
	}{
		{"not answered", write("p", mapping.Title, "a", "b"), nil, 99, ""},
		{"not yet", write("p", mapping.Title, "a", "b", answered), nil, 29, ""},
		{"by now", write("p", mapping.Title, "a", "b", answered), nil, 30, "p!"},
		{"its echo came", write("p", mapping.Title, "a", "b", answered), Matches{"p": {}}, 99, ""},
		{"dealt with", write("p", mapping.Title, "a", "b", verified), nil, 99, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Book{Journal: &mapping.Journal{Pending: pendings(tt.p)}, Settle: at(30).Sub(noon), Now: at(tt.now)}
			expect(t, "overdue", ids(b.Overdue(tt.known)), tt.want)
		})
	}
}

func TestReplaced(t *testing.T) {
	for _, tt := range []struct {
		name  string
		p     mapping.Pending
		known Matches
		now   string
		want  string
	}{
		{"what it wrote stands there", write("p", mapping.Title, "a", "b"), nil, "b", ""},
		{"what stood there before stands there", write("p", mapping.Title, "a", "b"), nil, "a", ""},
		{"something else stands there", write("p", mapping.Title, "a", "b"), nil, "c", "p"},
		{"an event told of it", write("p", mapping.Title, "a", "b"), Matches{"p": {}}, "c", ""},
		{"it was answered", write("p", mapping.Title, "a", "b", answered), nil, "c", ""},
		{"to planning", write("p", mapping.Title, "a", "b", toPlanning), nil, "c", ""},
		{"GitHub has no memory of it", write("p", mapping.Estimate, "1", "2"), nil, "3", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Book{Journal: &mapping.Journal{Pending: pendings(tt.p)}, GitHub: mapping.View{tt.p.Attribute: {Value: tt.now}}}
			expect(t, "replaced", ids(b.Replaced(tt.known)), tt.want)
		})
	}
}

func TestMayHaveHappened(t *testing.T) {
	madeFrom := func(p *mapping.Pending) { p.Old = &mapping.Base{GitHub: "todo"} }
	todo, open := map[mapping.Attribute]mapping.Base{mapping.State: {GitHub: "todo"}}, mapping.View{mapping.State: {Value: "todo"}}
	closing := write("p", mapping.State, "todo", "done", madeFrom)
	for _, tt := range []struct {
		name string
		p    mapping.Pending
		base map[mapping.Attribute]mapping.Base
		now  mapping.View
		want string
	}{
		{"what stood there before stands there", closing, todo, open, "p"},
		{"it is open in another way", closing, todo, mapping.View{mapping.State: {Value: "in-progress"}}, "p"},
		{"a label was to be set, and it is closed", write("p", mapping.State, "todo", "in-progress", madeFrom), todo, mapping.View{mapping.State: {Value: "done"}}, ""},
		{"a label was to be set, and it is not there", write("p", mapping.State, "todo", "in-progress", madeFrom), todo, open, "p"},
		{"the sides agreed on the same again since", closing, map[mapping.Attribute]mapping.Base{mapping.State: {GitHub: "todo", Version: 2}}, open, ""},
		{"its value stands there", closing, todo, mapping.View{mapping.State: {Value: "done"}}, ""},
		{"it is not known what does", closing, todo, mapping.View{}, ""},
		{"the sides agreed on another value since", closing, map[mapping.Attribute]mapping.Base{mapping.State: {GitHub: "in-progress"}}, open, ""},
		{"the base was dropped", closing, nil, open, ""},
		{"there was no base", write("p", mapping.State, "todo", "done"), todo, open, ""},
		{"it was answered", write("p", mapping.State, "todo", "done", madeFrom, answered), todo, open, ""},
		{"GitHub was asked when it could not be under way any more", write("p", mapping.State, "todo", "done", madeFrom, func(p *mapping.Pending) { p.Asked = true }), todo, open, ""},
		{"the task was to be", write("p", mapping.State, "todo", "done", madeFrom, toPlanning), todo, open, ""},
		{"a title", write("p", mapping.Title, "todo", "done", madeFrom), map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "todo"}}, mapping.View{mapping.Title: {Value: "todo"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, j := range []*mapping.Journal{{Pending: pendings(tt.p)}, {InFlight: pendings(tt.p)}} {
				b := Book{Journal: j, Base: tt.base, GitHub: tt.now}
				expect(t, "may have happened", ids(b.MayHaveHappened()), tt.want)
			}
		})
	}
}

// TestReopen: a write that was in flight is looked at again, and others stay.
func TestReopen(t *testing.T) {
	j := &mapping.Journal{InFlight: pendings(write("o", mapping.State, "todo", "done"), write("p", mapping.State, "todo", "done"))}
	Reopen(j, "p")
	Reopen(j, "unknown")
	expect(t, "in flight", ids(j.InFlight), "o")
	expect(t, "of unknown outcome", ids(j.Pending), "p")
}

func TestUnverified(t *testing.T) {
	for _, tt := range []struct {
		name  string
		p     []mapping.Pending
		edits Edits
		want  bool
	}{
		{name: "nothing is pending", edits: edits(title(ours, 1, "a", "b"))},
		{name: "not answered", p: pendings(write("p", mapping.Title, "a", "b")), want: true},
		{name: "answered", p: pendings(write("p", mapping.Title, "a", "b", answered))},
		{name: "answered, and its echo is there", p: pendings(write("p", mapping.Title, "a", "b", answered)), edits: edits(title(ours, 1, "a", "b")), want: true},
		{name: "answered, and a person's edit is there", p: pendings(write("p", mapping.Title, "a", "b", answered)), edits: edits(title(dev, 1, "a", "b"))},
		{name: "dealt with", p: pendings(write("p", mapping.Title, "a", "b", verified)), edits: edits(title(ours, 1, "a", "b"))},
		{name: "the second of two", p: pendings(write("p", mapping.Title, "a", "b", verified), write("q", mapping.Title, "a", "b")), want: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, "unverified", Unverified(&mapping.Journal{Pending: tt.p}, edits(tt.edits.All...)), tt.want)
		})
	}
}
