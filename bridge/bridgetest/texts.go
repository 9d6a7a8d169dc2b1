package bridgetest

import (
	"strings"

	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// SplitMarker separates a person's text from the bridge's addition.
func SplitMarker(text string) (written, mark string) {
	at := len(text)
	for _, begin := range []string{"<!-- planbridge:", "Synced by planbridge with ["} {
		if i := strings.Index(text, begin); i >= 0 {
			at = min(at, i)
		}
	}
	written = strings.TrimRight(text[:at], "\r\n")
	if at == len(text) {
		written = text
	}
	return written, text[len(written):]
}

// ShownLabels recognises the labels that only show planning's state.
var ShownLabels = mapping.LabelScheme{Prefix: "plan:"}

// IsShown reports whether a label only shows planning's state.
func IsShown(label string) bool { return len(ShownLabels.Projections([]string{label})) > 0 }

// ItemTexts are the items of a body, each as its box shows it.
func ItemTexts(body string) string {
	var out []string
	for _, item := range mapping.Items(body) {
		box := "[ ] "
		if item.Checked {
			box = "[x] "
		}
		out = append(out, box+item.Text)
	}
	return strings.Join(out, ", ")
}

// TaskTexts are the tasks of a card without its tracking task.
func TaskTexts(tasks []planningtest.TaskState) string {
	var out []string
	for _, t := range tasks {
		if !strings.HasPrefix(t.Title, "GitHub acme/") {
			out = append(out, t.State+" "+t.Title)
		}
	}
	return strings.Join(out, ", ")
}

// TaskTitles are the titles of tasks.
func TaskTitles(tasks []planningtest.TaskState) string {
	var titles []string
	for _, t := range tasks {
		titles = append(titles, t.Title)
	}
	return strings.Join(titles, ", ")
}

// QuietPolls is how many polls without a write show that no echo is under way.
const QuietPolls = 5
