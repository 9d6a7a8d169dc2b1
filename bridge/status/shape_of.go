package status

import (
	"slices"
	"strconv"

	"planbridge/mapping"
	"planbridge/store"
)

// each converts a list; its result is never nil, so that JSON has [].
func each[F, T any](list []F, convert func(*F) T) []T {
	out := make([]T, len(list))
	for i := range list {
		out[i] = convert(&list[i])
	}
	return out
}

// byAttribute converts a map; its result is never nil, so that JSON has {}.
func byAttribute[F, T any](m map[mapping.Attribute]F, convert func(F) T) map[string]T {
	out := make(map[string]T, len(m))
	for a, v := range m {
		out[string(a)] = convert(v)
	}
	return out
}

// LinkOf is a link as lists show it.
func LinkOf(l *mapping.Link) Link { return linkOf(l) }

func linkOf(l *mapping.Link) Link {
	out := Link{
		ID: string(l.ID), Project: string(l.Project), Route: l.Route, State: string(l.State), Where: where(&l.Pair),
		Origin: string(l.Origin), Issue: issueOf(&l.Issue), Why: l.Why, Created: l.Created, Synced: l.Synced,
	}
	if c := l.Card; c.ID != "" {
		out.Card = &Card{ID: string(c.ID), CID: c.CID, Bucket: c.BucketTitle(), Version: c.Version, BucketID: string(c.Bucket)}
	}
	return out
}

// where names a pair for people.
func where(p *mapping.Pair) string {
	if p.Issue.Number != 0 {
		return p.Issue.Repo + "#" + strconv.Itoa(p.Issue.Number)
	}
	return string(p.Card.ID)
}

func issueOf(i *mapping.IssueID) *Issue {
	if i == nil || i.Repo == "" {
		return nil
	}
	return &Issue{Repository: i.Repo, Number: i.Number, ID: i.ID, UpdatedAt: i.UpdatedAt}
}

func detailOf(l *mapping.Link, history []mapping.Entry, now *mapping.Preview) LinkDetail {
	out := LinkDetail{
		Link: linkOf(l), Base: byAttribute(l.Base, baseOf), Pending: each(l.Pending, pendingOf),
		Refused: refusedOf(&l.Pair), Asking: askingOf(l, &l.Pair),
		Children: []Child{}, History: each(history, entryOf), Now: nowOf(now), Folding: foldingOf(&l.Pair),
	}
	for _, p := range slices.Concat(l.Children, l.SubLinks) {
		out.Children = append(out.Children, childOf(l, p))
		out.Folding = append(out.Folding, foldingOf(p)...)
	}
	if in := l.Intent; in != nil {
		out.Creating = &Creating{Side: string(in.Side), At: in.At, Sent: in.Sent, Lookups: in.Lookups}
	}
	return out
}

func refusedOf(p *mapping.Pair) map[string]Refusal {
	return byAttribute(p.Refused, func(r mapping.Refusal) Refusal { return Refusal{string(r.Side), r.Message, r.At} })
}

// askingOf are the questions about a pair of a link. A parted pair has none.
func askingOf(l *mapping.Link, p *mapping.Pair) map[string]string {
	if l.Parted {
		p = &mapping.Pair{}
	}
	return byAttribute(p.Asking, func(id string) string { return id })
}

func nowOf(p *mapping.Preview) *Now {
	if p == nil {
		return nil
	}
	out := &Now{
		GitHub:   byAttribute(p.GitHub, func(v mapping.Versioned) string { return v.Value }),
		Planning: byAttribute(p.Planning, func(v mapping.Versioned) Versioned { return Versioned(v) }),
		Unread:   map[string]string{}, Next: each(p.Plan.Decisions, nextOf),
	}
	for side, why := range p.Unread {
		out.Unread[string(side)] = why
	}
	for _, side := range p.Gone {
		out.Gone = append(out.Gone, string(side))
	}
	out.Hidden = hiddenOf(p)
	return out
}

// hiddenOf lists the texts with hidden characters, in the order of attributes.
func hiddenOf(p *mapping.Preview) []Hidden {
	var out []Hidden
	for _, a := range mapping.AttributesWith((*mapping.AttrSpec).IsText) {
		for _, side := range []mapping.Side{mapping.GitHub, mapping.Planning} {
			view := p.GitHub
			if side == mapping.Planning {
				view = p.Planning
			}
			if h := mapping.HiddenOn(side, view[a].Value); h != (mapping.Hidden{}) {
				out = append(out, Hidden{string(a), string(side), h.String(), h.Comments, h.ZeroWidth, h.Bidirectional})
			}
		}
	}
	return out
}

func nextOf(d *mapping.Decision) Next {
	n := Next{Attribute: string(d.Attribute), Action: string(d.Action), Why: d.Why}
	if d.GitHub != nil {
		n.ToGitHub = &d.GitHub.To
	}
	if d.Planning != nil {
		n.ToPlanning = &d.Planning.To
	}
	return n
}

func baseOf(b mapping.Base) Base { return Base(b) }

func pendingOf(p *mapping.Pending) Pending {
	return Pending{
		Side: string(p.Side), Item: string(p.Item), Attribute: string(p.Attribute),
		From: p.From, To: p.To, At: p.At, Answered: p.Answered,
	}
}

// KindOf names the kind of a pair as the API does.
func KindOf(p *mapping.Pair) string {
	switch p.Kind {
	case mapping.Root:
		return "root"
	case mapping.SubIssue:
		return "sub_issue"
	}
	return string(p.Kind)
}

// parentOf names the kind of parent of a pair's part where it is not the pair's issue.
func parentOf(l *mapping.Link, p *mapping.Pair) string {
	family := func(other *mapping.Pair) bool { return other.Issue.ID == p.Parent || other.Was(p.Parent) }
	switch {
	case p.Parent == mapping.NoParentID:
		return parentNone
	case p.Parent == 0 || slices.ContainsFunc(l.Issues(), family):
		return ""
	}
	return parentAnother
}

// childOf shows a pair that hangs on a link's own one.
func childOf(l *mapping.Link, p *mapping.Pair) Child {
	return Child{
		Kind: KindOf(p), State: string(p.State), Item: p.Item, Issue: issueOf(&p.Issue), Parent: parentOf(l, p),
		Task: string(p.Card.ID), Base: byAttribute(p.Base, baseOf), Why: p.Why, Asking: askingOf(l, p), Refused: refusedOf(p),
	}
}

func entryOf(e *mapping.Entry) Entry {
	return Entry{At: e.At, Side: string(e.Side), Attribute: string(e.Attribute), What: e.What, Why: e.Why, Delivery: e.Delivery, Who: e.Who, Took: e.Took, Part: e.Part}
}

func failureOf(f *store.Failure) Failure {
	return Failure{Key: f.Key.String(), Route: f.Route, Where: f.Where, Reason: f.Reason, Attempts: f.Attempts, At: f.At}
}

func conflictOf(c *mapping.Conflict) Conflict {
	out := Conflict{
		ID: c.ID, Link: string(c.Link), Project: string(c.Project), Route: c.Route, Where: c.Where,
		Attribute: string(c.Attribute), GitHub: c.GitHub, Planning: c.Planning, Winner: string(c.Winner),
		Rule: c.Rule, State: c.State, At: c.At, Settled: c.Settled,
	}
	if c.Base != nil {
		base := baseOf(*c.Base)
		out.Base = &base
	}
	return out
}
