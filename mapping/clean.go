package mapping

// Cleaned is the [Entry].What of something of the bridge's that was taken off an item.
const Cleaned = "clean"

// CleanStep is one thing of the bridge's that is taken off an item when a pair is taken
// apart.
type CleanStep struct {
	Where string // the pair: acme/web#12, or the item's id
	Side  Side
	What  string // a sentence
	// Unread: nothing is done, as the item cannot be looked at.
	Unread bool
}

// Lend returns a route for the last work on links of a project that no route takes: it goes
// both ways, takes no issue, and makes nothing. It writes in the name of a route that leads
// to the project, or of the project; nil: it is not configured.
func (rs Routes) Lend(project ObjectID) *Route {
	r := rs.at(project, &Route{})
	if there := rs.In(project); len(there) > 0 {
		r = there[0]
	}
	if r == nil {
		return nil
	}
	return &Route{
		Name: "taken apart", Project: project, ProjectName: r.ProjectName, Username: r.Username, Images: r.Images,
		Direction: Both, Tasks: TasksNone,
	}
}
