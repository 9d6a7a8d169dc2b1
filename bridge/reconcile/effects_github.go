package reconcile

import (
	"time"

	"planbridge/mapping"
)

// This file has the effects that GitHub carries out. Errors match the sentinels of mapping. A
// read may be answered from a cache that GitHub has just confirmed.

// ReadIssue reads the issue itself. No listing replaces it, as listings lag.
type ReadIssue struct {
	Repo   string
	Number int
}

// ReadParent reads the parent of a sub-issue; nil: the issue has none. For issues that enter
// in a crowd, a listing may answer. Within bounds the time of each answer.
type ReadParent struct {
	Repo   string
	Number int
	Within time.Duration
}

// ReadSubIssues lists an issue's sub-issues, which may be in other repositories.
type ReadSubIssues struct {
	Repo   string
	Number int
}

// ReadComments lists an issue's comments.
type ReadComments struct {
	Repo   string
	Number int
}

// ReadEdits reads GitHub's history of an issue's title or body (the attribute Summary), oldest
// edit first, in the form of edit events.
type ReadEdits struct {
	Issue     mapping.IssueID
	Attribute mapping.Attribute
}

// ReadActed reads when the bridge's own account last changed an issue's state or label; zero: it did
// not, or took that back. Earlier events than Since, by GitHub's clock, do not count.
type ReadActed struct {
	Repo   string
	Number int
	Since  time.Time
	Act    mapping.Act
}

// ReadLastNumber reads the highest issue number in a listing of a repository. Listings lag, so
// it may be too low.
type ReadLastNumber struct{ Repo string }

// ReadPrivate reads whether only members can read a repository.
type ReadPrivate struct{ Repo string }

// ReadArchived reads whether a repository is read-only. It fails where the repository cannot be read.
type ReadArchived struct{ Repo string }

// ReadPublic reads whether anybody can read a repository. With Ask, GitHub is asked where the
// answer is unknown or old. Without it, only a stored answer counts.
type ReadPublic struct {
	Repo string
	Ask  bool
}

// Publicity says whether anybody can read a repository, where that is known.
type Publicity struct{ Public, Known bool }

// Locate reads the current name of the repository that a name stands for. ID is its id; 0: not
// known. Anew asks GitHub even where it answered some minutes ago. A [mapping.StrangerError]
// says that another repository has the name.
type Locate struct {
	Repo string
	ID   int64
	Anew bool
}

// ReadRepositoryID reads the id of the repository that a name stands for; 0: it is not known.
type ReadRepositoryID struct{ Repo string }

// CreateIssue makes one issue. It is never repeated automatically.
type CreateIssue struct {
	Repo  string
	Issue NewIssue
}

// EditIssue changes an issue, and returns the changed issue. Bare: the edit only removes marks
// of the bridge, and publishes nothing new.
type EditIssue struct {
	Repo   string
	Number int
	Edit   IssueEdit
	Bare   bool
}

// AddLabels adds single labels, and returns all labels of the issue.
type AddLabels struct {
	Repo   string
	Number int
	Labels []string
	Sharing
}

// RemoveLabel removes one label, and returns all labels of the issue.
type RemoveLabel struct {
	Repo   string
	Number int
	Label  string
	Sharing
}

// Sharing says whether a write of labels may share one request with other issues.
type Sharing struct {
	Node string // the issue's node id; "": the write goes alone
	// Waited: the write has waited for its share of the write budget.
	Waited bool
}

// LabelChange is the change of one issue's labels in a shared request: additions or removals.
type LabelChange struct {
	Repo        string
	Node        string // the issue's node id
	Add, Remove []string
}

// LabelAnswer is the result of a [LabelChange].
type LabelAnswer struct {
	Labels []string // all labels of the issue
	Err    error
	Alone  bool // the outcome is unknown: the issue needs a request of its own
}

// EnsureLabel creates a repository's label unless it exists.
type EnsureLabel struct {
	Repo  string
	Label mapping.LabelSpec
}

// AddSubIssue makes the issue with the database id Sub a sub-issue. GitHub refuses a
// repetition, which does no harm.
type AddSubIssue struct {
	Repo   string
	Number int
	Sub    int64
}

// CreateComment posts a comment.
type CreateComment struct {
	Repo   string
	Number int
	Body   string
}

// Assign adds single assignees, and returns the issue. GitHub silently leaves out accounts
// that cannot be assigned.
type Assign struct {
	Repo   string
	Number int
	Logins []string
}

// Unassign removes single assignees, and returns the issue.
type Unassign Assign

// Reserve takes one write of a class from the write budget in advance, unless one is reserved.
// The key gives up its slot meanwhile, unless Keep is set. Labels that share a request reserve
// nothing: the request takes one write for all of them.
type Reserve struct {
	Class WriteClass
	Keep  bool
	Sharing
}

// EnsureMilestone makes sure that a sprint has a milestone in a repository, and returns its
// number. Refused is a number that GitHub did not accept; the milestone is looked up again.
type EnsureMilestone struct {
	Project mapping.ObjectID
	Repo    string
	Sprint  mapping.Sprint
	Refused int
}

// KnownMilestone reads the stored number of a sprint's milestone; 0: none is stored.
type KnownMilestone struct {
	Project mapping.ObjectID
	Repo    string
	Sprint  mapping.ObjectID
}

// ReadSprint reads a sprint as the last listing showed it; nil: the listing lacks it.
type ReadSprint struct{ Project, Sprint mapping.ObjectID }

// MilestonesWait is how long a key waits for milestones that another worker is writing, or
// that have just changed.
const MilestonesWait = 500 * time.Millisecond

func (ReadIssue) answeredWith(mapping.Issue)        {}
func (ReadParent) answeredWith(*mapping.Issue)      {}
func (ReadSubIssues) answeredWith([]mapping.Issue)  {}
func (ReadComments) answeredWith([]Comment)         {}
func (ReadEdits) answeredWith([]mapping.IssueEvent) {}
func (ReadActed) answeredWith(time.Time)            {}
func (ReadLastNumber) answeredWith(int)             {}
func (ReadPrivate) answeredWith(bool)               {}
func (ReadArchived) answeredWith(bool)              {}
func (ReadPublic) answeredWith(Publicity)           {}
func (Locate) answeredWith(string)                  {}
func (ReadRepositoryID) answeredWith(int64)         {}
func (CreateIssue) answeredWith(mapping.Issue)      {}
func (EditIssue) answeredWith(mapping.Issue)        {}
func (AddLabels) answeredWith([]string)             {}
func (RemoveLabel) answeredWith([]string)           {}
func (EnsureLabel) answeredWith(None)               {}
func (AddSubIssue) answeredWith(None)               {}
func (CreateComment) answeredWith(Comment)          {}
func (Assign) answeredWith(mapping.Issue)           {}
func (Unassign) answeredWith(mapping.Issue)         {}
func (Reserve) answeredWith(None)                   {}
func (EnsureMilestone) answeredWith(int)            {}
func (KnownMilestone) answeredWith(int)             {}
func (ReadSprint) answeredWith(*mapping.Sprint)     {}

// toRepository is a write to a repository. shows: it publishes planning's side there.
type toRepository interface {
	repository() (name string, shows bool)
}

func (e CreateIssue) repository() (string, bool)   { return e.Repo, true }
func (e EditIssue) repository() (string, bool)     { return e.Repo, !e.Bare }
func (e AddLabels) repository() (string, bool)     { return e.Repo, true }
func (e RemoveLabel) repository() (string, bool)   { return e.Repo, false }
func (e EnsureLabel) repository() (string, bool)   { return e.Repo, true }
func (e AddSubIssue) repository() (string, bool)   { return e.Repo, true }
func (e CreateComment) repository() (string, bool) { return e.Repo, true }
func (e Assign) repository() (string, bool)        { return e.Repo, true }
