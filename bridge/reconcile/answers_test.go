package reconcile_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// raceEach lets people do something right before each of the bridge's next calls
// of that name, one thing a call.
func (w *world) raceEach(name string, do ...func()) {
	w.beforeEach(name, func(n int, _ func(fate)) {
		if n <= len(do) {
			do[n-1]()
		}
	})
}

// decideBy makes p the route's policy from now on.
func (w *world) decideBy(p mapping.Policy) {
	w.route.DefaultPolicy = p
	w.restart()
}

// A service answers version conflicts as if they were successes. People change
// the card twice, each time right before a write: no value counts as written
// that is not there.
func TestConflictsAnsweredAsSuccesses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy mapping.Policy
		person mapping.Attribute   // the person's change in planning
		github []mapping.Attribute // the change on GitHub
		want   values
	}{
		"a title beside a summary that moves":     {mapping.PolicyGitHub, mapping.Summary, []mapping.Attribute{mapping.Title, mapping.Summary}, values{mapping.Title: "tok8", mapping.Summary: "tok7"}},
		"a summary beside a title that moves":     {mapping.PolicyGitHub, mapping.Title, []mapping.Attribute{mapping.Title, mapping.Summary}, values{mapping.Title: "tok8", mapping.Summary: "tok7"}},
		"a title that moves":                      {mapping.PolicyGitHub, mapping.Title, []mapping.Attribute{mapping.Title}, values{mapping.Title: "tok8"}},
		"a title that moves, and planning's wins": {mapping.PolicyPlanning, mapping.Title, []mapping.Attribute{mapping.Title}, values{mapping.Title: "tok5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(c.policy)
				w.agree()
				w.plan.succeeds = true
				w.raceEach("UpdateCard",
					func() { w.rewriteCard(c.person, "tok5") },
					func() { w.rewriteCard(c.person, "tok6") },
				)
				for _, a := range c.github {
					w.rewriteIssue(a, map[mapping.Attribute]string{mapping.Title: "tok8", mapping.Summary: "tok7"}[a])
				}
				w.settle()
				w.verify(ends{want: c.want, conflicts: 3})
			})
		})
	}
}

// An answer leaves attributes out. A value that it does not show is not known to be written.
func TestAnswerShowsSomeAttributes(t *testing.T) {
	t.Parallel()
	for name, shows := range map[string]func(mapping.Attribute) bool{
		"the summary alone": func(a mapping.Attribute) bool { return a == mapping.Summary },
		"the title alone":   func(a mapping.Attribute) bool { return a == mapping.Title },
		"nothing":           func(mapping.Attribute) bool { return false },
	} {
		for fate, moves := range map[string]bool{"written": false, "refused": true} {
			t.Run(name+", "+fate, func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.decideBy(mapping.PolicyGitHub)
					w.agree()
					w.plan.succeeds, w.plan.shows = true, shows
					if moves {
						w.raceEach("UpdateCard", func() { w.rewriteCard(mapping.Summary, "tok5") })
					}
					w.rewriteIssue(mapping.Title, "tok8")
					w.rewriteIssue(mapping.Summary, "tok7")
					w.settle()
					w.verify(ends{want: values{mapping.Title: "tok8", mapping.Summary: "tok7"}, conflicts: 1})
				})
			})
		}
	}
}

// An answer shows nothing, and before the card is read a person puts back what stood
// there. That is an edit, and not what was there all along.
func TestAnswerShowsNothingAndAPersonGoesBack(t *testing.T) {
	t.Parallel()
	for policy, want := range map[mapping.Policy]string{mapping.PolicyPlanning: "tok1", mapping.PolicyGitHub: "tok8"} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(policy)
				w.agree()
				w.plan.shows = func(mapping.Attribute) bool { return false }
				w.raceEach("UpdateCard", func() {
					w.raceEach("Card", func() { w.rewriteCard(mapping.Title, "tok1") })
				})
				w.rewriteIssue(mapping.Title, "tok8")
				w.settle()
				w.verify(ends{want: values{mapping.Title: want}, conflicts: 1, also: func(w *world) {
					if n := len(w.hub.issues[0].comments); n != 1 {
						w.fail("%d comments keep what lost", n)
					}
				}})
			})
		})
	}
}

// TestOpenedWithoutItsLabels: the answer to a create is lost, and the event of the issue's opening
// came before its labels. They are not taken to be refused: a person's edit of one counts.
func TestOpenedWithoutItsLabels(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.hub.lag = func(int) time.Duration { return -1 }
		w.befall("CreateIssue", answerLost, func() {
			w.faults.then = func() {
				w.faults.then = nil
				bare := w.issue().snapshot(bot)
				bare.Labels, bare.Delivery = nil, "1:opened"
				ref := mapping.CardRef(w.card().ID)
				w.observe(store.Observation{
					Refs: []mapping.Ref{ref}, Item: mapping.IssueRef(bare.ID), At: bare.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&bare), Data: encode(bare),
				}, nil)
				w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = []string{"points/5", "bucket:Incoming"} })
			}
		})
		mirrored(w)
		w.settle()
		w.lookAtAll()
		w.settle()
		if e := w.card().Estimate; e.Value != "5" {
			w.fail("the card's estimate is %q", e.Value)
		}
	})
}

// TestAQuestionThatIsNotPutEnds: a question was in the ledger, and the answer to its comment was
// lost. Whichever values are there afterwards, no question stays open without being asked.
func TestAQuestionThatIsNotPutEnds(t *testing.T) {
	t.Parallel()
	answers := func(w *world) {
		for _, c := range w.conflicts() {
			c.State, c.Winner, c.Rule = mapping.ConflictAnswered, mapping.GitHub, "olivia chose github"
			w.check(w.store.PutConflict(context.Background(), c))
		}
	}
	for name, meanwhile := range map[string]func(*world){
		"the sides are made equal":                        func(w *world) { w.rewriteIssue(mapping.Title, "tok9") },
		"an edit is taken back":                           func(w *world) { w.rewriteIssue(mapping.Title, "tok1") },
		"other values meet":                               func(w *world) { w.rewriteIssue(mapping.Title, "tok7") },
		"other values meet, twice":                        func(w *world) { w.rewriteIssue(mapping.Title, "tok7"); w.rewriteCard(mapping.Title, "tok6") },
		"the policy is another one":                       func(w *world) { w.decideBy(mapping.PolicyGitHub) },
		"an operator answers":                             answers,
		"an operator answers, and the policy is planning": func(w *world) { answers(w); w.decideBy(mapping.PolicyPlanning) },
	} {
		for _, f := range []fate{lost, answerLost, crashBefore, crashAfter} {
			t.Run(name+", "+string(f), func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.decideBy(mapping.PolicyAsk)
					w.agree()
					w.befall("CreateComment", f, func() {})
					w.rewriteIssue(mapping.Title, "tok8")
					w.rewriteCard(mapping.Title, "tok9")
					w.stepUntil(time.Now().Add(time.Hour), func() bool { return w.faults.fired })
					meanwhile(w)
					w.settle()
					asked := w.link().Questions()
					for _, c := range w.conflicts() {
						if open := c.State == mapping.ConflictOpen; open != slices.Contains(asked, c.ID) || c.State == mapping.ConflictAnswered {
							w.fail("conflict %s is %s, asked are %v", c.ID, c.State, asked)
						}
						if strings.HasPrefix(name, "an operator answers") && (c.Winner != mapping.GitHub || !strings.Contains(c.Rule, "olivia")) {
							w.fail("%s won: %s", c.Winner, c.Rule)
						}
					}
					if title := w.card().Title.Value; strings.HasPrefix(name, "an operator answers") && len(w.conflicts()) > 0 && title != "tok8" {
						w.fail("the card's title is %q", title)
					}
					if labelled := slices.Contains(w.issue().Labels, "plan:conflict"); labelled != (len(asked) > 0) {
						w.fail("labels %v, asked are %v", w.issue().Labels, asked)
					}
				})
			})
		}
	}
}
