package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

func TestFirstSight(t *testing.T) {
	without := func(as ...mapping.Attribute) func(*mapping.Link) {
		return func(l *mapping.Link) {
			for _, a := range as {
				delete(l.Base, a)
			}
		}
	}
	both := func(a mapping.Attribute) func(work) {
		return func(w work) { w.g[a], w.p[a] = mapping.Versioned{}, mapping.Versioned{} }
	}
	reads := map[string]any{"ReadIssue": errAway}
	checkRule(t, firstSight, []ruleCase{
		{name: "all was agreed on", want: pass},
		{name: "one was not, and both sides show it", link: without(mapping.Title), known: both(mapping.Title), want: pass},
		{name: "one was not, and neither shows it", link: without(mapping.Title), answers: reads, err: "unavailable", asked: []string{"ReadIssue"}},
		{
			name: "one was not, and GitHub does not show it", link: without(mapping.Title), known: func(w work) { w.p[mapping.Title] = mapping.Versioned{} },
			answers: reads, err: "unavailable", asked: []string{"ReadIssue"},
		},
		{
			name: "one was not, and planning does not show it", link: without(mapping.Title), known: func(w work) { w.g[mapping.Title], w.fresh = mapping.Versioned{}, true },
			answers: map[string]any{"ReadCard": errAway}, err: "unavailable", asked: []string{"ReadCard"},
		},
		{
			name: "one was not, as a side refused it", link: func(l *mapping.Link) {
				without(mapping.Title)(l)
				l.Refused = map[mapping.Attribute]mapping.Refusal{mapping.Title: {Side: mapping.GitHub}}
			}, want: pass,
		},
		{name: "a state was not, and its task carries it", link: without(mapping.State), answers: reads, err: "unavailable", asked: []string{"ReadIssue"}},
		{name: "a state was not, and no task carries it", link: func(l *mapping.Link) { without(mapping.State)(l); l.Children = nil }, want: pass},
		{name: "a state was not, and the route keeps no task", link: without(mapping.State), route: func(r *mapping.Route) { r.TrackingTask = false }, want: pass},
	})
}

func TestMeet(t *testing.T) {
	adopt := func(a mapping.Attribute, github string) func(work) {
		return planned(mapping.Decision{Attribute: a, Action: mapping.Adopt, Base: mapping.Base{GitHub: github}})
	}
	asked, away := []string{"ReadCard"}, map[string]any{"ReadCard": errAway}
	checkRule(t, readPlanning, []ruleCase{
		{name: "nothing is decided", want: pass},
		{name: "both changed to the same", known: adopt(mapping.Title, "new"), answers: away, err: "unavailable", asked: asked},
		{name: "planning was read already", known: func(w work) { adopt(mapping.Title, "new")(w); w.certain = true }, want: pass},
		{name: "a version was counted", known: adopt(mapping.Title, ""), want: pass},
		{
			name: "the same at first sight", link: func(l *mapping.Link) { delete(l.Base, mapping.Title) }, known: adopt(mapping.Title, "new"), want: pass,
		},
		{
			name: "planning changed", want: pass,
			known: planned(mapping.Decision{Attribute: mapping.Title, Action: mapping.ToHub, GitHub: &mapping.Write{To: "new"}, Base: mapping.Base{GitHub: "new"}}),
		},
		{name: "one side changed", known: planned(toPlan(mapping.Title, "old", "new")), want: pass},
	})
}

func TestReadFirst(t *testing.T) {
	title := planned(toHub(mapping.Title, "a", "b"))
	checkRule(t, readFirst, []ruleCase{
		{name: "nothing is written", want: pass},
		{name: "planning is written", known: planned(toPlan(mapping.Title, "a", "b")), want: pass},
		{name: "GitHub is written, and was read", known: func(w work) { title(w); w.fresh = true }, want: pass},
		{
			name: "no budget is left", known: title, answers: map[string]any{"Reserve": &mapping.RateLimited{API: "github", After: time.Minute, Why: "write budget"}},
			want: end, err: "write budget", asked: []string{"Reserve"},
		},
		{
			name: "GitHub is away", known: title, answers: map[string]any{"Reserve": None{}, "ReadIssue": errAway},
			err: "unavailable", asked: []string{"Reserve", "ReadIssue"},
		},
	})
}

func TestAwaitSwap(t *testing.T) {
	removed := planned(toHub(mapping.Estimate, "", "3"))
	agreed := func(l *mapping.Link) { l.Base[mapping.Estimate] = mapping.Base{GitHub: "3", Planning: "3", Version: 1} }
	seen := func(ago time.Duration, plan func(work)) func(work) {
		return func(w work) {
			w.claim.Inbox = map[mapping.Ref]store.Snapshot{mapping.IssueRef(7): {Seen: noon.Add(-ago)}}
			plan(w)
		}
	}
	const why = "an estimate label was removed: another may follow"
	checkRule(t, awaitSwap, []ruleCase{
		{name: "nothing is decided", want: pass},
		{name: "removed just now", link: agreed, known: seen(0, removed), want: end, err: why},
		{name: "removed almost long enough ago", link: agreed, known: seen(time.Minute-1, removed), want: end, err: why},
		{name: "removed long enough ago", link: agreed, known: seen(time.Minute, removed), want: pass},
		{name: "removed, and no event told of it", link: agreed, known: removed, want: pass},
		{name: "there never was one", known: seen(0, removed), want: pass},
		{name: "another one is there", link: agreed, known: seen(0, planned(toHub(mapping.Estimate, "5", "3"))), want: pass},
		{name: "planning gets another one", link: agreed, known: seen(0, planned(toPlan(mapping.Estimate, "3", "5"))), want: pass},
		{
			name: "a title was removed", link: func(l *mapping.Link) { l.Base[mapping.Title] = mapping.Base{GitHub: "t", Planning: "t"} },
			known: seen(0, planned(toHub(mapping.Title, "", "t"))), want: pass,
		},
		{name: "a title is written before it", link: agreed, known: seen(0, planned(toHub(mapping.Title, "a", "b"), toHub(mapping.Estimate, "", "3"))), want: end, err: why},
	})
}

func TestBrakeOnCloses(t *testing.T) {
	closes := planned(toHub(mapping.State, mapping.StateTodo, mapping.StateDone))
	braked := func(s *Settings) { s.Brakes.ClosesPerMinute = 120 }
	take := []string{"Take"}
	checkRule(t, brakeCloses, []ruleCase{
		{name: "nothing is decided", set: braked, want: pass},
		{name: "the issue is closed", set: braked, known: closes, answers: map[string]any{"Take": store.Grant{Items: 1}}, asked: take, want: pass},
		{
			name: "too many were", set: braked, known: closes, answers: map[string]any{"Take": store.Grant{Wait: time.Minute}},
			asked: []string{"Take brake:closes:web"}, counts: []string{"6 web closes"}, err: "the route's brake on closes holds", check: func(w work) string {
				if len(w.braked) != 1 {
					return "nobody is told of the brake"
				}
				return ""
			},
		},
		{name: "the store does not say", set: braked, known: closes, answers: map[string]any{"Take": errAway}, asked: take, err: "brake on closes"},
		{name: "the route has no brake", known: closes, want: pass},
		{name: "the issue is opened", set: braked, known: planned(toHub(mapping.State, mapping.StateDone, mapping.StateTodo)), want: pass},
		{name: "its task is done", set: braked, known: planned(toPlan(mapping.State, mapping.StateTodo, mapping.StateDone)), want: pass},
		{name: "a title says done", set: braked, known: planned(toHub(mapping.Title, "a", mapping.StateDone)), want: pass},
	})
}

func TestWithholdFromThePublic(t *testing.T) {
	title, reads := planned(toHub(mapping.Title, "a", "b")), []string{"ReadPublic"}
	public := map[string]any{"ReadPublic": Publicity{Public: true, Known: true}}
	hides := func(yes bool) func(work) string {
		return func(w work) string {
			if (w.hidden != nil) != yes {
				return "planning's texts are hidden, or shown, against the repository"
			}
			return ""
		}
	}
	checkRule(t, withhold, []ruleCase{
		{name: "nothing is decided", want: pass, check: hides(false)},
		{name: "planning is written", known: planned(toPlan(mapping.Title, "a", "b")), want: pass, check: hides(false)},
		{name: "a private issue is written", known: title, answers: map[string]any{"ReadPublic": Publicity{Known: true}}, asked: reads, want: pass, check: hides(false)},
		{name: "a public issue is", known: title, answers: public, asked: reads, want: anew, check: hides(true)},
		{name: "one that may be public is", known: title, answers: map[string]any{"ReadPublic": Publicity{}}, asked: reads, want: anew, check: hides(true)},
		{name: "a public one, and the route allows it", route: func(r *mapping.Route) { r.AllowPublic = true }, known: title, want: pass, check: hides(false)},
		{name: "a public one gets a comment", known: planned(mapping.Decision{Attribute: mapping.Title, Action: mapping.Ask, Loses: true}), answers: public, asked: reads, want: anew, check: hides(true)},
		{name: "it is hidden already", known: func(w work) { title(w); w.hidden = &publicError{repo: "acme/web"} }, want: pass, check: hides(true)},
	})
}

func TestFoldPlan(t *testing.T) {
	folding := func(side mapping.Side) func(*mapping.Link) {
		return func(l *mapping.Link) {
			l.Pace.Folds = map[mapping.Side]mapping.Fold{side: {Until: noon.Add(5 * time.Second), For: 5 * time.Second}}
		}
	}
	folds := func(s *Settings) { s.Coalesce = 2 * time.Second }
	title := planned(toPlan(mapping.Title, "a", "b"))
	const why = "folds frequent edits until 2026-03-01T12:00:05Z"
	unfinished := func(yes bool) func(work) string {
		return func(w work) string {
			if w.owner.Unfinished != yes {
				return "what was found out is found out anew, or forgotten"
			}
			return ""
		}
	}
	checkRule(t, foldPlan, []ruleCase{
		{name: "the first edit", set: folds, known: title, want: pass, check: unfinished(false)},
		{name: "the next one soon", set: folds, link: folding(mapping.Planning), known: title, err: why, check: unfinished(true)},
		{name: "the next one to the other side", set: folds, link: folding(mapping.GitHub), known: title, want: pass, check: unfinished(false)},
		{name: "one to both sides, of which one may be written", set: folds, link: folding(mapping.Planning), known: planned(toPlan(mapping.Title, "a", "b"), toHub(mapping.Summary, "a", "b")), want: pass},
		{name: "nothing is written", set: folds, link: folding(mapping.Planning), want: pass},
		{name: "edits are not folded", link: folding(mapping.Planning), known: title, want: pass},
		{name: "the next step of a plan", set: folds, link: func(l *mapping.Link) { folding(mapping.Planning)(l); l.Pace.Midway = true }, known: title, want: pass},
		{name: "an operator answered", set: folds, link: folding(mapping.Planning), known: func(w work) { title(w); w.urgent = true }, want: pass},
		{name: "a retry", set: folds, link: folding(mapping.Planning), known: func(w work) { title(w); w.claim.Attempts = 1 }, want: pass},
		{name: "an undo", set: folds, link: func(l *mapping.Link) {
			folding(mapping.Planning)(l)
			l.Undo = map[mapping.Attribute]string{mapping.Title: "c"}
		}, known: title, want: pass},
	})
}

func TestAnnounce(t *testing.T) {
	for name, tt := range map[string]struct {
		dryRun bool
		plan   func(work)
		lines  int
	}{
		"a dry run says each decision":  {true, planned(toHub(mapping.Title, "a", "b"), toPlan(mapping.Summary, "a", "b")), 2},
		"a dry run of nothing":          {true, planned(), 0},
		"what is done needs no promise": {false, planned(toHub(mapping.Title, "a", "b")), 0},
	} {
		c := ruleCase{set: func(s *Settings) { s.DryRun = tt.dryRun }, known: tt.plan}
		w, lines := c.work(), 0
		w.yield = func(s *Step) bool {
			if _, says := s.Effect.(Say); says {
				lines++
			}
			s.Answer(None{}, nil)
			return true
		}
		if v, err := announce(w); v != pass || err != nil || lines != tt.lines {
			t.Errorf("%s: %d lines, %v, %v", name, lines, v, err)
		}
	}
}

func TestCompareAgain(t *testing.T) {
	unbased := func(l *mapping.Link) { delete(l.Base, mapping.Summary) }
	checkRule(t, compareAgain, []ruleCase{
		{name: "nothing was written", want: pass},
		{name: "planning was written", known: planned(toPlan(mapping.Title, "a", "b")), want: anew},
		{name: "GitHub was written", known: planned(toHub(mapping.Title, "a", "b")), want: anew},
		{name: "a label was taken off", known: func(w work) { w.round.writesGitHub = true }, want: anew},
		{name: "the summary has a base now", known: func(w work) { w.round.unbased = true }, want: anew},
		{name: "the summary has none still", link: unbased, known: func(w work) { w.round.unbased = true }, want: pass},
		{name: "only values that both have", known: planned(mapping.Decision{Attribute: mapping.Title, Action: mapping.Adopt}), want: pass},
	})
}

func TestComeToRest(t *testing.T) {
	rests := func(unfinished bool) func(work) string {
		return func(w work) string {
			if !w.pair.Synced.Equal(noon) || w.pair.Pace.Midway || w.owner.Unfinished != unfinished {
				return "the pair does not say that it is in agreement, or what of it is not"
			}
			return ""
		}
	}
	midway := func(l *mapping.Link) { l.Pace.Midway, l.Unfinished = true, true }
	checkRule(t, comeToRest, []ruleCase{
		{name: "in agreement", link: midway, want: end, check: rests(false)},
		{name: "its tasks could not be read", link: midway, known: func(w work) { w.unread = true }, want: end, check: rests(true)},
		{name: "a value was kept from the public", link: midway, known: func(w work) { w.withheld = &publicError{repo: "acme/web"} }, want: end, check: rests(true)},
		{name: "its checklist failed", link: midway, known: func(w work) { w.listErr = errAway }, want: end, err: "unavailable", check: rests(true)},
		{
			name: "an echo is awaited", want: end, set: func(s *Settings) { s.Settle.GitHub = 2 * time.Minute },
			link: func(l *mapping.Link) {
				l.Pending = []mapping.Pending{{ID: "p", Side: mapping.GitHub, Attribute: mapping.Title, Answered: true, At: noon.Add(-time.Minute)}}
			},
			check: func(w work) string {
				if w.again.after != time.Minute {
					return "the echo is not looked for when it is overdue"
				}
				return rests(false)(w)
			},
		},
	})
}
