package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"planbridge/mapping"
)

// inWords are the steps of a plan, one a line.
func inWords(steps []mapping.CleanStep) string {
	var lines []string
	for _, s := range steps {
		side := string(s.Side)
		if s.Unread {
			side += ", unread"
		}
		lines = append(lines, fmt.Sprintf("%s (%s): %s", s.Where, side, s.What))
	}
	return strings.Join(lines, "\n")
}

// cardFooter is the text of the pair's card.
var cardFooter = testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkCard, Link: "l", Nonce: "n", Partner: "7"})

// itemsRead are the answers to the reads of a pair's items.
func itemsRead(issue any, card any, tasks any) map[string]any {
	return map[string]any{"ReadIssue": issue, "ReadCard": card, "ReadTasks": tasks}
}

// withoutRoute has the link's project without a route; lent: the configuration names the project.
func withoutRoute(lent bool) func(*Settings) {
	return func(s *Settings) {
		other := mapping.Route{Name: "other", Project: "q", Repositories: []string{"acme/other"}}
		if s.Routes = mapping.NewRoutes([]mapping.Route{other}); lent {
			s.Routes = mapping.NewRoutes([]mapping.Route{other}, mapping.PlanningProject{ID: "p", Name: "P", Username: "robot"})
		}
	}
}

// TestPlanOfACleaning: an operator is shown what would be taken off a pair's items.
func TestPlanOfACleaning(t *testing.T) {
	say := func(w work) (string, error) {
		steps, err := planCleaning(w)
		return inWords(steps), err
	}
	bare, footed := mapping.Card{ID: "c", Version: 1}, mapping.Card{ID: "c", Version: 1, Summary: versioned(cardFooter, 1)}
	none := []mapping.Task{}
	ours := []mapping.Task{{ID: "t", Summary: versioned(taskMarked("", "n", trackingPartner), 1)}, {ID: "mine", Summary: versioned("mine", 1)}}
	all3 := []string{"ReadIssue", "ReadCard", "ReadTasks"}
	const footer = "acme/web#12 (planning): the footer is taken out of card c"
	cannot := func(side, why string) string {
		return "acme/web#12 (" + side + ", unread): cannot be looked at: " + why
	}
	dormant := func(l *mapping.Link) { l.State, l.Suspended = mapping.Dormant, mapping.Linked }
	checkSays(t, say, []ruleCase{
		{name: "nothing is on it", answers: itemsRead(issueOf(), bare, none), asked: all3},
		{name: "its card's footer", answers: itemsRead(issueOf(), footed, none), asked: all3, says: footer},
		{name: "the footer of its tracking task, and none of a person's task", answers: itemsRead(issueOf(), bare, ours), asked: all3, says: "acme/web#12 (planning): the footer is taken out of task t"},
		{
			name: "a label that shows the card, and one of a person", answers: itemsRead(issueOf(labelled("plan:Done", "bug")), footed, none), asked: all3,
			says: "acme/web#12 (github): the label plan:Done is taken off\n" + footer,
		},
		{
			name: "the milestone that the bridge set", link: shown(func(s *mapping.Shown) { s.Milestone = 4 }), answers: itemsRead(issueOf(milestone(4)), bare, none), asked: all3,
			says: "acme/web#12 (github): the milestone #4 is taken off",
		},
		{name: "it is about to enter", link: entering},
		{name: "its partner is being made", link: creating(true)},
		{name: "its issue is out of its route", link: func(l *mapping.Link) { l.State = mapping.Left }, answers: itemsRead(issueOf(), footed, none), asked: all3, says: footer},
		{name: "its issue is where no route is", link: func(l *mapping.Link) { l.State, l.Away = mapping.Left, "other/repo" }, answers: itemsRead(nil, footed, none), asked: all3[1:], says: footer},
		{name: "its card is gone", link: func(l *mapping.Link) { l.State = mapping.Orphaned }, answers: itemsRead(issueOf(labelled("plan:Done")), mapping.ErrGone, none), asked: all3[:2], says: "acme/web#12 (github): the label plan:Done is taken off"},
		{name: "its issue is gone", link: func(l *mapping.Link) { l.State = mapping.Orphaned }, answers: itemsRead(mapping.ErrNotFound, footed, none), asked: all3, says: footer},
		{name: "its issue seems gone", answers: itemsRead(mapping.ErrGone, footed, none), asked: all3, says: cannot("github", "gone") + "\n" + footer},
		{name: "GitHub does not show its issue", answers: itemsRead(mapping.ErrForbidden, footed, none), asked: all3, says: cannot("github", "forbidden") + "\n" + footer},
		{name: "another issue has its number", answers: itemsRead(issueOf(func(i *mapping.Issue) { i.ID, i.Author = 8, "bob" }), bare, none), asked: all3, says: cannot("github", "acme/web#12 is another issue now: gone")},
		{name: "planning does not show its card", answers: itemsRead(issueOf(labelled("plan:Done")), mapping.ErrForbidden, none), asked: all3[:2], says: cannot("planning", "forbidden") + "\nacme/web#12 (github): the label plan:Done is taken off"},
		{name: "planning does not show its tasks", answers: itemsRead(issueOf(), footed, mapping.ErrForbidden), asked: all3, says: cannot("planning", "tasks of card c: forbidden") + "\n" + footer},
		{name: "GitHub is away", answers: itemsRead(errAway, footed, none), asked: all3[:1], err: "acme/web#12 cannot be looked at"},
		{name: "planning is away", answers: itemsRead(issueOf(), errAway, none), asked: all3[:2], err: "acme/web#12 cannot be looked at"},
		{name: "planning is away when its tasks are read", answers: itemsRead(issueOf(), footed, errAway), asked: all3, err: "acme/web#12 cannot be looked at"},
		{name: "it is dormant", link: dormant, answers: itemsRead(issueOf(), footed, none), asked: all3, says: footer, check: isState(mapping.Linked, "")},
		{name: "its project has no route: one is lent", set: withoutRoute(true), answers: itemsRead(issueOf(), footed, none), asked: all3, says: footer},
		{name: "its project is not configured", set: withoutRoute(false)},
		{name: "its project is not served", known: func(w work) { w.served = false }},
		{name: "its route does not write to GitHub", route: func(r *mapping.Route) { r.Direction = mapping.ToPlanning }, answers: itemsRead(issueOf(labelled("plan:Done")), footed, none), asked: all3, says: footer},
		{
			name: "its route does not write to planning", route: func(r *mapping.Route) { r.Direction = mapping.ToGitHub }, answers: itemsRead(issueOf(labelled("plan:Done")), footed, none), asked: all3,
			says: "acme/web#12 (github): the label plan:Done is taken off",
		},
		{
			name: "a sub-issue's task", link: subIssue(), asked: append(append([]string{}, all3...), "ReadIssue", "ReadTask"), says: footer + "\nacme/web#9 (planning): the footer is taken out of task t9",
			answers: with(itemsRead(turns{issueOf(), issueOf(inRepo("acme/web", 9), func(i *mapping.Issue) { i.ID = 9 })}, footed, none), map[string]any{"ReadTask": mapping.Task{ID: "t9", Summary: versioned(taskMarked("", "n9", "9"), 1)}}),
		},
		{
			name: "a sub-issue that cannot be read now", link: subIssue(), asked: append(append([]string{}, all3...), "ReadIssue"), err: "acme/web#9 cannot be looked at",
			answers: itemsRead(turns{issueOf(), errAway}, footed, none),
		},
		{name: "a sub-issue whose task is being made", link: subIssue(func(p *mapping.Pair) { p.State = mapping.Creating }), answers: itemsRead(issueOf(), footed, none), asked: all3, says: footer},
		{name: "the time of the claim is over", link: entering, known: func(w work) { w.ended = true }, err: ErrOver.Error()},
	})
}

// TestPreview: an operator is shown what the next reconcile would do.
func TestPreview(t *testing.T) {
	say := func(w work) (string, error) {
		p, err := preview(w)
		if p == nil {
			return "nothing", err
		}
		said := fmt.Sprintf("titles %q and %q", p.GitHub[mapping.Title].Value, p.Planning[mapping.Title].Value)
		for _, d := range p.Plan.Decisions {
			if d.Attribute == mapping.Title {
				said += "; " + string(d.Action)
			}
		}
		for side, why := range mapping.Sorted(p.Unread) {
			said += fmt.Sprintf("; %s unread: %s", side, why)
		}
		if len(p.Gone) > 0 {
			said += fmt.Sprint("; gone: ", p.Gone)
		}
		return said, err
	}
	agrees := links(agreed(mapping.Title, "a", "a"), agreed(mapping.State, mapping.StateTodo, mapping.StateTodo))
	card := func(title string) mapping.Card { return mapping.Card{ID: "c", Version: 2, Title: versioned(title, 2)} }
	task := map[string]any{"ReadTask": mapping.Task{ID: "t", State: versioned(mapping.StateTodo, 1)}}
	read := func(issue, card any) map[string]any {
		return with(map[string]any{"ReadIssue": issue, "ReadCard": card}, task)
	}
	asked := []string{"ReadIssue", "ReadCard", "ReadTask"}
	nothing := func(name string, link func(*mapping.Link), known func(work)) ruleCase {
		return ruleCase{name: name, link: link, known: known, says: "nothing"}
	}
	checkSays(t, say, []ruleCase{
		{name: "both sides agree", link: agrees, answers: read(issueOf(), card("a")), asked: asked, says: `titles "a" and "a"; adopt`},
		{name: "GitHub changed", link: agrees, answers: read(issueOf(named("b")), card("a")), asked: asked, says: `titles "b" and "a"; to_planning`},
		{name: "planning changed", link: agrees, answers: read(issueOf(), card("b")), asked: asked, says: `titles "a" and "b"; to_github`},
		{
			name: "planning changed, and the repository is public", link: agrees, answers: with(read(issueOf(), card("b")), map[string]any{"ReadPublic": Publicity{Public: true, Known: true}}),
			asked: append([]string{"ReadPublic"}, asked...), says: `titles "a" and "b"; withheld`,
		},
		nothing("it has no card yet", func(l *mapping.Link) { l.Card.ID = "" }, nil),
		nothing("it has no issue yet", func(l *mapping.Link) { l.Issue.Number = 0 }, nil),
		nothing("its project is not served", nil, func(w work) { w.served = false }),
		nothing("it has no route", nil, func(w work) { w.route = nil }),
		{name: "its issue is gone", link: agrees, answers: read(mapping.ErrGone, card("b")), asked: asked, says: `titles "" and "b"; github unread: gone; gone: [github]`},
		{name: "its issue is elsewhere", link: agrees, answers: read(&mapping.MovedError{Location: "x"}, card("b")), asked: asked, says: `titles "" and "b"; github unread: moved to x; gone: [github]`},
		{name: "its card is gone", link: agrees, answers: read(issueOf(), mapping.ErrNotFound), asked: asked[:2], says: `titles "a" and ""; planning unread: not found; gone: [planning]`},
		{name: "both are gone", link: agrees, answers: read(mapping.ErrGone, mapping.ErrGone), asked: asked[:2], says: `titles "" and ""; github unread: gone; planning unread: gone; gone: [github planning]`},
		{name: "GitHub is away: what both agreed on stands in for it", link: agrees, answers: read(errAway, card("b")), asked: asked, says: `titles "" and "b"; to_github; github unread: read: unavailable`},
		{name: "its tracking task is gone", link: agrees, answers: with(read(issueOf(), card("a")), map[string]any{"ReadTask": mapping.ErrGone}), asked: asked, says: `titles "a" and "a"; planning unread: tracking task: gone; gone: [planning]`},
		{name: "it has no tracking task", link: links(agrees, func(l *mapping.Link) { l.Children = nil }), answers: read(issueOf(), card("b")), asked: asked[:2], says: `titles "a" and "b"; to_github`},
		{
			name: "the store does not say what people were asked", link: links(agrees, asking(mapping.Title, "q")), answers: with(read(issueOf(), card("b")), map[string]any{"ReadConflict": errAway}),
			asked: append(append([]string{}, asked...), "ReadConflict"), err: "decide about acme/web#12", says: "nothing",
		},
	})
}

// TestNewPreview: the state that a preview begins with is not the one that a claim begins with.
func TestNewPreview(t *testing.T) {
	t.Parallel()
	routes := mapping.NewRoutes([]mapping.Route{{Name: "web", Project: "q", Repositories: []string{"acme/web"}}}, mapping.PlanningProject{ID: "p", Name: "P"})
	for name, c := range map[string]struct {
		begin func(State) work
		holds func(work) bool
	}{
		"a cleaning is planned as if an operator had asked for it, parted or not": {
			func(s State) work { s.Claim.Link.Parted = true; return BeginCleaning(s).w },
			func(w work) bool { return w.link.Cleaning && !w.link.Parted },
		},
		"a move is planned as if an operator had asked for it, by the routes after it": {
			func(s State) work { return BeginRelocation(s, routes).w },
			func(w work) bool {
				return w.link.Moving != nil && !w.link.Moving.HandsOver() && w.set.Routes.ByName("web").Project == "q"
			},
		},
		"a preview changes nothing": {
			func(s State) work { return BeginPreview(s).w },
			func(w work) bool { return w.link.Moving == nil && !w.link.Cleaning && w.route != nil },
		},
	} {
		of := (&ruleCase{}).work()
		settings := *of.set
		s := State{Claim: of.claim, Settings: &settings, Process: process{}, Served: true, Now: noon}
		if !c.holds(c.begin(s)) {
			t.Errorf("not so: %s", name)
		}
		if settings.Routes.ByName("web").Project != "p" {
			t.Errorf("%s: the settings of others changed", name)
		}
	}
}
