package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// view is the visible state of both sides. It has the text of each item by its name, and the names
// in the order in which they are shown.
type view struct {
	names []string
	texts map[string]string
}

// snapshot takes a view of both sides.
func snapshot(w *bridgetest.World) view {
	v := view{texts: map[string]string{}}
	for _, repo := range []string{bridgetest.RepoName, docsName} {
		r := w.GitHub.Repo(repo)
		for _, i := range r.Issues() {
			v.add(fmt.Sprintf("issue %s#%d", repo, i.Number), issueLines(r, i))
		}
	}
	for _, c := range w.Project.Cards() {
		if !c.Placeholder {
			v.add(fmt.Sprintf("card %d", c.CID), cardLines(w.Project, c))
		}
	}
	return v
}

func (v *view) add(name string, lines []string) {
	v.names = append(v.names, name)
	v.texts[name] = strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n") + "\n"
}

// field is a line of an item; an empty value has none.
func field(name, value string) string {
	if value == "" {
		return ""
	}
	return name + ": " + value
}

// text is a text of several lines.
func text(name, value string) []string {
	if value == "" {
		return nil
	}
	lines := []string{name + ":"}
	for line := range strings.Lines(signature.ReplaceAllString(value, "…")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

// signature is the signed part of a marker, which tells a person nothing.
var signature = regexp.MustCompile(`[\w.:-]{40,}`)

func issueLines(r *githubtest.Repo, i githubtest.IssueState) []string {
	milestone := ""
	for _, m := range r.Milestones() {
		if m.Number == i.Milestone {
			milestone = m.Title
		}
	}
	state := i.State
	if i.StateReason != "" {
		state += ", " + i.StateReason
	}
	lines := []string{field("title", i.Title), field("state", state), field("labels", strings.Join(slices.Sorted(slices.Values(i.Labels)), ", ")), field("milestone", milestone)}
	lines = append(lines, text("body", i.Body)...)
	for _, c := range i.Comments {
		lines = append(lines, text("comment of "+c.Author, c.Body)...)
	}
	return lines
}

func cardLines(p *planningtest.Project, c planningtest.CardState) []string {
	sprint := ""
	if c.Sprint != "" {
		sprint = p.Sprint(c.Sprint).Title
	}
	lines := []string{field("title", c.Title), field("bucket", c.Bucket), field("sprint", sprint), field("estimate", number(c.Estimate)), field("review", c.Review)}
	lines = append(lines, text("summary", c.Summary)...)
	for _, t := range c.Tasks {
		line := fmt.Sprintf("task %q: %s", t.Title, t.State)
		if t.Estimate != nil {
			line += ", " + number(t.Estimate) + " hours"
		}
		lines = append(lines, line)
	}
	return lines
}

func number(n *float64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("%g", *n)
}

// printChanges prints each line that differs between two views, before and after.
func printChanges(out io.Writer, before, after view) {
	for _, name := range after.names {
		was, is := before.texts[name], after.texts[name]
		if was == is {
			continue
		}
		fmt.Fprintf(out, "      %s\n", name)
		unified, err := udiff.ToUnified("", "", was, udiff.Lines(was, is), 0)
		if err != nil { // the edits are of these texts
			unified = err.Error()
		}
		_, hunks, _ := strings.Cut(unified, "@@")
		for line := range strings.Lines("@@" + hunks) {
			if !strings.HasPrefix(line, "@@") {
				fmt.Fprintf(out, "        %s %s", line[:1], line[1:])
			}
		}
	}
}
