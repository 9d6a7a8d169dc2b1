package mapping

import "testing"

// TestMergesCrossInEachForm has a row for each way in which a text is spelt differently on the two
// sides. A merge reads both in people's form, and each side gets its own spelling.
func TestMergesCrossInEachForm(t *testing.T) {
	const program, own = "[x](javascript:1)", "a" + seam + "b"
	defused := defuseLinks(program, "")
	for name, tt := range map[string]struct {
		base             Base
		g, p             string
		toGitHub, toPlan string // "": it does not merge
	}{
		"a mention that planning adds": {
			Base{GitHub: "one\n\ntwo", Planning: "one\n\ntwo"},
			"ONE\n\ntwo", "one\n\ntwo\n\nask @bob",
			"ONE\n\ntwo\n\n" + Defuse("ask @bob"), "ONE\n\ntwo\n\nask @bob",
		},
		"a mention that GitHub adds": {
			Base{GitHub: "one\n\ntwo", Planning: "one\n\ntwo"},
			"one\n\ntwo\n\nask @bob", "ONE\n\ntwo",
			"ONE\n\ntwo\n\nask @bob", "ONE\n\ntwo\n\nask @bob",
		},
		"planning's mention becomes another name on GitHub": {
			Base{GitHub: Defuse("ask @bob") + "\n\ntwo", Planning: "ask @bob\n\ntwo"},
			Defuse("ask @bobby") + "\n\ntwo", "ask @bob\n\nTWO",
			Defuse("ask @bobby") + "\n\nTWO", "ask @bobby\n\nTWO",
		},
		"a character that nobody sees": {
			Base{GitHub: "one\n\ntwo", Planning: "one\n\ntwo"},
			"ONE\n\ntwo", "one\n\ntwo\n\nthr\x07ee",
			"ONE\n\ntwo\n\nthree", "ONE\n\ntwo\n\nthr\x07ee",
		},
		"a link that runs a program": {
			Base{GitHub: program + "\n\ntwo", Planning: defused + "\n\ntwo"},
			"[x](javascript:2)\n\ntwo", defused + "\n\nTWO",
			"[x](javascript:2)\n\nTWO", defuseLinks("[x](javascript:2)", "") + "\n\nTWO",
		},
		"a link that GitHub removes": {
			Base{GitHub: program + "\n\ntwo", Planning: defused + "\n\ntwo"},
			"two", defused + "\n\ntwo\n\nthree",
			"two\n\nthree", "two\n\nthree",
		},
		"a mark that a person typed": {
			Base{GitHub: "one\n\n" + mark(own, nil, onGitHub), Planning: "one\n\n" + mark(own, nil, inPlanning)},
			"ONE\n\n" + mark(own, nil, onGitHub), "one\n\n" + mark(own, nil, inPlanning) + "\n\nthree",
			"ONE\n\n" + mark(own, nil, onGitHub) + "\n\nthree", "ONE\n\n" + mark(own, nil, inPlanning) + "\n\nthree",
		},
		"both change the same words": {
			Base{GitHub: Defuse("ask @bob"), Planning: "ask @bob"}, Defuse("ask @alice"), "ask @carol", "", "",
		},
	} {
		hub, plan, ok := mergeSummary(tt.base, tt.g, tt.p)
		if ok != (tt.toGitHub != "") || hub != tt.toGitHub || plan != tt.toPlan {
			t.Errorf("%s: GitHub gets %q and planning %q, want %q and %q", name, hub, plan, tt.toGitHub, tt.toPlan)
		}
	}
}

// TestDecisionsKeepBothSpellings: where one side alone moved, the base keeps what the other one
// holds in its own spelling.
func TestDecisionsKeepBothSpellings(t *testing.T) {
	base := Base{GitHub: Defuse("ask @bob"), Planning: "ask @bob", Version: 3}
	for name, tt := range map[string]struct {
		route Route
		g     string
		p     Versioned
		want  Decision
	}{
		"a version without a change": {Route{}, base.GitHub, Versioned{"ask @bob\n", 4}, Decision{
			Action: Adopt, Base: Base{base.GitHub, "ask @bob", 4},
		}},
		"both say the same, spelt two ways": {Route{}, Defuse("ask @carol"), Versioned{"ask @carol", 4}, Decision{
			Action: Adopt, Base: Base{Defuse("ask @carol"), "ask @carol", 4},
		}},
		"an edit on a route that only goes to planning": {Route{Direction: ToPlanning}, Defuse("ask @carol"), Versioned{"ask @bob", 3}, Decision{
			Action: ToPlan, Planning: &Write{From: "ask @bob", To: "ask @carol", Version: 3}, Base: Base{Defuse("ask @carol"), "ask @carol", 3},
		}},
		"an edit on a route that only goes to GitHub": {Route{Direction: ToGitHub}, base.GitHub, Versioned{"ask @carol", 4}, Decision{
			Action: ToHub, GitHub: &Write{From: base.GitHub, To: Defuse("ask @carol")}, Base: Base{Defuse("ask @carol"), "ask @carol", 4},
		}},
	} {
		in := Input{Link: &Link{Pair: Pair{Base: map[Attribute]Base{Summary: base}}}, Route: &tt.route, GitHub: View{Summary: {Value: tt.g}}, Planning: View{Summary: tt.p}}
		got := Resolve(in).Decisions[0]
		tt.want.Attribute, tt.want.Why = Summary, got.Why
		if got.Action != tt.want.Action || got.Base != tt.want.Base || !sameWrite(got.GitHub, tt.want.GitHub) || !sameWrite(got.Planning, tt.want.Planning) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func sameWrite(x, y *Write) bool { return x == y || x != nil && y != nil && *x == *y }

// TestLinksThatRunProgramsAreEqual: planning's defused link is GitHub's live one.
func TestLinksThatRunProgramsAreEqual(t *testing.T) {
	for name, tt := range map[string]struct {
		g, p string
		want bool
	}{
		"defused in planning":         {"[x](javascript:1)", defuseLinks("[x](javascript:1)", ""), true},
		"as it is on both":            {"[x](javascript:1)", "[x](javascript:1)", true},
		"another program":             {"[x](javascript:2)", defuseLinks("[x](javascript:1)", ""), false},
		"a mention defused on GitHub": {Defuse("@bob"), "@bob", true},
		"a joiner typed in planning":  {"@bob", "@" + joiner + "bob", false},
	} {
		if got := Equal(Summary, tt.g, tt.p); got != tt.want {
			t.Errorf("%s: %q and %q are the same: %t", name, tt.g, tt.p, got)
		}
	}
}

// TestAnAnswerIsOfOneCard: an answer about the same two values of another card decides nothing.
func TestAnAnswerIsOfOneCard(t *testing.T) {
	for item, want := range map[ObjectID]Action{"card": ResolveConflict, "another": Ask, "": Ask} {
		id := ConflictID(item, Title, "b", "c")
		got := conflictOf(Route{DefaultPolicy: PolicyAsk}, func(in *Input) {
			in.Link.Card = CardID{ID: "card", Bucket: "another"}
			in.Link.Asking = map[Attribute]string{Title: id}
			in.Questions = map[string]Conflict{id: {State: ConflictAnswered, Winner: GitHub}}
		})
		if got.Action != want {
			t.Errorf("asked about %q: %s, want %s", item, got.Action, want)
		}
	}
}
