package reconcile_test

import (
	"encoding/json"
	"fmt"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// A person gave an issue another title. The core decides on the claimed key and asks for one
// effect after the other. The loop carries them out: here it answers as the services would.
func ExampleBegin() {
	state := exampleState("Login fails", "Login fails in Safari")
	work := reconcile.Begin(state)
	for step := range work.Steps() {
		switch e := step.Effect.(type) {
		case reconcile.Update:
			title := e.Set[mapping.Title]
			fmt.Printf("update the card under version %d: %s\n", title.Version, title.Value)
			title.Version++
			step.Answer(reconcile.Updated{Version: 8, Values: map[mapping.Attribute]mapping.Versioned{mapping.Title: title}}, nil)
		case reconcile.Save:
			fmt.Println("save the link")
			step.Answer(reconcile.None{}, nil)
		default: // the waits, the counts and the log
			step.Answer(reconcile.None{}, nil)
		}
		step.Now = state.Now
	}
	result := work.Result(state.Now, nil, false)
	fmt.Println("agreed on:", result.Link.Base[mapping.Title].Planning)
	// Output:
	// save the link
	// update the card under version 3: Login fails in Safari
	// agreed on: Login fails in Safari
}

// exampleState is a claimed pair whose issue had one title and now has another one.
func exampleState(was, is string) reconcile.State {
	const project = "54744060c955ca8169c61ee6"
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	issue := mapping.Issue{ID: 7, Repo: "acme/web", Number: 12, Title: is, State: "open", UpdatedAt: now}
	data, err := json.Marshal(issue)
	if err != nil {
		panic(err)
	}
	link := &mapping.Link{
		ID: "one", Project: project, Route: "web", Pair: mapping.Pair{
			State: mapping.Linked, Origin: mapping.GitHub, Nonce: "secret",
			Issue: mapping.IssueID{ID: issue.ID, Repo: issue.Repo, Number: issue.Number},
			Card:  mapping.CardID{ID: "5474406ac955ca8169c61eea", Version: 7},
			Base: map[mapping.Attribute]mapping.Base{
				mapping.Title:    {GitHub: was, Planning: was, Version: 3},
				mapping.Summary:  {Version: 1},
				mapping.Estimate: {Version: 1},
			},
		},
	}
	return reconcile.State{
		Claim:    &store.Claim{Link: link, Inbox: map[mapping.Ref]store.Snapshot{mapping.IssueRef(issue.ID): {Data: data, Seen: now}}},
		Settings: &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "web", Repositories: []string{issue.Repo}, Project: project}})},
		Process:  quietProcess{now.Add(-time.Hour)},
		Now:      now, Served: true,
	}
}

// quietProcess is a program of one project in which nothing else happens.
type quietProcess struct {
	began time.Time
}

func (quietProcess) Authorship(string) mapping.Authorship { return mapping.Theirs }

func (quietProcess) Stranger(string) bool { return false }

func (quietProcess) SameRendering(a, b string) bool { return a == b }

func (p quietProcess) FirstRun(string) time.Time { return p.began }

func (quietProcess) Paused(string) bool { return false }

func (quietProcess) Down(string) bool { return false }

func (quietProcess) LeaseTTL() time.Duration { return time.Minute }
