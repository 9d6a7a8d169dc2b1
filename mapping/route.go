package mapping

import (
	"path"
	"slices"
	"strings"
)

// Policy says who wins when both sides changed one attribute to different
// values.
type Policy string

// The policies of docs/mapping.md, "Who wins".
const (
	PolicyPlanning Policy = "planning" // planning's value wins
	PolicyGitHub   Policy = "github"   // GitHub's value wins
	PolicyNewest   Policy = "newest"   // the later edit wins, where the times tell; else ask
	PolicyAsk      Policy = "ask"      // nobody wins until a person decides
	PolicyMerge    Policy = "merge"    // summaries are merged; planning wins where that fails
)

// Direction says which way a route synchronises.
type Direction string

// The directions of a route.
const (
	Both       Direction = "both"
	ToPlanning Direction = "to_planning"
	ToGitHub   Direction = "to_github"
)

// The authors whose issues a route takes, by GitHub's author_association.
const (
	AuthorsAny          = "any"
	AuthorsContributors = "contributors"
	AuthorsMembers      = "members"
)

// The ways in which a route handles the parts of an issue.
const (
	TasksSubIssues = "sub_issues"
	TasksChecklist = "checklist"
	TasksNone      = "none"
)

// Images says how planning shows the remote images of a text. Each reader loads an image that is
// shown, so that its host sees the reader.
type Images string

// How images are shown.
const (
	LinkImages   Images = "link"
	InlineImages Images = "inline"
)

// LabelBucket sends issues with a label to a bucket of their own.
type LabelBucket struct{ Label, Bucket string }

// Route is one configured repository-to-bucket mapping: which issues of a
// repository live in which bucket of which project.
type Route struct {
	Name          string
	ID            string   // see Identity
	Repositories  []string // each owner/name, or a glob such as acme/*
	Exclude       []string // globs that the route's globs exclude
	Project       ObjectID
	ProjectName   string // the operator's name for the project
	Username      string // in whose name planning is written
	Bucket        string // title or id
	BucketByLabel []LabelBucket
	Labels        []string // any of these; none: all issues
	ExcludeLabels []string
	Authors       string
	Quarantine    string // QuarantineAuto or QuarantineOff
	Direction     Direction
	AllowPublic   bool
	CreateIssues  bool
	NewCardsIn    string // the repository in which new cards become issues; "": none
	Tasks         string
	TasksPerCard  int    // tasks of sub-issues or checklist lines; 0: any number
	Images        Images // "": LinkImages
	TrackingTask  bool
	Force         bool
	Policies      map[Attribute]Policy
	DefaultPolicy Policy
}

// Policy returns the route's policy for an attribute.
func (r *Route) Policy(a Attribute) Policy {
	if p, ok := r.Policies[a]; ok {
		return p
	}
	if r.DefaultPolicy != "" {
		return r.DefaultPolicy
	}
	return PolicyMerge
}

// Asks reports whether people may be asked for the winning value of an attribute: the policy says
// so, or may find no other answer.
func (r *Route) Asks(a Attribute) bool {
	p := r.Policy(a)
	return (r.Direction == Both || r.Direction == "") && (p == PolicyAsk || p == PolicyNewest)
}

// HasTasks reports whether the tasks of a card, except its tracking task, stand for sub-issues or
// checklist items.
func (r *Route) HasTasks() bool { return r.Tasks == TasksSubIssues || r.Tasks == TasksChecklist }

// IsGlob reports whether a repository of a route is a glob.
func IsGlob(repository string) bool { return strings.ContainsAny(repository, "*?[") }

// Exact reports whether the route names its repositories and has no glob.
func (r *Route) Exact() bool { return !slices.ContainsFunc(r.Repositories, IsGlob) }

// Named lists the repositories that the route names, and Globs its globs.
func (r *Route) Named() []string {
	return slices.DeleteFunc(slices.Clone(r.Repositories), IsGlob)
}

// Globs lists the globs among the route's repositories.
func (r *Route) Globs() []string {
	return slices.DeleteFunc(slices.Clone(r.Repositories), func(repository string) bool { return !IsGlob(repository) })
}

// Names reports whether the route names the repository itself, not by a glob.
func (r *Route) Names(repo string) bool {
	return slices.ContainsFunc(r.Repositories, func(own string) bool { return strings.EqualFold(own, repo) && !IsGlob(own) })
}

// MatchesRepo reports whether the route is for the repository (owner/name, in any case, as GitHub
// takes it). An exclusion concerns the globs alone.
func (r *Route) MatchesRepo(repo string) bool {
	if r.Names(repo) {
		return true
	}
	meant := func(own string) bool { return globMatch(own, repo) }
	return slices.ContainsFunc(r.Repositories, meant) && !r.Excludes(repo)
}

// Excludes reports whether the route excludes a repository from its globs.
func (r *Route) Excludes(repo string) bool {
	return slices.ContainsFunc(r.Exclude, func(glob string) bool { return globMatch(glob, repo) })
}

func globMatch(glob, repo string) bool {
	ok, err := path.Match(strings.ToLower(glob), strings.ToLower(repo))
	return err == nil && ok
}

// Accepts reports whether an issue passes the route's filter, and if not, why.
// It looks at labels and author only: whether an issue is open matters when it
// enters, not afterwards.
func (r *Route) Accepts(issue *Issue, scheme LabelScheme) (bool, string) {
	if ignore := scheme.Prefix + "ignore"; hasLabel(issue.Labels, ignore) {
		return false, "it has the label " + ignore
	}
	for _, l := range r.ExcludeLabels {
		if hasLabel(issue.Labels, l) {
			return false, "it has the excluded label " + l
		}
	}
	if len(r.Labels) > 0 && !slices.ContainsFunc(r.Labels, func(l string) bool { return hasLabel(issue.Labels, l) }) {
		return false, "it has none of the labels " + strings.Join(r.Labels, ", ")
	}
	if !r.acceptsAuthor(issue.Association) {
		return false, "its author is not one of the route's " + r.Authors
	}
	return true, ""
}

func (r *Route) acceptsAuthor(association string) bool {
	switch association = strings.ToUpper(association); r.Authors {
	case AuthorsMembers:
		return association == "OWNER" || association == "MEMBER" || association == "COLLABORATOR"
	case AuthorsContributors:
		return contributes(association)
	}
	return true
}

func hasLabel(labels []string, name string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, name) })
}

// BucketFor returns the bucket (title or id) in which the issue's card is
// made: the first of bucket_by_label whose label it has, else the route's.
func (r *Route) BucketFor(issue *Issue) string {
	for _, lb := range r.BucketByLabel {
		if hasLabel(issue.Labels, lb.Label) {
			return lb.Bucket
		}
	}
	return r.Bucket
}

// BucketTitle returns the title of the bucket that [Route.BucketFor] names, ""
// where it names it by its id.
func (r *Route) BucketTitle(issue *Issue) string {
	bucket := r.BucketFor(issue)
	if isObjectID(bucket) {
		return ""
	}
	return bucket
}

// Buckets lists the buckets of the route's cards, titles or ids, each once: its own, then those
// of bucket_by_label.
func (r *Route) Buckets() []string {
	all := []string{r.Bucket}
	for _, lb := range r.BucketByLabel {
		if !slices.Contains(all, lb.Bucket) {
			all = append(all, lb.Bucket)
		}
	}
	return all
}

// OwnsBucket reports whether cards of a bucket, known by its ids (which can
// differ between listings) and title, belong to the route.
func (r *Route) OwnsBucket(title string, ids ...ObjectID) bool {
	return slices.ContainsFunc(r.Buckets(), func(b string) bool { return b == title || slices.Contains(ids, ObjectID(b)) })
}

// NamesBucketByID reports whether the route names a bucket by what may be an
// id: 24 hexadecimal digits.
func (r *Route) NamesBucketByID() bool {
	return slices.ContainsFunc(r.Buckets(), isObjectID)
}

func isObjectID(s string) bool {
	return len(s) == 24 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}

// With returns the routes with another one in place of the one of its name.
func (rs Routes) With(route Route) Routes {
	list := slices.Clone(rs.list)
	for i := range list {
		if list[i].Name == route.Name {
			list[i] = route
		}
	}
	return Routes{list, rs.projects}
}

// PlanningProject is a planning project that the configuration names.
type PlanningProject struct {
	ID       ObjectID
	Name     string // the operator's
	Username string // in whose name it is written
}

// Routes is an ordered set of routes: exact ones before globs, otherwise in
// the order of the file.
type Routes struct {
	list     []Route
	projects []PlanningProject // with those that no route leads to
}

// NewRoutes orders routes as they take issues. Links of the projects are kept, with or without a
// route to them.
func NewRoutes(routes []Route, projects ...PlanningProject) Routes {
	list := slices.Clone(routes)
	slices.SortStableFunc(list, func(a, b Route) int {
		switch {
		case a.Exact() == b.Exact():
			return 0
		case a.Exact():
			return -1
		}
		return 1
	})
	return Routes{list, projects}
}

// All returns the routes in their order.
func (rs Routes) All() []*Route {
	out := make([]*Route, len(rs.list))
	for i := range rs.list {
		out[i] = &rs.list[i]
	}
	return out
}

// In returns the routes of a project, in their order.
func (rs Routes) In(project ObjectID) []*Route {
	return slices.DeleteFunc(rs.All(), func(r *Route) bool { return r.Project != project })
}

// ByName returns the route of that name, or nil.
func (rs Routes) ByName(name string) *Route {
	for i := range rs.list {
		if rs.list[i].Name == name {
			return &rs.list[i]
		}
	}
	return nil
}

// Projects lists the projects of the routes, and then those that no route leads to, each once.
func (rs Routes) Projects() []ObjectID {
	var out []ObjectID
	for i := range rs.list {
		if project := rs.list[i].Project; !slices.Contains(out, project) {
			out = append(out, project)
		}
	}
	for _, p := range rs.projects {
		if !slices.Contains(out, p.ID) {
			out = append(out, p.ID)
		}
	}
	return out
}

// Names reports whether the configuration names a project: the links of others are not worked.
func (rs Routes) Names(project ObjectID) bool {
	return slices.ContainsFunc(rs.list, func(r Route) bool { return r.Project == project }) ||
		slices.ContainsFunc(rs.projects, func(p PlanningProject) bool { return p.ID == project })
}

// ProjectNamed returns the project that an operator names, by the name in the configuration or
// by its id; "": there is none.
func (rs Routes) ProjectNamed(name string) ObjectID {
	for _, id := range rs.Projects() {
		if name == rs.ProjectName(id) || name == string(id) {
			return id
		}
	}
	return ""
}

// ProjectName is the operator's name of a project, its id where it is not configured.
func (rs Routes) ProjectName(project ObjectID) string {
	for i := range rs.list {
		if rs.list[i].Project == project {
			return rs.list[i].ProjectName
		}
	}
	for _, p := range rs.projects {
		if p.ID == project {
			return p.Name
		}
	}
	return string(project)
}

// ForRepo returns the routes that may take issues of a repository. A name beats a
// glob: where a route names the repository, globs are not asked.
func (rs Routes) ForRepo(repo string) []*Route {
	var named, matching []*Route
	for _, r := range rs.All() {
		switch {
		case r.Names(repo):
			named = append(named, r)
		case r.MatchesRepo(repo):
			matching = append(matching, r)
		}
	}
	if len(named) > 0 {
		return named
	}
	return matching
}

// ForIssue returns the first route that takes the issue, or nil and why none
// does.
func (rs Routes) ForIssue(issue *Issue, scheme LabelScheme) (*Route, string) {
	why := WhyNoRoute
	for i, r := range rs.ForRepo(issue.Repo) {
		ok, reason := r.Accepts(issue, scheme)
		if ok {
			return r, ""
		}
		if i == 0 {
			why = reason
		}
	}
	return nil, why
}

// ForBucket returns the route that makes issues of the new cards of a bucket,
// or nil.
func (rs Routes) ForBucket(project ObjectID, title string, ids ...ObjectID) *Route {
	for _, r := range rs.In(project) {
		if r.MakesIssues() && r.OwnsBucket(title, ids...) {
			return r
		}
	}
	return nil
}
