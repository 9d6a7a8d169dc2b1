package mapping

import "slices"

// A link goes by the route that takes its issue now, whatever the name of the route was by
// which it came. Its card stays in its project, so that no route of another project has it.

// Of returns the route by which a link goes. Where several of its project are for the
// repository and the link has none of them, among lists them: the issue tells which. A link
// whose route was pointed elsewhere keeps it. Both are nil where no route has the link.
func (rs Routes) Of(l *Link) (route *Route, among []*Route) {
	own := rs.ByName(l.Route)
	if l.Issue.Repo == "" {
		if own == nil {
			own = rs.ForBucket(l.Project, l.Card.BucketName, l.Card.Bucket, l.Card.StateID)
		}
		return own, nil
	}
	among = rs.inProject(l.Project, l.Issue.Repo)
	switch {
	case slices.Contains(among, own):
		return own, nil
	case len(among) == 1:
		return among[0], nil
	case len(among) > 1:
		return nil, among
	case own != nil && !own.Excludes(l.Issue.Repo):
		return own, nil
	}
	return nil, nil
}

// Takes returns the route of the link's project that takes an issue in, be it the
// link's own or one that it has become: the route that the link has, where that is for the
// issue's repository, else the first whose filter it passes, else the first; nil where
// there is none.
func (rs Routes) Takes(l *Link, issue *Issue, scheme LabelScheme) *Route {
	among := rs.inProject(l.Project, issue.Repo)
	if own := rs.ByName(l.Route); slices.Contains(among, own) {
		return own
	}
	i := slices.IndexFunc(among, func(r *Route) bool { ok, _ := r.Accepts(issue, scheme); return ok })
	if i < 0 {
		i = 0
	}
	if len(among) == 0 {
		return nil
	}
	return among[i]
}

// inProject lists the routes of a project that may take issues of a repository.
func (rs Routes) inProject(project ObjectID, repo string) []*Route {
	return slices.DeleteFunc(rs.ForRepo(repo), func(r *Route) bool { return r.Project != project })
}
