package github

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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

// wireEvent is the parts of an event. What was not told is zero.
type wireEvent struct {
	action                    string
	label                     named
	issue, parent, sub        *wireIssue
	repo, parentRepo, subRepo wireRepo
	sender                    wireUser
	comment                   *wireComment
	changes                   wireChanges
}

// ParseEvent reads a webhook's JSON; name is the header X-GitHub-Event. An
// event or action it does not know is no error. What is wrong is ErrPayload.
func ParseEvent(name string, payload []byte) (Event, error) {
	if !utf8.Valid(payload) {
		payload = bytes.ToValidUTF8(payload, []byte("\uFFFD"))
	}
	r := partReader{scanner: scanner{data: payload}, name: name}
	var w wireEvent
	r.event(&w)
	if !r.end() {
		return Event{}, fmt.Errorf("%w: event %s: no JSON", ErrPayload, name)
	}
	e := Event{Name: name, Action: w.action, Sender: w.sender.Login, SenderType: w.sender.Type, Label: string(w.label)}
	e.setRepository(&w.repo)
	e.Issue, e.Parent, e.SubIssue = e.issue(w.issue, nil), e.issue(w.parent, &w.parentRepo), e.issue(w.sub, &w.subRepo)
	if w.comment != nil {
		c := w.comment.comment()
		e.Comment = &c
	}
	e.setChanges(&w.changes)
	if name == "issues" {
		if e.Issue == nil {
			r.refuse("issue", "missing")
		} else {
			e.Issue.Editor = e.Sender
		}
	}
	return e, r.err
}

// partReader reads the parts of an event and keeps the first error that
// matters.
type partReader struct {
	scanner
	name string
	err  error
}

func (r *partReader) refuse(field, why string) {
	if r.err == nil && slices.Contains(interpreted, r.name) {
		r.err = fmt.Errorf("%w: event %s: %s %s", ErrPayload, r.name, field, why)
	}
}

func (r *partReader) event(w *wireEvent) {
	if c := r.peek(); c != '{' && c != 'n' {
		r.fail()
		return
	}
	r.object(func(name []byte) {
		switch field := string(name); field {
		case "action":
			part(r, field, &w.action, r.text)
		case "issue":
			optionalPart(r, field, &w.issue, r.issue)
		case "repository":
			part(r, field, &w.repo, r.repo)
		case "sender":
			part(r, field, &w.sender, r.user)
		case "changes":
			part(r, field, &w.changes, r.changes)
		case "label":
			part(r, field, &w.label, r.label)
		case "comment":
			optionalPart(r, field, &w.comment, r.comment)
		case "parent_issue":
			optionalPart(r, field, &w.parent, r.issue)
		case "parent_issue_repo":
			part(r, field, &w.parentRepo, r.repo)
		case "sub_issue":
			optionalPart(r, field, &w.sub, r.issue)
		case "sub_issue_repo":
			part(r, field, &w.subRepo, r.repo)
		default:
			r.skip()
		}
	})
}

// part reads one part; one that is broken is T's zero.
func part[T any](r *partReader, field string, v *T, read func(*T)) {
	var zero T
	*v = zero // where a name is told twice the last one counts
	r.wrong = false
	if read(v); r.wrong {
		*v = zero
		r.refuse(field, "is not of the kind that it should be")
	}
}

func optionalPart[T any](r *partReader, field string, v **T, read func(*T)) {
	part(r, field, v, func(v **T) { optional(&r.scanner, v, read) })
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
