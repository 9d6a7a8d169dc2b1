package mapping

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSpecsAreComplete: each attribute has a spec, with all that the bridge asks of
// every attribute, and no spec is of anything else.
func TestSpecsAreComplete(t *testing.T) {
	if len(attrSpecs) != len(Attributes) {
		t.Errorf("%d specs of %d attributes", len(attrSpecs), len(Attributes))
	}
	for _, a := range Attributes {
		spec := a.Spec()
		if spec == unspecified {
			t.Errorf("%s has no spec", a)
			continue
		}
		for name, missing := range map[string]bool{
			"Form": spec.Form == "", "Canonical": spec.Canonical == nil, "Equal": spec.Equal == nil,
			"ToGitHub": spec.ToGitHub == nil, "ToPlanning": spec.ToPlanning == nil,
			"Carrier": spec.Carrier == "", "onIssue": spec.onIssue == nil, "onTask": spec.onTask == nil,
			"onCard, unless tracked":             (spec.onCard == nil) != spec.Tracked,
			"Relabel, where labels carry it":     spec.Carrier == CarrierLabels && spec.Relabel == nil,
			"a history, where edits are merged":  spec.Mergeable() && !spec.HasHistory(),
			"an empty value, or it is clearable": !spec.Clearable && spec.Form != FormNumber && spec.Form != FormWord,
		} {
			if missing {
				t.Errorf("%s lacks %s", a, name)
			}
		}
		item := Task{Title: Versioned{"t", 1}, Summary: Versioned{"s", 2}, Estimate: Versioned{"3", 3}, State: Versioned{StateDone, 4}}
		if got, all := *spec.onTask(&item), TaskItemView(&item, Keys{}); got != all[a] {
			t.Errorf("%s of a task is %v in its view, %v by its spec", a, all[a], got)
		}
	}
}

// TestSpecFacts has a row for each attribute and fact.
func TestSpecFacts(t *testing.T) {
	type facts struct {
		Form                                               Form
		Carrier                                            Carrier
		Clearable, Mergeable, HasHistory, ByLabel, Tracked bool
	}
	for a, want := range map[Attribute]facts{
		Title:     {Form: FormLine, Carrier: CarrierTitle, Clearable: true, HasHistory: true},
		Summary:   {Form: FormMarkdown, Carrier: CarrierBody, Clearable: true, Mergeable: true, HasHistory: true},
		Estimate:  {Form: FormNumber, Carrier: CarrierLabels, ByLabel: true},
		State:     {Form: FormWord, Carrier: CarrierState, ByLabel: true, Tracked: true},
		"unknown": {Clearable: true},
	} {
		s := a.Spec()
		got := facts{s.Form, s.Carrier, s.Clearable, s.Mergeable(), s.HasHistory(), s.Relabel != nil, s.Tracked}
		if got != want {
			t.Errorf("%s: %+v, want %+v", a, got, want)
		}
	}
	if got := AttributesWith((*AttrSpec).HasHistory); !slices.Equal(got, []Attribute{Title, Summary}) {
		t.Errorf("with a history: %v", got)
	}
}

// TestSpecValues has a row for each attribute and outcome of comparing and writing
// its values.
func TestSpecValues(t *testing.T) {
	long, cut := strings.Repeat("x", 300), strings.Repeat("x", 255)+"…"
	for _, x := range []struct {
		a                    Attribute
		github, planning     string
		equal                bool
		toGitHub, toPlanning string // where the other side has nothing
	}{
		{Title, "a ", " a", true, " a", "a "},
		{Title, cut, long, true, cut, cut},
		{Title, "a", "b", false, "b", "a"},
		{Summary, "x\r\n", "x", true, "x", "x\r\n"},
		{Summary, "x", "y", false, "y", "x"},
		{Estimate, "3.0", "3", true, "3", "3"},
		{Estimate, "", "3", false, "3", ""},
		{State, StateTodo, StateTodo, true, StateTodo, StateTodo},
		{State, StateTodo, StateInProgress, false, StateInProgress, StateTodo},
		{"unknown", "a", "a", true, "a", "a"},
		{"unknown", "a", "a ", false, "a ", "a"},
	} {
		s := x.a.Spec()
		if got := s.Equal(x.github, x.planning); got != x.equal {
			t.Errorf("%s: %.20q and %.20q are equal: %v", x.a, x.github, x.planning, got)
		}
		if got := s.ToGitHub(x.planning, ""); got != x.toGitHub {
			t.Errorf("%s %.20q is written to GitHub as %q", x.a, x.planning, got)
		}
		if got := s.ToPlanning(x.github, ""); got != x.toPlanning {
			t.Errorf("%s %.20q is written to planning as %q", x.a, x.github, got)
		}
		if c := s.Canonical(x.github); s.Canonical(c) != c {
			t.Errorf("%s: %.20q is spelt %q, and that in another way", x.a, x.github, c)
		}
	}
}

func TestSpecMerges(t *testing.T) {
	base := Base{GitHub: "a\n\nb\n\nc\n", Planning: "a\n\nb\n\nc\n"}
	hub, plan, ok := Summary.Spec().Merge(base, "A\n\nb\n\nc\n", "a\n\nb\n\nC\n")
	if want := "A\n\nb\n\nC"; !ok || hub != want || plan != want {
		t.Errorf("merged to %q and %q, %v", hub, plan, ok)
	}
	if _, _, ok := Summary.Spec().Merge(base, "A\n\nb\n\nc\n", "X\n\nb\n\nc\n"); ok {
		t.Error("two edits of one word were merged")
	}
}

func TestSpecEdits(t *testing.T) {
	was := "was"
	titled, written := &IssueEvent{TitleFrom: &was, Title: "is", Body: "text"}, &IssueEvent{BodyFrom: &was, Title: "title", Body: "is"}
	for _, x := range []struct {
		a     Attribute
		edit  *IssueEvent
		tells bool
	}{{Title, titled, true}, {Title, written, false}, {Summary, written, true}, {Summary, titled, false}} {
		before, after := x.a.Spec().Edited(x.edit)
		if (before != nil) != x.tells || x.tells && (*before != was || after != "is") {
			t.Errorf("%s of %+v: from %v to %q", x.a, x.edit, before, after)
		}
	}
}

func TestSpecRelabels(t *testing.T) {
	s := LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"}
	for _, x := range []struct {
		a           Attribute
		labels      []string
		value       string
		add, remove []string
	}{
		{Estimate, []string{"bug"}, "3", []string{"points/3"}, nil},
		{Estimate, []string{"bug", "points/2", "hours/1"}, "3", []string{"points/3"}, []string{"points/2"}},
		{Estimate, []string{"points/2"}, "", nil, []string{"points/2"}},
		{State, []string{"bug"}, StateInProgress, []string{"in-progress"}, nil},
		{State, []string{"In-Progress"}, StateInProgress, nil, nil},
		{State, []string{"in-progress"}, StateTodo, nil, []string{"in-progress"}},
		{State, []string{"in-progress"}, StateDone, nil, nil},
		{State, nil, StateTodo, nil, nil},
	} {
		add, remove := x.a.Spec().Relabel(s, x.labels, x.value)
		if !slices.Equal(add, x.add) || !slices.Equal(remove, x.remove) {
			t.Errorf("%s %q on %q: +%q -%q, want +%q -%q", x.a, x.value, x.labels, add, remove, x.add, x.remove)
		}
	}
}

// TestViewsReadSpecs: the views of either side have each attribute that the item
// has, as the spec reads it.
func TestViewsReadSpecs(t *testing.T) {
	s := LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"}
	issue := Issue{Title: "t", Body: "b", State: "open", Labels: []string{"points/3", "points/2", "in-progress"}}
	view, extra := IssueView(&issue, s, Keys{}, map[Attribute]Base{Estimate: {GitHub: "3"}})
	want := View{Title: {Value: "t"}, Summary: {Value: "b"}, Estimate: {Value: "2"}, State: {Value: StateInProgress}}
	if diff := cmp.Diff(want, view); diff != "" || !slices.Equal(extra, []string{"points/3"}) {
		t.Errorf("issue: %s, extra %q", diff, extra)
	}
	card := Card{Title: Versioned{"t", 1}, Summary: Versioned{"s", 2}, Estimate: Versioned{"3", 3}}
	if diff := cmp.Diff(View{Title: {"t", 1}, Summary: {"s", 2}, Estimate: {"3", 3}}, CardView(&card, Keys{})); diff != "" {
		t.Errorf("card: %s", diff)
	}
	task := Task{Title: Versioned{"t", 1}, State: Versioned{StateDone, 4}}
	if diff := cmp.Diff(View{State: {StateDone, 4}}, TaskView(&task)); diff != "" {
		t.Errorf("tracking task: %s", diff)
	}
	if got := TaskItemView(&task, Keys{}); !reflect.DeepEqual(got[State], task.State) || len(got) != len(Attributes) {
		t.Errorf("task: %v", got)
	}
}

// TestStateOfAnIssue has a row for each state, by what people see on the issue.
func TestStateOfAnIssue(t *testing.T) {
	s := LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"}
	for name, tt := range map[string]struct {
		issue Issue
		want  string
	}{
		"open":                        {Issue{State: "open", Labels: []string{"bug"}}, StateTodo},
		"open with the label":         {Issue{State: "open", Labels: []string{"bug", "In-Progress"}}, StateInProgress},
		"closed":                      {Issue{State: "closed"}, StateDone},
		"closed, the label still on":  {Issue{State: "closed", Labels: []string{"in-progress"}}, StateDone},
		"closed as not planned":       {Issue{State: "closed", StateReason: "not_planned"}, StateDone},
		"open, planning's own status": {Issue{State: "open", Labels: []string{"plan:In Progress"}}, StateTodo},
	} {
		view, _ := IssueView(&tt.issue, s, Keys{}, nil)
		if view[State].Value != tt.want {
			t.Errorf("%s: %s, want %s", name, view[State].Value, tt.want)
		}
	}
}

// TestTexts: people write titles and summaries as they like; estimates and states they do not.
func TestTexts(t *testing.T) {
	if got := AttributesWith((*AttrSpec).IsText); !slices.Equal(got, []Attribute{Title, Summary}) {
		t.Errorf("texts are %v", got)
	}
	if got := AttributesWith(func(*AttrSpec) bool { return false }); len(got) != 0 {
		t.Errorf("with nothing: %v", got)
	}
}
