package mapping_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
)

var listRoute = &mapping.Route{Tasks: mapping.TasksChecklist}

// someLines draws which lines of a body stand for tasks, and returns a link that
// remembers them.
func someLines(t *rapid.T, body string) (*mapping.Link, mapping.LineSet) {
	set := mapping.LineSet{}
	for _, item := range mapping.Items(body) {
		if rapid.Bool().Draw(t, "task") {
			set[item.At] = true
		}
	}
	l := &mapping.Link{}
	l.SetTaskLines(body, set)
	return l, set
}

// TestTextAroundGetPut: unedited text changes no byte of a body, whichever of its lines are text.
func TestTextAroundGetPut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.OneOf(withLists(), anyBody()).Draw(t, "body")
		l, set := someLines(t, body)
		text := l.Text(listRoute, mapping.Summary, body)
		got, now := mapping.WithTextAround(body, l.TaskLines(body), text)
		if got != body || fmt.Sprint(now) != fmt.Sprint(set) {
			t.Fatalf("WithTextAround = %q, %v, want %q, %v", got, now, body, set)
		}
	})
}

// TestTextAroundPutGet: a text that was edited is what the new body shows, and the
// items are those that they were. No line is lost or doubled.
func TestTextAroundPutGet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		paragraphs := func(name string) []string {
			return rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two\nlines", "# three", "- [ ] x\n- [x] y", "- [ ] z"}), 0, 5).Draw(t, name)
		}
		body := strings.Join(paragraphs("body"), "\n\n")
		l, set := someLines(t, body)
		text := strings.Join(paragraphs("text"), "\n\n")
		put, now := mapping.WithTextAround(body, l.TaskLines(body), text)
		l.SetTaskLines(put, now)
		if got := l.Text(listRoute, mapping.Summary, put); inkOf(got) != inkOf(text) {
			t.Fatalf("the text of %q: %q, want %q", put, got, text)
		}
		if got, want := chosen(put, now), chosen(body, set); got != want {
			t.Fatalf("the items of %q: %q, want %q", put, got, want)
		}
	})
}

func chosen(body string, set mapping.LineSet) string {
	var out []mapping.Item
	for _, item := range mapping.Items(body) {
		if set[item.At] {
			out = append(out, item)
		}
	}
	return itemList(out)
}

// TestTaskLines: the lines of the base are remembered whatever bodies come after it. The lines of
// an unseen body are those of known items. All lines stand for tasks where none ever had to stay
// text.
func TestTaskLines(t *testing.T) {
	t.Parallel()
	const base = "- [ ] a\n- [ ] b\n- [ ] c\n"
	l := &mapping.Link{Pair: mapping.Pair{Base: map[mapping.Attribute]mapping.Base{mapping.Summary: {GitHub: base}}}}
	if set := l.TaskLines(base); set != nil {
		t.Errorf("at first %v, want all", set)
	}
	l.Children = []*mapping.Pair{{Kind: mapping.Checklist, State: mapping.Linked, Item: "a"}, {Kind: mapping.Checklist, State: mapping.Left, Item: "c"}}
	for i := range 10 {
		l.SetTaskLines(base+fmt.Sprintf("- [ ] more %d\n", i), mapping.LineSet{1: true, 2: true, 3: true})
	}
	if set := l.TaskLines(base); len(set) != 3 {
		t.Errorf("of the base %v, want all three", set)
	}
	if n := len(l.Family.Lines); n > 4 {
		t.Errorf("the lines of %d bodies are kept", n)
	}
	if set := l.TaskLines("- [ ] c\n- [ ] d\n- [ ] a\n"); len(set) != 2 || !set[1] || !set[3] {
		t.Errorf("of an unknown body %v, want the lines of c and a", set)
	}
}

// TestPlainLines: a line that is text in the agreed body is text wherever it stands by now.
func TestPlainLines(t *testing.T) {
	t.Parallel()
	base := "- [ ] text\n- [ ] task\n"
	l := &mapping.Link{Pair: mapping.Pair{Base: map[mapping.Attribute]mapping.Base{mapping.Summary: {GitHub: base}}}}
	if plain := l.PlainLines(mapping.Items(base)); plain != nil {
		t.Errorf("all are tasks: %v", plain)
	}
	l.SetTaskLines(base, mapping.LineSet{mapping.Items(base)[1].At: true})
	for now, want := range map[string]string{
		base:                                  "map[0:true]",
		"- [ ] task\n- [ ] text\n- [ ] new\n": "map[1:true]",
		"- [ ] task\n":                        "map[]",
	} {
		if got := fmt.Sprint(l.PlainLines(mapping.Items(now))); got != want {
			t.Errorf("of %q: %s, want %s", now, got, want)
		}
	}
}

// TestLinesOfManyBodies: the lines of the base are kept whatever comes after it. Those of the
// latest bodies beside it are kept, and older ones are dropped.
func TestLinesOfManyBodies(t *testing.T) {
	t.Parallel()
	const base = "- [ ] a\n- [ ] b\n"
	body := func(i int) string { return fmt.Sprintf("- [ ] a\n- [ ] b\n\ntext %d\n", i) }
	l := &mapping.Link{Pair: mapping.Pair{Base: map[mapping.Attribute]mapping.Base{mapping.Summary: {GitHub: base}}}}
	for i := range 6 {
		l.SetTaskLines(body(i), mapping.LineSet{2: true, 1: true})
		if set := l.TaskLines(body(i)); len(set) != 2 || !set[1] || !set[2] {
			t.Errorf("of the body just seen the lines are %v", set)
		}
	}
	if lines := l.Family.Lines; len(lines) != 4 {
		t.Fatalf("the lines of %d bodies are kept", len(lines))
	}
	for i, seen := range []string{body(5), body(4), body(3), base} {
		if got := l.Family.Lines[i]; got.Body != mapping.DigestText(seen) || !slices.Equal(got.Tasks, []int{1, 2}) {
			t.Errorf("the lines kept at place %d are %+v", i, got)
		}
	}
	l.SetTaskLines(base, mapping.LineSet{1: true})
	if set := l.TaskLines(base); len(set) != 1 || !set[1] {
		t.Errorf("the base was seen again, and its lines are %v", set)
	}
	if lines := l.Family.Lines; len(lines) != 3 || lines[0].Body != mapping.DigestText(base) {
		t.Errorf("kept are %+v", lines)
	}
}

// TestLinesOfAnUnknownBody: the line of a present item is found when it was renamed. The line of an
// absent one is found only by exactly its text.
func TestLinesOfAnUnknownBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state mapping.LinkState
		body  string
		tasks int
	}{
		"there":            {mapping.Linked, "- [ ] write tests\n", 1},
		"there, renamed":   {mapping.Linked, "- [ ] write more tests\n", 1},
		"there, rewritten": {mapping.Linked, "- [ ] call the bank\n", 0},
		"away":             {mapping.Left, "- [ ] write tests\n", 1},
		"away, renamed":    {mapping.Left, "- [ ] write more tests\n", 0},
	} {
		l := &mapping.Link{Pair: mapping.Pair{Base: map[mapping.Attribute]mapping.Base{mapping.Summary: {GitHub: "one"}}}}
		l.SetTaskLines("two", mapping.LineSet{})
		l.Children = []*mapping.Pair{{Kind: mapping.Tracking}, {Kind: mapping.Checklist, State: c.state, Item: "write tests"}}
		if set := l.TaskLines(c.body); len(set) != c.tasks {
			t.Errorf("%s: the lines %v are tasks, want %d", name, set, c.tasks)
		}
	}
}

// TestFirstLines has a row for each body that is the first to be remembered. The base has its lines
// once, and a link that never agreed on a text has no other body.
func TestFirstLines(t *testing.T) {
	t.Parallel()
	const base = "- [ ] a\n"
	agreed := map[mapping.Attribute]mapping.Base{mapping.Summary: {GitHub: base}}
	for name, c := range map[string]struct {
		base   map[mapping.Attribute]mapping.Base
		bodies []string
		kept   []string
	}{
		"the base's":            {agreed, []string{base}, []string{base}},
		"another one":           {agreed, []string{"new"}, []string{"new", base}},
		"no base":               {nil, []string{"new"}, []string{"new"}},
		"no base, an empty one": {nil, []string{"", "1", "2", "3"}, []string{"3", "2", "1"}},
	} {
		l := &mapping.Link{Pair: mapping.Pair{Base: c.base}}
		for _, body := range c.bodies {
			l.SetTaskLines(body, mapping.LineSet{1: true})
		}
		var kept, want []string
		for _, seen := range l.Family.Lines {
			kept = append(kept, seen.Body)
		}
		for _, body := range c.kept {
			want = append(want, mapping.DigestText(body))
		}
		if !slices.Equal(kept, want) {
			t.Errorf("%s: kept are %d bodies %v, want %v", name, len(kept), kept, want)
		}
	}
}

// TestLinesWithoutABase: a link that never agreed on a text remembers the latest three bodies.
func TestLinesWithoutABase(t *testing.T) {
	t.Parallel()
	l := &mapping.Link{}
	for i := range 5 {
		l.SetTaskLines(fmt.Sprintf("- [ ] a\n\ntext %d\n", i), mapping.LineSet{1: true})
	}
	if lines := l.Family.Lines; len(lines) != 3 || lines[0].Body != mapping.DigestText("- [ ] a\n\ntext 4\n") || lines[2].Body != mapping.DigestText("- [ ] a\n\ntext 2\n") {
		t.Errorf("kept are %+v", lines)
	}
}

// TestTextOfAValue: of a body whose lines are tasks the text is what stands around them, and any
// other value is its own text.
func TestTextOfAValue(t *testing.T) {
	t.Parallel()
	const body = "one\n\n- [ ] a\n"
	for name, c := range map[string]struct {
		tasks string
		a     mapping.Attribute
		want  string
	}{
		"a body":                  {mapping.TasksChecklist, mapping.Summary, "one\n\n"},
		"a body without tasks":    {mapping.TasksNone, mapping.Summary, body},
		"a body with sub-issues":  {mapping.TasksSubIssues, mapping.Summary, body},
		"a title":                 {mapping.TasksChecklist, mapping.Title, body},
		"what is no attribute":    {mapping.TasksChecklist, "unknown", body},
		"a title with sub-issues": {mapping.TasksSubIssues, mapping.Title, body},
	} {
		if got := new(mapping.Link).Text(&mapping.Route{Tasks: c.tasks}, c.a, body); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
