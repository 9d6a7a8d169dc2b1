package reconcile

import (
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// put is a decision to write GitHub's value to planning, which has a value of version 1.
func put(a mapping.Attribute, from, to string) mapping.Decision {
	return mapping.Decision{
		Attribute: a, Action: mapping.ToPlan, Why: "GitHub changed", Planning: &mapping.Write{From: from, To: to, Version: 1},
		Base: mapping.Base{GitHub: to, Planning: to, Version: 1},
	}
}

// forced is a write whatever version planning has.
func forced(d mapping.Decision) mapping.Decision {
	d.Planning.Version = mapping.ForceVersion
	return d
}

// shows is planning's answer: the item has that version, and these values.
func shows(version int64, values map[mapping.Attribute]mapping.Versioned) Updated {
	return Updated{Version: version, Values: values}
}

func versioned(value string, version int64) mapping.Versioned {
	return mapping.Versioned{Value: value, Version: version}
}

// titled is planning's answer with a title alone.
func titled(value string, version int64) Updated {
	return shows(version, map[mapping.Attribute]mapping.Versioned{mapping.Title: versioned(value, version)})
}

// openWrites says what is wrong where another number of writes has no outcome yet.
func openWrites(n int) func(work) string {
	return is("the record has the writes whose outcome is not known, and no others", func(w work) bool { return len(w.pair.Pending) == n })
}

func holds(a mapping.Attribute, value string, version int64) func(work) string {
	return is("planning is known to have "+value, func(w work) bool { return w.p[a] == versioned(value, version) })
}

// saved is what goes before each write.
var saved = []string{"Save", "BeginWrite"}

func savedAnd(more ...string) []string { return append([]string{"Save", "BeginWrite"}, more...) }

const putTitle = `Update card:c title="b"@1 by robot`

func TestWritePlanning(t *testing.T) {
	title, estimate, state := put(mapping.Title, "a", "b"), put(mapping.Estimate, "3", "5"), put(mapping.State, mapping.StateTodo, mapping.StateDone)
	done := shows(2, map[mapping.Attribute]mapping.Versioned{mapping.State: versioned(mapping.StateDone, 2)})
	task := func(l *mapping.Link) { l.Kind = mapping.SubIssue }
	checkRule(t, writePlanning, []ruleCase{
		{name: "nothing is decided", want: pass},
		{name: "GitHub alone is written", known: planned(toHub(mapping.Title, "a", "b")), want: pass},
		{
			name: "a title", known: planned(title), answers: map[string]any{"Update": titled("b", 2)}, asked: savedAnd(putTitle), counts: []string{"0 web planning title"},
			check: all(agreedOn(mapping.Title, "b", "b", 2), holds(mapping.Title, "b", 2), openWrites(0), tells("write"),
				is("both items are read as a whole next time", func(w work) bool { return w.pair.Unfinished }),
				is("the card's version is known, and its counters did not move", func(w work) bool { return w.pair.Card.Version == 2 && w.pair.Card.CountersVersion == 0 })),
		},
		{
			name: "a title and an estimate, with one request", known: planned(title, estimate), asked: savedAnd(`Update card:c estimate="5"@1 title="b"@1 by robot`),
			answers: map[string]any{"Update": shows(2, map[mapping.Attribute]mapping.Versioned{mapping.Title: versioned("b", 2), mapping.Estimate: versioned("5", 2)})},
			check:   all(agreedOn(mapping.Title, "b", "b", 2), agreedOn(mapping.Estimate, "5", "5", 2), openWrites(0), tells("write", "write")),
		},
		{
			name: "a state, to its task", known: planned(state), answers: map[string]any{"Update": done}, asked: savedAnd(`Update task:t state="done"@1 by robot`),
			check: all(agreedOn(mapping.State, mapping.StateDone, mapping.StateDone, 2), openWrites(0),
				is("the card's counters moved by one, and its version did not", func(w work) bool { return w.pair.Card.Version == 0 && w.pair.Card.CountersVersion == 1 })),
		},
		{
			name: "a state and a title: the card goes first", known: planned(state, title), answers: map[string]any{"Update": turns{titled("b", 2), done}},
			asked: savedAnd(putTitle, "Save", "BeginWrite", "Update task:t…"), check: all(openWrites(0), tells("write", "write")),
		},
		{
			name: "a state and a title, and the card moved: its task waits", known: planned(state, title),
			answers: map[string]any{"Update": &mapping.VersionConflict{Current: map[mapping.Attribute]mapping.Versioned{mapping.Title: versioned("c", 2)}}},
			asked:   savedAnd(putTitle), want: anew, check: all(openWrites(0), holds(mapping.Title, "c", 2), agreedOn(mapping.Title, "", "", 1)),
		},
		{name: "a state of a card without a task", known: planned(state), link: func(l *mapping.Link) { l.Children = nil }, want: pass, check: agreedOn(mapping.State, "", "", 1)},
		{
			name: "a sub-issue's state goes to its own task, with its title", link: task, known: planned(state, title), asked: savedAnd(`Update task:c state="done"@1 title="b"@1 by robot`),
			answers: map[string]any{"Update": shows(2, map[mapping.Attribute]mapping.Versioned{mapping.Title: versioned("b", 2), mapping.State: versioned(mapping.StateDone, 2)})},
			check:   all(openWrites(0), tells("write", "write")),
		},
		{
			name: "a text goes with the card's footer, which is no part of it", known: planned(put(mapping.Summary, "old", "new")), asked: savedAnd(`Update card:c summary="new\n\n…`),
			answers: map[string]any{"Update": shows(2, map[mapping.Attribute]mapping.Versioned{mapping.Summary: versioned("new", 2)})}, check: agreedOn(mapping.Summary, "new", "new", 2),
		},
		{name: "the lease is lost", known: planned(title), answers: map[string]any{"Save": store.ErrLeaseLost}, asked: []string{"Save"}, err: "lease", check: openWrites(0)},
		{
			name: "the lease is too short for a write", known: planned(title), answers: map[string]any{"BeginWrite": errAway}, asked: saved, err: "unavailable", check: openWrites(0),
		},
		{
			name: "another key gets the slot meanwhile", known: planned(title), answers: map[string]any{"Update": titled("b", 2), "Rise": None{}},
			asked: []string{"Rise", "Save", "BeginWrite", putTitle, "Rise"},
		},
		{
			name: "none does between a read of GitHub and its write", known: func(w work) { planned(title)(w); w.fresh = true },
			answers: map[string]any{"Update": titled("b", 2), "Rise": None{}}, asked: savedAnd(putTitle),
		},
	})
}

func TestWhoWritesPlanning(t *testing.T) {
	title := planned(put(mapping.Title, "a", "b"))
	users := func(s *Settings) { s.Users = map[string]string{"ann": "anna"} }
	edited := func(by, author string) func(work) {
		return func(w work) { title(w); w.issue = &mapping.Issue{ID: 7, Editor: by, Author: author} }
	}
	refusedUser := &mapping.Rejection{Field: "username", Message: "unknown"}
	const anna = `Update card:c title="b"@1 by anna`
	ok := map[string]any{"Update": titled("b", 2)}
	checkRule(t, writePlanning, []ruleCase{
		{name: "nobody is known", known: title, set: users, answers: ok, asked: savedAnd(putTitle)},
		{name: "who edited the issue", known: edited("Ann", "bob"), set: users, answers: ok, asked: savedAnd(anna)},
		{name: "the user table lacks who did", known: edited("bob", "ann"), set: users, answers: ok, asked: savedAnd(putTitle)},
		{name: "a read does not say who did", known: edited("", "ann"), set: users, answers: ok, asked: savedAnd(putTitle)},
		{
			name: "the login has another account now", known: edited("ann", ""), set: users, process: process{strangers: true}, answers: ok, asked: savedAnd(putTitle),
		},
		{
			name: "planning refuses the person: the route's user writes", known: edited("ann", ""), set: users, answers: map[string]any{"Update": turns{refusedUser, titled("b", 2)}},
			asked: savedAnd(anna, putTitle), counts: []string{"5 web", "0 web planning title"}, check: agreedOn(mapping.Title, "b", "b", 2),
		},
		{
			name: "planning refuses the value, and not the person", known: edited("ann", ""), set: users,
			answers: map[string]any{"Update": &mapping.Rejection{Field: "title", Message: "too long"}}, asked: savedAnd(anna), counts: []string{}, check: tells("refused"),
		},
		{
			name: "planning refuses the route's user", known: title, set: users, answers: map[string]any{"Update": refusedUser}, asked: savedAnd(putTitle), counts: []string{},
			check: tells("refused"),
		},
	})
}
