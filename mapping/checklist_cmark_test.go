package mapping_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"

	"planbridge/mapping"
)

// boxesShown lists the boxes that GitHub shows outside quotes, each with the word behind
// it. A ticked one begins with an x.
func boxesShown(t testing.TB, rendered string) []string {
	t.Helper()
	nodes, err := html.ParseFragment(strings.NewReader(rendered), &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil {
		t.Fatalf("parse %q: %v", rendered, err)
	}
	var boxes []string
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch n.DataAtom {
		case atom.Blockquote:
			return
		case atom.Input:
			boxes = append(boxes, boxShown(n))
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	for _, n := range nodes {
		walk(n)
	}
	return boxes
}

// boxShown is a box with the first word behind it.
func boxShown(input *html.Node) string {
	tick := " "
	for _, attr := range input.Attr {
		if attr.Key == "checked" {
			tick = "x"
		}
	}
	var words strings.Builder
	for n := range input.Parent.Descendants() {
		if n.Type == html.TextNode {
			words.WriteString(n.Data + " ")
		}
	}
	return tick + " " + strings.Fields(words.String())[0]
}

// TestItemsAreGitHubsBoxes: an item is a box with words in GitHub's rendering, and there is none
// where it shows code or plain words.
func TestItemsAreGitHubsBoxes(t *testing.T) {
	t.Parallel()
	lines := rapid.SampledFrom([]string{
		"- [ ] a", "- [x] b", "* [ ] c", "+ [X] d", "1. [ ] e", "12. [ ] f", "-    [ ] g", "-     [ ] h", "-      [x] i", "*\t[ ] j", "-\t\t[ ] k", "1.     [ ] l",
		"  - [ ] m", "    - [x] n", "  -     [ ] o", "\t- [ ] p", "- - [ ] q", "- plain", "  plain", "", "", "words", "# head", "> - [ ] r", "```\n- [ ] s\n```", "-",
	})
	var bodies []string
	rapid.Check(t, func(t *rapid.T) {
		bodies = append(bodies, strings.Join(rapid.SliceOfN(lines, 1, 6).Draw(t, "lines"), "\n"))
	})
	const end = "end of a body" // a paragraph, which ends the lists above it
	parts := strings.Split(cmark(t, strings.Join(bodies, "\n\n"+end+"\n\n")), "<p>"+end+"</p>")
	if len(parts) != len(bodies) {
		t.Fatalf("%d parts of %d bodies", len(parts), len(bodies))
	}
	for i, part := range parts {
		var items []string
		for _, item := range mapping.Items(bodies[i]) {
			items = append(items, itemList([]mapping.Item{item}))
		}
		if got, want := strings.Join(items, "|"), strings.Join(boxesShown(t, part), "|"); got != want {
			t.Errorf("%q: items %q, GitHub shows %q", bodies[i], got, want)
		}
	}
}
