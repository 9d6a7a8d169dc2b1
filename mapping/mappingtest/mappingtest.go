// Package mappingtest generates data for property tests of planbridge: texts as people write them
// on either side, their small edits, labels and ids. Its entry point is [Markdown]. Every generator
// shrinks to the simplest text of its kind.
package mappingtest

import (
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"planbridge/mapping"
)

// ObjectID generates ids of the planning service: mostly 24 hexadecimal characters, sometimes any
// text, as they are opaque.
func ObjectID() *rapid.Generator[mapping.ObjectID] {
	return rapid.Custom(func(t *rapid.T) mapping.ObjectID {
		return mapping.ObjectID(rapid.OneOf(rapid.StringMatching(`[0-9a-f]{24}`), rapid.StringMatching(`[0-9a-f]{24}`), rapid.StringN(1, 12, -1)).Draw(t, "oid"))
	})
}

// LinkID generates link ids, also usable as nonces.
func LinkID() *rapid.Generator[mapping.LinkID] {
	return rapid.Custom(func(t *rapid.T) mapping.LinkID {
		return mapping.LinkID(rapid.StringMatching(`[0-9a-f]{16}`).Draw(t, "id"))
	})
}

// Number generates decimal numbers in canonical spelling.
func Number() *rapid.Generator[string] {
	return rapid.StringMatching(`(0|[1-9][0-9]{0,3})(\.[0-9]{0,2}[1-9])?`)
}

// Label generates names of labels: people's, the bridge's in any case, and some that resemble the
// bridge's.
func Label() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"bug", "c#", "a/b", "50%", "in-progress", "In-Progress", "plan:To Do", "PLAN:done", "plan:ignore", "bucket:Incoming",
			"points/", "points/many", "points/-3", "hours", "planning", "größe",
		}),
		rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"points/", "Points/", "hours/"}).Draw(t, "pattern") + Number().Draw(t, "number")
		}),
	)
}

// Labels generates an issue's labels. No two differ in case alone.
func Labels() *rapid.Generator[[]string] {
	return rapid.SliceOfNDistinct(Label(), 0, 6, strings.ToLower)
}

// Title generates titles: some empty, some with characters beyond ASCII or
// white space around them, some longer than GitHub takes.
func Title() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		words := rapid.SliceOfN(rapid.OneOf(word(), rapid.String()), 0, 5).Draw(t, "words")
		title := strings.Join(words, " ")
		if rapid.IntRange(0, 3).Draw(t, "long") == 3 {
			title += strings.Repeat(rapid.SampledFrom([]string{"x", "né ", "日本", "👩‍🚀"}).Draw(t, "unit"), rapid.IntRange(50, 300).Draw(t, "times"))
		}
		return title
	})
}

// Text generates any text: random characters between pieces with a meaning to Markdown, to GitHub
// or to planbridge.
func Text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(shards), word(), rapid.String()), 0, 12).Draw(t, "shards"), "")
	})
}

var shards = []string{
	"\n", "\n\n", "\r\n", "\r", " ", "  \n", "\t", "\x00", "\u2060", "\u200b", "\u00a0", "@", "@bob", "@acme/team", "#", "#12", "acme/web#3",
	"GH-7", "&#64;bob", "&num;12", "&#39;", "https://github.com/acme/web/issues/12", "https://medium.com/@bob", "bob@example.com", "`", "```\n",
	"~~~\n", "    ", "> ", "- [ ] ", "- [x] ", "* ", "1. ", "# ", "<", ">", "<!--", "-->", "<p>", "</p>", "<b>", "[", "](", ")", "[^1]: ", "\\", "_", "**", "|", "---\n",
	"Synced by planbridge with ", "<!-- planbridge:", "planbridge-1.", ".0123456789abcdef0123456789abcdef",
}

// Markdown generates bodies as people write them. They have paragraphs, lists with boxes, code,
// quotes, mentions, references and links. They have either line end, and white space at the ends of
// lines.
func Markdown() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		body := strings.Join(rapid.SliceOfN(block(), 0, 6).Draw(t, "blocks"), "\n\n") + rapid.SampledFrom([]string{"", "\n", "  ", "\n\n\n"}).Draw(t, "end")
		if rapid.Bool().Draw(t, "crlf") {
			body = strings.ReplaceAll(body, "\n", "\r\n")
		}
		return body
	})
}

func block() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		before := rapid.SampledFrom([]string{"", "", "", "# ", "- ", "- [ ] ", "- [x] ", "> ", "```\n", "~~~go\n", "    ", "<details>\n"}).Draw(t, "kind")
		after := ""
		switch before {
		case "```\n", "~~~go\n":
			after = "\n" + before[:3]
		case "<details>\n":
			after = "\n</details>"
		}
		sep := "\n"
		if strings.HasSuffix(before, " ") {
			sep += before
		}
		return before + strings.Join(rapid.SliceOfN(sentence(), 1, 4).Draw(t, "lines"), sep) + after
	})
}

func sentence() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		words := rapid.SliceOfN(rapid.OneOf(word(), word(), inline()), 1, 6).Draw(t, "words")
		return strings.Join(words, " ") + rapid.SampledFrom([]string{"", ".", "  ", "\t"}).Draw(t, "end")
	})
}

func word() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"the", "card", "moves", "when", "a", "sprint", "ends", "naïve", "日本語", "👩‍🚀", "c#", "50%", "it's", "e-mail"})
}

func inline() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		n := strconv.Itoa(rapid.IntRange(1, 20).Draw(t, "n"))
		return rapid.SampledFrom([]string{
			"@bob", "@acme/team", "#" + n, "acme/web#" + n, "GH-" + n, "https://github.com/acme/web/issues/" + n, "`npm i @types/node`", "**bold**", "_em_",
			"[text](https://example.com/a_b)", "![shot](https://example.com/" + n + ".png)", "bob@example.com", "https://medium.com/@bob", "<kbd>x</kbd>", `a\_b`, "<!-- note -->",
		}).Draw(t, "inline")
	})
}

// Document generates LF texts of paragraphs without a repeated line. So there is only one way to
// describe an edit.
func Document() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		n := 0
		for p := range rapid.IntRange(0, 6).Draw(t, "paragraphs") {
			if p > 0 {
				b.WriteByte('\n')
			}
			for range rapid.IntRange(1, 3).Draw(t, "lines") {
				n++
				b.WriteString("line " + strconv.Itoa(n) + "\n")
			}
		}
		return b.String()
	})
}

// Edited generates a person's edit of a text: up to three lines or paragraphs added, changed or
// removed. Two edits by different authors (any short word) never add the same line.
func Edited(text, author string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		lines := strings.SplitAfter(text, "\n")
		if last := len(lines) - 1; lines[last] == "" {
			lines = lines[:last]
		}
		for n := range rapid.IntRange(1, 3).Draw(t, "edits") {
			lines = edit(t, lines, author+" "+strconv.Itoa(n))
		}
		return strings.Join(lines, "")
	})
}

func edit(t *rapid.T, lines []string, fresh string) []string {
	at := rapid.IntRange(0, len(lines)).Draw(t, "at")
	head, tail := append([]string{}, lines[:at]...), lines[at:]
	switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
	case kind == 0:
		head = append(head, fresh+"\n")
	case kind == 1:
		head = append(head, "\n", fresh+"\n")
	case kind == 2:
		head = append(head, fresh+"\n", "\n")
	case len(tail) == 0:
		return lines
	case kind == 3:
		tail = tail[1:]
	default:
		changed := strings.TrimRight(tail[0], "\r\n")
		head, tail = append(head, changed+" "+fresh+tail[0][len(changed):]), tail[1:]
	}
	return append(head, tail...)
}
