package mapping_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

// checklistWorld is an issue with a checklist, its card with tasks, and a bridge's record of them.
// The lens is made for this use.
type checklistWorld struct {
	body  string
	card  string // the card's summary
	tasks []mapping.Item
	known []string // per task the text of its item, as last agreed on
	ticks []bool
	base  mapping.Base // of the summary
}

// sync is a bridge's whole work on a checklist. Items find their tasks, each side's edits go to the
// other one, planning wins, and the body is written once.
func (w *checklistWorld) sync() {
	items := mapping.Items(w.body)
	now := make([]string, len(items))
	for i := range items {
		now[i] = items[i].Text
	}
	met := map[int]bool{}
	var want []mapping.Item
	for i, task := range mapping.MatchItems(w.known, now) {
		item := items[i]
		if task < 0 {
			w.tasks, w.known, w.ticks = append(w.tasks, item), append(w.known, item.Text), append(w.ticks, item.Checked)
			met[len(w.tasks)-1] = true
			continue
		}
		met[task] = true
		t := &w.tasks[task]
		if t.Text == w.known[task] {
			t.Text = item.Text
		}
		if t.Checked == w.ticks[task] {
			t.Checked = item.Checked
		}
		item.Text, item.Checked = t.Text, t.Checked
		w.known[task], w.ticks[task] = t.Text, t.Checked
		want = append(want, item)
	}
	for i := len(w.known); i < len(w.tasks); i++ { // tasks that people made in planning
		want = append(want, mapping.Item{Text: w.tasks[i].Text, Checked: w.tasks[i].Checked})
		w.known, w.ticks = append(w.known, w.tasks[i].Text), append(w.ticks, w.tasks[i].Checked)
	}
	body := mapping.SetItems(w.body, want)
	text := mapping.WithoutItems(body)
	merged := w.card
	switch {
	case mapping.Same(mapping.Summary, w.card, w.base.Planning):
		merged = text
	case !mapping.Same(mapping.Summary, text, w.base.GitHub):
		if m, ok := mapping.Merge(w.base.Planning, text, w.card); ok {
			merged = m
		}
	}
	w.body, w.card = mapping.WithText(body, merged), merged
	w.base = mapping.Base{GitHub: mapping.WithoutItems(w.body), Planning: merged}
}

// act is one thing that a person does on either side.
func (w *checklistWorld) act(t *rapid.T, n int) {
	items := mapping.Items(w.body)
	pick := func(of int) int { return rapid.IntRange(0, of-1).Draw(t, "which") }
	name := fmt.Sprintf("%s number %d", rapid.SampledFrom([]string{"write", "test", "ship"}).Draw(t, "verb"), n)
	switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
	case kind == 0:
		w.body = mapping.SetItems(w.body, []mapping.Item{{Text: name}})
	case kind == 1 && len(items) > 0:
		item := items[pick(len(items))]
		item.Checked = !item.Checked
		w.body = mapping.SetItems(w.body, []mapping.Item{item})
	case kind == 2 && len(items) > 0:
		item := items[pick(len(items))]
		item.Text += "!"
		w.body = mapping.SetItems(w.body, []mapping.Item{item})
	case kind == 3 && len(w.tasks) > 0:
		task := &w.tasks[pick(len(w.tasks))]
		task.Checked = !task.Checked
	case kind == 4:
		w.tasks = append(w.tasks, mapping.Item{Text: name})
	case kind == 5:
		w.card = strings.TrimSpace(w.card + "\n\nplanning wrote " + name)
	default:
		w.body = mapping.WithText(w.body, "GitHub wrote "+name+"\n\n"+mapping.WithoutItems(w.body))
	}
}

// TestChecklistConverges: two people work on the text and the list of one issue, on both sides and
// at once. At the end both sides agree, no text is lost, and no item or task exists twice.
func TestChecklistConverges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &checklistWorld{body: withLists().Draw(t, "body")}
		w.sync()
		for n := range rapid.IntRange(1, 12).Draw(t, "acts") {
			before := len(mapping.Items(w.body)) + len(w.tasks)
			w.act(t, n)
			if rapid.Bool().Draw(t, "sync") {
				w.sync()
			}
			if after := len(mapping.Items(w.body)) + len(w.tasks); after < before {
				t.Fatalf("%d items and tasks of %d are left", after, before)
			}
		}
		w.sync()
		w.sync()
		settled := *w
		if w.sync(); w.body != settled.body || w.card != settled.card {
			t.Fatalf("no rest: %q and %q became %q and %q", settled.body, settled.card, w.body, w.card)
		}
		items := mapping.Items(w.body)
		if len(items) != len(w.tasks) {
			t.Fatalf("%d items and %d tasks: %q, %q", len(items), len(w.tasks), itemList(items), itemList(w.tasks))
		}
		count := map[string]int{}
		for i := range items {
			count[itemList(items[i:i+1])]++
			count[itemList(w.tasks[i:i+1])]--
		}
		for item, n := range count {
			if n != 0 {
				t.Fatalf("%q is not on both sides: %q, %q", item, itemList(items), itemList(w.tasks))
			}
		}
		if got := mapping.WithoutItems(w.body); inkOf(got) != inkOf(w.card) {
			t.Fatalf("the texts are %q and %q", got, w.card)
		}
	})
}

// Line ends are nobody's words: a body says the same with CRLF, and is edited
// the same.
func TestChecklistOfEitherLineEnd(t *testing.T) {
	t.Parallel()
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	rapid.Check(t, func(t *rapid.T) {
		body := strings.ReplaceAll(anyBody().Draw(t, "body"), "\r", "")
		if lf, cr := itemList(mapping.Items(body)), itemList(mapping.Items(crlf(body))); lf != cr {
			t.Fatalf("items %q with LF, %q with CRLF", lf, cr)
		}
		if lf, cr := mapping.WithoutItems(body), mapping.WithoutItems(crlf(body)); crlf(lf) != cr {
			t.Fatalf("text %q with LF, %q with CRLF", lf, cr)
		}
		if !strings.Contains(body, "\n") {
			return // it has no line end that an edit could take up
		}
		want := wishes(mapping.Items(body), false).Draw(t, "want")
		if lf, cr := mapping.SetItems(body, want), mapping.SetItems(crlf(body), want); crlf(lf) != cr {
			t.Fatalf("put %q with LF, %q with CRLF", lf, cr)
		}
		text := mappingtest.Markdown().Draw(t, "text")
		if lf, cr := mapping.WithText(body, text), mapping.WithText(crlf(body), text); mapping.Canonical(lf) != mapping.Canonical(cr) {
			t.Fatalf("with the text %q with LF, %q with CRLF", lf, cr)
		}
	})
}

// The items in the examples of GitHub Flavored Markdown (5.3) are found.
func TestItemsOfTheSpecification(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"- [ ] foo\n- [x] bar\n":                         "  foo|x bar",
		"- [x] foo\n  - [ ] bar\n  - [x] baz\n- [ ] bim": "x foo|  bar|x baz|  bim",
	} {
		if got := itemList(mapping.Items(body)); got != want {
			t.Errorf("Items(%q) = %q, want %q", body, got, want)
		}
	}
}

// The parser is shared; under the race detector this shows that it may be.
func TestChecklistsAtOnce(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	got := make([]string, 8)
	for i := range got {
		all.Go(func() {
			for range 50 {
				body := mapping.SetItems(strings.Repeat("one\n\n- [ ] a\n\n", i+1), []mapping.Item{{Text: "b", At: i + 1, Checked: true}})
				got[i] = mapping.WithText(body, "other")
			}
		})
	}
	all.Wait()
	for i, body := range got {
		if items := mapping.Items(body); len(items) != i+1 || itemList(items[i:]) != "x b" {
			t.Errorf("%d: %q", i, body)
		}
	}
}

func BenchmarkItems(b *testing.B) {
	body := strings.Repeat("A paragraph of words with `code` and [links](https://example.com).\n\n- [ ] an item\n- [x] another one\n\n", 600)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if len(mapping.Items(body)) != 1200 {
			b.Fatal("items are missing")
		}
	}
}

func ExampleSetItems() {
	body := "To release:\n\n- [x] write the notes\n- [ ] tag\n\nThen rest."
	fmt.Println(mapping.SetItems(body, []mapping.Item{{Text: "tag v2", Checked: true, At: 2}, {Text: "announce"}}))
	// Output:
	// To release:
	//
	// - [x] write the notes
	// - [x] tag v2
	// - [ ] announce
	//
	// Then rest.
}

func ExampleWithText() {
	body := "To release:\n\n- [x] write the notes\n- [ ] tag\n\nThen rest."
	fmt.Println(mapping.WithText(body, "To release (on Friday):\n\nThen rest for a day."))
	// Output:
	// To release (on Friday):
	//
	// - [x] write the notes
	// - [ ] tag
	//
	// Then rest for a day.
}
