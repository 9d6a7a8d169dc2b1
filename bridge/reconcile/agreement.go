package reconcile

import (
	"slices"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// The rules of the agreement: from two items that are seen to two that say the same.

// round is what one round of the agreement decided.
type round struct {
	plan mapping.Plan
	hub  bool // GitHub is written to, be it only to take a label off
	// unbased: the summary had not been agreed on when the round began.
	unbased bool
	// first: nothing was shown for the link before.
	first bool
}

// writes reports whether the round writes to a side.
func (r *round) writes() bool { return r.hub || r.plan.Writes(mapping.Planning) }

func lateWrites(w *work) (verdict, error) {
	if err := w.recoverLate(); err != nil {
		return end, err
	}
	return pass, w.settleLate(journal.Matches{}) // the answer to a write shows the whole issue
}

// firstSight reads both sides where one was not seen: what they had agreed on turned out
// not to hold under this claim, so that nothing told of the other one.
func firstSight(w *work) (verdict, error) {
	if !w.firstSightWithout(w.g) && !w.firstSightWithout(w.p) {
		return pass, nil
	}
	return anewIf(true, w.readBoth())
}

// firstSightWithout reports whether nothing is agreed on about an attribute that a view
// does not show. A value that a side refused is not compared.
func (w *work) firstSightWithout(view mapping.View) bool {
	return slices.ContainsFunc(mapping.Attributes, func(a mapping.Attribute) bool {
		_, agreed := w.pair.Base[a]
		_, refused := w.pair.Refused[a]
		_, seen := view[a]
		return !agreed && !refused && !seen && (!a.Spec().Tracked || w.pair.IsTask() || w.tracking() != nil)
	})
}

func decide(w *work) (verdict, error) {
	_, based := w.pair.Base[mapping.Summary]
	plan, err := w.resolve()
	w.round = round{plan: plan, hub: plan.Writes(mapping.GitHub) || len(w.extra) > 0, unbased: !based}
	return pass, err
}

func foldPlan(w *work) (verdict, error) {
	return pass, w.foldPlan(w.round.sides()...)
}

func readFirst(w *work) (verdict, error) {
	if !w.round.hub || w.fresh {
		return pass, nil
	}
	if err := w.reserve(WriteEdit); err != nil {
		return end, err
	}
	return anewIf(true, w.readAgain())
}

// announce says what a dry run would do.
func announce(w *work) (verdict, error) {
	if w.set.DryRun {
		for _, d := range w.round.plan.Decisions {
			w.log.Info("dry run: would decide", "attribute", d.Attribute, "action", d.Action, "why", d.Why)
		}
	}
	return pass, nil
}

// awaitSwap puts off the return of a removed estimate label: whoever exchanges one
// label for another first removes one.
func awaitSwap(w *work) (verdict, error) {
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

// brakeCloses is the brake on plans that close the issue.
func brakeCloses(w *work) (verdict, error) {
	for _, d := range w.round.plan.Decisions {
		if d.Attribute == mapping.State && d.GitHub != nil && d.GitHub.To == mapping.StateDone {
			return pass, w.brakeClose()
		}
	}
	return pass, nil
}

// keepLosers keeps the plan's losers. Comments take long: before an issue is written to,
// it is read once more, as people may have gone on.
func keepLosers(w *work) (verdict, error) {
	kept := len(w.kept)
	if err := w.keepLosers(w.round.plan); err != nil || !w.round.hub || len(w.kept) == kept {
		return pass, err
	}
	before := mapping.DigestIssue(w.issue)
	if err := w.readIssue(); err != nil {
		return end, err
	}
	if mapping.DigestIssue(w.issue) == before {
		return pass, nil
	}
	w.list = list{} // of another body
	return anewIf(true, w.settleLate(journal.Matches{}))
}

func writePlanning(w *work) (verdict, error) {
	return anewIf(w.writePlanning(w.round.plan))
}

func writeGitHub(w *work) (verdict, error) {
	if !w.round.hub {
		return pass, nil
	}
	return pass, w.writeGitHub(w.round.plan)
}

func agree(w *work) (verdict, error) {
	return pass, w.agreed(w.round.plan)
}

// lookAgain begins anew after a write, and once the summary is agreed on: from then on
// the body's items are written with it.
func lookAgain(w *work) (verdict, error) {
	_, based := w.pair.Base[mapping.Summary]
	return anewIf(w.round.writes() || w.round.unbased && based, nil)
}

// rest takes in that both sides agree, but for what is said to differ.
func rest(w *work) (verdict, error) {
	w.remember()
	w.pair.Synced = w.Now().UTC()
	w.pair.Pace.Agreed()
	w.verifyLater()
	w.showLater()
	w.owner.Unfinished = w.listErr != nil || w.unread || w.withheld != nil
	return end, w.listErr
}
