package reconcile

import (
	"time"

	"planbridge/mapping"
)

// What the core asks of GitHub. Errors match the sentinels of mapping. Reads may be answered
// from a cache that GitHub was asked about.

// ReadIssue reads the issue itself. No listing stands for it, as listings lag.
type ReadIssue struct {
	Repo   string
	Number int
}

// ReadParent reads the issue that has this one as a sub-issue; nil: none has. Of issues that
// enter in a crowd a listing may tell that. Within bounds how long each answer may take.
type ReadParent struct {
	Repo   string
	Number int
	Within time.Duration
}

// ReadSubIssues lists an issue's sub-issues, which may be of other repositories.
type ReadSubIssues struct {
	Repo   string
	Number int
}

// ReadComments lists an issue's comments.
type ReadComments struct {
	Repo   string
	Number int
}

// ReadEdits reads what GitHub remembers of the edits of an issue's title or body (the
// attribute Summary), oldest first, as their events told them.
type ReadEdits struct {
	Issue     mapping.IssueID
	Attribute mapping.Attribute
}

// ReadClosed reads whether the bridge's own account closed an issue at a moment of GitHub's
// clock or later.
type ReadClosed struct {
	Repo   string
	Number int
	Since  time.Time
}

// ReadLastNumber reads the highest issue number that a listing of a repository shows.
// Listings lag, so it may be too low.
type ReadLastNumber struct{ Repo string }

// ReadPrivate reads whether only members can read a repository.
type ReadPrivate struct{ Repo string }

// ReadArchived reads whether a repository is read-only.
type ReadArchived struct{ Repo string }

// ReadRepositoryName reads what a repository is called now: another name than it was asked
// for by, where it was renamed.
type ReadRepositoryName struct{ Repo string }

// ReadPublic reads whether anybody can read a repository. With Ask, GitHub is asked where
// that is not known, or was told long ago; else only what is known is answered.
type ReadPublic struct {
	Repo string
	Ask  bool
}

// Publicity is whether anybody can read a repository, where that is known.
type Publicity struct{ Public, Known bool }

// Locate finds out what the repository that a name stands for is called now. ID is its id, 0
// where that is not known. With Anew, GitHub is asked even where it told that some minutes
// ago. A [mapping.StrangerError] says that another repository has the name.
type Locate struct {
	Repo string
	ID   int64
	Anew bool
}

// CreateIssue makes one issue. It is never repeated by itself.
type CreateIssue struct {
	Repo  string
	Issue NewIssue
}

// EditIssue changes an issue, and is answered with the issue as it is then. Bare: it only takes
// off what the bridge made, and shows nothing that is not there already.
type EditIssue struct {
	Repo   string
	Number int
	Edit   IssueEdit
	Bare   bool
}

// AddLabels adds single labels, and is answered with all that the issue has then.
type AddLabels struct {
	Repo   string
	Number int
	Labels []string
	Sharing
}

// RemoveLabel takes one label off, and is answered with all that the issue has then.
type RemoveLabel struct {
	Repo   string
	Number int
	Label  string
	Sharing
}

// Sharing says whether a write of labels may go with those of other issues, as one request.
type Sharing struct {
	Node string // the issue's node id; "": the write goes alone
	// Waited: it waited for its share of the write budget before, as others did.
	Waited bool
}

// LabelChange is what is to become of the labels of one of several issues: some are added, or some
// are taken off.
type LabelChange struct {
	Repo        string
	Node        string // the issue's node id
	Add, Remove []string
}

// LabelAnswer is what became of a [LabelChange].
type LabelAnswer struct {
	Labels []string // all that the issue has now
	Err    error
	Alone  bool // nothing is known to be done: it takes a request for this issue alone
}

// EnsureLabel makes a repository's label unless it is there.
type EnsureLabel struct {
	Repo  string
	Label mapping.LabelSpec
}

// AddSubIssue makes the issue with the database id Sub a sub-issue. Adding it again is
// refused and does no harm.
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

// Assign adds single assignees, and is answered with the issue as it is then. Who cannot be
// assigned is left out without a word.
type Assign struct {
	Repo   string
	Number int
	Logins []string
}

// Unassign removes single assignees, and is answered with the issue as it is then.
type Unassign Assign

// Reserve takes a write of a class from the write budget ahead, unless one is reserved. The
// key has no slot meanwhile, but with Keep. None is taken for labels that will go with those of
// other issues: the request takes one for all of them.
type Reserve struct {
	Class WriteClass
	Keep  bool
	Sharing
}

// EnsureMilestone makes sure that a sprint has a milestone in a repository, and is answered
// with its number. Refused is a number that GitHub did not take, and that is looked for anew.
type EnsureMilestone struct {
	Project mapping.ObjectID
	Repo    string
	Sprint  mapping.Sprint
	Refused int
}

// KnownMilestone reads the number of a sprint's milestone; 0: none is known.
type KnownMilestone struct {
	Project mapping.ObjectID
	Repo    string
	Sprint  mapping.ObjectID
}

// ReadSprint reads what the last listing showed of a sprint; nil: it does not have it.
type ReadSprint struct{ Project, Sprint mapping.ObjectID }

// MilestonesWait is when milestones are looked at again that another worker sees to, or that
// have changed meanwhile.
const MilestonesWait = 500 * time.Millisecond

func (ReadIssue) answeredWith(mapping.Issue)        {}
func (ReadParent) answeredWith(*mapping.Issue)      {}
func (ReadSubIssues) answeredWith([]mapping.Issue)  {}
func (ReadComments) answeredWith([]Comment)         {}
func (ReadEdits) answeredWith([]mapping.IssueEvent) {}
func (ReadClosed) answeredWith(bool)                {}
func (ReadLastNumber) answeredWith(int)             {}
func (ReadPrivate) answeredWith(bool)               {}
func (ReadArchived) answeredWith(bool)              {}
func (ReadRepositoryName) answeredWith(string)      {}
func (ReadPublic) answeredWith(Publicity)           {}
func (Locate) answeredWith(string)                  {}
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

// toRepository is a write to a repository. It shows planning's side there, or not.
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
