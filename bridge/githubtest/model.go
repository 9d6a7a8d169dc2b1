package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// RepoSpec has the properties of a repository. The zero value is a public one with issues.
type RepoSpec struct {
	Private       bool
	NoIssues      bool // the issue endpoints answer 410
	Archived      bool
	Description   string
	Members       []string // logins whose author_association is MEMBER
	Collaborators []string // … COLLABORATOR, with push access
	Contributors  []string // … CONTRIBUTOR
}

// Repo is one repository. Its methods are the acts of people in the web
// interface and the views of its state.
type Repo struct {
	s          *Server
	id         int64
	owner      *account
	name       string
	spec       RepoSpec
	created    time.Time
	pushed     time.Time
	issues     map[int]*issue
	last       int // highest number given to an issue, pull request or discussion
	labels     []*label
	milestones []*milestone
	lastStone  int
	strangers  []string // people whom nobody can assign
}

type label struct {
	id                       int64
	name, color, description string
}

type milestone struct {
	id                        int64
	number                    int
	title, description, state string
	due                       *time.Time
	creator                   string
	created, updated          time.Time
	closed                    *time.Time
}

type comment struct {
	id               int64
	author, body     string
	created, updated time.Time
}

// event is an entry of an issue's timeline.
type event struct {
	id        int64
	kind      string // labeled, renamed, closed …
	actor     string
	at        time.Time
	label     *label
	from, to  string // of renamed
	assignee  string
	milestone string
	reason    string // of closed and reopened
	other     *issue // of sub-issue events
}

// facts are the state of an issue at one moment. Slices are never changed in place, so that a copy
// of the struct is a snapshot.
type facts struct {
	title, body, state, reason string
	labels                     []*label
	assignees                  []string
	milestone                  *milestone
	locked                     bool
	comments                   int
	updated                    time.Time
	closed                     *time.Time
	closedBy                   string
}

// past is the state of an issue until a moment of the server's age.
type past struct {
	facts
	until time.Duration
}

type issue struct {
	facts
	repo      *Repo
	id        int64
	number    int
	author    string
	created   time.Time
	born      time.Duration
	pull      bool
	past      []past
	stale     int // reads that still answer the state before the last change
	deleted   bool
	converted bool // into a discussion
	movedTo   *issue
	parent    *issue
	subs      []*issue
	comments  []*comment
	events    []*event
	history   map[string][]Value
}

// remembered bounds the snapshots of an issue that lagging reads can see.
const remembered = 100

func (r *Repo) fullName() string { return r.owner.login + "/" + r.name }

// AddRepo makes the repository "owner/name".
func (s *Server) AddRepo(fullName string, spec RepoSpec) *Repo {
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok {
		panic("githubtest: repository " + fullName + ": want owner/name")
	}
	r := &Repo{s: s, name: name, spec: spec, issues: map[int]*issue{}}
	s.locked(func() {
		if s.repo(fullName) != nil {
			panic("githubtest: repository " + fullName + " exists")
		}
		delete(s.moved, lower(fullName))
		r.id, r.owner = s.nextID(), s.account(owner, "Organization")
		r.created = s.now()
		r.pushed = r.created
		s.repos = append(s.repos, r)
	})
	return r
}

// Repo is the repository of that name, or nil.
func (s *Server) Repo(fullName string) *Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.repo(fullName)
}

func (s *Server) repo(fullName string) *Repo {
	for _, r := range s.repos {
		if strings.EqualFold(r.fullName(), fullName) {
			return r
		}
	}
	return nil
}

// open answers the issue if it is there.
func (r *Repo) open(number int) *issue {
	if i := r.issues[number]; i != nil && !i.deleted && i.movedTo == nil {
		return i
	}
	return nil
}

// must is open for people's acts, which are errors of the test otherwise.
func (r *Repo) must(number int) *issue {
	i := r.open(number)
	if i == nil {
		panic(fmt.Sprintf("githubtest: %s#%d: no such issue", r.fullName(), number))
	}
	return i
}

// all are the issues and pull requests by number.
func (r *Repo) all() []*issue {
	out := make([]*issue, 0, len(r.issues))
	for n := 1; n <= r.last; n++ {
		if i := r.open(n); i != nil {
			out = append(out, i)
		}
	}
	return out
}

func (r *Repo) label(name string) *label {
	for _, l := range r.labels {
		if strings.EqualFold(l.name, name) {
			return l
		}
	}
	return nil
}

// ensureLabel finds a label or makes it, as attaching an unknown name does.
func (r *Repo) ensureLabel(name string) *label {
	l := r.label(name)
	if l == nil {
		l = &label{id: r.s.nextID(), name: name, color: "ededed"}
		r.labels = append(r.labels, l)
	}
	return l
}

func (r *Repo) milestone(number int) *milestone {
	for _, m := range r.milestones {
		if m.number == number {
			return m
		}
	}
	return nil
}

// association is the author_association of a login.
func (r *Repo) association(login string) string {
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(l string) bool { return strings.EqualFold(l, login) })
	}
	switch {
	case strings.EqualFold(login, r.owner.login):
		return "OWNER"
	case has(r.spec.Members):
		return "MEMBER"
	case has(r.spec.Collaborators):
		return "COLLABORATOR"
	case has(r.spec.Contributors):
		return "CONTRIBUTOR"
	}
	return "NONE"
}

// at is the state of the issue at that age of the server; ok is false where it did not exist yet.
func (i *issue) at(age time.Duration) (f facts, ok bool) {
	for _, p := range i.past {
		if p.until > age {
			return p.facts, i.born <= age
		}
	}
	return i.facts, i.born <= age
}

// touch stores the state of the issue before a change, and stamps the issue.
func (i *issue) touch() {
	i.past = append(i.past, past{i.facts, i.repo.s.age()})
	if len(i.past) > remembered {
		i.past = slices.Delete(i.past, 0, 1)
	}
	i.updated = i.repo.s.now()
}

func (i *issue) remember(attribute, value string, by actor) {
	i.history[attribute] = append(i.history[attribute],
		Value{Value: value, User: by.login, Time: i.repo.s.now(), ByAPI: by.api, Order: i.repo.s.nextID()})
}

func (i *issue) happened(kind string, by actor) *event {
	e := &event{id: i.repo.s.nextID(), kind: kind, actor: by.login, at: i.repo.s.now()}
	i.events = append(i.events, e)
	return e
}

func (i *issue) labelNames() []string {
	out := make([]string, len(i.labels))
	for n, l := range i.labels {
		out[n] = l.name
	}
	return out
}

func (i *issue) has(l *label) bool { return slices.Contains(i.labels, l) }
