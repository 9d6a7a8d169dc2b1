package bridgetest_test

import (
	"context"
	"fmt"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// A world is a simulated GitHub, a simulated planning service and a bridge between them. People
// act on either side; a test waits until the world is as it should be.
func ExampleStart() {
	w, err := bridgetest.Start(bridgetest.Options{})
	if err != nil {
		panic(err)
	}
	defer w.Close()
	ctx := context.Background()

	n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Login fails"})
	if err := w.Until(ctx, func() bool { return len(w.Project.Cards()) == 1 }); err != nil {
		panic(err)
	}
	card := w.Project.Cards()[0]
	fmt.Println("card:", card.Title)

	w.Project.EditCard(card.ID, "alice", func(e *planningtest.CardEdit) { e.Title = "Login fails in Safari" })
	if err := w.Until(ctx, func() bool { return w.Repo.Issue(n).Title == "Login fails in Safari" }); err != nil {
		panic(err)
	}
	fmt.Println("issue:", w.Repo.Issue(n).Title)
	// Output:
	// card: Login fails
	// issue: Login fails in Safari
}
