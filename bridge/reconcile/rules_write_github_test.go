package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// give is a decision to write planning's value to GitHub.
func give(a mapping.Attribute, from, to string) mapping.Decision {
	return mapping.Decision{
		Attribute: a, Action: mapping.ToHub, Why: "planning changed", GitHub: &mapping.Write{From: from, To: to},
		Base: mapping.Base{GitHub: to, Planning: to, Version: 2},
	}
}

// issueOf is the issue of the pair, read under this claim, with changes.
func issueOf(changes ...func(*mapping.Issue)) mapping.Issue {
	i := mapping.Issue{ID: 7, Repo: "acme/web", Number: 12, Title: "a", State: "open", Author: "ann", CreatedAt: noon.Add(-time.Hour), UpdatedAt: noon}
	for _, change := range changes {
		change(&i)
	}
	return i
}

func named(title string) func(*mapping.Issue)   { return func(i *mapping.Issue) { i.Title = title } }
func bodied(body string) func(*mapping.Issue)   { return func(i *mapping.Issue) { i.Body = body } }
func inState(state string) func(*mapping.Issue) { return func(i *mapping.Issue) { i.State = state } }

func labelled(labels ...string) func(*mapping.Issue) {
	return func(i *mapping.Issue) { i.Labels = labels }
}

// writing knows the issue as it was read, and a plan that writes to it.
func writing(issue mapping.Issue, ds ...mapping.Decision) func(work) {
	return func(w work) {
		reader(w).setIssue(&issue)
		w.fresh = true
		planned(ds...)(w)
	}
}

// hasLabels says what is wrong where the issue is known with other labels.
func hasLabels(labels ...string) func(work) string {
	return is("the issue is known with its labels", func(w work) bool { return equalLabels(w.issue.Labels, labels) })
}

func equalLabels(a, b []string) bool {
	for _, l := range a {
		if !containsFold(b, l) {
			return false
		}
	}
	return len(a) == len(b)
}

// echoes says what is wrong where another number of answered writes awaits its event.
func echoes(n int) func(work) string {
	return is("answered writes await their events", func(w work) bool {
		answered := 0
		for _, p := range w.pair.Pending {
			if p.Answered {
				answered++
			}
		}
		return answered == n && len(w.pair.Pending) == n
	})
}

const patchTitle = `EditIssue title="b"`

func TestWriteGitHub(t *testing.T) {
	title, summary := give(mapping.Title, "a", "b"), give(mapping.Summary, "old", "new")
	state := func(from, to string) mapping.Decision { return give(mapping.State, from, to) }
	noBase := func(l *mapping.Link) { l.Base = map[mapping.Attribute]mapping.Base{} }
	edited := func(changes ...func(*mapping.Issue)) map[string]any {
		return map[string]any{"EditIssue": issueOf(changes...)}
	}
	checkRule(t, writeGitHub, []ruleCase{
		{name: "nothing is decided", want: pass},
		{name: "planning alone is written", known: planned(put(mapping.Title, "a", "b")), want: pass},
		{
			name: "a title", known: writing(issueOf(), title), answers: edited(named("b")), asked: savedAnd(patchTitle), counts: []string{"0 web github title"},
			check: all(agreedOn(mapping.Title, "b", "b", 2), echoes(1), tells("write"),
				is("the answer is the issue that is known", func(w work) bool { return w.issue.Title == "b" && w.pair.Issue.Digest == mapping.DigestIssue(w.issue) }),
				is("both items are read as a whole next time", func(w work) bool { return w.pair.Unfinished })),
		},
		{
			name: "a title and a text, with one request", known: writing(issueOf(bodied("old")), title, summary), answers: edited(named("b"), bodied("new")),
			asked: savedAnd(`EditIssue title="b" body="new"`), check: all(agreedOn(mapping.Title, "b", "b", 2), agreedOn(mapping.Summary, "new", "new", 2), echoes(2)),
		},
		{
			name: "the text of an issue that the bridge made has its marker", known: writing(issueOf(bodied("old")), summary), link: func(l *mapping.Link) { l.Origin = mapping.Planning },
			answers: edited(bodied("new")), asked: savedAnd(`EditIssue body="new\n\n<!-- …`),
		},
		{
			name: "a done task closes the issue", known: writing(issueOf(), state(mapping.StateTodo, mapping.StateDone)), answers: edited(inState("closed")),
			asked: savedAnd(`EditIssue state="closed" reason="completed"`), check: all(agreedOn(mapping.State, mapping.StateDone, mapping.StateDone, 2), openWrites(0)),
		},
		{
			name: "a task that is to do again opens it", known: writing(issueOf(inState("closed")), state(mapping.StateDone, mapping.StateTodo)), answers: edited(),
			asked: savedAnd(`EditIssue state="open" reason="reopened"`), check: openWrites(0),
		},
		{
			name: "a task that is begun has a label alone", known: writing(issueOf(), state(mapping.StateTodo, mapping.StateInProgress)), answers: map[string]any{"AddLabels": []string{"doing"}},
			asked: savedAnd("AddLabels doing"), check: all(agreedOn(mapping.State, mapping.StateInProgress, mapping.StateInProgress, 2), openWrites(0), hasLabels("doing"), tells("write")),
		},
		{
			name: "a task that is begun again: the label goes on before the issue is opened", known: writing(issueOf(inState("closed")), state(mapping.StateDone, mapping.StateInProgress)),
			answers: map[string]any{"AddLabels": []string{"doing"}, "EditIssue": issueOf(labelled("doing"))}, asked: savedAnd("AddLabels doing", "Save", "BeginWrite", `EditIssue state="open" reason="reopened"`),
			check: tells("write"),
		},
		{
			name: "the label is set already", known: writing(issueOf(labelled("doing")), state(mapping.StateInProgress, mapping.StateInProgress)), check: all(openWrites(0), tells("write")),
		},
		{
			name: "a label shows another state since", known: writing(issueOf(labelled("doing")), state(mapping.StateTodo, mapping.StateInProgress)), check: all(tells(), agreedOn(mapping.State, "", "", 1)),
		},
		{
			name: "a milestone that is due goes along", link: func(l *mapping.Link) { l.Shown = &mapping.Shown{Sprint: "s"} }, known: writing(issueOf(), title),
			answers: map[string]any{"KnownMilestone": 4, "EditIssue": issueOf(named("b"), func(i *mapping.Issue) { i.Milestone = 4 })}, asked: []string{"KnownMilestone", "Save", "BeginWrite", `EditIssue title="b" milestone=4`},
			check: all(tells("show", "write"), is("the milestone is known as the bridge's", func(w work) bool { return w.link.Shown.Milestone == 4 })),
		},
		{
			name: "a milestone that GitHub refuses stays behind", link: func(l *mapping.Link) { l.Shown = &mapping.Shown{Sprint: "s"} }, known: writing(issueOf(), title),
			answers: map[string]any{"KnownMilestone": 4, "EditIssue": turns{&mapping.Rejection{}, issueOf(named("b"))}},
			asked:   []string{"KnownMilestone", "Save", "BeginWrite", `EditIssue title="b" milestone=4`, patchTitle}, check: tells("write"),
		},
		{name: "at first sight", link: noBase, known: writing(issueOf(), title), answers: edited(named("b")), asked: savedAnd(patchTitle), check: agreedOn(mapping.Title, "b", "b", 2)},
	})
}

func TestWriteGitHubFails(t *testing.T) {
	title := give(mapping.Title, "a", "b")
	public := map[string]any{"ReadPublic": Publicity{Public: true, Known: true}}
	checkRule(t, writeGitHub, []ruleCase{
		{name: "the lease is lost", known: writing(issueOf(), title), answers: map[string]any{"Save": store.ErrLeaseLost}, asked: []string{"Save"}, err: "lease", check: openWrites(0)},
		{
			name: "the value is refused", known: writing(issueOf(), title), answers: map[string]any{"EditIssue": &mapping.Rejection{Field: "title", Message: "too long"}}, asked: savedAnd(patchTitle),
			check: all(refusedFor(mapping.Title, mapping.GitHub, "b"), tells("refused"), openWrites(0)),
		},
		{
			name: "one of two is refused: each goes alone", known: writing(issueOf(bodied("old")), title, give(mapping.Summary, "old", "new")),
			answers: map[string]any{"EditIssue": turns{&mapping.Rejection{}, issueOf(named("b")), &mapping.Rejection{Field: "body", Message: "too long"}}},
			asked:   savedAnd("EditIssue", "Save", "BeginWrite", patchTitle, "Save", "BeginWrite", `EditIssue body="new"`),
			check:   all(agreedOn(mapping.Title, "b", "b", 2), refusedFor(mapping.Summary, mapping.GitHub, "new"), echoes(1)),
		},
		{
			name: "its answer is lost", known: writing(issueOf(), title), answers: map[string]any{"EditIssue": mapping.ErrUncertain}, asked: savedAnd(patchTitle), err: "outcome unknown",
			check: all(openWrites(1), echoesNone, agreedOn(mapping.Title, "", "", 1)),
		},
		{name: "GitHub is away, and took nothing", known: writing(issueOf(), title), answers: map[string]any{"EditIssue": errAway}, asked: savedAnd(patchTitle), err: "unavailable", check: openWrites(0)},
		{
			name: "the issue is gone: that is not believed at once", known: writing(issueOf(), title),
			answers: map[string]any{"EditIssue": mapping.ErrNotFound, "ReadArchived": false, "Missed": Absence{First: noon}}, asked: savedAnd(patchTitle, "ReadArchived", "Missed"),
			err: "to be read once more", check: is("the answer is counted", func(w work) bool { return w.pair.Gone[mapping.GitHub] == 1 }),
		},
		{
			name: "the repository was made public meanwhile", known: writing(issueOf(), title), answers: public, asked: savedAnd("ReadPublic"), err: "is public", check: openWrites(0),
		},
		{
			name: "another repository has its name", known: writing(issueOf(), title), answers: map[string]any{"Locate": "acme/new"}, asked: savedAnd("Locate"), err: "moved", check: openWrites(0),
		},
		{
			name: "the token may not set a label that alone carries the state", known: writing(issueOf(), give(mapping.State, mapping.StateTodo, mapping.StateInProgress)),
			answers: map[string]any{"AddLabels": mapping.ErrForbidden}, asked: savedAnd("AddLabels doing"), err: "forbidden", check: all(openWrites(0), notRefused),
		},
		{
			name: "it may not, and may write the issue: the state is blocked", known: writing(issueOf(), give(mapping.State, mapping.StateTodo, mapping.StateInProgress), title),
			answers: map[string]any{"AddLabels": mapping.ErrForbidden, "EditIssue": issueOf(named("b"))}, asked: savedAnd("AddLabels doing", "Save", "BeginWrite", patchTitle),
			check: all(refusedFor(mapping.State, mapping.GitHub, mapping.StateInProgress), agreedOn(mapping.Title, "b", "b", 2), tells("write", "refused")),
		},
		{
			name: "the answer to a label is lost", known: writing(issueOf(), give(mapping.State, mapping.StateTodo, mapping.StateInProgress)), answers: map[string]any{"AddLabels": mapping.ErrUncertain},
			asked: savedAnd("AddLabels doing"), err: "add labels", check: openWrites(1),
		},
	})
}

func echoesNone(w work) string {
	return is("the outcome of the write is not known", func(w work) bool { return !w.pair.Pending[0].Answered })(w)
}

func TestWriteEstimateLabels(t *testing.T) {
	five := give(mapping.Estimate, "3", "5")
	agreed := func(l *mapping.Link) { l.Base[mapping.Estimate] = mapping.Base{GitHub: "3", Planning: "3", Version: 1} }
	gets := func(added []string, removed ...any) map[string]any {
		return map[string]any{"AddLabels": added, "RemoveLabel": turns(removed)}
	}
	old := issueOf(labelled("bug", "points/3"))
	checkRule(t, writeGitHub, []ruleCase{
		{
			name: "the new one goes on before the old one goes off", link: agreed, known: writing(old, five),
			answers: gets([]string{"bug", "points/3", "points/5"}, []string{"bug", "points/5"}), asked: savedAnd("AddLabels points/5", "Save", "BeginWrite", "RemoveLabel points/3"),
			counts: []string{"0 web github estimate"}, check: all(agreedOn(mapping.Estimate, "5", "5", 2), hasLabels("bug", "points/5"), openWrites(0), tells("write")),
		},
		{
			name: "there was none", known: writing(issueOf(labelled("bug")), give(mapping.Estimate, "", "5")), answers: gets([]string{"bug", "points/5"}), asked: savedAnd("AddLabels points/5"),
			check: all(agreedOn(mapping.Estimate, "5", "5", 2), hasLabels("bug", "points/5")),
		},
		{
			name: "GitHub drops the new one in silence: the old one stays", link: agreed, known: writing(old, five), answers: gets([]string{"bug", "points/3"}), asked: savedAnd("AddLabels points/5"),
			check: all(refusedFor(mapping.Estimate, mapping.GitHub, "5"), agreedOn(mapping.Estimate, "3", "3", 1), hasLabels("bug", "points/3"), openWrites(0)),
		},
		{
			name: "a person puts on another one meanwhile: ours goes off again", link: agreed, known: writing(old, five),
			answers: gets([]string{"points/3", "points/5", "points/8"}, []string{"points/5", "points/8"}, []string{"points/8"}),
			asked:   savedAnd("AddLabels points/5", "Save", "BeginWrite", "RemoveLabel points/3", "Save", "BeginWrite", "RemoveLabel points/5"),
			check:   all(agreedOn(mapping.Estimate, "3", "3", 1), hasLabels("points/8"), tells()),
		},
		{
			name: "a second one of people goes off, too, and the history names it", link: agreed, known: writing(issueOf(labelled("points/3", "points/2")), give(mapping.Estimate, "2", "5")),
			answers: gets([]string{"points/3", "points/2", "points/5"}, []string{"points/2", "points/5"}, []string{"points/5"}),
			asked:   savedAnd("AddLabels points/5", "Save", "BeginWrite", "RemoveLabel points/3", "RemoveLabel points/2"), check: tells("label", "write"),
		},
		{
			name: "the old one cannot be taken off", link: agreed, known: writing(old, five), answers: map[string]any{"AddLabels": []string{"points/3", "points/5"}, "RemoveLabel": errAway},
			asked: savedAnd("AddLabels points/5", "Save", "BeginWrite", "RemoveLabel points/3"), err: "remove label points/3", check: openWrites(1),
		},
	})
}
