package randomtest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// The winner of a conflict, by a reference that knows nothing of the bridge: the route's policy,
// what operators answered, and when people really wrote.

// met is an entry of the conflict ledger.
type met struct {
	number           int // of the issue
	attribute        mapping.Attribute
	github, planning string
	winner           string // "": nobody decided
	rule             string // by which, as the bridge says
	state            string
	at               time.Time
	policy           string
	answers          []string // of operators
	undone           bool     // operators asked for it
	mayUndo          bool     // they did, and may have parted the pair before it was done
}

// secondsApart is how far two edits lie apart before anybody can tell which was later:
// GitHub's times have whole seconds.
const secondsApart = time.Second

// winners complains of conflicts of a pair that another side should have won.
func (j *judging) winners(s seen, i *seenIssue, c *seenCard) {
	for _, m := range s.ledger {
		if m.number == i.number && m.winner != "" && !(s.forgotten && m.before(i.past[m.attribute])) {
			if why := m.wrong(s, i.past[m.attribute], c.everWas(m.attribute)); why != "" {
				j.complain(i, c, "%s won the conflict of %s between GitHub's %q and planning's %q (%s, %s, %s), though %s", m.winner, m.attribute, m.github, m.planning, m.at.Format(time.TimeOnly), m.state, m.rule, why)
			}
		}
	}
}

// before reports whether the bridge wrote one value over the other before they were in the ledger.
// It may have done so before the store was lost.
func (m *met) before(hub []write) bool {
	return slices.ContainsFunc(hub, func(w write) bool {
		return !w.person && w.at.Before(m.at) && mapping.Equal(m.attribute, w.from, m.github) && mapping.Equal(m.attribute, w.to, m.planning)
	})
}

// wrong says why another side should have won; "": the right one did.
func (m *met) wrong(s seen, hub, planning []write) string {
	policy := m.policy
	if leader := leaderOf(s.way); leader != "" {
		if m.winner != leader {
			return "the route only goes " + string(s.way)
		}
		return ""
	}
	said := func(past []write, person bool) bool {
		return slices.ContainsFunc(past, func(w write) bool {
			return w.at.Before(m.at) && (w.person || !person) && mapping.Equal(m.attribute, w.to, m.planning)
		})
	}
	words := m.attribute.Spec().HasHistory() && // which nobody writes twice, unlike a state, but an undo
		!slices.ContainsFunc(s.broughtBack(m.number)[m.attribute], func(value string) bool { return mapping.Equal(m.attribute, value, m.planning) })
	// Without the store, what the bridge wrote to planning is a value as any other.
	if !said(planning, false) || words && !s.forgotten && said(hub, true) && !said(planning, true) {
		policy = "newest" // two edits of GitHub met, as a write of the bridge ran over the first
		planning = hub
	}
	switch policy {
	case "github", "planning":
		if m.winner != policy {
			return "the policy is " + policy
		}
	case "merge": // mergeable edits are no conflict
		if m.winner != "planning" {
			return "where it does not merge, planning wins"
		}
	case "ask":
		if !slices.Contains(m.answers, m.winner) {
			return fmt.Sprintf("operators answered %q", m.answers)
		}
	case "newest":
		g, p := m.wrote(hub, m.github), m.wrote(planning, m.planning)
		earlier := m.winner == "github" && p.Sub(g) > secondsApart || m.winner == "planning" && g.Sub(p) > secondsApart
		if !g.IsZero() && !p.IsZero() && earlier && !slices.Contains(m.answers, m.winner) {
			return fmt.Sprintf("a person wrote GitHub's at %s and planning's at %s", g.Format(time.TimeOnly), p.Format(time.TimeOnly))
		}
	}
	return ""
}

// wrote is when a person wrote a value last, before it met the other side's; zero: never.
func (m *met) wrote(past []write, value string) (at time.Time) {
	for _, w := range past {
		if w.person && w.at.Before(m.at) && mapping.Equal(m.attribute, w.to, value) {
			at = w.at
		}
	}
	return at
}

// ledger asks a bridge for its conflicts of a repository.
func (c *chaos) ledger(of string) (all []met, err error) {
	if c.sim == nil {
		return nil, nil
	}
	policies, err := policiesOf(c.route)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), bridgetest.Patience)
	defer cancel()
	var known status.Conflicts
	if err := c.bridges[0].(*virtual).Ask(ctx, http.MethodGet, "/api/v1/conflicts?limit=10000", nil, &known); err != nil {
		return nil, err
	}
	for _, one := range known.Conflicts {
		if strings.HasPrefix(one.Where, elsewhere+"#") {
			continue // nobody is there
		}
		m := met{
			attribute: mapping.Attribute(one.Attribute), github: one.GitHub, planning: one.Planning, winner: one.Winner, rule: one.Rule, state: one.State, at: one.At,
			policy: policies(one.Attribute), answers: c.sim.answersTo(one.ID),
		}
		if c.links != nil {
			where, asked := c.links.undone[one.ID]
			m.undone, m.mayUndo = where != "", asked
		}
		repository, number, _ := strings.Cut(one.Where, "#")
		if m.number, err = strconv.Atoi(number); err != nil {
			return nil, fmt.Errorf("a conflict of %q: %w", one.Where, err)
		}
		if repository != of {
			continue
		}
		all = append(all, m)
	}
	return all, nil
}

// policiesOf reads the policies of a route's settings, by attribute.
func policiesOf(route string) (func(attribute string) string, error) {
	of := map[string]string{}
	for line := range strings.Lines(route) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "conflicts: {")
		if !ok {
			continue
		}
		for one := range strings.SplitSeq(strings.TrimSuffix(text, "}"), ", ") {
			name, policy, ok := strings.Cut(one, ": ")
			if !ok {
				return nil, fmt.Errorf("policy %q", one)
			}
			of[name] = policy
		}
	}
	return func(attribute string) string {
		for _, name := range []string{attribute, "default"} {
			if policy := of[name]; policy != "" {
				return policy
			}
		}
		return "merge"
	}, nil
}

// overrunWithin is how old a read may be when the write that it allowed is made.
const overrunWithin = 5 * time.Second

// overrun reports whether the write of a state ran over a state that a person set on GitHub.
// Another person had set the written state in planning. GitHub has no lock, and reports the
// replaced value only for titles and texts.
func overrun(i *seenIssue, c *seenCard, w write) bool {
	hub, planning := i.past[mapping.State], c.past[mapping.State]
	return slices.Contains(hub, w) && slices.ContainsFunc(hub, func(o write) bool {
		return !o.person && !o.at.Before(w.at.Truncate(time.Second)) && o.at.Sub(w.at) <= overrunWithin &&
			slices.ContainsFunc(planning, func(p write) bool { return p.person && p.to == o.to })
	})
}

func TestJudgeKnowsTheWinner(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	hub := []write{{to: "one", person: true, at: at}, {to: "two", at: at.Add(time.Minute)}, {to: "three", person: true, at: at.Add(time.Minute)}, {to: "four", person: true, at: at.Add(time.Minute)}}
	planning := []write{{to: "other", person: true, at: at.Add(5 * time.Second)}, {to: "four", at: at.Add(time.Minute)}}
	for name, c := range map[string]struct {
		of     met
		want   string // "": it won rightly
		before []met
	}{
		"planning, planning won":          {of: met{policy: "planning", winner: "planning"}},
		"planning, GitHub won":            {of: met{policy: "planning", winner: "github"}, want: "the policy is"},
		"GitHub, planning won":            {of: met{policy: "github", winner: "planning"}, want: "the policy is"},
		"merge, GitHub won":               {of: met{policy: "merge", winner: "github"}, want: "planning wins"},
		"ask, as answered":                {of: met{policy: "ask", winner: "github", answers: []string{"github"}}},
		"ask, not as answered":            {of: met{policy: "ask", winner: "github", answers: []string{"planning"}}, want: "operators answered"},
		"newest, the later":               {of: met{policy: "newest", winner: "planning"}},
		"newest, the earlier":             {of: met{policy: "newest", winner: "github"}, want: "a person wrote"},
		"newest, the earlier as answered": {of: met{policy: "newest", winner: "github", answers: []string{"github"}}},
		"newest, a text of nobody":        {of: met{policy: "newest", winner: "github", planning: "nobody's"}},
		"two edits of GitHub, the later":  {of: met{policy: "github", winner: "planning", planning: "three"}},
		"two edits of GitHub, the first":  {of: met{policy: "planning", winner: "github", planning: "three"}, want: "a person wrote"},
		"an edit of GitHub that an undo brought back": {
			of: met{policy: "planning", winner: "planning", planning: "four"}, before: []met{{attribute: mapping.Title, github: "four", planning: "x", winner: "planning", undone: true}},
		},
		"two edits of GitHub, synced": {of: met{policy: "github", winner: "planning", planning: "four"}},
		"the first of them, synced":   {of: met{policy: "planning", winner: "github", planning: "four"}, want: "a person wrote"},
	} {
		m := c.of
		m.attribute, m.github, m.at = mapping.Title, "one", at.Add(time.Hour)
		if m.planning == "" {
			m.planning = "other"
		}
		if why := m.wrong(seen{way: mapping.Both, ledger: c.before}, hub, planning); c.want == "" && why != "" || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, want %q", name, why, c.want)
		}
	}
	of, err := policiesOf("tasks: checklist\nconflicts: {default: ask, summary: merge, title: newest}\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := []string{of("title"), of("summary"), of("state")}; !slices.Equal(got, []string{"newest", "merge", "ask"}) {
		t.Errorf("policies %q", got)
	}
}

// TestJudgeKnowsLabelsThatMetAWrite: a person's state in planning reopens an issue. In that moment
// another person puts the label on it, and both sides are in progress.
func TestJudgeKnowsLabelsThatMetAWrite(t *testing.T) {
	for name, c := range map[string]struct {
		before time.Duration // the bridge's write
		byAPI  bool          // the bridge put it on
		want   string        // "": nothing is wrong
	}{
		"in that moment":       {before: time.Second},
		"long before":          {before: 2 * overrunWithin, want: "lost state"},
		"by the bridge itself": {before: time.Second, byAPI: true, want: "lost state"},
	} {
		t.Run(name, func(t *testing.T) {
			judgeAgreed(t, func(s *seen) {
				i, card := &s.issues[0], &s.cards[0].seenItem
				person(card, mapping.State, mapping.StateTodo, mapping.StateDone)
				person(card, mapping.State, mapping.StateDone, mapping.StateTodo)
				todo := card.past[mapping.State][2].at
				card.past[mapping.State] = append(card.past[mapping.State], write{from: mapping.StateTodo, to: mapping.StateInProgress, at: todo.Add(2 * time.Minute)})
				reopened := todo.Add(time.Minute)
				states := []githubtest.Value{{Value: "open", Time: i.past[mapping.State][0].at, Order: 1}, {Value: "closed/completed", ByAPI: true, Time: todo, Order: 2}, {Value: "open", ByAPI: true, Time: reopened, Order: 4}}
				i.past[mapping.State], i.met = hubStates(states, []githubtest.Value{{Value: chaosScheme.InProgress, ByAPI: c.byAPI, Time: reopened.Add(-c.before), Order: 3}})
				i.now[mapping.State], card.now[mapping.State] = mapping.StateInProgress, mapping.StateInProgress
			}, c.want)
		})
	}
}
