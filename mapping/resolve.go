package mapping

import (
	"slices"
	"time"
)

// View is the current state of one side, per attribute and in that side's own representation.
// An absent attribute is not known, and counts as unchanged since the base. Versions matter on
// the planning side only.
type View map[Attribute]Versioned

// Interval bounds the moment of an edit that nobody saw happen. A zero
// Interval is an unknown moment.
type Interval struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

func (i Interval) isKnown() bool { return !i.From.IsZero() && !i.To.IsZero() }

// Input is everything that a decision depends on.
type Input struct {
	Link *Link
	// Pair is the pair of the link that the decision is about; nil: the root.
	Pair     *Pair
	Route    *Route
	GitHub   View
	Planning View
	// Edited has, per attribute, when each side was last edited, as far as it is known. The policy
	// newest compares these times.
	Edited map[Attribute]map[Side]Interval
	// Questions are the ledger entries, by id, of the open questions about the pair and of those
	// about to be asked. An answer holds for the two values of the question. Where somebody wrote
	// other values since, the question is asked anew.
	Questions map[string]Conflict
	// Rewound has the attributes in which GitHub shows a state older than the base, as a restored
	// server does. Planning's versions show that by themselves.
	Rewound map[Attribute]bool
}

// Action is the effect of a decision.
type Action string

// The actions, one for each outcome of the decision table.
const (
	Adopt           Action = "adopt"       // no write; the base takes the present values
	ToPlan          Action = "to_planning" // GitHub's value is written to planning
	ToHub           Action = "to_github"   // planning's value is written to GitHub
	MergeBoth       Action = "merge"       // a three-way merge is written where it differs
	ResolveConflict Action = "conflict"    // the loser is kept, then the winner is written
	Ask             Action = "ask"         // both are kept, nothing is written
	Blocked         Action = "blocked"     // a side refused this very value
	Restrained      Action = "restrained"  // the route's direction forbids the write
	Withheld        Action = "withheld"    // the write would publish planning's text
	Undo            Action = "undo"        // an operator brings a conflict's loser back
	RestoreMarker   Action = "remark"      // the same text is written again, with our marker
	Unmark          Action = "unmark"      // the same text is written again, without our marker
)

// marks reports whether an action writes the same text again for its marker alone.
func (a Action) marks() bool { return a == RestoreMarker || a == Unmark }

// Write is one attribute's write to one side.
type Write struct {
	From    string // the side's present value, in its own representation
	To      string
	Version int64 // planning: the version the write carries
}

// Decision is the action for one attribute, and its reason.
type Decision struct {
	Attribute Attribute
	Action    Action
	Why       string
	Planning  *Write // nil: planning is not written
	GitHub    *Write // nil: GitHub is not written
	// Base is the base once every write of the decision has happened; its
	// version is the one known before the writes.
	Base Base
	// Winner is the side whose value stands, where there was a conflict.
	Winner Side
	// Loses says that a value of a person is overwritten, or stays in conflict with another,
	// and is not stored yet. Both values go into the ledger, and onto the issue, before
	// anything is written.
	Loses bool
	// By is the operator whose answer or undo it carries out; "": nobody's.
	By string
	// Edited bounds when each side was edited, where people are asked.
	Edited map[Side]Interval
}

func (in *Input) pair() *Pair {
	if in.Pair != nil {
		return in.Pair
	}
	return &in.Link.Pair
}

// text is the part of a GitHub value that planning also has. Only a root's checklist lines are
// tasks.
func (in *Input) text(a Attribute, github string) string {
	if in.pair().IsTask() {
		return github
	}
	return in.Link.Text(in.Route, a, github)
}

// Plan has the decisions that bring a link to agreement. Attributes that agree have none.
type Plan struct{ Decisions []Decision }

// Writes reports whether the plan writes to a side; of attributes: whether it writes one of them.
func (p Plan) Writes(side Side, of ...Attribute) bool {
	return slices.ContainsFunc(p.Decisions, func(d Decision) bool {
		writes := side == Planning && d.Planning != nil || side == GitHub && d.GitHub != nil
		return writes && (len(of) == 0 || slices.Contains(of, d.Attribute))
	})
}

// Resolve decides every attribute of a link.
//
// G and P are the two sides now, each compared with its own representation in the base. v is
// planning's version. Equality across the sides is that of the canonical form:
//
//	| G       | P       |                        | decision                                   |
//	|---------|---------|------------------------|--------------------------------------------|
//	| same    | same    |                        | nothing (remember v if it moved)           |
//	| changed | same    |                        | write G to planning with v                 |
//	| same    | changed |                        | write P to GitHub                          |
//	| changed | changed | G = P                  | agree: the base becomes that value         |
//	| changed | changed | merges cleanly         | write the merge, planning first            |
//	| changed | changed | G ≠ P                  | conflict: the route's policy decides       |
//	| any     | any     | no base, G = P         | agree                                      |
//	| empty   | any     | no base                | write P to GitHub (and the other way)      |
//	| any     | any     | no base, G ≠ P         | conflict                                   |
//
// A base does not count where a side that differs from it shows an older time, as its value is no
// edit of the base. Nor does it count where one side never took its value: an item was made without
// the value that its side refused.
//
// Where checklist items are tasks, GitHub's summary is the body's text without
// them (see [Link.Text]), in the decisions too.
//
// Two cases differ by nature. Planning cannot clear an estimate, so a removed estimate label is
// written back. A value that a side has refused is not sent to it again.
func Resolve(in Input) Plan {
	var plan Plan
	for _, a := range Attributes {
		if d, ok := in.decide(a); ok {
			plan.Decisions = append(plan.Decisions, in.restrain(d))
		}
	}
	return plan
}

func (in *Input) decide(a Attribute) (Decision, bool) {
	base, based := in.base(a)
	g, p, known := in.now(a)
	if !based {
		if !known {
			return Decision{}, false
		}
		return in.decideUnbased(a, g, p), true
	}
	if in.isUntaken(a, base) {
		return in.decideUnbased(a, g, p), true
	}
	gChanged, pChanged := !Same(a, g, base.GitHub), !Same(a, p.Value, base.Planning)
	switch {
	case gChanged && in.Rewound[a], pChanged && p.Version < base.Version:
		return in.decideUnbased(a, g, p), true
	case !gChanged && !pChanged:
		if p.Version == base.Version {
			return Decision{}, false
		}
		return adopt(a, base.GitHub, Versioned{base.Planning, p.Version}, "planning counted a version without a change"), true
	case gChanged && cleared(a, g, p.Value):
		return toGitHub(a, g, p, "planning cannot clear an estimate, so its label comes back"), true
	case gChanged && !pChanged:
		return in.toPlanning(a, g, p, "GitHub changed, planning did not"), true
	case !gChanged:
		return toGitHub(a, g, p, "planning changed, GitHub did not"), true
	case Equal(a, g, p.Value):
		return adopt(a, g, p, "both sides changed to the same"), true
	}
	return in.resolveConflict(a, &base, g, p), true
}

// now returns the values of both sides. The base stands for a side that is not known; known
// says whether both sides are.
func (in *Input) now(a Attribute) (g string, p Versioned, known bool) {
	base, _ := in.base(a)
	gv, gKnown := in.GitHub[a]
	p, pKnown := in.Planning[a]
	g = in.text(a, gv.Value)
	if !gKnown {
		g = base.GitHub
	}
	if !pKnown {
		p = Versioned{base.Planning, base.Version}
	}
	return g, p, gKnown && pKnown
}

// base is what both sides last agreed on, with GitHub's value reduced to its text.
func (in *Input) base(a Attribute) (Base, bool) {
	base, ok := in.pair().Base[a]
	base.GitHub = in.text(a, base.GitHub)
	return base, ok
}

// isUntaken reports whether a base has a value that its other side refused when the item there was
// made. The base then holds what each side showed, and no agreement.
func (in *Input) isUntaken(a Attribute, base Base) bool {
	_, refused := in.pair().Refused[a]
	return refused && Same(a, base.GitHub, "") != Same(a, base.Planning, "")
}

func (in *Input) decideUnbased(a Attribute, g string, p Versioned) Decision {
	switch {
	case Equal(a, g, p.Value):
		return adopt(a, g, p, "both sides are the same at first sight")
	case Same(a, g, ""):
		return toGitHub(a, g, p, "only planning has a value at first sight")
	case Same(a, p.Value, ""):
		return in.toPlanning(a, g, p, "only GitHub has a value at first sight")
	}
	return in.resolveConflict(a, nil, g, p)
}

// cleared reports whether GitHub lost a value that planning cannot lose.
func cleared(a Attribute, g, p string) bool { return !a.Spec().Clearable && g == "" && p != "" }

func adopt(a Attribute, g string, p Versioned, why string) Decision {
	return Decision{Attribute: a, Action: Adopt, Why: why, Base: Base{GitHub: g, Planning: p.Value, Version: p.Version}}
}

func (in *Input) toPlanning(a Attribute, g string, p Versioned, why string) Decision {
	to := PlanningForm(a, g, p.Value)
	return Decision{
		Attribute: a, Action: ToPlan, Why: why,
		Planning: &Write{From: p.Value, To: to, Version: in.lock(p.Version)},
		Base:     Base{GitHub: g, Planning: to, Version: p.Version},
	}
}

func toGitHub(a Attribute, g string, p Versioned, why string) Decision {
	to := GitHubForm(a, p.Value, g)
	return Decision{
		Attribute: a, Action: ToHub, Why: why,
		GitHub: &Write{From: g, To: to},
		Base:   Base{GitHub: to, Planning: p.Value, Version: p.Version},
	}
}

// lock is the version a planning write carries: the known one, or -1 where the
// route forces (docs/planning-api.md 4.2 rule 4).
func (in *Input) lock(version int64) int64 {
	if in.Route.Force {
		return ForceVersion
	}
	return version
}

// restrain takes back writes that the route's direction forbids or that a side
// has refused.
func (in *Input) restrain(d Decision) Decision {
	if d.Planning != nil && !in.Route.Writes(Planning) || (d.GitHub != nil || d.halfway()) && !in.Route.Writes(GitHub) || d.Action == Ask && in.Route.leader() != "" {
		d = in.oneWay(d)
	}
	refused, ok := in.pair().Refused[d.Attribute]
	if !ok {
		return d
	}
	if w := d.Planning; w != nil && refused.Side == Planning && refused.Value == DigestText(w.To) {
		return d.held(Blocked, "planning refused it: "+refused.Message)
	}
	if w := d.GitHub; w != nil && refused.Side == GitHub && refused.Value == DigestText(w.To) {
		return d.held(Blocked, "GitHub refused it: "+refused.Message)
	}
	return d
}

// halfway reports whether a merge goes on to GitHub once planning has it.
func (d Decision) halfway() bool {
	return d.Planning != nil && d.Planning.To != d.Base.Planning
}

// oneWay turns a decision that writes against the route's direction into one that respects it. A
// change on the far side stays there until the leading side changes. The leading side wins then,
// and the loser is kept. Nobody is asked.
func (in *Input) oneWay(d Decision) Decision {
	why := "the route only goes " + string(in.Route.Direction)
	if d.Action != ResolveConflict && d.Action != MergeBoth && d.Action != Ask {
		return d.held(Restrained, why)
	}
	g, p, _ := in.now(d.Attribute)
	return in.win(d.Attribute, in.Route.leader(), g, p, why)
}

func (d Decision) held(action Action, why string) Decision {
	return Decision{Attribute: d.Attribute, Action: action, Why: why, Base: d.Base}
}

// VersionOr returns the version of an attribute in the view, or def where the
// view does not show it.
func (v View) VersionOr(a Attribute, def int64) int64 {
	if x, ok := v[a]; ok {
		return x.Version
	}
	return def
}
