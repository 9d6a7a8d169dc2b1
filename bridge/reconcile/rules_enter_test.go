package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// observed is the answer of another link that took what was handed to it.
var observed = []store.Observed{{Key: store.Key{Project: "p", Link: "other"}}}

// begun says what is wrong where nothing is to be made on a side.
func begun(side mapping.Side) func(work) string {
	return all(isState(mapping.Creating, ""), is("its partner is to be made", func(w work) bool {
		i := w.pair.Intent
		return i != nil && i.Side == side && !i.Sent && w.link.Epoch == "e"
	}))
}

func TestEnterIssue(t *testing.T) {
	enters := func(l *mapping.Link) { entering(l); l.Created = noon.Add(-time.Minute) }
	known := func(changes ...func(*mapping.Issue)) func(work) {
		return knows(whole, issueTold(issueOf(changes...)), func(w work) { w.link.Epoch = "" })
	}
	elsewhere := knows(known(), func(w work) { w.route = &mapping.Route{Name: "web", Project: "p"} })
	found := map[string]any{"FindFormer": []store.Key{}}
	former := []string{"FindFormer"}
	still := isState(mapping.Entering, "")
	lastly := func(more map[string]any) map[string]any {
		return with(map[string]any{"FindFormer": []store.Key{}}, more)
	}
	closed := func(after time.Duration) func(*mapping.Issue) {
		return func(i *mapping.Issue) { i.State, i.ClosedAt = "closed", i.CreatedAt.Add(after) }
	}
	delays := func(s *Settings) { s.EnterDelay = time.Second }
	gone := errRemove.Error()
	checkRule(t, enter, []ruleCase{
		{name: "an issue of a person", link: enters, known: known(), answers: found, asked: former, check: all(begun(mapping.Planning), is("it goes by its route", func(w work) bool { return w.link.Route == "web" && w.issue != nil }))},
		{name: "the issue is not known: it is read", link: enters, known: func(w work) { whole(w); w.link.Epoch = "" }, answers: lastly(map[string]any{"ReadIssue": issueOf()}), asked: []string{"ReadIssue", "FindFormer"}, check: begun(mapping.Planning)},
		{name: "GitHub is away", link: enters, known: whole, answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, err: "unavailable", check: still},
		{name: "an operator asks for a read", link: enters, known: knows(known(), func(w work) { w.mustRead = true }), answers: lastly(map[string]any{"ReadIssue": issueOf()}), asked: []string{"ReadIssue", "FindFormer"}, check: begun(mapping.Planning)},
		{
			name: "its event came late: it is read", link: enters, known: knows(whole, issueTold(issueOf(func(i *mapping.Issue) { i.Delivery, i.UpdatedAt = "d", noon.Add(-time.Hour) }), func(s *store.Snapshot) { s.Seen = noon })),
			answers: lastly(map[string]any{"ReadIssue": issueOf()}), asked: []string{"ReadIssue", "FindFormer"}, check: isState(mapping.Creating, ""),
		},
		{name: "the bridge made it", link: enters, known: known(func(i *mapping.Issue) { i.Author = "bridge" }), err: gone, check: still},
		{name: "the bridge made it, and it had a card in another project", link: links(enters, func(l *mapping.Link) { l.Before = &mapping.FormerCard{} }), known: known(func(i *mapping.Issue) { i.Author = "bridge" }), answers: map[string]any{"FindFormer": []store.Key{}, "ReadEdits": []mapping.IssueEvent{}}, asked: []string{"ReadEdits", "FindFormer"}, check: begun(mapping.Planning)},
		{name: "it was closed as soon as it was opened", link: enters, set: delays, known: known(closed(time.Second)), err: gone, check: still},
		{name: "it was open for longer", link: enters, set: delays, known: known(closed(time.Second + 1)), answers: found, asked: former, check: begun(mapping.Planning)},
		{name: "it was closed at once, and an import takes all", link: links(enters, func(l *mapping.Link) { l.Import = mapping.ImportAll }), set: delays, known: known(closed(0)), answers: found, asked: former, check: begun(mapping.Planning)},
		{name: "it was closed at once, and an import takes open ones", link: links(enters, func(l *mapping.Link) { l.Import = mapping.ImportOpen }), set: delays, known: known(closed(0)), err: gone},
		{name: "no route takes it, and it has no parent", link: enters, route: func(r *mapping.Route) { r.Labels = []string{"plan"} }, known: known(), answers: map[string]any{"Remembered": 0, "ReadParent": (*mapping.Issue)(nil), "Remember": 0}, asked: []string{"Remembered", "ReadParent", "Remember", "Remember"}, err: gone},
		{name: "its route only goes to GitHub", link: enters, route: func(r *mapping.Route) { r.Direction = mapping.ToGitHub }, known: known(), err: gone},
		{
			name: "its label leads to another project: that gets it", link: enters, known: elsewhere, answers: map[string]any{"Observe": observed}, asked: []string{"Observe"}, err: gone,
			set: func(s *Settings) {
				s.Routes = mapping.NewRoutes([]mapping.Route{{Name: "other", Project: "q", Repositories: []string{"acme/web"}}})
			},
		},
		{
			name: "it does, and the store does not take it", link: enters, known: elsewhere, answers: map[string]any{"Observe": errAway}, asked: []string{"Observe"}, err: "hand over to project", check: still,
			set: func(s *Settings) {
				s.Routes = mapping.NewRoutes([]mapping.Route{{Name: "other", Project: "q", Repositories: []string{"acme/web"}}})
			},
		},
		{name: "an event told that it was opened: it was no other issue", link: enters, known: knows(known(), func(w work) { w.opened = true }), check: begun(mapping.Planning)},
		{name: "the store cannot tell what it was yet", link: enters, known: known(), answers: map[string]any{"FindFormer": store.ErrNotIndexed}, asked: former, err: "is being indexed", check: still},
		{name: "the store does not say what it was", link: enters, known: known(), answers: map[string]any{"FindFormer": errAway}, asked: former, err: "look for what the issue was", check: still},
		{
			name: "its card is there: it was linked when the store was lost", link: enters, asked: []string{"FindLink"}, answers: map[string]any{"FindLink": store.ErrNotFound},
			known: knows(known(), cardTold(mapping.Card{ID: "c9", CID: 9, Title: versioned("a", 1), Summary: versioned(testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkCard, Link: "gone", Nonce: "n", Partner: "7"}), 1)})),
			check: all(isState(mapping.Linked, ""), tells("create"), is("the card is its partner", func(w work) bool { return w.pair.Card.ID == "c9" && w.pair.Intent == nil })),
		},
	})
}

func TestEnterSubIssues(t *testing.T) {
	enters := func(l *mapping.Link) { entering(l); l.Created = noon.Add(-time.Minute) }
	sub := func(r *mapping.Route) { r.Tasks = mapping.TasksSubIssues }
	parent := &mapping.Issue{ID: 1, Repo: "acme/web", Number: 1, State: "open", UpdatedAt: noon}
	has := func(state mapping.LinkState) mapping.Link {
		return mapping.Link{ID: "root", Project: "p", Route: "web", Pair: mapping.Pair{State: state, Issue: mapping.IssueID{ID: 1, Repo: "acme/web", Number: 1}}}
	}
	answers := func(l *mapping.Link, more map[string]any) map[string]any {
		a := map[string]any{"Remembered": 0, "Remember": 0, "ReadParent": turns{parent, (*mapping.Issue)(nil)}, "FindFormer": []store.Key{}, "FindLink": store.ErrNotFound, "Observe": observed}
		if l != nil {
			a["FindLink"], a["ReadLink"] = store.Key{Project: "p", Link: "root"}, l
		}
		return with(a, more)
	}
	linked, creatingRoot, gone := has(mapping.Linked), has(mapping.Creating), has(mapping.Orphaned)
	asks := []string{"FindFormer", "Remembered", "ReadParent", "Remember", "Remember"}
	then := func(more ...string) []string { return append(append([]string{}, asks...), more...) }
	known := knows(whole, issueTold(issueOf()), func(w work) { w.link.Epoch = "" })
	imported := func(parent string) func(work) {
		return knows(whole, issueTold(issueOf(func(i *mapping.Issue) { i.Parent = parent })))
	}
	checkRule(t, enter, []ruleCase{
		{name: "it has no parent: it gets a card", link: enters, route: sub, known: known, answers: answers(nil, map[string]any{"ReadParent": (*mapping.Issue)(nil)}), asked: asks, check: begun(mapping.Planning)},
		{name: "its parent has a card: it becomes a task", link: enters, route: sub, known: known, answers: answers(&linked, nil), asked: then("FindLink", "ReadLink", "Observe"), err: errRemove.Error()},
		{name: "its parent is about to get one: it waits", link: enters, route: sub, known: known, answers: answers(&creatingRoot, nil), asked: then("FindLink", "ReadLink"), err: "is to get a card first", check: isState(mapping.Entering, "")},
		{
			name: "it has waited long enough", link: links(enters, func(l *mapping.Link) { l.Created = noon.Add(-parentFor - 1) }), route: sub, known: known, answers: answers(&creatingRoot, nil),
			asked: then("FindLink", "ReadLink", "Remembered", "ReadParent", "Remember", "Remember"), check: begun(mapping.Planning),
		},
		{name: "its parent's card is gone: it gets one of its own", link: enters, route: sub, known: known, answers: answers(&gone, nil), asked: then("FindLink", "ReadLink", "Remembered", "ReadParent", "Remember", "Remember"), check: begun(mapping.Planning)},
		{name: "no link knows its parent, which enters with it", link: enters, route: sub, known: known, answers: answers(nil, nil), asked: then("FindLink", "Observe"), err: "is to get a card first", check: isState(mapping.Entering, "")},
		{
			name: "no link knows its parent, which does not enter", link: enters, route: sub, known: known, answers: answers(nil, map[string]any{"ReadParent": turns{&mapping.Issue{ID: 1, Repo: "acme/web", Number: 1, State: "closed"}, (*mapping.Issue)(nil)}}),
			asked: then("FindLink", "Remembered", "ReadParent", "Remember", "Remember"), check: begun(mapping.Planning),
		},
		{name: "the store does not say who has its parent", link: enters, route: sub, known: known, answers: answers(nil, map[string]any{"FindLink": errAway}), asked: then("FindLink"), err: "find issue:1"},
		{name: "its parent is being moved between two links", link: enters, route: sub, known: known, answers: with(answers(&linked, nil), map[string]any{"ReadLink": store.ErrNotFound}), asked: then("FindLink", "ReadLink", "Remembered", "ReadParent", "Remember", "Remember"), check: begun(mapping.Planning)},
		{name: "parents may not be read: it gets a card", link: enters, route: sub, known: known, answers: answers(nil, map[string]any{"ReadParent": mapping.ErrForbidden}), asked: asks, check: begun(mapping.Planning)},
		{name: "its parent is not told: it is tried again", link: enters, route: sub, known: known, answers: answers(nil, map[string]any{"ReadParent": errAway}), asked: []string{"FindFormer", "Remembered", "ReadParent", "Remembered", "Remember"}, err: "unavailable", check: isState(mapping.Entering, "")},
		{
			name: "it was not told twice before: it gets a card", link: enters, route: sub, known: known, answers: answers(nil, map[string]any{"ReadParent": errAway, "Remembered": turns{0, 2}}), asked: []string{"FindFormer", "Remembered", "ReadParent", "Remembered", "Remember", "Remember"}, check: begun(mapping.Planning),
		},
		{
			name: "it was not told once before, in a repository that is known for it", link: enters, route: sub, known: known, answers: answers(nil, map[string]any{"ReadParent": errAway, "Remembered": 1}), asked: []string{"FindFormer", "Remembered", "ReadParent", "Remembered", "Remember", "Remember"}, check: begun(mapping.Planning),
		},
		{name: "GitHub is away as a whole: that does not count", link: enters, route: sub, known: known, process: process{down: true}, answers: answers(nil, map[string]any{"ReadParent": errAway, "Remembered": 2}), asked: []string{"FindFormer", "Remembered", "ReadParent"}, err: "unavailable"},
		{name: "the route makes no tasks of them", link: enters, known: known, answers: answers(nil, nil), asked: []string{"FindFormer"}, check: begun(mapping.Planning)},
		{name: "it had a card of its own in another project", link: links(enters, func(l *mapping.Link) { l.Before = &mapping.FormerCard{} }), route: sub, known: known, answers: answers(nil, nil), asked: []string{"FindFormer"}, check: begun(mapping.Planning)},
		{name: "an import's listing says that it has no parent", link: links(enters, func(l *mapping.Link) { l.Import = mapping.ImportOpen }), route: sub, known: imported(mapping.NoParent), answers: answers(nil, nil), asked: []string{"FindFormer"}, check: isState(mapping.Creating, "")},
		{name: "an import's listing does not say", link: links(enters, func(l *mapping.Link) { l.Import = mapping.ImportOpen }), route: sub, known: imported(""), answers: answers(&linked, nil), asked: then("FindLink", "ReadLink", "Observe"), err: errRemove.Error()},
	})
}

func TestEnterCard(t *testing.T) {
	enters := func(l *mapping.Link) {
		l.State, l.Origin, l.Issue, l.Base = mapping.Entering, mapping.Planning, mapping.IssueID{}, nil
	}
	makes := func(r *mapping.Route) { r.CreateIssues, r.NewCardsIn = true, "acme/web" }
	card := func(change ...func(*mapping.Card)) func(work) {
		c := mapping.Card{ID: "c", Version: 1, Title: versioned("a", 1)}
		for _, f := range change {
			f(&c)
		}
		return knows(whole, cardTold(c), func(w work) { w.link.Epoch = "" })
	}
	private := map[string]any{"ReadPrivate": true, "ReadRepositoryID": int64(3)}
	asked := []string{"ReadPrivate", "ReadRepositoryID"}
	forgets := all(isState(mapping.Entering, ""), is("another route may take it yet", func(w work) bool { return w.pair.Issue.Repo == "" && w.pair.Intent == nil }))
	begins := all(begun(mapping.GitHub), is("the issue is made in that repository", func(w work) bool { return w.pair.Issue.Repo == "acme/web" }))
	counted := func(c *mapping.Card) { c.CountersVersion = 1 }
	tracked := func(repo string) []mapping.Task {
		mark := mapping.Marker{Kind: mapping.MarkTask, Link: "gone", Nonce: "n", Partner: trackingPartner}
		return []mapping.Task{{ID: "t0"}, {ID: "t", Summary: versioned(testKeys.AppendFooter(trackingText, mark, repo, 5, "https://github.com/"+repo+"/issues/5"), 0)}}
	}
	told := append([]string{"ReadPrivate", "ReadTasks"}, asked[1:]...)
	named := append([]string{"ReadPrivate", "ReadTasks", "ReadLink", "Locate", "ReadIssue"}, asked[1:]...)
	goneAsked := []string{"ReadPrivate", "ReadTasks", "ReadLink", "Locate", "ReadIssue", "Locate", "ReadArchived"}
	checkRule(t, enter, []ruleCase{
		{name: "a task names its issue, where no route is", link: enters, route: makes, known: card(counted), answers: with(map[string]any{"ReadLink": store.ErrNotFound, "ReadTasks": tracked("acme/away"), "Locate": "acme/away"}, private), asked: []string{"ReadPrivate", "ReadTasks", "ReadLink", "Locate"}, err: errRemove.Error(), check: forgets},
		{name: "two tasks name one issue: it is asked for once", link: enters, route: makes, known: card(counted), answers: with(map[string]any{"ReadLink": store.ErrNotFound, "ReadTasks": append(tracked("acme/web"), tracked("acme/web")...), "Locate": "acme/web", "ReadIssue": issueOf()}, private), asked: named, check: begins},
		{name: "nobody can read that repository", link: enters, route: makes, known: card(counted), answers: with(map[string]any{"ReadLink": store.ErrNotFound, "ReadTasks": tracked("acme/away"), "Locate": mapping.ErrNotFound}, private), asked: []string{"ReadPrivate", "ReadTasks", "ReadLink", "Locate"}, err: errRemove.Error(), check: forgets},
		{name: "GitHub does not say what it is called now", link: enters, route: makes, known: card(counted), answers: with(map[string]any{"ReadLink": store.ErrNotFound, "ReadTasks": tracked("acme/away"), "Locate": errAway}, private), asked: []string{"ReadPrivate", "ReadTasks", "ReadLink", "Locate"}, err: "unavailable", check: forgets},
		{name: "that repository has a route's name now", link: enters, route: makes, known: card(counted), answers: with(map[string]any{"ReadLink": store.ErrNotFound, "ReadTasks": tracked("acme/away"), "Locate": "acme/web", "ReadIssue": issueOf()}, private), asked: []string{"ReadPrivate", "ReadTasks", "ReadLink", "Locate", "ReadIssue", "ReadRepositoryID"}, check: begins},
		{name: "a task names an issue where a route is, and that was looked for", link: enters, route: makes, known: card(counted), answers: with(map[string]any{"ReadLink": store.ErrNotFound, "ReadTasks": tracked("acme/web"), "Locate": "acme/web", "ReadIssue": issueOf()}, private), asked: named, check: begins},
		{
			name: "a task names an issue that is gone: it is read once more", link: enters, route: makes, known: card(counted), answers: with(map[string]any{"ReadLink": store.ErrNotFound, "ReadTasks": tracked("acme/web"), "ReadIssue": mapping.ErrNotFound, "Locate": "acme/web", "ReadArchived": false}, private),
			asked: goneAsked, err: "to be read once more", check: all(forgets, is("the time of the first answer is recorded", func(w work) bool { return w.pair.GoneSince.Equal(noon) })),
		},
		{
			name: "a task names an issue that is gone still: there is no other one", link: links(enters, func(l *mapping.Link) { l.GoneSince = noon.Add(-time.Minute) }), route: makes, known: card(counted),
			answers: with(map[string]any{"ReadLink": store.ErrNotFound, "ReadTasks": tracked("acme/web"), "ReadIssue": mapping.ErrMoved, "Locate": "acme/web", "ReadArchived": false}, private), asked: goneAsked, err: errRemove.Error(), check: forgets,
		},
		{
			name: "a task names an issue that is there again", link: links(enters, func(l *mapping.Link) { l.GoneSince = noon.Add(-time.Minute) }), route: makes, known: card(counted),
			answers: with(map[string]any{"ReadLink": store.ErrNotFound, "ReadTasks": tracked("acme/web"), "Locate": "acme/web", "ReadIssue": issueOf()}, private), asked: named, check: all(begins, is("it was never gone", func(w work) bool { return w.pair.GoneSince.IsZero() })),
		},
		{name: "its repository does not answer", link: enters, route: makes, known: card(counted), answers: with(map[string]any{"ReadLink": store.ErrNotFound, "ReadTasks": tracked("acme/web"), "ReadIssue": mapping.ErrNotFound, "Locate": "acme/web", "ReadArchived": errAway}, private), asked: goneAsked, err: "unavailable", check: forgets},
		{name: "its tasks are of people", link: enters, route: makes, known: card(counted), answers: with(map[string]any{"ReadTasks": []mapping.Task{{ID: "t0"}}}, private), asked: told, check: begins},
		{name: "its tasks are not told", link: enters, route: makes, known: card(counted), answers: with(map[string]any{"ReadTasks": errAway}, private), asked: told[:2], err: "unavailable", check: forgets},
		{name: "a copied card has the tasks of another one", link: links(enters, func(l *mapping.Link) { l.Copied = true }), route: makes, known: card(counted), answers: private, asked: asked, check: begins},
		{name: "a card of a person", link: enters, route: makes, known: card(), answers: private, asked: asked, check: all(begins, is("the repository's id is known", func(w work) bool { return w.pair.Issue.RepoID == 3 }))},
		{name: "the card is not known: it is read", link: enters, route: makes, known: func(w work) { whole(w); w.link.Epoch = "" }, answers: with(map[string]any{"ReadCard": mapping.Card{ID: "c"}}, private), asked: append([]string{"ReadCard"}, asked...), check: begins},
		{name: "planning is away", link: enters, route: makes, known: whole, answers: map[string]any{"ReadCard": errAway}, asked: []string{"ReadCard"}, err: "unavailable", check: isState(mapping.Entering, "")},
		{name: "a placeholder", link: enters, route: makes, known: card(func(c *mapping.Card) { c.Placeholder = true }), err: errRemove.Error()},
		{name: "the repository is public", link: enters, route: makes, known: card(), answers: map[string]any{"ReadPrivate": false}, asked: asked[:1], err: errRemove.Error(), check: forgets},
		{name: "it is public, and the route allows that", link: enters, route: func(r *mapping.Route) { makes(r); r.AllowPublic = true }, known: card(), answers: private, asked: asked[1:], check: begins},
		{name: "GitHub does not say whether it is", link: enters, route: makes, known: card(), answers: map[string]any{"ReadPrivate": errAway}, asked: asked[:1], err: "unavailable", check: forgets},
		{name: "the repository's id is not told", link: enters, route: makes, known: card(), answers: map[string]any{"ReadPrivate": true, "ReadRepositoryID": errAway}, asked: asked, err: "unavailable", check: forgets},
		{
			name: "its issue is there: it was linked when the store was lost", link: enters, route: makes, asked: []string{"FindLink"}, answers: map[string]any{"FindLink": store.ErrNotFound},
			known: knows(card(), issueTold(issueOf(func(i *mapping.Issue) {
				i.Author, i.Body = "bridge", testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkIssue, Link: "gone", Nonce: "n", Partner: "c"})
			}))),
			check: all(isState(mapping.Linked, ""), tells("create"), is("the issue is its partner", func(w work) bool { return w.pair.Issue.ID == 7 && w.mustRead })),
		},
	})
}
