package effects

import (
	"context"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// GitHub is what is asked of GitHub. Errors match the sentinels of mapping.
type GitHub interface {
	// Issue reads one issue (a conditional request).
	Issue(ctx context.Context, repo string, number int) (mapping.Issue, error)
	// CreateIssue makes one issue. It is never repeated by the adapter.
	CreateIssue(ctx context.Context, repo string, issue reconcile.NewIssue) (mapping.Issue, error)
	// EditIssue changes title, body or state and returns the issue as it is then.
	EditIssue(ctx context.Context, repo string, number int, edit reconcile.IssueEdit) (mapping.Issue, error)
	AddLabels(ctx context.Context, repo string, number int, labels []string) ([]string, error)
	RemoveLabel(ctx context.Context, repo string, number int, label string) ([]string, error)
	// Parent returns the issue that has this one as a sub-issue, or nil.
	Parent(ctx context.Context, repo string, number int) (*mapping.Issue, error)
	// SubIssues lists an issue's sub-issues, which may be of other repositories.
	SubIssues(ctx context.Context, repo string, number int) ([]mapping.Issue, error)
	// AddSubIssue makes the issue with database id sub a sub-issue. Adding it
	// again is refused and does no harm.
	AddSubIssue(ctx context.Context, repo string, number int, sub int64) error
	Comments(ctx context.Context, repo string, number int, since time.Time) ([]reconcile.Comment, error)
	CreateComment(ctx context.Context, repo string, number int, body string) (reconcile.Comment, error)
	// Edits returns what GitHub remembers of the edits of an issue's title or
	// body (the attribute Summary), oldest first, as their events told them.
	Edits(ctx context.Context, issue mapping.IssueID, a mapping.Attribute) ([]mapping.IssueEvent, error)
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
	Reserve(ctx context.Context, class reconcile.WriteClass) error
	// Authorship tells whether a login is the bridge's own, now or formerly.
	Authorship(login string) mapping.Authorship
	// Stranger reports whether another account has a login now than the one that it
	// stood for.
	Stranger(login string) bool
	Shows
}

// Labels changes the labels of several issues at once.
type Labels interface {
	// LabelBatch is how many issues one call may change; below 2: none now.
	LabelBatch() int
	// ChangeLabels changes the labels of issues of one owner, and answers for each in its place.
	ChangeLabels(ctx context.Context, changes []reconcile.LabelChange) []reconcile.LabelAnswer
}

// Planning is what is asked of one planning project. Errors match the
// sentinels of mapping.
type Planning interface {
	Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error)
	Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error)
	Task(ctx context.Context, id mapping.ObjectID) (mapping.Task, error)
	// CreateCard is never repeated by the adapter.
	CreateCard(ctx context.Context, bucket mapping.ObjectID, username string, card reconcile.NewItem) (mapping.Card, error)
	// CreateTasks makes tasks on a card with one request, and answers as CreateCards
	// does.
	CreateTasks(ctx context.Context, card mapping.ObjectID, username string, tasks []reconcile.NewItem) ([]mapping.Task, error)
	// CreateCards makes several cards of one bucket with one request. What was
	// answered, in any order, comes back also beside an error.
	CreateCards(ctx context.Context, bucket mapping.ObjectID, cards []reconcile.BatchItem) ([]mapping.Card, error)
	// CheckProject reads the project itself: nil where it answers under its own id.
	CheckProject(ctx context.Context) error
	// UpdateCard and UpdateTask write attributes under their versions.
	UpdateCard(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error)
	UpdateTask(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error)
	// BucketIDs returns the ids by which a bucket, given by title or id, may
	// be addressed, the likeliest first.
	BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
	// EachCard visits every card of every bucket and every sprint: the
	// complete lookup that proves absence. An error means it was not complete.
	EachCard(ctx context.Context, visit func(mapping.Card) error) error
}

// Shows is what projections ask of GitHub. Errors match the sentinels of
// mapping.
type Shows interface {
	// EnsureLabel makes a repository's label unless it is there.
	EnsureLabel(ctx context.Context, repo, name, color, description string) error
	// Assign and Unassign add and remove single assignees, and return the issue
	// as it is then. Who cannot be assigned is left out without a word.
	Assign(ctx context.Context, repo string, number int, logins []string) (mapping.Issue, error)
	Unassign(ctx context.Context, repo string, number int, logins []string) (mapping.Issue, error)
	// Milestones lists a repository's milestones, open and closed; PutMilestone
	// makes one where its Number is 0 and else changes it as a whole.
	Milestones(ctx context.Context, repo string) ([]mapping.Milestone, error)
	PutMilestone(ctx context.Context, repo string, m mapping.Milestone) (mapping.Milestone, error)
	// Closed reports whether the bridge's own account closed the issue at a
	// moment of GitHub's clock or later.
	Closed(ctx context.Context, repo string, number int, since time.Time) (bool, error)
}
