package mapping

// Importing returns the route by which an import takes an issue that no link
// knows, or nil and why it stays out: as [Routes.Entering], but that nobody has
// to have touched the issue since its route began to run, that closed ones are
// taken where all are, and that an issue of a route that only goes to GitHub is
// taken, for a card that is there already.
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
	}
	return r, ""
}

// Writes reports whether the route's direction lets a side be written.
func (r *Route) Writes(side Side) bool {
	return side == Planning && r.Direction != ToGitHub || side == GitHub && r.Direction != ToPlanning
}

// Join makes a link that was made for an issue the link of that issue and a
// card, both made by people. There is no base: what differs is decided by
// policy; and the card gets the footer. Until no other project can have a partner
// of the issue, its card is as good as not made.
func (r *Route) Join(l *Link, card CardID) {
	l.Project, l.Route, l.State, l.Origin, l.Card = r.Project, r.Name, Creating, GitHub, card
	l.Intent = &Intent{Side: Planning, Nonce: l.Nonce, At: l.Created}
}

// Joined reports whether a link that is being created has both its items, made by
// people.
func (l *Link) Joined() bool {
	return l.State == Creating && l.Intent != nil && l.Intent.Side == Planning && l.Card.ID != ""
}
