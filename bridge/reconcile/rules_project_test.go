package reconcile

import (
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

func milestone(number int) func(*mapping.Issue) {
	return func(i *mapping.Issue) { i.Milestone = number }
}

func TestShowMilestone(t *testing.T) {
	rule := does(milestoneProjector.showMilestone)
	sprint := shown(func(s *mapping.Shown) { s.Sprint = "s" })
	had := func(number int) func(*mapping.Link) { return shown(func(s *mapping.Shown) { s.Milestone = number }) }
	four := map[string]any{"KnownMilestone": 4, "EditIssue": issueOf(milestone(4))}
	off := map[string]any{"EditIssue": issueOf()}
	sets := []string{"KnownMilestone", "Reserve", "Save", "BeginWrite", "EditIssue milestone=4"}
	removes := []string{"Reserve", "Save", "BeginWrite", "EditIssue milestone=0"}
	is4 := recorded("the milestone is the bridge's", func(s *mapping.Shown) bool { return s.Milestone == 4 })
	none := recorded("none is the bridge's", func(s *mapping.Shown) bool { return s.Milestone == 0 })
	sprintOf := func(i *mapping.Issue) {
		i.Milestone, i.MilestoneMark = 9, testKeys.AppendComment("", mapping.Marker{Kind: mapping.MarkSprint, Link: "l", Nonce: "n", Partner: "s"})
	}
	checkRule(t, rule, []ruleCase{
		{name: "no sprint, and none there", link: had(0), known: unchanged(), check: none},
		{name: "a sprint", link: sprint, known: unchanged(), answers: four, asked: sets, counts: []string{"0 web github milestone"}, check: all(is4, tells("show"))},
		{name: "a sprint, and its milestone is there", link: sprint, known: unchanged(milestone(4)), answers: four, asked: sets[:1], check: all(is4, tells())},
		{name: "a sprint, and somebody set another milestone", link: sprint, known: unchanged(milestone(9)), answers: four, asked: sets, check: is4},
		{name: "a sprint, and the issue is not known", link: links(sprint, had(4)), answers: four, asked: sets[:1], check: is4},
		{name: "another sprint, and the issue is read first", link: links(sprint, had(3)), answers: with(map[string]any{"ReadIssue": issueOf(milestone(3))}, four), asked: []string{"KnownMilestone", "Reserve", "ReadIssue", "Save", "BeginWrite", "EditIssue milestone=4"}, check: is4},
		{name: "it was set meanwhile, as that read shows", link: links(sprint, had(3)), answers: with(map[string]any{"ReadIssue": issueOf(milestone(4))}, four), asked: []string{"KnownMilestone", "Reserve", "ReadIssue"}, check: is4},
		{name: "it left its sprint", link: had(4), known: unchanged(milestone(4)), answers: off, asked: removes, check: none},
		{name: "it left its sprint, and a person set another milestone", link: had(4), known: unchanged(milestone(9)), check: none},
		{name: "it left its sprint, and a person set that of a sprint", link: had(4), known: unchanged(sprintOf), answers: off, asked: removes, check: none},
		{name: "GitHub drops it in silence: once is enough", link: sprint, known: unchanged(), answers: map[string]any{"KnownMilestone": 4, "EditIssue": issueOf()}, asked: sets, check: recorded("it is not tried again", func(s *mapping.Shown) bool { return s.Milestone == 0 && slices.Equal(s.Dropped, []string{"#4"}) })},
		{name: "GitHub dropped it before", link: links(sprint, shown(func(s *mapping.Shown) { s.Dropped = []string{"#4"} })), known: unchanged(), answers: four, asked: sets[:1]},
		{
			name: "it is deleted, and made again", link: sprint, known: unchanged(), err: "milestone 4 is gone, it is 5 now",
			answers: map[string]any{"KnownMilestone": 4, "EditIssue": &mapping.Rejection{}, "ReadSprint": &mapping.Sprint{}, "EnsureMilestone": 5}, asked: append(append([]string{}, sets...), "KnownMilestone", "ReadSprint", "EnsureMilestone"),
		},
		{
			name: "GitHub refuses it though it is there", link: sprint, known: unchanged(), err: "set milestone 4",
			answers: map[string]any{"KnownMilestone": 4, "EditIssue": &mapping.Rejection{}, "ReadSprint": &mapping.Sprint{}, "EnsureMilestone": 4}, asked: append(append([]string{}, sets...), "KnownMilestone", "ReadSprint", "EnsureMilestone"),
		},
		{
			name: "whether it is there is not told", link: sprint, known: unchanged(), err: "unavailable", answers: map[string]any{"KnownMilestone": turns{4, errAway}, "EditIssue": &mapping.Rejection{}}, asked: append(append([]string{}, sets...), "KnownMilestone"),
		},
		{name: "it cannot be taken off", link: had(4), known: unchanged(milestone(4)), answers: map[string]any{"EditIssue": &mapping.Rejection{}}, asked: removes, err: "set milestone 0", check: is4},
		{
			name: "the sprint has no milestone yet", link: sprint, known: unchanged(), answers: with(map[string]any{"ReadSprint": &mapping.Sprint{ID: "s"}, "EnsureMilestone": 4}, map[string]any{"KnownMilestone": 0, "EditIssue": issueOf(milestone(4))}),
			asked: []string{"KnownMilestone", "ReadSprint", "EnsureMilestone", "Reserve", "Save", "BeginWrite", "EditIssue milestone=4"}, check: is4,
		},
		{
			name: "no listing has the sprint: it is looked for later", link: sprint, known: unchanged(), answers: map[string]any{"KnownMilestone": 0, "ReadSprint": (*mapping.Sprint)(nil), "PauseAfter": Pause{Wait: time.Second}},
			asked: []string{"KnownMilestone", "ReadSprint", "PauseAfter"}, check: is("it is shown later", func(w work) bool { return w.showAgain.after > 0 }),
		},
		{
			name: "no listing had it a moment ago", link: sprint, known: unchanged(), answers: map[string]any{"KnownMilestone": 0, "ReadSprint": (*mapping.Sprint)(nil), "PauseLeft": Pause{Wait: time.Second}},
			asked: []string{"KnownMilestone", "ReadSprint", "PauseLeft"}, check: is("it is shown later", func(w work) bool { return w.showAgain.after > 0 }),
		},
		{name: "the repository is public: none is made there", link: sprint, known: unchanged(), answers: map[string]any{"KnownMilestone": 0, "ReadSprint": &mapping.Sprint{}, "ReadPublic": Publicity{Public: true, Known: true}}, asked: []string{"KnownMilestone", "ReadSprint", "ReadPublic"}, err: "is public"},
		{name: "another repository has its name", link: sprint, known: unchanged(), answers: map[string]any{"KnownMilestone": 0, "ReadSprint": &mapping.Sprint{}, "Locate": "acme/new"}, asked: []string{"KnownMilestone", "ReadSprint", "Locate"}, err: "moved"},
		{name: "the lease is lost", link: sprint, known: unchanged(), answers: with(map[string]any{"Save": store.ErrLeaseLost}, map[string]any{"KnownMilestone": 4}), asked: sets[:3], err: "lease"},
	})
}

func TestShowAssignees(t *testing.T) {
	rule := does(assigneeProjector.showAssignees)
	users := func(s *Settings) { s.Users = map[string]string{"ann": "anna", "annie": "anna", "bob": "bobby"} }
	works := func(who ...string) func(*mapping.Link) {
		return shown(func(s *mapping.Shown) { s.Sprint, s.Users = "s", who })
	}
	ours := func(logins ...string) func(*mapping.Link) {
		return shown(func(s *mapping.Shown) { s.Assignees, s.Assigned = logins, logins })
	}
	assigned := func(logins ...string) func(*mapping.Issue) { return func(i *mapping.Issue) { i.Assignees = logins } }
	puts := func(logins ...string) map[string]any {
		return map[string]any{"Assign": issueOf(assigned(logins...)), "Unassign": issueOf(assigned(logins...)), "ReadIssue": issueOf(assigned(logins...))}
	}
	adds := []string{"Reserve", "Save", "BeginWrite", "Assign ann"}
	removes := []string{"Reserve", "Save", "BeginWrite", "Unassign ann"}
	has := func(ours, handled []string) func(work) string {
		return recorded("who was assigned by the bridge, and who was handled", func(s *mapping.Shown) bool {
			return slices.Equal(s.Assignees, ours) && slices.Equal(s.Assigned, handled)
		})
	}
	ann := []string{"ann"}
	checkRule(t, rule, []ruleCase{
		{name: "nobody works on it", link: works(), set: users, known: unchanged(), check: has(nil, nil)},
		{name: "somebody does", link: works("anna"), set: users, known: unchanged(), answers: puts("ann"), asked: adds, counts: []string{"0 web github assignees"}, check: all(has(ann, ann), tells("show"))},
		{name: "somebody does, whom the user table lacks", link: works("carl"), set: users, known: unchanged(), check: has(nil, nil)},
		{name: "somebody does, in no sprint", link: shown(func(s *mapping.Shown) { s.Users = []string{"anna"} }), set: users, known: unchanged(), check: has(nil, nil)},
		{name: "somebody does, whose login has another account now", link: works("bobby"), set: users, process: process{strangers: true}, known: unchanged(), check: has(nil, nil)},
		{name: "somebody is assigned already: a person did that", link: works("anna"), set: users, known: unchanged(assigned("ann")), check: has(nil, ann)},
		{name: "nobody works on it any more", link: links(works(), ours("ann")), set: users, known: unchanged(assigned("ann")), answers: puts(), asked: removes, check: has(nil, nil)},
		{name: "nobody does any more, and a person took it off", link: links(works(), ours("ann")), set: users, known: unchanged(), check: has(nil, nil)},
		{name: "a person's own assignee stays", link: links(works("bobby"), ours("bob")), set: users, known: unchanged(assigned("carl", "bob")), check: has([]string{"bob"}, []string{"bob"})},
		{
			name: "another one works on it", link: links(works("bobby"), ours("ann")), set: users, known: unchanged(assigned("ann")), answers: map[string]any{"Assign": issueOf(assigned("ann", "bob")), "Unassign": issueOf(assigned("bob"))},
			asked: []string{"Reserve", "Save", "BeginWrite", "Assign bob", "Unassign ann"}, check: has([]string{"bob"}, []string{"bob"}),
		},
		{name: "the same ones do, and the issue is not known", link: links(works("anna"), ours("ann")), set: users, check: has(ann, ann)},
		{name: "others do, and the issue is not known: it is read", link: works("anna"), set: users, answers: puts("ann"), asked: []string{"Reserve", "ReadIssue"}, check: has(nil, ann)},
		{name: "GitHub drops one in silence", link: works("anna"), set: users, known: unchanged(), answers: puts(), asked: adds, check: all(has(nil, ann), recorded("that one is not tried again", func(s *mapping.Shown) bool { return slices.Equal(s.Dropped, ann) }))},
		{name: "GitHub dropped one before", link: links(works("anna"), shown(func(s *mapping.Shown) { s.Assigned, s.Dropped = ann, ann })), set: users, known: unchanged(), check: has(nil, ann)},
		{
			name: "GitHub dropped one before, and people changed since: once more", link: links(works("anna"), shown(func(s *mapping.Shown) { s.Assigned, s.Dropped = []string{"bob"}, []string{"ann", "#4"} })), set: users, known: unchanged(), answers: puts("ann"), asked: adds,
			check: recorded("milestones that it dropped are not tried again", func(s *mapping.Shown) bool { return slices.Equal(s.Dropped, []string{"#4"}) }),
		},
		{name: "the answer is lost: who was added is known to be ours", link: works("anna"), set: users, known: unchanged(), answers: map[string]any{"Assign": mapping.ErrUncertain}, asked: adds, err: "assign", check: has(ann, nil)},
		{name: "one cannot be taken off", link: links(works(), ours("ann")), set: users, known: unchanged(assigned("ann")), answers: map[string]any{"Unassign": errAway}, asked: removes, err: "unassign", check: has(ann, nil)},
		{name: "the lease is lost", link: works("anna"), set: users, known: unchanged(), answers: map[string]any{"Save": store.ErrLeaseLost}, asked: adds[:2], err: "lease"},
	})
}

func TestShowReview(t *testing.T) {
	rule := does(reviewProjector.showReview)
	says := func(now, acted string) func(*mapping.Link) {
		return links(shown(func(s *mapping.Shown) { s.Review = now }), func(l *mapping.Link) { l.Review = acted })
	}
	closing := func(now string) func(*mapping.Link) {
		return links(says(now, ""), shown(func(s *mapping.Shown) { s.Closing = noon.Add(-time.Minute) }))
	}
	first := func(changes ...func(*mapping.Issue)) func(work) {
		return knows(unchanged(changes...), func(w work) { w.round.first = true })
	}
	known := func(review string) func(work) string {
		return all(is("the review was acted on", func(w work) bool { return w.link.Review == review }), recorded("no close is under way", func(s *mapping.Shown) bool { return s.Closing.IsZero() }))
	}
	closed := map[string]any{"EditIssue": issueOf(inState("closed"))}
	closes := func(reason string) []string { return savedAnd(`EditIssue state="closed" reason="` + reason + `"`) }
	checkRule(t, rule, []ruleCase{
		{name: "it did not change", link: says("APPROVED", "APPROVED"), known: unchanged(), check: known("APPROVED")},
		{name: "it is spelt otherwise", link: says("Approved", "APPROVED"), known: unchanged(), check: known("Approved")},
		{name: "approved", link: says("APPROVED", ""), known: unchanged(), answers: closed, asked: closes("completed"), counts: []string{"0 web github state"}, check: all(known("APPROVED"), tells("show"), is("it is a person's change", func(w work) bool { return w.issue.State == "closed" && !w.onlyShows }))},
		{name: "rejected", link: says("REJECTED", ""), known: unchanged(), answers: closed, asked: closes("not_planned"), check: known("REJECTED")},
		{name: "approved, and the issue is closed", link: says("APPROVED", ""), known: unchanged(inState("closed")), check: all(known("APPROVED"), tells())},
		{name: "approved in part", link: says("PARTIALLY", ""), known: unchanged(), check: all(known("PARTIALLY"), tells())},
		{name: "taken back", link: says("", "APPROVED"), known: unchanged(), check: all(known(""), tells())},
		{name: "the issue was not read: it is", link: says("APPROVED", ""), known: seenOnly(), answers: map[string]any{"ReadIssue": issueOf(inState("closed"))}, asked: []string{"ReadIssue"}, check: known("APPROVED")},
		{name: "GitHub is away", link: says("APPROVED", ""), known: seenOnly(), answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, err: "unavailable", check: known("")},
		{name: "folded with what was shown a moment ago", link: links(says("APPROVED", ""), folded), set: coalesces, known: unchanged(), err: "folds", check: known("")},
		{name: "at first sight, and its label says that it was acted on", link: says("APPROVED", ""), known: first(labelled("plan:Approved")), check: all(known("APPROVED"), tells())},
		{name: "at first sight, without its label", link: says("APPROVED", ""), known: first(), answers: closed, asked: closes("completed"), check: known("APPROVED")},
		{name: "a close was under way, and the issue is closed", link: closing("APPROVED"), known: unchanged(inState("closed")), check: all(known("APPROVED"), tells())},
		{name: "a close was, and a person has reopened it", link: closing("APPROVED"), known: unchanged(), answers: map[string]any{"ReadActed": noon}, asked: []string{"ReadActed"}, check: all(known("APPROVED"), tells())},
		{name: "a close was, and never came", link: closing("APPROVED"), known: unchanged(), answers: with(map[string]any{"ReadActed": time.Time{}}, closed), asked: append([]string{"ReadActed"}, closes("completed")...), check: all(known("APPROVED"), tells("show"))},
		{name: "a close was, and GitHub does not tell: it was reopened", link: closing("APPROVED"), known: unchanged(func(i *mapping.Issue) { i.StateReason = "reopened" }), answers: map[string]any{"ReadActed": errAway}, asked: []string{"ReadActed"}, check: all(known("APPROVED"), tells())},
		{name: "a close was, and GitHub does not tell: it was never closed", link: closing("APPROVED"), known: unchanged(), answers: with(map[string]any{"ReadActed": errAway}, closed), asked: append([]string{"ReadActed"}, closes("completed")...), check: tells("show")},
		{name: "a close was, and is not folded", link: links(closing("APPROVED"), folded), set: coalesces, known: unchanged(inState("closed")), check: known("APPROVED")},
		{name: "a close was, of a review that has not changed", link: links(closing("APPROVED"), func(l *mapping.Link) { l.Review = "APPROVED" }), known: unchanged(inState("closed")), check: known("APPROVED")},
		{name: "the brake on closes holds", link: says("APPROVED", ""), set: func(s *Settings) { s.Brakes.ClosesPerMinute = 1 }, known: unchanged(), answers: map[string]any{"Take": store.Grant{Wait: time.Minute}}, asked: []string{"Take brake:closes:web"}, err: "brake on closes", check: known("")},
		{name: "it was shown too often", link: links(says("APPROVED", ""), func(l *mapping.Link) { l.Pace.Minute, l.Pace.Writes = noon, showsPerMinute }), known: unchanged(), err: "within a minute", check: known("")},
		{name: "the lease is lost", link: says("APPROVED", ""), known: unchanged(), answers: map[string]any{"Save": store.ErrLeaseLost}, asked: []string{"Save"}, err: "lease", check: known("")},
		{name: "GitHub is away, and took nothing", link: says("APPROVED", ""), known: unchanged(), answers: map[string]any{"EditIssue": errAway}, asked: closes("completed"), err: "close for the review", check: known("")},
		{name: "its answer is lost: a close may be under way", link: says("APPROVED", ""), known: unchanged(), answers: map[string]any{"EditIssue": mapping.ErrUncertain}, asked: closes("completed"), err: "close for the review", check: recorded("a close may be", func(s *mapping.Shown) bool { return s.Closing.Equal(noon) })},
	})
}
