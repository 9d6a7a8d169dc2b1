package bridgetest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

var conflictShapes = []planningtest.ConflictShape{
	planningtest.ConflictAttributes, planningtest.ConflictItem, planningtest.ConflictCurrent, planningtest.ConflictErrors,
	planningtest.ConflictEmpty, planningtest.ConflictText, planningtest.ConflictArray,
}

// TestVersionConflicts lets planning refuse an outdated write with every
// status and in every shape that the document leaves open (docs/planning-api.md
// part 7: neither is shown). No poll comes between the two edits, so that the
// refusal alone tells of planning's.
func TestVersionConflicts(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 400, 409, 412, 422, 500} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			w := start(t, bridgetest.Options{Poll: time.Hour})
			for _, shape := range conflictShapes {
				// An issue each: so many writes to one would stop as a runaway.
				n, card := w.OpenIssue(githubtest.IssueSpec{Title: string(shape), Body: "One.\n\nTwo.\n\nThree."})
				w.Planning.SetTraits(func(x *planningtest.Traits) { x.ConflictStatus, x.ConflictShape = status, shape })
				w.refusedTitle(n, card, string(shape))
				w.refusedSummary(n, card, string(shape))
			}
		})
	}
}

// refusedTitle changes the title on both sides: planning's stands, and GitHub's
// was never in planning.
func (w *world) refusedTitle(n int, card, shape string) {
	w.T.Helper()
	w.GitHub.Advance(2 * time.Second) // GitHub's times have whole seconds
	was := len(w.Repo.Issue(n).Comments)
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "planning " + shape })
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "github " + shape })
	w.Await("planning's title stands, with shape "+shape, func() bool {
		i := w.Repo.Issue(n)
		return i.Title == "planning "+shape && len(i.Comments) == was+1
	})
	for _, v := range w.Project.History(card, "title") {
		if v.Value == "github "+shape {
			w.T.Errorf("shape %s: GitHub's title overwrote planning's", shape)
		}
	}
}

// refusedSummary changes two paragraphs, one on each side: both arrive.
func (w *world) refusedSummary(n int, card, shape string) {
	w.T.Helper()
	w.GitHub.Advance(2 * time.Second)
	first, third := "One "+shape+".", "Three "+shape+"."
	edit := func(text string, paragraph int, to string) string {
		written, mark := bridgetest.SplitMarker(text)
		p := strings.Split(written, "\n\n")
		p[paragraph] = to
		return p[0] + "\n\n" + p[1] + "\n\n" + p[2] + mark
	}
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Summary = edit(e.Summary, 2, third) })
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = edit(e.Body, 0, first) })
	want := first + "\n\nTwo.\n\n" + third
	w.Await("both paragraphs on both sides, with shape "+shape, func() bool {
		summary, _ := bridgetest.SplitMarker(w.Project.Card(card).Summary)
		return w.Repo.Issue(n).Body == want && summary == want
	})
}
