package reconcile

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"planbridge/mapping"
)

// An operator takes a pair apart. What the bridge made is taken off both items, and then
// the pair is parted. What is to go is what the items show now: a claim that ends halfway
// leaves less to the next one. Whatever people wrote, and each label that the bridge does
// not know for its own, stays.

// mark is one thing of the bridge's on an item.
type mark struct {
	mapping.CleanStep
	off func() error
}

// unmade parts at once a pair that is taken apart and has not two items.
func unmade(w work) (verdict, error) {
	if !w.link.Cleaning || w.pair.State == mapping.Linked || w.pair.State == mapping.Left {
		return pass, nil
	}
	cleaner(w).partCleaned("it had not two items")
	return end, nil
}

// clean takes off what the bridge made, one thing after the other. An edit that the write
// of a body ran over is brought back before the pair is parted.
func clean(w work) (verdict, error) {
	if !w.link.Cleaning {
		return pass, nil
	}
	marks, err := cleaner(w).ownMarks()
	if err != nil {
		return end, err
	}
	for _, m := range marks {
		if err := m.off(); err != nil {
			return end, err
		}
		w.note(m.Side, "", mapping.Cleaned, m.What)
	}
	if waits := w.book().Waits(); len(waits) > 0 {
		return end, inTurn(waits[0].After, "%s", waits[0].Why)
	}
	w.cleaned = true
	return end, nil
}

// cleanFamily goes on with the sub-issues of a root that is clean, and parts the pair; err
// is what became of the root.
func (w cleaner) cleanFamily(err error) error {
	if err != nil || !w.cleaned {
		return err
	}
	for _, p := range w.link.Parts {
		if err := w.cleanPart(p); err != nil {
			return err
		}
	}
	w.partCleaned("nothing of planbridge's is left on it")
	return nil
}

// cleanPart takes off what the bridge made of a sub-issue and its task.
func (w cleaner) cleanPart(p *mapping.Pair) error {
	if p.State != mapping.Linked && p.State != mapping.Left {
		return nil
	}
	pw := partWorker(w).part(p)
	err := intake(pw).takeEvents()
	if err == nil {
		_, err = pw.apply(preparationRules)
	}
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// partCleaned parts the pair.
func (w cleaner) partCleaned(why string) {
	w.happens(mapping.EventUnlinked)
	w.link.Cleaning, w.link.Parted, w.pair.Why = false, true, mapping.PartedWhy
	w.again, w.showAgain = revisit{}, revisit{}
	w.note("", "", "unlinked", why)
}

// ownMarks reads both items and lists what of the bridge's they show.
func (w cleaner) ownMarks() ([]mark, error) {
	if err := reader(w).readBoth(); err != nil {
		return nil, err
	}
	var out []mark
	if w.issue != nil && w.route.Writes(mapping.GitHub) {
		out = append(w.labelMarks(), w.milestoneMarks()...)
		out = append(out, w.bodyMarks()...)
	}
	if w.card == nil || !w.route.Writes(mapping.Planning) {
		return out, nil
	}
	out = append(out, w.footerMarks(w.pair.IsTask(), w.card.ID, w.card.Summary)...)
	if w.pair.IsTask() || len(w.link.Children) == 0 {
		return out, nil
	}
	tasks, err := do(w, ReadTasks{w.card.ID})
	if err != nil {
		return nil, onPlanning(err)
	}
	for _, t := range tasks {
		if slices.ContainsFunc(w.link.Children, func(c *mapping.Pair) bool { return c.Card.ID == t.ID }) {
			out = append(out, w.footerMarks(true, t.ID, t.Summary)...)
		}
	}
	return out, nil
}

// toClean is a step on the pair's own issue, or on an item in planning.
func (w cleaner) toClean(side mapping.Side, format string, args ...any) mapping.CleanStep {
	return mapping.CleanStep{Where: where(w.pair), Side: side, What: fmt.Sprintf(format, args...)}
}

// labelMarks are the labels that show the card, and the one that asks people.
func (w cleaner) labelMarks() (out []mark) {
	if w.pair.IsTask() || w.link.Shown == nil {
		return nil
	}
	for _, l := range w.issue.Labels {
		asks := len(w.pair.Asking) > 0 && strings.EqualFold(l, ledger(w).conflictLabel())
		if !asks && !containsFold(w.link.Shown.Labels, l) && !containsFold(w.link.Shown.Made, l) {
			continue
		}
		out = append(out, mark{w.toClean(mapping.GitHub, "the label %s is taken off", l), func() error {
			if err := w.mayEdit(); err != nil {
				return err
			}
			issue := *w.issue
			if err := githubWriter(w).removeLabel(&issue, l); err != nil {
				return err
			}
			labelProjector(w).carries(issue.Labels)
			return nil
		}})
	}
	return out
}

// milestoneMarks is the milestone that the bridge set, while the issue has it.
func (w cleaner) milestoneMarks() []mark {
	if w.pair.IsTask() || w.link.Shown == nil || w.link.Shown.Milestone == 0 || w.issue.Milestone != w.link.Shown.Milestone {
		return nil
	}
	return []mark{{w.toClean(mapping.GitHub, "the milestone %s is taken off", milestoneName(w.issue.Milestone)), func() error {
		if err := w.mayEdit(); err != nil {
			return err
		}
		none := 0
		issue, err := do(w, EditIssue{w.owner.Issue.Repo, w.owner.Issue.Number, IssueEdit{Milestone: &none}})
		if err != nil {
			return onGitHub(fmt.Errorf("take milestone off: %w", err))
		}
		w.link.Shown.Milestone = 0
		reader(w).issueIs(&issue)
		return nil
	}}}
}

// mayEdit takes the budget and the lease for one write to the issue.
func (w cleaner) mayEdit() error {
	if err := saver(w).reserve(WriteEdit); err != nil {
		return err
	}
	return saver(w).writing()
}

// bodyMarks is the marker of an issue that the bridge made.
func (w cleaner) bodyMarks() []mark {
	base, agreed := w.pair.Base[mapping.Summary]
	if signer(w).markedSide() != mapping.GitHub || w.unmarked != "" || !agreed {
		return nil
	}
	step := w.toClean(mapping.GitHub, "the marker is taken out of the body")
	return []mark{{step, func() error {
		if err := saver(w).reserve(WriteEdit); err != nil {
			return err
		}
		if err := reader(w).fetch(); err != nil { // GitHub has no lock
			return err
		}
		text := w.g[mapping.Summary].Value
		d := mapping.Decision{Attribute: mapping.Summary, Action: mapping.Remark, Why: step.What, Base: base, GitHub: &mapping.Write{From: text, To: text}}
		return githubWriter(w).write(mapping.Plan{Decisions: []mapping.Decision{d}})
	}}}
}

// footerMarks is the footer of a card or a task, whose raw text this is.
func (w cleaner) footerMarks(task bool, id mapping.ObjectID, raw mapping.Versioned) []mark {
	bare, _ := w.set.Keys.Body(raw.Value)
	if bare == raw.Value {
		return nil
	}
	kind := "card"
	if task {
		kind = "task"
	}
	return []mark{{w.toClean(mapping.Planning, "the footer is taken out of %s %s", kind, id), func() error {
		if err := saver(w).writing(); err != nil {
			return err
		}
		set := map[mapping.Attribute]mapping.Versioned{mapping.Summary: {Value: bare, Version: raw.Version}}
		var err error
		if task {
			_, err = do(w, UpdateTask{id, w.route.Username, w.route.Images, set})
		} else {
			_, err = do(w, UpdateCard{id, w.route.Username, w.route.Images, set})
		}
		if errors.As(err, new(*mapping.VersionConflict)) {
			return later(0, "planning moved while a footer was taken off")
		}
		return onPlanning(err)
	}}}
}

// Cleaning is the reading of a root link's items, and what of the bridge's would be taken
// off them. It asks for no write.
type Cleaning struct {
	w   work
	out []mapping.CleanStep
}

// BeginCleaning begins to look what would be taken off the link of a state, which it changes.
func BeginCleaning(s State) *Cleaning {
	c := &Cleaning{w: newWork(s)}
	c.w.link.Cleaning, c.w.link.Parted = true, false
	return c
}

// Steps are the reads that are needed, as of [Work.Steps].
func (c *Cleaning) Steps() iter.Seq[*Step] { return stepwise(c.w.state, c.run) }

// Result is what would be taken off, in its order.
func (c *Cleaning) Result() ([]mapping.CleanStep, error) { return c.out, c.w.err }

func (c *Cleaning) run() error {
	w := c.w
	if w.route == nil {
		w.route = w.set.Routes.Lend(w.link.Project)
	}
	if w.pair.State == mapping.Dormant {
		w.happens(mapping.EventRouteBack)
	}
	all := []work{w}
	for _, p := range w.link.Parts {
		all = append(all, partWorker(w).part(p))
	}
	for _, pw := range all {
		if s := pw.pair.State; w.route == nil || !w.served || s != mapping.Linked && s != mapping.Left {
			continue
		}
		marks, err := cleaner(pw).ownMarks()
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look what is to be taken off %s: %w", where(pw.pair), err)
		}
		for _, m := range marks {
			c.out = append(c.out, m.CleanStep)
		}
	}
	return nil
}
