// Package reconcile brings one root link at a time to agreement: it reads what
// was seen of both sides, lets mapping decide, writes, and remembers.
//
// Its door is [New] and [Reconciler.Work], which works a key that the engine claimed and
// returns what the claim is to be finished with. It starts no goroutine and owns neither
// leases nor pauses: those are the engine's, which does through [Lease] what the work on a
// key needs. Package engine imports this package, and never the other way round: the shell
// speaks the core's terms.
//
// Reconcile compares states of the world and never replays events: working a key twice is
// a no-op. Whatever it is about to write to a service is saved first (a pending record, or
// the intent of a create), so that whoever takes over after a crash knows what may have
// happened.
//
// Read rules.go first. It lists, in order, everything that may happen to a pair. The other
// files, in the order of a key's way:
//
//   - lease.go, result.go, work.go, rest.go: from a claim to what it is finished with.
//   - approach.go, agreement.go: what the rules do. resolve.go: what a round decides.
//   - events.go, moved.go, gone.go, copied.go: what became of the issue and the card.
//   - enter.go, alone.go, former.go, parent.go: whether an item gets a partner.
//   - create.go, omit.go, create_*.go: how anything is made, once.
//   - adopted.go, unmarked.go, restored.go, forgotten.go: after the store was lost.
//   - pending.go, late.go, verify.go, stale.go, steps.go, overrun.go, with package journal:
//     what our writes may have run over.
//   - conflict.go, comment.go, undo.go, public.go: what is kept, asked and withheld.
//   - write.go, fold.go, brake.go, runaway.go: how, how often and how much is written.
//   - project*.go, milestones*.go: what only planning says and GitHub shows.
//   - family.go, meet.go, part.go, subtasks.go, join.go: sub-issues and their tasks.
//   - body.go, list*.go, pair.go, tasks*.go: a checklist and its tasks.
package reconcile

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// GitHub is what is asked of GitHub. Errors match the sentinels of mapping.
type GitHub interface {
	// Issue reads one issue (a conditional request).
	Issue(ctx context.Context, repo string, number int) (mapping.Issue, error)
	// CreateIssue makes one issue. It is never repeated by the adapter.
	CreateIssue(ctx context.Context, repo string, issue NewIssue) (mapping.Issue, error)
	// EditIssue changes title, body or state and returns the issue as it is then.
	EditIssue(ctx context.Context, repo string, number int, edit IssueEdit) (mapping.Issue, error)
	AddLabels(ctx context.Context, repo string, number int, labels []string) ([]string, error)
	RemoveLabel(ctx context.Context, repo string, number int, label string) ([]string, error)
	// Parent returns the issue that has this one as a sub-issue, or nil.
	Parent(ctx context.Context, repo string, number int) (*mapping.Issue, error)
	// SubIssues lists an issue's sub-issues, which may be of other repositories.
	SubIssues(ctx context.Context, repo string, number int) ([]mapping.Issue, error)
	// AddSubIssue makes the issue with database id sub a sub-issue. Adding it
	// again is refused and does no harm.
	AddSubIssue(ctx context.Context, repo string, number int, sub int64) error
	Comments(ctx context.Context, repo string, number int, since time.Time) ([]Comment, error)
	CreateComment(ctx context.Context, repo string, number int, body string) (Comment, error)
	// Edits returns what GitHub remembers of the edits of an issue's title or
	// body (the attribute Summary), oldest first, as their events told them.
	Edits(ctx context.Context, issue mapping.IssueID, a mapping.Attribute) ([]mapping.Edit, error)
	// LastNumber returns the highest issue number of a repository that a
	// listing shows (lists lag, so it may be too low).
	LastNumber(ctx context.Context, repo string) (int, error)
	// Private reports whether only members can read the repository.
	Private(ctx context.Context, repo string) (bool, error)
	// Public reports whether anybody is known to be able to read the repository, and
	// whether it is known at all. With ask, GitHub is asked first where that is not
	// known, or was told long ago.
	Public(ctx context.Context, repo string, ask bool) (public, known bool)
	// Locate returns what the repository that a name stands for is called now; id is
	// its id, 0 where that is not known. With anew GitHub is asked even where it told
	// that some minutes ago. A [mapping.StrangerError] says that another one has the name.
	Locate(ctx context.Context, repo string, id int64, anew bool) (string, error)
	// RepositoryName is what a repository is called now: another name than it
	// was asked for by, where it was renamed.
	RepositoryName(ctx context.Context, repo string) (string, error)
	// Archived reports whether a repository is read-only.
	Archived(ctx context.Context, repo string) (bool, error)
	// Reserve takes a write of a class from the budget ahead. Its errors are those
	// of the write.
	Reserve(ctx context.Context, class WriteClass) error
	// Whose tells whether a login is the bridge's own, now or formerly.
	Whose(login string) mapping.Whose
	// Stranger reports whether another account has a login now than the one that it
	// stood for.
	Stranger(login string) bool
	Shows
}

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

// Planning is what is asked of one planning project. Errors match the
// sentinels of mapping.
type Planning interface {
	Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error)
	Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error)
	Task(ctx context.Context, id mapping.ObjectID) (mapping.Task, error)
	// CreateCard is never repeated by the adapter.
	CreateCard(ctx context.Context, bucket mapping.ObjectID, username string, card NewItem) (mapping.Card, error)
	// CreateTasks makes tasks on a card with one request, and answers as CreateCards
	// does.
	CreateTasks(ctx context.Context, card mapping.ObjectID, username string, tasks []NewItem) ([]mapping.Task, error)
	// CreateCards makes several cards of one bucket with one request. What was
	// answered, in any order, comes back also beside an error.
	CreateCards(ctx context.Context, bucket mapping.ObjectID, cards []BatchItem) ([]mapping.Card, error)
	// CheckProject reads the project itself: nil where it answers under its own id.
	CheckProject(ctx context.Context) error
	// UpdateCard and UpdateTask write attributes under their versions.
	UpdateCard(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (Updated, error)
	UpdateTask(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (Updated, error)
	// BucketIDs returns the ids by which a bucket, given by title or id, may
	// be addressed, the likeliest first.
	BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
	// EachCard visits every card of every bucket and every sprint: the
	// complete lookup that proves absence. An error means it was not complete.
	EachCard(ctx context.Context, visit func(mapping.Card) error) error
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
	Settle Settle
	// Confirm is how long after an item first answered gone a look at it is a later one.
	Confirm Confirm
	Brakes  Brakes
	// EnterDelay is how long a new issue waits before it becomes a card; one that
	// is closed within it becomes none.
	EnterDelay time.Duration
	// Coalesce is how long frequent edits are folded at first; 0: not at all.
	Coalesce time.Duration
	Quiet    time.Duration // how long a removed estimate label may be on its way to another
}

// Brakes bound how many items one route may make and close in a minute; 0 means no
// bound.
type Brakes struct{ CreatesPerMinute, ClosesPerMinute int }

// Settle says how long what was sent may still be under way.
type Settle struct{ GitHub, Planning time.Duration }

func (s Settle) of(side mapping.Side) time.Duration {
	if side == mapping.GitHub {
		return s.GitHub
	}
	return s.Planning
}

// Confirm says how often a side is looked through for what nobody told; 0: ten
// minutes.
type Confirm struct{ GitHub, Planning time.Duration }

// Options configure a Reconciler. All fields but Metrics are required.
type Options struct {
	Store store.Store
	// Epoch is the store's epoch at this moment.
	Epoch  func(ctx context.Context) (string, error)
	GitHub GitHub
	// Planning returns the project's side, or nil where it is not configured.
	Planning func(project mapping.ObjectID) Planning
	// SameRendering reports whether two Markdown texts mean the same.
	SameRendering func(a, b string) bool
	Settings      func() *Settings
	Projects      func() []mapping.ObjectID // that are configured
	// FirstRun tells when a route began to run (see [mapping.Entrance]); nil: that is
	// not known.
	FirstRun func(route string) time.Time
	LeaseTTL time.Duration // of a claim, and of the lease on milestones; 0: a minute
	Metrics  *Metrics
	Logger   *slog.Logger
	Guard    *guard.Guard // sets aside what the program panics on; nil: nothing is remembered of it
	// Paused reports whether an operator paused a route; nil: none is.
	Paused func(route string) bool
	// Down reports whether a service (see ServiceGitHub) is known to be away.
	Down func(service string) bool
	// OnCard is told of every card that planning showed or answered with. It must
	// not block.
	OnCard func(project, card mapping.ObjectID)
	// Now is the clock; nil: the runtime's.
	Now func() time.Time
	// Random draws a number in [0, n) and is safe for concurrent use; nil: the runtime's.
	Random func(n int64) int64
	// Renamed is told that a repository has another name.
	Renamed func(ctx context.Context, from, to string) error
}

// Reconciler works keys that were claimed. It is safe for concurrent use.
type Reconciler struct {
	Options
	adoptions adoptions
	// parentless are the repositories whose issues' parents may not be read.
	parentless sync.Map
	// parentUnread counts, by issue, how often in a row its parent could not be read.
	parentUnread sync.Map
	paused       pauses
	absences     absences
	said         sync.Map // of a dry run: the items whose partners it would create
	refusing     refusing
}

// New returns a Reconciler.
func New(o Options) *Reconciler {
	if o.LeaseTTL == 0 {
		o.LeaseTTL = time.Minute
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	if o.FirstRun == nil {
		o.FirstRun = func(string) time.Time { return time.Time{} }
	}
	if o.OnCard == nil {
		o.OnCard = func(_, _ mapping.ObjectID) {}
	}
	if o.Renamed == nil {
		o.Renamed = func(context.Context, string, string) error { return nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Int64N
	}
	return &Reconciler{Options: o}
}

// since is how long ago a time was.
func (r *Reconciler) since(t time.Time) time.Duration { return r.Now().Sub(t) }

// ServiceGitHub is the name by which keys wait for GitHub.
const ServiceGitHub = "github"

// ServiceAdoption is the name by which keys wait for store.DocAdopted.
const ServiceAdoption = "adoption"

// ServicePaused is the name by which keys wait for a route to be resumed.
func ServicePaused(route string) string { return "paused:" + route }

// ServicePlanning is the name by which keys wait for a planning project.
func ServicePlanning(project mapping.ObjectID) string { return "planning:" + string(project) }
