package reconcile

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"planbridge/mapping"
)

// keep stores every value that the plan would overwrite or leave in conflict, in the ledger
// and on the issue, before anything is written.
func (w ledger) keep(plan mapping.Plan) error {
	for _, d := range plan.Decisions {
		if !d.Loses {
			continue
		}
		if err := reader(w).haveIssue(); err != nil {
			return err
		}
		if err := w.keepTexts(d, w.link.Text(w.route, d.Attribute, w.g[d.Attribute].Value), w.p[d.Attribute].Value); err != nil {
			return err
		}
	}
	return w.keepItems(func(d *mapping.Decision) bool { return d.GitHub != nil })
}

// keepTexts stores two conflicting values in the ledger and on the issue. The entry's id is
// derived from the values. So a repetition finds the entry, or the comment where the store
// lost the entry.
func (w ledger) keepTexts(d mapping.Decision, github, planning string) error {
	c := mapping.Conflict{
		ID:   mapping.ConflictID(w.pair.Card.ID, d.Attribute, github, planning),
		Link: w.link.ID, Project: w.link.Project, Route: w.link.Route, Where: where(w.owner), Attribute: d.Attribute,
		GitHub: github, Planning: planning, Edited: d.Edited, Winner: d.Winner, Rule: d.Why, State: mapping.ConflictSettled,
		At: w.Now().UTC(),
	}
	if base, ok := w.pair.Base[d.Attribute]; ok {
		c.Base = &base
	}
	if w.pair.IsTask() {
		c.Task = w.pair.Card.ID
	}
	if d.Action == mapping.Ask {
		c.State = mapping.ConflictOpen
	}
	known, is, err := w.ledgerEntry(c.ID)
	if err != nil {
		return err
	}
	if d.Action != mapping.Ask && slices.Contains(w.kept, c.ID) {
		return nil
	}
	answered := known.State == mapping.ConflictAnswered
	if (answered || is && d.Action != mapping.Ask) && w.pair.Asking[d.Attribute] == c.ID {
		return nil // stored with the question, which is open until the decision is carried out
	}
	if is {
		c.At, c.Again, c.Posted, c.Comments = known.At, c.At, known.Posted, known.Comments
	}
	if d.Action == mapping.Ask && w.pair.Putting[d.Attribute] != c.ID {
		if err := w.noteQuestion(&w.pair.Putting, d.Attribute, c.ID); err != nil {
			return err
		}
		if err := saver(w).save(); err != nil {
			return err
		}
	}
	behind, lost := exclusivity(w).mayLackItems()
	if lost != nil {
		return lost
	}
	if err := w.postConflict(c, is || behind); err != nil {
		return err
	}
	w.count(CountConflicts, w.link.Route, string(d.Attribute), cmp.Or(string(d.Winner), "ask"))
	w.note("", d.Attribute, "conflict", d.Why+" (ledger "+c.ID+")")
	w.kept = append(w.kept, c.ID)
	if d.Action != mapping.Ask {
		maps.DeleteFunc(w.pair.Putting, func(_ mapping.Attribute, id string) bool { return id == c.ID })
		return nil
	}
	if err := w.askPeople(d.Attribute, c.ID); err != nil || !answered {
		return err
	}
	return later(0, "an operator answered already")
}

// postConflict stores a conflict in the ledger, and posts it on the issue unless that was
// done. The ledger records each post before it is made, so that the next claim waits until the
// comment must be visible.
func (w ledger) postConflict(c mapping.Conflict, repeated bool) error {
	wait := w.set.Settle.GitHub - w.since(c.Posted)
	posts := len(c.Comments) == 0 && wait <= 0
	if posts {
		c.Posted = w.Now().UTC()
	}
	keep := func() error {
		now, _, err := w.ledgerEntry(c.ID)
		if err != nil {
			return err
		}
		if now.State == mapping.ConflictAnswered && c.State == mapping.ConflictOpen { // before all was asked
			c.State, c.Winner, c.AnsweredBy, c.Rule = now.State, now.Winner, now.AnsweredBy, now.Rule
		}
		return w.keepEntry(c)
	}
	if err := keep(); err != nil || len(c.Comments) > 0 {
		return err
	}
	ids, err := w.comment(notice{id: c.ID, text: explain(c), github: c.GitHub, planning: c.Planning, repeated: repeated, wait: wait})
	if err != nil && (isWithheld(err) || !errors.Is(err, mapping.ErrForbidden)) {
		if posts && Certain(err) {
			c.Posted = time.Time{}
			return errors.Join(err, keep())
		}
		return err
	}
	if len(ids) == 0 {
		return nil
	}
	c.Comments = ids
	return keep()
}

// conflictLabel marks an issue that waits for a person's decision.
func (w ledger) conflictLabel() string { return w.set.Scheme.Prefix + "conflict" }

// askPeople records that a person is asked.
func (w ledger) askPeople(a mapping.Attribute, id string) error {
	if err := labelProjector(w).ensureLabel(w.conflictLabel()); err != nil {
		return err
	}
	if err := githubWriter(w).swapLabels([]string{w.conflictLabel()}, nil); err != nil {
		return err
	}
	delete(w.pair.Putting, a)
	return w.noteQuestion(&w.pair.Asking, a, id)
}

// noteQuestion notes what is asked about an attribute, or about to be. An earlier question about
// other values is closed.
func (w ledger) noteQuestion(of *map[mapping.Attribute]string, a mapping.Attribute, id string) error {
	if old, ok := (*of)[a]; ok && old != id {
		if err := w.closeQuestion(old, mapping.Decision{Attribute: a, Action: mapping.Ask, Why: "asked anew (ledger " + id + ")"}); err != nil {
			return err
		}
	}
	if *of == nil {
		*of = map[mapping.Attribute]string{}
	}
	(*of)[a] = id
	return nil
}

// endQuestion closes the ledger entries of an attribute's questions once the sides agree on it. The
// label goes with the last question.
func (w ledger) endQuestion(d mapping.Decision) error {
	var ends []string
	for _, of := range []map[mapping.Attribute]string{w.pair.Asking, w.pair.Putting} {
		if id, ok := of[d.Attribute]; ok && !slices.Contains(ends, id) {
			ends = append(ends, id)
		}
	}
	for _, id := range ends {
		if err := w.closeQuestion(id, d); err != nil {
			return err
		}
	}
	if len(ends) > 0 && len(w.questions()) == len(ends) {
		if err := reader(w).haveIssue(); err != nil {
			return err
		}
		if containsFold(w.issue.Labels, w.conflictLabel()) && w.route.Writes(mapping.GitHub) {
			if err := githubWriter(w).swapLabels(nil, []string{w.conflictLabel()}); err != nil {
				return err
			}
		}
	}
	delete(w.pair.Asking, d.Attribute)
	delete(w.pair.Putting, d.Attribute)
	return nil
}

// conflictOf is the id of the conflict that a decision resolved.
func (w ledger) conflictOf(d mapping.Decision) string {
	github, planning := d.Base.GitHub, d.Base.Planning
	if d.GitHub != nil {
		github = d.GitHub.From
	}
	if d.Planning != nil {
		planning = d.Planning.From
	}
	return mapping.ConflictID(w.pair.Card.ID, d.Attribute, w.link.Text(w.route, d.Attribute, github), planning)
}

// closeQuestion settles the ledger entry of a question. A decision that was carried out, by an
// operator or by the policy, is counted here.
func (w ledger) closeQuestion(id string, d mapping.Decision) error {
	c, known, err := w.ledgerEntry(id)
	if !known || err != nil {
		return err
	}
	answered := c.State == mapping.ConflictAnswered
	c.State, c.Settled, c.Rule = mapping.ConflictSettled, w.Now().UTC(), d.Why
	switch {
	case d.Action == mapping.Ask:
		c.Winner, c.AnsweredBy = "", ""
	case d.Winner != "" && id != w.conflictOf(d):
		c.Winner, c.AnsweredBy, c.Rule = "", "", "other values were decided on: "+d.Why
	case d.Winner != "":
		c.Winner, c.AnsweredBy = d.Winner, d.By
	}
	if err := w.keepEntry(c); err != nil {
		return err
	}
	if c.Winner != "" && (answered || d.Action == mapping.ResolveConflict) {
		w.count(CountConflicts, w.link.Route, string(d.Attribute), string(c.Winner))
	}
	return nil
}

// partQuestions closes the open questions about a pair that is parted. Their label has been
// removed.
func (w ledger) partQuestions() error {
	for _, p := range w.link.All() {
		for _, id := range p.Questions() {
			c, known, err := w.ledgerEntry(id)
			if known && c.Part(w.Now().UTC()) {
				err = w.keepEntry(c)
			}
			if err != nil {
				return err
			}
		}
		p.Asking, p.Putting = nil, nil
	}
	return nil
}

// answerCame reports whether an operator answered an open question.
func (w ledger) answerCame() (bool, error) {
	for _, id := range w.questions() {
		c, _, err := w.ledgerEntry(id)
		if answered := c.State == mapping.ConflictAnswered; answered || err != nil {
			return answered, err
		}
	}
	return false, nil
}

// questions lists the ids of the conflicts about which people are asked on the issue.
func (w ledger) questions() []string {
	ids := w.owner.Questions()
	if !w.owner.IsTask() {
		for _, c := range w.link.Children {
			ids = append(ids, c.Questions()...)
		}
	}
	slices.Sort(ids)
	return ids
}

// keepItems is keep for the values of checklist items whose decisions match written.
func (w ledger) keepItems(written func(*mapping.Decision) bool) error {
	for _, c := range w.items() {
		var lose mapping.Plan
		for _, d := range w.list.plans[c].Decisions {
			if d.Loses && written(&d) {
				lose.Decisions = append(lose.Decisions, d)
			}
		}
		if len(lose.Decisions) == 0 {
			continue
		}
		if err := ledger(lineTasks(w).lineWork(c)).keep(lose); err != nil {
			return err
		}
	}
	return nil
}

// agreed records the decisions that need no write, and ends the questions that are answered.
func (w ledger) agreed(plan mapping.Plan) error {
	for _, d := range plan.Decisions {
		switch d.Action {
		case mapping.Adopt:
			w.pair.SetBase(d.Attribute, d.Base)
		case mapping.Ask, mapping.Blocked, mapping.Restrained, mapping.Withheld, mapping.RestoreMarker:
			continue
		}
		if err := w.endQuestion(d); err != nil {
			return err
		}
	}
	return w.endQuestions(plan)
}

// endQuestions closes the questions that need no decision any more: people undid both edits,
// or a process ended while it handled the answer. A refused value does not stand anywhere then.
func (w ledger) endQuestions(plan mapping.Plan) error {
	for _, a := range mapping.Attributes {
		_, g := w.g[a]
		_, p := w.p[a]
		if !g || !p || slices.ContainsFunc(plan.Decisions, func(d mapping.Decision) bool { return d.Attribute == a }) {
			continue
		}
		delete(w.pair.Refused, a)
		if err := w.endQuestion(mapping.Decision{Attribute: a, Why: "both sides agree"}); err != nil {
			return err
		}
	}
	return nil
}
