package mapping

import (
	"slices"
	"testing"
)

// TestOneWayRoutesAskNobody: where both sides changed, the side that the route comes from
// wins, whatever the policy; a merge is not taken to planning alone.
func TestOneWayRoutesAskNobody(t *testing.T) {
	for _, policy := range []Policy{PolicyAsk, PolicyNewest, PolicyMerge, PolicyGitHub, PolicyPlanning} {
		for way, leader := range map[Direction]Side{ToPlanning: GitHub, ToGitHub: Planning} {
			route := &Route{Direction: way, Policies: map[Attribute]Policy{Title: policy, Summary: policy}}
			link := &Link{Pair: Pair{Base: map[Attribute]Base{Title: {GitHub: "old", Planning: "old"}, Summary: {GitHub: "a\nb\nc\nd", Planning: "a\nb\nc\nd"}}}}
			plan := Resolve(Input{
				Link: link, Route: route, GitHub: View{Title: {Value: "hub"}, Summary: {Value: "x\nb\nc\nd"}},
				Planning: View{Title: {Value: "plan", Version: 1}, Summary: {Value: "a\nb\nc\ny", Version: 1}},
			})
			for _, d := range plan.Decisions {
				if d.Action != ResolveConflict || d.Winner != leader || !d.Loses || (d.Planning != nil) != (leader == GitHub) || (d.GitHub != nil) != (leader == Planning) {
					t.Errorf("%s, policy %s: %+v", way, policy, d)
				}
			}
			if d := Overrun(route, Title, Base{}, nil, nil); way == ToGitHub && d.Winner != Planning {
				t.Errorf("policy %s: %+v wins where our write ran over an edit", policy, d)
			}
		}
	}
}

// TestOneWayRoutesReadTheGreatestEstimate: of labels that nobody takes off the greatest
// counts, whichever the base has.
func TestOneWayRoutesReadTheGreatestEstimate(t *testing.T) {
	scheme := LabelScheme{Estimate: "points/{value}"}
	issue := &Issue{Labels: []string{"points/5", "points/13"}}
	for _, base := range []string{"", "5", "13"} {
		of := map[Attribute]Base{Estimate: {GitHub: base}}
		view, extra := (&Route{Direction: ToPlanning}).IssueView(issue, scheme, Keys{}, of)
		if view[Estimate].Value != "13" || len(extra) > 0 {
			t.Errorf("base %q: estimate %q, too many %q", base, view[Estimate].Value, extra)
		}
		if _, extra := (&Route{}).IssueView(issue, scheme, Keys{}, of); len(slices.Compact(extra)) != 1 {
			t.Errorf("base %q: on a route that goes both ways %q are too many", base, extra)
		}
	}
}

// TestOneWayWinnerIsRefused: the side that a route leads to has refused the value of the other one. It
// is not sent again, whichever policy would have decided.
func TestOneWayWinnerIsRefused(t *testing.T) {
	for _, policy := range []Policy{PolicyPlanning, PolicyGitHub, PolicyMerge, PolicyAsk, PolicyNewest} {
		for way, leader := range map[Direction]Side{ToPlanning: GitHub, ToGitHub: Planning} {
			value := map[Side]string{GitHub: "b", Planning: "c"}
			link := &Link{Pair: Pair{Disputes: Disputes{Refused: map[Attribute]Refusal{Title: {Side: leader.Other(), Value: DigestText(value[leader])}}}}}
			for name, base := range map[string]map[Attribute]Base{"with a base": based("a", "a", 1), "without a base": nil} {
				link.Base = base
				plan := Resolve(Input{Link: link, Route: &Route{Direction: way, DefaultPolicy: policy}, GitHub: View{Title: {Value: "b"}}, Planning: View{Title: {"c", 2}}})
				if len(plan.Decisions) != 1 || plan.Decisions[0].Action != Blocked || plan.Writes(GitHub) || plan.Writes(Planning) {
					t.Errorf("%s, %s, %s: decided %+v", policy, way, name, plan.Decisions)
				}
			}
		}
	}
}
