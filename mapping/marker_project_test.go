package mapping_test

import (
	"testing"

	"planbridge/mapping"
)

// Every kind of marker has a letter of its own: a signed text of one kind says
// nothing as another.
func TestMarkerKindsAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[mapping.MarkerKind]bool{}
	for _, k := range []mapping.MarkerKind{
		mapping.MarkIssue, mapping.MarkSubIssue, mapping.MarkCard, mapping.MarkTask,
		mapping.MarkConflict, mapping.MarkSprint,
	} {
		if seen[k] {
			t.Errorf("two kinds are marked %q", k)
		}
		seen[k] = true
	}
}

// A footer that was copied to an item of another project, or that another
// deployment with the same keys signed, names no partner there.
func TestMarkerOfAnotherProject(t *testing.T) {
	t.Parallel()
	m := mark
	m.Nonce = mapping.NewNonceIn("project-a")
	text := keys.AppendFooter("Words", m, "acme/web", 12, "https://github.com/acme/web/issues/12")
	old := keys.AppendFooter("Words", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")
	for name, c := range map[string]struct {
		keys  mapping.Keys
		text  string
		marks int
	}{
		"its own project":                     {keys.In("project-a"), text, 1},
		"another project":                     {keys.In("project-b"), text, 0},
		"any project":                         {keys, text, 1},
		"another project, an older release's": {keys.In("project-b"), old, 1},
	} {
		body, marks := c.keys.Body(c.text)
		if body != "Words" || len(marks) != c.marks {
			t.Errorf("%s: text %q with %d markers, want the people's words and %d", name, body, len(marks), c.marks)
		}
	}
	pasted := "see " + keys.Sign(m)
	for project, marks := range map[mapping.ObjectID]int{"project-a": 1, "project-b": 0} {
		if found := keys.In(project).Find(pasted); len(found) != marks {
			t.Errorf("pasted in %s it is %d markers, want %d", project, len(found), marks)
		}
	}
	if !m.IsFor("project-a") || m.IsFor("project-b") || !mark.IsFor("project-b") {
		t.Error("IsFor tells the projects wrongly")
	}
}

// A milestone that an older release marked is known, and is not written anew for
// the sake of its marker.
func TestFormerMarkOfMilestone(t *testing.T) {
	t.Parallel()
	sprint := mapping.Sprint{ID: "sprint1", Title: "One", Summary: "Words"}
	was, write := mapping.ProjectMilestone(sprint, nil, keys)
	if !write {
		t.Fatal("the milestone is not made")
	}
	was.Number = 3
	was.Description = keys.AppendComment("Words", mapping.Marker{Kind: mapping.MarkSubIssue, Partner: "sprint1"})
	now, write := mapping.ProjectMilestone(sprint, []mapping.Milestone{was}, keys)
	if now.Number != 3 || write {
		t.Errorf("milestone %d, written %v; want 3 as it is", now.Number, write)
	}
	subIssue := keys.AppendComment("Words", mapping.Marker{Kind: mapping.MarkSubIssue, Link: "aa", Nonce: "bb", Partner: "sprint1"})
	if _, found := mapping.FindMilestone([]mapping.Milestone{{Number: 4, Description: subIssue}}, "sprint1", keys); found {
		t.Error("the marker of a sub-issue names a sprint")
	}
}
