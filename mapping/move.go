package mapping

import "slices"

// Move says that an issue has become another one: a transfer changes an
// issue's database id, its number and its repository, and keeps its author and
// the time of its creation.
type Move struct {
	From int64   `json:"from"` // database id before
	To   IssueID `json:"to"`   // what it is now, as far as it is told
}

// NewMove names what an issue has become.
func NewMove(from int64, to *Issue) *Move { return &Move{From: from, To: idOf(to)} }

// MoveTo makes another issue, which the link's own one has become, the
// link's. Nothing that was seen of it has been taken into account yet; writes
// that are on their way are on their way to it.
func (l *Link) MoveTo(to IssueID) {
	was, now := IssueRef(l.Issue.ID), IssueRef(to.ID)
	follow := func(ps []Pending) []Pending {
		out := make([]Pending, len(ps))
		for i, p := range ps {
			if p.Item == was {
				p.Item = now
			}
			out[i] = p
		}
		return out
	}
	former := slices.DeleteFunc(append(slices.Clone(l.Former), l.Issue.ID), func(id int64) bool { return id == to.ID })
	l.Former = former[max(0, len(former)-maxFormer):]
	l.Issue, l.Pending, l.Late = to, follow(l.Pending), follow(l.Late)
}

// maxFormer bounds Link.Former.
const maxFormer = 8

// Was reports whether an issue is one that the link's issue, or that of one of
// its parts, was before it was transferred.
func (l *Link) Was(issue int64) bool {
	return slices.Contains(l.Former, issue) || slices.ContainsFunc(l.Parts, func(p *Link) bool { return p.Was(issue) })
}
