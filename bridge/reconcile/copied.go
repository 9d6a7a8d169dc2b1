package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"planbridge/mapping"
	"planbridge/store"
)

// A person may copy a card or a task that the bridge keeps, footer and all. The
// link keeps its own item, which is the older one. The copy is a new item: it gets
// an issue of its own, as any new item of its bucket or card does, and then its
// own footer in place of the copied one.

// enterCopies lets the cards enter that were seen as copies of the link's card.
func (w *work) enterCopies() error {
	if w.pair.Card.ID == "" || w.pair.State != mapping.Linked && w.pair.State != mapping.Left {
		return nil
	}
	return eachSeen(w, "card", func(c mapping.Card, _ bool) error {
		if c.ID == w.pair.Card.ID || c.Placeholder || w.pair.Card.CID == 0 || c.CID <= w.pair.Card.CID || !w.ours(c.Summary.Value, mapping.MarkCard) {
			return nil
		}
		if err := w.adopted(); err != nil {
			return err
		}
		return w.enterCopy(&c)
	})
}

// enterCopy makes the link of a copied card where a route makes issues of new
// cards of its bucket; else the copy is reported once.
func (w *work) enterCopy(c *mapping.Card) error {
	ref := mapping.CardRef(c.ID)
	if _, err := do(w, FindLink{w.link.Project, ref}); !errors.Is(err, store.ErrNotFound) {
		return err // nil: it has its link
	}
	route := w.set.Routes.ForBucket(w.link.Project, c.BucketName, c.Bucket, c.StateID)
	if route == nil {
		if get(w, Remember{"copy " + string(c.ID), 1}) == 0 {
			w.log.Warn("a card is a copy of this one, footer and all, and no route makes issues of its bucket's cards", "copy", c.ID)
			w.note(mapping.Planning, "", "copied", "card "+string(c.ID)+" is a copy and gets no issue: no route makes one of it")
		}
		return nil
	}
	link := route.EnterCard(c, w.Now().UTC())
	link.ID, link.Nonce, link.Copied = mapping.LinkID(w.draw()), w.newNonce(link.Project), true
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	got, err := do(w, Observe{w.link.Project, []store.Observation{{
		Refs: []mapping.Ref{ref}, Create: link, Item: ref, At: c.Version, Digest: mapping.DigestCard(c), Data: data,
	}}})
	if err == nil {
		err = got[0].Err
	}
	if err != nil {
		return fmt.Errorf("let the copy %s of its card enter: %w", c.ID, err)
	}
	w.log.Info("a copy of the card is a card of its own", "copy", c.ID)
	w.note(mapping.Planning, "", "copied", "card "+string(c.ID)+" is a copy and a card of its own")
	return nil
}

// partOfTask returns the part that a task which no part knows belongs to, or which
// is to be made of it, and why; nil: it stays what it is.
func (w *work) partOfTask(t *mapping.Task) (p *mapping.Pair, why string, err error) {
	_, marks := w.set.Keys.Body(t.Summary.Value)
	copied, err := w.isCopiedTask(t, marks)
	if err != nil {
		return nil, "", err
	}
	if !copied && len(marks) > 0 {
		return w.pairOf(t, marks), "is that of its sub-issue by its marker", nil
	}
	mayMake, err := w.makesIssues()
	if err != nil || !mayMake {
		return nil, "", err
	}
	p = mapping.NewPart(mapping.Planning, w.newNonce(w.link.Project), w.Now().UTC())
	p.Card, p.Issue.Repo, p.Join, p.Copied = mapping.CardID{ID: t.ID, CID: t.CID}, w.owner.Issue.Repo, true, copied
	return p, "becomes a sub-issue", nil
}

// isCopiedTask reports whether a task carries the marker of another, older task,
// which has its sub-issue, on this card or on one that this card was copied from.
func (w *work) isCopiedTask(t *mapping.Task, marks []mapping.Marker) (bool, error) {
	for _, m := range marks {
		id, err := strconv.ParseInt(m.Partner, 10, 64)
		if m.Kind != mapping.MarkTask || err != nil || id <= 0 {
			continue
		}
		holder := w.link
		if holder.Part(mapping.IssueRef(id)) == nil && holder.Issue.ID != id {
			other, err := do(w, FindLink{w.link.Project, mapping.IssueRef(id)})
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err == nil {
				holder, err = do(w, ReadLink{store.Key{Project: w.link.Project, Link: other}})
			}
			if err != nil {
				return false, fmt.Errorf("read link of issue %d: %w", id, err)
			}
		}
		original := holder.Part(mapping.IssueRef(id))
		if original != nil && original.Card.ID != "" && original.Card.ID != t.ID && original.Card.CID < t.CID {
			return true, nil
		}
	}
	return false, nil
}
