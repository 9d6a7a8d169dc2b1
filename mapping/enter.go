package mapping

import (
	"strconv"
	"time"
)

// Entrance has the inputs of the rule of entering beside the routes and the issue.
type Entrance struct {
	Scheme LabelScheme
	Own    bool // the issue's author is the bridge's own account
	Public bool // anybody can read the issue's repository
	// Released: a person with triage rights released the issue from quarantine.
	Released  bool
	FirstRuns FirstRuns
}

// FirstRuns knows when routes began to run.
type FirstRuns interface {
	// FirstRun returns when a route began to run, in whole seconds; zero where
	// that is not known (the store has not been reached yet).
	FirstRun(route string) time.Time
}

// The reasons for which an issue stays out and the caller has to do more than note it.
const (
	WhyPublic   = "its repository is public and the route does not allow that"
	WhyNotKnown = "it is not known yet when its route began to run"
	// WhyOlder names an issue that is left to an import.
	WhyOlder = "nobody touched it since its route began to run"
	// WhyClosed names an issue that is not open.
	WhyClosed = "it is not open"
	// WhyNoRoute names a repository that no route is for.
	WhyNoRoute = "no route is for its repository"
	// WhyQuarantine names an issue that waits for a person; see [Route.Quarantines].
	WhyQuarantine = "it waits in quarantine: its author is no member, collaborator or contributor; a person with triage rights lets it in by a label or an assignee"
)

// Entering returns the route by which an issue that no link knows enters, or
// nil and why it stays out (docs/mapping.md, "What enters"). A nil route with
// [WhyNotKnown] is no decision: ask again later. In this order:
//
//	it is a pull request, or not open         out
//	the bridge's own account made it          out: its card exists already
//	no route takes it                         out
//	the first route that does is to_github    out: its cards come from planning
//	public, and the route has no allow_public out: planning text would be published
//	last touched before the route's first run out until import
//	a stranger's, public, and not released    out until a person with triage rights lets it in
//	else                                      it enters by that route
//
// GitHub's times have whole seconds, so an issue that was touched in the very
// second of the first run enters.
func (rs Routes) Entering(issue *Issue, e Entrance) (*Route, string) {
	switch {
	case issue.PullRequest:
		return nil, "it is a pull request"
	case issue.State != "open":
		return nil, WhyClosed
	case e.Own:
		return nil, "the bridge's own account made it"
	}
	r, why := rs.ForIssue(issue, e.Scheme)
	if r == nil {
		return nil, why
	}
	first := e.FirstRuns.FirstRun(r.Name)
	switch {
	case r.Direction == ToGitHub:
		return nil, "its route only goes to GitHub"
	case e.Public && !r.AllowPublic:
		return nil, WhyPublic
	case first.IsZero():
		return nil, WhyNotKnown
	case issue.UpdatedAt.Before(first):
		return nil, WhyOlder
	case r.Quarantines(issue, e.Public) && !e.Released:
		return nil, WhyQuarantine
	}
	return r, ""
}

// Lasted reports whether an issue that an event showed open enters although it may be closed by
// now. By GitHub's times it is still open, or was open for longer than delay. An issue that was
// closed sooner was a mistake, and its card could not be deleted. Without a closed_at the last
// update stands for it.
func (i *Issue) Lasted(delay time.Duration) bool {
	closed := i.ClosedAt
	if closed.IsZero() {
		closed = i.UpdatedAt
	}
	return i.State == "open" || closed.Sub(i.CreatedAt) > delay
}

// MakesIssues reports whether new cards of the route's buckets become issues. That needs one
// repository to make them in.
func (r *Route) MakesIssues() bool {
	return r.CreateIssues && r.Direction != ToPlanning && r.NewCardsIn != ""
}

// EnterIssue makes the link of an issue that enters by the route. Nothing is
// created on the other side yet; at is now.
func (r *Route) EnterIssue(issue *Issue, at time.Time) *Link {
	l := r.begin(EventSeen, GitHub, at)
	l.Issue = NameIssue(issue)
	return l
}

// EnterCard makes the link of a card that enters by the route.
func (r *Route) EnterCard(card *Card, at time.Time) *Link {
	l := r.begin(EventSeen, Planning, at)
	l.Card = NameCard(card)
	return l
}

func (r *Route) begin(e PairEvent, origin Side, at time.Time) *Link {
	return &Link{
		ID: LinkID(NewID()), Project: r.Project, Route: r.Name,
		Pair: Pair{Nonce: NewNonceIn(r.Project), State: born(e), Origin: origin, Dates: Dates{Created: at}},
	}
}

// RebuildFromIssue makes a link again for a store that has lost it, from the verified marker of an
// issue of ours. The marker carries the card that is the issue's partner. There is no base: the
// policy decides differences.
func (r *Route) RebuildFromIssue(issue *Issue, m Marker, at time.Time) *Link {
	l := r.rebuild(Planning, m, at)
	l.Issue, l.Card = NameIssue(issue), CardID{ID: ObjectID(m.Partner)}
	return l
}

// RebuildFromCard is [Route.RebuildFromIssue] for the marker of a card; repo
// and number are those of the issue that the card's footer names. It returns
// nil where the marker's partner is no issue id.
func (r *Route) RebuildFromCard(card *Card, m Marker, repo string, number int, at time.Time) *Link {
	id, err := strconv.ParseInt(m.Partner, 10, 64)
	if err != nil || id <= 0 {
		return nil
	}
	l := r.rebuild(GitHub, m, at)
	l.Issue = IssueID{ID: id, Repo: repo, Number: number}
	l.Card = NameCard(card)
	return l
}

func (r *Route) rebuild(origin Side, m Marker, at time.Time) *Link {
	return &Link{
		ID: m.Link, Project: r.Project, Route: r.Name,
		Pair: Pair{Nonce: m.Nonce, State: born(EventFound), Origin: origin, Dates: Dates{Created: at}},
	}
}

// NameCard returns the id of a card without a known snapshot.
func NameCard(card *Card) CardID {
	return CardID{ID: card.ID, CID: card.CID, Bucket: card.Bucket, BucketName: card.BucketName, StateID: card.StateID}
}

// NameIssue returns the id of an issue without a known snapshot.
func NameIssue(issue *Issue) IssueID {
	return IssueID{
		ID: issue.ID, NodeID: issue.NodeID, Repo: issue.Repo, RepoID: issue.RepoID,
		Number: issue.Number, Author: issue.Author, Born: issue.CreatedAt,
	}
}

// NameTask is [NameCard] for a task.
func NameTask(t *Task) CardID { return CardID{ID: t.ID, CID: t.CID} }

// Rebuilding returns the routes by which a lost link of a repository's issue is made again in a
// project. Where no route leads to the project any more, the routes of the repository replace the
// former ones. The pair stays in its project until an operator moves it.
func (rs Routes) Rebuilding(repo string, project ObjectID) []*Route {
	all, left := rs.ForRepo(repo), len(rs.In(project)) == 0
	var its []*Route
	for _, r := range all {
		if left {
			stays := *r
			stays.Project = project
			r = &stays
		}
		if r.Project == project {
			its = append(its, r)
		}
	}
	return its
}
