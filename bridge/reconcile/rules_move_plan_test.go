package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestPlanOfAMove: an operator is shown what a move of an issue to another project does.
func TestPlanOfAMove(t *testing.T) {
	say := func(w work) (string, error) {
		p, err := relocator(w).plan()
		said := []string{fmt.Sprintf("%d writes", p.Writes)}
		if p.Stays != "" {
			said = append(said, "stays: "+p.Stays)
		}
		if p.Hindered != "" {
			said = append(said, "hindered: "+p.Hindered)
		}
		if len(p.Steps) > 0 {
			said = append(said, inWords(p.Steps))
		}
		return strings.Join(said, "\n"), err
	}
	bare, none := mapping.Card{ID: "c", Version: 1}, []mapping.Task{}
	asked := []string{"ReadIssue", "ReadCard", "ReadTasks", "ReadTasks"}
	const stays = "acme/web#12 (planning): card c stays in project P, and the issue gets a card in bucket New of project Q"
	const footer, nothing = "acme/web#12 (planning): the footer is taken out of card c\n", "0 writes"
	const mine = "\nacme/web#12 (planning): task mine stays on card c: no issue shows it"
	body := testKeys.AppendComment("text", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: "n", Partner: "c"})
	toPlanning := pointedTo(func(r *mapping.Route) { r.Direction = mapping.ToPlanning })
	four := links(moving, shown(func(s *mapping.Shown) { s.Milestone = 4 }))
	checkSays(t, say, []ruleCase{
		{name: "it moves", link: moving, set: pointedTo(), answers: itemsRead(issueOf(), bare, none), asked: asked, says: "2 writes\n" + stays},
		{name: "its card's footer goes", link: moving, set: pointedTo(), answers: itemsRead(issueOf(), mapping.Card{ID: "c", Summary: versioned(cardFooter, 1)}, none), asked: asked, says: "2 writes\n" + footer + stays},
		{
			name: "the marker of its issue goes, which is a write to GitHub", link: links(moving, func(l *mapping.Link) { l.Origin = mapping.Planning }), set: pointedTo(), answers: itemsRead(issueOf(bodied(body)), bare, none), asked: asked,
			says: "3 writes\nacme/web#12 (github): the marker is taken out of the body\n" + stays,
		},
		{name: "the route there does not write to GitHub", link: moving, set: toPlanning, answers: itemsRead(issueOf(), bare, none), asked: asked, says: nothing + "\n" + stays},
		{
			name: "its milestone leaves it, which is a write to GitHub", link: four, set: pointedTo(), answers: itemsRead(issueOf(milestone(4)), bare, none), asked: asked,
			says: "3 writes\n" + stays + "\nacme/web#12 (github): the milestone #4 leaves the issue: its new card is in no sprint",
		},
		{name: "its milestone stays where the route does not write to GitHub", link: four, set: toPlanning, answers: itemsRead(issueOf(milestone(4)), bare, none), asked: asked, says: nothing + "\n" + stays},
		{name: "a person's task stays", link: moving, set: pointedTo(), answers: itemsRead(issueOf(), bare, []mapping.Task{{ID: "mine"}, {ID: "t"}}), asked: asked, says: "2 writes\n" + stays + mine},
		{name: "it has no card yet", link: links(entering, moving), set: pointedTo(), says: nothing + "\nacme/web#12 (planning): it has no card yet, and gets one where its route leads"},
		{name: "its card is being made", link: links(creating(true), moving), set: pointedTo(), says: nothing + "\nacme/web#12 (planning): it has no card yet, and gets one where its route leads"},
		{name: "its route leads to its own project", link: moving, says: nothing + "\nstays: its route leads to project  still"},
		{name: "an operator parted it", link: links(moving, func(l *mapping.Link) { l.Parted = true }), set: pointedTo(), says: nothing + "\nstays: an operator parted it"},
		{name: "no route has it", link: moving, set: withoutRoute(true), says: nothing + "\nstays: no route has it"},
		{name: "its project is not served", link: moving, set: pointedTo(), known: func(w work) { w.served = false }, says: nothing + "\nstays: no route has it"},
		{
			name: "it is dormant, and goes on", link: links(moving, func(l *mapping.Link) { l.State, l.Suspended = mapping.Dormant, mapping.Linked }), set: pointedTo(), answers: itemsRead(issueOf(), bare, none), asked: asked,
			says: "2 writes\n" + stays, check: isState(mapping.Linked, ""),
		},
		{name: "people are asked about it", link: links(moving, asking(mapping.Title, "q")), set: pointedTo(), answers: itemsRead(issueOf(), bare, none), asked: asked[:3], says: nothing + "\nhindered: people are asked about the title of acme/web#12: answer first"},
		{name: "GitHub does not show its issue", link: moving, set: pointedTo(), answers: itemsRead(mapping.ErrForbidden, bare, none), asked: asked[:3], says: nothing + "\nhindered: cannot be looked at: forbidden"},
		{name: "GitHub is away", link: moving, set: pointedTo(), answers: itemsRead(errAway, bare, none), asked: asked[:1], err: "cannot be looked at", says: nothing},
		{name: "its tasks cannot be read at last", link: moving, set: pointedTo(), answers: itemsRead(issueOf(), bare, turns{none, errAway}), asked: asked, err: "tasks of card c", says: "2 writes\n" + stays},
	})
}
