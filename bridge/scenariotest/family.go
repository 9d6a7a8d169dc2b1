package scenariotest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// This file has the facts of sub-issues and their tasks.

// partFacts are the tasks of a card without its tracking task: state, title,
// hours and text.
func partFacts(tasks []planningtest.TaskState) string {
	var out []string
	for _, t := range tasks {
		if strings.HasPrefix(t.Title, "GitHub acme/") {
			continue
		}
		text, _ := bridgetest.SplitMarker(t.Summary)
		part := t.State + " " + t.Title
		if t.Estimate != nil {
			part += fmt.Sprintf(" %gh", *t.Estimate)
		}
		if text != "" {
			part += ": " + text
		}
		out = append(out, part)
	}
	return strings.Join(out, ", ")
}

// hours reads the value hours=, else returns the value before.
func (l *line) hours(was *float64) *float64 {
	text, ok := l.get("hours")
	if !ok {
		return was
	}
	if h, err := strconv.ParseFloat(text, 64); err == nil {
		return &h
	}
	return nil
}

// footerFacts names the issues in the footers of tasks, each once, in order.
func footerFacts(tasks []planningtest.TaskState) string {
	var out []string
	for _, t := range tasks {
		_, mark := bridgetest.SplitMarker(t.Summary)
		if name := footerName.FindString(mark); name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

var footerName = regexp.MustCompile(`acme/[a-z]+#[0-9]+`)

// said is a link's whole history.
func (s *Scene) said(l *mapping.Link) string {
	lines, err := s.App.Operator().History(context.Background(), l, 1000)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, e := range lines {
		fmt.Fprintf(&b, "%s: %s\n", e.What, e.Why)
	}
	return b.String()
}
