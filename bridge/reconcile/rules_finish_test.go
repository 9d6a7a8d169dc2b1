package reconcile

import (
	"errors"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// TestUnlinkedWithItsFamily: a pair is parted once nothing is left to clean on it and its sub-issues.
func TestUnlinkedWithItsFamily(t *testing.T) {
	rule := func(w work) (verdict, error) { return pass, cleaner(w).cleanFamily(w.err) }
	cleans := func(l *mapping.Link) { l.Cleaning = true }
	clean := func(w work) { w.cleaned, w.nothingLeft = "nothing is left", true }
	partClean := func(w work) {
		pw := partWorker(w).part(w.link.SubLinks[0])
		pw.cleaned, pw.nothingLeft = "nothing is left", true
	}
	parted := func(whole bool) func(work) string {
		return is("it is parted, and it is known whether something was left", func(w work) bool {
			return w.link.Parted && !w.link.Cleaning && w.link.Clean == whole && w.pair.Why == mapping.PartedWhy
		})
	}
	still := is("it is to be taken apart still", func(w work) bool { return w.link.Cleaning && !w.link.Parted })
	unmade := subIssue(func(p *mapping.Pair) {
		p.State, p.Intent, p.Card = mapping.Creating, &mapping.Intent{Side: mapping.Planning}, mapping.CardID{}
	})
	open := mapping.Conflict{ID: "q", Attribute: mapping.Title, State: mapping.ConflictOpen}
	done := open
	done.State = mapping.ConflictSettled
	const ledger, closed = "ReadConflict", "PutConflict title settled"
	closes := func(effects []any) string {
		for _, e := range effects {
			if put, is := e.(PutConflict); is && (put.Conflict.Winner != "" || put.Conflict.Rule != mapping.PartedRule || !put.Conflict.Settled.Equal(noon)) {
				return "the question is closed as another one"
			}
		}
		return ""
	}
	checkRule(t, rule, []ruleCase{
		{
			name: "nothing is left", link: cleans, known: knows(clean, func(w work) { w.again, w.showAgain = revisit{1, "soon"}, revisit{1, "soon"} }),
			check: all(parted(true), tells("unlinked"), is("it is not due again", func(w work) bool { return w.again == revisit{} && w.showAgain == revisit{} })),
		},
		{name: "something is left that is not the bridge's to take", link: cleans, known: func(w work) { w.cleaned = "one of its items is gone" }, check: parted(false)},
		{name: "it was parted before", link: func(l *mapping.Link) { l.Parted = true }, known: clean, check: tells()},
		{name: "GitHub is away", link: cleans, known: func(w work) { w.err = errAway }, err: "unavailable", check: all(still, tells())},
		{name: "it is not done with", link: links(cleans, func(l *mapping.Link) { l.Why = "odd" }), err: "it cannot be taken apart: odd", check: still},
		{name: "a dry run", link: cleans, set: func(s *Settings) { s.DryRun = true }, err: "a dry run takes nothing off", check: still},
		{
			name: "its card was found to be gone: its issue is cleaned once more", link: links(cleans, func(l *mapping.Link) {
				l.State, l.Gone = mapping.Orphaned, map[mapping.Side]int{mapping.Planning: 2}
			}),
			answers: map[string]any{"ReadIssue": issueOf(), "ReadCard": mapping.ErrGone, "Missed": Absence{}}, asked: []string{"ReadIssue", "ReadCard", "CheckProject", "Missed"}, check: parted(false),
		},
		{
			name: "its issue was found to be where no route is: its card is cleaned once more", link: links(cleans, func(l *mapping.Link) { l.State, l.Away = mapping.Left, "other/repo" }),
			answers: map[string]any{"ReadCard": mapping.Card{ID: "c"}, "ReadTasks": []mapping.Task{}}, asked: []string{"ReadCard", "ReadTasks"}, check: parted(false),
		},
		{name: "it is out of its route", link: links(cleans, func(l *mapping.Link) { l.State, l.Why = mapping.Left, "a label" }), err: "it cannot be taken apart: a label", check: still},
		{name: "a sub-issue that has no task yet", link: links(cleans, unmade), known: clean, check: all(parted(false), tells("unlinked"))},
		{
			name: "a sub-issue, on which nothing is left", link: links(cleans, subIssue()), known: clean, check: parted(true),
			answers: map[string]any{"ReadIssue": issueOf(inRepo("acme/web", 9), func(i *mapping.Issue) { i.ID = 9 }), "ReadTask": mapping.Task{ID: "t9"}}, asked: []string{"ReadIssue", "ReadTask"},
		},
		{
			name: "a sub-issue's footer", link: links(cleans, subIssue()), known: clean, check: all(parted(true), tells(mapping.Cleaned, "unlinked")), asked: []string{"ReadIssue", "ReadTask", "Save", "BeginWrite", `Update task:t9 summary="text"@4 by robot`},
			answers: map[string]any{
				"ReadIssue": issueOf(inRepo("acme/web", 9), func(i *mapping.Issue) { i.ID = 9 }), "Update": Updated{},
				"ReadTask": mapping.Task{ID: "t9", Summary: versioned(taskMarked("text", "n9", "9"), 4)},
			},
		},
		{name: "something of the root is left, and nothing of its sub-issue", link: links(cleans, unmade), known: knows(func(w work) { w.cleaned = "one of its items is gone" }, partClean), check: parted(false)},
		{name: "a sub-issue cannot be read", link: links(cleans, subIssue()), known: clean, answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, err: "acme/web#9", check: all(still, tells())},
		{
			name: "a sub-issue was transferred to another repository: it is followed", link: links(cleans, subIssue()), known: clean,
			answers: map[string]any{"ReadIssue": &mapping.MovedError{Issue: new(issueOf(inRepo("acme/new", 9), func(i *mapping.Issue) { i.ID = 9 }))}, "Rename": None{}}, asked: []string{"ReadIssue", "Rename"},
			err: "its repository is now acme/new", check: still,
		},
		{name: "an open question ends", link: links(cleans, asking(mapping.Title, "q")), known: clean, answers: map[string]any{"ReadConflict": open}, asked: []string{ledger, closed}, wrong: closes, check: all(parted(true), notAsked)},
		{
			name: "a question that was about to be asked ends", link: links(cleans, func(l *mapping.Link) { l.Putting = map[mapping.Attribute]string{mapping.Title: "q"} }), known: clean,
			answers: map[string]any{"ReadConflict": open}, asked: []string{ledger, closed}, wrong: closes, check: is("it is not about to be", func(w work) bool { return w.pair.Putting == nil }),
		},
		{
			name: "the question about a line ends", link: links(cleans, line("one", "t1", func(p *mapping.Pair) { p.Asking = map[mapping.Attribute]string{mapping.Title: "q"} })), known: clean,
			answers: map[string]any{"ReadConflict": open}, asked: []string{ledger, closed}, check: is("nobody is asked", func(w work) bool { return len(w.items()[0].Asking) == 0 }),
		},
		{name: "the question had ended", link: links(cleans, asking(mapping.Title, "q")), known: clean, answers: map[string]any{"ReadConflict": done}, asked: []string{ledger}, check: all(parted(true), notAsked)},
		{name: "the store lost the question", link: links(cleans, asking(mapping.Title, "q")), known: clean, answers: map[string]any{"ReadConflict": store.ErrNotFound}, asked: []string{ledger}, check: all(parted(true), notAsked)},
		{name: "the store does not tell the question", link: links(cleans, asking(mapping.Title, "q")), known: clean, answers: map[string]any{"ReadConflict": errAway}, asked: []string{ledger}, err: "read conflict q", check: all(still, stillAsked)},
		{name: "the store does not take its end", link: links(cleans, asking(mapping.Title, "q")), known: clean, answers: map[string]any{"ReadConflict": open, "PutConflict": errAway}, asked: []string{ledger, closed}, err: "keep conflict q", check: all(still, stillAsked)},
	})
}

// TestKeepPrivate: a key that agrees but for something withheld is parked, and told of once.
func TestKeepPrivate(t *testing.T) {
	rule := func(w work) (verdict, error) { return pass, visibility(w).keepPrivate(w.err) }
	public, untold := &publicError{repo: "acme/web"}, &publicError{"acme/web", true}
	withheld := func(e *publicError) func(work) { return func(w work) { w.withheld = e } }
	because := func(why string) func(*mapping.Link) { return func(l *mapping.Link) { l.Why = why } }
	whole := is("both items are read as a whole next time", func(w work) bool { return w.pair.Unfinished })
	checkRule(t, rule, []ruleCase{
		{name: "nothing is withheld", check: all(isState(mapping.Linked, ""), tells())},
		{name: "nothing is, and it has another reason", link: because("odd"), check: isState(mapping.Linked, "odd")},
		{name: "the repository is private again", link: because(public.Error()), check: isState(mapping.Linked, "")},
		{name: "it is known to be private now", link: because(untold.Error()), check: isState(mapping.Linked, "")},
		{name: "something is", known: withheld(public), err: public.Error(), check: all(isState(mapping.Linked, public.Error()), tells("withheld"), whole)},
		{name: "it was before", link: because(public.Error()), known: withheld(public), err: public.Error(), check: all(isState(mapping.Linked, public.Error()), tells(), whole)},
		{name: "it is not known whether it must be", known: withheld(untold), err: untold.Error(), check: all(isState(mapping.Linked, untold.Error()), tells("withheld"))},
		{name: "it is known now that it must be", link: because(untold.Error()), known: withheld(public), err: public.Error(), check: all(isState(mapping.Linked, public.Error()), tells("withheld"))},
		{name: "the claim failed: that counts", known: knows(withheld(public), fails(errAway)), err: "unavailable", check: all(isState(mapping.Linked, ""), tells())},
	})
}

// TestSaveALargeRecord: the store bounds the size of a record.
func TestSaveALargeRecord(t *testing.T) {
	rule := does(saver.save)
	wrote := func(id string, verified bool) func(*mapping.Link) {
		return func(l *mapping.Link) {
			l.Pending = append(l.Pending, mapping.Pending{ID: id, Side: mapping.GitHub, Item: mapping.IssueRef(7), Attribute: mapping.Title, Answered: true, Verified: verified})
		}
	}
	partWrote := func(verified bool) func(*mapping.Link) {
		return subIssue(func(p *mapping.Pair) {
			p.Pending = []mapping.Pending{{ID: "s", Side: mapping.GitHub, Item: mapping.IssueRef(9), Attribute: mapping.Title, Answered: true, Verified: verified}}
		})
	}
	large := errors.Join(&store.SizeError{})
	fits := map[string]any{"Save": turns{large, None{}}}
	never := map[string]any{"Save": large}
	once, twice := []string{"Save"}, []string{"Save", "Save"}
	broken := is("the claim broke an invariant", func(w work) bool { return w.broken != nil && w.broken.Invariant == invariantRecord })
	fine := is("no invariant is broken", func(w work) bool { return w.broken == nil })
	violation := []string{"8 web record"}
	checkRule(t, rule, []ruleCase{
		{name: "it fits", link: wrote("p", true), asked: once, check: all(fine, openWrites(1))},
		{name: "it is too large, and no write is on record: it is broken", answers: never, asked: once, err: "record", counts: violation, check: broken},
		{name: "writes that are done go, and it fits", link: wrote("p", true), answers: fits, asked: twice, counts: []string{}, check: all(fine, openWrites(0))},
		{name: "writes that are done go, and it does not fit", link: wrote("p", true), answers: never, asked: twice, err: "record", counts: violation, check: all(broken, openWrites(0))},
		{name: "a sub-issue's writes that are done go", link: partWrote(true), answers: fits, asked: twice, check: all(fine, is("they are gone", func(w work) bool { return len(w.link.SubLinks[0].Pending) == 0 }))},
		{name: "those of both go", link: links(wrote("p", true), partWrote(true)), answers: fits, asked: twice, check: all(fine, openWrites(0), is("they are gone", func(w work) bool { return len(w.link.SubLinks[0].Pending) == 0 }))},
		{name: "a write awaits its echo: it is too large for a while", link: wrote("p", false), answers: never, asked: once, err: "save link", counts: []string{}, check: all(fine, openWrites(1))},
		{name: "a sub-issue's write awaits its echo", link: partWrote(false), answers: never, asked: once, err: "save link", counts: []string{}, check: fine},
		{name: "one is done, and one is not", link: links(wrote("p", true), wrote("o", false)), answers: never, asked: twice, err: "save link", counts: []string{}, check: all(fine, openWrites(1))},
		{name: "the store is away", link: wrote("p", true), answers: map[string]any{"Save": errAway}, asked: once, err: "save link", counts: []string{}, check: all(fine, openWrites(1))},
		{name: "the claim broke an invariant before", known: func(w work) { w.broken = &mapping.BrokenError{Invariant: "items", Err: errAway} }, err: "invariant items"},
		{name: "the record breaks one", link: func(l *mapping.Link) { l.Card.ID = "" }, err: "invariant", counts: []string{"8 web partners"}},
	})
}

// TestLag: the time from the first sight of a change to its write is told.
func TestLag(t *testing.T) {
	t.Parallel()
	type seen map[mapping.Ref]store.Snapshot
	at := func(ago time.Duration) store.Snapshot { return store.Snapshot{Seen: noon.Add(-ago)} }
	for name, c := range map[string]struct {
		seen  seen
		took  time.Duration
		known bool
	}{
		"nothing was seen":       {},
		"one change":             {seen{"issue:7": at(time.Second)}, time.Second, true},
		"the oldest one counts":  {seen{"issue:7": at(time.Second), "card:c": at(time.Minute)}, time.Minute, true},
		"another clock is ahead": {seen{"issue:7": at(-time.Second)}, 0, true},
	} {
		w := (&ruleCase{known: func(w work) { w.claim.Inbox = c.seen }}).work()
		if took, known := saver(w).sinceFirstSeen(); took != c.took || known != c.known {
			t.Errorf("%s: %v, %t; want %v, %t", name, took, known, c.took, c.known)
		}
	}
}

// TestLagOfAnImport: a difference that an import finds is no change that somebody waits for.
// People's later changes are.
func TestLagOfAnImport(t *testing.T) {
	t.Parallel()
	imported := func(l *mapping.Link) { l.Import = mapping.ImportAll }
	agreed := func(l *mapping.Link) { l.Synced = noon.Add(-time.Hour) }
	for name, c := range map[string]struct {
		link func(*mapping.Link)
		told int
	}{
		"no import":                 {nil, 1},
		"an import's first writes":  {imported, 0},
		"after its pair had agreed": {links(imported, agreed), 1},
	} {
		w, told := (&ruleCase{link: c.link, known: func(w work) {
			w.claim.Inbox = map[mapping.Ref]store.Snapshot{"issue:7": {Seen: noon.Add(-time.Minute)}}
		}}).work(), 0
		w.yield = func(s *Step) bool {
			if _, lag := s.Effect.(Lagged); lag {
				told++
			}
			s.Answer(None{}, nil)
			return true
		}
		if saver(w).observeLag(mapping.Planning); told != c.told {
			t.Errorf("%s: told %d times, want %d", name, told, c.told)
		}
	}
}
