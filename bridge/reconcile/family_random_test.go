package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
)

// onPart lets a deed happen to the nth sub-issue or task, or make one.
func (d deed) onPart(w *world, n, nth int) {
	edit := func(a mapping.Attribute, was string) string {
		switch tok := fmt.Sprint("tok", 100+n); {
		case a == mapping.Estimate:
			return fmt.Sprint(100+n, ".5")
		case a == mapping.State:
			return []string{mapping.StateTodo, mapping.StateInProgress, mapping.StateDone, mapping.StateDone}[d.change]
		case a == mapping.Title:
			return tok
		default: // a marker stays, or an item that was just made could not be known
			text, _ := keys.Body(was)
			mark := strings.TrimPrefix(was, text)
			if d.change == 0 {
				return tok + mark
			}
			return strings.TrimSpace(tok+"\n\n"+text) + mark
		}
	}
	subs := w.hub.issues[1:]
	tasks := slices.DeleteFunc(slices.Clone(w.plan.tasks), func(t *mapping.Task) bool { return t == w.task() })
	switch {
	case d.where == mapping.GitHub && (len(subs) == 0 || d.change == 3):
		title := edit(mapping.Title, "")
		w.words.wrote(mapping.Title, "", title)
		w.openSub(0, title, "")
	case d.where == mapping.Planning && (len(tasks) == 0 || d.change == 3):
		title := edit(mapping.Title, "")
		w.words.wrote(mapping.Title, "", title)
		w.addTask(title, "")
	case d.where == mapping.GitHub:
		w.editSub(subs[nth%len(subs)], d.attr, edit)
	default:
		w.editTask(tasks[nth%len(tasks)], func(t *mapping.Task) {
			v := map[mapping.Attribute]*mapping.Versioned{
				mapping.Title: &t.Title, mapping.Summary: &t.Summary, mapping.Estimate: &t.Estimate, mapping.State: &t.State,
			}[d.attr]
			to := edit(d.attr, v.Value)
			w.words.wrote(d.attr, v.Value, to)
			v.Value = to
		})
	}
}

// editSub is a person who edits one attribute of a sub-issue.
func (w *world) editSub(i *ghIssue, a mapping.Attribute, edit func(mapping.Attribute, string) string) {
	hours := scheme
	hours.Estimate = hours.Hours
	view, _ := mapping.IssueView(&i.Issue, hours, mapping.Keys{}, nil)
	to := edit(a, view[a].Value)
	w.words.wrote(a, view[a].Value, to)
	w.hub.change(i, dev, func(s *mapping.Issue) {
		switch a {
		case mapping.Title:
			s.Title = to
		case mapping.Summary:
			s.Body = to
		case mapping.Estimate:
			s.Labels = slices.DeleteFunc(slices.Clone(s.Labels), func(l string) bool { return strings.HasPrefix(l, "hours/") })
			s.Labels = append(s.Labels, hours.EstimateLabel(to))
		case mapping.State:
			s.State, s.StateReason, s.Labels = "open", "", without(s.Labels, scheme.InProgress)
			if to == mapping.StateDone {
				s.State, s.StateReason = "closed", "completed"
			} else if to == mapping.StateInProgress {
				s.Labels = append(s.Labels, scheme.InProgress)
			}
		}
	})
}

// verifyParts checks that every sub-issue and every task has one partner, in
// agreement, and that no word that a person wrote is gone.
func (w *world) verifyParts() {
	if len(w.errs) > 0 {
		return
	}
	parts := 0
	var all []mapping.View
	hours := scheme
	hours.Estimate = hours.Hours
	for _, i := range w.hub.issues[1:] {
		if i.State == "closed" && i.Author == dev && !slices.ContainsFunc(w.links(), func(l *mapping.Link) bool { return l.Part(mapping.IssueRef(i.ID)) != nil }) {
			v, _ := mapping.IssueView(&i.Issue, hours, keys, nil)
			all = append(all, v)
			continue // closed before it entered: it stays out
		}
		parts++
	}
	if len(w.plan.cards) != 1 || len(w.plan.tasks) != 1+parts {
		w.fail("%d sub-issues, %d cards, %d tasks", parts, len(w.plan.cards), len(w.plan.tasks))
		return
	}
	var told string
	for _, i := range w.hub.issues {
		for _, c := range i.comments {
			told += c.Body + "\n"
		}
	}
	for _, l := range w.links() {
		for _, p := range l.SubLinks {
			i, err := w.hub.at(p.Issue.Number)
			w.check(err)
			t, err := w.plan.task(p.Card.ID)
			w.check(err)
			if len(w.errs) > 0 {
				return
			}
			gv, _ := mapping.IssueView(&i.Issue, hours, keys, nil)
			pv := mapping.TaskItemView(t, keys)
			for _, a := range mapping.Attributes {
				if !mapping.Equal(a, gv[a].Value, pv[a].Value) {
					w.fail("%s of issue %d and %s: GitHub %q, planning %q", a, i.Number, t.ID, gv[a].Value, pv[a].Value)
				}
			}
			w.verifyMarked(i, t)
			all = append(all, gv)
		}
	}
	for _, word := range w.words.words {
		has := func(v mapping.View) bool { return slices.Contains(wordsOf(word.attr, v[word.attr].Value), word.text) }
		g, _ := w.views()
		if !w.words.removed[word] && !has(g) && !slices.ContainsFunc(all, has) && !strings.Contains(told, word.text) {
			w.fail("%s %q, which a person wrote, is nowhere", word.attr, word.text)
		}
	}
	w.verifyFamilyRest(1, parts)
}

// TestAnythingMayHappenToAFamily lets people open and edit sub-issues and tasks
// at random while calls fail, processes die and events are late or lost.
func TestAnythingMayHappenToAFamily(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		todo, sky := deeds().Draw(rt, "deeds"), weather().Draw(rt, "weather")
		who := rapid.SliceOfN(rapid.IntRange(0, 5), len(todo), len(todo)).Draw(rt, "who")
		lags := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 8).Draw(rt, "lags")
		dice, coalesce := rapid.Uint64().Draw(rt, "dice"), drawFold(rt)
		err := inWorld(t, func(w *world) {
			w.dice.Seed(dice, 0)
			w.coalesce = coalesce
			withTasks(w)
			w.restart()
			w.agree()
			w.disturb(lags, sky)
			at := 5 * time.Second
			for n, d := range todo {
				if d.attr == shows {
					d.attr, d.change = mapping.Title, 3 // one more
				}
				at += d.after
				w.after(at, func() { d.onPart(w, n, who[n]) })
			}
			w.settle()
			w.faults.armed = false
			w.verifyParts()
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}
