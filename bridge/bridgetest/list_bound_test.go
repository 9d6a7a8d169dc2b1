package bridgetest_test

import (
	"fmt"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
)

// TestMeasuredListOfThousands: a checklist of 4,000 lines makes exactly as many tasks as the
// default of tasks_per_card allows, however it is edited. Every line is on the card, as a task or
// in its summary. The scenario list-bound holds the same with the race detector, of a short list.
func TestMeasuredListOfThousands(t *testing.T) {
	const lines, most = 4000, 200
	w := start(t, bridgetest.Options{Route: "tasks: checklist"})
	list := func(n int, of string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "- [ ] %s%d\n", of, i)
		}
		return b.String()
	}
	n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Many", Body: list(lines, "t")})
	tasks := func() int {
		cards := w.Project.Cards()
		if len(cards) == 0 {
			return 0
		}
		return len(w.Project.Tasks(cards[0].ID)) - 1 // its tracking task
	}
	w.Await("all tasks", func() bool { return tasks() >= most })
	w.AwaitSettled()
	card := w.Project.Cards()[0]
	if got := strings.Count(card.Summary, "- [ ] t"); tasks() != most || got != lines-most {
		t.Errorf("%d tasks and %d lines of text, want %d and %d", tasks(), got, most, lines-most)
	}
	// Fresh lines in place of all others make no further task: none can be deleted.
	for round := range 3 {
		body := list(lines, string(rune('a'+round)))
		w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = body })
		last := fmt.Sprint(string(rune('a'+round)), lines-1)
		w.Await("the last line of "+fmt.Sprint(round), func() bool { return strings.Contains(w.Project.Card(card.ID).Summary, last+"\n") })
		w.AwaitSettled()
		if got := w.Repo.Issue(n).Body; got != body || tasks() != most {
			t.Fatalf("round %d: %d tasks, body changed: %v", round, tasks(), got != body)
		}
	}
}
