package main

import (
	"errors"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// The second repository of the scene, whose checklists are tasks.
const (
	docsName   = "acme/docs"
	docsBucket = "Documents"
	docsRoute  = `  - repository: ` + docsName + `
    project: web
    bucket: ` + docsBucket + `
    tasks: checklist
`
)

// partSteps show the parts of an issue and a card: sub-issues and checklist items are tasks.
func partSteps() []step {
	return []step{
		{
			"octocat", "adds a sub-issue to the issue", func(s *scene) {
				n := s.Repo.Open("octocat", githubtest.IssueSpec{Title: "Write a test for Firefox", Labels: []string{"hours/1.5"}})
				s.Repo.AddSubIssue(s.issue, n)
			},
			"a task on the card, of one and a half hours", func(s *scene) bool {
				t := s.task(s.card, "Write a test for Firefox")
				return t.Estimate != nil && *t.Estimate == 1.5
			},
		},
		{
			"alice", "begins with that task", func(s *scene) {
				s.Project.EditTask(s.task(s.card, "Write a test for Firefox").ID, "alice", func(e *planningtest.TaskEdit) { e.State = "in-progress" })
			},
			"the sub-issue has the label in-progress", func(s *scene) bool {
				return slices.ContainsFunc(s.Repo.Issues(), func(i githubtest.IssueState) bool {
					return i.Title == "Write a test for Firefox" && slices.Contains(i.Labels, "in-progress")
				})
			},
		},
		{
			"octocat", "opens an issue with a checklist in " + docsName, func(s *scene) {
				s.list = s.GitHub.Repo(docsName).Open("octocat", githubtest.IssueSpec{Title: "Guide for beginners", Body: "What is needed:\n\n- [ ] an outline\n- [ ] pictures\n"})
			},
			"a card with a task for each item", func(s *scene) bool {
				s.listCard = s.cardOf("Guide for beginners")
				return s.listCard != "" && s.task(s.listCard, "an outline").State == "todo" && s.task(s.listCard, "pictures").State == "todo"
			},
		},
		{
			"octocat", "ticks an item", func(s *scene) {
				s.GitHub.Repo(docsName).Edit(s.list, "octocat", func(e *githubtest.IssueEdit) { e.Body = strings.Replace(e.Body, "[ ] an", "[x] an", 1) })
			},
			"its task is done", func(s *scene) bool { return s.task(s.listCard, "an outline").State == "done" },
		},
		{
			"alice", "finishes the other task and adds one", func(s *scene) {
				s.Project.EditTask(s.task(s.listCard, "pictures").ID, "alice", func(e *planningtest.TaskEdit) { e.State = "done" })
				s.Project.NewTask(s.listCard, "alice", planningtest.TaskSpec{Title: "an index"})
			},
			"the item is ticked, and a new one stands below it", func(s *scene) bool {
				body := s.GitHub.Repo(docsName).Issue(s.list).Body
				return strings.Contains(body, "- [x] pictures") && strings.Contains(body, "- [ ] an index")
			},
		},
	}
}

// shownSteps show values on GitHub that only planning has.
func shownSteps() []step {
	return []step{
		{
			"alice", "plans the card for a sprint", func(s *scene) {
				now := time.Now()
				s.Project.MoveToSprint(s.card, s.Project.NewSprint(planningtest.SprintSpec{Title: "Sprint 12", Start: now.Add(-time.Hour), End: now.Add(14 * 24 * time.Hour)}))
			},
			"the issue has the milestone Sprint 12", func(s *scene) bool {
				n := s.Repo.Issue(s.issue).Milestone
				return slices.ContainsFunc(s.Repo.Milestones(), func(m githubtest.MilestoneState) bool { return m.Number == n && m.Title == "Sprint 12" })
			},
		},
		{
			"alice", "approves the card in the sprint's review", func(s *scene) { s.Project.Review(s.card, "approved") },
			"the issue is closed as completed, with the label plan:Approved", func(s *scene) bool {
				i := s.Repo.Issue(s.issue)
				return i.State == "closed" && i.StateReason == "completed" && slices.Contains(i.Labels, "plan:Approved")
			},
		},
	}
}

// task returns the card's task of that title, or an empty one.
func (s *scene) task(card, title string) planningtest.TaskState {
	for _, t := range s.Project.Tasks(card) {
		if t.Title == title {
			return t
		}
	}
	return planningtest.TaskState{}
}

// cardOf returns the id of the card of that title, or "".
func (s *scene) cardOf(title string) string {
	for _, c := range s.Project.Cards() {
		if c.Title == title {
			return c.ID
		}
	}
	return ""
}

// anyAdminPort is the address of the status page in the world's configuration.
const anyAdminPort = "127.0.0.1:0"

// stage starts the world of the scene: two repositories and one project.
func stage(o bridgetest.Options) (*bridgetest.World, error) {
	o.Idle = true
	admin, err := bridgetest.FreeAddr() // the same after planbridge was stopped and started
	if err != nil {
		return nil, err
	}
	o.Config = func(yaml string) string { return strings.Replace(yaml, anyAdminPort, admin, 1) + docsRoute }
	w, err := bridgetest.Start(o)
	if err != nil {
		return nil, err
	}
	w.GitHub.AddRepo(docsName, githubtest.RepoSpec{Private: true})
	w.Project.AddBucket(docsBucket)
	if err := w.StartBridge(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	w.GitHub.AddHook(docsName, w.WebhookURL(), bridgetest.WebhookSecret) // the address is known only now
	return w, nil
}
