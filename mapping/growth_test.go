package mapping_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

// costly makes texts of a size that cost a parser or a differ the most, by name.
var costly = map[string]func(size int) string{
	"lines":          numbered("line %d\n"),
	"items":          numbered("- [ ] item number %d\n"),
	"other items":    numbered("- [ ] %d is the number\n"),
	"numbers":        numbered("1. [x] %d\n\n"),
	"paragraphs":     numbered("a paragraph of words %d\n\n"),
	"words":          numbered("word%d "),
	"the same":       filled("a\n"),
	"the same item":  filled("- [ ] a\n"),
	"nested items":   filled("- [ ] a\n  - [ ] b\n\ntext\n\n"),
	"blank":          filled("\n"),
	"spaces":         filled(" "),
	"CRLF":           filled("a\r\n\r"),
	"periodic":       filled("a\nb\nc\nb\n"),
	"brackets":       filled("["),
	"boxes":          filled("- [ ] "),
	"quotes":         filled("> - "),
	"numerals":       filled("1. "),
	"references":     filled("[a]: b\n"),
	"backticks":      filled("`"),
	"comments":       filled("<!-- planbridge:"),
	"paragraph tags": filled("<p>"),
	"footers":        filled("Synced by planbridge with [a](b#planbridge-1."),
	"footer spaces":  filled("<p> \n"),
	"links":          filled("Synced by planbridge with <a href=x "),
	"markers":        filled("planbridge-1.a.a.a.a."),
	"paths":          filled("a/issues/1#a/"),
	"hyphens":        filled("planbridge-1.-"),
	"control":        filled("\x00\x01"),
	"not UTF-8":      filled("\xff"),
	"digits":         filled("0"),
}

func filled(unit string) func(int) string {
	return func(size int) string { return strings.Repeat(unit, size/len(unit)) }
}

func numbered(format string) func(int) string {
	return func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i*7919%10007)
		}
		return b.String()
	}
}

var markerKeys = mapping.NewKeys([]byte("a key of sixteen bytes"))

func reversed(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.Reverse(lines)
	return strings.Join(lines, "")
}

// works are the pure functions over foreign text, by name.
var works = map[string]func(text string){
	"Merge": func(text string) {
		mapping.Merge(text, "x\n"+reversed(text), text[len(text)/3:]+"z "+text[:len(text)/3]+"\ny")
	},
	"Merge of ends": func(text string) { mapping.Merge(text, "x "+text, text+" y") },
	"MergeBodies":   func(text string) { mapping.MergeBodies(text, reversed(text), "- [ ] x\n"+text) },
	"Items":         func(text string) { mapping.Items(text) },
	"WithText":      func(text string) { mapping.WithText(text, reversed(mapping.WithoutItems(text))) },
	"SetItems": func(text string) {
		items := mapping.Items(text)
		for i := range items {
			items[i].Text += "!"
			items[i].Remove = i%3 == 0
		}
		mapping.SetItems(text, append(items, mapping.Item{Text: "new"}, mapping.Item{Text: "newer"}))
	},
	"FindLines": func(text string) {
		var known []mapping.Line
		for _, item := range mapping.Items(text) {
			known = append(known, mapping.Line{Text: item.Text + " once", Away: len(known)%2 == 0})
		}
		mapping.FindLines(known, mapping.Items(reversed(text)))
	},
	"one title":   func(text string) { mapping.MatchItems([]string{text}, []string{reversed(text)}) },
	"Canonical":   func(text string) { mapping.Canonical(text) },
	"titles":      func(text string) { _ = mapping.UncutTitle(mapping.CutTitle(text), text) },
	"Body":        func(text string) { markerKeys.Body(text) },
	"Foreign":     func(text string) { markerKeys.Foreign(text) },
	"FooterIssue": func(text string) { markerKeys.FooterIssue(text, mapping.Marker{}) },
	"numbers":     func(text string) { mapping.CanonicalNumber(text) },
}

// TestMeasuredWorkIsLinear: for any text, no pure function over it takes more time than in
// proportion to its length.
func TestMeasuredWorkIsLinear(t *testing.T) {
	for name, work := range works {
		t.Run(name, func(t *testing.T) {
			for what, text := range costly {
				mappingtest.Growth(t, what, 8<<10, func(size int) { work(text(size)) })
			}
		})
	}
}

// compared are the works that compare two texts. The time of a comparison grows with the square of
// a short text and is bounded from some length on. So they are measured with longer texts alone.
var compared = []string{"Merge", "Merge of ends", "MergeBodies", "WithText", "FindLines", "one title"}

func FuzzWorkGrowth(f *testing.F) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(works)), func(name string) bool { return slices.Contains(compared, name) })
	for i := range names {
		f.Add("- [ ] a\n", byte(i))
		f.Add("[a](<b\n\n", byte(i))
	}
	f.Fuzz(func(t *testing.T, unit string, which byte) {
		if unit == "" || len(unit) > 64 {
			return
		}
		name := names[int(which)%len(names)]
		mappingtest.Growth(t, name+" of "+unit, 1<<10, func(size int) { works[name](filled(unit)(size)) })
	})
}
