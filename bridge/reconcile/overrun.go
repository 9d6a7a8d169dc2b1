package reconcile

import (
	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// bringBack restores an edit that was run over: merged with what we wrote
// where that goes, else by the rules of a conflict. The restored text is then
// an ordinary change of GitHub.
func (w *work) bringBack(l journal.LostUpdate) error {
	for _, before := range []string{l.Write.From, l.Text} { // neither stands there any more
		w.wrote(l.Write.Attribute, before, l.Write.At, nil)
	}
	switch {
	case !w.fresh:
		if err := w.readAgain(); err != nil {
			return err
		}
	case w.takesBack(w.issue):
		return w.errLags()
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
	return w.writeGitHub(mapping.Plan{Decisions: []mapping.Decision{d}})
}

// mayMerge reports whether an edit that a write of ours ran over may be merged with
// it. Policies that ask people, or for times, do so about texts that both changed.
func (w *work) mayMerge(p mapping.Pending) bool {
	policy := w.route.Policy(p.Attribute)
	text := func(body string) string { return w.link.Text(w.route, p.Attribute, body) }
	return policy != mapping.PolicyAsk && policy != mapping.PolicyNewest || mapping.Same(p.Attribute, text(p.From), text(p.To))
}

// overrun decides about an edit that was run over and does not merge, and keeps what
// loses. It returns what is to stand on GitHub.
func (w *work) overrun(l journal.LostUpdate, now string) (d mapping.Decision, stands string, err error) {
	a := l.Write.Attribute
	if !journal.Ours(&w.pair.Journal, a, now) {
		d = mapping.Decision{Attribute: a, Action: mapping.Settle, Winner: mapping.Planning, Loses: true, Base: w.pair.Base[a]}
		d.Why = "a write of ours ran over an edit, and a newer edit stands"
		return d, now, w.keepTexts(d, l.Text, now)
	}
	d = mapping.Overrun(w.route, a, w.pair.Base[a], l.Write.Old, w.editEvents().EditedBefore(l))
	if d.Action == mapping.Ask {
		return w.askOverrun(d, l, now)
	}
	if stands = now; d.Winner == mapping.GitHub {
		stands = w.withOurItems(l, now)
	}
	return d, stands, w.keepTexts(d, l.Text, now)
}

// askOverrun asks people about an edit that was run over and what planning has. The
// edit is to stand on GitHub again: nothing is decided yet.
func (w *work) askOverrun(d mapping.Decision, l journal.LostUpdate, now string) (_ mapping.Decision, stands string, err error) {
	a := d.Attribute
	if _, known := w.p[a]; !known {
		if err := w.readBoth(); err != nil {
			return d, "", err
		}
	}
	return d, w.withOurItems(l, now), w.keepTexts(d, w.link.Text(w.route, a, l.Text), w.p[a].Value)
}

// withOurItems is the text of an edit that was run over, with what our write did to its
// checklist: items are decided one by one, and a line of a task would be taken for removed.
func (w *work) withOurItems(l journal.LostUpdate, now string) string {
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
