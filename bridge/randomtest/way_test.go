package randomtest_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/mapping"
)

// Routes that go one way in the random run. The law for them: the leading side is as if it were
// alone. People's changes on the other side stay there until the leading side changes.

// trait is the turn in which a trait of the world is drawn. Half of the seeds have no trait, and
// are as they were before there were any. Of the others, percent of a hundred have this one. nil:
// the seed has none.
func (c *chaos) trait(percent int) *turn {
	one := c.turns.next("trait")
	if c.sim == nil || c.plain || one == nil || !one.chance(percent) {
		return nil
	}
	return one
}

// drawPlain says whether the seed has any of the traits.
func (c *chaos) drawPlain() {
	one := c.turns.next("trait")
	c.plain = one == nil || one.chance(50)
}

// oneWay draws the direction of the route.
func (c *chaos) oneWay() string {
	one := c.trait(40)
	if one == nil {
		return ""
	}
	return "direction: " + []string{"to_planning", "to_github"}[one.IntN(2)] + "\n"
}

// directionOf reads the direction of a route's settings.
func directionOf(route string) mapping.Direction {
	for line := range strings.Lines(route) {
		if way, ok := strings.CutPrefix(strings.TrimSpace(line), "direction: "); ok {
			return mapping.Direction(way)
		}
	}
	return mapping.Both
}

// against lists what the bridge sent to the side that the route's direction spares.
func against(w *bridgetest.World, way mapping.Direction) (calls []string) {
	switch way {
	case mapping.ToPlanning:
		for _, call := range w.GitHub.Journal() {
			if writesGitHub(call) {
				calls = append(calls, call.Op+" "+call.Path+" "+call.Body)
			}
		}
	case mapping.ToGitHub:
		for _, call := range w.Planning.Journal() {
			if slices.Contains(planningWrites, call.Op) {
				calls = append(calls, call.Op+" "+call.Path+" "+call.Body)
			}
		}
	}
	return calls
}

// writesGitHub reports whether a call changes what people see.
func writesGitHub(call githubtest.Call) bool {
	return call.Method != http.MethodGet && call.Op != "graphql" && call.Op != "delivery.redeliver"
}

// writesRepo reports whether a call changes what people see in the route's repository.
func writesRepo(call githubtest.Call) bool {
	return writesGitHub(call) && !strings.HasPrefix(call.Path, "/repos/"+elsewhere+"/")
}

// spared complains of what was sent to the side that leads.
func (j *judging) spared(s seen) {
	for _, call := range s.against {
		j.complain(nil, nil, "the route only goes %s, and the bridge sent %s", s.way, call)
	}
}

// leaderOf is the side that leads; "": none does.
func leaderOf(way mapping.Direction) string {
	switch way {
	case mapping.ToPlanning:
		return "github"
	case mapping.ToGitHub:
		return "planning"
	}
	return ""
}

// trackings is how many tracking tasks a linked card has.
func (j *judging) trackings() int {
	if j.way == mapping.ToGitHub {
		return 0
	}
	return 1
}

// leads is a pair's value of an attribute on the leading side, with all values that it had on the
// other one. The result ok says that there is such a side.
func (j *judging) leads(a mapping.Attribute, i *seenIssue, c *seenCard) (leader string, follower []write, ok bool) {
	switch j.way {
	case mapping.ToPlanning:
		return i.now[a], c.past[a], true
	case mapping.ToGitHub:
		return c.now[a], i.past[a], true
	}
	return "", nil, false
}

// stays reports whether a value that differs from the leading side's may stay. It is a person's
// edit, on the side that follows, of a value that this side had been given.
func (j *judging) stays(a mapping.Attribute, i *seenIssue, c *seenCard) bool {
	leader, follower, ok := j.leads(a, i, c)
	if !ok {
		return false
	}
	if a == mapping.State && j.way == mapping.ToGitHub {
		return true // nobody makes a tracking task
	}
	if a == mapping.Estimate && leader == "" {
		return true // planning cannot clear one
	}
	if a == mapping.Estimate && j.way == mapping.ToPlanning && formatted(greatest(leader)) == c.now[a] {
		return true // beside it stands one that nobody takes off
	}
	if a == mapping.Estimate && j.way == mapping.ToPlanning { // of several labels the greatest counts
		leader = formatted(greatest(leader))
	}
	byPerson := false
	for n, w := range slices.Backward(follower) {
		if mapping.Equal(a, plainBullets(w.to), plainBullets(leader)) {
			ranOver := n > 0 && n < len(follower)-1 && follower[n-1].person // and was merged with it since
			return byPerson || ranOver
		}
		byPerson = byPerson || w.person || slices.ContainsFunc(j.brought[a], func(v string) bool {
			return mapping.Equal(a, plainBullets(v), plainBullets(w.to))
		})
	}
	return false
}

// greatest is the greatest of numbers that are joined by commas.
func greatest(list string) (most float64) {
	for text := range strings.SplitSeq(list, ",") {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// staysItem is stays for a line of a checklist, or its task. On the side that follows it was there,
// and people change its text and whether it is done.
func (j *judging) staysItem(l listLine, i *seenIssue, c *seenCard, onGitHub bool) bool {
	leads, follower := j.way == mapping.ToPlanning, c.list
	if !onGitHub {
		leads, follower = j.way == mapping.ToGitHub, i.list
	}
	if j.way == mapping.Both || j.way == "" {
		return false
	}
	return !leads || slices.ContainsFunc(follower.past, func(w write) bool { return saysItem(w.to, l.text) })
}

// saysItem reports whether a body, or the title of a task, says an item's text.
func saysItem(text, item string) bool {
	return mapping.CanonicalTitle(text) == item || slices.ContainsFunc(mapping.Items(text), func(i mapping.Item) bool {
		return mapping.ItemView(i)[mapping.Title].Value == item
	})
}

// overruled are the texts of the side that follows which the ledger keeps, where nothing
// may be said on the issue.
func (j *judging) overruled(s seen, i *seenIssue) {
	if j.way != mapping.ToPlanning {
		return
	}
	for _, m := range s.ledger {
		if m.number == i.number {
			i.ledgered = append(i.ledgered, keptTexts{attribute: m.attribute, texts: []string{m.github, m.planning}})
		}
	}
}

// undoneOnGitHub brings back the title of the issue that lost a conflict.
func undoneOnGitHub(s *seen, asked bool) {
	i := &s.issues[0]
	i.own, i.marks = true, []mapping.Marker{{Kind: mapping.MarkIssue, Partner: "c1"}}
	at := time.Unix(1_700_001_000, 0)
	i.past[mapping.Title] = []write{{to: "two", at: at}, {from: "two", to: "octocat's", at: at.Add(time.Minute)}}
	i.now[mapping.Title] = "octocat's"
	s.cards[0].tracking, s.cards[0].own, s.cards[0].marks = 0, false, nil
	s.ledger = []met{{number: 1, attribute: mapping.Title, github: "octocat's", planning: "two", winner: "planning", policy: "planning", mayUndo: asked}}
}

func TestJudgeKnowsTheDirection(t *testing.T) {
	for name, c := range map[string]struct {
		way    mapping.Direction
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"to planning, as it is": {mapping.ToPlanning, func(*seen) {}, ""},
		"to planning, a person's title stays": {mapping.ToPlanning, func(s *seen) {
			person(&s.cards[0].seenItem, mapping.Title, "two", "alice's")
			s.cards[0].now[mapping.Title] = "alice's"
		}, ""},
		"to planning, the leader's title never came": {mapping.ToPlanning, func(s *seen) {
			person(&s.issues[0].seenItem, mapping.Title, "two", "octocat's")
			s.issues[0].now[mapping.Title] = "octocat's"
		}, "the title differs"},
		"to planning, a person's card":    {mapping.ToPlanning, func(s *seen) { s.cards = append(s.cards, seenCard{id: "c2", bucket: bridgetest.Bucket}) }, ""},
		"to planning, GitHub was written": {mapping.ToPlanning, func(s *seen) { s.against = []string{"issue.patch"} }, "only goes to_planning"},
		"to planning, overruled and in the ledger": {mapping.ToPlanning, func(s *seen) {
			person(&s.cards[0].seenItem, mapping.Title, "one", "alice's")
			s.ledger = []met{{number: 1, attribute: mapping.Title, github: "two", planning: "alice's", winner: "github", policy: "planning"}}
		}, ""},
		"to planning, overruled and gone": {mapping.ToPlanning, func(s *seen) { person(&s.cards[0].seenItem, mapping.Title, "one", "alice's") }, "lost title"},
		"to planning, planning won": {mapping.ToPlanning, func(s *seen) {
			person(&s.cards[0].seenItem, mapping.Title, "one", "two")
			s.ledger = []met{{number: 1, attribute: mapping.Title, github: "one", planning: "two", winner: "planning", policy: "planning"}}
		}, "only goes to_planning"},
		"to GitHub, a person's issue": {mapping.ToGitHub, func(s *seen) {
			s.issues[0].own, s.issues[0].marks = true, []mapping.Marker{{Kind: mapping.MarkIssue, Partner: "c1"}}
			s.cards[0].tracking, s.cards[0].own, s.cards[0].marks = 0, false, nil
			s.issues = append(s.issues, seenIssue{number: 2, id: 12})
		}, ""},
		"to GitHub, a tracking task":                                  {mapping.ToGitHub, func(*seen) {}, "1 tracking tasks"},
		"to GitHub, an undo that was done before the pair was parted": {mapping.ToGitHub, func(s *seen) { undoneOnGitHub(s, true) }, ""},
		"to GitHub, as no undo was asked for":                         {mapping.ToGitHub, func(s *seen) { undoneOnGitHub(s, false) }, "the title differs"},
	} {
		t.Run(name, func(t *testing.T) {
			s := agreed()
			s.way = c.way
			c.change(&s)
			var got []string
			for _, one := range judge(s) {
				got = append(got, one.what)
			}
			if all := strings.Join(got, "\n"); c.want == "" && all != "" || !strings.Contains(all, c.want) {
				t.Errorf("complaints %q, want %q", all, c.want)
			}
		})
	}
}

// formatted is a number as estimates are spelt.
func formatted(f float64) string {
	return mapping.CanonicalNumber(strconv.FormatFloat(f, 'f', 6, 64))
}
