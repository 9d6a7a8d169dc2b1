package randomtest_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// Checklists and tasks in the random run: a seed of four.

func listSeed(seed uint64) bool { return seed%8 == 2 || seed%8 == 7 }

// listLine is a line of a checklist, or the task that it stands for.
type listLine struct {
	text string
	done bool
}

// listed is what there is to see of a checklist on one side.
type listed struct {
	lines []listLine
	// past is every write to what the lines say and what stands around them.
	past []write
	said string // all that is written there
}

func hubList(w *bridgetest.World, i githubtest.IssueState) *listed {
	out := &listed{said: i.Title + "\n" + i.Body, past: hubWrites(w.Repo.History(i.Number, "body"), func(v string) string { return v })}
	for _, c := range i.Comments {
		out.said += "\n" + c.Body
	}
	for _, item := range mapping.Items(i.Body) {
		v := mapping.ItemView(item)
		out.lines = append(out.lines, listLine{v[mapping.Title].Value, item.Checked})
	}
	return out
}

func planList(p *planningtest.Project, keys mapping.Keys, c planningtest.CardState) *listed {
	same := func(v string) string { return v }
	out := &listed{said: c.Summary, past: planWrites(p.History(c.ID, "summary"), same)}
	for _, t := range c.Tasks {
		if isTracking(keys, t) {
			continue
		}
		out.said += "\n" + t.Title
		out.lines = append(out.lines, listLine{mapping.CanonicalTitle(t.Title), t.State == mapping.StateDone})
		out.past = append(out.past, planWrites(p.History(t.ID, "title"), same)...)
	}
	return out
}

var aWord = regexp.MustCompile(`\bw[0-9]+\b`)

// list complains of lines without a task, tasks without a line that nobody took
// away, of doubles, and of words that are gone.
func (j *judging) list(i *seenIssue, c *seenCard) {
	if i.list == nil || c.list == nil {
		return
	}
	for _, side := range []*listed{i.list, c.list} {
		seen := map[string]bool{}
		for _, l := range side.lines {
			if seen[l.text] {
				j.complain(i, c, "doubled item %q", l.text)
			}
			seen[l.text] = true
		}
	}
	for _, l := range i.list.lines {
		if !slices.Contains(c.list.lines, l) && !j.apart && !j.staysItem(l, i, c, true) {
			j.complain(i, c, "item %+v has no such task: %+v", l, c.list.lines)
		}
	}
	said := i.list.said + "\n" + c.list.said
	for _, k := range i.ledgered {
		said += "\n" + strings.Join(k.texts, "\n")
	}
	past := slices.Concat(i.list.past, c.list.past)
	for _, l := range c.list.lines {
		line := func(o listLine) bool { return o.text == l.text }
		if !j.forgotten && !j.apart && !slices.ContainsFunc(i.list.lines, line) && !j.staysItem(l, i, c, false) && !slices.ContainsFunc(past, func(w write) bool { return w.person && w.removesItems() }) {
			j.complain(i, c, "task %+v has no line: %+v", l, i.list.lines)
		}
	}
	for _, w := range past {
		if j.forgotten && j.way == mapping.ToPlanning {
			break // as in lost
		}
		for _, word := range wordsBeside(w.to, w.from) {
			if w.person && !saysWord(said, word) && !slices.ContainsFunc(past, func(later write) bool {
				return later.person && !later.at.Before(w.at.Truncate(time.Second)) && slices.Contains(wordsBeside(later.from, later.to), word)
			}) {
				j.complain(i, c, "lost word %s: a person changed %q\nto %q (%s)", word, w.from, w.to, w.at.Format(time.TimeOnly))
			}
		}
	}
}

// wordsBeside are the words of a text that another one has not.
func wordsBeside(text, other string) []string {
	return without(aWord.FindAllString(text, -1), aWord.FindAllString(other, -1))
}

func saysWord(text, word string) bool { return slices.Contains(aWord.FindAllString(text, -1), word) }

// removesItems reports whether a write took lines of a checklist away.
func (w write) removesItems() bool {
	to := mapping.Items(w.to)
	return slices.ContainsFunc(mapping.Items(w.from), func(was mapping.Item) bool {
		return !slices.ContainsFunc(to, func(is mapping.Item) bool { return is.Text == was.Text })
	})
}

// ink is a text without the white space around the lines of a checklist.
func ink(text string) string { return strings.Join(strings.Fields(plainBullets(text)), " ") }

// tickOff works on an issue's checklist: ticks a box, renames, adds or removes
// an item.
func (p actor) tickOff(n int, who string) {
	what, name, did := p.IntN(8), "item "+p.word(), do("github", "edit", n, who)
	changed := fmt.Sprintf("adds %q to the checklist", name)
	p.w.Repo.Edit(n, who, func(e *githubtest.IssueEdit) {
		items, item := mapping.Items(e.Body), mapping.Item{Text: name}
		if what > 0 && len(items) > 0 {
			item = items[p.IntN(len(items))]
			switch what {
			case 1:
				item.Remove = true
				changed = fmt.Sprintf("removes %q from the checklist", item.Text)
			case 2, 3:
				item.Text += " " + name
				changed = fmt.Sprintf("makes it %q in the checklist", item.Text)
			default:
				item.Checked = !item.Checked
				changed = fmt.Sprintf("makes the box of %q checked: %t", item.Text, item.Checked)
			}
		}
		e.Body = mapping.SetItems(e.Body, []mapping.Item{item})
		written, _ := bridgetest.SplitMarker(e.Body)
		did = did.and("body", written)
	})
	p.did(did, "%s %s of issue %d", who, changed, n)
}
