package mapping

import "testing"

// TestItemsGoOnANumberedList: new items behind a numbered list count on from its last item, in the
// list's own spelling. A number that is no direct parent of the box is left alone.
func TestItemsGoOnANumberedList(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"one item":                     {"1. [ ] a", "1. [ ] a\n2. [ ] n\n3. [x] m"},
		"brackets":                     {"1) [ ] a\n2) [ ] b", "1) [ ] a\n2) [ ] b\n3) [ ] n\n4) [x] m"},
		"a list that begins at seven":  {"7. [ ] a\n8. [ ] b\n", "7. [ ] a\n8. [ ] b\n9. [ ] n\n10. [x] m\n"},
		"from one digit to two":        {"9. [ ] a\n", "9. [ ] a\n10. [ ] n\n11. [x] m\n"},
		"a leading zero":               {"01. [ ] a\n", "01. [ ] a\n2. [ ] n\n3. [x] m\n"},
		"a tab behind the number":      {"1.\t[ ] a\n", "1.\t[ ] a\n2.\t[ ] n\n3.\t[x] m\n"},
		"wide space behind the number": {"1.   [x] a", "1.   [x] a\n2.   [ ] n\n3.   [x] m"},
		"items without a box count":    {"1. one\n2. [ ] a\n3. three\n\ntext", "1. one\n2. [ ] a\n3. three\n4. [ ] n\n5. [x] m\n\ntext"},
		"the outer one of two lists":   {"1. [ ] a\n   1. [ ] b\n", "1. [ ] a\n   1. [ ] b\n2. [ ] n\n3. [x] m\n"},
		"a number before a dash":       {"1. - [ ] a\n", "1. - [ ] a\n\n- [ ] n\n- [x] m\n"},
		"a number behind a dash":       {"- 1. [ ] a\n", "- 1. [ ] a\n\n- [ ] n\n- [x] m\n"},
		"a number in a quote":          {"> 3. [ ] a\n", "> 3. [ ] a\n\n- [ ] n\n- [x] m\n"},
		"a number in an item's words":  {"- [ ] 1. a", "- [ ] 1. a\n- [ ] n\n- [x] m"},
	} {
		t.Run(name, func(t *testing.T) {
			want := append(Items(tt.body), Item{Text: "n"}, Item{Text: "m", Checked: true})
			if got := SetItems(tt.body, want); got != tt.want {
				t.Errorf("%q becomes %q, want %q", tt.body, got, tt.want)
			}
		})
	}
}
