package reconcile

import (
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// sent says what is wrong where it is not on record whether a create may be under way.
func sent(yes bool) func(work) string {
	return all(isState(mapping.Creating, ""), is("the record says whether a create may be under way", func(w work) bool { return w.pair.Intent.Sent == yes }))
}

func longAgo(l *mapping.Link) { l.Intent.At = noon.Add(-time.Hour) }

func TestCreateCard(t *testing.T) {
	fresh := creating(false)
	maybe := links(creating(true), longAgo)
	known := knows(whole, unchanged())
	card := mapping.Card{ID: "c2", CID: 2, Version: 1, Title: versioned("a", 1), Summary: versioned("", 1), Estimate: versioned("", 1)}
	marked := func(c mapping.Card) mapping.Card {
		c.Summary = versioned(testKeys.AppendComment("", mapping.Marker{Kind: mapping.MarkCard, Link: "l", Nonce: "n", Partner: "7"}), 1)
		return c
	}
	made := func(more map[string]any) map[string]any {
		return with(map[string]any{"ReadBuckets": []mapping.ObjectID{"b"}, "Remembered": 0, "CreateCard": MadeCard{Card: card}}, more)
	}
	asked := []string{"ReadBuckets", "Save", "BeginWrite", "CreateCard"}
	then := func(more ...string) []string { return append(append([]string{}, asked...), more...) }
	lookup := func(cards ...mapping.Card) map[string]any {
		return map[string]any{"FindCards": FoundCards{Cards: cards}, "FindLink": store.ErrNotFound}
	}
	linked := func(id mapping.ObjectID) func(work) string {
		return all(isState(mapping.Linked, ""), tells("create"), is("the card is its partner", func(w work) bool { return w.pair.Card.ID == id && w.pair.Intent == nil && w.pair.Unfinished }))
	}
	two := func(more map[string]any) map[string]any {
		return made(with(map[string]any{"ReadBuckets": []mapping.ObjectID{"b", "b2"}, "Remember": 0, "CreateCard": turns{&mapping.Rejection{Field: "bucket"}, MadeCard{Card: card}}}, more))
	}
	checkRule(t, create, []ruleCase{
		{name: "a card", link: fresh, known: known, answers: made(nil), asked: asked, counts: []string{"0 web planning title"}, check: all(linked("c2"), agreedOn(mapping.Title, "a", "a", 1))},
		{name: "in a dry run", link: fresh, set: func(s *Settings) { s.DryRun = true }, known: known, answers: map[string]any{"Remember": 0}, asked: []string{"Remember"}, err: errRemove.Error(), check: sent(false)},
		{name: "the lease is lost", link: fresh, known: known, answers: made(map[string]any{"Save": store.ErrLeaseLost}), asked: asked[:2], err: "lease", check: sent(false)},
		{name: "the project has no such bucket", link: fresh, known: known, answers: made(map[string]any{"ReadBuckets": []mapping.ObjectID{}}), asked: asked[:1], err: `has no bucket "Incoming"`, check: sent(false)},
		{name: "planning does not say its buckets", link: fresh, known: known, answers: made(map[string]any{"ReadBuckets": errAway}), asked: asked[:1], err: "unavailable"},
		{name: "planning is away, and made nothing", link: fresh, known: known, answers: made(map[string]any{"CreateCard": errAway}), asked: asked, err: "create card", check: sent(false)},
		{name: "its answer is lost", link: fresh, known: known, answers: made(map[string]any{"CreateCard": mapping.ErrUncertain}), asked: asked, err: "to be looked for before it is tried again", check: sent(true)},
		{name: "it may be under way", link: creating(true), set: settles, known: knows(known, func(w work) { w.pair.Intent.At = noon.Add(-time.Second) }), err: "may still be under way", check: sent(true)},
		{name: "it was made, as a poll shows", link: maybe, known: knows(known, cardTold(marked(card))), answers: lookup(), asked: []string{"FindLink"}, counts: []string{"3 poll"}, check: linked("c2")},
		{name: "a poll shows a card of somebody else", link: fresh, known: knows(known, cardTold(card)), answers: made(nil), asked: asked, check: linked("c2")},
		{name: "it was made, as a complete lookup shows", link: maybe, known: known, answers: lookup(marked(card)), asked: []string{"FindCards", "FindLink"}, counts: []string{"3 lookup"}, check: linked("c2")},
		{name: "it was made twice: the older one counts", link: maybe, known: known, answers: lookup(marked(mapping.Card{ID: "c3", CID: 3}), marked(card)), asked: []string{"FindCards", "FindLink"}, check: linked("c2")},
		{name: "one lookup without it proves nothing", link: maybe, known: known, answers: lookup(), asked: []string{"FindCards"}, err: "look", check: sent(true)},
		{
			name: "the listings lack a card that is there, and prove nothing", link: maybe, known: knows(known, func(w work) { w.pair.Intent.At = noon.Add(-time.Minute) }), answers: map[string]any{"FindCards": FoundCards{Lacking: "c1"}}, asked: []string{"FindCards"}, err: "prove nothing",
		},
		{name: "they have lacked one for long", link: maybe, known: known, answers: map[string]any{"FindCards": FoundCards{Lacking: "c1"}}, asked: []string{"FindCards"}, err: "look", check: is("the lookup counts", func(w work) bool { return w.pair.Intent.Lookups == 1 })},
		{
			name: "a second lookup without it proves that it was not made", link: links(maybe, func(l *mapping.Link) { l.Intent.Lookups = 1 }), known: known, answers: made(lookup()), asked: append([]string{"FindCards"}, asked...), check: linked("c2"),
		},
		{name: "the lookup fails", link: maybe, known: known, answers: map[string]any{"FindCards": errAway}, asked: []string{"FindCards"}, err: "unavailable", check: sent(true)},
		{
			name: "another link has the card that was found: it stays there", link: links(maybe, func(l *mapping.Link) { l.Intent.Lookups = 1 }), known: known, check: tells("left", "create"),
			answers: made(map[string]any{"FindCards": FoundCards{Cards: []mapping.Card{marked(card)}}, "FindLink": store.Key{Project: "p", Link: "other"}, "ReadLink": &mapping.Link{ID: "other", Pair: mapping.Pair{State: mapping.Linked}}}),
			asked:   append([]string{"FindCards", "FindLink", "ReadLink"}, asked...),
		},
		{name: "an id takes no card: the other one of the bucket does", link: fresh, known: known, answers: two(nil), asked: []string{"ReadBuckets", "Remembered", "Remembered", "Save", "BeginWrite", "CreateCard", "Remember", "Save", "BeginWrite", "CreateCard"}, check: linked("c2")},
		{name: "planning refuses all", link: fresh, known: known, answers: made(map[string]any{"CreateCard": &mapping.Rejection{Field: "title", Message: "odd"}}), asked: asked, err: "odd", check: sent(false)},
		{
			name: "planning refuses the estimate: the card goes without", link: fresh, known: knows(whole, unchanged(labelled("points/3"))), answers: made(map[string]any{"CreateCard": turns{&mapping.Rejection{Field: "estimate", Message: "odd"}, MadeCard{Card: card}}}),
			asked: then("Save", "BeginWrite", "CreateCard"), check: all(refusedFor(mapping.Estimate, mapping.Planning, "3"), is("it is linked", func(w work) bool { return w.pair.State == mapping.Linked })),
		},
		{
			name: "planning refuses the person: the route's user makes it", link: fresh, set: func(s *Settings) { s.Users = map[string]string{"ann": "anna"} }, known: known,
			answers: made(map[string]any{"CreateCard": turns{&mapping.Rejection{Field: "username"}, MadeCard{Card: card}}}), asked: then("Save", "BeginWrite", "CreateCard"), counts: []string{"5 web", "0 web planning title"}, check: linked("c2"),
		},
		{
			name: "a request with 30 cards was refused: it is looked for first, and shares one with three", link: fresh, known: known, answers: made(map[string]any{"CreateCard": beside{MadeCard{Batch: 30, Refused: true}, mapping.ErrUncertain}}), asked: asked, err: "to be looked for",
			check: all(sent(true), is("fewer share its next request", func(w work) bool { return w.pair.Intent.Most == 3 })),
		},
		{
			name: "two estimate labels: the one that lost goes first", link: fresh, known: knows(whole, unchanged(labelled("points/3", "points/8"))), answers: made(map[string]any{"RemoveLabel": []string{"points/8"}}),
			asked: append([]string{"ReadBuckets", "Save", "BeginWrite", "RemoveLabel points/3"}, asked[1:]...), check: hasLabels("points/8"),
		},
		{
			name: "its route leads to another project by now", link: fresh, known: knows(whole, func(w work) { w.route = &mapping.Route{Name: "web", Project: "p"} }, unchanged()), answers: map[string]any{}, err: "leads to project", check: is("it enters anew", func(w work) bool { return w.pair.State == mapping.Entering && w.pair.Intent == nil }),
			set: func(s *Settings) {
				s.Routes = mapping.NewRoutes([]mapping.Route{{Name: "web", Project: "q", ProjectName: "Q", Repositories: []string{"acme/other"}}})
			},
		},
		{
			name: "the brake on creates holds", link: fresh, set: func(s *Settings) { s.Brakes.CreatesPerMinute = 1 }, known: known, answers: made(map[string]any{"Take": store.Grant{Wait: time.Minute}}), asked: []string{"ReadBuckets", "Take brake:creates:web"}, err: "brake on creates", check: sent(false),
		},
	})
}

func TestCreateIssue(t *testing.T) {
	makes := func(r *mapping.Route) { r.CreateIssues, r.NewCardsIn, r.Labels = true, "acme/web", []string{"plan"} }
	of := func(i mapping.Intent) func(*mapping.Link) {
		return func(l *mapping.Link) {
			i := i
			i.Side = mapping.GitHub
			l.State, l.Origin, l.Issue, l.Base, l.Intent, l.Children = mapping.Creating, mapping.Planning, mapping.IssueID{Repo: "acme/web"}, nil, &i, nil
		}
	}
	fresh, maybe := of(mapping.Intent{After: 41}), of(mapping.Intent{After: 41, Sent: true, At: noon.Add(-time.Hour)})
	card := func(title, estimate string) func(work) {
		return knows(whole, func(w work) {
			reader(w).setCard(&mapping.Card{ID: "c", Version: 1, Title: versioned(title, 1), Estimate: versioned(estimate, 1)})
		})
	}
	known := card("a", "")
	mark := func(i *mapping.Issue) {
		i.Author, i.Body = "bridge", testKeys.AppendComment("", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: "n", Partner: "c"})
	}
	numbered := func(n int, change ...func(*mapping.Issue)) mapping.Issue {
		return issueOf(append(change, func(i *mapping.Issue) { i.ID, i.Number = int64(n), n })...)
	}
	made := func(more map[string]any) map[string]any {
		return with(map[string]any{"ReadListed": true, "CreateIssue": numbered(42, labelled("plan"))}, more)
	}
	asked := []string{"ReadListed", "Reserve", "Save", "BeginWrite", "CreateIssue"}
	askedLast := slices.Insert(slices.Clone(asked), 2, "ReadLastNumber")
	after := func(number int) func(work) string {
		return is("the issue is looked for behind that number", func(w work) bool { return w.pair.Intent.After == number })
	}
	linked := func(number int) func(work) string {
		return all(isState(mapping.Linked, ""), tells("create"), is("the issue is its partner", func(w work) bool { return w.pair.Issue.Number == number && w.pair.Intent == nil }))
	}
	lookup := func(reads ...any) map[string]any {
		return map[string]any{"ReadIssue": append(turns(reads), mapping.ErrNotFound), "FindLink": store.ErrNotFound, "ReadEdits": []mapping.IssueEvent{}}
	}
	misses := func(before ...string) []string {
		for range missingInARow {
			before = append(before, "ReadIssue")
		}
		return before
	}
	checkRule(t, create, []ruleCase{
		{name: "an issue", link: fresh, route: makes, known: known, answers: made(nil), asked: asked, counts: []string{"0 web github title"}, check: all(linked(42), agreedOn(mapping.Title, "a", "a", 1))},
		{name: "in a dry run", link: fresh, route: makes, set: func(s *Settings) { s.DryRun = true }, known: known, answers: map[string]any{"Remember": 0}, asked: []string{"Remember"}, err: errRemove.Error(), check: sent(false)},
		{name: "no budget is left", link: fresh, route: makes, known: known, answers: map[string]any{"ReadListed": true, "Reserve": &mapping.RateLimited{API: "github", After: time.Minute}}, asked: asked[:2], err: "rate limited", check: sent(false)},
		{name: "the issues of the repository were not looked through", link: fresh, route: makes, known: known, answers: map[string]any{"ReadListed": false}, asked: asked[:1], err: "no issue is made in acme/web before its issues were looked through once", check: sent(false)},
		{name: "the store does not say whether they were", link: fresh, route: makes, known: known, answers: map[string]any{"ReadListed": errAway}, asked: asked[:1], err: "read whether acme/web was listed", check: sent(false)},
		{name: "the card has no title", link: fresh, route: makes, known: card(" ", ""), answers: map[string]any{"ReadListed": true}, asked: asked[:2], err: "it has no title", check: isState(mapping.Creating, errUntitled.Error())},
		{name: "the last number is not known yet", link: of(mapping.Intent{}), route: makes, known: known, answers: made(map[string]any{"ReadLastNumber": 41, "CreateIssue": mapping.ErrUncertain}), asked: askedLast, err: "to be looked for", check: all(sent(true), after(41))},
		{name: "issues are not listed there", link: of(mapping.Intent{}), route: makes, known: known, answers: made(map[string]any{"ReadLastNumber": mapping.ErrGone, "CreateIssue": mapping.ErrUncertain}), asked: askedLast, err: "to be looked for", check: all(sent(true), after(0))},
		{name: "their listing is refused", link: of(mapping.Intent{}), route: makes, known: known, answers: made(map[string]any{"ReadLastNumber": mapping.ErrRejected, "CreateIssue": mapping.ErrUncertain}), asked: askedLast, err: "to be looked for", check: all(sent(true), after(0))},
		{name: "the last number is not told", link: of(mapping.Intent{}), route: makes, known: known, answers: made(map[string]any{"ReadLastNumber": errAway}), asked: askedLast[:3], err: "unavailable", check: all(sent(false), after(0))},
		{name: "its answer is lost", link: fresh, route: makes, known: known, answers: made(map[string]any{"CreateIssue": mapping.ErrUncertain}), asked: asked, err: "to be looked for", check: sent(true)},
		{name: "GitHub is away, and made nothing", link: fresh, route: makes, known: known, answers: made(map[string]any{"CreateIssue": errAway}), asked: asked, err: "create issue in acme/web", check: sent(false)},
		{name: "GitHub drops the estimate's label in silence", link: fresh, route: makes, known: card("a", "3"), answers: made(nil), asked: asked, check: all(refusedFor(mapping.Estimate, mapping.GitHub, "3"), agreedOn(mapping.Estimate, "", "3", 1))},
		{name: "GitHub sets it", link: fresh, route: makes, known: card("a", "3"), answers: made(map[string]any{"CreateIssue": numbered(42, labelled("plan", "points/3"))}), asked: asked, check: all(notRefused, agreedOn(mapping.Estimate, "3", "3", 1))},
		{name: "GitHub refuses it for the label: the issue goes without", link: fresh, route: makes, known: card("a", "3"), answers: made(map[string]any{"CreateIssue": turns{&mapping.Rejection{Field: "labels"}, numbered(42)}}), asked: append(append([]string{}, asked...), "Save", "BeginWrite", "CreateIssue"), check: refusedFor(mapping.Estimate, mapping.GitHub, "3")},
		{name: "GitHub refuses all", link: fresh, route: makes, known: known, answers: made(map[string]any{"CreateIssue": &mapping.Rejection{Field: "title", Message: "odd"}}), asked: asked, err: "odd", check: sent(false)},
		{name: "it was made, as a lookup behind the last number shows", link: maybe, route: makes, known: known, answers: lookup(numbered(42), numbered(43, mark)), asked: []string{"ReadIssue", "ReadIssue", "FindLink"}, counts: []string{"3 lookup"}, check: linked(43)},
		{name: "numbers are missing before it", link: maybe, route: makes, known: known, answers: lookup(mapping.ErrNotFound, &mapping.MovedError{}, numbered(44, mark)), asked: []string{"ReadIssue", "ReadIssue", "ReadIssue", "FindLink"}, check: linked(44)},
		{name: "ten missing numbers prove that it was not", link: maybe, route: makes, known: known, answers: made(lookup()), asked: append(misses(), asked...), check: linked(42)},
		{name: "GitHub is away", link: maybe, route: makes, known: known, answers: lookup(errAway), asked: []string{"ReadIssue"}, err: "unavailable", check: sent(true)},
		{
			name: "an event shows it", link: maybe, route: makes, known: knows(known, issueTold(issueOf(mark))), answers: map[string]any{"FindLink": store.ErrNotFound}, asked: []string{"FindLink"}, counts: []string{"3 webhook"},
			check: all(linked(12), is("what came later may have gone elsewhere", func(w work) bool { return w.mustRead })),
		},
		{name: "the route makes issues elsewhere now: it enters anew", link: fresh, route: func(r *mapping.Route) { makes(r); r.NewCardsIn = "acme/new" }, known: known, want: end, err: "does not make issues there now", check: is("it is to enter", func(w work) bool { return w.pair.State == mapping.Entering && w.pair.Issue.Repo == "" })},
		{name: "it does, and one may have been made: that is looked for", link: maybe, route: func(r *mapping.Route) { makes(r); r.NewCardsIn = "acme/new" }, known: known, answers: lookup(numbered(42, mark)), asked: []string{"ReadIssue", "FindLink"}, check: linked(42)},
		{name: "the repository was renamed, as the route says", link: fresh, route: func(r *mapping.Route) { makes(r); r.NewCardsIn = "acme/new" }, known: known, answers: made(map[string]any{"Locate": "acme/new"}), asked: []string{"Locate", "ReadListed", "Reserve", "Save", "BeginWrite", "Locate", "CreateIssue"}, check: linked(42)},
		{name: "the repository is gone", link: fresh, route: makes, known: known, answers: map[string]any{"Locate": mapping.ErrNotFound}, asked: []string{"Locate"}, want: end, err: "does not make issues there now"},
		{name: "another repository has its name", link: fresh, route: makes, known: known, answers: map[string]any{"Locate": &mapping.StrangerError{Repo: "acme/web"}}, asked: []string{"Locate"}, want: end, err: "acme/web", check: sent(false)},
		{name: "GitHub does not say where it is", link: fresh, route: makes, known: known, answers: map[string]any{"Locate": errAway}, asked: []string{"Locate"}, want: end, err: "unavailable", check: sent(false)},
	})
}
