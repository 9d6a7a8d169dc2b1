package mapping

import (
	"fmt"
	"testing"
)

// situation is a state of both sides of one attribute, with what is known of it.
type situation struct {
	a         Attribute
	base      *Base // nil: none
	g, p      string
	version   int64
	policy    Policy
	direction Direction
	rewound   bool
	refused   Side // the side that refused the other one's value; "": none
}

func (s situation) String() string {
	base := "none"
	if s.base != nil {
		base = fmt.Sprintf("%+v", *s.base)
	}
	return fmt.Sprintf("%s, base %s, GitHub %q, planning %q of %d, %s, %s, rewound %t, refused by %q", s.a, base, s.g, s.p, s.version, s.policy, s.direction, s.rewound, s.refused)
}

func (s situation) input() Input {
	in := Input{
		Link: &Link{}, Route: &Route{DefaultPolicy: s.policy, Direction: s.direction},
		GitHub: View{s.a: {Value: s.g}}, Planning: View{s.a: {s.p, s.version}}, Rewound: map[Attribute]bool{s.a: s.rewound},
	}
	if s.base != nil {
		in.Link.Base = map[Attribute]Base{s.a: *s.base}
	}
	switch s.refused {
	case Planning:
		in.Link.Refused = map[Attribute]Refusal{s.a: {Side: Planning, Value: DigestText(s.g)}}
	case GitHub:
		in.Link.Refused = map[Attribute]Refusal{s.a: {Side: GitHub, Value: DigestText(s.p)}}
	}
	return in
}

func (s situation) decide() (Decision, bool) {
	plan := Resolve(s.input())
	if len(plan.Decisions) == 0 {
		return Decision{}, false
	}
	return plan.Decisions[0], true
}

// inAllSituations calls check for every situation of small values.
func inAllSituations(check func(situation)) {
	values := map[Attribute][]string{
		Title: {"", "a", "b", "c"}, Summary: {"", "a\n\nx\n\nb", "a\n\nx\n\nc", "d\n\nx\n\nb"},
		Estimate: {"", "1", "2", "3"}, State: {StateTodo, StateInProgress, StateDone},
	}
	for a, all := range values {
		bases := []*Base{nil}
		for _, v := range all {
			bases = append(bases, &Base{v, v, 5})
		}
		for _, base := range bases {
			for _, g := range all {
				for _, p := range all {
					for _, direction := range []Direction{Both, ToPlanning, ToGitHub} {
						s := situation{a: a, base: base, g: g, p: p, version: 6, direction: direction}
						for _, s.policy = range []Policy{PolicyMerge, PolicyPlanning, PolicyGitHub, PolicyNewest, PolicyAsk} {
							check(s)
						}
						for _, s.version = range []int64{4, 5} {
							check(s)
						}
						s.policy, s.rewound = PolicyMerge, true
						check(s)
						s.rewound = false
						for _, s.refused = range []Side{Planning, GitHub} {
							check(s)
						}
					}
				}
			}
		}
	}
}

// TestLawsOfDecisions holds the decision about every situation to the laws below.
func TestLawsOfDecisions(t *testing.T) {
	t.Parallel()
	inAllSituations(func(s situation) {
		d, ok := s.decide()
		if !ok {
			return
		}
		keepsWhatItOverwrites(t, s, d)
		keepsTheDirection(t, s, d)
		followsThePolicy(t, s, d)
		sendsTheVersion(t, s, d)
		comesToRest(t, s)
	})
}

// keepsWhatItOverwrites: an overwritten value is one that nobody wrote since both sides agreed, an
// empty one, or part of the merge. Otherwise an entry of the ledger keeps it.
func keepsWhatItOverwrites(t *testing.T, s situation, d Decision) {
	if d.Loses || d.Action == MergeBoth {
		return
	}
	if d.GitHub != nil && s.g != "" && (s.base == nil || s.g != s.base.GitHub) {
		t.Errorf("%s: GitHub's value is lost to %q: %s", s, d.GitHub.To, d.Why)
	}
	if d.Planning != nil && s.p != "" && (s.base == nil || s.p != s.base.Planning) {
		t.Errorf("%s: planning's value is lost to %q: %s", s, d.Planning.To, d.Why)
	}
}

// keepsTheDirection: a route that goes one way never writes the side that leads, not even at the
// end of a merge. That side wins every conflict, and nobody is asked.
func keepsTheDirection(t *testing.T, s situation, d Decision) {
	leads, written := s.direction, false
	switch leads {
	case Both:
		return
	case ToPlanning:
		written = d.GitHub != nil
	case ToGitHub:
		written = d.Planning != nil
	}
	if written || d.Action == Ask || d.halfway() {
		t.Errorf("%s: the side that leads is written, or is to be, or people are asked: %+v", s, d)
	}
	if d.Action == ResolveConflict && (d.Winner == GitHub) != (leads == ToPlanning) {
		t.Errorf("%s: the side that leads loses: %+v", s, d)
	}
}

// followsThePolicy: of two edits the policy's side wins, on a route that goes both ways.
func followsThePolicy(t *testing.T, s situation, d Decision) {
	if s.direction != Both || d.Action != ResolveConflict && d.Action != Ask {
		return
	}
	want := map[Policy]Side{PolicyMerge: Planning, PolicyPlanning: Planning, PolicyGitHub: GitHub}[s.policy]
	if d.Winner != want || (d.Action == Ask) != (want == "") || !d.Loses {
		t.Errorf("%s: %+v, want %q to win", s, d, want)
	}
	if Equal(s.a, s.g, s.p) {
		t.Errorf("%s: two equal values are in conflict", s)
	}
	if s.base != nil && !s.rewound && s.version >= s.base.Version && s.refused == "" && (s.g == s.base.GitHub || s.p == s.base.Planning) {
		t.Errorf("%s: one side alone was edited, and it is a conflict", s)
	}
}

// sendsTheVersion: planning is never written with another version than the one that was seen, and
// nothing is decided where neither side nor its version moved.
func sendsTheVersion(t *testing.T, s situation, d Decision) {
	if s.base != nil && s.g == s.base.GitHub && s.p == s.base.Planning && s.version == s.base.Version && s.refused == "" {
		t.Errorf("%s: nothing moved, and %+v is decided", s, d)
	}
	if d.Base.Version != s.version || d.Planning != nil && d.Planning.Version != s.version {
		t.Errorf("%s: the write is %+v, the base gets version %d", s, d.Planning, d.Base.Version)
	}
}

// comesToRest: once a decision is carried out, and a merge in two steps, both sides agree and
// nothing more is decided. A decision that waits for people, a refusal or a direction stays
// decided.
func comesToRest(t *testing.T, s situation) {
	was := s
	for range 2 {
		d, ok := s.decide()
		if !ok {
			return
		}
		switch d.Action {
		case Ask, Blocked, Restrained:
			if d.GitHub != nil || d.Planning != nil {
				t.Errorf("%s: %s writes", s, d.Action)
			}
			return
		}
		base := d.Base
		if d.GitHub != nil {
			s.g = d.GitHub.To
		}
		if d.Planning != nil {
			s.p, s.version = d.Planning.To, s.version+1
			base.Version = s.version
		}
		s.base, s.rewound, s.refused = &base, false, ""
	}
	if d, ok := s.decide(); ok {
		t.Errorf("%s: after two steps %+v", was, d)
	}
}

// TestBasesThatDoNotHold has a row for each reason for which a base does not say who edited, beside
// a case that looks like it.
func TestBasesThatDoNotHold(t *testing.T) {
	t.Parallel()
	ab := func(g, p string, v int64) *Base { return &Base{g, p, v} }
	for name, tt := range map[string]struct {
		s    situation
		want Action // "": nothing
		why  string
	}{
		"GitHub shows what it showed before":      {situation{base: ab("a", "a", 5), g: "b", p: "a", version: 5, rewound: true}, ResolveConflict, "policy planning"},
		"GitHub was restored to the agreed":       {situation{base: ab("a", "a", 5), g: "a", p: "a", version: 5, rewound: true}, "", ""},
		"restored, and planning was edited":       {situation{base: ab("a", "a", 5), g: "a", p: "b", version: 6, rewound: true}, ToHub, "planning changed, GitHub did not"},
		"planning shows what it showed before":    {situation{base: ab("a", "a", 5), g: "a", p: "b", version: 4}, ResolveConflict, "policy planning"},
		"planning counts anew, GitHub was edited": {situation{base: ab("a", "a", 5), g: "b", p: "a", version: 4}, ToPlan, "GitHub changed, planning did not"},
		"planning counts anew":                    {situation{base: ab("a", "a", 5), g: "a", p: "a", version: 4}, Adopt, "planning counted a version without a change"},
		"GitHub never took it":                    {situation{base: ab("", "a", 5), g: "", p: "a", version: 5, refused: GitHub}, Blocked, "GitHub refused it: "},
		"planning has it alone, by agreement":     {situation{base: ab("", "a", 5), g: "b", p: "a", version: 5}, ToPlan, "GitHub changed, planning did not"},
	} {
		tt.s.a, tt.s.policy, tt.s.direction = Title, PolicyPlanning, Both
		d, ok := tt.s.decide()
		if ok != (tt.want != "") || d.Action != tt.want || d.Why != tt.why {
			t.Errorf("%s: %s, %q, want %s, %q", name, d.Action, d.Why, tt.want, tt.why)
		}
	}
	estimate := situation{a: Estimate, base: ab("", "", 5), g: "", p: "3", version: 6, policy: PolicyPlanning, direction: Both}
	if d, _ := estimate.decide(); d.Action != ToHub || d.Why != "planning changed, GitHub did not" {
		t.Errorf("an estimate that GitHub never had: %s, %q", d.Action, d.Why)
	}
}

// TestPlanWritesAttributes has a row for each question about what a plan writes.
func TestPlanWritesAttributes(t *testing.T) {
	t.Parallel()
	plan := Plan{Decisions: []Decision{
		{Attribute: Title, GitHub: &Write{}}, {Attribute: Summary, Planning: &Write{}}, {Attribute: State, Action: Ask},
	}}
	for name, tt := range map[string]struct {
		side Side
		of   []Attribute
		want bool
	}{
		"GitHub":                      {GitHub, nil, true},
		"planning":                    {Planning, nil, true},
		"a title on GitHub":           {GitHub, []Attribute{Title}, true},
		"no title in planning":        {Planning, []Attribute{Title}, false},
		"a summary in planning":       {Planning, []Attribute{Estimate, Summary}, true},
		"no summary on GitHub":        {GitHub, []Attribute{Estimate, Summary}, false},
		"a question writes nothing":   {GitHub, []Attribute{State}, false},
		"nor is an estimate anywhere": {Planning, []Attribute{Estimate}, false},
	} {
		if got := plan.Writes(tt.side, tt.of...); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if (Plan{}).Writes(GitHub) || (Plan{}).Writes(Planning) {
		t.Error("an empty plan writes")
	}
}
