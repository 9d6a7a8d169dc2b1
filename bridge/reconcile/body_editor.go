package reconcile

import (
	"planbridge/mapping"
)

// Where checklist items are tasks, the stored bodies (bases, pending records, what an event
// says the body was before) are whole bodies. So a tick that one of our writes ran over is
// found like any other edit. Only the text around the items is the summary
// (mapping.Link.Text). Plans are decided on summaries, and this file turns them into plans of
// whole bodies.

// aroundItems returns a GitHub value in the form in which it is written: a text is placed
// around the checklist items of the current body.
func (w bodyEditor) aroundItems(a mapping.Attribute, text string) string {
	if a.Spec().Carrier == mapping.CarrierBody && w.lists() {
		return w.putText(w.body(), w.link.TaskLines(w.body()), text)
	}
	return text
}

// putText replaces the text around a body's items, and records which lines of the result are
// items.
func (w bodyEditor) putText(body string, lines mapping.LineSet, text string) string {
	to, now := mapping.WithTextAround(body, lines, text)
	if now != nil {
		w.link.SetTaskLines(to, now)
	}
	return to
}

// wholeBodies turns a plan of texts into a plan of bodies, which includes the changed items. A
// write of the summary to planning goes first, by itself, as its answer is part of the base.
func (w bodyEditor) wholeBodies(plan *mapping.Plan, changes []mapping.Item) {
	if !w.lists() {
		return
	}
	base, based := w.pair.Base[mapping.Summary]
	toGitHub := plan.Writes(mapping.GitHub, mapping.Summary)
	if plan.Writes(mapping.Planning, mapping.Summary) || !based {
		changes = nil
		if toGitHub {
			w.list = list{} // this write of the body does not make them
		}
	}
	if len(changes) > 0 && !toGitHub {
		text := w.link.Text(w.route, mapping.Summary, w.body())
		base.GitHub = w.link.Text(w.route, mapping.Summary, base.GitHub)
		plan.Decisions = append(plan.Decisions, mapping.Decision{
			Attribute: mapping.Summary, Action: mapping.ToHub, Why: "planning changed tasks of its checklist", Base: base,
			GitHub: &mapping.Write{From: text, To: text},
		})
	}
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Attribute == mapping.Summary {
			w.wholeBody(d, changes)
		}
	}
}

func (w bodyEditor) wholeBody(d *mapping.Decision, changes []mapping.Item) {
	body := w.body()
	if d.GitHub != nil {
		listed, lines := w.changeLines(body, changes)
		to := w.putText(listed, lines, d.GitHub.To)
		d.GitHub = &mapping.Write{From: body, To: to}
		body = to
		if r := w.pair.Refused[mapping.Summary]; r.Side == mapping.GitHub && r.Value == mapping.DigestText(to) {
			d.Action, d.Why, d.GitHub = mapping.Blocked, "GitHub refused it: "+r.Message, nil
		}
	}
	d.Base.GitHub = w.putText(body, w.link.TaskLines(body), d.Base.GitHub)
}

// changeLines returns a body with changed and new items, and the numbers of its lines that are
// items. New items follow all existing lines.
func (w bodyEditor) changeLines(body string, changes []mapping.Item) (string, mapping.LineSet) {
	changed, lines := mapping.SetItems(body, changes), w.link.TaskLines(body)
	if lines == nil {
		return changed, nil
	}
	for at := len(mapping.Items(body)) + 1; at <= len(mapping.Items(changed)); at++ {
		lines[at] = true
	}
	return changed, lines
}

// knowBody makes the current body the base where only its items differ from the base. The
// items have bases of their own.
func (w bodyEditor) knowBody() {
	base, ok := w.pair.Base[mapping.Summary]
	text := func(body string) string { return w.link.Text(w.route, mapping.Summary, body) }
	if ok && w.lists() && mapping.Same(mapping.Summary, text(base.GitHub), text(w.body())) {
		base.GitHub = w.body()
		w.pair.Base[mapping.Summary] = base
	}
}

// changedBody returns the body with one item changed.
func (w bodyEditor) changedBody(item mapping.Item) string {
	body, lines := w.changeLines(w.body(), []mapping.Item{item})
	if lines != nil {
		w.link.SetTaskLines(body, lines)
	}
	return body
}

// leaveText records which lines of the body are text: the lines in over.
func (w bodyEditor) leaveText(now []mapping.Item, over map[int]bool) {
	lister(w).tellFull(len(over) > 0, "further checklist lines stay text of its summary")
	if len(over) == 0 && len(w.link.Family.Lines) == 0 {
		return
	}
	tasks := mapping.LineSet{}
	for _, item := range now {
		if !over[item.At] {
			tasks[item.At] = true
		}
	}
	w.link.SetTaskLines(w.body(), tasks)
}

// boundLines chooses the lines of a body that become tasks of its new card: the first ones, up
// to the bound.
func (w bodyEditor) boundLines(body string) {
	if !w.lists() || w.route.Direction == mapping.ToGitHub {
		return
	}
	room, over := lister(w).room(), map[int]bool{}
	now := mapping.Items(body)
	for _, item := range now {
		if item.At > room {
			over[item.At] = true
		}
	}
	w.leaveText(now, over)
}
