package mapping

import "time"

// ErasedWhy is what an erased link says of itself.
const ErasedWhy = "erased by an operator"

// PartedWhy is what a link says of itself that an operator parted.
const PartedWhy = "unlinked by an operator"

// Erase removes from a link every text that people wrote, and every digest of
// one, and keeps the ids: neither item enters again, and an operator can link
// the pair anew.
func (l *Link) Erase() error {
	if err := l.Advance(EventErased); err != nil {
		return err
	}
	parts, children := l.Parts, l.Children
	*l = Link{
		ID: l.ID, Project: l.Project, Route: l.Route, Nonce: l.Nonce, Origin: l.Origin, Task: l.Task, Former: l.Former, Epoch: l.Epoch,
		Issue: IssueID{ID: l.Issue.ID, NodeID: l.Issue.NodeID, Repo: l.Issue.Repo, RepoID: l.Issue.RepoID, Number: l.Issue.Number, Born: l.Issue.Born},
		Card:  CardID{ID: l.Card.ID, CID: l.Card.CID, Bucket: l.Card.Bucket, StateID: l.Card.StateID},
		State: l.State, Parted: true, Why: ErasedWhy, Created: l.Created, Synced: l.Synced,
	}
	for _, p := range parts {
		if err := p.Erase(); err != nil {
			return err
		}
		l.Parts = append(l.Parts, p)
	}
	for _, c := range children {
		l.Children = append(l.Children, Child{Kind: c.Kind, State: c.State, Origin: c.Origin, Nonce: c.Nonce, Task: c.Task})
	}
	return nil
}

// Erase removes the values that met from a ledger entry. What it was about, when,
// and who won stays.
func (c *Conflict) Erase() {
	c.GitHub, c.Planning, c.Base, c.State = "", "", nil, ConflictErased
}

// Expired reports whether nothing happened to a ledger entry since a time. An entry
// that waits for an answer, or for its answer to be carried out, never expires.
func (c *Conflict) Expired(since time.Time) bool {
	if c.State == ConflictOpen || c.State == ConflictAnswered {
		return false
	}
	return c.At.Before(since) && c.Again.Before(since) && c.Settled.Before(since)
}
