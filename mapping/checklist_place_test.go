package mapping_test

import (
	"testing"

	"planbridge/mapping"
)

// TestWithTextBetweenParagraphs has a row for each new position of a list that is a paragraph of
// its own. Its old position is in the middle of a paragraph.
func TestWithTextBetweenParagraphs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, text, want string }{
		"behind the joined paragraph": {
			"one\n\n- [ ] a\n\ntwo\n\nend\n", "one\ntwo\n\nend\n",
			"one\ntwo\n\n- [ ] a\n\nend\n",
		},
		"behind all, where no paragraph follows": {
			"one\n\n- [ ] a\n\ntwo\n", "one\ntwo",
			"one\ntwo\n\n- [ ] a\n",
		},
		"right above the next paragraph, below its blank lines": {
			"one\n\n- [ ] a\n\ntwo\n", "one\n\n\n\ntwo!\n",
			"one\n\n\n\n- [ ] a\n\ntwo!\n",
		},
		"at the end, below its blank lines": {
			"- [ ] a\n\none\n", "\n\n",
			"\n\n- [ ] a\n",
		},
		"two lists, each at its own": {
			"one\n\n- [ ] a\n\ntwo\n\n- [ ] b\n\nend\n", "one\ntwo\n\nend\n",
			"one\ntwo\n\n- [ ] a\n\n- [ ] b\n\nend\n",
		},
		"a blank line of white space is none": {
			"   \n  - [ ] a\n", "   \n\nnew\n",
			"   \n\n  - [ ] a\n\nnew\n",
		},
		"a line of white space parts no paragraphs": {
			"one\n  \n  - [ ] a\nend", "one\n\nnew\n  \n\nnew\nend",
			"one\n\nnew\n  \n\n  - [ ] a\nnew\nend",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := mapping.WithText(c.body, c.text); got != c.want {
				t.Errorf("WithText = %q, want %q", got, c.want)
			}
		})
	}
}

// TestWithTextOfOddBodies has a row for each way in which a body leaves its items no place.
func TestWithTextOfOddBodies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, text, want string }{
		"a body without items takes the text as it is": {"one\r\n", "two\n\n", "two\r\n\r\n"},
		"an empty body takes the text's line end":      {"", "two\n", "two\n"},
		// Right below the list, indented text would become one of its items.
		"indented text below": {"- [X] a\n  more", "    - [x] b", "- [x] a\n\n<!-- -->\n\n    - [x] b"},
		"code below, which no blank line has to part": {
			"  - [ ] a\n- [ ] b\n1. one", "```", "  - [ ] a\n- [ ] b\n```",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := mapping.WithText(c.body, c.text); got != c.want {
				t.Errorf("WithText = %q, want %q", got, c.want)
			}
		})
	}
}
