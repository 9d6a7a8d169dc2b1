package effects

import (
	"context"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// GitHub is the client that the core's effects call. Errors match the sentinels of mapping.
type GitHub interface {
	// Issue reads one issue by a conditional request.
	Issue(ctx context.Context, repo string, number int) (mapping.Issue, error)
	// CreateIssue makes one issue. The adapter never repeats it.
	CreateIssue(ctx context.Context, repo string, issue reconcile.NewIssue) (mapping.Issue, error)
	// EditIssue changes title, body or state, and returns the issue after the edit.
	EditIssue(ctx context.Context, repo string, number int, edit reconcile.IssueEdit) (mapping.Issue, error)
	AddLabels(ctx context.Context, repo string, number int, labels []string) ([]string, error)
	RemoveLabel(ctx context.Context, repo string, number int, label string) ([]string, error)
	// Parent returns the issue that has this one as a sub-issue, or nil.
	Parent(ctx context.Context, repo string, number int) (*mapping.Issue, error)
	// SubIssues lists an issue's sub-issues. Some may belong to other repositories.
	SubIssues(ctx context.Context, repo string, number int) ([]mapping.Issue, error)
	// AddSubIssue makes the issue with database id sub a sub-issue. GitHub refuses to add it
	// twice, which is harmless.
	AddSubIssue(ctx context.Context, repo string, number int, sub int64) error
	Comments(ctx context.Context, repo string, number int, since time.Time) ([]reconcile.Comment, error)
	CreateComment(ctx context.Context, repo string, number int, body string) (reconcile.Comment, error)
	// Edits returns GitHub's history of an issue's title or body (the attribute Summary), oldest
	// first, as events.
	Edits(ctx context.Context, issue mapping.IssueID, a mapping.Attribute) ([]mapping.IssueEvent, error)
	// LastNumber returns the highest issue number that a listing of the repository shows.
	// Listings lag, so it may be too low.
	LastNumber(ctx context.Context, repo string) (int, error)
	// Private reports whether only members can read the repository.
	Private(ctx context.Context, repo string) (bool, error)
	// Public reports whether anybody can read the repository, and whether that is known. With
	// ask, GitHub is asked first where the answer is unknown or old.
	Public(ctx context.Context, repo string, ask bool) (public, known bool)
	// Locate returns the present name of the repository that repo stood for; id is its id, 0
	// where unknown. With anew GitHub is asked even where it answered some minutes ago. A
	// [mapping.StrangerError] says that another repository has the name now.
	Locate(ctx context.Context, repo string, id int64, anew bool) (string, error)
	// RepositoryID returns the id of the repository that has the name now, 0 where unknown.
	RepositoryID(ctx context.Context, repo string) (int64, error)
	// Archived reports whether a repository is read-only.
	Archived(ctx context.Context, repo string) (bool, error)
	// Reserve takes a write of a class from the budget ahead. Its errors are those of the write.
	Reserve(ctx context.Context, class reconcile.WriteClass) error
	// Authorship reports whether a login is the bridge's own, now or formerly.
	Authorship(login string) mapping.Authorship
	// Stranger reports whether another account has the login now.
	Stranger(login string) bool
	Shows
}

// Labels changes the labels of several issues at once.
type Labels interface {
	// LabelBatch returns how many issues one call may change; below 2: none now.
	LabelBatch() int
	// ChangeLabels changes the labels of issues of one owner. Answers have the order of changes.
	ChangeLabels(ctx context.Context, changes []reconcile.LabelChange) []reconcile.LabelAnswer
}

// Planning is the client of one planning project. Errors match the sentinels of mapping.
type Planning interface {
	Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error)
	Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error)
	Task(ctx context.Context, id mapping.ObjectID) (mapping.Task, error)
	// CreateCard makes a card. The adapter never repeats it.
	CreateCard(ctx context.Context, bucket mapping.ObjectID, username string, card reconcile.NewItem) (mapping.Card, error)
	// CreateTasks makes tasks on a card with one request. It answers as CreateCards does.
	CreateTasks(ctx context.Context, card mapping.ObjectID, username string, tasks []reconcile.NewItem) ([]mapping.Task, error)
	// CreateCards makes several cards of one bucket with one request. It returns the answered
	// cards in any order, also beside an error.
	CreateCards(ctx context.Context, bucket mapping.ObjectID, cards []reconcile.BatchItem) ([]mapping.Card, error)
	// CheckProject reads the project itself: nil where it answers under its own id.
	CheckProject(ctx context.Context) error
	// UpdateCard and UpdateTask write attributes under their versions.
	UpdateCard(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error)
	UpdateTask(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error)
	// BucketIDs returns the ids that may address a bucket, given by title or id, the likeliest
	// first.
	BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
	// EachCard visits every card of every bucket and every sprint. This complete lookup proves
	// absence. An error means that it was not complete.
	EachCard(ctx context.Context, visit func(mapping.Card) error) error
}

// Shows is the part of the client that projections call. Errors match the sentinels of mapping.
type Shows interface {
	// EnsureLabel makes a repository's label unless it exists.
	EnsureLabel(ctx context.Context, repo, name, color, description string) error
	// Assign and Unassign add and remove single assignees, and return the issue after that.
	// GitHub silently leaves out logins that cannot be assigned.
	Assign(ctx context.Context, repo string, number int, logins []string) (mapping.Issue, error)
	Unassign(ctx context.Context, repo string, number int, logins []string) (mapping.Issue, error)
	// Milestones lists a repository's milestones, open and closed. PutMilestone makes one where
	// its Number is 0. Otherwise it changes the whole milestone.
	Milestones(ctx context.Context, repo string) ([]mapping.Milestone, error)
	PutMilestone(ctx context.Context, repo string, m mapping.Milestone) (mapping.Milestone, error)
	// Acted returns when the bridge's own account last changed the issue's state or label; zero: it
	// did not, or took that back. Earlier events than since, by GitHub's clock, do not count.
	Acted(ctx context.Context, repo string, number int, since time.Time, act mapping.Act) (time.Time, error)
}
