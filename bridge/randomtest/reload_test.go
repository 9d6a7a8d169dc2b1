package randomtest_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// Reloads of the configuration in the random run: for a while it has a route for another repository
// in place of the route. The law for it: nothing is written.

// elsewhere is the repository of the other route. People do nothing there.
const elsewhere = "acme/elsewhere"

// reloadKnown is how long after a reload something may still be written. The keys in hand are
// finished, and a request whose answer was lost may take effect so late.
const reloadKnown = 2*chaosSettle + time.Second

// unroutedBefore is how long before a reload something may have been made that was not taken yet.
const unroutedBefore = 3 * time.Second

// reloads are the times without the route.
type reloads struct {
	*turn
	spells []span
}

// drawReloads says whether operators reload the configuration in the run.
func (c *chaos) drawReloads() {
	if one := c.trait(40); one != nil {
		c.reloads = &reloads{turn: one}
	}
}

// reloading takes the route away and gives it back by turns. As people stop, it may be
// either.
func (c *chaos) reloading(ctx context.Context) {
	if c.reloads == nil {
		return
	}
	for c.rests(ctx, c.reloads.Rand, 0, 10*time.Second) {
		c.reload(true)
		if !pause(ctx, c.reloads.Rand, reloadKnown, reloadKnown+5*time.Second) {
			return
		}
		c.endReload()
	}
}

// reload has each bridge take another configuration; those that are started later read it.
func (c *chaos) reload(away bool) {
	text := "gives the route back"
	if away {
		text = "takes the route away"
		c.reloads.spells = append(c.reloads.spells, span{from: time.Now()})
	}
	c.sim.away.Store(away)
	c.people.did(nil, "operator: %s", text)
	for _, p := range c.bridges {
		if err := p.(*virtual).reload(context.Background()); err != nil {
			c.t.Errorf("reload: %v", err)
		}
	}
}

// endReload gives the route back, if it is away.
func (c *chaos) endReload() {
	if c.reloads == nil || !c.sim.away.Load() {
		return
	}
	c.reloads.spells = ended(c.reloads.spells, time.Now())
	c.reload(false)
}

// unpolled are the ends of the times with the route, from the last listing on. A card that no poll
// showed by then is old when the route is back.
func unpolled(spells []span, calls []planningtest.Call) (all []span) {
	for _, s := range spells {
		end := span{to: s.from}
		for _, call := range calls {
			if isListing(call) && call.Time.Before(s.from) {
				end.from = call.Time
			}
		}
		all = append(all, end)
	}
	return all
}

// cardsElsewhere are the cards that entered by the other route, or may have: their pairs rest. An
// issue may be made at any time by a request that is not answered.
func (c *chaos) cardsElsewhere() map[string]bool {
	out := map[string]bool{}
	names := func(text string) {
		_, marks := c.keys.Body(text)
		for _, m := range marks {
			out[m.Partner] = true
		}
	}
	for _, i := range c.GitHub.Repo(elsewhere).Issues() {
		names(i.Body)
	}
	for _, call := range c.GitHub.Journal() {
		var asked struct{ Body string }
		if call.Op == "issue.create" && call.Repo == elsewhere && json.Unmarshal([]byte(call.Body), &asked) == nil {
			names(asked.Body)
		}
	}
	return out
}

// takenElsewhere reports whether the other route may have made a second issue of a card after the store
// was lost: no task of the card names the first one. Of a task it reports the same of its card.
func (s seen) takenElsewhere(c *seenCard) bool {
	return s.forgotten && s.way == mapping.ToGitHub && (s.others[c.id] || s.others[c.of])
}

// secondPoll is some time after the second listing from a time on; zero: there is none. The first
// listing may belong to a round that began before.
func secondPoll(calls []planningtest.Call, from time.Time) time.Time {
	calls = slices.DeleteFunc(slices.Clone(calls), func(call planningtest.Call) bool {
		return !isListing(call) || call.Time.Before(from)
	})
	if len(calls) < 2 {
		return time.Time{}
	}
	return calls[1].Time.Add(time.Second)
}

// isListing reports whether a call is a complete listing of the backlog.
func isListing(call planningtest.Call) bool {
	return call.Op == planningtest.OpBacklogItems && call.Status == http.StatusOK && call.Fault == ""
}

// unrouted reports whether an item was made when it may not have been taken any more.
func (s seen) unrouted(made time.Time) bool {
	return outside(s.away, made)
}

// whileAway complains of what was written while no bridge had the route.
func (c *chaos) whileAway() (all []complaint) {
	if c.reloads == nil {
		return nil
	}
	unsure := unansweredCreates(c.GitHub.Journal(), c.keys)
	calls := slices.DeleteFunc(c.GitHub.Journal(), func(call githubtest.Call) bool {
		_, marks := c.keys.Body(c.Repo.Issue(call.Number).Body)
		goesOn := slices.ContainsFunc(marks, func(m mapping.Marker) bool { return unsure[m.Nonce] })
		return goesOn || c.cleansIssue(call)
	})
	return writtenIn(c.reloads.spells, reloadKnown, calls, func(call githubtest.Call) string {
		return "written without the route: " + call.Op + " " + call.Path
	})
}

// unansweredCreates are the nonces of the issues whose last create got no answer. Where the route goes
// then, the pair goes on under the route that takes its card (docs/limits.md).
func unansweredCreates(calls []githubtest.Call, keys mapping.Keys) map[string]bool {
	out := map[string]bool{}
	for _, call := range calls {
		var asked struct{ Body string }
		if call.Op != "issue.create" || json.Unmarshal([]byte(call.Body), &asked) != nil {
			continue
		}
		_, marks := keys.Body(asked.Body)
		for _, m := range marks {
			out[m.Nonce] = call.Fault != "" && call.Fault != "delay"
		}
	}
	return out
}

// writtenIn complains of the writes to the route's repository in spells, but for their beginnings.
func writtenIn(spells []span, known time.Duration, calls []githubtest.Call, what func(githubtest.Call) string) (all []complaint) {
	for _, call := range calls {
		in := func(s span) bool { s.from = s.from.Add(known); return s.from.Before(s.to) && s.hasSecond(call.Time) }
		if writesRepo(call) && slices.ContainsFunc(spells, in) {
			all = append(all, complaint{issue: call.Number, what: what(call)})
		}
	}
	return all
}

// TestCardsBeforeTheSecondPollMayBeOld: a card that is made before the second complete
// listing with the route, or after the last one, may be left alone.
func TestCardsBeforeTheSecondPollMayBeOld(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	poll := func(second int, fault planningtest.FaultKind) planningtest.Call {
		return planningtest.Call{Op: planningtest.OpBacklogItems, Status: http.StatusOK, Fault: fault, Time: at.Add(time.Duration(second) * time.Second)}
	}
	calls := []planningtest.Call{poll(-1, ""), poll(1, ""), poll(2, planningtest.Garbage), poll(3, "")}
	if got, want := secondPoll(calls, at), at.Add(4*time.Second); !got.Equal(want) {
		t.Errorf("the route takes cards from %s on, want %s", got, want)
	}
	if got := secondPoll(calls[:2], at); !got.IsZero() {
		t.Errorf("after one poll the route takes cards from %s on", got)
	}
	want := []span{{at.Add(time.Second), at.Add(3 * time.Second)}}
	if got := unpolled([]span{{want[0].to, at.Add(9 * time.Second)}}, calls); !slices.Equal(got, want) {
		t.Errorf("no poll shows cards in %v, want %v", got, want)
	}
}

// TestWritesWithoutTheRouteAreJudged: a write counts from some time after the reload until
// the next one.
func TestWritesWithoutTheRouteAreJudged(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	spells := []span{{at, at.Add(10 * time.Second)}}
	for second, want := range map[int]int{-1: 0, 4: 0, 6: 1, 9: 1, 10: 0} {
		calls := []githubtest.Call{{Method: "PATCH", Op: "issue.patch", Time: at.Add(time.Duration(second) * time.Second)}}
		if got := writtenIn(spells, 5*time.Second, calls, func(githubtest.Call) string { return "written" }); len(got) != want {
			t.Errorf("second %d: complaints %v, want %d", second, got, want)
		}
	}
}

// TestUnansweredCreatesAreKnown: only a last create without an answer leaves open where the pair goes on.
func TestUnansweredCreatesAreKnown(t *testing.T) {
	keys := mapping.NewKeys([]byte("a key of the test"))
	asked := func(nonce string) string {
		body, err := json.Marshal(map[string]string{"body": keys.AppendComment("a text", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: nonce, Partner: "c"})})
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	got := unansweredCreates([]githubtest.Call{
		{Op: "issue.create", Body: asked("answered")},
		{Op: "issue.create", Body: asked("unanswered"), Fault: "late-effect"},
		{Op: "issue.patch", Body: asked("edited"), Fault: "late-effect"},
		{Op: "issue.create", Body: asked("unanswered once"), Fault: "late-effect"},
		{Op: "issue.create", Body: asked("unanswered once")},
		{Op: "issue.create", Body: asked("answered late"), Fault: "delay"},
		{Op: "issue.create", Body: "{}", Fault: "before"},
	}, keys)
	maps.DeleteFunc(got, func(_ string, unsure bool) bool { return !unsure })
	if len(got) != 1 || !got["unanswered"] {
		t.Errorf("%v, want the one that got no answer", got)
	}
}

func TestJudgeKnowsCardsThatTheOtherRouteTook(t *testing.T) {
	differs := func(s *seen, way mapping.Direction, forgotten bool, cards ...string) {
		s.way, s.forgotten, s.others = way, forgotten, map[string]bool{}
		for _, id := range cards {
			s.others[id] = true
		}
		s.issues[0].own, s.cards[0].tracking = true, map[bool]int{true: 1}[way == ""]
		s.cards[0].now[mapping.Title] = "three"
		person(&s.cards[0].seenItem, mapping.Title, "two", "three")
	}
	const want = "the title differs"
	for name, c := range map[string]struct {
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"the store was lost":                  {func(s *seen) { differs(s, mapping.ToGitHub, true, "c1") }, ""},
		"the store was lost, another card":    {func(s *seen) { differs(s, mapping.ToGitHub, true, "c2") }, want},
		"the store was not lost":              {func(s *seen) { differs(s, mapping.ToGitHub, false, "c1") }, want},
		"its tasks name the issue, both ways": {func(s *seen) { differs(s, "", true, "c1") }, want},
	} {
		t.Run(name, func(t *testing.T) { judgeAgreed(t, c.change, c.want) })
	}
}
