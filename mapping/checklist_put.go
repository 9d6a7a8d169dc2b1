package mapping

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// SetItems returns a body in which the items of want are as they say. Items with a place are
// ticked, unticked and renamed where they stand. The others are added behind the last list of
// items, or as a new list at the end. Items that want does not name stay, and nothing else in the
// body changes, not even a line end. Words come onto one line (see [CanonicalTitle]). An item
// cannot be without words, so an empty name renames nothing and adds nothing.
//
// For every body, and any items that say different places:
//
//	SetItems(body, Items(body)) = body
//	Items(SetItems(body, want)) = Items(body) changed as want says
//	SetItems(SetItems(body, a), b) = SetItems(SetItems(body, b), a)
//
// the last one where nothing is removed, as that moves the places behind it. Text that hung on a
// removed item may become an item. The items move to the top of the body as one flat list where a
// line could not stand and be an item. Its list may be indented like code once the item above it is
// removed, or a new list may fall into unended code.
func SetItems(body string, want []Item) string {
	found := boxes(body)
	after := Items(body)
	var fresh []Item
	for _, w := range want {
		switch known := 0 < w.At && w.At <= len(found); {
		case known && CanonicalTitle(w.Text) == "":
			after[w.At-1].Checked, after[w.At-1].Remove = w.Checked, w.Remove
		case known:
			after[w.At-1] = w
		case CanonicalTitle(w.Text) != "" && !w.Remove:
			fresh = append(fresh, w)
		}
	}
	return addItems(changeItems(body, found, after), fresh)
}

// changeItems changes the items found in a body to those of after.
func changeItems(body string, found []box, after []Item) string {
	var out strings.Builder
	var left []Item
	done := 0
	put := func(s span, text string) {
		out.WriteString(body[done:s.from] + text)
		done = s.to
	}
	for i, b := range found {
		item := after[i]
		if item.Remove {
			put(b.line, "")
			continue
		}
		left = append(left, item)
		if checked := body[b.tick] != ' '; checked != item.Checked {
			put(span{b.open, b.tick + 2}, itemText(item)[:len("[x]")])
		}
		if words := CanonicalTitle(item.Text); words != CanonicalTitle(body[b.words.from:b.words.to]) {
			put(b.words, words)
		}
	}
	changed := out.String() + body[done:]
	if len(left) < len(found) && !holds(Items(changed), left) {
		return onTop(left, WithoutItems(body))
	}
	return changed
}

// addItems adds new items to a body.
func addItems(body string, fresh []Item) string {
	if len(fresh) == 0 {
		return body
	}
	now := Items(body)
	all := slices.Concat(now, fresh)
	if len(now) > 0 {
		if longer := extendList(body, fresh); keeps(longer, all, len(all)) {
			return longer
		}
	}
	var lines strings.Builder
	for _, item := range fresh {
		lines.WriteString("- " + itemText(item) + "\n")
	}
	if longer := appendLines(body, lines.String()); keeps(longer, all, len(all)) {
		return longer
	}
	return onTop(all, WithoutItems(body))
}

// appendLines adds LF lines to the end of a body as a paragraph of their own.
func appendLines(body, lines string) string {
	gap := ""
	switch {
	case body == "":
	case !strings.HasSuffix(body, "\n"):
		gap, lines = "\n\n", strings.TrimSuffix(lines, "\n")
	case !strings.HasSuffix(unixLines(body), "\n\n"):
		gap = "\n"
	}
	return body + withLineEnds(gap+lines, body)
}

var listNumber = regexp.MustCompile(`([0-9]+)([.)][ \t]+)$`)

// extendList adds items at the end of the list that holds the body's last item. Of nested lists of
// items it is the outermost.
func extendList(body string, fresh []Item) string {
	found := boxes(body)
	top := found[len(found)-1]
	for n := top.node.Parent(); n != nil; n = n.Parent() {
		if i := slices.IndexFunc(found, func(b box) bool { return ast.Node(b.node) == n }); i >= 0 {
			top = found[i]
		}
	}
	list, _ := top.node.Parent().(*ast.List) // the parent of a list item is always a list
	before := body[top.line.from:top.open]
	number := list.Start + list.ChildCount()
	lines := ""
	for _, item := range fresh {
		if m := listNumber.FindStringSubmatchIndex(before); m != nil {
			before = before[:m[2]] + strconv.Itoa(number) + before[m[4]:]
			number++
		}
		lines += before + itemText(item) + "\n"
	}
	lines = withLineEnds(lines, body)
	at := endOfList(body, list)
	if end := body[:at]; !strings.HasSuffix(end, "\n") && !strings.HasSuffix(end, "\r") {
		eol := withLineEnds("\n", body)
		lines = eol + strings.TrimSuffix(lines, eol)
	}
	return body[:at] + lines + body[at:]
}

// endOfList returns where the last non-blank line of a list ends. The parser tells only where
// blocks begin, so the search goes back from the next one.
func endOfList(body string, list ast.Node) int {
	end := len(body)
	for n := list; n != nil; n = n.Parent() {
		if next := n.NextSibling(); next != nil {
			end = lineStart(body, findCRLFs(body).of(next.Pos()))
			break
		}
	}
	end = len(strings.TrimRight(body[:end], blank))
	return lineEnd(body, end)
}
