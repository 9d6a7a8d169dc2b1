package status

import (
	"cmp"
	"strconv"
	"time"
)

// These are the answers of the API. Keys are only ever added, as scripts rely on them. A link's
// nonce is left out, as it makes markers together with the marker key.

// Links answers GET /api/v1/links.
type Links struct {
	Links []Link `json:"links"`
	ListEnd
}

// ListEnd is the end of a list that is written while it is read.
type ListEnd struct {
	// More: the limit was reached before the end.
	More bool `json:"more"`
	// Error is the error that ended the list early, as it may break after it began.
	Error string `json:"error,omitempty"`
}

// Link is a root link as lists show it.
type Link struct {
	ID      string `json:"id"`
	Project string `json:"project"` // id
	// ProjectName is the project's name in the configuration. Only the answer about one link has
	// it.
	ProjectName string    `json:"project_name,omitempty"`
	Route       string    `json:"route"`
	State       string    `json:"state"`
	Where       string    `json:"where"`  // acme/web#12, or the card's id
	Origin      string    `json:"origin"` // the side where a person made the first item
	Issue       *Issue    `json:"issue,omitempty"`
	Card        *Card     `json:"card,omitempty"`
	Why         string    `json:"why,omitempty"`    // of left, orphaned and dormant
	Paused      bool      `json:"paused,omitempty"` // its route is
	Created     time.Time `json:"created"`
	Synced      time.Time `json:"synced,omitzero"` // when both sides were last known to agree
}

// Issue names the GitHub side of a link.
type Issue struct {
	Repository string    `json:"repository"`
	Number     int       `json:"number"`
	ID         int64     `json:"id"`
	UpdatedAt  time.Time `json:"updated_at,omitzero"` // of the newest snapshot taken into account
}

// Name is the issue's name for people: acme/web#12. It is "" for none, and while the issue is being
// made and has no number.
func (i *Issue) Name() string {
	if i == nil || i.Number == 0 {
		return ""
	}
	return i.Repository + "#" + strconv.Itoa(i.Number)
}

// Card names the planning side of a link.
type Card struct {
	ID      string `json:"id"`
	CID     int64  `json:"cid,omitempty"`
	Bucket  string `json:"bucket,omitempty"` // title, or id where that is not known
	Version int64  `json:"version"`          // newest taken into account
	// BucketID is the bucket's id, by one of the two lists of buckets.
	BucketID string `json:"bucket_id,omitempty"`
}

// LinkDetail answers GET /api/v1/links/{key}.
type LinkDetail struct {
	Link     Link               `json:"link"`
	Base     map[string]Base    `json:"base"` // by attribute
	Pending  []Pending          `json:"pending"`
	Creating *Creating          `json:"creating,omitempty"`
	Folding  []Folding          `json:"folding,omitempty"` // frequent edits that wait to be written together
	Refused  map[string]Refusal `json:"refused"`           // by attribute
	Asking   map[string]string  `json:"asking"`            // by attribute: the conflict's id
	Children []Child            `json:"children"`
	History  []Entry            `json:"history"` // newest first
	Now      *Now               `json:"now,omitempty"`
	NowError string             `json:"now_error,omitempty"` // why Now could not be found out
	Part     *Child             `json:"part,omitempty"`      // the requested one of the children
	Was      string             `json:"was,omitempty"`       // the requested name, where the issue has another one now
	Outside  *Outside           `json:"outside,omitempty"`   // an issue or a card that has no link; all else is empty
	Queue    *Standing          `json:"queue,omitempty"`     // the state of its key
}

// Outside is an issue or a card that has no link, and why.
type Outside struct {
	Repository  string `json:"repository"` // of a card: "", and Card says which
	Number      int    `json:"number"`
	Author      string `json:"author"`
	Association string `json:"association"` // of the author, as GitHub tells it
	Why         string `json:"why"`
	Route       string `json:"route,omitempty"`   // the route that Why is about; "": none has its repository or bucket
	Project     string `json:"project,omitempty"` // of a card
	Card        *Card  `json:"card,omitempty"`
	Title       string `json:"title,omitempty"`
}

// Name is its name for people.
func (o *Outside) Name() string {
	if o.Card != nil {
		return "card " + cmp.Or(o.Card.ID, strconv.FormatInt(o.Card.CID, 10))
	}
	return (&Issue{Repository: o.Repository, Number: o.Number}).Name()
}

// Called is a card without an issue by a name that no other item has.
func (o *Outside) Called() string {
	return o.Card.ID + " (a card of project " + o.Project + " without an issue)"
}

// Now is the present state of both sides of a pair, and the plan of the next reconcile.
type Now struct {
	GitHub   map[string]string    `json:"github"`           // by attribute
	Planning map[string]Versioned `json:"planning"`         // by attribute
	Unread   map[string]string    `json:"unread,omitempty"` // by side: why it could not be read
	Gone     []string             `json:"gone,omitempty"`   // of these, the sides where the item is gone or elsewhere
	Next     []Next               `json:"next"`             // empty: nothing is to be done
	Hidden   []Hidden             `json:"hidden,omitempty"` // text that readers of a side do not see
}

// Hidden counts the parts of a text that its readers do not see. The text crosses unchanged.
type Hidden struct {
	Attribute     string `json:"attribute"`
	Side          string `json:"side"`
	What          string `json:"what"`          // in words
	Comments      int    `json:"comments"`      // of HTML
	ZeroWidth     int    `json:"zero_width"`    // characters
	Bidirectional int    `json:"bidirectional"` // characters that change the direction
}

// Versioned is a planning value with its version.
type Versioned struct {
	Value   string `json:"value"`
	Version int64  `json:"version"`
}

// Next is the plan of the next reconcile for one attribute.
type Next struct {
	Attribute  string  `json:"attribute"`
	Action     string  `json:"action"`
	Why        string  `json:"why"`
	ToGitHub   *string `json:"to_github,omitempty"`   // the value for GitHub
	ToPlanning *string `json:"to_planning,omitempty"` // the value for planning
}

// Base is what both sides last agreed on, each in its own form.
type Base struct {
	GitHub   string `json:"github"`
	Planning string `json:"planning"`
	Version  int64  `json:"version"` // planning's
}

// Pending is a write whose outcome is not known, or not yet seen as an echo.
type Pending struct {
	Side      string    `json:"side"`
	Item      string    `json:"item"`
	Attribute string    `json:"attribute"`
	From      string    `json:"from"`
	To        string    `json:"to"`
	At        time.Time `json:"at"`
	Answered  bool      `json:"answered"`
}

// Creating is a create that may be under way.
type Creating struct {
	Side    string    `json:"side"`
	At      time.Time `json:"at"`
	Sent    bool      `json:"sent"`
	Lookups int       `json:"lookups"` // complete ones that found nothing
}

// Refusal is a value that a side does not take.
type Refusal struct {
	Side  string    `json:"side"`
	Words string    `json:"words"`
	At    time.Time `json:"at"`
}

// Child is a task of the card with the item that it stands for.
type Child struct {
	Kind  string          `json:"kind"`
	State string          `json:"state"`
	Issue *Issue          `json:"issue,omitempty"`
	Item  string          `json:"item,omitempty"` // text of a checklist item
	Task  string          `json:"task,omitempty"` // id
	Base  map[string]Base `json:"base"`
	Why   string          `json:"why,omitempty"` // the obstacle of a sub-issue
	// Parent is set for a sub-issue whose parent is no longer the pair's issue: "none", or
	// "another" for another parent.
	Parent string `json:"parent,omitempty"`

	Asking  map[string]string  `json:"asking,omitempty"`  // as those of a LinkDetail
	Refused map[string]Refusal `json:"refused,omitempty"` // as those of a LinkDetail
}

// Entry is one line of a link's history.
type Entry struct {
	At        time.Time `json:"at"`
	Side      string    `json:"side,omitempty"`
	Attribute string    `json:"attribute,omitempty"`
	What      string    `json:"what"`
	Why       string    `json:"why"`
	Delivery  string    `json:"delivery,omitempty"`
	Who       string    `json:"who,omitempty"`          // the person who caused it, where known
	Took      float64   `json:"took_seconds,omitempty"` // since the change was seen; 0: not known
	Part      string    `json:"part,omitempty"`         // checklist, tracking, or the name of a sub-issue; "": the pair itself
}

// Failures answers GET /api/v1/failures, oldest first.
type Failures struct {
	Failures []Failure `json:"failures"`
}

// Failure is a parked key.
type Failure struct {
	Key      string    `json:"key"` // project/link
	Route    string    `json:"route"`
	Where    string    `json:"where"`
	Reason   string    `json:"reason"`
	Attempts int       `json:"attempts"`
	At       time.Time `json:"at"`
}

// Retry is the body of POST /api/v1/failures/retry: a failure's key or where,
// a link's id, or "all".
type Retry struct {
	Key string `json:"key"`
}

// Resolve is the body of POST /api/v1/conflicts/{id}/resolve.
type Resolve struct {
	Winner string `json:"winner"` // planning or github
}

// Accepted answers requests that are carried out later: POST /api/v1/conflicts/{id}/resolve and
// …/undo (the conflict's id), and /api/v1/rebuild ("rebuild").
type Accepted struct {
	Accepted string `json:"accepted"`
}

// Retried answers POST /api/v1/failures/retry.
type Retried struct {
	Retried int `json:"retried"`
}

// Conflicts answers GET /api/v1/conflicts, newest first.
type Conflicts struct {
	Conflicts []Conflict `json:"conflicts"`
}

// Conflict is an entry of the ledger.
type Conflict struct {
	ID        string    `json:"id"`
	Link      string    `json:"link"`
	Project   string    `json:"project"`
	Route     string    `json:"route"`
	Where     string    `json:"where"`
	Attribute string    `json:"attribute"`
	Base      *Base     `json:"base,omitempty"`
	GitHub    string    `json:"github"`
	Planning  string    `json:"planning"`
	Winner    string    `json:"winner"` // "" while it is asked
	Rule      string    `json:"rule"`
	State     string    `json:"state"`
	At        time.Time `json:"at"`
	Settled   time.Time `json:"settled,omitzero"`
}

// Overview answers GET /api/v1/overview.
type Overview struct {
	Version  string    `json:"version"`
	Projects []Project `json:"projects"` // by name
	Routes   []Route   `json:"routes"`   // in the order in which they take issues, then those no longer configured
}

// Project is a project's queue.
type Project struct {
	Name     string         `json:"name"`
	Live     int            `json:"live"`    // keys in the queue
	Bulk     int            `json:"bulk"`    // keys behind the live ones
	Waiting  map[string]int `json:"waiting"` // by the service that is away
	Failures int            `json:"failures"`
	Oldest   time.Time      `json:"oldest,omitzero"` // when the key that is overdue longest became due
}

// Route is a route with its links.
type Route struct {
	Name       string         `json:"name"`
	Repository string         `json:"repository,omitempty"` // "" where it is no longer configured
	Project    string         `json:"project,omitempty"`
	Links      map[string]int `json:"links"`           // by state
	Paused     time.Time      `json:"paused,omitzero"` // since when; zero where it is not
}

// Version answers GET /api/v1/version.
type Version struct {
	Version string `json:"version"`
}

// Failed is every answer that is an error.
type Failed struct {
	Error string `json:"error"`
}
