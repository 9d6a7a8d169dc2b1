package mapping

// Cleaned is the [Entry].What of something of the bridge's that was taken off an item.
const Cleaned = "clean"

// CleanStep is one thing of the bridge's that is taken off an item when a pair is taken
// apart.
type CleanStep struct {
	Where string // the pair: acme/web#12, or the item's id
	Side  Side
	What  string // a sentence
}

// Lend returns a route of a project, for the last work on links that no route takes; nil:
// none leads there.
func (rs Routes) Lend(project ObjectID) *Route {
	for _, r := range rs.All() {
		if r.Project == project {
			return r
		}
	}
	return nil
}
