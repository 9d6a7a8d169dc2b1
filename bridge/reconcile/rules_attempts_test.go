package reconcile

import (
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// TestAttempt: a projection that fails is put off, unless its error ends the work on the key.
func TestAttempt(t *testing.T) {
	rule := func(w work) (verdict, error) {
		return pass, projector(w).attempt("labels", func() error { return w.err })
	}
	pausedAs := func(name string, first time.Duration) func([]any) string {
		return func(effects []any) string {
			for _, e := range effects {
				if p, is := e.(PauseAfter); is && p.Name == name && p.First == first {
					return ""
				}
			}
			return fmt.Sprintf("it is not put off as %q from %v on: %+v", name, first, effects)
		}
	}
	const repo, issue = "labels in acme/web", "labels of l"
	pauses := func(more map[string]any) map[string]any {
		return with(map[string]any{"PauseAfter": Pause{Wait: time.Minute}}, more)
	}
	here := map[string]any{"ReadIssue": issueOf()}
	again := func(after time.Duration) func(work) string {
		return is("it is shown later", func(w work) bool { return w.showAgain.after == after })
	}
	off := is("it is shown after the pause", func(w work) bool { return w.showAgain.after >= time.Minute && w.showAgain.after < 2*time.Minute })
	gitHub := func(err error) func(work) { return fails(onGitHub(err)) }
	public := &publicError{repo: "acme/web"}
	checkRule(t, rule, []ruleCase{
		{name: "it is shown", check: again(0)},
		{name: "the repository failed a moment ago", known: fails(errAway), answers: map[string]any{"PauseLeft": turns{Pause{Wait: 1}}}, asked: []string{"PauseLeft"}},
		{name: "the issue failed a moment ago", known: fails(errAway), answers: map[string]any{"PauseLeft": turns{Pause{}, Pause{Wait: 1}}}, asked: []string{"PauseLeft", "PauseLeft"}},
		{name: "the issue was transferred: its link follows", known: gitHub(&mapping.MovedError{Issue: new(issueOf())}), answers: here, asked: []string{"ReadIssue"}, err: "moved"},
		{name: "the repository was renamed: its link follows", known: gitHub(&mapping.MovedError{Repo: "acme/new"}), answers: here, asked: []string{"ReadIssue"}, err: "moved"},
		{name: "a redirect says not where to", known: gitHub(&mapping.MovedError{Location: "x"}), answers: pauses(here), asked: []string{"ReadIssue", "PauseAfter"}, check: off, wrong: pausedAs(repo, refusedFirst)},
		{name: "a redirect tells a number, which a read decides", known: gitHub(&mapping.MovedError{Repo: "acme/new", Number: 3}), answers: pauses(here), asked: []string{"ReadIssue", "PauseAfter"}, check: off},
		{name: "it seems gone, and a read shows where it went", known: gitHub(mapping.ErrGone), answers: map[string]any{"ReadIssue": &mapping.MovedError{Issue: new(issueOf())}}, asked: []string{"ReadIssue"}, err: "moved"},
		{name: "it seems gone, and a read shows that it went out of reach", known: gitHub(mapping.ErrGone), answers: map[string]any{"ReadIssue": &mapping.MovedError{Location: "x"}}, asked: []string{"ReadIssue"}, err: "moved"},
		{name: "what was asked of it is gone, and it is there", known: gitHub(mapping.ErrNotFound), answers: pauses(here), asked: []string{"ReadIssue", "PauseAfter"}, check: off, wrong: pausedAs(repo, refusedFirst)},
		{name: "it would publish what is planning's", known: gitHub(public), check: all(again(0), is("that is known", func(w work) bool { return w.withheld == public }))},
		{name: "another repository has the name", known: gitHub(&mapping.StrangerError{Repo: "acme/web"}), err: "another repository"},
		{name: "a brake, or a read that lags", known: fails(later(time.Second, "soon")), check: again(time.Second)},
		{name: "it is decided anew at once", known: fails(later(0, "now")), err: "now", check: again(0)},
		{name: "an error of the store's", known: fails(store.ErrLeaseLost), err: "lease"},
		{name: "an error of planning's", known: fails(onPlanning(errAway)), answers: pauses(nil), asked: []string{"PauseAfter"}, check: off, wrong: pausedAs(repo, brokenFirst)},
		{name: "GitHub refuses the value of this issue", known: gitHub(&mapping.Rejection{Message: "no"}), answers: pauses(nil), asked: []string{"PauseAfter"}, check: off, wrong: pausedAs(issue, refusedFirst)},
		{name: "the token may not", known: gitHub(mapping.ErrForbidden), answers: pauses(map[string]any{"ReadArchived": false}), asked: []string{"ReadArchived", "PauseAfter"}, check: off, wrong: pausedAs(repo, refusedFirst)},
		{name: "its repository is archived: the key waits until it is writable", known: gitHub(mapping.ErrForbidden), answers: map[string]any{"ReadArchived": true}, asked: []string{"ReadArchived"}, err: "its repository is archived", check: again(0)},
		{name: "GitHub is away", known: gitHub(errAway), answers: pauses(nil), asked: []string{"PauseAfter"}, check: off, wrong: pausedAs(repo, brokenFirst)},
		{name: "its answer was lost", known: gitHub(mapping.ErrUncertain), answers: pauses(nil), asked: []string{"PauseAfter"}, check: off, wrong: pausedAs(repo, brokenFirst)},
		{name: "the token counts no more", known: gitHub(mapping.ErrUnauthorized), answers: pauses(nil), asked: []string{"PauseAfter"}, check: off, wrong: pausedAs(repo, brokenFirst)},
		{
			name: "a limit of GitHub's", known: gitHub(&mapping.RateLimited{API: "github", After: time.Minute, Resource: "core"}),
			check: is("it is shown after that, with a part by chance", func(w work) bool { return w.showAgain.after >= time.Minute && w.showAgain.after < 67*time.Second }),
		},
		{name: "its turn of a budget", known: gitHub(&mapping.RateLimited{API: "github", After: time.Minute, Turn: true}), check: again(time.Minute)},
	})
}

// TestEditsOfATask: a snapshot of a sub-issue's task shows an edit, or what is agreed on.
func TestEditsOfATask(t *testing.T) {
	rule := func(w work) (verdict, error) {
		return endIf(pacer(partWorker(w).part(w.link.SubLinks[0])).cardEdited(), nil)
	}
	told := func(ref mapping.Ref, change ...func(*mapping.Task)) func(work) {
		t := mapping.Task{ID: "t9", Version: 2, Title: versioned("", 1), Summary: versioned("", 1), Estimate: versioned("", 1), State: versioned("", 1)}
		for _, f := range change {
			f(&t)
		}
		return toldOf(ref, &t, store.Snapshot{})
	}
	its := mapping.TaskRef("t9")
	part := subIssue(func(p *mapping.Pair) { p.Base[mapping.Estimate] = mapping.Base{GitHub: "3", Planning: "3", Version: 1} })
	checkRule(t, rule, []ruleCase{
		{name: "nothing was seen of it", link: part},
		{name: "it is as it was agreed on", link: part, known: told(its, func(t *mapping.Task) { t.Estimate = versioned("3", 1) })},
		{name: "another title", link: part, known: told(its, func(t *mapping.Task) { t.Title, t.Estimate = versioned("b", 2), versioned("3", 1) }), want: end},
		{name: "another title without a newer version", link: part, known: told(its, func(t *mapping.Task) { t.Title, t.Estimate = versioned("b", 1), versioned("3", 1) })},
		{name: "a newer version of the same title", link: part, known: told(its, func(t *mapping.Task) { t.Title, t.Estimate = versioned("", 2), versioned("3", 1) })},
		{name: "another state", link: part, known: told(its, func(t *mapping.Task) { t.State, t.Estimate = versioned(mapping.StateDone, 2), versioned("3", 1) }), want: end},
		{name: "a value that was never agreed on", link: links(part, func(l *mapping.Link) { delete(l.SubLinks[0].Base, mapping.Title) }), known: told(its, func(t *mapping.Task) { t.Title = versioned("b", 2) })},
		{name: "another task", link: part, known: told(mapping.TaskRef("t8"), func(t *mapping.Task) { t.Title = versioned("b", 2) })},
		{name: "the root's card", link: part, known: cardTold(mapping.Card{ID: "c", Version: 2, Title: versioned("b", 2)})},
	})
}

// TestEditsOfACard: a snapshot of a card, or of its tracking task, shows an edit.
func TestEditsOfACard(t *testing.T) {
	rule := func(w work) (verdict, error) { return endIf(pacer(w).cardEdited(), nil) }
	card := func(change ...func(*mapping.Card)) func(work) {
		c := mapping.Card{ID: "c", Version: 2, Title: versioned("", 1), Summary: versioned("", 1), Estimate: versioned("", 1)}
		for _, f := range change {
			f(&c)
		}
		return cardTold(c)
	}
	nested := func(id mapping.ObjectID, state string) func(*mapping.Card) {
		return func(c *mapping.Card) { c.Tasks = []mapping.Task{{ID: id, State: versioned(state, 2)}} }
	}
	todo := agreed(mapping.State, mapping.StateTodo, mapping.StateTodo)
	checkRule(t, rule, []ruleCase{
		{name: "nothing was seen"},
		{name: "as it was agreed on", known: card()},
		{name: "another title", known: card(func(c *mapping.Card) { c.Title = versioned("b", 2) }), want: end},
		{name: "another state of its tracking task, as the card shows", link: todo, known: card(nested("t", mapping.StateDone)), want: end},
		{name: "the same state of it", link: todo, known: card(nested("t", mapping.StateTodo))},
		{name: "another state of a person's task", link: todo, known: card(nested("t8", mapping.StateDone))},
		{name: "the card has no tracking task", link: links(todo, func(l *mapping.Link) { l.Children = nil }), known: card(nested("t", mapping.StateDone))},
		{name: "another state, as a snapshot of that task shows", link: todo, known: toldOf(mapping.TaskRef("t"), &mapping.Task{ID: "t", State: versioned(mapping.StateDone, 2)}, store.Snapshot{}), want: end},
		{
			name: "a snapshot of that task is newer than the card", link: todo, want: end,
			known: knows(card(nested("t", mapping.StateTodo)), toldOf(mapping.TaskRef("t"), &mapping.Task{ID: "t", State: versioned(mapping.StateDone, 3)}, store.Snapshot{})),
		},
	})
}

// TestParentThatEnters: an issue waits for its parent, which gets a link where it has none.
func TestParentThatEnters(t *testing.T) {
	enters := func(l *mapping.Link) { entering(l); l.Created = noon.Add(-time.Minute) }
	young := func(l *mapping.Link) { enters(l); l.Created = noon }
	sub := func(r *mapping.Route) {
		r.Tasks, r.Repositories = mapping.TasksSubIssues, []string{"acme/web", "acme/other"}
	}
	known := knows(whole, issueTold(issueOf()), func(w work) { w.link.Epoch = "" })
	parent := func(change ...func(*mapping.Issue)) *mapping.Issue {
		return new(issueOf(append([]func(*mapping.Issue){func(i *mapping.Issue) { i.ID, i.Number = 1, 1 }}, change...)...))
	}
	answers := func(p *mapping.Issue, more map[string]any) map[string]any {
		return with(map[string]any{"Remembered": 0, "Remember": 0, "ReadParent": turns{p, (*mapping.Issue)(nil)}, "FindFormer": []store.Key{}, "FindLink": store.ErrNotFound, "Observe": observed}, more)
	}
	asked := func(more ...string) []string {
		return append([]string{"FindFormer", "Remembered", "ReadParent", "Remember", "Remember", "FindLink"}, more...)
	}
	anew := []string{"Remembered", "ReadParent", "Remember", "Remember"}
	still := isState(mapping.Entering, "")
	const wait = "its parent acme/web#1 is to get a card first"
	checkRule(t, keeping(func(w work) error { _, err := enter(w); return err }), []ruleCase{
		{
			name: "it gets a link, which enters", link: enters, route: sub, known: known, answers: answers(parent(), nil), asked: asked("Observe to p: 1"), err: wait, check: still,
			wrong: hands("it does", func(o *store.Observation) bool {
				l := o.Create
				return l != nil && l.Issue.ID == 1 && l.State == mapping.Entering && l.Route == "web" && l.ID != "" && l.ID != "l" && l.Nonce != "" && l.Nonce != "n" && len(o.Refs) == 1 && o.Refs[0] == mapping.IssueRef(1) && o.Item == o.Refs[0]
			}),
		},
		{name: "this issue is new: it is looked at soon", link: young, route: sub, known: known, answers: answers(parent(), nil), asked: asked("Observe"), err: wait, check: waits(parentWait)},
		{name: "it is in another repository, of which an event tells", link: enters, route: sub, known: known, answers: answers(parent(inRepo("acme/other", 1)), nil), asked: asked(), err: "its parent acme/other#1 is to get a card first", check: still},
		{name: "the store does not take it", link: enters, route: sub, known: known, answers: answers(parent(), map[string]any{"Observe": errAway}), asked: asked("Observe"), err: "unavailable", check: still},
		{name: "the bridge made it, and its card's link is not known", link: enters, route: sub, known: known, answers: answers(parent(func(i *mapping.Issue) { i.Author = "bridge" }), nil), asked: asked(anew...), check: begun(mapping.Planning)},
		{
			name: "the bridge made it for a card whose link does not know it yet", link: enters, route: sub, known: known, err: errRemove.Error(), asked: asked("FindLink", "ReadLink", "Observe to p: 1"),
			answers: answers(parent(func(i *mapping.Issue) {
				i.Author, i.Body = "bridge", testKeys.AppendComment("", mapping.Marker{Kind: mapping.MarkIssue, Link: "x", Nonce: mapping.NonceIn("p", "1"), Partner: "c1"})
			}), map[string]any{
				"FindLink": turns{store.ErrNotFound, store.Key{Project: "p", Link: "root"}},
				"ReadLink": &mapping.Link{ID: "root", Project: "p", Route: "web", Pair: mapping.Pair{State: mapping.Linked, Card: mapping.CardID{ID: "c1"}}},
			}),
			wrong: hands("it waits there for its siblings", func(o *store.Observation) bool {
				return o.Delay == siblings && o.Refs[0] == mapping.IssueRef(1) && o.Item == mapping.IssueRef(7)
			}),
		},
	})
}
