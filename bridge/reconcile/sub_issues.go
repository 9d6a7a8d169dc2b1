package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// discoverSubIssues makes parts of new sub-issues, and of tasks that people made on the card. Where
// a sub-issue cannot be taken yet, the sub-issues are listed once more, as only the listing has
// older ones.
func (w subIssues) discoverSubIssues() error {
	known, family := len(w.link.SubLinks), w.link.Family
	family.Old = slices.Clone(family.Old)
	issues, err := w.newSubIssues()
	if err == nil && !w.tasks.listed && slices.ContainsFunc(issues, comesClosed) {
		err = cardTasks(w).tryTasks()
	}
	if err != nil {
		w.link.Family = family
		return err
	}
	for i := range issues {
		w.addIssue(&issues[i])
	}
	if err := w.addTasks(); err != nil {
		return err
	}
	if len(w.link.SubLinks) == known {
		return nil
	}
	err = saver(w).save()
	if errors.Is(err, store.ErrConflict) {
		w.link.SubLinks, w.link.Family = w.link.SubLinks[:known], family
		return later(time.Second, "a sub-issue still belongs to another link")
	}
	return err
}

// newSubIssues returns the sub-issues that are no part yet: those that were handed to this
// link, and, once, those that GitHub lists. One that is about to enter is handed over by its
// own link. One with a card of its own keeps it.
func (w subIssues) newSubIssues() ([]mapping.Issue, error) {
	issues, err := w.listSubIssues()
	if err != nil {
		return nil, err
	}
	for _, i := range allSeen[mapping.Issue](w.claimState) {
		if i.ID == w.owner.Issue.ID {
			continue
		}
		if at := slices.IndexFunc(issues, func(o mapping.Issue) bool { return o.ID == i.ID }); at >= 0 {
			issues[at].Imported = i.Imported
			continue
		}
		copied, err := w.isMarkerCopy(&i)
		if err != nil {
			return nil, err
		}
		if !copied {
			issues = append(issues, i)
		}
	}
	slices.SortFunc(issues, func(a, b mapping.Issue) int { return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.ID, b.ID)) })
	var out []mapping.Issue
	for _, i := range issues {
		ref := mapping.IssueRef(i.ID)
		if i.ID == w.owner.Issue.ID || w.link.Part(ref) != nil || slices.Contains(w.arrived, i.ID) || w.link.Was(i.ID) {
			continue
		}
		held, err := exclusivity(w).find(FindLink{w.link.Project, ref, true})
		switch {
		case err != nil:
			return nil, err
		case held == store.Key{}:
			out = append(out, i)
			continue
		case held.Project != w.link.Project: // its route was pointed elsewhere, or its project is not named any more
			continue
		}
		switch other, err := exclusivity(w).recordOf(held); {
		case err != nil:
			return nil, err
		case other == nil:
			return nil, later(time.Second, "%s is between two links", issueName(i.Repo, i.Number))
		case other != w.link && other.State == mapping.Entering:
			return nil, later(time.Second, "%s is still to be handed over", issueName(i.Repo, i.Number))
		case other != w.link:
			w.log.Info("a sub-issue keeps its own card", "sub_issue", issueName(i.Repo, i.Number), "link", held.Link)
		}
	}
	return out, nil
}

// isMarkerCopy reports whether an issue came to this link because of a copied marker, and not
// by its parent.
func (w subIssues) isMarkerCopy(i *mapping.Issue) (bool, error) {
	if !signer(w).hasMarker(i.Body, mapping.MarkIssue) {
		return false, nil
	}
	parent, err := parents(w).parentOf(i.Repo, i.Number)
	return parent == nil, err
}

// listSubIssues lists the issue's sub-issues once, so that none is missed that existed before,
// or whose event came while the link was made.
func (w subIssues) listSubIssues() (issues []mapping.Issue, err error) {
	if w.link.Family.Listed || w.owner.Issue.Number == 0 {
		return nil, nil
	}
	if w.issue != nil && w.issue.Childless { // a later sub-issue has an event, or is listed itself
		w.link.Family.Listed = true
		return nil, nil
	}
	err = projector(w).attempt("sub-issues", func() error {
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

// comesClosed reports whether an issue is closed and no import takes it. It enters only with a task
// that it had before the store was lost.
func comesClosed(i mapping.Issue) bool { return i.State != "open" && !i.Imported }

// addIssue makes a part of a sub-issue. A closed one enters only by an import, as any issue
// does. For one that the bridge made, the part exists or is rebuilt.
func (w subIssues) addIssue(i *mapping.Issue) {
	if entrant(w).bridgeMade(i) {
		w.relinkIssue(i)
		return
	}
	ignored := mapping.Route{}
	if ok, _ := ignored.Accepts(i, w.set.Scheme); !ok || comesClosed(*i) || i.PullRequest || w.route.Direction == mapping.ToGitHub {
		return
	}
	p := mapping.NewPart(mapping.GitHub, w.newNonce(w.link.Project), w.Now().UTC())
	p.Issue = mapping.NameIssue(i)
	w.link.SubLinks = append(w.link.SubLinks, p)
	w.note(mapping.Planning, "", "sub-issue", issueName(i.Repo, i.Number)+" becomes a task")
}

// addTasks makes parts of the tasks that people made on the card since it has an issue. A task
// that came from another card with its pair stays with that.
func (w subIssues) addTasks() error {
	f := &w.link.Family
	staying := f.Staying()
	for _, t := range w.tasks.inOrder() {
		if _, known := cardTasks(w).taskBase(t.ID); known || t.Owner != "" && t.Owner != w.pair.Card.ID || staying[t.ID] || f.Tasks != w.route.Tasks {
			continue
		}
		p, why, err := w.partOfTask(&t)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		taken, err := w.belongsElsewhere(p)
		if err != nil {
			return err
		}
		if !taken {
			w.link.SubLinks = append(w.link.SubLinks, p)
			w.note("", "", "task", "task "+string(t.ID)+" "+why)
		}
	}
	return nil
}

// partOfTask returns the part that an unknown task belongs to, or that is to be made of it, and
// why. It returns nil for a task that stays a plain task.
func (w subIssues) partOfTask(t *mapping.Task) (p *mapping.Pair, why string, err error) {
	_, marks := w.set.Keys.Body(t.Summary.Value)
	copied, err := w.isCopiedTask(t, marks)
	if err != nil {
		return nil, "", err
	}
	if !copied && len(marks) > 0 {
		return w.relinkTask(t, marks), "is that of its sub-issue by its marker", nil
	}
	mayMake, err := w.makesIssues()
	if err != nil || !mayMake {
		return nil, "", err
	}
	p = mapping.NewPart(mapping.Planning, w.newNonce(w.link.Project), w.Now().UTC())
	p.Card, p.Join, p.Copied = mapping.NameTask(t), true, copied
	p.Issue.Repo, p.Issue.RepoID = w.owner.Issue.Repo, w.owner.Issue.RepoID
	return p, "becomes a sub-issue", nil
}

// isCopiedTask reports whether a task has the marker of another, older task with a sub-issue. That
// task is on this card or on the card that this one was copied from.
func (w subIssues) isCopiedTask(t *mapping.Task, marks []mapping.Marker) (bool, error) {
	for _, m := range marks {
		id, err := strconv.ParseInt(m.Partner, 10, 64)
		if m.Kind != mapping.MarkTask || err != nil || id <= 0 {
			continue
		}
		holder := w.link
		if holder.Part(mapping.IssueRef(id)) == nil && holder.Issue.ID != id {
			other, link, err := exclusivity(w).linkOf(w.link.Project, mapping.IssueRef(id))
			switch {
			case err != nil:
				return false, err
			case other == "":
				continue
			case link == nil:
				return false, later(lookupGap, "issue %d is between two links", id)
			}
			holder = link
		}
		original := holder.Part(mapping.IssueRef(id))
		if original != nil && original.Card.ID != "" && original.Card.ID != t.ID && original.Card.CID < t.CID {
			return true, nil
		}
	}
	return false, nil
}

// belongsElsewhere reports whether another link has one of a new part's items.
func (w subIssues) belongsElsewhere(p *mapping.Pair) (bool, error) {
	for _, ref := range p.Refs() {
		if id, err := exclusivity(w).findLink(w.link.Project, ref); id != "" || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// makesIssues reports whether the link's route makes sub-issues of tasks.
func (w subIssues) makesIssues() (bool, error) {
	if w.route.Direction == mapping.ToPlanning || !w.route.CreateIssues || w.set.DryRun {
		return false, nil
	}
	may, err := visibility(w).mayShow(w.route, w.owner.Issue.Repo)
	if err == nil && !may {
		w.withheld = &publicError{repo: w.owner.Issue.Repo}
	}
	return may, err
}

// relinkIssue is relinkTask for a sub-issue that the bridge made. The lost record may also
// have said that the issue is still to be added to its parent.
func (w subIssues) relinkIssue(i *mapping.Issue) {
	marks := signer(w).marks(i.Body, mapping.MarkSubIssue)
	if len(marks) == 0 {
		return
	}
	task := mapping.ObjectID(marks[0].Partner)
	if _, known := cardTasks(w).taskBase(task); known {
		return // its part looks for it itself
	}
	p := mapping.FoundPart(mapping.Planning, marks[0].Nonce, w.Now().UTC())
	p.Issue, p.Card = mapping.NameIssue(i), mapping.CardID{ID: task}
	p.Join = (i.Parent == "" || i.Parent == mapping.NoParent) && w.route.Direction != mapping.ToPlanning
	w.link.SubLinks = append(w.link.SubLinks, p)
	w.link.Family.Old = slices.DeleteFunc(w.link.Family.Old, func(id mapping.ObjectID) bool { return id == task })
	w.note(mapping.GitHub, "", "restored", issueName(i.Repo, i.Number)+" is that of task "+marks[0].Partner+" by its marker")
}

// relinkTask is the part of a task that the bridge made and whose record was lost. The marker
// has the issue's id, and the footer its address. makeSubTasks finds the task of a part that
// is being made.
func (w subIssues) relinkTask(t *mapping.Task, marks []mapping.Marker) *mapping.Pair {
	for _, m := range marks {
		id, err := strconv.ParseInt(m.Partner, 10, 64)
		if m.Kind != mapping.MarkTask || err != nil || id <= 0 || w.link.Part(mapping.IssueRef(id)) != nil {
			continue
		}
		if repo, number := w.set.Keys.FooterIssue(t.Summary.Value, m); number > 0 {
			p := mapping.FoundPart(mapping.GitHub, m.Nonce, w.Now().UTC())
			p.Issue, p.Card = mapping.IssueID{ID: id, Repo: repo, Number: number}, mapping.NameTask(t)
			w.count(CountPrevented, "lookup")
			return p
		}
	}
	return nil
}

// takeParents records which issues of the family changed their parent. A pair is for life: it
// stays whatever parent the issue has, and an issue with a card of its own keeps it.
func (w subIssues) takeParents() error {
	for _, e := range w.events {
		if e.Parent == nil {
			continue
		}
		l, keeps := w.link.Part(e.Item), "its task"
		if e.Item == mapping.IssueRef(w.owner.Issue.ID) {
			l, keeps = w.pair, "its card"
		}
		if l == nil || l.Parent == e.Parent.ID {
			continue
		}
		first := l.Parent == 0 && l.IsTask()
		l.Parent = e.Parent.ID
		switch {
		case e.Parent.ID == mapping.NoParentID:
			w.note("", "", "parent", where(l)+" is no sub-issue any more and keeps "+keeps)
		case !first || !l.IsTask():
			w.note("", "", "parent", strings.Join([]string{where(l), "is a sub-issue of", e.Parent.Name, "now and keeps", keeps}, " "))
		}
	}
	return nil
}

// joinParent makes the issue that the bridge made for a task a sub-issue of the root's issue.
// It is repeated until GitHub accepts or refuses, as adding one twice does no harm. A root's
// sub-issues are added one by one, under its lease.
func (w subIssues) joinParent() error {
	if !w.pair.Join || w.pair.State != mapping.Linked || w.root.pair.State != mapping.Linked || w.set.DryRun {
		return nil
	}
	return projector(w).attempt("sub-issues", func() error {
		root := w.root.owner.Issue
		if err := saver(w).writing(); err != nil {
			return err
		}
		err := done(w, AddSubIssue{root.Repo, root.Number, w.owner.Issue.ID})
		if IsGone(err) { // the parent, or only what is asked of it?
			if gone := (reader{w.root}).readIssue(); gone != nil && !errors.Is(gone, mapping.ErrMoved) {
				return gone
			}
		}
		parent, words, refused := issueName(root.Repo, root.Number), "", (*mapping.Rejection)(nil)
		if errors.As(err, &refused) {
			words = strings.ToLower(refused.Message)
		}
		switch {
		case err == nil:
			w.noteJoined("it is a sub-issue of " + parent)
			w.pair.Parent = root.ID
		case refused == nil:
			return onGitHub(fmt.Errorf("add sub-issue to %s: %w", parent, err))
		case strings.Contains(words, "priority"):
			return later(time.Second, "another sub-issue was added at the same moment")
		case strings.Contains(words, "duplicate"):
			w.noteJoined("it is a sub-issue of " + parent + " already")
		default: // too many, too deep, or another parent: it stays on its own, with its task
			w.noteJoined("it does not become a sub-issue of " + parent + ": " + refused.Error())
		}
		return nil
	})
}

// noteJoined records GitHub's final answer about the parent of the sub-issue.
func (w subIssues) noteJoined(how string) {
	w.pair.Join = false
	w.note(mapping.GitHub, "", "join", how)
}
