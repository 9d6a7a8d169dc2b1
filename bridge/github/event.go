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
	// made, which may be long ago. It is never nil for issues. PullRequest
	// says that it is none. Its Editor is the sender where Name is issues.
	Issue *mapping.Issue

	Repo        string // owner/name
	RepoID      int64
	RepoPrivate bool
	Archived    bool

	Sender     string // login
	SenderType string // User, Bot, Organization

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

// interpreted are the events whose parts have to be well-formed. Of others as
// much is taken as can be.
var interpreted = []string{"issues", "issue_comment", "sub_issues", "repository"}

type wireEvent struct {
	Action     json.RawMessage
	Issue      json.RawMessage
	Repository json.RawMessage
	Sender     json.RawMessage
	Changes    json.RawMessage
	Label      json.RawMessage
	Comment    json.RawMessage
	Parent     json.RawMessage `json:"parent_issue"`
	ParentRepo json.RawMessage `json:"parent_issue_repo"`
	Sub        json.RawMessage `json:"sub_issue"`
	SubRepo    json.RawMessage `json:"sub_issue_repo"`
}

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

// ParseEvent reads a webhook's JSON; name is the header X-GitHub-Event. An
// event or action it does not know is no error. What is wrong is ErrPayload.
//
// Most of what an intake does is reading payloads, so that it is done by a
// faster library than encoding/json; a fuzz test compares the two.
func ParseEvent(name string, payload []byte) (Event, error) {
	if !utf8.Valid(payload) { // the library would let it through
		payload = bytes.ToValidUTF8(payload, []byte("\uFFFD"))
	}
	var w wireEvent
	if err := json.Unmarshal(payload, &w); err != nil {
		return Event{}, fmt.Errorf("%w: event %s: %w", ErrPayload, name, err)
	}
	r := partReader{name: name}
	e := Event{Name: name, Action: *part[string](&r, "action", w.Action)}
	e.setRepository(part[wireRepo](&r, "repository", w.Repository))
	sender := part[wireUser](&r, "sender", w.Sender)
	e.Sender, e.SenderType = sender.Login, sender.Type
	e.Label = string(*part[named](&r, "label", w.Label))
	e.Issue = e.issue(part[wireIssue](&r, "issue", w.Issue), nil)
	e.Parent = e.issue(part[wireIssue](&r, "parent_issue", w.Parent), part[wireRepo](&r, "parent_issue_repo", w.ParentRepo))
	e.SubIssue = e.issue(part[wireIssue](&r, "sub_issue", w.Sub), part[wireRepo](&r, "sub_issue_repo", w.SubRepo))
	if present(w.Comment) {
		c := part[wireComment](&r, "comment", w.Comment).comment()
		e.Comment = &c
	}
	e.setChanges(part[wireChanges](&r, "changes", w.Changes))
	if name == "issues" {
		if e.Issue == nil {
			r.fail("issue", "missing")
		} else {
			e.Issue.Editor = e.Sender
		}
	}
	return e, r.err
}

// partReader decodes the parts of an event and keeps the first error that
// matters.
type partReader struct {
	name string
	err  error
}

func (r *partReader) fail(field string, why any) {
	if r.err == nil && slices.Contains(interpreted, r.name) {
		r.err = fmt.Errorf("%w: event %s: %s: %v", ErrPayload, r.name, field, why)
	}
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// part decodes one part; what is missing or broken is T's zero.
func part[T any](r *partReader, field string, raw json.RawMessage) *T {
	v := new(T)
	if !present(raw) {
		return v
	}
	if err := json.Unmarshal(raw, v); err != nil {
		r.fail(field, err)
		v = new(T)
	}
	return v
}

func (e *Event) setRepository(w *wireRepo) {
	e.Repo, e.RepoID, e.RepoPrivate, e.Archived = w.FullName, w.ID, w.private(), w.Archived
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
