package reconcile

import (
	"fmt"
	"slices"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// This file has the rules that bring two items, both of them read, to the same values.

func lateWrites(w work) (verdict, error) {
	if err := repairer(w).recoverLanded(); err != nil {
		return end, err
	}
	return pass, repairer(w).resolveInFlight(journal.Matches{}) // the answer to a write shows the whole issue
}

// firstSight reads both sides where one of them lacks a value and no base says what it was.
func firstSight(w work) (verdict, error) {
	if !decider(w).firstSightWithout(w.g) && !decider(w).firstSightWithout(w.p) {
		return pass, nil
	}
	return anewIf(true, reader(w).readBoth())
}

func decide(w work) (verdict, error) {
	_, based := w.pair.Base[mapping.Summary]
	plan, err := decider(w).resolve()
	w.round = round{plan: plan, writesGitHub: plan.Writes(mapping.GitHub) || len(w.extra) > 0, unbased: !based}
	return pass, err
}

// readPlanning reads planning's side where both sides changed to the same value. Planning may
// have changed again after the poll, and before GitHub's edit.
func readPlanning(w work) (verdict, error) {
	met := func(d mapping.Decision) bool {
		base, ok := w.pair.Base[d.Attribute]
		return ok && d.Action == mapping.Adopt && d.Base.GitHub != base.GitHub
	}
	if w.certain || !slices.ContainsFunc(w.round.plan.Decisions, met) {
		return pass, nil
	}
	return anewIf(true, reader(w).readPlanning())
}

func foldPlan(w work) (verdict, error) {
	return pass, pacer(w).foldWrites(w.round.sides()...)
}

func readFirst(w work) (verdict, error) {
	if !w.round.writesGitHub || w.fresh {
		return pass, nil
	}
	if err := saver(w).reserve(WriteEdit); err != nil {
		return end, err
	}
	return anewIf(true, repairer(w).readAgain())
}

// announce logs what a dry run would do.
func announce(w work) (verdict, error) {
	if w.set.DryRun {
		for _, d := range w.round.plan.Decisions {
			w.log.Info("dry run: would decide", "attribute", d.Attribute, "action", d.Action, "why", d.Why)
		}
	}
	return pass, nil
}

// awaitSwap delays the return of a removed estimate label. A person who exchanges two labels
// removes one first.
func awaitSwap(w work) (verdict, error) {
	for _, d := range w.round.plan.Decisions {
		if d.Attribute.Spec().Carrier != mapping.CarrierLabels || d.GitHub == nil || d.GitHub.From != "" || w.pair.Base[d.Attribute].GitHub == "" {
			continue
		}
		if s, ok := w.claim.Inbox[mapping.IssueRef(w.owner.Issue.ID)]; ok {
			if wait := w.set.Quiet - w.since(s.Seen); wait > 0 {
				return end, later(wait, "an estimate label was removed: another may follow")
			}
		}
	}
	return pass, nil
}

// brakeCloses applies the brake to plans that close the issue.
func brakeCloses(w work) (verdict, error) {
	for _, d := range w.round.plan.Decisions {
		if d.Attribute == mapping.State && d.GitHub != nil && d.GitHub.To == mapping.StateDone {
			return pass, saver(w).brakeClose()
		}
	}
	return pass, nil
}

// keepLosers stores the values that lose, in the ledger and in comments. Comments take long,
// so the issue is read once more before it is written: people may have edited it.
func keepLosers(w work) (verdict, error) {
	kept := len(w.kept)
	if err := ledger(w).keep(w.round.plan); err != nil || !w.round.writesGitHub || len(w.kept) == kept {
		return pass, err
	}
	before := mapping.DigestIssue(w.issue)
	if err := reader(w).readIssue(); err != nil {
		return end, err
	}
	if mapping.DigestIssue(w.issue) == before {
		return pass, nil
	}
	w.list = list{} // of another body
	return anewIf(true, repairer(w).resolveInFlight(journal.Matches{}))
}

func writePlanning(w work) (verdict, error) {
	return anewIf(planningWriter(w).write(w.round.plan))
}

func writeGitHub(w work) (verdict, error) {
	if !w.round.writesGitHub {
		return pass, nil
	}
	return pass, githubWriter(w).write(w.round.plan)
}

func agree(w work) (verdict, error) {
	return pass, ledger(w).agreed(w.round.plan)
}

// compareAgain starts another round after a write. It also does so once the summary has a
// base: from then on the lines of the checklist are written with the body.
func compareAgain(w work) (verdict, error) {
	_, based := w.pair.Base[mapping.Summary]
	return anewIf(w.round.writes() || w.round.unbased && based, nil)
}

// comeToRest records that both sides agree, apart from the differences that have a reason.
func comeToRest(w work) (verdict, error) {
	reader(w).rememberAgreed()
	w.pair.Synced = w.Now().UTC()
	w.pair.Pace.Agreed()
	repairer(w).scheduleVerify()
	projector(w).showLater()
	w.owner.Unfinished = w.listErr != nil || w.unread || w.withheld != nil
	return end, w.listErr
}

// workList writes the checklist's changes to planning, once the issue and its card agree. An
// error is kept for the end of the claim, as it concerns neither the issue nor the card.
func workList(w work) (verdict, error) {
	if !w.lists() || w.listErr != nil {
		return pass, nil
	}
	rest, err := lineTasks(w).writeList()
	if lostLease(err) {
		return end, err
	}
	if err != nil {
		w.listErr = fmt.Errorf("checklist: %w", err)
		return pass, nil
	}
	return anewIf(!rest, nil)
}

// show projects planning's view of the card onto the issue, once the attributes agree. A
// review may close the issue, and a read or an answer may contain a person's edit. Then the
// attributes are decided anew.
func show(w work) (verdict, error) {
	w.round.first = w.link.Shown == nil
	s := projector(w).shown()
	if s == nil || w.pair.State != mapping.Linked {
		return pass, nil
	}
	if w.set.DryRun {
		if add, remove := labelProjector(w).labelsToShow(); len(add)+len(remove) > 0 {
			w.log.Info("dry run: would show", "add_labels", add, "remove_labels", remove)
		}
		return pass, nil
	}
	if w.route.Direction == mapping.ToPlanning {
		w.link.Review = s.Review // the route may go both ways later: this review is not acted on then
		return pass, nil
	}
	before, knew := w.g, w.issue != nil
	if w.round.first && w.issue == nil { // its labels are not known either
		if err := projector(w).attempt("planning's view", reader(w).readIssue); err != nil || w.issue == nil {
			w.link.Shown = nil
			return pass, err
		}
	}
	defer w.showing(true)()
	if err := projector(w).showAll(); err != nil {
		return end, err
	}
	return anewIf(knew != (w.issue != nil) || projector(w).viewMoved(before), nil) // earlier checks did not know that
}

// withhold removes from the round everything that would publish planning's side. A conflict's
// comment counts, as it quotes both sides.
func withhold(w work) (verdict, error) {
	if w.hidden != nil {
		return pass, nil
	}
	for _, d := range w.round.plan.Decisions {
		if d.GitHub != nil || d.Loses {
			w.hidden = visibility(w).public(w.owner.Issue.Repo, true)
			break
		}
	}
	return anewIf(w.hidden != nil, nil)
}

// signJoined adds the footer to the card of a pair that people made by hand and then joined.
// It does so before the issue is written. If the store were lost in between, an issue that has
// changed would enter, and get a second card.
func signJoined(w work) (verdict, error) {
	_, agreed := w.pair.Base[mapping.Summary]
	if !w.round.writes() || agreed || w.root != nil || signer(w).markedSide() != mapping.Planning || w.unmarked == "" || w.unmarked == w.pair.MarkerRestored || !w.route.Writes(mapping.Planning) {
		return pass, nil
	}
	now := w.p[mapping.Summary]
	_, err := planningWriter(w).write(mapping.Plan{Decisions: []mapping.Decision{{
		Attribute: mapping.Summary, Action: mapping.RestoreMarker, Why: "the card was joined",
		Planning: &mapping.Write{From: now.Value, To: now.Value, Version: now.Version},
	}}})
	return anewIf(true, err)
}

// pacePlan applies stopRunaway to each write of the round.
func pacePlan(w work) (verdict, error) {
	for _, d := range w.round.plan.Decisions {
		to := mapping.GitHub
		switch {
		case d.Planning != nil:
			to = mapping.Planning
		case d.GitHub == nil:
			continue
		}
		if err := pacer(w).stopRunaway(d.Attribute, to); err != nil {
			return end, err
		}
	}
	pacer(w).beginWrites(w.round.sides()...)
	return pass, nil
}

// dropExtra removes the estimate labels that lost against another one, before the winner is
// written to planning. Only the old base tells which of two labels is the new one. Once they are
// off, the winner is recorded: until it is agreed on, any other label is newer.
func dropExtra(w work) (verdict, error) {
	var held map[mapping.Attribute]string
	for _, d := range w.round.plan.Decisions {
		switch {
		case d.Attribute.Spec().Carrier != mapping.CarrierLabels:
		case d.GitHub != nil:
			return pass, nil // relabel handles all of them
		default: // the estimate alone is carried by labels
			held = map[mapping.Attribute]string{d.Attribute: w.g[d.Attribute].Value}
		}
	}
	err := githubWriter(w).dropLabels(w.extra, "")
	if err == nil && w.issue != nil {
		w.pair.Held = held
	}
	return pass, err
}
