package reconcile

import (
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// whole says that the store knows everything that was made for the pair.
func whole(w work) { w.epoch, w.link.Epoch = "e", "e" }

// lacking says that items of the pair may exist that the store does not know.
func lacking(w work) { w.epoch, w.link.Epoch = "e", "before" }

func settles(s *Settings) { s.Settle = PerSide{GitHub: time.Minute, Planning: time.Minute} }

// noted says what is wrong where another number of conflicts was kept by this claim.
func noted(n int) func(work) string {
	return is("the claim knows which conflicts it kept", func(w work) bool { return len(w.kept) == n })
}

// losing are titles b and c of which planning's wins, on the issue as it was read.
func losing(change ...func(*mapping.Decision)) func(work) {
	d := mapping.Decision{Attribute: mapping.Title, Action: mapping.ResolveConflict, Why: "policy", Winner: mapping.Planning, Loses: true, GitHub: &mapping.Write{From: "b", To: "c"}}
	for _, f := range change {
		f(&d)
	}
	return knows(whole, sides(mapping.Title, "b", "c"), func(w work) { writing(issueOf(named("b")), d)(w); w.p[mapping.Title] = versioned("c", 2) })
}

// github wins over planning's value.
func github(d *mapping.Decision) {
	d.Winner, d.GitHub, d.Planning = mapping.GitHub, nil, &mapping.Write{From: "c", To: "b"}
}

// newEntry is what the ledger and GitHub answer to a conflict that nobody has kept yet.
func newEntry(more map[string]any) map[string]any {
	return with(map[string]any{"ReadConflict": store.ErrNotFound, "CreateComment": Comment{ID: 1}, "ReadIssue": issueOf(named("b"))}, more)
}

// posted is what is asked for to keep a conflict that nobody has kept yet.
func posted(more ...string) []string {
	return append([]string{"ReadConflict", "ReadConflict", "PutConflict title settled planning", "Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict title settled planning"}, more...)
}

func TestKeepLosers(t *testing.T) {
	long := strings.Repeat("x", maxComment)
	checkRule(t, keepLosers, []ruleCase{
		{name: "nobody loses", known: writing(issueOf(), give(mapping.Title, "a", "b"))},
		{name: "GitHub's value loses, and the issue is as it was", known: losing(), answers: newEntry(nil), asked: posted("ReadIssue"), counts: []string{"1 web title planning"}, check: all(noted(1), tells("conflict"))},
		{name: "it loses, and the issue was edited meanwhile", known: losing(), answers: newEntry(map[string]any{"ReadIssue": issueOf(named("x"))}), asked: posted("ReadIssue"), want: anew, check: noted(1)},
		{name: "it loses, and the issue cannot be read any more", known: losing(), answers: newEntry(map[string]any{"ReadIssue": errAway}), asked: posted("ReadIssue"), want: end, err: "unavailable"},
		{
			name: "planning's value loses: the issue is not written", known: losing(github), answers: newEntry(nil), counts: []string{"1 web title github"}, check: noted(1),
			asked: []string{"ReadConflict", "ReadConflict", "PutConflict title settled github", "Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict title settled github"},
		},
		{
			name: "the issue is not known, and cannot be read", known: knows(losing(github), func(w work) { w.issue = nil }), answers: newEntry(map[string]any{"ReadIssue": errAway}),
			asked: []string{"ReadIssue"}, err: "unavailable", check: noted(0),
		},
		{
			name: "this claim kept it already", known: knows(losing(), func(w work) { w.kept = []string{entry("").ID} }), answers: map[string]any{"ReadConflict": entry(mapping.ConflictSettled)},
			asked: []string{"ReadConflict"}, counts: []string{}, check: noted(1),
		},
		{
			name: "it was kept when people were asked", link: asking(mapping.Title, entry("").ID), known: losing(github), answers: map[string]any{"ReadConflict": entry(mapping.ConflictOpen)},
			asked: []string{"ReadConflict"}, check: noted(0),
		},
		{
			name: "people were asked, and the store lost the entry", link: asking(mapping.Title, entry("").ID), known: losing(), answers: newEntry(nil), asked: posted("ReadIssue"), check: noted(1),
		},
		{
			name: "people are asked, and an operator has answered", link: asking(mapping.Title, entry("").ID), known: losing(func(d *mapping.Decision) { d.Action, d.GitHub = mapping.Ask, nil }),
			answers: map[string]any{"ReadConflict": entry(mapping.ConflictAnswered)}, asked: []string{"ReadConflict"}, check: noted(0),
		},
		{
			name: "the same values met before: the comment is there", known: losing(github), answers: map[string]any{"ReadConflict": entry(mapping.ConflictSettled, func(c *mapping.Conflict) { c.Comments = []int64{4} })},
			asked: []string{"ReadConflict", "ReadConflict", "PutConflict title settled github"}, check: noted(1),
		},
		{name: "the store does not say", known: losing(), answers: map[string]any{"ReadConflict": errAway}, asked: []string{"ReadConflict"}, err: "read conflict", check: noted(0)},
		{
			name: "the store does not take it", known: losing(), answers: newEntry(map[string]any{"PutConflict": errAway}), asked: []string{"ReadConflict", "ReadConflict", "PutConflict"}, err: "keep conflict", check: noted(0),
		},
		{
			name: "the project was not seen as a whole", known: knows(losing(), func(w work) { w.epoch = "" }), answers: newEntry(map[string]any{"ReadAdoption": Adoption{}}),
			asked: []string{"ReadConflict", "ReadAdoption"}, err: notAdopted, check: noted(0),
		},
		{
			name: "the route does not write to GitHub: the ledger alone has it", route: func(r *mapping.Route) { r.Direction = mapping.ToPlanning }, known: losing(github), answers: newEntry(nil),
			asked: []string{"ReadConflict", "ReadConflict", "PutConflict"}, check: noted(1),
		},
		{
			name: "two long texts do not fit into one comment", answers: newEntry(nil), check: noted(1),
			known: knows(losing(github), func(w work) {
				w.g[mapping.Title], w.p[mapping.Title] = mapping.Versioned{Value: long}, versioned(long+"y", 2)
			}),
			asked: []string{"ReadConflict", "ReadConflict", "PutConflict", "Save", "BeginWrite", "CreateComment", "Save", "BeginWrite", "CreateComment", "Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict"},
		},
	})
}

func TestCommentsOfLosers(t *testing.T) {
	id := entry("").ID
	comment := func(author string) []Comment {
		mark := mapping.Marker{Kind: mapping.MarkConflict, Link: "gone", Nonce: "n", Partner: id + "-1"}
		return []Comment{{ID: 5, Author: author, Body: testKeys.AppendComment("text", mark)}}
	}
	repeats := func(w work) { w.claim.Attempts = 1 }
	lookFor := []string{"ReadConflict", "ReadConflict", "PutConflict", "ReadComments"}
	then := func(more ...string) []string { return append(append([]string{}, lookFor...), more...) }
	underWay := map[string]any{"ReadConflict": entry(mapping.ConflictSettled, func(c *mapping.Conflict) { c.Posted = noon.Add(-time.Second) })}
	checkRule(t, keepLosers, []ruleCase{
		{
			name: "an earlier attempt may have posted it, and did", known: knows(losing(github), repeats), answers: newEntry(map[string]any{"ReadComments": comment("bridge")}),
			asked: then("ReadConflict", "PutConflict"), counts: []string{"3 comment", "1 web title github"}, check: noted(1),
		},
		{
			name: "it did not", known: knows(losing(github), repeats), answers: newEntry(map[string]any{"ReadComments": []Comment{}}),
			asked: then("Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict"), check: noted(1),
		},
		{
			name: "somebody else copied its comment", known: knows(losing(github), repeats), answers: newEntry(map[string]any{"ReadComments": comment("ann")}),
			asked: then("Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict"), check: noted(1),
		},
		{
			name: "the store was lost: it may be there", known: knows(losing(github), lacking), answers: newEntry(map[string]any{"ReadComments": comment("bridge")}), asked: then("ReadConflict", "PutConflict"), check: noted(1),
		},
		{name: "the comments cannot be read", known: knows(losing(github), repeats), answers: newEntry(map[string]any{"ReadComments": errAway}), asked: then("ReadConflict", "PutConflict"), err: "comments", check: noted(0)},
		{
			name: "its post may be under way", set: settles, known: losing(github), answers: with(underWay, map[string]any{"ReadComments": []Comment{}}), asked: lookFor, err: "may still be under way", check: noted(0),
		},
		{
			name: "GitHub takes no comment there: the ledger alone has it", known: losing(github), answers: newEntry(map[string]any{"CreateComment": mapping.ErrForbidden}),
			asked: []string{"ReadConflict", "ReadConflict", "PutConflict", "Save", "BeginWrite", "CreateComment"}, check: noted(1),
		},
		{
			name: "the repository is public: nothing is quoted there", known: losing(github), answers: newEntry(map[string]any{"ReadPublic": Publicity{Public: true, Known: true}}),
			asked: []string{"ReadConflict", "ReadConflict", "PutConflict", "Save", "BeginWrite", "ReadPublic", "ReadConflict", "PutConflict"}, err: "is public", check: noted(0),
		},
		{
			name: "GitHub is away", known: losing(github), answers: newEntry(map[string]any{"CreateComment": errAway}), asked: []string{"ReadConflict", "ReadConflict", "PutConflict", "Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict"},
			err: "unavailable", check: noted(0),
		},
		{
			name: "its answer is lost", set: settles, known: losing(github), answers: newEntry(map[string]any{"CreateComment": mapping.ErrUncertain}),
			asked: []string{"ReadConflict", "ReadConflict", "PutConflict", "Save", "BeginWrite", "CreateComment"}, err: "to be looked for before it is posted again", check: noted(0),
		},
	})
}

func TestAskPeople(t *testing.T) {
	id := entry("").ID
	ask := losing(func(d *mapping.Decision) { d.Action, d.Winner, d.GitHub = mapping.Ask, "", nil })
	labels := map[string]any{"AddLabels": []string{"plan:conflict"}, "PauseAfter": Pause{}}
	asked := []string{"ReadConflict", "Save", "ReadConflict", "PutConflict title open", "Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict title open", "PauseAfter", "EnsureLabel", "PauseAfter", "Save", "BeginWrite", "AddLabels plan:conflict"}
	isAsked := is("the question is on record, and no other one", func(w work) bool { return w.pair.Asking[mapping.Title] == id && len(w.pair.Putting) == 0 })
	checkRule(t, keepLosers, []ruleCase{
		{name: "a question is saved before it is posted", known: ask, answers: newEntry(labels), asked: asked, counts: []string{"1 web title ask"}, check: all(isAsked, noted(1), hasLabels("plan:conflict"))},
		{
			name: "one that was about to be asked is not saved again", link: func(l *mapping.Link) { l.Putting = map[mapping.Attribute]string{mapping.Title: id} }, known: ask, answers: newEntry(labels),
			asked: append([]string{"ReadConflict"}, asked[2:]...), check: isAsked,
		},
		{
			name: "one about other values ends", link: func(l *mapping.Link) { l.Putting = map[mapping.Attribute]string{mapping.Title: "older"} }, known: ask,
			answers: newEntry(with(map[string]any{"ReadConflict": turns{store.ErrNotFound, entry(mapping.ConflictOpen), store.ErrNotFound}}, labels)),
			asked:   append([]string{"ReadConflict", "ReadConflict", "PutConflict title settled"}, asked[1:]...), check: isAsked,
		},
		{
			name: "an operator answered before all was asked", known: ask, answers: with(map[string]any{"ReadConflict": entry(mapping.ConflictAnswered, func(c *mapping.Conflict) { c.Winner, c.Comments = mapping.GitHub, []int64{1} })}, labels),
			asked: []string{"ReadConflict", "Save", "ReadConflict", "PutConflict title answered github", "PauseAfter", "EnsureLabel", "PauseAfter", "Save", "BeginWrite", "AddLabels"}, err: "answered already", check: isAsked,
		},
		{
			name: "the label cannot be set: it is about to be asked", known: ask, answers: newEntry(map[string]any{"AddLabels": errAway, "PauseAfter": Pause{}}), asked: asked, err: "add labels",
			check: is("it is about to be asked", func(w work) bool { return w.pair.Putting[mapping.Title] == id && len(w.pair.Asking) == 0 }),
		},
		{name: "the lease is lost before it is posted", known: ask, answers: newEntry(map[string]any{"Save": store.ErrLeaseLost}), asked: []string{"ReadConflict", "Save"}, err: "lease", check: noted(0)},
	})
}
