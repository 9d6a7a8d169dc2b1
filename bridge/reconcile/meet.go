package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// meet makes parts of what was seen for the first time: sub-issues, and tasks
// that people made on the card. Sub-issues that cannot be met yet are listed once
// more: the listing alone shows those that were there before.
func (w *work) meet() error {
	known, family := len(w.link.Parts), w.link.Family
	family.Old = slices.Clone(family.Old)
	issues, err := w.newSubIssues()
	if err != nil {
		w.link.Family = family
		return err
	}
	for i := range issues {
		w.meetIssue(&issues[i])
	}
	if err := w.meetTasks(); err != nil {
		return err
	}
	if len(w.link.Parts) == known {
		return nil
	}
	err = w.save()
	if errors.Is(err, store.ErrConflict) {
		w.link.Parts, w.link.Family = w.link.Parts[:known], family
		return later(time.Second, "a sub-issue still belongs to another link")
	}
	return err
}

// newSubIssues returns the sub-issues that no part knows: those that were
// handed over to this link, and, once, those that GitHub lists. One that has a
// card of its own keeps it.
func (w *work) newSubIssues() ([]mapping.Issue, error) {
	issues, err := w.listSubIssues()
	if err != nil {
		return nil, err
	}
	err = eachSeen(w, "issue", func(i mapping.Issue, _ bool) error {
		if i.ID == w.owner.Issue.ID {
			return nil
		}
		if at := slices.IndexFunc(issues, func(o mapping.Issue) bool { return o.ID == i.ID }); at >= 0 {
			issues[at].Imported = i.Imported
			return nil
		}
		stray, err := w.stray(&i)
		if err == nil && !stray {
			issues = append(issues, i)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(issues, func(a, b mapping.Issue) int { return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.ID, b.ID)) })
	var out []mapping.Issue
	for _, i := range issues {
		ref := mapping.IssueRef(i.ID)
		if i.ID == w.owner.Issue.ID || w.link.Part(ref) != nil || slices.Contains(w.arrived, i.ID) || w.link.Was(i.ID) {
			continue
		}
		switch id, err := do(w, FindLink{w.link.Project, ref}); {
		case errors.Is(err, store.ErrNotFound):
			out = append(out, i)
		case err != nil:
			return nil, fmt.Errorf("find %s: %w", ref, err)
		case id != w.link.ID:
			if err := w.leaveTo(id, &i); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// stray reports whether an issue came to this link by a copy of its marker and
// not by its parent.
func (w *work) stray(i *mapping.Issue) (bool, error) {
	if !w.ours(i.Body, mapping.MarkIssue) {
		return false, nil
	}
	parent, err := w.parentOf(i.Repo, i.Number)
	return parent == nil, err
}

// leaveTo leaves a sub-issue to the link that knows it: one that is only about
// to enter hands it over; one that has a card keeps that.
func (w *work) leaveTo(id mapping.LinkID, i *mapping.Issue) error {
	other, err := do(w, ReadLink{store.Key{Project: w.link.Project, Link: id}})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return later(time.Second, "%s is between two links", issueName(i.Repo, i.Number))
	case err != nil:
		return fmt.Errorf("read link of %s: %w", issueName(i.Repo, i.Number), err)
	case other.State == mapping.Entering:
		return later(time.Second, "%s is still to be handed over", issueName(i.Repo, i.Number))
	}
	w.log.Info("a sub-issue keeps its own card", "sub_issue", issueName(i.Repo, i.Number), "link", id)
	return nil
}

// listSubIssues lists the issue's sub-issues once, so that none is missed that
// was there before, or of which no event told while the link was made.
func (w *work) listSubIssues() (issues []mapping.Issue, err error) {
	if w.link.Family.Listed || w.owner.Issue.Number == 0 {
		return nil, nil
	}
	if w.issue != nil && w.issue.Childless { // one that comes later is told of, or listed itself
		w.link.Family.Listed = true
		return nil, nil
	}
	err = w.try("sub-issues", func() error {
		issues, err = do(w, ReadSubIssues{w.owner.Issue.Repo, w.owner.Issue.Number})
		if err != nil && !IsGone(err) { // an older GitHub knows no sub-issues
			return onGitHub(fmt.Errorf("list sub-issues: %w", err))
		}
		for i := range issues {
			issues[i].Parent = issueName(w.owner.Issue.Repo, w.owner.Issue.Number)
		}
		w.link.Family.Listed = true
		return nil
	})
	return issues, err
}

// meetIssue makes a part of a sub-issue. One that was closed does not enter but by
// an import, as no issue does; nor does one that the bridge made, whose part is there.
func (w *work) meetIssue(i *mapping.Issue) {
	if w.bridgeMade(i) {
		w.pairIssue(i)
		return
	}
	ignored := mapping.Route{}
	if ok, _ := ignored.Accepts(i, w.set.Scheme); !ok || i.State != "open" && !i.Imported || i.PullRequest || w.route.Direction == mapping.ToGitHub {
		return
	}
	p := mapping.NewPart(mapping.GitHub, w.newNonce(w.link.Project), w.Now().UTC())
	p.Issue = mapping.NameIssue(i)
	w.link.Parts = append(w.link.Parts, p)
	w.note(mapping.Planning, "", "sub-issue", issueName(i.Repo, i.Number)+" becomes a task")
}

// meetTasks makes parts of the tasks that people made on the card since it has
// an issue. One that came from another card, with the pair it belongs to, stays
// there.
func (w *work) meetTasks() error {
	f := &w.link.Family
	staying := f.Staying()
	for _, t := range w.tasks.inOrder() {
		if _, known := w.taskBase(t.ID); known || t.Owner != "" && t.Owner != w.pair.Card.ID || staying[t.ID] || f.Tasks != w.route.Tasks {
			continue
		}
		p, why, err := w.partOfTask(&t)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		taken, err := w.taken(p)
		if err != nil {
			return err
		}
		if !taken {
			w.link.Parts = append(w.link.Parts, p)
			w.note("", "", "task", "task "+string(t.ID)+" "+why)
		}
	}
	return nil
}

// makesIssues reports whether the link's route makes sub-issues of tasks.
func (w *work) makesIssues() (bool, error) {
	if w.route.Direction == mapping.ToPlanning || !w.route.CreateIssues || w.set.DryRun {
		return false, nil
	}
	if w.route.AllowPublic {
		return true, nil
	}
	private, err := do(w, ReadPrivate{w.owner.Issue.Repo})
	if err == nil && !private {
		w.withheld = &publicError{repo: w.owner.Issue.Repo}
	}
	return private, onGitHub(err)
}

// taken reports whether one of a new part's items belongs to another link.
func (w *work) taken(p *mapping.Pair) (bool, error) {
	for _, ref := range p.Refs() {
		switch _, err := do(w, FindLink{w.link.Project, ref}); {
		case err == nil:
			return true, nil
		case !errors.Is(err, store.ErrNotFound):
			return false, fmt.Errorf("find %s: %w", ref, err)
		}
	}
	return false, nil
}

// pairOf is the part that a task belongs to which the bridge made, where the
// record of the pair was lost: the marker tells the issue's id and the footer
// where it is. The task of a part that is being made is found by makeSubTasks.
func (w *work) pairOf(t *mapping.Task, marks []mapping.Marker) *mapping.Pair {
	for _, m := range marks {
		id, err := strconv.ParseInt(m.Partner, 10, 64)
		if m.Kind != mapping.MarkTask || err != nil || id <= 0 || w.link.Part(mapping.IssueRef(id)) != nil {
			continue
		}
		if repo, number := w.set.Keys.FooterIssue(t.Summary.Value, m); number > 0 {
			p := w.wholePart(mapping.GitHub, m.Nonce)
			p.Issue, p.Card = mapping.IssueID{ID: id, Repo: repo, Number: number}, mapping.CardID{ID: t.ID, CID: t.CID}
			w.count(CountPrevented, "lookup")
			return p
		}
	}
	return nil
}

// wholePart is a part both of whose items exist.
func (w *work) wholePart(origin mapping.Side, nonce string) *mapping.Pair {
	return mapping.FoundPart(origin, nonce, w.Now().UTC())
}

// pairIssue is pairOf for a sub-issue that the bridge made. The record that was
// lost may also have said that the issue is still to be added to its parent.
func (w *work) pairIssue(i *mapping.Issue) {
	_, marks := w.set.Keys.Body(i.Body)
	for _, m := range marks {
		if m.Kind != mapping.MarkSubIssue {
			continue
		}
		task := mapping.ObjectID(m.Partner)
		if _, known := w.taskBase(task); known {
			return // its part looks for it itself
		}
		p := w.wholePart(mapping.Planning, m.Nonce)
		p.Issue, p.Card = mapping.NameIssue(i), mapping.CardID{ID: task}
		p.Join = (i.Parent == "" || i.Parent == mapping.NoParent) && w.route.Direction != mapping.ToPlanning
		w.link.Parts = append(w.link.Parts, p)
		w.link.Family.Old = slices.DeleteFunc(w.link.Family.Old, func(id mapping.ObjectID) bool { return id == task })
		w.note(mapping.GitHub, "", "restored", issueName(i.Repo, i.Number)+" is that of task "+m.Partner+" by its marker")
		return
	}
}
