package mapping

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"planbridge/mapping/pagetest"
)

const designPage = "../docs/design.md"

// TestDrawing: the page on the design shows the table of states as it is, and says what
// each state means.
func TestDrawing(t *testing.T) {
	t.Parallel()
	before := pagetest.Section(t, designPage, "transitions", drawing()+"\n"+tableOfTransitions())
	for _, s := range LinkStates {
		if !strings.Contains(before, "| `"+string(s)+"` |") {
			t.Errorf("%s does not say what %s means", designPage, s)
		}
	}
}

// drawing is the table as a state diagram of Mermaid. An event that may come in each
// state of a pair that has a route is drawn once.
func drawing() string {
	routed := slices.DeleteFunc(slices.Clone(LinkStates), func(s LinkState) bool { return s == Dormant || s == Erased })
	inEach := func(e PairEvent) bool {
		return !slices.ContainsFunc(routed, func(s LinkState) bool { _, err := FindTransition(s, e); return err != nil })
	}
	var arrows []string
	for _, row := range Transitions {
		from := node(row.From, "[*]")
		if inEach(row.Event) && slices.Contains(routed, row.From) {
			from = "routed"
		}
		arrow := fmt.Sprintf("    %s --> %s: %s\n", from, node(row.To, "interrupted"), row.Event)
		if row.From != row.To && !slices.Contains(arrows, arrow) {
			arrows = append(arrows, arrow)
		}
	}
	names := make([]string, len(routed))
	for i, s := range routed {
		names[i] = string(s)
	}
	return "```mermaid\nstateDiagram-v2\n" + strings.Join(arrows, "") +
		"    interrupted: the state that was interrupted\n    routed: " + strings.Join(names, ", ") + "\n```\n"
}

// node is the name of a state in the drawing, where it is one.
func node(s LinkState, otherwise string) string {
	if slices.Contains(LinkStates, s) {
		return string(s)
	}
	return otherwise
}

func tableOfTransitions() string {
	var b strings.Builder
	b.WriteString("| from | event | to | when |\n|---|---|---|---|\n")
	for _, row := range Transitions {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", node(row.From, "–"), row.Event, node(row.To, "the interrupted one"), row.Why)
	}
	return b.String()
}
