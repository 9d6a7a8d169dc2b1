package mapping

import (
	"strconv"
	"strings"
	"time"
)

// Issue is a snapshot of a GitHub issue, as one read, webhook or listing showed it. Texts are
// exactly as GitHub gave them.
type Issue struct {
	ID          int64    `json:"id"` // database id: survives a rename, not a transfer
	NodeID      string   `json:"node,omitempty"`
	Repo        string   `json:"repo"` // owner/name
	RepoID      int64    `json:"repo_id,omitempty"`
	Number      int      `json:"number"`
	Title       string   `json:"title"`
	Body        string   `json:"body,omitempty"`
	State       string   `json:"state"` // open or closed
	StateReason string   `json:"reason,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	Assignees   []string `json:"assignees,omitempty"`
	Milestone   int      `json:"milestone,omitempty"` // number; 0: none
	// MilestoneMark is the comment that ends the milestone's description, where the bridge's own
	// milestones have their marker. "": there is none.
	MilestoneMark string    `json:"milestone_mark,omitempty"`
	Author        string    `json:"author,omitempty"`    // login
	AuthorID      int64     `json:"author_id,omitempty"` // database id; 0 where the answer does not tell
	Page          string    `json:"page,omitempty"`      // the address of its page; "" where the answer does not tell
	Association   string    `json:"assoc,omitempty"`     // author_association, upper case
	PullRequest   bool      `json:"pr,omitempty"`
	Locked        bool      `json:"locked,omitempty"`
	CreatedAt     time.Time `json:"created"`
	UpdatedAt     time.Time `json:"updated"`            // whole seconds
	ClosedAt      time.Time `json:"closed,omitzero"`    // zero while it is open, and where the answer does not tell
	Editor        string    `json:"editor,omitempty"`   // login of the event's sender; "" where unknown
	Delivery      string    `json:"delivery,omitempty"` // the webhook delivery that showed it; "" where a read or listing did
	// Parent names the issue (acme/web#12) that has this one as a sub-issue,
	// or is NoParent; "" where the answer does not tell. Only listings do.
	Parent string `json:"parent,omitempty"`
	// Childless: the answer says that the issue has no sub-issues.
	Childless bool `json:"childless,omitempty"`
	// Imported: an import hands it over to its parent, which takes it even if it is closed.
	Imported bool `json:"imported,omitempty"`
}

// Name names the issue for people, as in acme/web#12.
func (i *Issue) Name() string { return i.Repo + "#" + strconv.Itoa(i.Number) }

// Renamed sets the present name of the issue's repository.
func (i *Issue) Renamed(repo string) {
	i.Page = strings.Replace(i.Page, "/"+i.Repo+"/issues/", "/"+repo+"/issues/", 1)
	i.Repo = repo
}

// NoParent is the Issue.Parent of an issue that is no sub-issue.
const NoParent = "none"

// Card is a snapshot of a planning card (docs/planning-api.md 2.4).
type Card struct {
	ID         ObjectID  `json:"id"`
	CID        int64     `json:"cid"`
	Version    int64     `json:"version"` // of the whole card
	Title      Versioned `json:"title"`
	Summary    Versioned `json:"summary"`          // Markdown; "" where nothing is set
	Estimate   Versioned `json:"estimate"`         // decimal text; "" for null
	Bucket     ObjectID  `json:"bucket,omitempty"` // of the listing it was seen in, else its state attribute; "" where unknown
	BucketName string    `json:"bucket_name,omitempty"`
	// StateID is the bucket's id in the card's own state attribute where that is not Bucket.
	// Listings may have ids of their own, as real data shows.
	StateID   ObjectID  `json:"state_id,omitempty"`
	Iteration ObjectID  `json:"iteration,omitempty"`
	Review    string    `json:"review,omitempty"` // iterationReview as the service spells it
	Counters  *Counters `json:"counters,omitempty"`
	// CountersVersion moves when a task of the card is made or changes state, as real data shows. A
	// poll learns of the change by it.
	CountersVersion int64 `json:"counters_version,omitempty"`
	Placeholder     bool  `json:"placeholder,omitempty"` // isStandaloneTP: holds tasks of no card
	// Tasks are the card's tasks where the read carried them (nested in a
	// sprint listing, or read by endpoint 13); nil means not known.
	Tasks []Task `json:"tasks,omitempty"`
	// Users are the usernames on the card's tasks in its sprint; nil means not
	// known: only a sprint's listing tells them.
	Users []string `json:"users,omitzero"`
	// Polled bounds when this version came to be: after the last poll that
	// did not show it, before the end of the one that did. Zero where unknown.
	Polled Interval `json:"polled,omitzero"`
	// Times bounds when each attribute got its present value, as Polled does for the version; State
	// is that of the tasks' counters. An unknown one is absent. Nil: the poll reported the version
	// alone.
	Times map[Attribute]Interval `json:"times,omitzero"`
	// State is that of a task which is read as a card ([Task.AsCard]); a card has none.
	State Versioned `json:"-"`
}

// Edited bounds when an attribute got its present value.
func (c *Card) Edited(a Attribute) Interval {
	if c.Times != nil {
		return c.Times[a]
	}
	return c.Polled
}

// Versions lists the versions of the attributes in the order of Attributes. The state has the
// version of the tasks' counters.
func (c *Card) Versions() [4]int64 {
	return [4]int64{c.Title.Version, c.Summary.Version, c.Estimate.Version, c.CountersVersion}
}

// Complete adds to a read of the card what only a poll reports, from the last poll. That is its
// bucket's title while it is still there, who works on it in its sprint, and when its version came
// to be.
func (c *Card) Complete(polled *Card) {
	if place := NameCard(polled); c.Bucket == "" || c.Bucket == place.Bucket || c.Bucket == place.StateID {
		c.Bucket, c.BucketName, c.StateID = place.Bucket, place.BucketName, place.StateID
	}
	if c.Users == nil && c.Iteration == polled.Iteration {
		c.Users = polled.Users
	}
	if c.Version == polled.Version {
		c.Polled = polled.Polled
	}
	c.Times = map[Attribute]Interval{}
	was := polled.Versions()
	for i, version := range c.Versions() {
		if a := Attributes[i]; version == was[i] && polled.Edited(a).isKnown() {
			c.Times[a] = polled.Edited(a)
		}
	}
}

// Counters is planning's aggregate over a card's tasks.
type Counters struct {
	Done       float64 `json:"done"`
	Todo       float64 `json:"todo"`
	InProgress float64 `json:"inProgress"`
	Total      float64 `json:"total"`
	Status     string  `json:"status"`
}

// Task is a snapshot of a planning task (docs/planning-api.md 2.6).
type Task struct {
	ID       ObjectID  `json:"id"`
	CID      int64     `json:"cid"`
	Version  int64     `json:"version"`
	Owner    ObjectID  `json:"owner,omitempty"` // its card; "" where the answer omits it
	Title    Versioned `json:"title"`
	Summary  Versioned `json:"summary"`
	Estimate Versioned `json:"estimate"` // hours, decimal text; "" where none
	State    Versioned `json:"state"`
}

// AsCard is the task in the form of a card, with the task's state.
func (t *Task) AsCard() *Card {
	return &Card{ID: t.ID, CID: t.CID, Version: t.Version, Title: t.Title, Summary: t.Summary, Estimate: t.Estimate, State: t.State}
}
