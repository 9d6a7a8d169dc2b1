package mapping

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestForgottenTasksHaveABound: the latest removals are kept, the oldest give way, and each
// task of a bounded number stays what it is.
func TestForgottenTasksHaveABound(t *testing.T) {
	var f Family
	for n := range MaxForgottenTasks + 10 {
		f.Forget([]ObjectID{ObjectID(fmt.Sprint(n))})
	}
	if len(f.Forgotten) != MaxForgottenTasks {
		t.Fatalf("%d tasks are kept", len(f.Forgotten))
	}
	if first, last := f.Forgotten[0], f.Forgotten[len(f.Forgotten)-1]; first != "10" || last != ObjectID(fmt.Sprint(MaxForgottenTasks+9)) {
		t.Errorf("kept are %s to %s", first, last)
	}
}

// TestForgottenTasksComeInOrder: of tasks that are forgotten together the latest comes first,
// and is kept longest.
func TestForgottenTasksComeInOrder(t *testing.T) {
	f := Family{Forgotten: []ObjectID{"old"}}
	f.Forget([]ObjectID{"latest", "middle", "earliest"})
	if want := []ObjectID{"old", "earliest", "middle", "latest"}; !slices.Equal(f.Forgotten, want) {
		t.Errorf("%v, want %v", f.Forgotten, want)
	}
}

// TestForgettingLeavesCopiesAlone: a copy of a record shares its lists.
func TestForgettingLeavesCopiesAlone(t *testing.T) {
	tasks := make([]ObjectID, 2, 10)
	tasks[0], tasks[1] = "a", "b"
	f := Family{Forgotten: tasks}
	copied := f
	f.Forget([]ObjectID{"c"})
	f.Recall("a")
	if want := []ObjectID{"a", "b"}; !slices.Equal(copied.Forgotten, want) {
		t.Errorf("the copy has %v", copied.Forgotten)
	}
	if want := []ObjectID{"b", "c"}; !slices.Equal(f.Forgotten, want) {
		t.Errorf("the family has %v", f.Forgotten)
	}
}

// TestStaying: a task stays what it is that was there before, or whose line was removed, until
// a line stands for it again.
func TestStaying(t *testing.T) {
	f := Family{Old: []ObjectID{"old"}}
	f.Forget([]ObjectID{"removed", "back"})
	f.Recall("back")
	f.Recall("never forgotten")
	got := f.Staying()
	if len(got) != 2 || !got["old"] || !got["removed"] {
		t.Errorf("staying are %v", got)
	}
}

// TestForgetAndRecall: a recalled task is forgotten no more, and nothing else changes.
func TestForgetAndRecall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f Family
		var model []ObjectID
		task := rapid.Custom(func(t *rapid.T) ObjectID { return ObjectID(fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "task"))) })
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			id := task.Draw(t, "id")
			if rapid.Bool().Draw(t, "recall") {
				f.Recall(id)
				model = slices.DeleteFunc(model, func(x ObjectID) bool { return x == id })
			} else {
				f.Forget([]ObjectID{id})
				model = append(model, id)
			}
		}
		model = model[max(0, len(model)-MaxForgottenTasks):]
		if !slices.Equal(f.Forgotten, model) {
			t.Fatalf("forgotten are %v, want %v", f.Forgotten, model)
		}
	})
}

func ofTheFamily() *Link {
	root := &Link{ID: "root", Project: "project", Route: "web", Pair: Pair{State: Linked, Issue: IssueID{ID: 1}, Card: CardID{ID: "card"}}}
	part := FoundPart(GitHub, "nonce", noon)
	part.Issue, part.Card = IssueID{ID: 2}, CardID{ID: "task"}
	part.Former = []int64{20}
	unmade := NewPart(Planning, "other nonce", noon)
	unmade.Card = CardID{ID: "unmade"}
	root.SubLinks = []*Pair{part, unmade}
	root.Children = []*Pair{{Kind: Tracking, Card: CardID{ID: "tracking"}}, {Kind: Checklist}, {Kind: Checklist, Card: CardID{ID: "line"}}}
	root.Former = []int64{10}
	return root
}

// TestParts: a part has a task and a nonce of its own. The side of a person's item decides the side
// of its partner.
func TestParts(t *testing.T) {
	root := ofTheFamily()
	found, unmade := root.SubLinks[0], root.SubLinks[1]
	for _, p := range root.SubLinks {
		if p.Kind != SubIssue || !p.IsTask() || !p.Created.Equal(noon) {
			t.Errorf("part %+v", p)
		}
	}
	if found.Origin != GitHub || unmade.Origin != Planning || !unmade.Intent.At.Equal(noon) {
		t.Errorf("who made the first items: %+v, %+v", found, unmade.Intent)
	}
	if found.State != Linked || found.Intent != nil || found.Nonce != "nonce" {
		t.Errorf("a part that was found: %+v", found)
	}
	if i := unmade.Intent; unmade.State != Creating || i == nil || i.Side != GitHub || i.Nonce != "other nonce" || i.Sent {
		t.Errorf("a part that is to be made: %+v, %+v", unmade, unmade.Intent)
	}
	if err := root.Broken(); err != nil {
		t.Errorf("the family breaks %v", err)
	}
}

// TestPartOfAnItem: a part is found by its issue and by its task, and by nothing that is not
// known yet.
func TestPartOfAnItem(t *testing.T) {
	root := ofTheFamily()
	root.SubLinks = append(root.SubLinks, FoundPart(GitHub, "no task yet", noon))
	for ref, want := range map[Ref]*Pair{
		IssueRef(2): root.SubLinks[0], TaskRef("task"): root.SubLinks[0], TaskRef("unmade"): root.SubLinks[1],
		IssueRef(0): nil, IssueRef(1): nil, CardRef("card"): nil, CardRef("task"): nil, TaskRef(""): nil, TaskRef("tracking"): nil,
	} {
		if got := root.Part(ref); got != want {
			t.Errorf("%s: %+v", ref, got)
		}
	}
}

// TestRefs: a link has every item that is known by its id, those that an issue was before too.
func TestRefs(t *testing.T) {
	want := []Ref{
		IssueRef(1), CardRef("card"), IssueRef(10), IssueRef(2), TaskRef("task"), IssueRef(20), TaskRef("unmade"), TaskRef("tracking"), TaskRef("line"),
	}
	if got := ofTheFamily().Refs(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := new(Link).Refs(); len(got) != 0 {
		t.Errorf("a link of nothing has %v", got)
	}
}

// TestChildOfAKind: the child can be changed in place.
func TestChildOfAKind(t *testing.T) {
	root := ofTheFamily()
	root.Child(Tracking).State = Orphaned
	if root.Children[0].State != Orphaned {
		t.Error("another child was changed")
	}
}

// TestConflictID: two values that meet are one conflict. Another value, or one of another
// attribute, is another one; white space at the end is no other value.
func TestConflictID(t *testing.T) {
	id := ConflictID("card", Title, "ours", "theirs")
	for _, other := range []string{
		ConflictID("card", Title, "theirs", "ours"), ConflictID("card", Title, "ours", "other"),
		ConflictID("card", Summary, "ours", "theirs"), ConflictID("card", State, "", ""),
	} {
		if other == id {
			t.Error("two conflicts have one id")
		}
	}
	if ConflictID("card", Summary, "text\r\n", "other") != ConflictID("card", Summary, "text", "other\n") {
		t.Error("line ends make another conflict")
	}
	if ConflictID("card", Title, "ours", "theirs") == ConflictID("another", Title, "ours", "theirs") {
		t.Error("two cards have one conflict")
	}
}
