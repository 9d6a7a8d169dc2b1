package mapping

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// TestDigestIssueIsOfEveryField: a field of an issue is part of its digest unless
// it is named here as one that is not synchronised.
func TestDigestIssueIsOfEveryField(t *testing.T) {
	aside := []string{
		"Repo", "RepoID", "AuthorID", "Association", "Page", "CreatedAt", "UpdatedAt", "ClosedAt", "Editor", "Delivery", "Parent", "Childless", "Imported", "MilestoneMark",
	}
	var none Issue
	for f := range reflect.TypeFor[Issue]().Fields() {
		var some Issue
		switch v := reflect.ValueOf(&some).Elem().FieldByIndex(f.Index); v.Interface().(type) {
		case string:
			v.SetString("x")
		case int, int64:
			v.SetInt(1)
		case bool:
			v.SetBool(true)
		case []string:
			v.Set(reflect.ValueOf([]string{"x"}))
		case time.Time:
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
		default:
			t.Fatalf("%s is of a kind that this test does not know", f.Name)
		}
		if same := DigestIssue(&some) == DigestIssue(&none); same != slices.Contains(aside, f.Name) {
			t.Errorf("%s: digests are the same: %t", f.Name, same)
		}
	}
}

func TestDigestIssueOrderAndBorders(t *testing.T) {
	digest := func(i Issue) string { return DigestIssue(&i) }
	if a, b := digest(Issue{Labels: []string{"a", "b"}}), digest(Issue{Labels: []string{"b", "a"}}); a != b {
		t.Error("the order of labels counts")
	}
	all := map[string]bool{}
	for _, i := range []Issue{
		{Title: "ab"},
		{Title: "a", Body: "b"},
		{Labels: []string{"ab"}},
		{Labels: []string{"a", "b"}},
		{Labels: []string{"a"}, Assignees: []string{"b"}},
		{Assignees: []string{"a", "b"}},
		{Labels: []string{"b", "c"}},
		{Labels: []string{"a"}, Assignees: []string{"c"}},
		{Labels: []string{"a", "b", ""}},
		{Labels: []string{"a"}},
		{Assignees: []string{"a"}},
		{ID: 1},
		{Number: 1},
		{Milestone: 1},
		{PullRequest: true},
		{Locked: true},
	} {
		all[digest(i)] = true
	}
	if len(all) != 16 {
		t.Errorf("%d digests of 16 issues", len(all))
	}
	labels := []string{"b", "a"}
	if digest(Issue{Labels: labels}); labels[0] != "b" {
		t.Error("the digest put an issue's labels in another order")
	}
}

func BenchmarkDigestIssue(b *testing.B) {
	i := Issue{ID: 1, NodeID: "I_kwDOABCDEF", Title: "An issue", Body: string(make([]byte, 1024)), State: "open", Labels: []string{"bug", "a"}, Author: "octocat"}
	b.ReportAllocs()
	for b.Loop() {
		DigestIssue(&i)
	}
}

// TestStoredDigestsStand: records hold digests and stores index traits, so that another way of
// making them would take every item for one that changed.
func TestStoredDigestsStand(t *testing.T) {
	if got := DigestText("text"); got != "1e1d0f251d3a76fa" {
		t.Errorf("a text has the digest %s", got)
	}
	if got := ConflictID("card", Title, "ours", "theirs"); got != "f5a29452606f566b" {
		t.Errorf("a conflict has the id %s", got)
	}
	if got := IssueTraits("octocat", "A title", time.Unix(1_767_323_045, 0)); !slices.Equal(got, []Trait{"-_cR6", "m2kzQ"}) {
		t.Errorf("an issue has the traits %q", got)
	}
}
