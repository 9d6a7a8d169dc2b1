package reconcile

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// hands says what is wrong where the first observation for another link is not as it should be.
func hands(what string, holds func(*store.Observation) bool) func([]any) string {
	return func(effects []any) string {
		for _, e := range effects {
			if o, is := e.(Observe); is {
				if !holds(&o.Observations[0]) {
					return fmt.Sprintf("not so: %s: %+v", what, o.Observations[0])
				}
				return ""
			}
		}
		return "nothing was handed to another link"
	}
}

// eventOf is the event of an observation.
func eventOf(o *store.Observation) (e mapping.IssueEvent) {
	if err := json.Unmarshal(o.Event, &e); err != nil {
		panic(err)
	}
	return e
}

// TestCopiesOfACard: a person's copy of the bridge's card is a card of its own.
func TestCopiesOfACard(t *testing.T) {
	rule := does(entrant.enterCopies)
	fifth := func(l *mapping.Link) { l.Card.CID = 5 }
	makes := func(r *mapping.Route) { r.CreateIssues, r.NewCardsIn = true, "acme/web" }
	footer := testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkCard, Link: "l", Nonce: "n", Partner: "7"})
	copied := func(change ...func(*mapping.Card)) func(work) {
		card := mapping.Card{ID: "c9", CID: 9, Version: 3, BucketName: "Incoming", Title: versioned("a", 1), Summary: versioned(footer, 1)}
		for _, f := range change {
			f(&card)
		}
		return knows(whole, toldOf(mapping.CardRef(card.ID), &card, store.Snapshot{}))
	}
	free := func(observe any) map[string]any {
		return map[string]any{"FindLink": store.ErrNotFound, "Observe": observe}
	}
	asked := []string{"FindLink", "Observe to p: 1"}
	none := tells()
	checkRule(t, rule, []ruleCase{
		{name: "nothing was seen", link: fifth, route: makes, known: whole, check: none},
		{
			name: "a copy in a bucket of a route that makes issues", link: fifth, route: makes, known: copied(), answers: free(observed), asked: asked, check: tells("copied"),
			wrong: hands("it gets a link of its own, with the copy as it was seen", func(o *store.Observation) bool {
				l := o.Create
				return l != nil && l.Copied && l.ID != "" && l.ID != "l" && l.Nonce != "" && l.Nonce != "n" && l.State == mapping.Entering && l.Route == "web" &&
					len(o.Refs) == 1 && o.Refs[0] == mapping.CardRef("c9") && o.Item == o.Refs[0] && o.At == 3 && o.Digest != "" && len(o.Data) > 0
			}),
		},
		{name: "a copy of a card whose issue is out of its route", link: links(fifth, func(l *mapping.Link) { l.State = mapping.Left }), route: makes, known: copied(), answers: free(observed), asked: asked, check: tells("copied")},
		{name: "a copy of a card that was unlinked", link: links(fifth, func(l *mapping.Link) { l.State, l.Parted = mapping.Dormant, true }), route: makes, known: copied(), answers: free(observed), asked: asked, check: tells("copied")},
		{name: "a copy of a card without a route", link: links(fifth, func(l *mapping.Link) { l.State = mapping.Dormant }), route: makes, known: copied(), check: none},
		{name: "a copy of a card that has no issue yet", link: links(fifth, func(l *mapping.Link) { l.State = mapping.Creating }), route: makes, known: copied(), check: none},
		{name: "a copy of a card that is gone", link: links(fifth, func(l *mapping.Link) { l.State = mapping.Orphaned }), route: makes, known: copied(), check: none},
		{name: "the pair has no card yet", link: links(fifth, func(l *mapping.Link) { l.Card.ID = "" }), route: makes, known: copied(), check: none},
		{name: "the card itself", link: fifth, route: makes, known: copied(func(c *mapping.Card) { c.ID = "c" }), check: none},
		{name: "a placeholder", link: fifth, route: makes, known: copied(func(c *mapping.Card) { c.Placeholder = true }), check: none},
		{name: "it is older than the card: that is the copy", link: fifth, route: makes, known: copied(func(c *mapping.Card) { c.CID = 4 }), check: none},
		{name: "it has the number of the card", link: fifth, route: makes, known: copied(func(c *mapping.Card) { c.CID = 5 }), check: none},
		{name: "the number of the card is not known", route: makes, known: copied(), check: none},
		{name: "it has no marker", link: fifth, route: makes, known: copied(func(c *mapping.Card) { c.Summary.Value = "text" }), check: none},
		{name: "another link has it already", link: fifth, route: makes, known: copied(), answers: map[string]any{"FindLink": store.Key{Project: "p", Link: "x"}}, asked: asked[:1], check: none},
		{name: "the store does not say who has it", link: fifth, route: makes, known: copied(), answers: map[string]any{"FindLink": errAway}, asked: asked[:1], err: "find card:c9", check: none},
		{
			name: "the project was not seen as a whole", link: fifth, route: makes, known: knows(copied(), func(w work) { w.epoch = "" }),
			answers: map[string]any{"ReadAdoption": Adoption{}}, asked: adoption, err: notAdopted, check: none,
		},
		{name: "no route makes issues of its bucket: that is told once", link: fifth, known: copied(), answers: map[string]any{"FindLink": store.ErrNotFound, "Remember": 0}, asked: []string{"FindLink", "Remember"}, check: tells("copied")},
		{name: "it was told before", link: fifth, known: copied(), answers: map[string]any{"FindLink": store.ErrNotFound, "Remember": 1}, asked: []string{"FindLink", "Remember"}, check: none},
		{
			name: "it is in another bucket", link: fifth, route: makes, known: copied(func(c *mapping.Card) { c.BucketName = "Done" }),
			answers: map[string]any{"FindLink": store.ErrNotFound, "Remember": 1}, asked: []string{"FindLink", "Remember"}, check: none,
		},
		{name: "the store does not take its link", link: fifth, route: makes, known: copied(), answers: free(errAway), asked: asked, err: "let the copy c9 of its card enter", check: none},
		{
			name: "the store does not say which link it became", link: fifth, route: makes, known: copied(), answers: free([]store.Observed{{}}),
			asked: asked, err: "has just gone", check: none,
		},
	})
}

// TestHandedToAnotherProject has what a link of another project gets of an issue.
func TestHandedToAnotherProject(t *testing.T) {
	rule := func(w work) (verdict, error) {
		route := &mapping.Route{Name: "other", Project: "q", ProjectName: "Q"}
		return pass, entrant(w).moveProject(route)
	}
	gone, alone := errRemove.Error(), links(entering, func(l *mapping.Link) { l.Children = nil })
	checkRule(t, rule, []ruleCase{
		{
			name: "the store takes it", link: alone, known: unchanged(), answers: map[string]any{"Observe": observed}, asked: []string{"Observe to q: 1"}, err: gone,
			wrong: hands("it gets a link of that project, with the issue as it is", func(o *store.Observation) bool {
				l := o.Create
				return l.Project == "q" && l.Route == "other" && l.ID != "l" && l.ID != "" && l.Nonce != "n" && l.Nonce != "" && l.State == mapping.Entering &&
					len(o.Refs) == 1 && o.Refs[0] == mapping.IssueRef(7) && o.Item == o.Refs[0] && o.At == noon.Unix() && o.Digest != "" && len(o.Data) > 0 &&
					eventOf(o).Look == mapping.LookHandedOver
			}),
			check: is("this link is as it was", func(w work) bool { return w.link.Project == "p" && w.link.ID == "l" && w.link.Nonce == "n" }),
		},
		{name: "its link there has just gone", link: entering, known: unchanged(), answers: map[string]any{"Observe": []store.Observed{{}}}, asked: []string{"Observe"}, err: "has just gone"},
		{name: "the store refuses it", link: entering, known: unchanged(), answers: map[string]any{"Observe": []store.Observed{{Err: errAway}}}, asked: []string{"Observe"}, err: "hand over to project Q"},
	})
}

// TestWhatAnIssueWas: an unknown issue may be the transferred one of another link.
func TestWhatAnIssueWas(t *testing.T) {
	rule := does(entrant.handToPredecessor)
	born := issueOf().CreatedAt
	was := func(change ...func(*mapping.Link)) *mapping.Link {
		l := rival("p", func(l *mapping.Link) {
			l.Issue = mapping.IssueID{ID: 3, Repo: "acme/old", Number: 30, Author: "ann", Born: born}
			l.Created, l.Base = noon.Add(-2*time.Hour), map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "a"}}
		})
		for _, f := range change {
			f(l)
		}
		return l
	}
	mine := func(l *mapping.Link) { entering(l); l.Created = noon }
	found := func(l *mapping.Link, there any) map[string]any {
		return map[string]any{"FindFormer": []store.Key{{Project: "p", Link: "other"}}, "ReadLink": l, "ReadIssue": there, "Observe": observed}
	}
	asked := []string{"FindFormer", "ReadLink", "ReadIssue", "Observe to p: 1"}
	here := &mapping.MovedError{Issue: new(issueOf())}
	still := issueOf(func(i *mapping.Issue) { i.ID, i.Repo, i.Number = 3, "acme/old", 30 })
	gone := errRemove.Error()
	is7 := hands("the link learns where its issue is", func(o *store.Observation) bool {
		e := eventOf(o)
		return e.Look == "transferred" && e.Item == mapping.IssueRef(3) && e.Moved != nil && e.Moved.From == 3 && e.Moved.To.ID == 7 && e.Moved.To.Number == 12 &&
			len(o.Refs) == 1 && o.Refs[0] == mapping.IssueRef(3)
	})
	long := func(l *mapping.Link) { l.Issue.Born = born.Add(-time.Hour) }
	checkRule(t, rule, []ruleCase{
		{name: "no issue is like it", link: mine, known: unchanged(), answers: map[string]any{"FindFormer": []store.Key{}}, asked: asked[:1]},
		{name: "its former place leads to it", link: mine, known: unchanged(), answers: found(was(), here), asked: asked, counts: []string{"3 transfer"}, err: gone, wrong: is7},
		{
			name: "its former place leads to another issue", link: mine, known: unchanged(),
			answers: found(was(), &mapping.MovedError{Issue: new(issueOf(func(i *mapping.Issue) { i.ID = 8 }))}), asked: asked[:3],
		},
		{name: "its former place leads nowhere that is known", link: mine, known: unchanged(), answers: found(was(), &mapping.MovedError{Location: "https://github/x"}), asked: asked[:3]},
		{name: "that issue is where it was", link: mine, known: unchanged(), answers: found(was(), still), asked: asked[:3]},
		{
			name: "the link has this very issue: nothing moved", link: mine, known: unchanged(), answers: found(was(func(l *mapping.Link) { l.Issue.ID = 7 }), still), asked: []string{"FindFormer", "ReadLink", "Observe to p: 1"}, err: gone,
			wrong: hands("the link is only told of it", func(o *store.Observation) bool { return eventOf(o).Moved == nil && o.Refs[0] == mapping.IssueRef(7) }),
		},
		{name: "nothing is left there, and all that no two issues share is the same", link: mine, known: unchanged(), answers: found(was(), mapping.ErrGone), asked: asked, err: gone, wrong: is7},
		{name: "nothing is left there, and the title is another one", link: mine, known: unchanged(named("b")), answers: found(was(), mapping.ErrGone), asked: asked[:3]},
		{name: "nothing is left there, and it was opened at another time", link: mine, known: unchanged(), answers: found(was(long), mapping.ErrGone), asked: asked[:3]},
		{name: "nothing is left there, and when it was opened is not known", link: mine, known: unchanged(), answers: found(was(func(l *mapping.Link) { l.Issue.Born = time.Time{} }), mapping.ErrNotFound), asked: asked[:3]},
		{name: "its former place is out of reach", link: mine, known: unchanged(), answers: found(was(), mapping.ErrForbidden), asked: asked[:3]},
		{name: "GitHub is away", link: mine, known: unchanged(), answers: found(was(), errAway), asked: asked[:3], err: "unavailable"},
		{name: "another person opened that one", link: mine, known: unchanged(), answers: found(was(func(l *mapping.Link) { l.Issue.Author = "bob" }), here), asked: asked[:2]},
		{name: "that link is newer", link: mine, known: unchanged(), answers: found(was(func(l *mapping.Link) { l.Created = noon }), here), asked: asked[:2]},
		{
			name: "that link was made after this issue's last update", link: mine, known: unchanged(at(50 * time.Minute)),
			answers: found(was(func(l *mapping.Link) { l.Created = noon.Add(-39 * time.Minute) }), here), asked: asked[:2],
		},
		{
			name: "that link was, and the clocks may differ by that", link: mine, known: unchanged(at(50 * time.Minute)),
			answers: found(was(func(l *mapping.Link) { l.Created = noon.Add(-40 * time.Minute) }), here), asked: asked, err: gone,
		},
		{name: "two issues of one second in one repository, which nobody updated", link: mine, known: unchanged(at(time.Hour)), answers: found(was(func(l *mapping.Link) { l.Issue.Repo = "acme/web" }), here), asked: asked[:2]},
		{name: "two issues of one second in one repository, and somebody updated this one", link: mine, known: unchanged(), answers: found(was(func(l *mapping.Link) { l.Issue.Repo = "acme/web" }), here), asked: asked, err: gone},
		{name: "it was opened at another time, and the title is the same", link: mine, known: unchanged(), answers: found(was(long), here), asked: asked, err: gone, wrong: is7},
		{name: "it was opened at another time, and the title is another one", link: mine, known: unchanged(named("b")), answers: found(was(long), here), asked: asked[:2]},
		{name: "when it was opened is not known, and the title is the same", link: mine, known: unchanged(), answers: found(was(func(l *mapping.Link) { l.Issue.Born = time.Time{} }), here), asked: asked, err: gone},
		{
			name: "this issue is older than that link", link: mine, known: unchanged(func(i *mapping.Issue) { i.CreatedAt = noon.Add(-3 * time.Hour) }),
			answers: found(was(long), here), asked: asked[:2],
		},
		{name: "that link hands its own issue over", link: mine, known: unchanged(), answers: found(was(func(l *mapping.Link) { l.Moving = &mapping.Moving{Link: "next"} }), here), asked: asked[:2]},
		{name: "that link was just removed", link: mine, known: unchanged(), answers: with(found(nil, here), map[string]any{"ReadLink": store.ErrNotFound}), asked: asked[:2]},
		{name: "that link cannot be read", link: mine, known: unchanged(), answers: with(found(nil, here), map[string]any{"ReadLink": errAway}), asked: asked[:2], err: "read link"},
		{name: "the store does not take the news", link: mine, known: unchanged(), answers: with(found(was(), here), map[string]any{"Observe": errAway}), asked: asked, err: "hand over to link", counts: []string{}},
		{
			name: "only an event showed this issue: it is read first", link: mine, known: seenOnly(), answers: found(was(), turns{issueOf(), here}),
			asked: []string{"FindFormer", "ReadLink", "ReadIssue", "ReadIssue", "Observe to p: 1"}, err: gone, wrong: is7,
		},
		{name: "only an event showed it, and GitHub is away", link: mine, known: seenOnly(), answers: found(was(), errAway), asked: asked[:3], err: "unavailable"},
	})
}
