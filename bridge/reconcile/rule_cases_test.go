package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// noon is the time of the claims of these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// process is what these tests say of the process: whose account is whose, and what is paused.
type process struct{ paused, down bool }

func (process) Authorship(login string) mapping.Authorship {
	return map[string]mapping.Authorship{"bridge": mapping.Named}[login]
}
func (process) Stranger(string) bool           { return false }
func (process) SameRendering(a, b string) bool { return a == b }
func (process) FirstRun(string) time.Time      { return noon.Add(-time.Hour) }
func (p process) Paused(string) bool           { return p.paused }
func (p process) Down(string) bool             { return p.down }
func (process) LeaseTTL() time.Duration        { return time.Minute }

// ruleCase is one outcome of a rule, which is asked about a linked pair of acme/web#12 and its card,
// agreed on in all that a card has, with its tracking task.
type ruleCase struct {
	name    string
	route   func(*mapping.Route)
	link    func(*mapping.Link)
	process process
	set     func(*Settings)
	known   func(work) // what else is known by then
	// answers has the answer to each kind of effect that is asked for: a value or an error.
	answers map[string]any
	want    verdict
	err     string            // what its error says; "": there is none
	asked   []string          // the effects, without lines of the log
	check   func(work) string // what is wrong then; "": nothing
}

func (c *ruleCase) work() work {
	route := mapping.Route{
		Name: "web", Project: "p", Repositories: []string{"acme/web"}, Bucket: "Incoming", Direction: mapping.Both, TrackingTask: true,
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
	set := &Settings{Routes: mapping.NewRoutes([]mapping.Route{route}), Scheme: mapping.LabelScheme{Prefix: "plan:"}, Quiet: time.Minute}
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
			w := c.work()
			var asked []string
			w.yield = func(s *Step) bool {
				kind := strings.TrimPrefix(fmt.Sprintf("%T", s.Effect), "reconcile.")
				s.Now = noon
				if kind == "Say" {
					s.Answer(None{}, nil)
					return true
				}
				asked = append(asked, kind)
				answer, known := c.answers[kind]
				if err, failed := answer.(error); failed {
					s.Answer(nil, err)
					return true
				}
				if !known {
					t.Errorf("it asks for %+v", s.Effect)
				}
				s.Answer(answer, nil)
				return known
			}
			v, err := rule(w)
			if says := fmt.Sprint(err); v != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(says, c.err) {
				t.Errorf("the verdict is %d, %v; want %d, %q", v, err, c.want, c.err)
			}
			if !slices.Equal(asked, c.asked) {
				t.Errorf("it asked for %v, want %v", asked, c.asked)
			}
			if c.check != nil {
				if wrong := c.check(w); wrong != "" {
					t.Error(wrong)
				}
			}
		})
	}
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
