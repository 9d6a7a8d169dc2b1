package mapping

import (
	"testing"

	"pgregory.net/rapid"
)

// TestReasons has a row for each outcome of a decision, with the words that the history, explain
// and the conflict's comment show people.
func TestReasons(t *testing.T) {
	ask, newest := Route{DefaultPolicy: PolicyAsk}, Route{DefaultPolicy: PolicyNewest}
	times := func(g, p Interval) func(*Input) {
		return func(in *Input) {
			in.Edited = map[Attribute]map[Side]Interval{Title: {GitHub: g, Planning: p}}
		}
	}
	refused := func(side Side, value string) func(*Input) {
		return func(in *Input) {
			in.Link.Refused = map[Attribute]Refusal{Title: {Side: side, Value: DigestText(value), Message: "is too odd"}}
		}
	}
	for why, tt := range map[string]struct {
		base  map[Attribute]Base
		g, p  string
		v     int64
		route Route
		in    func(*Input)
	}{
		"planning counted a version without a change":               {based("a", "a", 1), "a", "a", 2, Route{}, nil},
		"GitHub changed, planning did not":                          {based("a", "a", 1), "b", "a", 1, Route{}, nil},
		"planning changed, GitHub did not":                          {based("a", "a", 1), "a", "b", 2, Route{}, nil},
		"both sides changed to the same":                            {based("a", "a", 1), "b", "b", 2, Route{}, nil},
		"both sides are the same at first sight":                    {nil, "a", "a", 1, Route{}, nil},
		"only planning has a value at first sight":                  {nil, "", "a", 1, Route{}, nil},
		"only GitHub has a value at first sight":                    {nil, "a", "", 1, Route{}, nil},
		"policy merge: it does not merge, planning wins":            {based("a", "a", 1), "b", "c", 2, Route{}, nil},
		"policy planning":                                           {based("a", "a", 1), "b", "c", 2, Route{DefaultPolicy: PolicyPlanning}, nil},
		"policy github":                                             {based("a", "a", 1), "b", "c", 2, Route{DefaultPolicy: PolicyGitHub}, nil},
		"policy ask":                                                {based("a", "a", 1), "b", "c", 2, ask, nil},
		"an operator chose github":                                  {based("a", "a", 1), "b", "c", 2, ask, answered("b", "c")},
		"policy newest: github was edited later":                    {based("a", "a", 1), "b", "c", 2, newest, times(Interval{at(5), at(5)}, Interval{at(1), at(2)})},
		"policy newest: planning was edited later":                  {based("a", "a", 1), "b", "c", 2, newest, times(Interval{at(1), at(1)}, Interval{at(4), at(5)})},
		"policy newest: the times do not tell which edit was later": {based("a", "a", 1), "b", "c", 2, newest, times(Interval{at(3), at(3)}, Interval{at(1), at(3)})},
		"planning refused it: is too odd":                           {based("a", "a", 1), "b", "a", 1, Route{}, refused(Planning, "b")},
		"GitHub refused it: is too odd":                             {based("a", "a", 1), "a", "b", 2, Route{}, refused(GitHub, "b")},
		"the route only goes to_planning":                           {based("a", "a", 1), "a", "b", 2, Route{Direction: ToPlanning}, nil},
		"the route only goes to_github":                             {based("a", "a", 1), "b", "a", 1, Route{Direction: ToGitHub}, nil},
	} {
		in := Input{Link: &Link{Pair: Pair{Base: tt.base}}, Route: &tt.route, GitHub: View{Title: {Value: tt.g}}, Planning: View{Title: {tt.p, tt.v}}}
		if tt.in != nil {
			tt.in(&in)
		}
		plan := Resolve(in)
		if len(plan.Decisions) != 1 || plan.Decisions[0].Why != why || plan.Decisions[0].Attribute != Title {
			t.Errorf("%s: decided %+v", why, plan.Decisions)
		}
	}
}

// TestBaseAfterADecision: once its writes have happened, the base is what both sides then hold,
// with planning's version; each write says what it replaces. A merge is halfway after planning's
// write: the base is then GitHub's text on both sides.
func TestBaseAfterADecision(t *testing.T) {
	titles := rapid.SampledFrom([]string{"", "t", "u", "v "})
	texts := rapid.SampledFrom([]string{"", "a", "a\nb\nc\nd\ne", "A\nb\nc\nd\ne", "a\nb\nc\nd\nE", "A\nb\nc\nd\nE", "see @octocat", "\x00a"})
	numbers := rapid.SampledFrom([]string{"", "1", "3", "5.0"})
	words := rapid.SampledFrom([]string{StateTodo, StateInProgress, StateDone})
	values := map[Attribute]*rapid.Generator[string]{Title: titles, Summary: texts, Estimate: numbers, State: words}
	policies := rapid.SampledFrom([]Policy{PolicyPlanning, PolicyGitHub, PolicyMerge, PolicyAsk, PolicyNewest})
	directions := rapid.SampledFrom([]Direction{Both, Both, ToPlanning, ToGitHub})
	rapid.Check(t, func(t *rapid.T) {
		route := Route{DefaultPolicy: policies.Draw(t, "policy"), Direction: directions.Draw(t, "direction"), Force: rapid.Bool().Draw(t, "force")}
		a := rapid.SampledFrom(Attributes).Draw(t, "attribute")
		link := &Link{Pair: Pair{Base: map[Attribute]Base{}}}
		if rapid.Bool().Draw(t, "based") {
			link.Base[a] = Base{values[a].Draw(t, "agreed on GitHub"), values[a].Draw(t, "agreed in planning"), int64(rapid.IntRange(1, 3).Draw(t, "agreed version"))}
		}
		g, p := values[a].Draw(t, "g"), Versioned{values[a].Draw(t, "p"), int64(rapid.IntRange(1, 4).Draw(t, "v"))}
		for _, d := range Resolve(Input{Link: link, Route: &route, GitHub: View{a: {Value: g}}, Planning: View{a: p}}).Decisions {
			checkDecision(t, d, g, p, link.Base[a], &route)
		}
	})
}

// checkDecision holds a decision to what the sides hold, and to what they are to hold.
func checkDecision(t *rapid.T, d Decision, g string, p Versioned, agreed Base, route *Route) {
	want := Base{GitHub: g, Planning: p.Value, Version: p.Version}
	if w := d.GitHub; w != nil {
		want.GitHub = w.To
		if w.From != g || w.Version != 0 {
			t.Fatalf("GitHub holds %q, the write is %+v", g, *w)
		}
	}
	if w := d.Planning; w != nil {
		want.Planning = w.To
		if w.From != p.Value || w.Version != p.Version && !(route.Force && w.Version == ForceVersion) {
			t.Fatalf("planning holds %+v, the write is %+v", p, *w)
		}
		if d.Action == MergeBoth && !Same(d.Attribute, w.To, PlanningForm(d.Attribute, g, "")) {
			want.Planning = PlanningForm(d.Attribute, g, p.Value)
		}
	}
	switch d.Action {
	case Restrained, Blocked:
		return // nothing is agreed on until it may be written
	case Adopt:
		if Same(d.Attribute, g, agreed.GitHub) && Same(d.Attribute, p.Value, agreed.Planning) && agreed != (Base{}) {
			want.GitHub, want.Planning = agreed.GitHub, agreed.Planning
		}
	}
	if d.Base != want {
		t.Fatalf("%s %+v: the base becomes %+v, want %+v", d.Attribute, d.Action, d.Base, want)
	}
}

// TestWhatIsKnownOfOneSide: a side that was not seen is taken for unchanged, and without a base
// nothing is decided until both were seen.
func TestWhatIsKnownOfOneSide(t *testing.T) {
	base := Base{GitHub: "a", Planning: "A", Version: 4}
	for name, tt := range map[string]struct {
		base     map[Attribute]Base
		github   View
		planning View
		want     Action // "": no decision
		version  int64  // of planning, in the base that follows
	}{
		"neither":                          {map[Attribute]Base{Title: base}, View{}, View{}, "", 0},
		"GitHub as agreed":                 {map[Attribute]Base{Title: base}, View{Title: {Value: "a"}}, View{}, "", 0},
		"GitHub changed":                   {map[Attribute]Base{Title: base}, View{Title: {Value: "b"}}, View{}, ToPlan, 4},
		"planning changed":                 {map[Attribute]Base{Title: base}, View{}, View{Title: {"b", 5}}, ToHub, 5},
		"planning counted":                 {map[Attribute]Base{Title: base}, View{}, View{Title: {"A", 5}}, Adopt, 5},
		"no base, nothing":                 {nil, View{}, View{}, "", 0},
		"no base, GitHub alone":            {nil, View{Title: {Value: "a"}}, View{}, "", 0},
		"no base, planning alone":          {nil, View{}, View{Title: {"a", 5}}, "", 0},
		"no base, both":                    {nil, View{Title: {Value: "a"}}, View{Title: {"a", 5}}, Adopt, 5},
		"no base, both empty":              {nil, View{Title: {}}, View{Title: {Version: 5}}, Adopt, 5},
		"no base, both, one of them empty": {nil, View{Title: {}}, View{Title: {"a", 5}}, ToHub, 5},
	} {
		plan := Resolve(Input{Link: &Link{Pair: Pair{Base: tt.base}}, Route: &Route{}, GitHub: tt.github, Planning: tt.planning})
		if tt.want == "" {
			if len(plan.Decisions) != 0 {
				t.Errorf("%s: decided %+v", name, plan.Decisions)
			}
			continue
		}
		if len(plan.Decisions) != 1 || plan.Decisions[0].Action != tt.want || plan.Decisions[0].Base.Version != tt.version {
			t.Errorf("%s: decided %+v", name, plan.Decisions)
		}
	}
}

// TestRefusalBlocksItsOwnValue has a row for each side, refused value and write: exactly the
// refused write is blocked, and nothing else.
func TestRefusalBlocksItsOwnValue(t *testing.T) {
	toPlanning, toGitHub := [2]string{"b", "a"}, [2]string{"a", "b"}
	for name, tt := range map[string]struct {
		held    [2]string // by GitHub and by planning; agreed is a
		refused Refusal
		a       Attribute
		want    Action
	}{
		"planning refused it":               {toPlanning, Refusal{Side: Planning, Value: DigestText("b")}, Title, Blocked},
		"planning refused another value":    {toPlanning, Refusal{Side: Planning, Value: DigestText("c")}, Title, ToPlan},
		"GitHub refused it, not planning":   {toPlanning, Refusal{Side: GitHub, Value: DigestText("b")}, Title, ToPlan},
		"GitHub refused it":                 {toGitHub, Refusal{Side: GitHub, Value: DigestText("b")}, Title, Blocked},
		"GitHub refused another value":      {toGitHub, Refusal{Side: GitHub, Value: DigestText("c")}, Title, ToHub},
		"planning refused it, not GitHub":   {toGitHub, Refusal{Side: Planning, Value: DigestText("b")}, Title, ToHub},
		"another attribute of it refused":   {toPlanning, Refusal{Side: Planning, Value: DigestText("b")}, Summary, ToPlan},
		"a refused value that both took up": {[2]string{"b", "b"}, Refusal{Side: Planning, Value: DigestText("b")}, Title, Adopt},
	} {
		link := &Link{Pair: Pair{Base: based("a", "a", 1), Disputes: Disputes{Refused: map[Attribute]Refusal{tt.a: tt.refused}}}}
		plan := Resolve(Input{Link: link, Route: &Route{}, GitHub: View{Title: {Value: tt.held[0]}}, Planning: View{Title: {tt.held[1], 2}}})
		if len(plan.Decisions) != 1 || plan.Decisions[0].Action != tt.want || plan.Decisions[0].Attribute != Title {
			t.Errorf("%s: decided %+v", name, plan.Decisions)
			continue
		}
		if d := plan.Decisions[0]; d.Action == Blocked && (d.Planning != nil || d.GitHub != nil || d.Base.Version != 2) {
			t.Errorf("%s: it writes, or forgets what it was about: %+v", name, d)
		}
	}
}

// TestOverrunReasons: people read who won over an edit that our write ran over, and why.
func TestOverrunReasons(t *testing.T) {
	times := map[Side]Interval{GitHub: {at(5), at(5)}, Planning: {at(1), at(2)}}
	for why, route := range map[string]Route{
		"a write of ours ran over an edit; policy: planning wins":         {},
		"a write of ours ran over an edit; policy: github wins":           {DefaultPolicy: PolicyGitHub},
		"a write of ours ran over an edit; policy: people are asked":      {DefaultPolicy: PolicyAsk},
		"a write of ours ran over an edit; the route only goes to_github": {Direction: ToGitHub, DefaultPolicy: PolicyAsk},
	} {
		d := Overrun(&route, Title, Base{GitHub: "w", Planning: "w", Version: 1}, nil, times)
		if d.Why != why || d.Attribute != Title || !d.Loses || d.Edited != nil {
			t.Errorf("%s: %+v", why, d)
		}
	}
	vague := map[Side]Interval{GitHub: {at(5), at(5)}, Planning: {at(1), at(9)}}
	if d := Overrun(&Route{DefaultPolicy: PolicyNewest}, Title, Base{}, nil, vague); d.Action != Ask || len(d.Edited) != 2 {
		t.Errorf("people are asked without the times that did not tell: %+v", d)
	}
}

// TestChecklistOfARouteIsNoText: where items are tasks, their lines are no part of the summary.
// They are part of a task's own text, and of the summary on a route without checklists.
func TestChecklistOfARouteIsNoText(t *testing.T) {
	const body = "one\n\n- [ ] a\n\ntwo\n"
	for name, tt := range map[string]struct {
		tasks string
		pair  *Pair
		a     Attribute
		want  string
	}{
		"items are tasks":         {TasksChecklist, nil, Summary, "one\n\ntwo\n"},
		"items are text":          {TasksSubIssues, nil, Summary, body},
		"a title has no items":    {TasksChecklist, nil, Title, body},
		"the text of a sub-issue": {TasksChecklist, &Pair{Kind: SubIssue}, Summary, body},
	} {
		in := Input{Link: &Link{}, Pair: tt.pair, Route: &Route{Tasks: tt.tasks}}
		if got := in.text(tt.a, body); got != tt.want {
			t.Errorf("%s: the text is %q, want %q", name, got, tt.want)
		}
	}
}
