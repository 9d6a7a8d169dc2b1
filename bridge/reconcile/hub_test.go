package reconcile_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

const (
	repo = "acme/web"
	bot  = "planbridge[bot]"
	dev  = "octocat"
)

// hub is GitHub in memory: one repository without optimistic locks, times in
// whole seconds, and events that come late, or never.
type hub struct {
	w      *world
	issues []*ghIssue // by number, from 1
	writes int
	reads  int // of one issue
	// lag is how long an event takes; a negative one is a lost event.
	lag func(n int) time.Duration
	// refuse answers for a value that GitHub does not take; nil: it takes all.
	refuse func(a mapping.Attribute, value string) *mapping.Rejection
	// colors has the repository's labels, and pointsShort how many are not made yet when asked for.
	colors      map[string]string
	pointsShort int

	deliveries int
	told       map[int64]string // digest of the newest snapshot that arrived
	gone       bool
	// forgets: a transferred issue leaves no redirect.
	forgets bool
	// untold is why GitHub does not tell of edits; nil: it does. asked counts
	// how often it told.
	untold error
	asked  int
	// stale is how long reads of one issue lag.
	stale time.Duration
	// hooks is how many webhooks tell of an event; 0: one.
	hooks int

	// known is what is known of the bridge's account; 0: it is named.
	known mapping.Authorship

	// clock is how far GitHub's clock is ahead of ours.
	clock time.Duration
	// torn: GitHub answers writes as if the issue had moved, and reads as if not.
	torn bool

	// renamed says what repositories are called now that had another name.
	renamed map[string]string
	// formerly is the present name of a repository whose name an operator accepted for another one.
	// It is "" where nobody can read it, and nil where no name was given to another repository.
	formerly *string

	// hides: a transferred issue is where the bridge cannot read.
	hides bool

	// public: anybody can read the repository.
	public bool

	milestones []mapping.Milestone // by number, from 1
	strangers  []string            // whom nobody can assign
}

type ghIssue struct {
	mapping.Issue
	hub      *hub
	edits    []mapping.IssueEvent // GitHub's history of them
	parent   *ghIssue
	subs     []*ghIssue
	comments []reconcile.Comment
	past     []past
	events   []ghEvent
	deleted  bool
}

// past is what an issue was until some moment.
type past struct {
	mapping.Issue
	until time.Time
}

func (h *hub) now() time.Time { return time.Now().Add(h.clock).UTC().Truncate(time.Second) }

func (h *hub) Reserve(context.Context, reconcile.WriteClass) error { return nil }

func (h *hub) Authorship(login string) mapping.Authorship {
	switch {
	case login == bot && h.known == 0:
		return mapping.Named
	case login == bot:
		return h.known
	}
	return mapping.Theirs
}

func (h *hub) Private(context.Context, string) (bool, error)             { return !h.public, nil }
func (h *hub) Public(context.Context, string, bool) (public, known bool) { return h.public, true }

func (h *hub) Locate(_ context.Context, name string, id int64, _ bool) (string, error) {
	if name == repo && id == 7 && h.formerly != nil {
		if *h.formerly == "" {
			return "", fmt.Errorf("repository %d: %w", id, mapping.ErrNotFound)
		}
		return *h.formerly, nil
	}
	return cmp.Or(h.renamed[name], name), nil
}

func (h *hub) RepositoryID(_ context.Context, name string) (int64, error) { return h.idOf(name), nil }

func (h *hub) idOf(name string) int64 {
	if name == repo && h.formerly != nil {
		return 8
	}
	return 7
}

func (h *hub) Stranger(string) bool { return false }

func (h *hub) Archived(context.Context, string) (bool, error) { return false, nil }

func (h *hub) LastNumber(context.Context, string) (int, error) { return len(h.issues), nil }

func (h *hub) at(number int) (*ghIssue, error) {
	if number < 1 || number > len(h.issues) || h.gone {
		return nil, fmt.Errorf("issue %d: %w", number, mapping.ErrNotFound)
	}
	if i := h.issues[number-1]; !i.deleted {
		return i, nil
	}
	return nil, fmt.Errorf("issue %d: %w", number, mapping.ErrGone)
}

func (h *hub) Issue(_ context.Context, repo string, number int) (mapping.Issue, error) {
	h.reads++
	i, err := h.in(repo, number)
	if err != nil {
		return mapping.Issue{}, err
	}
	for _, p := range i.past {
		if p.until.After(time.Now().Add(-h.stale)) {
			return p.Issue, nil
		}
	}
	return i.snapshot(""), nil
}

func (i *ghIssue) snapshot(editor string) mapping.Issue {
	s := i.Issue
	s.Labels, s.Assignees, s.Editor = slices.Clone(s.Labels), slices.Clone(s.Assignees), editor
	if s.Milestone > 0 && s.Milestone <= len(i.hub.milestones) {
		s.MilestoneMark = mapping.MilestoneMark(i.hub.milestones[s.Milestone-1].Description)
	}
	return s
}

// open makes an issue, whoever does it.
func (h *hub) open(by string, n reconcile.NewIssue) *ghIssue { return h.openIn(repo, by, n) }

func (h *hub) openIn(repo, by string, n reconcile.NewIssue) *ghIssue {
	now := h.now()
	i := &ghIssue{hub: h, Issue: mapping.Issue{
		ID: int64(1000 + len(h.issues)), Repo: repo, RepoID: h.idOf(repo), Number: len(h.issues) + 1, Title: n.Title, Body: n.Body,
		Labels: slices.Clone(n.Labels), State: "open", Author: by, Association: "MEMBER", CreatedAt: now, UpdatedAt: now,
	}}
	h.issues = append(h.issues, i)
	h.tell(i, by, nil)
	return i
}

// change edits an issue and tells of it, where something really changed.
func (h *hub) change(i *ghIssue, by string, edit func(*mapping.Issue)) {
	was := i.snapshot("")
	edit(&i.Issue)
	if mapping.DigestIssue(&was) == mapping.DigestIssue(&i.Issue) {
		return
	}
	i.past = append(i.past, past{was, time.Now()})
	i.UpdatedAt = h.now()
	i.events = append(i.events, eventsOf(&was, &i.Issue, by)...)
	var e *mapping.IssueEvent
	if was.Title != i.Title || was.Body != i.Body {
		e = &mapping.IssueEvent{Title: i.Title, Body: i.Body, Sender: by, At: i.UpdatedAt}
		if was.Title != i.Title {
			e.TitleFrom = &was.Title
		}
		if was.Body != i.Body {
			e.BodyFrom = &was.Body
		}
		i.edits = append(i.edits, *e)
	}
	h.tell(i, by, e)
}

// tell delivers what the issue looks like now, as the webhook intake would
// store it.
func (h *hub) tell(i *ghIssue, by string, e *mapping.IssueEvent) {
	h.deliveries++
	lag := 500 * time.Millisecond
	if h.lag != nil {
		lag = h.lag(h.deliveries)
	}
	if lag < 0 {
		return
	}
	n, issue := h.deliveries, i.snapshot(by)
	ref := mapping.IssueRef(issue.ID)
	obs := store.Observation{
		Refs: []mapping.Ref{ref}, Item: ref,
		At: issue.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&issue), Data: encode(issue),
	}
	h.w.after(lag, func() {
		h.told[issue.ID] = sight(&issue)
		for hook := range max(1, h.hooks) {
			obs.Delivery = fmt.Sprintf("%d:d%d", hook, n)
			if e != nil {
				e.Delivery, e.Item = obs.Delivery, ref
				obs.Event = encode(e)
			}
			h.w.observe(obs, h.w.entering(&obs, &issue))
		}
	})
}

// list is the catch-up: its values that changed a while ago without an event that arrived.
func (h *hub) list() (news bool) {
	for _, i := range h.issues {
		issue := i.snapshot("")
		digest := mapping.DigestIssue(&issue)
		if h.gone || h.told[issue.ID] == sight(&issue) || time.Since(issue.UpdatedAt) < settleGitHub {
			continue
		}
		h.told[issue.ID], news = sight(&issue), true
		ref := mapping.IssueRef(issue.ID)
		obs := store.Observation{Refs: []mapping.Ref{ref}, Item: ref, At: issue.UpdatedAt.Unix(), Digest: digest, Data: encode(issue)}
		h.w.observe(obs, h.w.entering(&obs, &issue))
	}
	return news
}

// behind reports whether something of it is still to be listed.
func (h *hub) behind() bool {
	return !h.gone && slices.ContainsFunc(h.issues, func(i *ghIssue) bool { return h.told[i.ID] != sight(&i.Issue) })
}

// sight tells what was seen of an issue from what was seen of it at another time.
func sight(i *mapping.Issue) string {
	return fmt.Sprint(i.UpdatedAt.Unix(), " ", mapping.DigestIssue(i))
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func (h *hub) CreateIssue(_ context.Context, repo string, n reconcile.NewIssue) (mapping.Issue, error) {
	if r := h.refuses(map[mapping.Attribute]string{mapping.Title: n.Title, mapping.Summary: n.Body}); r != nil {
		return mapping.Issue{}, r
	}
	h.writes++
	h.label(n.Labels)
	return h.openIn(repo, bot, n).snapshot(""), nil
}

func (h *hub) refuses(set map[mapping.Attribute]string) error {
	for a, v := range set {
		if h.refuse == nil {
			break
		}
		if r := h.refuse(a, v); r != nil {
			return r
		}
	}
	return nil
}

func (h *hub) EditIssue(_ context.Context, repo string, number int, e reconcile.IssueEdit) (mapping.Issue, error) {
	i, err := h.in(repo, number)
	if err != nil {
		return mapping.Issue{}, err
	}
	if h.torn {
		return mapping.Issue{}, &mapping.MovedError{Repo: elsewhere, Number: number}
	}
	for a, v := range map[mapping.Attribute]*string{mapping.Title: e.Title, mapping.Summary: e.Body} {
		if v == nil {
			continue
		}
		if r := h.refuses(map[mapping.Attribute]string{a: *v}); r != nil {
			return mapping.Issue{}, r
		}
	}
	h.writes++
	h.change(i, bot, func(s *mapping.Issue) {
		for to, from := range map[*string]*string{&s.Title: e.Title, &s.Body: e.Body} {
			if from != nil {
				*to = *from
			}
		}
	})
	if e.Milestone != nil {
		h.change(i, bot, func(s *mapping.Issue) { s.Milestone = *e.Milestone })
	}
	if e.State != nil && *e.State != i.State {
		h.change(i, bot, func(s *mapping.Issue) { s.State, s.StateReason = *e.State, *e.StateReason })
	}
	return i.snapshot(""), nil
}

func (h *hub) AddLabels(_ context.Context, repo string, number int, labels []string) ([]string, error) {
	i, err := h.in(repo, number)
	if err != nil {
		return nil, err
	}
	h.writes++
	h.label(labels)
	for _, l := range labels {
		if !slices.Contains(i.Labels, l) {
			h.change(i, bot, func(s *mapping.Issue) { s.Labels = append(s.Labels, l) })
		}
	}
	return slices.Clone(i.Labels), nil
}

func (h *hub) RemoveLabel(_ context.Context, repo string, number int, label string) ([]string, error) {
	i, err := h.in(repo, number)
	if err != nil {
		return nil, err
	}
	h.writes++
	h.change(i, bot, func(s *mapping.Issue) { s.Labels = without(s.Labels, label) })
	return slices.Clone(i.Labels), nil
}

func without(labels []string, gone string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return strings.EqualFold(l, gone) })
}

func (h *hub) Comments(_ context.Context, repo string, number int, _ time.Time) ([]reconcile.Comment, error) {
	i, err := h.in(repo, number)
	if err != nil {
		return nil, err
	}
	return slices.Clone(i.comments), nil
}

func (h *hub) CreateComment(_ context.Context, repo string, number int, body string) (reconcile.Comment, error) {
	i, err := h.in(repo, number)
	if err != nil {
		return reconcile.Comment{}, err
	}
	h.writes++
	c := reconcile.Comment{ID: int64(len(i.comments) + 1), Author: bot, Body: body}
	i.comments = append(i.comments, c)
	i.UpdatedAt = h.now()
	return c, nil
}

type comment = reconcile.Comment

// Edits tells what happened to a title or body, as GitHub's REST and GraphQL
// APIs do.
func (h *hub) Edits(_ context.Context, issue mapping.IssueID, a mapping.Attribute) ([]mapping.IssueEvent, error) {
	i, err := h.in(issue.Repo, issue.Number)
	if err != nil || h.untold != nil {
		return nil, errors.Join(err, h.untold)
	}
	h.asked++
	return slices.DeleteFunc(slices.Clone(i.edits), func(e mapping.IssueEvent) bool {
		return a == mapping.Title && e.TitleFrom == nil || a == mapping.Summary && e.BodyFrom == nil
	}), nil
}
