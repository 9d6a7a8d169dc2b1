package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

func TestClose(t *testing.T) {
	records := func() *mapping.Journal {
		return &mapping.Journal{Pending: pendings(
			write("title", mapping.Title, "a", "b"), write("body", mapping.Summary, "a", "b"), write("done", mapping.Title, "a", "b", answered),
			write("other", mapping.Title, "a", "b", ofItem("issue:2")), write("card", mapping.Title, "a", "b", toPlanning),
		)}
	}
	for _, tt := range []struct {
		name       string
		side       mapping.Side
		item       mapping.Ref
		attrs      []mapping.Attribute
		closed, is string
	}{
		{"all of an item", mapping.GitHub, "issue:1", nil, "title body", "done! other card"},
		{"one attribute", mapping.GitHub, "issue:1", []mapping.Attribute{mapping.Summary}, "body", "title done! other card"},
		{"an attribute without a record", mapping.GitHub, "issue:1", []mapping.Attribute{mapping.Estimate}, "", "title body done! other card"},
		{"of the other side", mapping.Planning, "card:c", nil, "card", "title body done! other"},
		{"of another item", mapping.GitHub, "issue:3", nil, "", "title body done! other card"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := records()
			expect(t, "closed", ids(Close(j, tt.side, tt.item, tt.attrs...)), tt.closed)
			expect(t, "left", ids(j.Pending), tt.is)
		})
	}
}

func TestAnswer(t *testing.T) {
	records := func() *mapping.Journal {
		return &mapping.Journal{Pending: pendings(
			write("title", mapping.Title, "a", "b"), write("body", mapping.Summary, "a", "b"), write("state", mapping.State, "todo", "done"),
			write("estimate", mapping.Estimate, "1", "2"), write("other", mapping.Title, "a", "b", ofItem("issue:2")),
			write("card", mapping.Title, "a", "b", toPlanning),
		)}
	}
	for _, tt := range []struct {
		name  string
		attrs []mapping.Attribute
		want  string
	}{
		{"the echo of a title shows what it ran over", []mapping.Attribute{mapping.Title}, "title! body state estimate other card"},
		{"two texts at once", []mapping.Attribute{mapping.Title, mapping.Summary}, "title! body! state estimate other card"},
		{"GitHub tells nothing of a state; the estimate was not sent", []mapping.Attribute{mapping.State}, "title body estimate other card"},
		{"a state with a title", []mapping.Attribute{mapping.Title, mapping.State}, "title! body estimate other card"},
		{"nothing was sent", nil, "title body state estimate other card"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ds []mapping.Decision
			for _, a := range tt.attrs {
				ds = append(ds, mapping.Decision{Attribute: a})
			}
			j := records()
			Answer(j, "issue:1", ds)
			expect(t, "the records", ids(j.Pending), tt.want)
		})
	}
}

func TestForget(t *testing.T) {
	for id, want := range map[string]string{"x": "y", "y": "x", "z": "x y"} {
		j := &mapping.Journal{Pending: pendings(write("x", mapping.Title, "a", "b"), write("y", mapping.Title, "a", "b"))}
		Forget(j, id)
		expect(t, "without "+id, ids(j.Pending), want)
	}
}

func TestInFlight(t *testing.T) {
	old := &mapping.Base{GitHub: "a"}
	github := write("new", mapping.Title, "a", "b", agreeing, func(p *mapping.Pending) { p.Old = old })
	card := write("new", mapping.Title, "a", "b", version(3, old))
	late := func(n int, p mapping.Pending) (all []mapping.Pending) {
		for i := range n {
			p.ID = fmt.Sprint(i)
			all = append(all, p)
		}
		return all
	}
	for _, tt := range []struct {
		name  string
		there []mapping.Pending
		p     mapping.Pending
		want  string
		next  mapping.Base
	}{
		{"the first", nil, github, "new", mapping.Base{}},
		{"planning's version tells of it later", nil, card, "new", card.Next},
		{"up to four", late(3, github), github, "0 1 2 new", mapping.Base{}},
		{"the oldest goes", late(4, github), github, "1 2 3 new", mapping.Base{}},
		{"another attribute has its own four", late(4, write("", mapping.Summary, "a", "b")), github, "0 1 2 3 new", mapping.Base{}},
		{"the other side has its own four", late(4, github), card, "0 1 2 3 new", card.Next},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &mapping.Journal{InFlight: tt.there}
			InFlight(j, tt.p)
			expect(t, "in flight", ids(j.InFlight), tt.want)
			last := j.InFlight[len(j.InFlight)-1]
			expect(t, "its base", last.Next, tt.next)
			if last.Old != nil || tt.p.Old != old {
				t.Error("the old base is kept, or was taken from the caller")
			}
		})
	}
}

func TestExpire(t *testing.T) {
	hours := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }
	for _, tt := range []struct {
		name string
		now  time.Time
		want string
	}{
		{"at once", noon, "x y"},
		{"at the last moment", hours(24), "x y"},
		{"a moment later", hours(24).Add(1), "y"},
		{"much later", hours(99), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &mapping.Journal{InFlight: pendings(write("x", mapping.Title, "a", "b"), write("y", mapping.Title, "a", "b", made(3600)))}
			Expire(j, tt.now)
			expect(t, "left", ids(j.InFlight), tt.want)
			expect(t, "the first may land", MayLand(write("x", mapping.Title, "a", "b"), tt.now), strings.Contains(tt.want, "x"))
		})
	}
}

func TestMadeAgain(t *testing.T) {
	j := &mapping.Journal{
		Pending: pendings(write("p", mapping.Title, "a", "b", restores)),
		InFlight: pendings(write("x", mapping.Title, "a", "b", restores), write("y", mapping.Summary, "a", "b", restores),
			write("z", mapping.Title, "a", "b", restores, toPlanning)),
	}
	MadeAgain(j, mapping.Title)
	expect(t, "in flight", ids(j.InFlight), "x yr zr")
	expect(t, "pending", ids(j.Pending), "pr")
}

func TestVerify(t *testing.T) {
	told := Overwritten{"x", at(3)}
	for _, tt := range []struct {
		name          string
		j             mapping.Journal
		id            string
		over          Overwritten
		pending, late string
		spent         int
		restores      bool
	}{
		{name: "a pending write", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"))}, id: "p", over: told, pending: "p!v", spent: 1},
		{name: "one that was given up", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b"))}, id: "l", over: told, late: "l!v", spent: 1},
		{
			name: "it restored an edit", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", restores))}, id: "p", over: told,
			pending: "p!vr", spent: 1, restores: true,
		},
		{
			name: "no edit tells of it", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"))}, id: "p", over: Overwritten{Text: "x"},
			pending: "p!v",
		},
		{name: "another one", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"))}, id: "q", over: told, pending: "p", spent: 1},
		{name: "as many spent edits as are kept", j: mapping.Journal{Consumed: make([]mapping.ConsumedEdit, maxSpent-1)}, id: "q", over: told, spent: maxSpent},
		{name: "the oldest spent edit goes", j: mapping.Journal{Consumed: make([]mapping.ConsumedEdit, maxSpent)}, id: "q", over: told, spent: maxSpent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := tt.j
			Verify(&j, write(tt.id, mapping.Title, "a", "b"), tt.over)
			expect(t, "pending", ids(j.Pending), tt.pending)
			expect(t, "in flight", ids(j.InFlight), tt.late)
			expect(t, "spent edits", len(j.Consumed), tt.spent)
			if tt.spent > 0 {
				last := j.Consumed[len(j.Consumed)-1]
				want := mapping.ConsumedEdit{Attribute: mapping.Title, From: mapping.DigestValue(mapping.Title, "x"), To: mapping.DigestValue(mapping.Title, "b"), At: at(3), Restores: tt.restores}
				expect(t, "the last of them", last, want)
			}
		})
	}
}

func TestDropVerifiedAndSpent(t *testing.T) {
	spent := func(attrs ...mapping.Attribute) (all []mapping.ConsumedEdit) {
		for _, a := range attrs {
			all = append(all, mapping.ConsumedEdit{Attribute: a})
		}
		return all
	}
	for _, tt := range []struct {
		name          string
		j             mapping.Journal
		pending, late string
		dropped       bool
		spent         []mapping.ConsumedEdit // once the sides agree
	}{
		{name: "nothing on record"},
		{
			name: "an echo is awaited", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", answered)), Consumed: spent(mapping.Title, mapping.Summary)},
			pending: "p!", spent: spent(mapping.Title),
		},
		{
			name: "its echo was dealt with", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", verified)), Consumed: spent(mapping.Title)},
			dropped: true,
		},
		{name: "that of one that was given up", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b", verified))}, dropped: true},
		{
			name: "one of two", j: mapping.Journal{
				Pending:  pendings(write("p", mapping.Title, "a", "b", verified), write("q", mapping.Summary, "a", "b")),
				InFlight: pendings(write("l", mapping.Title, "a", "b")), Consumed: spent(mapping.Title, mapping.Summary, mapping.Title),
			},
			pending: "q", late: "l", dropped: true, spent: spent(mapping.Title, mapping.Summary, mapping.Title),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, before := tt.j, len(tt.j.Consumed)
			expect(t, "dropped", DropVerified(&j), tt.dropped)
			expect(t, "pending", ids(j.Pending), tt.pending)
			expect(t, "in flight", ids(j.InFlight), tt.late)
			expect(t, "spent edits before they agree", len(j.Consumed), before)
			DropSpent(&j)
			expect(t, "pending", ids(j.Pending), tt.pending)
			expect(t, "spent edits", append([]mapping.ConsumedEdit(nil), j.Consumed...), tt.spent)
		})
	}
}

func TestAwaitsEcho(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    mapping.Pending
		want bool
	}{
		{"not answered", write("p", mapping.Title, "a", "b"), false},
		{"answered", write("p", mapping.Title, "a", "b", answered), true},
		{"dealt with", write("p", mapping.Title, "a", "b", verified), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, "awaits", AwaitsEcho(&mapping.Journal{Pending: pendings(tt.p)}), tt.want)
			expect(t, "one that was given up awaits", AwaitsEcho(&mapping.Journal{InFlight: pendings(tt.p)}), false)
		})
	}
}

func TestSteps(t *testing.T) {
	seconds := int(Doubt / time.Second)
	for _, tt := range []struct {
		name   string
		digest string
		came   int
		is     bool
		left   int
	}{
		{"the first", "x", 1, true, 1},
		{"the second", "y", 1, true, 1},
		{"something else", "z", 1, false, 2},
		{"before we wrote, by our clock", "x", -5, true, 1},
		{"too late for the first", "x", seconds, false, 2},
		{"not too late for the second", "y", seconds, true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &mapping.Journal{}
			Step(j, "x", at(0))
			Step(j, "y", at(1))
			expect(t, "is a step", TakeStep(j, tt.digest, at(tt.came)), tt.is)
			expect(t, "steps left", len(j.Steps), tt.left)
			if tt.is {
				expect(t, "is a step again", TakeStep(j, tt.digest, at(tt.came)), false)
			}
		})
	}
	j := &mapping.Journal{}
	Step(j, "x", at(0))
	Step(j, "y", at(seconds-1))
	Step(j, "z", at(seconds))
	expect(t, "steps", len(j.Steps), 2)
}

func TestWrote(t *testing.T) {
	seconds := int(Doubt / time.Second)
	for _, tt := range []struct {
		name string
		now  int
		want int
	}{
		{"soon after the other", 1, 2},
		{"while the other may still show", seconds - 1, 2},
		{"when it cannot any more", seconds, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &mapping.Journal{Written: []mapping.WriteRecord{{Attribute: mapping.Title, At: at(0)}}}
			Wrote(j, mapping.WriteRecord{Attribute: mapping.Summary, At: at(-99)}, at(tt.now)) // it is kept, whatever its time
			expect(t, "writes", len(j.Written), tt.want)
			expect(t, "the last", j.Written[len(j.Written)-1].Attribute, mapping.Summary)
		})
	}
}

func TestRecord(t *testing.T) {
	planned, base := mapping.Interval{From: at(1), To: at(2)}, mapping.Base{GitHub: "g", Planning: "p", Version: 4}
	next := mapping.Base{GitHub: "b", Planning: "y", Version: 5}
	d := mapping.Decision{Attribute: mapping.Title, Base: next, GitHub: &mapping.Write{From: "a", To: "b"}, Planning: &mapping.Write{From: "x", To: "y"}}
	brought := d
	brought.GitHub = &mapping.Write{From: "a", To: "c"}
	issue := &mapping.Issue{UpdatedAt: at(9)}
	for _, tt := range []struct {
		name string
		side mapping.Side
		d    mapping.Decision
		b    Book
		want mapping.Pending
	}{
		{"to planning", mapping.Planning, d, Book{Issue: issue}, mapping.Pending{From: "x", To: "y"}},
		{"to GitHub", mapping.GitHub, d, Book{Issue: issue}, mapping.Pending{From: "a", To: "b", After: at(9), Edited: planned}},
		{"to an issue that was not read", mapping.GitHub, d, Book{}, mapping.Pending{From: "a", To: "b"}},
		{"an edit that is brought back", mapping.GitHub, brought, Book{Issue: issue}, mapping.Pending{From: "a", To: "c", After: at(9), Edited: planned, Restores: true}},
		{"something was agreed on", mapping.Planning, d, Book{Base: map[mapping.Attribute]mapping.Base{mapping.Title: base}}, mapping.Pending{From: "x", To: "y", Old: &base}},
		{"something of another attribute was", mapping.Planning, d, Book{Base: map[mapping.Attribute]mapping.Base{mapping.Summary: base}}, mapping.Pending{From: "x", To: "y"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			want.ID, want.Side, want.Item, want.Attribute, want.Next, want.At = "id", tt.side, "issue:1", mapping.Title, next, at(7)
			tt.b.Now = at(7)
			expect(t, "the record", tt.b.Record("id", tt.side, "issue:1", tt.d, planned), want)
		})
	}
}

func TestUnansweredIn(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    mapping.Pending
		task bool
		want Unanswered
	}{
		{"a title of the issue", write("p", mapping.Title, "a", "b"), false, Unanswered{Issue: true}},
		{"the issue's state, which the tracking task has, too", write("p", mapping.State, "a", "b"), false, Unanswered{Issue: true, Tracking: true}},
		{"a card", write("p", mapping.Title, "a", "b", toPlanning), false, Unanswered{Card: true}},
		{"the tracking task", write("p", mapping.State, "a", "b", ofItem("task:t")), false, Unanswered{Tracking: true}},
		{"a sub-issue's task", write("p", mapping.Title, "a", "b", ofItem("task:t")), true, Unanswered{Card: true, Tracking: true}},
		{"it was answered", write("p", mapping.Title, "a", "b", answered), false, Unanswered{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, "to read", UnansweredIn(&mapping.Journal{Pending: pendings(tt.p)}, tt.task), tt.want)
		})
	}
	both := mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"), write("q", mapping.Title, "a", "b", toPlanning))}
	expect(t, "of both sides", UnansweredIn(&both, false), Unanswered{Issue: true, Card: true})
}

func TestWroteFrom(t *testing.T) {
	here := time.FixedZone("here", 3600)
	want := mapping.WriteRecord{Attribute: mapping.Title, From: mapping.DigestValue(mapping.Title, "a"), At: at(5)}
	expect(t, "a write", WroteFrom(mapping.Title, "a", at(5).In(here)), want)
}
