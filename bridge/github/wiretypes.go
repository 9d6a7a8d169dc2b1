package github

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-json"

	"planbridge/mapping"
)

// GitHub's types, read leniently: anything may be null.

// stamp is a time: RFC 3339, or in some webhooks Unix seconds.
type stamp time.Time

// UnmarshalJSON implements json.Unmarshaler.
func (s *stamp) UnmarshalJSON(b []byte) error {
	var usual time.Time
	if b[0] == '"' && usual.UnmarshalJSON(b) == nil {
		*s = stamp(usual.UTC())
		return nil
	}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		*s = stamp(time.Unix(n, 0).UTC())
		return nil
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	if text == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339, text)
	*s = stamp(t.UTC())
	return err
}

func (s stamp) time() time.Time { return time.Time(s) }

type wireUser struct {
	ID          int64
	Login, Type string
}

// named is a label: an object, or in older answers its bare name.
type named string

// UnmarshalJSON implements json.Unmarshaler.
func (n *named) UnmarshalJSON(b []byte) error {
	var object struct{ Name string }
	if json.UnmarshalOf(b, &object) == nil {
		*n = named(object.Name)
		return nil
	}
	return json.Unmarshal(b, (*string)(n))
}

func names(labels []named) []string {
	var s []string
	for _, l := range labels {
		if l != "" {
			s = append(s, string(l))
		}
	}
	return s
}

type wireRepo struct {
	ID          int64
	FullName    string `json:"full_name"`
	Name        string
	Private     *bool
	Visibility  string // public, private or internal
	Archived    bool
	HasIssues   *bool `json:"has_issues"`
	Permissions map[string]bool
}

// private reports whether only members can read the repository. GitHub always sends one of the
// two fields. A stand-in for GitHub without them counts as private, as nobody can read it.
func (w *wireRepo) private() bool {
	if w.Private != nil {
		return *w.Private
	}
	return w.Visibility != "public"
}

type wireIssue struct {
	ID            int64
	NodeID        string `json:"node_id"`
	URL           string
	HTMLURL       string `json:"html_url"`
	RepositoryURL string `json:"repository_url"`
	Number        int
	Title         string
	Body          string
	State         string
	StateReason   string `json:"state_reason"`
	Labels        []named
	Assignees     []wireUser
	Milestone     *wireMilestone
	User          wireUser
	Association   string `json:"author_association"`
	PullRequest   any    `json:"pull_request"`
	Locked        bool
	CreatedAt     stamp `json:"created_at"`
	UpdatedAt     stamp `json:"updated_at"`
	ClosedAt      stamp `json:"closed_at"`
	Repository    *wireRepo
	ParentURL     string `json:"parent_issue_url"`
	SubIssues     any    `json:"sub_issues_summary"`
}

// oneIssue is an issue read by itself, or the answer to a write. It counts as the issue's present
// state.
type oneIssue struct{ wireIssue }

// whole distinguishes an issue from other JSON, as a proxy's {}. Otherwise its missing values
// would count as removed from the issue.
func (w *oneIssue) whole() error {
	if w.ID <= 0 || w.Number <= 0 || w.Title == "" || w.State == "" {
		return errors.New("no issue: without id, number, title or state")
	}
	return nil
}

// parent returns the issue's parent. Without a field about sub-issues it is unknown.
func (w *wireIssue) parent() string {
	if u, err := url.Parse(w.ParentURL); err == nil && w.ParentURL != "" {
		if repo, number := issuePlace(u.Path); repo != "" && number > 0 {
			return repo + "#" + strconv.Itoa(number)
		}
	}
	if w.SubIssues != nil {
		return mapping.NoParent
	}
	return ""
}

// childless reports whether w says that there are no sub-issues.
func (w *wireIssue) childless() bool {
	summary, _ := w.SubIssues.(map[string]any)
	total, told := summary["total"].(float64)
	return told && total == 0
}

// issue converts w. Where w names no repository, it is repo's.
func (w *wireIssue) issue(repo string) mapping.Issue {
	i := mapping.Issue{
		ID: w.ID, NodeID: w.NodeID, Repo: w.repo(), Number: w.Number,
		Title: w.Title, Body: w.Body, State: w.State, StateReason: w.StateReason,
		Labels: names(w.Labels), Author: w.User.Login, AuthorID: w.User.ID, Association: w.Association,
		PullRequest: w.PullRequest != nil, Locked: w.Locked,
		CreatedAt: w.CreatedAt.time(), UpdatedAt: w.UpdatedAt.time(), ClosedAt: w.ClosedAt.time(), Childless: w.childless(),
	}
	if i.Repo == "" {
		i.Repo = repo
	}
	if w.Repository != nil {
		i.RepoID = w.Repository.ID
	}
	i.Page = w.page(i.Repo)
	for _, a := range w.Assignees {
		if a.Login != "" {
			i.Assignees = append(i.Assignees, a.Login)
		}
	}
	if w.Milestone != nil {
		i.Milestone, i.MilestoneMark = w.Milestone.Number, mapping.MilestoneMark(w.Milestone.Description)
	}
	return i
}

// page is the issue's page for people, which a card has as a link.
func (w *wireIssue) page(repo string) string {
	host, ok := strings.CutSuffix(w.HTMLURL, "/"+repo+"/issues/"+strconv.Itoa(w.Number))
	if !ok || !strings.HasPrefix(host, "https://") && !strings.HasPrefix(host, "http://") || strings.ContainsAny(host, " ()[]<>#\n") {
		return ""
	}
	return w.HTMLURL
}

// repo reads the repository from the API's own URLs, which every form of an issue has.
func (w *wireIssue) repo() string {
	for _, s := range []string{w.RepositoryURL, w.URL} {
		if u, err := url.Parse(s); err == nil {
			if repo, _ := issuePlace(u.Path); repo != "" {
				return repo
			}
		}
	}
	if w.Repository != nil {
		return w.Repository.FullName
	}
	return ""
}
