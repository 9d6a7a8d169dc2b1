package mapping

import "time"

// Importing returns the route by which an import takes an issue that no link knows, or nil and why
// it stays out. It decides as [Routes.Entering], with three exceptions. Nobody has to have touched
// the issue since its route began to run. Closed issues are taken where which says all. A route
// that only goes to GitHub takes an issue for a card that exists. Quarantine holds in an import
// too: an operator who imports a repository has not checked each stranger's issue.
func (rs Routes) Importing(issue *Issue, e Entrance, which string) (*Route, string) {
	switch {
	case issue.PullRequest:
		return nil, "it is a pull request"
	case issue.State != "open" && which != ImportAll:
		return nil, "it is not open"
	case e.Own:
		return nil, "the bridge's own account made it"
	}
	r, why := rs.ForIssue(issue, e.Scheme)
	switch {
	case r == nil:
		return nil, why
	case e.Public && !r.AllowPublic:
		return nil, WhyPublic
	case r.Quarantines(issue, e.Public) && !e.Released:
		return nil, WhyQuarantine
	}
	return r, ""
}

// Writes reports whether the route's direction lets a side be written.
func (r *Route) Writes(side Side) bool {
	return side == Planning && r.Direction != ToGitHub || side == GitHub && r.Direction != ToPlanning
}

// leader is the side that a one-way route comes from; "": it goes both ways.
func (r *Route) leader() Side {
	switch r.Direction {
	case ToPlanning:
		return GitHub
	case ToGitHub:
		return Planning
	}
	return ""
}

// JoinIssue makes the link of an issue and a card, both made by people; at is now. There is no
// base, so the policy decides differences, and the card gets the footer. The pair counts as being
// created until no other project can have a partner of the issue.
func (r *Route) JoinIssue(issue *Issue, card CardID, at time.Time) *Link {
	l := r.begin(EventWanted, GitHub, at)
	l.Issue, l.Card = NameIssue(issue), card
	l.Intent = &Intent{Side: Planning, Nonce: l.Nonce, At: at}
	return l
}
