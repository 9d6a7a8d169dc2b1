package mapping

// Cleaned is the [Entry].What of a mark of the bridge that was removed from an item.
const Cleaned = "clean"

// CleanStep is one mark of the bridge that is removed from an item when a pair is taken apart.
type CleanStep struct {
	Where string // the pair: acme/web#12, or the item's id
	Side  Side
	What  string // a sentence
	// Unread: nothing is done, because the item cannot be read.
	Unread bool
}

// Lend returns a route for the last work on links of a project without a route. It goes both ways,
// takes no issue, and creates nothing. It writes as a user of the project; nil: the project is not
// configured.
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
