package randomtest_test

import (
	"fmt"
	"slices"
	"strconv"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// Sub-issues and tasks in the random run.

// hoursScheme reads the hours label, a sub-issue's estimate, as an estimate.
var hoursScheme = func() mapping.LabelScheme {
	s := chaosScheme
	s.Estimate = s.Hours
	return s
}()

// trackingMark is what the marker of a tracking task says it stands for.
const trackingMark = "tracking"

func isTracking(keys mapping.Keys, t planningtest.TaskState) bool {
	_, marks := keys.Body(t.Summary)
	return slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Kind == mapping.MarkTask && m.Partner == trackingMark })
}

// lookTask reads a task as what a sub-issue is the partner of.
func lookTask(p *planningtest.Project, keys mapping.Keys, of planningtest.CardState, t planningtest.TaskState) seenCard {
	summary, marks := keys.Body(t.Summary)
	out := seenCard{id: t.ID, project: p.ID(), of: of.ID, bucket: of.Bucket, seenItem: seenItem{
		marks: marks, own: madeByAPI(p, t.ID), signed: isSigned(p, keys, t.ID), past: planPast(p, keys, t.ID),
		now: map[mapping.Attribute]string{mapping.Title: t.Title, mapping.Summary: summary, mapping.Estimate: number(t.Estimate), mapping.State: t.State},
	}}
	out.past[mapping.State] = planWrites(p.History(t.ID, "state"), func(v string) string { return v })
	return out
}

// family complains of a sub-issue whose task is on another card than that of
// the nearest issue above it that has one. A new sub-issue of a pair that an operator parted, or of an
// issue that is gone, is not added to its parent any more. A sub-issue that gets another parent keeps
// its task.
func (j *judging) family(s seen, partners map[int]*seenCard, i *seenIssue, c *seenCard) {
	if i.parent == 0 && (j.apart || s.lostIssue(c)) || s.reparented[i.number] {
		return
	}
	p := partners[i.parent]
	switch apart := s.apart[i.parent]; {
	case p != nil && p.of != "":
		p = &seenCard{id: p.of}
	case p == nil && apart != "": // without marks
		p = &seenCard{id: apart}
	}
	if c.of != "" && (p == nil || p.id != c.of) {
		j.complain(i, c, "its task is not on the card of its parent, issue %d", i.parent)
	}
}

// startPart counts what people make below an issue or a card, and reports
// whether there may be one more.
func (p *people) startPart() bool { return p.parts.Add(1) <= int64(p.most) }

// openSub opens an issue below another one.
func (p actor) openSub(i githubtest.IssueState, who string) {
	spec := githubtest.IssueSpec{Title: "sub-issue " + p.word(), Body: p.line() + "\n" + p.line()}
	if p.chance(50) {
		spec.Labels = []string{hoursScheme.EstimateLabel(strconv.Itoa(int(*p.points())))}
	}
	n := p.w.Repo.Open(who, spec)
	p.w.Repo.AddSubIssue(i.Number, n)
	p.did(do("github", "open", who, spec.Title).with(spec.Labels...).and("body", spec.Body).and("parent", strconv.Itoa(i.Number)),
		"%s opens issue %d %q below issue %d", who, n, spec.Title, i.Number)
}

// makeTask makes a task on a card.
func (p actor) makeTask(c planningtest.CardState, who string) {
	spec := planningtest.TaskSpec{Title: "task " + p.word()}
	if !p.lists && p.chance(50) {
		spec.Summary, spec.Estimate = p.line()+"\n"+p.line(), p.points()
	}
	if p.chance(20) {
		spec.State = mapping.StateInProgress
	}
	p.did(do("planning", "new-task", p.card(c.ID), who, spec.Title).and("state", spec.State).and("summary", spec.Summary).and("hours", number(spec.Estimate)),
		"%s makes a task %q on card %d", who, spec.Title, p.card(c.ID))
	p.project(c.ID).NewTask(c.ID, who, spec)
}

// editTask edits a task; of a tracking task nothing but the state.
func (p actor) editTask(t planningtest.TaskState, who string) {
	state := []string{mapping.StateTodo, mapping.StateInProgress, mapping.StateDone}[p.IntN(3)]
	what, title, points := p.IntN(4), "task "+p.word(), p.points()
	if p.isTracking(t) || p.lists && what != 0 {
		what = 3
	}
	did, changed := do("planning", "set-task", p.card(t.Card), t.Title, who), ""
	if p.isTracking(t) {
		did = do("planning", "task", p.card(t.Card), who)
	}
	p.project(t.ID).EditTask(t.ID, who, func(e *planningtest.TaskEdit) {
		switch what {
		case 0:
			e.Title = title
			did, changed = did.and("title", title), fmt.Sprintf("the title, to %q", title)
		case 1:
			was := e.Summary
			e.Summary = p.edited(e.Summary)
			written, _ := bridgetest.SplitMarker(e.Summary)
			did, changed = did.and("summary", written), "the summary, "+difference(was, e.Summary)
		case 2:
			e.Estimate = points
			did, changed = did.and("hours", number(points)), "the estimate, to "+number(points)
		default:
			e.State = state
			did, changed = did.and("state", state), "the state, to "+state
		}
	})
	p.did(did, "%s edits of the task %q of card %d %s", who, t.Title, p.card(t.Card), changed)
}

func (p *people) isTracking(t planningtest.TaskState) bool { return isTracking(p.keys, t) }
