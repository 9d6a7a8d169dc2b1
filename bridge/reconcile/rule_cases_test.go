package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// noon is the time of the claims of these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testKeys sign the markers of these tests, and labelScheme names their labels.
var (
	testKeys    = mapping.NewKeys([]byte("a key of these tests"))
	labelScheme = mapping.LabelScheme{Prefix: "plan:", Estimate: "points/{value}", Hours: "hours/{value}", InProgress: "doing"}
)

// process is what these tests say of the process: whose account is whose, and what is paused.
type process struct{ paused, down, strangers bool }

func (process) Authorship(login string) mapping.Authorship {
	return map[string]mapping.Authorship{"bridge": mapping.Named}[login]
}
func (p process) Stranger(string) bool         { return p.strangers }
func (process) SameRendering(a, b string) bool { return strings.EqualFold(a, b) }
func (process) FirstRun(string) time.Time      { return noon.Add(-time.Hour) }
func (p process) Paused(string) bool           { return p.paused }
func (p process) Down(string) bool             { return p.down }
func (process) LeaseTTL() time.Duration        { return time.Minute }

// ruleCase is one outcome of a rule for a linked pair of acme/web#12 and its card. They agree in all
// attributes of a card, and it has its tracking task.
type ruleCase struct {
	name    string
	route   func(*mapping.Route)
	link    func(*mapping.Link)
	process process
	set     func(*Settings)
	known   func(work) // further known state
	// answers has the answer to each kind of effect that is asked for: a value, an error, or each
	// of them in turn.
	answers map[string]any
	want    verdict
	err     string // the text of its error; "": there is none
	// asked are the effects by their kinds, or with what they write (see told). Effects that are
	// answered as usual are not among them.
	asked  []string
	counts []string          // the counters that went up, where that is looked at
	check  func(work) string // the broken invariant then; "": nothing
	// wrong says what is wrong with the effects that it asked for; "": nothing.
	wrong func(effects []any) string
	says  string // the log line, where there is one
}

// turns are the answers to the effects of one kind, in their order. The last one is repeated.
type turns []any

// beside is an answer with an error.
type beside struct {
	answer any
	err    error
}

func (c *ruleCase) work() work {
	route := mapping.Route{
		Name: "web", Project: "p", Repositories: []string{"acme/web"}, Bucket: "Incoming", Direction: mapping.Both, TrackingTask: true,
		Username: "robot",
	}
	if c.route != nil {
		c.route(&route)
	}
	link := &mapping.Link{ID: "l", Project: "p", Route: "web", Pair: mapping.Pair{
		State: mapping.Linked, Origin: mapping.GitHub, Nonce: "n", Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12},
		Card: mapping.CardID{ID: "c"}, Base: map[mapping.Attribute]mapping.Base{},
	}}
	for _, a := range mapping.Attributes {
		link.Base[a] = mapping.Base{Version: 1}
	}
	link.Children = []*mapping.Pair{{Kind: mapping.Tracking, State: mapping.Linked, Card: mapping.CardID{ID: "t"}}}
	if c.link != nil {
		c.link(link)
	}
	set := &Settings{Routes: mapping.NewRoutes([]mapping.Route{route}), Scheme: labelScheme, Keys: testKeys, Quiet: time.Minute, WebURL: "https://github"}
	if c.set != nil {
		c.set(set)
	}
	w := newWork(State{Claim: &store.Claim{Key: store.Key{Project: "p", Link: "l"}, Link: link}, Settings: set, Process: c.process, Served: true, Now: noon})
	w.g = mapping.View{}
	if c.known != nil {
		c.known(w)
	}
	return w
}

// checkRule asks a rule in each case.
func checkRule(t *testing.T, rule func(work) (verdict, error), cases []ruleCase) {
	t.Helper()
	t.Parallel()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, rule)
		})
	}
}

// checkSays has a function say something in each case.
func checkSays(t *testing.T, say func(work) (string, error), cases []ruleCase) {
	t.Helper()
	t.Parallel()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			said := ""
			c.run(t, func(w work) (_ verdict, err error) {
				said, err = say(w)
				return pass, err
			})
			if said != c.says {
				t.Errorf("it says\n%s, want\n%s", said, c.says)
			}
		})
	}
}

// run asks a rule in one case.
func (c *ruleCase) run(t *testing.T, rule func(work) (verdict, error)) {
	t.Helper()
	w := c.work()
	asker := effectAsker{t: t, answers: maps.Clone(c.answers)}
	w.yield = asker.answer
	v, err := rule(w)
	if says := fmt.Sprint(err); v != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(says, c.err) {
		t.Errorf("the verdict is %d, %v; want %d, %q", v, err, c.want, c.err)
	}
	if !slices.EqualFunc(asker.asked, c.asked, asIn) {
		t.Errorf("it asked for\n%q, want\n%q", asker.asked, c.asked)
	}
	if c.counts != nil && !slices.Equal(asker.counts, c.counts) {
		t.Errorf("it counted %q, want %q", asker.counts, c.counts)
	}
	if c.wrong != nil {
		if wrong := c.wrong(asker.effects); wrong != "" {
			t.Error(wrong)
		}
	}
	if c.check != nil {
		if wrong := c.check(w); wrong != "" {
			t.Error(wrong)
		}
	}
}

// effectAsker answers the effects of one case, and keeps what they were.
type effectAsker struct {
	t             *testing.T
	answers       map[string]any
	asked, counts []string
	effects       []any
}

func (e *effectAsker) answer(s *Step) bool {
	s.Now = noon
	kind := strings.TrimPrefix(fmt.Sprintf("%T", s.Effect), "reconcile.")
	if c, counts := s.Effect.(Count); counts {
		e.counts = append(e.counts, fmt.Sprint(c.Counter, " ", strings.Join(c.Labels, " ")))
	}
	answer, known := e.answers[kind]
	if usual, has := usually(s.Effect); !known && has {
		s.Answer(usual, nil)
		return true
	}
	e.asked, e.effects = append(e.asked, told(kind, s.Effect)), append(e.effects, s.Effect)
	if in, several := answer.(turns); several {
		if answer = in[0]; len(in) > 1 {
			e.answers[kind] = in[1:]
		}
	}
	if _, writes := s.Effect.(Effect[None]); writes && !known {
		answer, known = None{}, true
	}
	if both, failed := answer.(beside); failed {
		s.Answer(both.answer, both.err)
		return true
	}
	if err, failed := answer.(error); failed {
		s.Answer(nil, err)
		return true
	}
	if !known {
		e.t.Errorf("it asks for %+v", s.Effect)
	}
	s.Answer(answer, nil)
	return known
}

// usually is the answer to an effect that most rows say nothing about.
func usually(effect any) (answer any, has bool) {
	switch e := effect.(type) {
	case Say, Rise, Met, Found, Count, Lagged, PauseOver:
		return None{}, true
	case Locate:
		return e.Repo, true
	case ReadPublic:
		return Publicity{Known: true}, true
	case PauseLeft:
		return Pause{}, true
	}
	return nil, false
}

// asIn reports whether an effect is the one that a row has: by its kind, in its words, or in the
// words before an ellipsis.
func asIn(got, row string) bool {
	kind, _, _ := strings.Cut(got, " ")
	begin, part := strings.CutSuffix(row, "…")
	return got == row || kind == row || part && strings.HasPrefix(got, begin)
}

// told is an effect in words: its kind, and what it writes.
func told(kind string, effect any) string {
	says := []string{kind}
	text := func(name string, v *string) {
		if v != nil {
			says = append(says, fmt.Sprintf("%s=%q", name, *v))
		}
	}
	switch e := effect.(type) {
	case Update:
		says = append(says, string(e.Item))
		for a, v := range mapping.Sorted(e.Set) {
			says = append(says, fmt.Sprintf("%s=%q@%d", a, v.Value, v.Version))
		}
		says = append(says, "by", e.Username)
	case EditIssue:
		text("title", e.Edit.Title)
		text("body", e.Edit.Body)
		text("state", e.Edit.State)
		text("reason", e.Edit.StateReason)
		if e.Edit.Milestone != nil {
			says = append(says, fmt.Sprint("milestone=", *e.Edit.Milestone))
		}
	case AddLabels:
		says = append(says, e.Labels...)
	case RemoveLabel:
		says = append(says, e.Label)
	case PutConflict:
		says = append(says, string(e.Conflict.Attribute), e.Conflict.State, string(e.Conflict.Winner))
	case Observe:
		says = append(says, fmt.Sprintf("to %s: %d", e.Project, len(e.Observations)))
	case Take:
		says = append(says, e.Budget.Name)
	case Assign:
		says = append(says, e.Logins...)
	case Unassign:
		says = append(says, e.Logins...)
	}
	return strings.TrimSpace(strings.Join(says, " "))
}

// planned is a plan of decisions, as the rule decide leaves it.
func planned(ds ...mapping.Decision) func(work) {
	return func(w work) {
		plan := mapping.Plan{Decisions: ds}
		w.round = round{plan: plan, writesGitHub: plan.Writes(mapping.GitHub)}
	}
}

func toHub(a mapping.Attribute, from, to string) mapping.Decision {
	return mapping.Decision{Attribute: a, Action: mapping.ToHub, GitHub: &mapping.Write{From: from, To: to}}
}

func toPlan(a mapping.Attribute, from, to string) mapping.Decision {
	return mapping.Decision{Attribute: a, Action: mapping.ToPlan, Planning: &mapping.Write{From: from, To: to}}
}

var errAway = fmt.Errorf("read: %w", mapping.ErrUnavailable)

// isState says what is wrong where a pair is in another state, for another reason.
func isState(state mapping.LinkState, why string) func(work) string {
	return func(w work) string {
		if w.pair.State != state || w.pair.Why != why {
			return fmt.Sprintf("the pair is %s because %q, want %s because %q", w.pair.State, w.pair.Why, state, why)
		}
		return ""
	}
}

// all asks for what is wrong one check after the other.
func all(checks ...func(work) string) func(work) string {
	return func(w work) string {
		for _, check := range checks {
			if wrong := check(w); wrong != "" {
				return wrong
			}
		}
		return ""
	}
}

// agreedOn says what is wrong where the sides agree on something else.
func agreedOn(a mapping.Attribute, github, planning string, version int64) func(work) string {
	return func(w work) string {
		want := mapping.Base{GitHub: github, Planning: planning, Version: version}
		if base, ok := w.pair.Base[a]; !ok || base != want {
			return fmt.Sprintf("on the %s the sides agree on %+v (%t), want %+v", a, base, ok, want)
		}
		return ""
	}
}

// notAgreedOn says what is wrong where the sides agree on an attribute.
func notAgreedOn(a mapping.Attribute) func(work) string {
	return func(w work) string {
		if base, ok := w.pair.Base[a]; ok {
			return fmt.Sprintf("on the %s the sides agree on %+v", a, base)
		}
		return ""
	}
}

// tells says what is wrong where the history has other lines.
func tells(lines ...string) func(work) string {
	return func(w work) string {
		var got []string
		for _, e := range w.history {
			got = append(got, e.What)
		}
		if !slices.Equal(got, lines) {
			return fmt.Sprintf("the history tells %q, want %q", got, lines)
		}
		return ""
	}
}

// is says what is wrong where something does not hold.
func is(what string, holds func(work) bool) func(work) string {
	return func(w work) string {
		if !holds(w) {
			return "not so: " + what
		}
		return ""
	}
}

// knows sets several things that are known.
func knows(what ...func(work)) func(work) {
	return func(w work) {
		for _, know := range what {
			know(w)
		}
	}
}
