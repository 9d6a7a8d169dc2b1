package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// shown has the record know what the issue shows of its card.
func shown(change func(*mapping.Shown)) func(*mapping.Link) {
	return func(l *mapping.Link) {
		if l.Shown == nil {
			l.Shown = &mapping.Shown{}
		}
		change(l.Shown)
	}
}

// recorded says what is wrong where the record of what the issue shows does not hold.
func recorded(what string, holds func(*mapping.Shown) bool) func(work) string {
	return is(what, func(w work) bool { return w.link.Shown != nil && holds(w.link.Shown) })
}

// unchanged knows the issue as it was read.
func unchanged(changes ...func(*mapping.Issue)) func(work) { return writing(issueOf(changes...)) }

// seenOnly knows the issue by its snapshot, which may lag.
func seenOnly(changes ...func(*mapping.Issue)) func(work) {
	return func(w work) { unchanged(changes...)(w); w.fresh = false }
}

var folded = func(l *mapping.Link) {
	l.Pace.Folds = map[mapping.Side]mapping.Fold{mapping.GitHub: {Until: noon.Add(time.Second), For: time.Second}}
}

func coalesces(s *Settings) { s.Coalesce = time.Second }

func TestShow(t *testing.T) {
	done := shown(func(s *mapping.Shown) { s.Status = "Done" })
	same := shown(func(s *mapping.Shown) { s.Labels = nil })
	card := func(w work) { w.card = &mapping.Card{ID: "c", Review: "APPROVED"} }
	puts := map[string]any{"Reserve": None{}, "AddLabels": []string{"plan:Done"}, "PauseAfter": Pause{}}
	adds := []string{"Reserve", "PauseAfter", "EnsureLabel", "PauseAfter", "Save", "BeginWrite", "AddLabels plan:Done"}
	checkRule(t, show, []ruleCase{
		{name: "nothing is known of the card", check: is("nothing is recorded", func(w work) bool { return w.link.Shown == nil })},
		{name: "the card shows nothing", link: same, known: unchanged()},
		{name: "it shows something", link: done, known: unchanged(), answers: puts, asked: adds, check: all(hasLabels("plan:Done"), tells("show"))},
		{
			name: "another key makes its label: it waits, and the claim goes on", link: done, known: unchanged(),
			answers: map[string]any{"Reserve": None{}, "PauseLeft": turns{Pause{}, Pause{}, Pause{}, Pause{}, Pause{}, Pause{Wait: time.Second}, Pause{}}},
			asked:   []string{"PauseLeft", "PauseLeft", "PauseLeft", "PauseLeft", "Reserve", "PauseLeft", "PauseLeft", "PauseLeft", "PauseLeft", "PauseLeft", "PauseLeft"},
			check:   is("it is looked at again", func(w work) bool { return w.showAgain.after >= time.Second }),
		},
		{name: "the pair has gone to rest", link: links(done, func(l *mapping.Link) { l.State = mapping.Left }), known: unchanged()},
		{name: "a sub-issue shows nothing", link: links(done, func(l *mapping.Link) { l.Kind = mapping.SubIssue }), known: unchanged()},
		{name: "a dry run", link: done, set: func(s *Settings) { s.DryRun = true }, known: unchanged(), check: tells()},
		{
			name: "the route only goes to planning: the review is not acted on later either", link: shown(func(s *mapping.Shown) { s.Review = "APPROVED" }), route: func(r *mapping.Route) { r.Direction = mapping.ToPlanning }, known: unchanged(),
			check: is("the review is known", func(w work) bool { return w.link.Review == "APPROVED" }),
		},
		{name: "for the first time: the issue is read, and what it shows is decided", known: knows(card, func(w work) { w.card.Review = "" }), answers: map[string]any{"ReadIssue": issueOf()}, asked: []string{"ReadIssue"}, want: anew},
		{
			name: "for the first time, and it cannot be read: nothing is shown yet", known: card, answers: map[string]any{"ReadIssue": onGitHub(errAway), "PauseAfter": Pause{Wait: time.Second}}, asked: []string{"ReadIssue", "PauseAfter"},
			check: is("the next claim does so for the first time", func(w work) bool { return w.link.Shown == nil && w.showAgain.after > 0 }),
		},
		{name: "for the first time, as an event shows the issue", known: knows(seenOnly(), func(w work) { w.card = &mapping.Card{ID: "c"} })},
		{
			name: "the answer shows another title", link: shown(func(s *mapping.Shown) { s.Assignees = []string{"bob"} }), known: unchanged(func(i *mapping.Issue) { i.Assignees = []string{"bob"} }),
			answers: map[string]any{"Reserve": None{}, "Unassign": issueOf(named("b"))}, asked: []string{"Reserve", "Save", "BeginWrite", "Unassign bob"}, want: anew,
		},
		{
			name: "the lease is lost", link: done, known: unchanged(), answers: with(map[string]any{"Save": store.ErrLeaseLost}, map[string]any{"PauseAfter": Pause{}}), asked: []string{"Reserve", "PauseAfter", "EnsureLabel", "PauseAfter", "Save"}, want: end, err: "lease",
			check: is("writes for people are not taken for these", func(w work) bool { return !w.onlyShows }),
		},
	})
}

func TestShowPutsOff(t *testing.T) {
	done := shown(func(s *mapping.Shown) { s.Status = "Done" })
	fails := func(err error, more ...string) ruleCase {
		return ruleCase{
			link: done, known: unchanged(), answers: map[string]any{"PauseAfter": Pause{}, "AddLabels": err},
			asked: append([]string{"Reserve", "PauseAfter", "EnsureLabel", "PauseAfter", "Save", "BeginWrite", "AddLabels"}, more...),
		}
	}
	later := is("it is shown later", func(w work) bool { return w.showAgain.after > 0 })
	never := is("it is shown with the next change", func(w work) bool { return w.showAgain.after == 0 })
	named1 := func(name string, c ruleCase, change func(*ruleCase)) ruleCase {
		c.name = name
		change(&c)
		return c
	}
	paused := map[string]any{"PauseAfter": Pause{Wait: time.Minute}}
	writable := with(paused, map[string]any{"ReadArchived": false})
	cases := []ruleCase{
		named1("the repository is archived: the key waits until it is writable", fails(mapping.ErrForbidden, "ReadArchived"), func(c *ruleCase) {
			c.answers["ReadArchived"], c.want, c.err = true, end, "its repository is archived"
		}),
		named1("GitHub is away", fails(errAway, "PauseAfter"), func(c *ruleCase) { c.answers = with(c.answers, paused); c.check = later }),
		named1("GitHub refuses it for this issue", fails(&mapping.Rejection{}, "PauseAfter"), func(c *ruleCase) { c.answers = with(c.answers, paused); c.check = later }),
		named1("the token may not", fails(mapping.ErrForbidden, "ReadArchived", "PauseAfter"), func(c *ruleCase) { c.answers = with(c.answers, writable); c.check = later }),
		named1("GitHub drops it in silence", fails(nil, "ReadArchived", "PauseAfter"), func(c *ruleCase) {
			c.answers = with(c.answers, writable)
			c.answers["AddLabels"], c.check = []string{}, later
		}),
		named1("the budget is used up", ruleCase{
			link: done, known: unchanged(), answers: map[string]any{"Reserve": &mapping.RateLimited{API: "github", After: time.Minute, Turn: true}}, asked: []string{"Reserve"},
		}, func(c *ruleCase) {
			c.check = all(later, recorded("nothing is in doubt", func(s *mapping.Shown) bool { return !s.Unsure }))
		}),
		named1("the issue seems gone: it is read", fails(mapping.ErrNotFound, "ReadIssue", "PauseAfter"), func(c *ruleCase) { c.answers["ReadIssue"], c.want, c.err = errAway, pass, "" }),
		named1("the repository is public", fails(nil), func(c *ruleCase) {
			c.answers["ReadPublic"], c.asked = Publicity{Public: true, Known: true}, []string{"Reserve", "PauseAfter", "ReadPublic", "Save", "BeginWrite", "ReadPublic"}
			c.check = is("that is known", func(w work) bool { return w.withheld != nil })
		}),
		{
			name: "it failed a moment ago", link: done, known: unchanged(), answers: map[string]any{"PauseLeft": Pause{Wait: time.Minute, Why: "failed"}}, asked: []string{"PauseLeft", "PauseLeft", "PauseLeft", "PauseLeft"}, check: later,
		},
		{name: "what was shown a moment ago is folded with it", link: links(done, folded), set: coalesces, known: unchanged(), check: later},
		{name: "it was shown too often within a minute", link: links(done, func(l *mapping.Link) { l.Pace.Minute, l.Pace.Writes = noon, showsPerMinute }), known: unchanged(), answers: map[string]any{"PauseAfter": Pause{}}, asked: []string{"Reserve", "PauseAfter", "EnsureLabel", "PauseAfter"}, check: later},
		{name: "it was often within the minute before", link: links(done, func(l *mapping.Link) { l.Pace.Minute, l.Pace.Writes = noon.Add(-time.Minute), showsPerMinute }), known: unchanged(), answers: map[string]any{"PauseAfter": Pause{}, "AddLabels": []string{"plan:Done"}}, asked: []string{"Reserve", "PauseAfter", "EnsureLabel", "PauseAfter", "Save", "BeginWrite", "AddLabels"}, check: never},
	}
	checkRule(t, show, cases)
}

func TestShowLabels(t *testing.T) {
	labels := does(labelProjector.showLabels)
	approved := shown(func(s *mapping.Shown) { s.Status, s.Review = "Done", "APPROVED" })
	puts := func(after ...string) map[string]any {
		return map[string]any{"PauseAfter": Pause{}, "AddLabels": after, "ReadIssue": issueOf(labelled(after...))}
	}
	ensured := []string{"PauseAfter", "EnsureLabel", "PauseAfter"}
	adds := func(label string, before ...string) []string {
		return append(append(append(before, "Reserve"), ensured...), "Save", "BeginWrite", "AddLabels "+label)
	}
	numbered := func(s *Settings) { s.Scheme.Card = "card/{value}" }
	unmade := func(why string, err error) ruleCase {
		return ruleCase{
			name: why + ": the label is not added without its colour", link: approved, known: unchanged(labelled("plan:Approved")), answers: map[string]any{"PauseAfter": Pause{}, "EnsureLabel": err},
			asked: []string{"Reserve", "PauseAfter", "EnsureLabel"}, err: err.Error(), check: hasLabels("plan:Approved"),
		}
	}
	checkRule(t, labels, []ruleCase{
		{name: "they are there", link: approved, known: unchanged(labelled("plan:Done", "plan:Approved")), check: recorded("no share is waited for", func(s *mapping.Shown) bool { return !s.Waited })},
		{name: "one is missing", link: approved, known: unchanged(labelled("plan:Approved", "bug")), answers: puts("plan:Approved", "plan:Done", "bug"), asked: adds("plan:Done"), counts: []string{"0 web github labels"}, check: all(hasLabels("plan:Approved", "plan:Done", "bug"), tells("show"))},
		{
			name: "one is too many", link: approved, known: unchanged(labelled("plan:Done", "plan:Approved", "plan:To Do", "bug")), answers: map[string]any{"RemoveLabel": []string{"plan:Done", "plan:Approved", "bug"}},
			asked: []string{"Reserve", "Save", "BeginWrite", "RemoveLabel plan:To Do"}, check: hasLabels("plan:Done", "plan:Approved", "bug"),
		},
		{
			name: "the issue is not known: its recorded labels count", link: links(approved, shown(func(s *mapping.Shown) { s.Labels = []string{"plan:Approved"} })), answers: puts("plan:Approved", "plan:Done"), asked: adds("plan:Done"),
			check: recorded("its labels are known", func(s *mapping.Shown) bool { return equalLabels(s.Labels, []string{"plan:Done", "plan:Approved"}) }),
		},
		{
			name: "an event of ours shows it, which may be half of two writes: it is read", link: approved, known: seenOnly(labelled("plan:Approved"), by("bridge")), answers: puts("plan:Approved", "plan:Done"), asked: []string{"Reserve", "ReadIssue"}, check: hasLabels("plan:Done", "plan:Approved"),
		},
		{name: "an event of somebody shows it", link: approved, known: seenOnly(labelled("plan:Approved"), by("ann")), answers: puts("plan:Approved", "plan:Done"), asked: adds("plan:Done"), check: hasLabels("plan:Done", "plan:Approved")},
		{name: "what is folded shows an event of ours: nothing is known", link: links(approved, folded), set: coalesces, known: seenOnly(by("bridge")), err: "folds", check: tells()},
		{name: "what is folded is no doubt", link: links(approved, folded), set: coalesces, known: seenOnly(by("ann")), err: "labels: folds", check: tells()},
		{name: "it is not folded in the midst of a plan", link: links(approved, folded), set: coalesces, known: knows(unchanged(labelled("plan:Approved")), func(w work) { w.resumed = true }), answers: puts("plan:Approved", "plan:Done"), asked: adds("plan:Done")},
		{name: "nor after a write of this claim", link: links(approved, folded), set: coalesces, known: knows(unchanged(labelled("plan:Approved")), func(w work) { w.begun[mapping.GitHub] = true }), answers: puts("plan:Approved", "plan:Done"), asked: adds("plan:Done")},
		{
			name: "its card's number may be there, on an issue that is not known", link: links(approved, func(l *mapping.Link) { l.Card.CID = 5 }, shown(func(s *mapping.Shown) { s.Labels = []string{"plan:Done", "plan:Approved"} })), set: numbered,
			answers: puts("plan:Done", "plan:Approved", "card/5"), asked: []string{"Reserve", "ReadIssue"}, check: hasLabels("plan:Done", "plan:Approved", "card/5"),
		},
		{
			name: "its card's number was put there before", link: links(approved, func(l *mapping.Link) { l.Card.CID = 5 }, shown(func(s *mapping.Shown) { s.Labels, s.Made = []string{"plan:Done", "plan:Approved"}, []string{"card/5"} })), set: numbered,
			answers: map[string]any{"AddLabels": []string{"plan:Done", "plan:Approved", "card/5"}}, asked: []string{"Reserve", "Save", "BeginWrite", "AddLabels card/5"},
		},
		{
			name: "another key makes the label: it waits for that", link: approved, known: unchanged(labelled("plan:Approved")), answers: map[string]any{"PauseLeft": turns{Pause{}, Pause{Wait: time.Second}}},
			asked: []string{"Reserve", "PauseLeft", "PauseLeft"}, err: "another key makes the label", check: hasLabels("plan:Approved"),
		},
		{
			name: "another key makes the label that several issues get at once", link: links(approved, func(l *mapping.Link) { l.Issue.NodeID = "N" }), known: unchanged(labelled("plan:Approved"), func(i *mapping.Issue) { i.NodeID = "N" }),
			answers: map[string]any{"PauseLeft": turns{Pause{}, Pause{Wait: time.Second}}}, asked: []string{"Reserve", "PauseLeft", "PauseLeft"}, err: "another key makes the label", check: recorded("its share is waited for", func(s *mapping.Shown) bool { return s.Waited }),
		},
		{name: "the label was made before", link: approved, known: unchanged(labelled("plan:Approved")), answers: with(map[string]any{"PauseLeft": Pause{Wait: time.Hour}}, puts("plan:Approved", "plan:Done")), asked: []string{"Reserve", "PauseLeft", "Save", "BeginWrite", "AddLabels plan:Done"}},
		{name: "it cannot be made with its colour", link: approved, known: unchanged(labelled("plan:Approved")), answers: with(puts("plan:Approved", "plan:Done"), map[string]any{"EnsureLabel": mapping.ErrForbidden}), asked: adds("plan:Done"), check: hasLabels("plan:Done", "plan:Approved")},
		unmade("GitHub is away", errAway),
		unmade("GitHub refuses the token", mapping.ErrUnauthorized),
		unmade("the repository has moved", &mapping.MovedError{Repo: "acme/site"}),
	})
}
