package github

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-json"

	"planbridge/mapping"
)

// Event is a webhook's payload. Missing parts are zero.
type Event struct {
	Name   string // X-GitHub-Event: issues, sub_issues, issue_comment, repository …
	Action string // edited, labeled …

	// Issue is the event's issue when the payload was made, which may be long ago; nil where the
	// payload has none. PullRequest says that it is a pull request. Its Editor is the sender
	// where Name is issues.
	Issue *mapping.Issue

	Repo        string // owner/name
	RepoID      int64
	RepoPrivate bool
	RepoTold    bool // the payload says whether the repository is private
	Archived    bool

	Sender     string // login
	SenderID   int64
	SenderType string // User, Bot, Organization

	Installation int64 // the app's installation that the delivery is for; 0: the hook belongs to no app

	Changes Changes
	Label   string // the added or removed label; "" where the label itself was deleted

	Parent   *mapping.Issue // in sub_issues
	SubIssue *mapping.Issue // in sub_issues
	Comment  *Comment       // in issue_comment
}

// Changes has the earlier values, and after a transfer the issue at the other end.
type Changes struct {
	TitleFrom *string // an issue's; nil where the title did not change
	BodyFrom  *string // an issue's; an empty body before is ""

	OldIssue *mapping.Issue // in opened after a transfer: the earlier issue
	OldRepo  string         // owner/name of OldIssue, or a repository's before its rename or transfer
	NewIssue *mapping.Issue // in transferred: the new issue
	NewRepo  string         // owner/name of NewIssue

	RepoNameFrom string // a renamed repository's earlier name, without owner
}

// interpreted are the events whose parts must be well-formed. Other events may use the same names
// for other things.
var interpreted = []string{"issues", "issue_comment", "sub_issues", "repository"}

type wireFrom struct{ From *string }

type wireChanges struct {
	Title, Body   *wireFrom
	OldIssue      *wireIssue `json:"old_issue"`
	OldRepository *wireRepo  `json:"old_repository"`
	NewIssue      *wireIssue `json:"new_issue"`
	NewRepository *wireRepo  `json:"new_repository"`
	Repository    struct{ Name wireFrom }
	Owner         struct {
		From struct{ User, Organization *wireUser }
	}
}

type wireEvent struct {
	Action     string
	Issue      *wireIssue
	Repository wireRepo
	Sender     wireUser
	// Installation is in an app's deliveries.
	Installation struct{ ID int64 }
	Changes      wireChanges
	Label        named
	Comment      *wireComment
	Parent       *wireIssue `json:"parent_issue"`
	ParentRepo   wireRepo   `json:"parent_issue_repo"`
	Sub          *wireIssue `json:"sub_issue"`
	SubRepo      wireRepo   `json:"sub_issue_repo"`
}

// ParseEvent reads a webhook's JSON; name is the header X-GitHub-Event. An unknown event or
// action is no error. A malformed payload is ErrPayload.
//
// Reading payloads is most of an intake's work. A faster library than encoding/json does it in
// one pass, and a fuzz test compares the two.
func ParseEvent(name string, payload []byte) (Event, error) {
	if !utf8.Valid(payload) { // the library accepts invalid UTF-8
		payload = bytes.ToValidUTF8(payload, []byte("\uFFFD"))
	}
	var w wireEvent
	if err := json.UnmarshalOf(payload, &w); err != nil {
		if !slices.Contains(interpreted, name) && json.Unmarshal(payload, new(map[string]any)) == nil {
			return Event{Name: name}, nil
		}
		return Event{}, fmt.Errorf("%w: event %s: %w", ErrPayload, name, err)
	}
	e := Event{Name: name, Action: w.Action, Sender: w.Sender.Login, SenderID: w.Sender.ID, SenderType: w.Sender.Type, Installation: w.Installation.ID, Label: string(w.Label)}
	e.setRepository(&w.Repository)
	e.Issue, e.Parent, e.SubIssue = e.issue(w.Issue, nil), e.issue(w.Parent, &w.ParentRepo), e.issue(w.Sub, &w.SubRepo)
	if w.Comment != nil {
		c := w.Comment.comment()
		e.Comment = &c
	}
	e.setChanges(&w.Changes)
	if name == "issues" && e.Issue != nil {
		e.Issue.Editor = e.Sender
	}
	return e, nil
}

func (e *Event) setRepository(w *wireRepo) {
	e.Repo, e.RepoID, e.RepoPrivate, e.Archived = w.FullName, w.ID, w.private(), w.Archived
	e.RepoTold = w.Private != nil || w.Visibility != ""
}

// issue converts w, or returns nil. Its repository is repo where given, else the event's own if
// their names agree.
func (e *Event) issue(w *wireIssue, repo *wireRepo) *mapping.Issue {
	if w == nil || w.ID == 0 {
		return nil
	}
	i := w.issue(e.Repo)
	switch {
	case repo != nil && repo.FullName != "":
		i.Repo, i.RepoID = repo.FullName, repo.ID
	case i.RepoID == 0 && strings.EqualFold(i.Repo, e.Repo):
		i.RepoID = e.RepoID
	}
	return &i
}

func (e *Event) setChanges(w *wireChanges) {
	c := &e.Changes
	if e.Name == "issues" { // a comment's changes.body belongs to the comment
		c.TitleFrom, c.BodyFrom = w.Title.from(), w.Body.from()
	}
	c.OldIssue, c.NewIssue = e.issue(w.OldIssue, w.OldRepository), e.issue(w.NewIssue, w.NewRepository)
	if w.OldRepository != nil {
		c.OldRepo = w.OldRepository.FullName
	}
	if w.NewRepository != nil {
		c.NewRepo = w.NewRepository.FullName
	}
	if e.Name == "repository" {
		c.setOldName(e.Repo, w)
	}
}

// setOldName sets a repository's full name before a change of its name or owner.
func (c *Changes) setOldName(now string, w *wireChanges) {
	owner, name, _ := strings.Cut(now, "/")
	if from := w.Repository.Name.From; from != nil {
		c.RepoNameFrom, name = *from, *from
	}
	for _, from := range []*wireUser{w.Owner.From.User, w.Owner.From.Organization} {
		if from != nil {
			owner = from.Login
		}
	}
	if old := owner + "/" + name; old != now {
		c.OldRepo = old
	}
}

// from returns the value before a change; null is an empty body.
func (w *wireFrom) from() *string {
	if w == nil {
		return nil
	}
	if w.From == nil {
		return new(string)
	}
	return w.From
}
