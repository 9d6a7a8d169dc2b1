// Package reconcile decides how one root link at a time comes to agreement. It is pure: it
// does no I/O, reads no clock, writes no log and starts no goroutine.
//
// Its door is [Begin]. It takes what is known of a claimed key ([State]) and returns the
// [Work] on it: a sequence of steps. Each [Step] asks for one effect, such as [ReadIssue],
// [Save] or [Update]; whoever ranges over the steps carries the effect out and answers it.
// What follows is decided from the state and the answers alone, so that the same answers lead
// to the same steps. [Work.Result] is what the claim is finished with.
//
// Package effects carries the effects out, and package engine claims and finishes keys. Both
// import this package, and never the other way round.
//
// Reconcile compares states of the world and never replays events: working a key twice is
// a no-op. Whatever it is about to write to a service is saved first (a pending record, or
// the intent of a create), so that whoever takes over after a crash knows what may have
// happened.
//
// Read rules.go first: it lists, in order, everything that may happen to a pair. Then
// roles.go: it says who does it. A file is named after its role. Beside these:
//
//   - effect.go, effects_*.go: what the core asks for, and how it is asked.
//   - result.go, work.go, rest.go: from a claim to what it is finished with.
//   - claim_state.go, state.go, states.go: what is known, and the states of a pair.
//   - preparation.go, agreement.go: what the rules do.
//   - create.go, omit.go, create_*.go, task_maker.go: how anything is made, once.
//   - lookup.go, former.go: what the store knows beside the record, and whose an issue was.
//   - look.go, comment.go, undo.go, overrun.go, runaway.go, list_bound.go: further parts of the
//     roles reader, ledger, repairer, pacer and lister.
//   - project*.go: the projectors. clean*.go: how a pair is taken apart.
//   - relocate.go: how an issue gets a card in another project.
//   - preview.go: what a reconcile, or taking the pair apart, would do.
//
// Package journal decides what our writes may have run over.
package reconcile

import (
	"cmp"
	"strings"
	"time"

	"planbridge/mapping"
)

// Who writes to GitHub, and whether for a person: the write budget that all replicas
// share is parted fairly by it (see [store.Ask]).

// WriteClass says which of the budgets a write to GitHub is taken from.
type WriteClass string

// The classes of writes.
const (
	WriteContent WriteClass = "content" // makes an issue or a comment
	WriteEdit    WriteClass = "edit"    // any other write
)

// ServiceRepository is the name by which keys wait for a repository that is
// read-only.
func ServiceRepository(repo string) string { return "repository:" + strings.ToLower(repo) }

// NewIssue is an issue to be made.
type NewIssue struct {
	Title, Body string
	Labels      []string
}

// IssueEdit is a change of an issue; nil fields stay.
type IssueEdit struct {
	Title, Body, State, StateReason *string
	Milestone                       *int // number; 0 takes it off
}

// Comment is an issue comment.
type Comment struct {
	ID           int64
	Author, Body string
}

// batchSize is how many cards one request makes at most.
const batchSize = 100

// BatchItem is one card of a batch, made in the name of a user of its own.
type BatchItem struct {
	Username string
	NewItem
}

// NewItem is a card or a task to be made.
type NewItem struct{ Title, Summary, Estimate string }

// Updated is what planning answered to a write. Attributes that the answer
// does not carry are absent.
type Updated struct {
	Version int64 // of the whole item
	Values  map[mapping.Attribute]mapping.Versioned
	// Plain says why planning was given the summary as plain paragraphs; ""
	// where it was rendered.
	Plain string
}

// Settings is the part of the configuration that decides; a reload replaces it
// as a whole.
type Settings struct {
	Routes mapping.Routes
	Scheme mapping.LabelScheme
	Keys   mapping.Keys
	Users  map[string]string // GitHub login, lower case: planning username
	WebURL string            // of GitHub's pages, without a slash at the end
	DryRun bool              // write nothing, log what would be written
	// Settle is how long what was sent may still be under way.
	Settle PerSide
	// Confirm is how long after an item of a side first answered gone it is read once more,
	// which confirms that; 0: ten minutes.
	Confirm PerSide
	Brakes  Brakes
	// EnterDelay is how long a new issue waits before it becomes a card; one that
	// is closed within it becomes none.
	EnterDelay time.Duration
	// Coalesce is how long frequent edits are folded at first; 0: not at all.
	Coalesce time.Duration
	Quiet    time.Duration // how long a removed estimate label may be on its way to another
}

// Settings lets a Settings stand for settings that never change.
func (s *Settings) Settings() *Settings { return s }

// Brakes bound how many items one route may make and close in a minute; 0 means no
// bound.
type Brakes struct{ CreatesPerMinute, ClosesPerMinute int }

// PerSide is a time that each side has of its own.
type PerSide struct{ GitHub, Planning time.Duration }

func (s PerSide) of(side mapping.Side) time.Duration {
	if side == mapping.GitHub {
		return s.GitHub
	}
	return s.Planning
}

// ServiceGitHub is the name by which keys wait for GitHub.
const ServiceGitHub = "github"

// ServiceAdoption is the name by which keys wait for store.DocAdopted.
const ServiceAdoption = "adoption"

// ServicePaused is the name by which keys wait for a route to be resumed.
func ServicePaused(route string) string { return "paused:" + route }

// ServicePlanning is the name by which keys wait for a planning project.
func ServicePlanning(project mapping.ObjectID) string { return "planning:" + string(project) }

// ServiceWords says to people what keys wait for.
func ServiceWords(service string, routes mapping.Routes) string {
	if project, is := strings.CutPrefix(service, ServicePlanning("")); is {
		return "planning project " + cmp.Or(routes.ProjectName(mapping.ObjectID(project)), project)
	}
	if route, is := strings.CutPrefix(service, ServicePaused("")); is {
		return "somebody to resume route " + route
	}
	if repo, is := strings.CutPrefix(service, ServiceRepository("")); is {
		return "repository " + repo + " to be writable"
	}
	switch service {
	case ServiceGitHub:
		return "GitHub"
	case ServiceAdoption:
		return "the first look at all items"
	}
	return service
}
