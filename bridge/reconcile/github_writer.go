package reconcile

import (
	"errors"
	"fmt"
	"slices"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// finishSwap removes the old estimate label of a swap that ended after the new one was added.
// Only the old base tells which of two labels is the new one. Where a person added another one
// meanwhile, ours is removed, too, as in an uninterrupted swap.
func (w githubWriter) finishSwap() error {
	for _, p := range w.pair.Pending {
		if p.Attribute.Spec().Carrier != mapping.CarrierLabels || p.Side != mapping.GitHub || p.Answered || w.issue == nil {
			continue
		}
		was, is := w.set.Scheme.EstimateLabel(p.From), w.set.Scheme.EstimateLabel(p.To)
		if was == is || !containsFold(w.issue.Labels, is) {
			continue
		}
		var off []string
		if w.swappedMeanwhile([]string{was, is}) {
			off = append(off, is)
		}
		if containsFold(w.issue.Labels, was) {
			off = append(off, was)
		}
		if err := w.swapLabels(nil, off); err != nil {
			return err
		}
	}
	return nil
}

// edit sends one PATCH, with the issue's milestone where that is due; nil: it is not. Where
// GitHub refuses it, the PATCH is sent without the milestone.
func (w githubWriter) edit(edit EditIssue, milestone *int) (mapping.Issue, error) {
	if milestone == nil {
		return do(w, edit)
	}
	with := edit
	with.Edit.Milestone = milestone
	issue, err := do(w, with)
	if errors.Is(err, mapping.ErrRejected) {
		return do(w, edit)
	}
	if err == nil && issue.Milestone == *milestone {
		w.link.Shown.Milestone = *milestone
		projector(w).noteShown("milestone", milestoneName(*milestone))
	}
	return issue, err
}

// addLabels adds labels to the issue, and takes in the labels of the answer. Each added label
// has an event of its own.
func (w githubWriter) addLabels(issue *mapping.Issue, add []string, s Sharing) error {
	now, err := do(w, AddLabels{issue.Repo, issue.Number, add, s})
	if err != nil {
		return onGitHub(fmt.Errorf("add labels: %w", err))
	}
	for i := range len(add) - 1 {
		between := *issue
		between.Labels = slices.Concat(issue.Labels, add[:i+1])
		freshness(w).stepped(&between)
	}
	issue.Labels = now
	freshness(w).stepped(issue)
	return nil
}

// removeLabel removes a label from the issue, and takes in the labels of the answer.
func (w githubWriter) removeLabel(issue *mapping.Issue, label string, s Sharing) (err error) {
	if issue.Labels, err = do(w, RemoveLabel{issue.Repo, issue.Number, label, s}); err != nil {
		return onGitHub(fmt.Errorf("remove label %s: %w", label, err))
	}
	freshness(w).stepped(issue)
	return nil
}

// write carries out the plan's writes to GitHub: single labels, and one PATCH. The set of
// labels is never replaced, as other labels belong to people. Labels come first: on a closed
// issue nobody could see that the in-progress label changed before the issue is opened.
func (w githubWriter) write(plan mapping.Plan) error {
	var patch []mapping.Decision
	var barred []mapping.Decision // decisions whose labels we may not set
	var why error
	for _, d := range plan.Decisions {
		if d.GitHub == nil {
			continue
		}
		spec := d.Attribute.Spec()
		byLabel := spec.Carrier == mapping.CarrierLabels || spec.Carrier == mapping.CarrierState && !w.opensOrCloses(d)
		if spec.Relabel != nil {
			if !mapping.Same(d.Attribute, w.g[d.Attribute].Value, d.GitHub.From) {
				continue // a label's answer shows another label by now: decide anew
			}
			switch ok, err := w.labelled(d); {
			case errors.Is(err, mapping.ErrForbidden) && byLabel:
				barred, why = append(barred, d), err
			case err != nil:
				return err
			case ok && byLabel:
				w.wroteGitHub(d, nil)
			}
		}
		if !byLabel {
			patch = append(patch, d)
		}
	}
	if len(patch) == 0 {
		return why
	}
	if err := w.patch(patch); err != nil {
		return err
	}
	for _, d := range barred { // the issue can be written, its labels cannot
		w.refuseLabel(d.Attribute, d.GitHub.To)
	}
	return nil
}

// refuseLabel blocks a value that only a label can carry.
func (w githubWriter) refuseLabel(a mapping.Attribute, value string) {
	saver(w).refuseValue(mapping.GitHub, a, value, &mapping.Rejection{Message: "GitHub does not take the label: the token has no right to set labels"})
}

// wroteGitHub records that a decision's write to GitHub took effect, and its answer where that
// is the issue.
func (w githubWriter) wroteGitHub(d mapping.Decision, answer *mapping.Issue) {
	signer(w).noteMarkerRestored(d)
	pacer(w).noteWrite(mapping.GitHub, d.Attribute)
	journal.MadeAgain(&w.pair.Journal, d.Attribute)
	freshness(w).wrote(d.Attribute, d.GitHub.From, w.Now(), answer)
	w.owner.Unfinished = true
	w.pair.Agree(d)
	if d.Attribute.Spec().Carrier == mapping.CarrierBody {
		lister(w).wroteItems()
	}
	w.count(CountWrites, w.link.Route, string(mapping.GitHub), string(d.Attribute))
	w.noteWrite(mapping.GitHub, d)
	saver(w).observeLag(mapping.GitHub)
}

func (w githubWriter) opensOrCloses(d mapping.Decision) bool {
	return (d.GitHub.To == mapping.StateDone) != (w.issue.State == "closed")
}

func (w githubWriter) fill(edit *IssueEdit, d mapping.Decision) {
	switch d.Attribute.Spec().Carrier {
	case mapping.CarrierTitle:
		edit.Title = &d.GitHub.To
	case mapping.CarrierBody:
		body := d.GitHub.To
		if d.Action != mapping.Unmark {
			body = signer(w).issueText(body)
		}
		edit.Body = &body
	case mapping.CarrierState:
		state, reason := "open", "reopened"
		if d.GitHub.To == mapping.StateDone {
			state, reason = "closed", "completed"
		}
		edit.State, edit.StateReason = &state, &reason
	}
}

// patch sends one PATCH between its pending records. They stay, as answered, until the echo
// shows what the PATCH replaced.
func (w githubWriter) patch(ds []mapping.Decision) error {
	edit := EditIssue{Repo: w.owner.Issue.Repo, Number: w.owner.Issue.Number, Bare: true}
	for _, d := range ds {
		w.fill(&edit.Edit, d)
		edit.Bare = edit.Bare && d.Action == mapping.Unmark
	}
	item := mapping.IssueRef(w.owner.Issue.ID)
	saver(w).pend(mapping.GitHub, item, ds)
	milestone := milestoneProjector(w).milestoneAlong()
	if err := saver(w).writing(); err != nil {
		saver(w).unpend(mapping.GitHub, item)
		return err
	}
	issue, err := w.edit(edit, milestone)
	if err != nil {
		_, err = saver(w).writeFailed(mapping.GitHub, item, ds, err, func(d mapping.Decision) (bool, error) {
			return false, w.patch([]mapping.Decision{d})
		})
		return err
	}
	journal.Answer(&w.pair.Journal, item, ds)
	for _, d := range ds {
		w.wroteGitHub(d, &issue)
	}
	reader(w).setIssue(&issue)
	reader(w).takeAsKnown(&issue)
	freshness(w).stepped(&issue)
	return nil
}

// labelled is relabel with a pending record.
func (w githubWriter) labelled(d mapping.Decision) (bool, error) {
	item := mapping.IssueRef(w.owner.Issue.ID)
	saver(w).pend(mapping.GitHub, item, []mapping.Decision{d})
	ok, err := w.relabel(d)
	if err == nil || errors.Is(err, mapping.ErrForbidden) {
		journal.Close(&w.pair.Journal, mapping.GitHub, item, d.Attribute)
	}
	return ok, err
}

// relabel writes an estimate or a state that planning changed into the labels. It returns
// false where GitHub silently drops the label, and where a person added another one meanwhile.
func (w githubWriter) relabel(d mapping.Decision) (bool, error) {
	add, remove := d.Attribute.Spec().Relabel(w.set.Scheme, w.issue.Labels, d.GitHub.To)
	if err := w.swapLabels(add, nil); err != nil {
		return false, err
	}
	for _, l := range add {
		if !containsFold(w.issue.Labels, l) {
			w.refuseLabel(d.Attribute, d.GitHub.To)
			return false, nil
		}
	}
	if err := w.dropLabels(slices.DeleteFunc(remove, func(l string) bool { return containsFold(add, l) }), d.GitHub.From); err != nil {
		return false, err
	}
	if d.Attribute.Spec().Carrier == mapping.CarrierLabels && w.swappedMeanwhile(add) {
		return false, w.swapLabels(nil, add)
	}
	return true, nil
}

// swappedMeanwhile reports whether the issue has an estimate label beside ours, which a person
// added meanwhile. Ours is removed again, and both sides have changed.
func (w githubWriter) swappedMeanwhile(ours []string) bool {
	_, all := w.set.Scheme.EstimateOf(w.issue.Labels, "")
	return slices.ContainsFunc(all, func(l string) bool { return !containsFold(ours, l) })
}

// dropLabels removes labels. The history names those with another estimate than the one that is
// replaced: people put them on.
func (w githubWriter) dropLabels(labels []string, replaced string) error {
	if err := w.swapLabels(nil, labels); err != nil {
		return err
	}
	for _, l := range labels {
		if value, is := w.set.Scheme.EstimateOf([]string{l}, ""); len(is) == 0 || value == mapping.CanonicalNumber(replaced) {
			continue
		}
		w.note(mapping.GitHub, mapping.Estimate, "label", l+" was taken off: the issue has a newer label, or a greater one")
	}
	return nil
}

// swapLabels adds and removes single labels. A repetition does no harm, so it needs no pending
// record.
func (w githubWriter) swapLabels(add, remove []string) error {
	if len(add)+len(remove) == 0 {
		return nil
	}
	if err := saver(w).writing(); err != nil {
		return err
	}
	issue := *w.issue
	if len(add) > 0 {
		if err := w.addLabels(&issue, add, Sharing{}); err != nil {
			return err
		}
	}
	for _, l := range remove {
		if err := w.removeLabel(&issue, l, Sharing{}); err != nil {
			return err
		}
		if value, is := w.set.Scheme.EstimateOf([]string{l}, ""); len(is) > 0 {
			freshness(w).wrote(mapping.Estimate, value, w.Now(), nil)
		}
	}
	reader(w).setIssue(&issue)
	return nil
}
