package journal

import (
	"testing"

	"planbridge/mapping"
)

// TestOpen has a row for each record. A write to GitHub is open until its echo was handled. An
// in-flight one is open until GitHub was asked.
func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		name string
		j    mapping.Journal
		want bool
	}{
		{name: "nothing on record"},
		{name: "not answered", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"))}, want: true},
		{name: "answered", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", answered))}, want: true},
		{name: "a state", j: mapping.Journal{Pending: pendings(write("p", mapping.State, "todo", "done"))}, want: true},
		{name: "dealt with", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", verified))}},
		{name: "to planning", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", toPlanning))}},
		{name: "one of two", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", verified), write("q", mapping.Title, "b", "c", answered))}, want: true},
		{name: "given up", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b"))}, want: true},
		{name: "given up, and asked about", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b", asked))}},
		{name: "given up, and dealt with", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b", verified))}},
		{name: "given up, of a state, which GitHub has no memory of", j: mapping.Journal{InFlight: pendings(write("l", mapping.State, "todo", "done"))}},
		{name: "given up, to planning", j: mapping.Journal{InFlight: pendings(write("l", mapping.Title, "a", "b", toPlanning))}},
	} {
		t.Run(tt.name, func(t *testing.T) { expect(t, "open", Open(&tt.j), tt.want) })
	}
}

// TestForgetIssue: of an issue that is no more the pair's only the writes to planning are remembered.
func TestForgetIssue(t *testing.T) {
	j := &mapping.Journal{
		Pending: pendings(
			write("title", mapping.Title, "a", "b"), write("card", mapping.Title, "a", "b", toPlanning), write("body", mapping.Summary, "a", "b", answered),
			write("done", mapping.Title, "a", "b", verified),
		),
		InFlight: pendings(write("late", mapping.Title, "a", "b"), write("late card", mapping.Title, "a", "b", toPlanning)),
	}
	ForgetIssue(j)
	expect(t, "pending", ids(j.Pending), "card")
	expect(t, "in flight", ids(j.InFlight), "")
	ForgetIssue(j)
	expect(t, "pending, forgotten twice", ids(j.Pending), "card")
}

// TestAnswersAreKept: a record that was answered stays so when other writes are.
func TestAnswersAreKept(t *testing.T) {
	j := &mapping.Journal{Pending: pendings(write("body", mapping.Summary, "a", "b"), write("title", mapping.Title, "a", "b"))}
	Answer(j, "issue:1", []mapping.Decision{{Attribute: mapping.Summary}})
	Answer(j, "issue:1", []mapping.Decision{{Attribute: mapping.Title}})
	expect(t, "the records", ids(j.Pending), "body! title!")
	Answer(j, "issue:2", []mapping.Decision{{Attribute: mapping.Title}})
	expect(t, "the records after another issue's answer", ids(j.Pending), "body! title!")
}

// TestUnansweredOfSeveral: items that one record needs are read, whatever the next one needs.
func TestUnansweredOfSeveral(t *testing.T) {
	title, state := write("t", mapping.Title, "a", "b"), write("s", mapping.State, "todo", "done")
	card, task := write("c", mapping.Title, "a", "b", toPlanning), write("k", mapping.State, "todo", "done", ofItem("task:t"))
	for _, tt := range []struct {
		name string
		all  []mapping.Pending
		want Unanswered
	}{
		{"nothing", nil, Unanswered{}},
		{"a state, and a title", pendings(state, title), Unanswered{Issue: true, Tracking: true}},
		{"a title, and a state", pendings(title, state), Unanswered{Issue: true, Tracking: true}},
		{"a card, and its tracking task", pendings(card, task), Unanswered{Card: true, Tracking: true}},
		{"a tracking task, and its card", pendings(task, card), Unanswered{Card: true, Tracking: true}},
		{"all", pendings(card, title, task), Unanswered{Issue: true, Card: true, Tracking: true}},
		{"a card, and what was answered", pendings(card, write("a", mapping.Title, "a", "b", answered)), Unanswered{Card: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, "to read", UnansweredIn(&mapping.Journal{Pending: tt.all}, false), tt.want)
		})
	}
}
