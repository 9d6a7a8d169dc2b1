package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// restoreEdit restores an edit that one of our writes ran over. It merges the edit with our text,
// or applies the rules of a conflict where they do not merge. The restored text is then an ordinary
// change of GitHub.
func (w repairer) restoreEdit(l journal.LostUpdate) error {
	for _, before := range []string{l.Write.From, l.Text} { // GitHub has neither any more
		freshness(w).wrote(l.Write.Attribute, before, l.Write.At, nil)
	}
	switch {
	case !w.fresh:
		if err := w.readAgain(); err != nil {
			return err
		}
	case freshness(w).takesBack(w.issue):
		return freshness(w).deferStale()
	}
	a, now := l.Write.Attribute, w.g[l.Write.Attribute].Value
	d := mapping.Decision{Attribute: a, Action: mapping.MergeBoth, Why: "a write of ours ran over an edit", Base: w.pair.Base[a]}
	merged, clean := w.book().Restored(l, w.mayMerge(l.Write))
	if !clean {
		var err error
		if d, merged, err = w.overrun(l, now); err != nil {
			return err
		}
	}
	w.count(CountRecovered, w.link.Route)
	w.note(mapping.GitHub, a, "lost update", d.Why)
	if mapping.Same(a, now, merged) {
		return nil
	}
	d.GitHub = &mapping.Write{From: now, To: merged}
	return githubWriter(w).write(mapping.Plan{Decisions: []mapping.Decision{d}})
}

// mayMerge reports whether an edit may be merged with the write that ran over it. The policies
// that ask people, or compare times, do so for texts that both changed.
func (w repairer) mayMerge(p mapping.Pending) bool {
	policy := w.route.Policy(p.Attribute)
	text := func(body string) string { return w.link.Text(w.route, p.Attribute, body) }
	return policy != mapping.PolicyAsk && policy != mapping.PolicyNewest || mapping.Same(p.Attribute, text(p.From), text(p.To))
}

// overrun decides about an edit that does not merge with the write that ran over it, and
// stores the loser. It returns the text that GitHub is to have.
func (w repairer) overrun(l journal.LostUpdate, now string) (d mapping.Decision, stands string, err error) {
	a := l.Write.Attribute
	if !journal.Ours(&w.pair.Journal, a, now) {
		d = mapping.Decision{Attribute: a, Action: mapping.ResolveConflict, Winner: mapping.Planning, Loses: true, Base: w.pair.Base[a]}
		d.Why = "a write of ours ran over an edit, and a newer edit stands"
		return d, now, ledger(w).keepTexts(d, l.Text, now)
	}
	d = mapping.Overrun(w.route, a, w.pair.Base[a], l.Write.Old, w.editEvents().EditedBefore(l))
	if d.Action == mapping.Ask {
		return w.askOverrun(d, l, now)
	}
	if stands = now; d.Winner == mapping.GitHub {
		stands = w.withOurItems(l, now)
	}
	return d, stands, ledger(w).keepTexts(d, l.Text, now)
}

// askOverrun asks people about the edit and planning's value. GitHub gets the edit back, as
// nothing is decided yet.
func (w repairer) askOverrun(d mapping.Decision, l journal.LostUpdate, now string) (_ mapping.Decision, stands string, err error) {
	a := d.Attribute
	if _, known := w.p[a]; !known {
		if err := reader(w).readBoth(); err != nil {
			return d, "", err
		}
	}
	return d, w.withOurItems(l, now), ledger(w).keepTexts(d, w.link.Text(w.route, a, l.Text), w.p[a].Value)
}

// withOurItems is the text of an edit, with our write's changes of the checklist. Items are
// decided one by one, and the line of a task would count as removed otherwise.
func (w repairer) withOurItems(l journal.LostUpdate, now string) string {
	a, text := l.Write.Attribute, l.Text
	if !w.lists() || a.Spec().Carrier != mapping.CarrierBody {
		return text
	}
	said := w.link.Text(w.route, a, text)
	around := func(body string) string {
		to, _ := mapping.WithTextAround(body, w.link.TaskLines(body), said)
		return to
	}
	if body, ok := w.merge(around(l.Write.From), around(now), text); ok {
		return body
	}
	return text
}

// A pending record and the echo of our write together show that the write ran over a person's
// edit. Where the store is lost between the two, or is rolled back, the record is lost, too.
// GitHub's history has both edits.

// keepForgotten stores the edits that forgotten writes of ours ran over. Such a write may
// exist where both sides hold a value that the store never had. Nothing says whether the
// person's edit was known when it was overwritten. So the edit is not restored: its text goes
// into the ledger and onto the issue.
func keepForgotten(w work) (verdict, error) {
	for _, d := range w.round.plan.Decisions {
		if !repairer(w).mayHideAWrite(d) {
			continue
		}
		if forgetful, err := exclusivity(w).mayLackItems(); err != nil || !forgetful {
			return pass, err
		}
		if err := repairer(w).keepForgotten(d.Attribute); err != nil {
			return end, err
		}
	}
	return pass, nil
}

// mayHideAWrite reports whether a forgotten write of ours may have led to the values of a
// decision.
func (w repairer) mayHideAWrite(d mapping.Decision) bool {
	a := d.Attribute
	if a != mapping.Title && a != mapping.Summary || w.issue == nil || w.unmarked != "" || !w.route.Writes(mapping.GitHub) {
		return false
	}
	base, based := w.pair.Base[a]
	if !based {
		return w.since(w.issue.UpdatedAt) <= journal.InFlightFor
	}
	g, issue := w.g[a]
	p, card := w.p[a]
	return issue && card && !mapping.Same(a, g.Value, base.GitHub) && !mapping.Same(a, p.Value, base.Planning)
}

func (w repairer) keepForgotten(a mapping.Attribute) error {
	read, err := do(w, ReadEdits{w.owner.Issue, a})
	if mapping.Refused(err) || err != nil && w.claim.Attempts > 1 {
		w.note(mapping.GitHub, a, "unverified", "whether a write ran over an edit before the store was lost is not known: "+err.Error())
		return nil
	}
	if err != nil {
		return onGitHub(fmt.Errorf("earlier edits: %w", err))
	}
	edits := w.editsOf(read)
	if base, based := w.pair.Base[a]; based {
		edits = edits.After(a, base.GitHub)
	}
	return w.keepEach(a, edits.Forgotten(a, w.merge))
}

// keepEach stores texts that were overwritten, except those that one of our comments has.
func (w repairer) keepEach(a mapping.Attribute, lost []journal.LostUpdate) error {
	if len(lost) == 0 {
		return nil
	}
	comments, err := do(w, ReadComments{w.owner.Issue.Repo, w.owner.Issue.Number})
	if err != nil {
		return onGitHub(fmt.Errorf("comments: %w", err))
	}
	for _, l := range lost {
		if slices.ContainsFunc(comments, func(c Comment) bool { return w.Authorship(c.Author).Ours() && strings.Contains(c.Body, l.Text) }) {
			continue
		}
		d := mapping.Decision{Attribute: a, Action: mapping.ResolveConflict, Winner: mapping.Planning, Why: "a write of ours ran over an edit before the store was lost", Loses: true}
		if err := ledger(w).keepTexts(d, l.Text, l.Write.To); err != nil {
			return err
		}
	}
	return nil
}
