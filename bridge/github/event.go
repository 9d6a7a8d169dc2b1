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

// Event is what a webhook told. What it did not tell is zero.
type Event struct {
	Name   string // of X-GitHub-Event: issues, sub_issues, issue_comment, repository …
	Action string // edited, labeled …

	// Issue is the item the event is about, as it stood when the payload was
	// made, which may be long ago; nil where the payload has none. PullRequest
	// says that it is none. Its Editor is the sender where Name is issues.
	Issue *mapping.Issue

	Repo        string // owner/name
	RepoID      int64
	RepoPrivate bool
	RepoTold    bool // the payload says whether it is private
	Archived    bool

	Sender     string // login
	SenderID   int64
	SenderType string // User, Bot, Organization

	Installation int64 // of the app that the delivery is for; 0: the hook is no app's

	Changes Changes
	Label   string // the label that was put on or taken off; "" where the label itself was deleted

	Parent   *mapping.Issue // of sub_issues
	SubIssue *mapping.Issue // of sub_issues
	Comment  *Comment       // of issue_comment
}

// Changes is what was before, and on a transfer what is on the other end.
type Changes struct {
	TitleFrom *string // of an issue; nil where the title did not change
	BodyFrom  *string // of an issue; an empty body before is ""

	OldIssue *mapping.Issue // opened by a transfer: what it was
	OldRepo  string         // owner/name of OldIssue, or of a repository before it was renamed or transferred
	NewIssue *mapping.Issue // transferred: what it is now
	NewRepo  string         // owner/name of NewIssue

	RepoNameFrom string // a renamed repository's name before, without owner
}

// interpreted are the events whose parts have to be well-formed. Others may
// have parts of the same names that are something else.
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
	// Installation is what an app's deliveries carry.
	Installation struct{ ID int64 }
	Changes      wireChanges
	Label        named
	Comment      *wireComment
	Parent       *wireIssue `json:"parent_issue"`
	ParentRepo   wireRepo   `json:"parent_issue_repo"`
	Sub          *wireIssue `json:"sub_issue"`
	SubRepo      wireRepo   `json:"sub_issue_repo"`
}

// ParseEvent reads a webhook's JSON; name is the header X-GitHub-Event. An
// event or action it does not know is no error. What is wrong is ErrPayload.
//
// Most of what an intake does is reading payloads, so that it is done by a
// faster library than encoding/json, and in one pass; a fuzz test compares the
// two.
func ParseEvent(name string, payload []byte) (Event, error) {
	if !utf8.Valid(payload) { // the library would let it through
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

// issue converts w, nil where it is none. Where repo is told along with it
// that is its repository, else the event's own if their names agree.
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
	if e.Name == "issues" { // a comment's changes.body is the comment's
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

// setOldName tells what a repository was called before its name or its owner
// changed.
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
