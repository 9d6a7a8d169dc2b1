package mapping

import "time"

// ErasedWhy is the reason of an erased link.
const ErasedWhy = "erased by an operator"

// PartedWhy is the reason of a link that an operator unlinked.
const PartedWhy = "unlinked by an operator"

// Erase removes from a link every text that people wrote, and every digest of one. It keeps the
// ids, so that neither item enters again and an operator can link the pair anew. Where it returns
// an error it has changed nothing.
func (l *Link) Erase() error {
	root := l.Pair
	if err := root.Advance(EventErased); err != nil {
		return err
	}
	erased := Link{ID: l.ID, Project: l.Project, Route: l.Route, Pair: root.erased(), Parted: true, Epoch: l.Epoch}
	for _, p := range l.SubLinks {
		part := *p
		if err := part.Advance(EventErased); err != nil {
			return err
		}
		kept := part.erased()
		erased.SubLinks = append(erased.SubLinks, &kept)
	}
	for _, c := range l.Children {
		kept := c.erased()
		erased.Children = append(erased.Children, &kept)
	}
	*l = erased
	return nil
}

// erased is the part of a pair that an erasure keeps.
func (p *Pair) erased() Pair {
	return Pair{
		Kind: p.Kind, State: p.State, Nonce: p.Nonce, Origin: p.Origin,
		Issue:    IssueID{ID: p.Issue.ID, NodeID: p.Issue.NodeID, Repo: p.Issue.Repo, RepoID: p.Issue.RepoID, Number: p.Issue.Number, Born: p.Issue.Born},
		Card:     CardID{ID: p.Card.ID, CID: p.Card.CID, Bucket: p.Card.Bucket, StateID: p.Card.StateID},
		Transfer: Transfer{Former: p.Former}, Rest: Rest{Why: ErasedWhy}, Dates: p.Dates,
	}
}

// Erase removes the conflicting values from a ledger entry. Its subject, its time and its
// winner stay.
func (c *Conflict) Erase() {
	c.GitHub, c.Planning, c.Base, c.State = "", "", nil, ConflictErased
}

// Expired reports whether a ledger entry has not changed since a time. An entry that waits for
// an answer, or for its answer to be carried out, never expires.
func (c *Conflict) Expired(since time.Time) bool {
	if c.State == ConflictOpen || c.State == ConflictAnswered {
		return false
	}
	return c.At.Before(since) && c.Again.Before(since) && c.Settled.Before(since)
}
