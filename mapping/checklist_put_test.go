package mapping_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

func TestSetItems(t *testing.T) {
	t.Parallel()
	tick := mapping.Item{Text: "a", Checked: true, At: 1}
	fresh := func(text string) mapping.Item { return mapping.Item{Text: text} }
	for name, c := range map[string]struct {
		body string
		put  []mapping.Item
		want string
	}{
		"nothing":                          {"one\n- [ ] a\n", nil, "one\n- [ ] a\n"},
		"the same":                         {"-  [X]  a  \r\n", []mapping.Item{tick}, "-  [X]  a  \r\n"},
		"the same but for white space":     {"- [x] a\u00a0b", []mapping.Item{{Text: " a b ", Checked: true, At: 1}}, "- [x] a\u00a0b"},
		"tick":                             {"one\n\n- [ ] a  \n- [ ] b\n", []mapping.Item{tick}, "one\n\n- [x] a  \n- [ ] b\n"},
		"untick":                           {"1) [X] a\r\n", []mapping.Item{{Text: "a", At: 1}}, "1) [ ] a\r\n"},
		"rename":                           {"-  [x]  a  \n", []mapping.Item{{Text: "b *c*", Checked: true, At: 1}}, "-  [x]  b *c*  \n"},
		"rename and tick":                  {"- [ ] a\n- [ ] b\n", []mapping.Item{{Text: "c", Checked: true, At: 2}}, "- [ ] a\n- [x] c\n"},
		"onto one line":                    {"- [ ] a\n", []mapping.Item{{Text: "b\nc\x00", At: 1}}, "- [ ] b c\n"},
		"no empty name":                    {"- [ ] a\n", []mapping.Item{{Text: " ", Checked: true, At: 1}, {Text: "\n"}}, "- [x] a\n"},
		"untick without a name":            {"- [x] a\n", []mapping.Item{{At: 1}}, "- [ ] a\n"},
		"the name of the last wish":        {"- [ ] a\n", []mapping.Item{{Text: "b", Checked: true, At: 1, Remove: true}, {At: 1}}, "- [ ] b\n"},
		"remove":                           {"one\n- [ ] a\n- [ ] b\ntwo\n", []mapping.Item{{Text: "a", At: 1, Remove: true}}, "one\n- [ ] b\ntwo\n"},
		"remove without a name":            {"- [ ] a\n- [ ] b\n", []mapping.Item{{At: 2, Remove: true}}, "- [ ] a\n"},
		"remove the last":                  {"- [ ] a", []mapping.Item{{At: 1, Remove: true}}, ""},
		"remove what is not there":         {"- [ ] a", []mapping.Item{{Text: "a", At: 2, Remove: true}}, "- [ ] a"},
		"remove from above another":        {"10. [ ] a\n\n    - [x] b\n\nend\n", []mapping.Item{{At: 1, Remove: true}}, "- [x] b\n\nend\n"},
		"add":                              {"one\n\n- [ ] a\n\ntwo\n", []mapping.Item{fresh("b")}, "one\n\n- [ ] a\n- [ ] b\n\ntwo\n"},
		"add ticked":                       {"* [ ] a", []mapping.Item{{Text: "b", Checked: true}}, "* [ ] a\n* [x] b"},
		"add several":                      {"- [ ] a\r\n", []mapping.Item{fresh("b"), fresh("c")}, "- [ ] a\r\n- [ ] b\r\n- [ ] c\r\n"},
		"add with a place not there":       {"- [ ] a\n", []mapping.Item{{Text: "b", At: 7}}, "- [ ] a\n- [ ] b\n"},
		"add with numbers":                 {"8. [ ] a\n9. [ ] b\n\ntwo", []mapping.Item{fresh("c"), fresh("d")}, "8. [ ] a\n9. [ ] b\n10. [ ] c\n11. [ ] d\n\ntwo"},
		"add behind plain items":           {"- [ ] a\n- plain\n\ntwo\n", []mapping.Item{fresh("b")}, "- [ ] a\n- plain\n- [ ] b\n\ntwo\n"},
		"add behind sub-items":             {"- [ ] a\n  - [ ] b\n    text\n\n# c\n", []mapping.Item{fresh("d")}, "- [ ] a\n  - [ ] b\n    text\n- [ ] d\n\n# c\n"},
		"add below a plain item":           {"- plain\n  - [ ] a\n- plain\n", []mapping.Item{fresh("b")}, "- plain\n  - [ ] a\n  - [ ] b\n- plain\n"},
		"add behind code in an item":       {"- [ ] a\n  ```\n  x\n  ```\n\ntwo\n", []mapping.Item{fresh("b")}, "- [ ] a\n  ```\n  x\n  ```\n- [ ] b\n\ntwo\n"},
		"add to the last of two lists":     {"- [ ] a\n\none\n\n* [ ] b\n\ntwo", []mapping.Item{fresh("c")}, "- [ ] a\n\none\n\n* [ ] b\n* [ ] c\n\ntwo"},
		"add to nothing":                   {"", []mapping.Item{fresh("a")}, "- [ ] a\n"},
		"add to a text":                    {"one", []mapping.Item{fresh("a"), fresh("b")}, "one\n\n- [ ] a\n- [ ] b"},
		"add to a text with a line end":    {"one\r\ntwo\r\n", []mapping.Item{fresh("a")}, "one\r\ntwo\r\n\r\n- [ ] a\r\n"},
		"add to a text with a blank line":  {"one\n\n", []mapping.Item{fresh("a")}, "one\n\n- [ ] a\n"},
		"add to code that is not ended":    {"```\ncode", []mapping.Item{fresh("a")}, "- [ ] a\n\n```\ncode"},
		"add to a comment not ended":       {"    - [ ] code\n\n<!-- a\n", []mapping.Item{fresh("b")}, "- [ ] b\n\n<!-- -->\n\n    - [ ] code\n\n<!-- a\n"},
		"remove from CRLF above another":   {"10. [ ] a\r\n\r\n    - [x] b\r\n\r\nend\r\n", []mapping.Item{{At: 1, Remove: true}}, "- [x] b\r\n\r\nend\r\n"},
		"remove and leave nothing else":    {"10. [ ] a\n\n    - [x] b\n", []mapping.Item{{At: 1, Remove: true}}, "- [x] b\n"},
		"add behind what a plain item has": {"- plain\n  - [ ] a\n- plain\n\ntwo\n", []mapping.Item{fresh("b")}, "- plain\n  - [ ] a\n  - [ ] b\n- plain\n\ntwo\n"},
		"add to lines that end with CR":    {"- [ ] a\r- [ ] b\r", []mapping.Item{fresh("c")}, "- [ ] a\r- [ ] b\r- [ ] c\n"},
		"add behind a CRLF at the top":     {"\r\n- [ ] a", []mapping.Item{fresh("b")}, "\r\n- [ ] a\r\n- [ ] b"},
		"add with numbers and brackets":    {"3) [ ] a\n", []mapping.Item{fresh("b")}, "3) [ ] a\n4) [ ] b\n"},
		"add with numbers from none":       {"1. [ ] a\n1. [ ] b\n", []mapping.Item{fresh("c")}, "1. [ ] a\n1. [ ] b\n3. [ ] c\n"},
		"add to paragraphs":                {"one\n\ntwo", []mapping.Item{fresh("a")}, "one\n\ntwo\n\n- [ ] a"},
		"add to paragraphs with an end":    {"one\n\ntwo\n", []mapping.Item{fresh("a")}, "one\n\ntwo\n\n- [ ] a\n"},
		"add to a blank line of CRLF":      {"one\r\n\r\n", []mapping.Item{fresh("a")}, "one\r\n\r\n- [ ] a\r\n"},
		"an item of code":                  {"one\n", []mapping.Item{fresh("```")}, "one\n\n- [ ] ```\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := mapping.SetItems(c.body, c.put); got != c.want {
				t.Errorf("SetItems = %q, want %q", got, c.want)
			}
		})
	}
}

func TestSetItemsGetPut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := anyBody().Draw(t, "body")
		if got := mapping.SetItems(body, mapping.Items(body)); got != body {
			t.Fatalf("SetItems(body, Items(body)) = %q, want %q", got, body)
		}
	})
}

// wishes generates what can be wanted of the items of a body.
func wishes(items []mapping.Item, remove bool) *rapid.Generator[[]mapping.Item] {
	return rapid.Custom(func(t *rapid.T) []mapping.Item {
		var want []mapping.Item
		text := rapid.OneOf(rapid.SampledFrom([]string{"new", "other words", "[ ] x", "- y", "```", "===", "<!--", "    z", "", "a\nb", "1. q", "[r]: x"}), mappingtest.Title())
		for _, item := range items {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				item.Checked = !item.Checked
			case 1:
				item.Text = text.Draw(t, "text")
			case 2:
				item.Remove = remove
			case 3:
				continue
			}
			want = append(want, item)
		}
		for range rapid.IntRange(0, 2).Draw(t, "new") {
			want = append(want, mapping.Item{Text: text.Draw(t, "text"), Checked: rapid.Bool().Draw(t, "checked")})
		}
		return want
	})
}

// granted is what the items have to be once a wish is put.
func granted(items, want []mapping.Item) []mapping.Item {
	items = slices.Clone(items)
	for _, w := range want {
		switch empty := mapping.CanonicalTitle(w.Text) == ""; {
		case w.At == 0 && empty:
		case w.At == 0:
			items = append(items, w)
		case empty:
			items[w.At-1].Checked, items[w.At-1].Remove = w.Checked, w.Remove
		default:
			items[w.At-1] = w
		}
	}
	return slices.DeleteFunc(items, func(i mapping.Item) bool { return i.Remove })
}

// among reports whether items are among others, in their order.
func among(others, items []mapping.Item) bool {
	for _, other := range others {
		if len(items) > 0 && itemList(items[:1]) == itemList([]mapping.Item{other}) {
			items = items[1:]
		}
	}
	return len(items) == 0
}

func TestSetItemsPutGet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := anyBody().Draw(t, "body")
		items := mapping.Items(body)
		want := wishes(items, true).Draw(t, "want")
		put := mapping.SetItems(body, want)
		removes := slices.ContainsFunc(want, func(i mapping.Item) bool { return i.Remove })
		got, wanted := mapping.Items(put), granted(items, want)
		if itemList(got) != itemList(wanted) && !(removes && among(got, wanted)) {
			t.Fatalf("items of %q: %q, want %q", put, itemList(got), itemList(wanted))
		}
		if got := mapping.SetItems(put, mapping.Items(put)); got != put {
			t.Fatalf("put once more: %q, want %q", got, put)
		}
		if !removes && strings.Contains(body, "\r\n") && !strings.Contains(strings.ReplaceAll(body, "\r\n", ""), "\n") && strings.Contains(strings.ReplaceAll(put, "\r\n", ""), "\n") {
			t.Fatalf("the line ends of %q are not all CRLF", put)
		}
	})
}

func TestSetItemsLeavesTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := anyBody().Draw(t, "body")
		want := wishes(mapping.Items(body), false).Draw(t, "want")
		renames := slices.DeleteFunc(want, func(i mapping.Item) bool { return i.At == 0 })
		if got, want := mapping.WithoutItems(mapping.SetItems(body, renames)), mapping.WithoutItems(body); got != want {
			t.Fatalf("the text became %q, want %q", got, want)
		}
	})
}

func TestSetItemsCommutes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := anyBody().Draw(t, "body")
		items := mapping.Items(body)
		var a, b []mapping.Item
		for _, w := range wishes(items, false).Draw(t, "want") {
			if rapid.Bool().Draw(t, "side") && w.At > 0 {
				a = append(a, w)
			} else {
				b = append(b, w)
			}
		}
		ab, ba := mapping.SetItems(mapping.SetItems(body, a), b), mapping.SetItems(mapping.SetItems(body, b), a)
		if ab != ba {
			t.Fatalf("%q one way, %q the other", ab, ba)
		}
		if both := mapping.SetItems(body, append(slices.Clone(a), b...)); both != ab {
			t.Fatalf("%q at once, %q one after the other", both, ab)
		}
	})
}
