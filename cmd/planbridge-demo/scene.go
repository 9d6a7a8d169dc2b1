package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// personToken lets a reader act on the simulated GitHub as a person.
const personToken = "ghp_octocat"

// ownCard is the title of the card that alice makes.
const ownCard = "Pay by card"

// scene is the play under way.
type scene struct {
	*bridgetest.World
	issue int    // that the scene is about
	card  string // its card

	list     int // the issue with a checklist, in docsName
	listCard string
}

// step is one act and its expected result.
type step struct {
	who, what string // a person's act
	act       func(*scene)
	then      string // its result
	seen      func(*scene) bool
}

// play plays the steps up to the first that fails, and reports whether all succeeded.
func play(ctx context.Context, w *bridgetest.World, out io.Writer, patience time.Duration) bool {
	s := &scene{World: w}
	w.GitHub.AddToken(personToken, "octocat")
	fmt.Fprintf(out, "GitHub (simulated)    %s   repositories %s and %s\nplanning (simulated)  %s   project %s, buckets %s and %s\nplanbridge            %s   its status page\n\n",
		w.GitHub.URL(), bridgetest.RepoName, docsName, w.Planning.URL(), w.Project.ID(), bridgetest.Bucket, docsBucket, w.AdminURL())
	for i, st := range steps() {
		fmt.Fprintf(out, "%2d. %s %s\n", i+1, st.who, st.what)
		before := snapshot(w)
		began := time.Now()
		st.act(s)
		within, cancel := context.WithTimeout(ctx, patience)
		err := w.Until(within, func() bool { return st.seen(s) })
		took := time.Since(began).Round(time.Millisecond)
		if err == nil {
			err = w.Settled(within, 2) // other results are part of this step
		}
		cancel()
		if err != nil {
			fmt.Fprintf(out, "    ✗ not within %s: %s\n", patience, st.then)
			return false // the next steps build on it
		}
		fmt.Fprintf(out, "    ✓ %-70s %8s\n", st.then, took)
		printChanges(out, before, snapshot(w))
	}
	return true
}

func steps() []step {
	return slices.Concat(sameSteps(), conflictSteps(), partSteps(), faultSteps(), shownSteps())
}

// sameSteps keep the two sides the same when one of them changes.
func sameSteps() []step {
	return []step{
		{
			"octocat", "opens an issue with the label points/3", func(s *scene) {
				s.issue = s.Repo.Open("octocat", githubtest.IssueSpec{Title: "Login fails", Body: "Steps:\n\n1. open the page\n2. press Login\n\nNothing happens.", Labels: []string{"points/3"}})
			},
			"a card in Incoming, 3 points, with a task that tracks its state", func(s *scene) bool {
				for _, c := range s.Project.Cards() {
					if c.Title == "Login fails" && c.Estimate != nil && *c.Estimate == 3 && len(c.Tasks) == 1 {
						s.card = c.ID
					}
				}
				return s.card != ""
			},
		},
		{
			"alice", "renames the card and gives it 5 points", func(s *scene) {
				five := 5.0
				s.Project.EditCard(s.card, "alice", func(e *planningtest.CardEdit) { e.Title, e.Estimate = "Login fails on Firefox", &five })
			},
			"the issue has the new title and the label points/5", func(s *scene) bool {
				i := s.Repo.Issue(s.issue)
				return i.Title == "Login fails on Firefox" && slices.Contains(i.Labels, "points/5") && !slices.Contains(i.Labels, "points/3")
			},
		},
		{
			"alice", "makes a card of her own", func(s *scene) {
				s.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: ownCard, Summary: "As @octocat said."})
			},
			"an issue, and nobody is notified by the mention in it", func(s *scene) bool {
				return slices.ContainsFunc(s.Repo.Issues(), func(i githubtest.IssueState) bool {
					return i.Title == ownCard && !strings.Contains(i.Body, "@octocat")
				})
			},
		},
	}
}

// conflictSteps change both sides at once.
func conflictSteps() []step {
	return []step{
		{
			"octocat and alice", "edit different lines of the text at the same time", func(s *scene) {
				s.Project.EditCard(s.card, "alice", func(e *planningtest.CardEdit) {
					e.Summary = strings.Replace(e.Summary, "Nothing happens.", "Nothing happens for ten seconds.", 1)
				})
				s.Repo.Edit(s.issue, "octocat", func(e *githubtest.IssueEdit) {
					e.Body = strings.Replace(e.Body, "1. open the page", "1. open the start page", 1)
				})
			},
			"both edits are on both sides", func(s *scene) bool {
				both := func(text string) bool {
					return strings.Contains(text, "the start page") && strings.Contains(text, "for ten seconds")
				}
				return both(s.Repo.Issue(s.issue).Body) && both(s.Project.Card(s.card).Summary)
			},
		},
		{
			"octocat and alice", "change the title at the same time, to different ones", func(s *scene) {
				s.GitHub.PauseDeliveries() // so that neither change is through before the other is made
				s.Repo.Edit(s.issue, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Login fails (octocat)" })
				s.Project.EditCard(s.card, "alice", func(e *planningtest.CardEdit) { e.Title = "Login fails (alice)" })
				s.GitHub.ReleaseDeliveries()
			},
			"planning's title stands, and a comment on the issue keeps both", func(s *scene) bool {
				i := s.Repo.Issue(s.issue)
				kept := slices.ContainsFunc(i.Comments, func(c githubtest.CommentState) bool {
					return strings.Contains(c.Body, "Login fails (octocat)") && strings.Contains(c.Body, "Login fails (alice)")
				})
				return kept && i.Title == "Login fails (alice)" && s.Project.Card(s.card).Title == i.Title
			},
		},
	}
}

// faultSteps are faults between services.
func faultSteps() []step {
	return []step{
		{
			"GitHub", "loses the delivery of octocat's next edit", func(s *scene) {
				s.GitHub.DropNext(1)
				s.Repo.Edit(s.issue, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Login fails, always" })
			},
			"the catch-up finds the edit: the card has it", func(s *scene) bool {
				return s.Project.Card(s.card).Title == "Login fails, always"
			},
		},
		{
			"octocat", "closes the issue", func(s *scene) { s.Repo.Close(s.issue, "octocat", "completed") },
			"the card's tracking task is done", func(s *scene) bool {
				return s.Project.Tasks(s.card)[0].State == "done"
			},
		},
		{
			"an operator", "stops planbridge; alice reopens the work; planbridge starts again", func(s *scene) {
				if err := s.StopBridge(); err != nil {
					return
				}
				s.Project.EditTask(s.Project.Tasks(s.card)[0].ID, "alice", func(e *planningtest.TaskEdit) { e.State = "in-progress" })
				if err := s.StartBridge(); err != nil {
					return
				}
			},
			"the issue is open again, with the label in-progress", func(s *scene) bool {
				i := s.Repo.Issue(s.issue)
				return i.State == "open" && slices.Contains(i.Labels, "in-progress")
			},
		},
	}
}
