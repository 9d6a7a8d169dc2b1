package reconcile

import (
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// fails is the error that a claim meets.
func fails(err error) func(work) { return func(w work) { w.err = err } }

// readdresses asks what a claim does about the error that it met.
func readdresses(w work) (verdict, error) { return pass, mover(w).readdress(w.err) }

// atPlace says what is wrong where the link's issue has another address.
func atPlace(repo string, number int, id int64) func(work) string {
	return func(w work) string {
		if i := w.pair.Issue; i.Repo != repo || i.Number != number || i.ID != id {
			return fmt.Sprintf("the issue is %s#%d with the id %d, want %s#%d with the id %d", i.Repo, i.Number, i.ID, repo, number, id)
		}
		return ""
	}
}

// isAwayIn says what is wrong where the link does not rest as its issue is in that repository.
func isAwayIn(repo, why string) func(work) string {
	return all(
		isState(mapping.Left, "it was transferred to "+repo+", "+why),
		is("the record says where the issue is", func(w work) bool { return w.pair.Away == repo }),
	)
}

// TestReaddress: some errors of GitHub are about the place of an issue, and not about the issue.
func TestReaddress(t *testing.T) {
	here := atPlace("acme/web", 12, 7)
	refused := onGitHub(fmt.Errorf("edit issue: %w", mapping.ErrForbidden))
	checkRule(t, readdresses, []ruleCase{
		{name: "planning's error says nothing about the issue", known: fails(onPlanning(mapping.ErrMoved)), err: "moved", check: here},
		{name: "an error of neither side", known: fails(mapping.ErrMoved), err: "moved", check: here},
		{name: "GitHub is away", known: fails(onGitHub(errAway)), err: "unavailable", check: here},
		{
			name: "GitHub refuses, and the repository is archived: the key waits until it is writable", known: fails(refused),
			answers: map[string]any{"ReadArchived": true}, asked: []string{"ReadArchived"}, err: "its repository is archived", check: here,
		},
		{
			name: "GitHub refuses, and the repository is not archived: it is a failure", known: fails(refused),
			answers: map[string]any{"ReadArchived": false}, asked: []string{"ReadArchived"}, err: "forbidden",
		},
		{
			name: "GitHub refuses, and does not say whether the repository is archived", known: fails(refused),
			answers: map[string]any{"ReadArchived": errAway}, asked: []string{"ReadArchived"}, err: "forbidden",
		},
		{
			name: "our own refusal to publish is no refusal of GitHub's", known: fails(onGitHub(&publicError{repo: "acme/web"})), err: "does not say allow_public", check: here,
		},
		{
			name: "another repository has the name: it is not asked about", known: fails(onGitHub(&mapping.StrangerError{Repo: "acme/web"})),
			err: "another repository", check: here,
		},
	})
}

// TestFollowARename: an issue keeps its id and its number where its repository got another name.
func TestFollowARename(t *testing.T) {
	moved := fails(onGitHub(mapping.ErrMoved))
	noIssue := func(l *mapping.Link) { l.Issue = mapping.IssueID{Repo: "acme/web"} }
	renamed := func(number int, id int64) func(work) string {
		return all(atPlace("acme/new", number, id), is("both items are read", func(w work) bool { return w.pair.Unfinished }), tells())
	}
	checkRule(t, readdresses, []ruleCase{
		{
			name: "GitHub names the repository by its id", known: moved, answers: map[string]any{"Locate": "acme/new"}, asked: []string{"Locate"},
			err: "its repository is now acme/new", check: renamed(12, 7),
		},
		{
			name: "GitHub names it with other capitals, which is no rename", known: knows(moved, whole), answers: map[string]any{"Locate": "Acme/Web", "ReadIssue": errAway},
			asked: []string{"Locate", "ReadIssue"}, err: "unavailable", check: atPlace("acme/web", 12, 7),
		},
		{name: "a card without an issue, and the name is as it was", link: noIssue, known: moved, err: "moved", check: atPlace("acme/web", 0, 0)},
		{
			name: "a redirect shows the same issue under another name", known: fails(onGitHub(&mapping.MovedError{Issue: new(issueOf(inRepo("acme/new", 12)))})),
			answers: map[string]any{"Rename": None{}}, asked: []string{"Rename"}, err: "its repository is now acme/new", check: all(atPlace("acme/new", 12, 7), tells()),
		},
		{
			name: "a redirect shows it, and the store does not take the new name", known: fails(onGitHub(&mapping.MovedError{Issue: new(issueOf(inRepo("acme/new", 12)))})),
			answers: map[string]any{"Rename": errAway}, asked: []string{"Rename"}, err: "unavailable", check: atPlace("acme/web", 12, 7),
		},
	})
}

// inRepo is the issue at another address.
func inRepo(repo string, number int) func(*mapping.Issue) {
	return func(i *mapping.Issue) { i.Repo, i.Number = repo, number }
}

// TestFollowATransfer: a transferred issue gets another id and another number.
func TestFollowATransfer(t *testing.T) {
	next := issueOf(inRepo("acme/web", 30), func(i *mapping.Issue) { i.ID = 8 })
	to := func(i mapping.Issue) func(work) { return fails(onGitHub(&mapping.MovedError{Issue: &i})) }
	other := next
	other.Repo = "acme/other"
	both := func(r *mapping.Route) { r.Repositories = []string{"acme/web", "acme/other"} }
	away := fails(onGitHub(&mapping.MovedError{Location: "https://github/acme/secret/issues/3"}))
	enters := func(l *mapping.Link) { l.State = mapping.Entering }
	gone := func(l *mapping.Link) { l.Gone = map[mapping.Side]int{mapping.GitHub: 1} }
	followed := all(atPlace("acme/web", 30, 8), tells("moved"), is("its card's footer is written anew", func(w work) bool { return w.pair.Unfinished }))
	put := []string{"ReadPrivate", "Save"}
	stays := all(atPlace("acme/web", 12, 7), tells())
	marked := func(born time.Time) func(work) {
		i := next
		i.Author, i.CreatedAt, i.Body = "bridge", born, testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: "n", Partner: "c"})
		return toldOf(mapping.IssueRef(8), &i, store.Snapshot{})
	}
	read := map[string]any{"ReadIssue": &mapping.MovedError{Location: "https://github/acme/secret/issues/3"}}
	made := func(l *mapping.Link) { l.Origin, l.Issue.Author, l.Issue.Born = mapping.Planning, "bridge", noon }
	checkRule(t, readdresses, []ruleCase{
		{
			name: "out of reach, and back: only its marker shows where it is", link: made, known: knows(away, marked(noon)), answers: with(read, map[string]any{"ReadPrivate": true}),
			asked: append([]string{"ReadIssue"}, put...), err: "its issue is now acme/web#30", check: followed,
		},
		{
			name: "out of reach, and a late event shows what it was before", link: links(made, func(l *mapping.Link) { l.Former = []int64{8} }), known: knows(away, marked(noon)), answers: read,
			asked: []string{"ReadIssue", "Save"}, check: isAwayIn("another repository", "which the bridge cannot read"),
		},
		{
			name: "out of reach, and a younger issue carries its marker", link: made, known: knows(away, marked(noon.Add(time.Second))), answers: read,
			asked: []string{"ReadIssue", "Save"}, check: isAwayIn("another repository", "which the bridge cannot read"),
		},
		{name: "within its repository", known: to(next), answers: map[string]any{"ReadPrivate": true}, asked: put, err: "its issue is now acme/web#30", check: followed},
		{
			name: "it was missing at its old address", link: gone, known: to(next), answers: map[string]any{"ReadPrivate": true}, asked: put, err: "its issue is now",
			check: is("it is missing no more", func(w work) bool { return len(w.pair.Gone) == 0 }),
		},
		{
			name: "a write is not redirected: a read is", known: fails(onGitHub(mapping.ErrMoved)), answers: map[string]any{"ReadIssue": &mapping.MovedError{Issue: &next}, "ReadPrivate": true},
			asked: append([]string{"ReadIssue"}, put...), err: "its issue is now acme/web#30", check: followed,
		},
		{
			name: "a read finds the issue where it was: GitHub contradicts itself", known: fails(onGitHub(mapping.ErrMoved)), answers: map[string]any{"ReadIssue": issueOf()},
			asked: []string{"ReadIssue"}, err: "does not agree with itself", check: stays,
		},
		{
			name: "to a public repository, where nothing of planning may be shown", known: to(other), route: both, answers: map[string]any{"ReadPrivate": false},
			asked: put, err: "its issue is now acme/other#30",
			check: all(atPlace("acme/other", 30, 8), isAwayIn("acme/other", "which is public, and its route does not allow that"), tells("left", "moved")),
		},
		{
			name: "to a public repository by a route that only goes to planning", known: to(other), route: func(r *mapping.Route) { both(r); r.Direction = mapping.ToPlanning },
			asked: []string{"Save"}, err: "its issue is now acme/other#30", check: all(atPlace("acme/other", 30, 8), isState(mapping.Linked, "")),
		},
		{
			name: "to a public repository by a route that allows that", known: to(other), route: func(r *mapping.Route) { both(r); r.AllowPublic = true },
			asked: []string{"Save"}, err: "its issue is now acme/other#30", check: isState(mapping.Linked, ""),
		},
		{
			name: "GitHub does not say whether the repository is public: the link stays as it was", known: to(next), answers: map[string]any{"ReadPrivate": errAway},
			asked: put[:1], err: "unavailable", check: stays,
		},
		{
			name: "to a repository without a route", known: to(other), asked: []string{"Save"}, err: "its issue is now acme/other#30",
			check: all(isAwayIn("acme/other", "for which there is no route"), tells("left", "moved")),
		},
		{
			name: "to a repository of another project's route", known: to(other), set: func(s *Settings) {
				s.Routes = mapping.NewRoutes([]mapping.Route{{Name: "web", Project: "p", Repositories: []string{"acme/web"}}, {Name: "o", Project: "q", Repositories: []string{"acme/other"}}})
			}, asked: []string{"Save"}, err: "its issue is now acme/other#30",
			check: isAwayIn("acme/other", "whose routes belong to another planning project"),
		},
		{
			name: "to a repository without a route, before it entered: the link is removed", link: enters, known: to(other), err: errRemove.Error(), check: stays,
		},
		{name: "the store does not take it: the link stays as it was", known: to(next), answers: map[string]any{"ReadPrivate": true, "Save": errAway}, asked: put, err: "unavailable", check: stays},
		{
			name: "it was taken for a new issue: that link goes first", known: to(next), answers: map[string]any{"ReadPrivate": true, "Save": store.ErrConflict},
			asked: put, err: "acme/web#30 was taken for a new issue", check: stays,
		},
		{
			name: "another link has it, and this one has not entered: it is removed", link: enters, known: to(next), answers: map[string]any{"ReadPrivate": true, "Save": store.ErrConflict},
			asked: put, err: errRemove.Error(), check: stays,
		},
		{
			name: "the issue became a discussion: it is gone", known: fails(onGitHub(mapping.ErrMoved)),
			answers: map[string]any{"ReadIssue": &mapping.MovedError{Location: "https://github/acme/web/discussions/4"}, "ReadArchived": false, "Missed": Absence{First: noon}},
			asked:   []string{"ReadIssue", "ReadArchived", "Missed"}, err: "to be read once more",
		},
		{
			name: "to where the token does not reach", known: fails(onGitHub(mapping.ErrMoved)), answers: map[string]any{"ReadIssue": &mapping.MovedError{Repo: "acme/secret", Number: 3}},
			asked: []string{"ReadIssue", "Save"}, check: all(isAwayIn("acme/secret", "which the bridge cannot read"), tells("left"), atPlace("acme/web", 12, 7)),
		},
		{
			name: "to an address that names no repository", known: fails(onGitHub(mapping.ErrMoved)), answers: map[string]any{"ReadIssue": &mapping.MovedError{Location: "https://github/x"}},
			asked: []string{"ReadIssue", "Save"}, check: isAwayIn("another repository", "which the bridge cannot read"),
		},
		{
			name: "to where the token does not reach, before it entered", link: enters, known: away, answers: map[string]any{"ReadIssue": &mapping.MovedError{Repo: "acme/secret", Number: 3}},
			asked: []string{"ReadIssue"}, err: errRemove.Error(),
		},
		{
			name: "the issue cannot be read", known: away, answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, err: "unavailable", check: stays,
		},
	})
}

// TestATransferDropsTheProgressLabel: GitHub drops the label where the new repository lacks it.
func TestATransferDropsTheProgressLabel(t *testing.T) {
	rule := func(w work) (verdict, error) {
		mover(w).keepState(w.issue)
		return pass, nil
	}
	doing := agreed(mapping.State, mapping.StateInProgress, mapping.StateInProgress)
	checkRule(t, rule, []ruleCase{
		{name: "it was dropped: no person changed the state", link: doing, known: unchanged(), check: agreedOn(mapping.State, mapping.StateTodo, mapping.StateTodo, 1)},
		{name: "it was kept", link: doing, known: unchanged(labelled("doing")), check: agreedOn(mapping.State, mapping.StateInProgress, mapping.StateInProgress, 1)},
		{name: "a person closed it", link: doing, known: unchanged(inState("closed")), check: agreedOn(mapping.State, mapping.StateInProgress, mapping.StateInProgress, 1)},
		{
			name: "it had none", link: agreed(mapping.State, mapping.StateDone, mapping.StateDone), known: unchanged(), check: agreedOn(mapping.State, mapping.StateDone, mapping.StateDone, 1),
		},
		{name: "the sides never agreed on a state", link: func(l *mapping.Link) { delete(l.Base, mapping.State) }, known: unchanged(), check: notAgreedOn(mapping.State)},
	})
}

// TestDifferentIssue: another issue may answer at the address of the link's own one.
func TestDifferentIssue(t *testing.T) {
	t.Parallel()
	born := noon.Add(-time.Hour)
	own := mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12, Author: "ann", Born: born}
	for name, c := range map[string]struct {
		own         mapping.IssueID
		id          int64
		author      string
		created     time.Time
		moved, gone bool
	}{
		"the link's own":                                     {own: own, id: 7, author: "bob"},
		"the link has no issue yet":                          {own: mapping.IssueID{Repo: "acme/web"}, id: 8, author: "bob"},
		"the same one, after transfers away and back":        {own: own, id: 8, author: "ann", created: born, moved: true},
		"the same author, and the time of birth is not told": {own: mapping.IssueID{ID: 7, Author: "ann"}, id: 8, author: "ann", created: noon, moved: true},
		"another person's":                                   {own: own, id: 8, author: "bob", created: born, gone: true},
		"a later one of the same person's":                   {own: own, id: 8, author: "ann", created: noon, gone: true},
	} {
		err := differentIssue(&c.own, &mapping.Issue{ID: c.id, Repo: "acme/web", Number: 12, Author: c.author, CreatedAt: c.created})
		if unreachable(err) != (c.moved || c.gone) || IsGone(err) != c.gone {
			t.Errorf("%s: %v; moved %t, gone %t", name, err, c.moved, c.gone)
		}
	}
}
