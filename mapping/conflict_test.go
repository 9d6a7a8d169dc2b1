package mapping

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// conflictOf decides a title of which GitHub says b and planning c, where both said a.
func conflictOf(route Route, with func(*Input)) Decision {
	in := Input{Link: &Link{Pair: Pair{Base: based("a", "a", 1)}}, Route: &route, GitHub: View{Title: {Value: "b"}}, Planning: View{Title: {"c", 2}}}
	if with != nil {
		with(&in)
	}
	return Resolve(in).Decisions[0]
}

// TestAnswersHaveANameAndARule has a row for each way in which an answer came about. The decision
// names its author, and the rule by which a side wins.
func TestAnswersHaveANameAndARule(t *testing.T) {
	ask := Route{DefaultPolicy: PolicyAsk}
	for name, tt := range map[string]struct {
		route Route
		entry Conflict
		want  Decision
	}{
		"an operator chose GitHub": {ask, Conflict{Winner: GitHub, AnsweredBy: "ann"}, Decision{
			Why: "an operator chose github", By: "ann", Winner: GitHub, Planning: &Write{From: "c", To: "b", Version: 2}, Base: Base{"b", "b", 2},
		}},
		"an operator chose planning": {ask, Conflict{Winner: Planning, AnsweredBy: "bob"}, Decision{
			Why: "an operator chose planning", By: "bob", Winner: Planning, GitHub: &Write{From: "b", To: "c"}, Base: Base{"c", "c", 2},
		}},
		"by another rule": {ask, Conflict{Winner: Planning, Rule: "policy planning"}, Decision{
			Why: "policy planning", Winner: Planning, GitHub: &Write{From: "b", To: "c"}, Base: Base{"c", "c", 2},
		}},
		"on a route that asks nobody by now": {Route{DefaultPolicy: PolicyPlanning}, Conflict{Winner: GitHub, AnsweredBy: "ann"}, Decision{
			Why: "an operator chose github", By: "ann", Winner: GitHub, Planning: &Write{From: "c", To: "b", Version: 2}, Base: Base{"b", "b", 2},
		}},
		"on a route that forces": {Route{DefaultPolicy: PolicyAsk, Force: true}, Conflict{Winner: GitHub, AnsweredBy: "ann"}, Decision{
			Why: "an operator chose github", By: "ann", Winner: GitHub, Planning: &Write{From: "c", To: "b", Version: ForceVersion}, Base: Base{"b", "b", 2},
		}},
	} {
		got := conflictOf(tt.route, func(in *Input) {
			answered("b", "c")(in)
			tt.entry.State = ConflictAnswered
			in.Questions[in.Link.Asking[Title]] = tt.entry
		})
		tt.want.Attribute, tt.want.Action, tt.want.Loses = Title, ResolveConflict, true
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTimesOfAQuestion has a row for each case in which the times of the question count, and not
// the present ones. The issue may have been edited elsewhere since. It was asked at minute 4.
func TestTimesOfAQuestion(t *testing.T) {
	type times = map[Side]Interval
	for name, tt := range map[string]struct {
		then, now times
		winner    Side // "": people stay asked
	}{
		"nothing was known of GitHub's edit, and is not told by a later one": {
			times{Planning: {at(1), at(1)}}, times{GitHub: {at(2), at(3)}, Planning: {at(1), at(1)}}, "",
		},
		"what was known of planning's edit, not what a later poll tells": {
			times{GitHub: {at(2), at(2)}, Planning: {at(1), at(3)}}, times{GitHub: {at(9), at(9)}, Planning: {at(3), at(6)}}, "",
		},
		"a poll from before the question tells of planning's edit": {
			times{GitHub: {at(2), at(2)}}, times{GitHub: {at(9), at(9)}, Planning: {at(3), at(6)}}, Planning,
		},
		"a poll from the very moment of the question does not": {
			times{GitHub: {at(2), at(2)}}, times{GitHub: {at(9), at(9)}, Planning: {at(4), at(6)}}, "",
		},
		"both were known": {times{GitHub: {at(3), at(3)}, Planning: {at(1), at(2)}}, times{}, GitHub},
	} {
		got := conflictOf(Route{DefaultPolicy: PolicyNewest}, func(in *Input) {
			asked(Interval{}, Interval{})(in)
			id := in.Link.Asking[Title]
			c := in.Questions[id]
			c.Edited = tt.then
			in.Questions[id], in.Edited = c, map[Attribute]map[Side]Interval{Title: tt.now}
		})
		if got.Winner != tt.winner || (got.Action == Ask) != (tt.winner == "") {
			t.Errorf("%s: %s, %q wins", name, got.Action, got.Winner)
		}
	}
}

// TestNewestOfAnEmptyValue: where nobody was asked, the times of now count, also of a value that a
// person took away.
func TestNewestOfAnEmptyValue(t *testing.T) {
	for _, side := range []Side{GitHub, Planning} {
		got := conflictOf(Route{DefaultPolicy: PolicyNewest}, func(in *Input) {
			times := map[Side]Interval{side: {at(5), at(6)}, side.Other(): {at(1), at(2)}}
			in.Edited = map[Attribute]map[Side]Interval{Title: times}
			if side == GitHub {
				in.GitHub = View{Title: {}}
			} else {
				in.Planning = View{Title: {Version: 2}}
			}
		})
		if got.Action != ResolveConflict || got.Winner != side {
			t.Errorf("%s was cleared later: %s, %q wins", side, got.Action, got.Winner)
		}
	}
}

// TestNormalisationLeavesEditsAlone: an edit on GitHub may not fit the text that planning made of
// the agreed one. It is kept, also where planning's text is empty by now.
func TestNormalisationLeavesEditsAlone(t *testing.T) {
	for name, p := range map[string]string{"another text": "delta", "no text": ""} {
		d := Resolve(Input{
			Link:  &Link{Pair: Pair{Base: map[Attribute]Base{Summary: {GitHub: "alpha", Planning: "beta", Version: 1}}}},
			Route: &Route{}, GitHub: View{Summary: {Value: "gamma"}}, Planning: View{Summary: {p, 2}},
		}).Decisions[0]
		if d.Action != ResolveConflict || d.Winner != Planning || !d.Loses || d.GitHub == nil || d.GitHub.To != p {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestConflictsKeepTheLoser: under any policy, both values are kept before either is overwritten,
// and only once people were asked about these two.
func TestConflictsKeepTheLoser(t *testing.T) {
	for name, tt := range map[string]struct {
		policy Policy
		with   func(*Input)
		loses  bool
	}{
		"planning":                     {PolicyPlanning, nil, true},
		"github":                       {PolicyGitHub, nil, true},
		"merge, of a title":            {PolicyMerge, nil, true},
		"newest":                       {PolicyNewest, nil, true},
		"newest, asked before":         {PolicyNewest, asked(Interval{at(1), at(3)}, Interval{at(5), at(6)}), false},
		"ask":                          {PolicyAsk, nil, true},
		"ask, asked before":            {PolicyAsk, asked(Interval{}, Interval{}), false},
		"ask, about another two":       {PolicyAsk, answered("x", "y"), true},
		"ask, and nobody answered yet": {PolicyAsk, func(in *Input) { asked(Interval{}, Interval{})(in); in.Questions = nil }, false},
	} {
		d := conflictOf(Route{DefaultPolicy: tt.policy}, tt.with)
		if d.Loses != tt.loses {
			t.Errorf("%s: a value is to be kept: %t, want %t", name, d.Loses, tt.loses)
		}
		if wrote := d.GitHub != nil || d.Planning != nil; wrote != (d.Action == ResolveConflict) {
			t.Errorf("%s: %s writes: %t", name, d.Action, wrote)
		}
	}
}
