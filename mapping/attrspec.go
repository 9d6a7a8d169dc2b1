package mapping

// AttrSpec describes an attribute. Code asks the spec, and never compares an attribute's name.
type AttrSpec struct {
	Form Form
	// Canonical returns the one spelling of a side's value. Two values of one side are the
	// same where their spellings are.
	Canonical func(value string) string
	// Equal reports whether a value of GitHub and one of planning mean the same.
	Equal func(github, planning string) bool
	// ToGitHub and ToPlanning convert a value of the other side into the form that is written
	// to this side. held is the side's current value.
	ToGitHub, ToPlanning func(value, held string) string
	// Merge merges two edits of one base and returns the text for either side. nil:
	// edits of both sides never merge.
	Merge func(base Base, github, planning string) (toGitHub, toPlanning string, ok bool)
	// Edited returns GitHub's value before and after an edit; before is nil where the event edits
	// something else. A nil Edited: GitHub does not report the value before an edit.
	Edited func(e *IssueEvent) (before *string, after string)
	// Carrier is the part of an issue that one write replaces as a whole.
	Carrier Carrier
	// Relabel returns the labels to add and to remove for a value. nil: no label carries it.
	Relabel func(s LabelScheme, labels []string, value string) (add, remove []string)
	// Clearable: planning can hold no value.
	Clearable bool
	// Tracked: a card has no such value. The card's tracking task has it, and a write of it
	// changes the card's counters.
	Tracked bool

	// onIssue reads an issue's value. extra are labels with other values.
	onIssue func(i *Issue, s LabelScheme, k Keys, base Base) (value string, extra []string)
	// onCard and onTask return where a planning item has the value; onCard is nil where a card
	// has none.
	onCard func(*Card) *Versioned
	onTask func(*Task) *Versioned
}

// Form is the kind of an attribute's values.
type Form string

// The forms.
const (
	FormLine     Form = "line"     // a line of text
	FormMarkdown Form = "markdown" // lines of Markdown, with our marker and footer; planning renders it
	FormNumber   Form = "number"   // a decimal number; "" for none
	FormWord     Form = "word"     // one of a few words
)

// Carrier is the part of an issue that one write replaces as a whole.
type Carrier string

// The carriers.
const (
	CarrierTitle  Carrier = "title"
	CarrierBody   Carrier = "body"   // with the items of its checklist
	CarrierState  Carrier = "state"  // open or closed
	CarrierLabels Carrier = "labels" // single labels, of which one holds the value
)

// attrSpecs has the spec of each of [Attributes].
var attrSpecs = map[Attribute]*AttrSpec{
	Title: {
		Form:       FormLine,
		Canonical:  CanonicalTitle,
		Equal:      equalTitles,
		ToGitHub:   func(p, _ string) string { return CutTitle(oneLine(p)) },
		ToPlanning: UncutTitle,
		Edited:     func(e *IssueEvent) (*string, string) { return e.TitleFrom, e.Title },
		Carrier:    CarrierTitle,
		Clearable:  true,
		onIssue:    func(i *Issue, _ LabelScheme, _ Keys, _ Base) (string, []string) { return i.Title, nil },
		onCard:     func(c *Card) *Versioned { return &c.Title },
		onTask:     func(t *Task) *Versioned { return &t.Title },
	},
	Summary: {
		Form:       FormMarkdown,
		Canonical:  Canonical,
		Equal:      func(g, p string) bool { return Canonical(Restore(g)) == Canonical(restoreLinks(p)) },
		ToGitHub:   func(p, held string) string { return DefuseKeeping(legible(restoreLinks(p)), held) },
		ToPlanning: func(g, held string) string { return defuseLinks(Restore(g), held) },
		Merge:      mergeSummary,
		Edited:     func(e *IssueEvent) (*string, string) { return e.BodyFrom, e.Body },
		Carrier:    CarrierBody,
		Clearable:  true,
		onIssue:    func(i *Issue, _ LabelScheme, k Keys, _ Base) (string, []string) { return k.without(i.Body), nil },
		onCard:     func(c *Card) *Versioned { return &c.Summary },
		onTask:     func(t *Task) *Versioned { return &t.Summary },
	},
	Estimate: {
		Form:       FormNumber,
		Canonical:  CanonicalNumber,
		Equal:      func(g, p string) bool { return CanonicalNumber(g) == CanonicalNumber(p) },
		ToGitHub:   func(p, _ string) string { return CanonicalNumber(p) },
		ToPlanning: func(g, _ string) string { return CanonicalNumber(g) },
		Carrier:    CarrierLabels,
		Relabel:    relabelEstimate,
		onIssue:    estimateOn,
		onCard:     func(c *Card) *Versioned { return &c.Estimate },
		onTask:     func(t *Task) *Versioned { return &t.Estimate },
	},
	State: {
		Form:       FormWord,
		Canonical:  asIs,
		Equal:      func(g, p string) bool { return g == p },
		ToGitHub:   func(p, _ string) string { return p },
		ToPlanning: func(g, _ string) string { return g },
		Carrier:    CarrierState,
		Relabel:    relabelState,
		Tracked:    true,
		onIssue:    func(i *Issue, s LabelScheme, _ Keys, _ Base) (string, []string) { return issueState(i, s), nil },
		onTask:     func(t *Task) *Versioned { return &t.State },
	},
}

// unspecified is the spec of an unknown name, as a history of another version may have.
var unspecified = &AttrSpec{
	Canonical: asIs, Equal: func(g, p string) bool { return g == p }, Clearable: true,
	ToGitHub: func(p, _ string) string { return p }, ToPlanning: func(g, _ string) string { return g },
}

// Spec returns the attribute's spec; it is never nil.
func (a Attribute) Spec() *AttrSpec {
	if spec, ok := attrSpecs[a]; ok {
		return spec
	}
	return unspecified
}

// Mergeable reports whether edits of both sides can merge.
func (s *AttrSpec) Mergeable() bool { return s.Merge != nil }

// HasHistory reports whether GitHub reports the value before each edit.
func (s *AttrSpec) HasHistory() bool { return s.Edited != nil }

// IsText reports whether the value is free text.
func (s *AttrSpec) IsText() bool { return s.Form == FormLine || s.Form == FormMarkdown }

// AttributesWith lists the attributes that have a property.
func AttributesWith(has func(*AttrSpec) bool) []Attribute {
	var list []Attribute
	for _, a := range Attributes {
		if has(a.Spec()) {
			list = append(list, a)
		}
	}
	return list
}

func asIs(value string) string { return value }

// equalTitles compares titles; a title that was cut for GitHub equals the whole one.
func equalTitles(github, planning string) bool {
	g := CanonicalTitle(github)
	return g == CanonicalTitle(planning) || g == CutTitle(planning)
}

// estimateOn reads the estimate label. Of two labels, the one that is not the base is the new
// one.
func estimateOn(i *Issue, s LabelScheme, _ Keys, base Base) (value string, extra []string) {
	value, all := s.EstimateOf(i.Labels, base.GitHub)
	for _, label := range all {
		if v, _ := s.EstimateOf([]string{label}, ""); v != value {
			extra = append(extra, label)
		}
	}
	return value, extra
}

// relabelEstimate replaces all estimate labels.
func relabelEstimate(s LabelScheme, labels []string, value string) (add, remove []string) {
	_, remove = s.EstimateOf(labels, "")
	if value != "" {
		add = []string{s.EstimateLabel(value)}
	}
	return add, remove
}

// relabelState sets the in-progress label of an open issue; of one that is done it
// stays as it is.
func relabelState(s LabelScheme, labels []string, value string) (add, remove []string) {
	switch on := s.InProgressOn(labels); {
	case value == StateInProgress && !on:
		return []string{s.InProgress}, nil
	case value == StateTodo && on:
		return nil, []string{s.InProgress}
	}
	return nil, nil
}

func issueState(i *Issue, scheme LabelScheme) string {
	switch {
	case i.State == "closed":
		return StateDone
	case scheme.InProgressOn(i.Labels):
		return StateInProgress
	}
	return StateTodo
}
