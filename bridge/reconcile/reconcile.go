// Package reconcile decides how one root link at a time comes to agreement. It is pure: it
// does no I/O, reads no clock, writes no log and starts no goroutine.
//
// The entry point is [Begin]. It takes a claimed key and what is known about it ([State]), and
// returns the [Work] on the key: a sequence of steps. Each [Step] asks for one effect, such as
// [ReadIssue], [Save] or [Update]. The caller carries the effect out and answers the step. The
// next step depends on the state and the answers alone, so that the same answers lead to the same
// steps. The method [Work.Result] returns the result with which the claim is finished.
//
// Package effects carries the effects out, and package engine claims and finishes keys. Both
// import this package, and never the other way round.
//
// Reconcile compares states of the world and never replays events: working a key twice does
// nothing the second time. Each write to a service is saved before it is sent, as a pending
// record or as the intent of a create. So the next claim after a crash knows what may have
// happened.
//
// Read rules.go first: it lists, in order, everything that may happen to a pair. Then read
// roles.go: it lists the types that do it. A file is named after its role. Further files:
//
//   - effect.go, effects_*.go: the effects. carry.go: how the core asks for them.
//   - result.go, work.go, ends.go, rest.go: from a claim to the result that finishes it.
//   - claim_state.go, known.go, state.go: what is known. states.go: the states of a pair.
//   - history.go, logger.go, names.go: what people read about a pair.
//   - rule.go, preparation.go, agreement.go: the rules themselves. bases.go: what they agree on.
//   - create.go, want.go, omit.go, create_*.go, task_maker.go: creating an item exactly once.
//   - lookup.go, former.go, handover.go: the store's other records, and the way to them. adoption.go:
//     what the store may lack.
//   - look.go, comment.go, undo.go, overrun.go, runaway.go, list_bound.go, mark_tasks.go: further
//     parts of the roles reader, ledger, repairer, pacer, lister and signer.
//   - project*.go: the projectors. clean*.go: taking a pair apart.
//   - relocate.go: a new card for an issue in another project.
//   - preview.go: previews of a reconcile and of a cleaning.
//
// Package journal decides which edits our own writes may have overwritten.
package reconcile

import (
	"strings"
	"time"

	"planbridge/mapping"
)

// All replicas share GitHub's write budget. [store.Ask] says who writes and whether for a
// person, so that the budget is shared fairly.

// WriteClass is the budget that a write to GitHub is taken from.
type WriteClass string

// The classes of writes.
const (
	WriteContent WriteClass = "content" // makes an issue or a comment
	WriteEdit    WriteClass = "edit"    // any other write
)

// ServiceRepository is the name of the service that keys wait for while a repository is
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
	Milestone                       *int // number; 0 removes it
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

// Updated is planning's answer to a write. Attributes that the answer lacks are absent.
type Updated struct {
	Version int64 // of the whole item
	Values  map[mapping.Attribute]mapping.Versioned
	// Plain says why planning was sent the summary as plain paragraphs; "": it was rendered.
	Plain string
}

// Settings is the part of the configuration that decisions depend on. A reload replaces it as
// a whole.
type Settings struct {
	Routes mapping.Routes
	Scheme mapping.LabelScheme
	Keys   mapping.Keys
	Users  map[string]string // GitHub login, lower case: planning username
	WebURL string            // of GitHub's pages, without a slash at the end
	DryRun bool              // write nothing, log what would be written
	// Settle is how long a request may still be under way after it was sent.
	Settle PerSide
	// Confirm is the time from an item's first answer "gone" to the read that confirms it; 0:
	// ten minutes.
	Confirm PerSide
	Brakes  Brakes
	// EnterDelay is how long a new issue waits before it gets a card. An issue that is closed
	// within it gets none.
	EnterDelay time.Duration
	// Coalesce is how long frequent edits are folded at first; 0: they are not folded.
	Coalesce time.Duration
	Quiet    time.Duration // how long a removed estimate label may be on its way to another
}

// Settings returns the settings themselves, so that fixed ones can stand for changing ones.
func (s *Settings) Settings() *Settings { return s }

// Brakes bound how many items a route may make and close in a minute; 0: no bound.
type Brakes struct{ CreatesPerMinute, ClosesPerMinute int }

// PerSide has one duration for each side.
type PerSide struct{ GitHub, Planning time.Duration }

func (s PerSide) of(side mapping.Side) time.Duration {
	if side == mapping.GitHub {
		return s.GitHub
	}
	return s.Planning
}

// ServiceGitHub is the name of the service GitHub, which keys wait for.
const ServiceGitHub = "github"

// ServiceAdoption is the name of the service that keys wait for until store.DocAdopted is
// written.
const ServiceAdoption = "adoption"

// ServiceListing is the name of the service that keys of a project wait for until the issues of a
// repository were looked through. The document [store.DocRepositoryAdopted] says so.
func ServiceListing(repo string) string { return "listing:" + strings.ToLower(repo) }

// ServicePaused is the name of the service that keys of a paused route wait for. The route's
// identity tells it apart.
func ServicePaused(id string) string { return "paused:" + id }

// ServicePlanning is the name of a planning project as a service, which keys wait for.
func ServicePlanning(project mapping.ObjectID) string { return "planning:" + string(project) }
