package mapping

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMergedDecisions has a row for each way in which a merge is written. It goes to planning first
// and then to GitHub, or only to the side that lacks it.
func TestMergedDecisions(t *testing.T) {
	const agreed, ours = "one\ntwo\nthree\nfour\nfive", "ONE\ntwo\nthree\nfour\nfive"
	const theirs, both = "one\ntwo\nTHREE\nfour\nfive", "ONE\ntwo\nTHREE\nfour\nfive"
	const unseen, bothUnseen = "one\ntwo\nTHREE\nfour\nfi\x01ve", "ONE\ntwo\nTHREE\nfour\nfi\x01ve"
	for name, tt := range map[string]struct {
		g, p string
		want Decision
	}{
		"neither has it": {ours, theirs, Decision{
			Planning: &Write{From: theirs, To: both, Version: 7}, Base: Base{GitHub: ours, Planning: ours, Version: 7},
		}},
		"planning has it": {ours, both, Decision{
			GitHub: &Write{From: ours, To: both}, Base: Base{GitHub: both, Planning: both, Version: 7},
		}},
		"GitHub has it": {both, theirs, Decision{
			Planning: &Write{From: theirs, To: both, Version: 7}, Base: Base{GitHub: both, Planning: both, Version: 7},
		}},
		"GitHub has all of it that it can show": {both, unseen, Decision{
			Planning: &Write{From: unseen, To: bothUnseen, Version: 7}, Base: Base{GitHub: both, Planning: bothUnseen, Version: 7},
		}},
	} {
		d := Resolve(Input{
			Link: &Link{Pair: Pair{Base: map[Attribute]Base{Summary: {agreed, agreed, 3}}}}, Route: &Route{Force: true},
			GitHub: View{Summary: {Value: tt.g}}, Planning: View{Summary: {tt.p, 7}},
		}).Decisions
		tt.want.Attribute, tt.want.Action, tt.want.Why = Summary, MergeBoth, "both sides changed different parts"
		if diff := cmp.Diff([]Decision{tt.want}, d); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestMergeKeepsWhatGitHubDefused: until GitHub has the merge, the base is GitHub's text in
// planning's form. So the remaining work is a change of planning.
func TestMergeKeepsWhatGitHubDefused(t *testing.T) {
	agreed := Base{GitHub: Defuse("ask @bob\n\ntwo\n\nthree"), Planning: "ask @bob\n\ntwo\n\nthree", Version: 1}
	link := &Link{Pair: Pair{Base: map[Attribute]Base{Summary: agreed}}}
	g := Defuse("ask @bob\n\ntwo\n\nTHREE")
	d := Resolve(Input{Link: link, Route: &Route{}, GitHub: View{Summary: {Value: g}}, Planning: View{Summary: {"ask @bob\n\nTWO\n\nthree", 2}}}).Decisions[0]
	if d.Planning == nil || d.Planning.To != "ask @bob\n\nTWO\n\nTHREE" || d.Base != (Base{g, "ask @bob\n\ntwo\n\nTHREE", 2}) {
		t.Fatalf("first %+v", d)
	}
	link.SetBase(Summary, d.Base)
	d = Resolve(Input{Link: link, Route: &Route{}, GitHub: View{Summary: {Value: g}}, Planning: View{Summary: {d.Planning.To, 3}}}).Decisions[0]
	if d.Action != ToHub || d.GitHub.To != Defuse("ask @bob\n\nTWO\n\nTHREE") {
		t.Errorf("then %+v", d)
	}
}

// TestOneWayRoutesDoNotMerge: a merge would write to the side that leads; so that one wins whole,
// and the other text is kept.
func TestOneWayRoutesDoNotMerge(t *testing.T) {
	const agreed, ours, theirs, both = "one\ntwo\nthree", "ONE\ntwo\nthree", "one\ntwo\nTHREE", "ONE\ntwo\nTHREE"
	for name, tt := range map[string]struct {
		direction Direction
		g, p      string
		action    Action
		winner    Side
		writes    Side
	}{
		"to planning":                     {ToPlanning, ours, theirs, ResolveConflict, GitHub, Planning},
		"to GitHub":                       {ToGitHub, ours, theirs, ResolveConflict, Planning, GitHub},
		"to planning, planning has it":    {ToPlanning, ours, both, ResolveConflict, GitHub, Planning},
		"to planning, GitHub has it":      {ToPlanning, both, theirs, MergeBoth, "", Planning},
		"to GitHub, planning has it":      {ToGitHub, ours, both, MergeBoth, "", GitHub},
		"to GitHub, GitHub has it":        {ToGitHub, both, theirs, ResolveConflict, Planning, GitHub},
		"both ways, and neither has it":   {Both, ours, theirs, MergeBoth, "", Planning},
		"no direction is both of the two": {"", ours, theirs, MergeBoth, "", Planning},
	} {
		d := Resolve(Input{
			Link: &Link{Pair: Pair{Base: map[Attribute]Base{Summary: {agreed, agreed, 1}}}}, Route: &Route{Direction: tt.direction},
			GitHub: View{Summary: {Value: tt.g}}, Planning: View{Summary: {tt.p, 2}},
		}).Decisions[0]
		if d.Action != tt.action || d.Winner != tt.winner || (d.Planning != nil) != (tt.writes == Planning) || (d.GitHub != nil) != (tt.writes == GitHub) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestClearedValues has a row for each side and attribute whose value is removed: planning cannot
// clear an estimate, and everything else crosses.
func TestClearedValues(t *testing.T) {
	for name, tt := range map[string]struct {
		a      Attribute
		g, p   string // agreed is 3 on both sides
		action Action
		to     string
		why    string
	}{
		"an estimate on GitHub":     {Estimate, "", "3", ToHub, "3", "planning cannot clear an estimate, so its label comes back"},
		"an estimate on both":       {Estimate, "", "", Adopt, "", "both sides changed to the same"},
		"an estimate in planning":   {Estimate, "3", "", ToHub, "", "planning changed, GitHub did not"},
		"another estimate":          {Estimate, "5", "3", ToPlan, "5", "GitHub changed, planning did not"},
		"one away, and another one": {Estimate, "", "5", ToHub, "5", "planning cannot clear an estimate, so its label comes back"},
		"a title on GitHub":         {Title, "", "3", ToPlan, "", "GitHub changed, planning did not"},
		"a text on GitHub":          {Summary, "", "3", ToPlan, "", "GitHub changed, planning did not"},
		"a text in planning":        {Summary, "3", "", ToHub, "", "planning changed, GitHub did not"},
	} {
		d := Resolve(Input{
			Link: &Link{Pair: Pair{Base: map[Attribute]Base{tt.a: {"3", "3", 1}}}}, Route: &Route{},
			GitHub: View{tt.a: {Value: tt.g}}, Planning: View{tt.a: {tt.p, 2}},
		}).Decisions[0]
		to := ""
		if d.GitHub != nil {
			to = d.GitHub.To
		}
		if d.Planning != nil {
			to = d.Planning.To
		}
		if d.Action != tt.action || to != tt.to || d.Why != tt.why {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestHalfKnownTimesTellNothing: a moment of which one bound alone is known decides no conflict, and
// people see what is known of it.
func TestHalfKnownTimesTellNothing(t *testing.T) {
	early, late := Interval{at(1), at(2)}, Interval{at(8), at(9)}
	for name, tt := range map[string]struct {
		g, p   Interval
		winner Side // "": people are asked
	}{
		"GitHub later":                {late, early, GitHub},
		"planning later":              {early, late, Planning},
		"at the same time":            {late, late, ""},
		"one moment after the other":  {Interval{at(3), at(3)}, Interval{at(1), at(2)}, GitHub},
		"planning's begins within":    {Interval{at(2), at(6)}, Interval{at(4), at(8)}, ""},
		"GitHub's begins within":      {Interval{at(4), at(8)}, Interval{at(2), at(6)}, ""},
		"one within the other":        {Interval{at(1), at(9)}, Interval{at(4), at(5)}, ""},
		"where they meet":             {Interval{at(2), at(3)}, Interval{at(1), at(2)}, ""},
		"GitHub's end is not known":   {Interval{From: at(8)}, early, ""},
		"GitHub's start is not known": {Interval{To: at(9)}, early, ""},
		"its end alone is early":      {Interval{To: at(0)}, early, ""},
		"planning's is not known":     {late, Interval{}, ""},
		"planning's end is not known": {late, Interval{From: at(1)}, ""},
		"its start is not known":      {early, Interval{To: at(9)}, ""},
	} {
		in := Input{Link: &Link{Pair: Pair{Base: based("a", "a", 1)}}, Route: &Route{DefaultPolicy: PolicyNewest}, GitHub: View{Title: {Value: "b"}}, Planning: View{Title: {"c", 2}}}
		in.Edited = map[Attribute]map[Side]Interval{Title: {GitHub: tt.g, Planning: tt.p}}
		d := Resolve(in).Decisions[0]
		if d.Winner != tt.winner || (d.Action == Ask) != (tt.winner == "") {
			t.Errorf("%s: %+v", name, d)
		}
		if want := (Base{"b", "c", 2}); d.Action == Ask && (d.Base != want || d.Edited[GitHub] != tt.g || d.Edited[Planning] != tt.p) {
			t.Errorf("%s: people are asked with %+v, base %+v", name, d.Edited, d.Base)
		}
	}
}

// TestTicksAreNoEditOfTheSummary: where lines are tasks, a body that differs from the agreed one in
// its lines alone has no new text. An edit of the text leaves the lines out of planning.
func TestTicksAreNoEditOfTheSummary(t *testing.T) {
	link := &Link{Pair: Pair{Base: map[Attribute]Base{Summary: {"one\n\n- [ ] a\n", "one", 1}}}}
	resolve := func(pair *Pair, body string) []Decision {
		return Resolve(Input{Link: link, Pair: pair, Route: &Route{Tasks: TasksChecklist}, GitHub: View{Summary: {Value: body}}, Planning: View{Summary: {"one", 1}}}).Decisions
	}
	if got := resolve(nil, "one\n\n- [x] a\n- [ ] b\n"); len(got) != 0 {
		t.Errorf("a tick and a line are an edit: %+v", got)
	}
	got := resolve(nil, "ONE\n\n- [ ] a\n")
	if len(got) != 1 || got[0].Planning == nil || Canonical(got[0].Planning.To) != "ONE" || Canonical(got[0].Base.GitHub) != "ONE" {
		t.Errorf("an edit of the text: %+v", got)
	}
	sub := &Pair{Kind: SubIssue, Base: map[Attribute]Base{Summary: {"one", "one", 1}}}
	if got := resolve(sub, "one\n\n- [ ] a\n"); len(got) != 1 || got[0].Planning == nil || got[0].Planning.To != "one\n\n- [ ] a\n" {
		t.Errorf("a sub-issue's lines are text: %+v", got)
	}
}
