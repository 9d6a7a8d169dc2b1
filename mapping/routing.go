package mapping

import "slices"

// A link follows the route that takes its issue now, whatever the name of its former route. Its
// card stays in its project, so that no route of another project takes the link.

// Of returns the route of a link. Where several routes of its project have the repository, and
// none is the link's own, among lists them: the issue decides. The card decides for a link without
// an issue. Only a route that makes issues has a link that waits for its issue. A link whose route
// was pointed at another project keeps the route. Both results are nil where no route has the link.
func (rs Routes) Of(l *Link) (route *Route, among []*Route) {
	own := rs.ByName(l.Route)
	if l.Issue.Number == 0 {
		waits := l.AwaitsIssue()
		if own == nil || waits && !own.MakesIssues() {
			own = rs.ForBucket(l.Project, l.Card.BucketName, l.Card.Bucket, l.Card.StateID)
		}
		if own != nil || waits || l.Issue.Repo == "" {
			return rs.at(l.Project, own), nil
		}
	}
	among = rs.candidates(l, l.Issue.Repo)
	switch {
	case slices.Contains(among, own):
		return own, nil
	case len(among) == 1:
		return among[0], nil
	case len(among) > 1:
		return nil, among
	case own != nil && !own.Excludes(l.Issue.Repo):
		return rs.at(l.Project, own), nil
	}
	return nil, nil
}

// at returns a route for a link of another project than the route's: it writes there as the
// project's user. It is nil where the configuration does not name the project. r may be nil.
func (rs Routes) at(project ObjectID, r *Route) *Route {
	if r == nil || r.Project == project {
		return r
	}
	i := slices.IndexFunc(rs.projects, func(p PlanningProject) bool { return p.ID == project })
	if i < 0 {
		return nil
	}
	there := *r
	there.Project, there.ProjectName, there.Username = project, rs.projects[i].Name, rs.projects[i].Username
	return &there
}

// Takes returns the route of the link's project that takes an issue, which is the link's own or its
// successor. The link's own route comes first, where it has the issue's repository. Then comes the
// first route whose filter accepts the issue, then the first one. nil: there is none.
func (rs Routes) Takes(l *Link, issue *Issue, scheme LabelScheme) *Route {
	among := rs.candidates(l, issue.Repo)
	if own := rs.ByName(l.Route); slices.Contains(among, own) {
		return own
	}
	i := max(slices.IndexFunc(among, func(r *Route) bool { ok, _ := r.Accepts(issue, scheme); return ok }), 0)
	if len(among) == 0 {
		return nil
	}
	return among[i]
}

// candidates lists the routes of a link's project that may take issues of a repository. The link's
// own route comes last where it leads to another project now.
func (rs Routes) candidates(l *Link, repo string) []*Route {
	var among []*Route
	var own *Route
	for _, r := range rs.ForRepo(repo) {
		if r.Project == l.Project {
			among = append(among, r)
		} else if r.Name == l.Route {
			own = rs.at(l.Project, r)
		}
	}
	if own != nil {
		among = append(among, own)
	}
	return among
}

// Excluding returns the first route that would have a repository without its own exclusion; nil:
// none excludes it.
func (rs Routes) Excluding(repo string) *Route {
	i := slices.IndexFunc(rs.list, func(r Route) bool {
		return r.Excludes(repo) && slices.ContainsFunc(r.Repositories, func(own string) bool { return globMatch(own, repo) })
	})
	if i < 0 {
		return nil
	}
	return &rs.list[i]
}
