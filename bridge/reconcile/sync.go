package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// maxRounds bounds how often one claim decides anew because a side moved while
// it was written.
const maxRounds = 8

// sync brings two partners to agreement.
func (w *work) sync(ctx context.Context) error {
	w.hidden = w.public(ctx, w.link.Issue.Repo, false)
	if err := w.foldSeen(ctx); err != nil {
		return err
	}
	orphan := w.link.State == mapping.Orphaned
	err := w.see(ctx)
	if err == nil && orphan && w.link.State == mapping.Linked {
		// What was seen of the other side meanwhile was not dealt with.
		w.looked = true
		err = w.see(ctx)
	}
	if err == nil && orphan && w.link.State == mapping.Creating {
		return later(0, "its item is there again, and its partner is still to be made")
	}
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return err
	}
	if done, err := w.filter(ctx); done || err != nil {
		return err
	}
	if err := w.verify(ctx); err != nil {
		return err
	}
	if err := w.ensureTracking(ctx); err != nil {
		return err
	}
	if err := w.keepForgotten(ctx); err != nil {
		return err
	}
	if err := w.undo(ctx); err != nil {
		return err
	}
	for range maxRounds {
		settled, err := w.round(ctx)
		if settled && err == nil {
			settled, err = w.workList(ctx)
		}
		if settled && err == nil {
			settled, err = w.project(ctx)
		}
		if errors.Is(err, errGone) {
			return nil
		}
		if err != nil {
			return err
		}
		if settled {
			w.remember()
			w.link.Synced = time.Now().UTC()
			w.link.Pace.Agreed()
			w.verifyLater()
			w.showLater()
			w.link.Unfinished = w.listErr != nil || w.unread || w.withheld != nil
			return w.listErr
		}
	}
	return fmt.Errorf("the sides still moved after %d rounds", maxRounds)
}

// filter moves the link to state left when the issue no longer matches its
// route, and back. It reports whether there is nothing to synchronise.
func (w *work) filter(ctx context.Context) (bool, error) {
	if w.link.State == mapping.Orphaned {
		return true, nil
	}
	if w.issue == nil {
		return w.link.State == mapping.Left, nil
	}
	ok, why := w.accepts()
	switch {
	case !ok && w.link.State != mapping.Left:
		w.leave(why)
		return true, nil
	case !ok:
		return true, nil
	case w.link.State == mapping.Left:
		w.happens(mapping.EventReadmitted)
		w.note("", "", "back", "it matches its route again")
		w.looked = true
		return false, w.see(ctx)
	}
	return false, nil
}

// round decides once and carries the decisions out. It reports whether nothing
// was left to do.
func (w *work) round(ctx context.Context) (settled bool, err error) {
	if err := w.recoverLate(ctx); err != nil {
		return false, err
	}
	if err := w.settleLate(ctx, map[string]ranOver{}); err != nil { // the answer to a write shows the whole issue
		return false, err
	}
	_, based := w.link.Base[mapping.Summary]
	plan, err := w.resolve(ctx)
	if err != nil {
		return false, err
	}
	hub := plan.Writes(mapping.GitHub) || len(w.extra) > 0
	if err := w.foldPlan(planned(plan, hub)...); err != nil {
		return false, err
	}
	if hub && !w.fresh {
		if err := w.reserve(ctx, WriteEdit); err != nil {
			return false, err
		}
		return false, w.readAgain(ctx)
	}
	if w.publishes(ctx, plan) {
		return false, nil
	}
	if w.set.DryRun {
		w.announce(plan)
		return true, nil
	}
	if err := w.quiet(plan); err != nil {
		return false, err
	}
	if err := w.brakeCloses(ctx, plan); err != nil {
		return false, err
	}
	if hub || plan.Writes(mapping.Planning) {
		if err := w.pacePlan(plan); err != nil {
			return false, err
		}
		w.beginWrites(planned(plan, hub)...)
		if signed, err := w.signJoined(ctx); signed || err != nil {
			return false, err
		}
	}
	if stands, err := w.keep(ctx, plan, hub); err != nil || !stands {
		return false, err
	}
	if err := w.dropExtra(ctx, plan); err != nil {
		return false, err
	}
	moved, err := w.writePlanning(ctx, plan)
	if err != nil || moved {
		return false, err
	}
	if hub {
		if err := w.writeGitHub(ctx, plan); err != nil {
			return false, err
		}
	}
	if err := w.agreed(ctx, plan); err != nil {
		return false, err
	}
	if _, now := w.link.Base[mapping.Summary]; now && !based {
		return false, nil // from now on the body's items are written with it
	}
	return !hub && !plan.Writes(mapping.Planning), nil
}

// readAgain reads the issue before it is written, as GitHub has no lock. What a
// late write of ours did shows there perhaps first, and is nobody's edit.
func (w *work) readAgain(ctx context.Context) error {
	if err := w.readIssue(ctx); err != nil {
		return err
	}
	w.list = list{} // of another body
	return w.settleLate(ctx, map[string]ranOver{})
}

// keep keeps the plan's losers and reports whether the plan stands. Comments take long:
// before an issue is written to, it is read anew, as people may have gone on.
func (w *work) keep(ctx context.Context, plan mapping.Plan, hub bool) (stands bool, err error) {
	kept := len(w.home().kept)
	if err := w.keepLosers(ctx, plan); err != nil || !hub || len(w.home().kept) == kept {
		return err == nil, err
	}
	before := mapping.DigestIssue(w.issue)
	if err := w.readIssue(ctx); err != nil {
		return false, err
	}
	if mapping.DigestIssue(w.issue) == before {
		return true, nil
	}
	w.list = list{} // of another body
	return false, w.settleLate(ctx, map[string]ranOver{})
}

func (w *work) resolve(ctx context.Context) (mapping.Plan, error) {
	in := mapping.Input{
		Link: w.link, Route: w.route, GitHub: w.g, Planning: w.p,
		Edited: map[mapping.Attribute]map[mapping.Side]mapping.Interval{},
		Asked:  map[mapping.Attribute]mapping.Conflict{}, Answers: map[mapping.Attribute]mapping.Side{},
	}
	for _, a := range mapping.Attributes {
		in.Edited[a] = map[mapping.Side]mapping.Interval{mapping.GitHub: w.editedOnGitHub(a), mapping.Planning: w.editedInPlanning(a)}
	}
	for a, id := range mapping.Sorted(w.link.Asking) {
		c, err := w.Store.Conflict(ctx, w.link.Project, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return mapping.Plan{}, fmt.Errorf("read conflict %s: %w", id, err)
		}
		if err != nil {
			continue
		}
		in.Asked[a] = c
		if c.State == mapping.ConflictAnswered {
			in.Answers[a] = c.Winner
		}
	}
	if w.lists() {
		w.seeList() // which lines are text decides what the summary is
	}
	in.Rewound = w.rewoundNow()
	plan := mapping.Resolve(in)
	w.remark(&plan)
	changes, err := w.decideList(ctx)
	w.whole(&plan, changes)
	w.withhold(&plan)
	return plan, err
}

// quiet puts off the return of a removed estimate label: whoever exchanges one
// label for another first removes one.
func (w *work) quiet(plan mapping.Plan) error {
	for _, d := range plan.Decisions {
		if d.Attribute.Spec().Carrier != mapping.CarrierLabels || d.GitHub == nil || d.GitHub.From != "" || w.link.Base[d.Attribute].GitHub == "" {
			continue
		}
		if s, ok := w.claim.Inbox[mapping.IssueRef(w.link.Issue.ID)]; ok {
			if wait := w.set.Quiet - time.Since(s.Seen); wait > 0 {
				return later(wait, "an estimate label was removed: another may follow")
			}
		}
	}
	return nil
}

// agreed takes over what needs no write, and ends the questions that are
// answered.
func (w *work) agreed(ctx context.Context, plan mapping.Plan) error {
	for _, d := range plan.Decisions {
		switch d.Action {
		case mapping.Adopt:
			w.setBase(d.Attribute, d.Base)
		case mapping.Ask, mapping.Blocked, mapping.Restrained, mapping.Withheld:
			continue
		}
		if err := w.endQuestion(ctx, d); err != nil {
			return err
		}
	}
	return w.endQuestions(ctx, plan)
}

// endQuestions closes what was asked and needs no decision any more: people took both
// edits back, or a process ended while it took the answer in.
func (w *work) endQuestions(ctx context.Context, plan mapping.Plan) error {
	for _, a := range slices.Sorted(maps.Keys(w.link.Asking)) {
		_, g := w.g[a]
		_, p := w.p[a]
		if !g || !p || slices.ContainsFunc(plan.Decisions, func(d mapping.Decision) bool { return d.Attribute == a }) {
			continue
		}
		if err := w.endQuestion(ctx, mapping.Decision{Attribute: a, Why: "both sides agree"}); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) setBase(a mapping.Attribute, base mapping.Base) {
	if w.link.Base == nil {
		w.link.Base = map[mapping.Attribute]mapping.Base{}
	}
	w.link.Base[a] = base
	delete(w.link.Refused, a)
}

// announce says what a dry run would do.
func (w *work) announce(plan mapping.Plan) {
	for _, d := range plan.Decisions {
		w.log.Info("dry run: would decide", "attribute", d.Attribute, "action", d.Action, "why", d.Why)
	}
}

// lag observes how long it took from seeing a change to writing it to a side.
func (w *work) lag(to mapping.Side) {
	var seen time.Time
	for _, s := range w.claim.Inbox {
		if seen.IsZero() || s.Seen.Before(seen) {
			seen = s.Seen
		}
	}
	if !seen.IsZero() {
		w.Metrics.Lag.WithLabelValues("to_" + string(to)).Observe(max(0, time.Since(seen).Seconds()))
	}
}
