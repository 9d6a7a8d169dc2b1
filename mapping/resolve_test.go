package mapping

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func at(minute int) time.Time { return time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC) }

func based(g, p string, v int64) map[Attribute]Base { return map[Attribute]Base{Title: {g, p, v}} }

// decisions has a case for each row of the table above Resolve.
var decisions = map[string]struct {
	base   map[Attribute]Base
	g, p   string
	v      int64
	route  Route
	in     func(*Input)
	action Action // "": no decision
	hub    string // the write to GitHub
	plan   string // the write to planning
	lock   int64
	loses  bool
	winner Side
}{
	"same, same":                      {base: based("a", "a", 1), g: "a", p: "a", v: 1},
	"same, same, version moved":       {base: based("a", "a", 1), g: "a", p: "a", v: 2, action: Adopt},
	"own representation is no change": {base: based("a", "A", 1), g: "a", p: "A", v: 1},
	"white space is no change":        {base: based("a", "a", 1), g: "a ", p: "a", v: 1},
	"changed, same":                   {base: based("a", "a", 1), g: "b", p: "a", v: 1, action: ToPlan, plan: "b", lock: 1},
	"changed, same, newer version":    {base: based("a", "a", 1), g: "b", p: "a", v: 4, action: ToPlan, plan: "b", lock: 4},
	"forced":                          {base: based("a", "a", 1), g: "b", p: "a", v: 1, route: Route{Force: true}, action: ToPlan, plan: "b", lock: ForceVersion},
	"same, changed":                   {base: based("a", "a", 1), g: "a", p: "b", v: 2, action: ToHub, hub: "b"},
	"both to the same":                {base: based("a", "a", 1), g: "b", p: "b", v: 2, action: Adopt},
	"conflict, default":               {base: based("a", "a", 1), g: "b", p: "c", v: 2, action: ResolveConflict, hub: "c", loses: true, winner: Planning},
	"conflict, planning":              {base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyPlanning}, action: ResolveConflict, hub: "c", loses: true, winner: Planning},
	"conflict, github":                {base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{Policies: map[Attribute]Policy{Title: PolicyGitHub}}, action: ResolveConflict, plan: "b", lock: 2, loses: true, winner: GitHub},
	"conflict, ask":                   {base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyAsk}, action: Ask, loses: true},
	"ask, answered": {
		base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyAsk},
		in: answered("b", "c"), action: ResolveConflict, plan: "b", lock: 2, loses: true, winner: GitHub,
	},
	"answered before it was asked": {
		base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyPlanning},
		in: func(in *Input) { answered("b", "c")(in); in.Link.Putting, in.Link.Asking = in.Link.Asking, nil }, action: Ask, loses: true,
	},
	"ask, answered about another value": {
		base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyAsk}, in: answered("b", "d"), action: Ask, loses: true,
	},
	"ask, asked about another value": {
		base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyAsk},
		in: func(in *Input) { answered("b", "d")(in); in.Questions = nil }, action: Ask,
	},
	"newest, GitHub later": {
		base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyNewest},
		in: func(in *Input) {
			in.Edited = map[Attribute]map[Side]Interval{Title: {GitHub: {at(5), at(5)}, Planning: {at(1), at(2)}}}
		}, action: ResolveConflict, plan: "b", lock: 2, loses: true, winner: GitHub,
	},
	"newest, planning later": {
		base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyNewest},
		in: func(in *Input) {
			in.Edited = map[Attribute]map[Side]Interval{Title: {GitHub: {at(0), at(1)}, Planning: {at(2), at(3)}}}
		}, action: ResolveConflict, hub: "c", loses: true, winner: Planning,
	},
	"newest, undecidable": {
		base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyNewest},
		in: func(in *Input) {
			in.Edited = map[Attribute]map[Side]Interval{Title: {GitHub: {at(2), at(2)}, Planning: {at(1), at(3)}}}
		}, action: Ask, loses: true,
	},
	"newest, asked, something else was edited": {
		base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyNewest},
		in: asked(Interval{at(1), at(3)}, Interval{at(5), at(6)}), action: Ask,
	},
	"newest, asked before the poll": {
		base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyNewest},
		in: asked(Interval{}, Interval{at(3), at(6)}), action: ResolveConflict, hub: "c", loses: true, winner: Planning,
	},
	"newest, asked after the poll that saw the edit": {
		base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyNewest},
		in: asked(Interval{}, Interval{at(5), at(6)}), action: Ask,
	},
	"newest, asked, edited again": {
		base: based("a", "a", 1), g: "b", p: "d", v: 3, route: Route{DefaultPolicy: PolicyNewest},
		in: asked(Interval{at(1), at(3)}, Interval{at(5), at(6)}), action: ResolveConflict, hub: "d", loses: true, winner: Planning,
	},
	"newest, unknown":               {base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{DefaultPolicy: PolicyNewest}, action: Ask, loses: true},
	"no base, equal":                {g: "a", p: "a", v: 3, action: Adopt},
	"no base, only planning":        {g: "", p: "a", v: 3, action: ToHub, hub: "a"},
	"no base, only GitHub":          {g: "a", p: "", v: 3, action: ToPlan, plan: "a", lock: 3},
	"no base, different":            {g: "a", p: "b", v: 3, action: ResolveConflict, hub: "b", loses: true, winner: Planning},
	"to_planning, planning changed": {base: based("a", "a", 1), g: "a", p: "b", v: 2, route: Route{Direction: ToPlanning}, action: Restrained},
	"to_planning, both changed":     {base: based("a", "a", 1), g: "b", p: "c", v: 2, route: Route{Direction: ToPlanning}, action: ResolveConflict, plan: "b", lock: 2, loses: true, winner: GitHub},
	"to_github, GitHub changed":     {base: based("a", "a", 1), g: "b", p: "a", v: 1, route: Route{Direction: ToGitHub}, action: Restrained},
	"refused value is not repeated": {
		base: based("a", "a", 1), g: "b", p: "a", v: 1,
		in: func(in *Input) {
			in.Link.Refused = map[Attribute]Refusal{Title: {Side: Planning, Value: DigestText("b")}}
		},
		action: Blocked,
	},
	"value that GitHub refused": {
		base: based("a", "a", 1), g: "a", p: "b", v: 2,
		in: func(in *Input) {
			in.Link.Refused = map[Attribute]Refusal{Title: {Side: GitHub, Value: DigestText("b")}}
		},
		action: Blocked,
	},
	"GitHub went back": {
		base: based("a", "a", 1), g: "b", p: "a", v: 1,
		in:     func(in *Input) { in.Rewound = map[Attribute]bool{Title: true} },
		action: ResolveConflict, hub: "a", loses: true, winner: Planning,
	},
	"planning went back":             {base: based("b", "b", 5), g: "b", p: "a", v: 2, action: ResolveConflict, hub: "a", loses: true, winner: Planning},
	"planning went back to the same": {base: based("b", "b", 5), g: "b", p: "b", v: 2, action: Adopt},
	"one side never took the base, the other changed": {
		base: map[Attribute]Base{Title: {Planning: "a", Version: 1}}, g: "b", p: "a", v: 1,
		route: Route{DefaultPolicy: PolicyGitHub},
		in: func(in *Input) {
			in.Link.Refused = map[Attribute]Refusal{Title: {Side: GitHub, Value: DigestText("a")}}
		},
		action: ResolveConflict, plan: "b", lock: 1, loses: true, winner: GitHub,
	},
	"another value is tried": {
		base: based("a", "a", 1), g: "d", p: "a", v: 1,
		in: func(in *Input) {
			in.Link.Refused = map[Attribute]Refusal{Title: {Side: Planning, Value: DigestText("b")}}
		},
		action: ToPlan, plan: "d", lock: 1,
	},
}

// answered is that an operator chose GitHub where the titles g and p met.
func answered(g, p string) func(*Input) {
	return func(in *Input) {
		id := ConflictID(in.Link.Card.ID, Title, g, p)
		in.Link.Asking = map[Attribute]string{Title: id}
		in.Questions = map[string]Conflict{id: {State: ConflictAnswered, Winner: GitHub}}
	}
}

// asked is a question of time 4 about the titles b and c. The issue and the card have been edited
// since, the card within later.
func asked(planning, later Interval) func(*Input) {
	return func(in *Input) {
		id := ConflictID(in.Link.Card.ID, Title, "b", "c")
		in.Link.Asking = map[Attribute]string{Title: id}
		in.Questions = map[string]Conflict{id: {
			GitHub: "b", Planning: "c", At: at(4), Edited: map[Side]Interval{GitHub: {at(2), at(2)}, Planning: planning},
		}}
		in.Edited = map[Attribute]map[Side]Interval{Title: {GitHub: {at(9), at(9)}, Planning: later}}
	}
}

func TestDecisionTable(t *testing.T) {
	for name, tt := range decisions {
		t.Run(name, func(t *testing.T) {
			in := Input{Link: &Link{Pair: Pair{Base: tt.base}}, Route: &tt.route, GitHub: View{Title: {Value: tt.g}}, Planning: View{Title: {tt.p, tt.v}}}
			if tt.in != nil {
				tt.in(&in)
			}
			plan := Resolve(in)
			if tt.action == "" {
				if len(plan.Decisions) != 0 {
					t.Fatalf("decided %+v, want nothing", plan.Decisions)
				}
				return
			}
			if len(plan.Decisions) != 1 {
				t.Fatalf("decided %+v", plan.Decisions)
			}
			d := plan.Decisions[0]
			got := []any{d.Action, d.Loses, d.Winner, d.GitHub != nil, d.Planning != nil}
			want := []any{tt.action, tt.loses, tt.winner, tt.hub != "", tt.plan != ""}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
			if d.GitHub != nil && d.GitHub.To != tt.hub {
				t.Errorf("writes %q to GitHub, want %q", d.GitHub.To, tt.hub)
			}
			if d.Planning != nil && (d.Planning.To != tt.plan || d.Planning.Version != tt.lock) {
				t.Errorf("writes %q with version %d to planning, want %q with %d", d.Planning.To, d.Planning.Version, tt.plan, tt.lock)
			}
			if d.Why == "" {
				t.Error("no reason")
			}
		})
	}
}

func TestSummaryMerges(t *testing.T) {
	base := Base{GitHub: "one\ntwo\nthree\nfour\nfive", Planning: "one\ntwo\nthree\nfour\nfive", Version: 1}
	in := Input{
		Link: &Link{Pair: Pair{Base: map[Attribute]Base{Summary: base}}}, Route: &Route{},
		GitHub:   View{Summary: {Value: "ONE\ntwo\nthree\nfour\nfive"}},
		Planning: View{Summary: {"one\ntwo\nthree\nfour\nFIVE", 2}},
	}
	d := Resolve(in).Decisions[0]
	want := "ONE\ntwo\nthree\nfour\nFIVE"
	if d.Action != MergeBoth || d.Planning == nil || d.Planning.To != want || d.Planning.Version != 2 || d.Loses {
		t.Fatalf("decision %+v", d)
	}
	// After planning's half the rest is a change of planning alone.
	in.Link.Base[Summary] = d.Base
	in.Planning[Summary] = Versioned{want, 3}
	d = Resolve(in).Decisions[0]
	if d.GitHub == nil || d.GitHub.To != want || d.Planning != nil {
		t.Fatalf("second half %+v", d)
	}
}

// TestMergeThatOneSideHas: where one side holds the merge already, the other alone is written.
func TestMergeThatOneSideHas(t *testing.T) {
	base := Base{GitHub: "one\ntwo\nthree", Planning: "one\ntwo\nthree", Version: 1}
	both := "ONE\ntwo\nTHREE"
	for name, tt := range map[string]struct {
		g, p      string
		hub, plan string // the write; "": nothing
	}{
		"planning": {"ONE\ntwo\nthree", both, both, ""},
		"GitHub":   {both, "ONE\ntwo\nthree", "", both},
	} {
		d := Resolve(Input{
			Link: &Link{Pair: Pair{Base: map[Attribute]Base{Summary: base}}}, Route: &Route{},
			GitHub: View{Summary: {Value: tt.g}}, Planning: View{Summary: {tt.p, 2}},
		}).Decisions[0]
		hub, plan := "", ""
		if d.GitHub != nil {
			hub = d.GitHub.To
		}
		if d.Planning != nil {
			plan = d.Planning.To
		}
		if d.Action != MergeBoth || hub != tt.hub || plan != tt.plan || d.Loses {
			t.Errorf("%s has it: %+v, writes %q and %q", name, d, hub, plan)
		}
		if d.Base.GitHub != both && d.Base.Planning != both {
			t.Errorf("%s has it: the base becomes %+v", name, d.Base)
		}
	}
}

// TestNormalisationThatDoesNotMerge: where an edit cannot be carried over onto what planning made
// of the agreed text, planning wins and the edit is kept.
func TestNormalisationThatDoesNotMerge(t *testing.T) {
	d := Resolve(Input{
		Link:  &Link{Pair: Pair{Base: map[Attribute]Base{Summary: {GitHub: "alpha", Planning: "beta", Version: 1}}}},
		Route: &Route{}, GitHub: View{Summary: {Value: "gamma"}}, Planning: View{Summary: {"delta", 2}},
	}).Decisions[0]
	if d.Action != ResolveConflict || d.Winner != Planning || !d.Loses || d.GitHub == nil || d.GitHub.To != "delta" {
		t.Errorf("decision %+v", d)
	}
}

// TestOverrun: the route's policy decides about an edit that our write ran over.
func TestOverrun(t *testing.T) {
	base, old := Base{GitHub: "written", Planning: "written", Version: 3}, Base{GitHub: "before", Planning: "before", Version: 2}
	plain := map[Side]Interval{GitHub: {at(5), at(5)}, Planning: {at(1), at(2)}}
	vague := map[Side]Interval{GitHub: {at(5), at(5)}, Planning: {at(1), at(9)}}
	for name, tt := range map[string]struct {
		route  Route
		edited map[Side]Interval
		old    *Base
		action Action
		winner Side
		base   Base
	}{
		"planning wins":           {Route{}, plain, &old, ResolveConflict, Planning, base},
		"GitHub wins":             {Route{DefaultPolicy: PolicyGitHub}, plain, &old, ResolveConflict, GitHub, base},
		"the newest wins":         {Route{DefaultPolicy: PolicyNewest}, plain, &old, ResolveConflict, GitHub, base},
		"nobody knows the newest": {Route{DefaultPolicy: PolicyNewest}, vague, &old, Ask, "", old},
		"people are asked":        {Route{DefaultPolicy: PolicyAsk}, plain, &old, Ask, "", old},
		"asked without a base":    {Route{DefaultPolicy: PolicyAsk}, plain, nil, Ask, "", Base{}},
	} {
		d := Overrun(&tt.route, Title, base, tt.old, tt.edited)
		if d.Action != tt.action || d.Winner != tt.winner || d.Base != tt.base || !d.Loses || d.Why == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestMergeOverNormalisation(t *testing.T) {
	in := Input{
		Link:     &Link{Pair: Pair{Base: map[Attribute]Base{Summary: {GitHub: "* a\n\ntext\n\nend", Planning: "- a\n\ntext\n\nend", Version: 1}}}},
		Route:    &Route{},
		GitHub:   View{Summary: {Value: "* a\n\ntext\n\nend!"}},
		Planning: View{Summary: {"- a and b\n\ntext\n\nend", 2}},
	}
	d := Resolve(in).Decisions[0]
	if d.Action != MergeBoth || d.Planning == nil || d.Planning.To != "- a and b\n\ntext\n\nend!" {
		t.Fatalf("decision %+v %+v", d, d.Planning)
	}
}

func TestRemovedEstimateLabelComesBack(t *testing.T) {
	in := Input{
		Link: &Link{Pair: Pair{Base: map[Attribute]Base{Estimate: {"3", "3", 1}}}}, Route: &Route{DefaultPolicy: PolicyGitHub},
		GitHub: View{Estimate: {}}, Planning: View{Estimate: {"3", 1}},
	}
	d := Resolve(in).Decisions[0]
	if d.GitHub == nil || d.GitHub.To != "3" || d.Planning != nil {
		t.Fatalf("decision %+v", d)
	}
}

func TestLongTitleIsNeverWrittenBackCut(t *testing.T) {
	whole := strings.Repeat("x", 300)
	cut := CutTitle(whole)
	link := &Link{Pair: Pair{Base: map[Attribute]Base{Title: {cut, whole, 1}}}}
	if plan := Resolve(Input{Link: link, Route: &Route{}, GitHub: View{Title: {Value: cut}}, Planning: View{Title: {whole, 1}}}); len(plan.Decisions) != 0 {
		t.Errorf("a cut title is a change: %+v", plan.Decisions)
	}
	d := Resolve(Input{Link: link, Route: &Route{}, GitHub: View{Title: {Value: "y" + cut[1:]}}}).Decisions[0]
	if want := "y" + whole[1:]; d.Planning == nil || d.Planning.To != want {
		t.Errorf("decision %+v", d)
	}
}

// apply carries a plan out on two sides that do what they are told.
func apply(link *Link, g, p View, plan Plan) {
	for _, d := range plan.Decisions {
		base := d.Base
		if d.Planning != nil {
			v := Versioned{d.Planning.To, p[d.Attribute].Version + 1}
			p[d.Attribute] = v
			if base.Planning == v.Value {
				base.Version = v.Version
			}
		}
		if d.GitHub != nil {
			g[d.Attribute] = Versioned{Value: d.GitHub.To}
		}
		if d.Action == Ask || d.Action == Blocked || d.Action == Restrained {
			continue
		}
		link.Base[d.Attribute] = base
	}
}

// TestConvergence: whichever values both sides have, carrying plans out ends in an empty plan
// within three rounds, with both sides equal. Every value of a side is still on one, or in a
// decision that keeps it, or merged.
func TestConvergence(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "a", "a\nb\nc\nd\ne", "A\nb\nc\nd\ne", "a\nb\nc\nd\nE", "see @octocat", "see #12", "* x\n", "- x", "long\r\ntext "})
	value := map[Attribute]*rapid.Generator[string]{
		Title:    rapid.SampledFrom([]string{"t", "u", "v", strings.Repeat("w", 300)}),
		Summary:  text,
		Estimate: rapid.SampledFrom([]string{"", "1", "3", "5.0"}),
		State:    rapid.SampledFrom([]string{StateTodo, StateInProgress, StateDone}),
	}
	policies := rapid.SampledFrom([]Policy{PolicyPlanning, PolicyGitHub, PolicyMerge})
	rapid.Check(t, func(t *rapid.T) {
		route := Route{DefaultPolicy: policies.Draw(t, "policy")}
		link := &Link{Pair: Pair{Base: map[Attribute]Base{}}}
		g, p := View{}, View{}
		for _, a := range Attributes {
			if rapid.Bool().Draw(t, "based") {
				b := value[a].Draw(t, "base")
				link.Base[a] = Base{GitHubForm(a, b, ""), b, 1}
			}
			g[a] = Versioned{Value: GitHubForm(a, value[a].Draw(t, "g"), "")}
			p[a] = Versioned{value[a].Draw(t, "p"), int64(rapid.IntRange(1, 3).Draw(t, "v"))}
		}
		for round := 0; ; round++ {
			plan := Resolve(Input{Link: link, Route: &route, GitHub: g, Planning: p})
			for _, d := range plan.Decisions {
				overwrites := d.GitHub != nil && !Same(d.Attribute, d.GitHub.From, link.Base[d.Attribute].GitHub) ||
					d.Planning != nil && !Same(d.Attribute, d.Planning.From, link.Base[d.Attribute].Planning)
				empty := d.GitHub != nil && d.GitHub.From == "" || d.Planning != nil && d.Planning.From == ""
				if overwrites && !d.Loses && d.Action != MergeBoth && !empty && !(d.Action == ToHub && round > 0) {
					t.Fatalf("a value is lost without a word: %+v", d)
				}
			}
			if len(plan.Decisions) == 0 {
				break
			}
			if round == 3 {
				t.Fatalf("still deciding: %+v", plan.Decisions)
			}
			apply(link, g, p, plan)
		}
		for _, a := range Attributes {
			if !Equal(a, g[a].Value, p[a].Value) {
				t.Fatalf("%s: %q on GitHub, %q in planning", a, g[a].Value, p[a].Value)
			}
		}
	})
}
