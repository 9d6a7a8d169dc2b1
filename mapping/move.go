package mapping

import "slices"

// Move says that an issue has become another one. A transfer changes an issue's database id, its
// number and its repository. It keeps its author and the time of its creation.
type Move struct {
	From int64   `json:"from"` // database id before
	To   IssueID `json:"to"`   // the new issue, as far as GitHub tells
}

// NewMove names the issue that another one has become.
func NewMove(from int64, to *Issue) *Move { return &Move{From: from, To: NameIssue(to)} }

// MoveTo makes another issue, which the pair's own one has become, the pair's. No snapshot of it
// has been taken into account yet. Writes under way go to it.
func (p *Pair) MoveTo(to IssueID) {
	was, now := IssueRef(p.Issue.ID), IssueRef(to.ID)
	follow := func(ps []Pending) []Pending {
		out := make([]Pending, len(ps))
		for i, w := range ps {
			if w.Item == was {
				w.Item = now
			}
			out[i] = w
		}
		return out
	}
	former := slices.DeleteFunc(append(slices.Clone(p.Former), p.Issue.ID), func(id int64) bool { return id == to.ID })
	p.Former = former[max(0, len(former)-maxFormer):]
	p.Issue, p.Pending, p.InFlight = to, follow(p.Pending), follow(p.InFlight)
}

// maxFormer bounds Transfer.Former.
const maxFormer = 8
