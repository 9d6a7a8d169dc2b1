package mapping_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

const issueURL = "https://github.com/acme/my_web/issues/12"

func withFooter(body string) string {
	return keys.AppendFooter(body, mark, "acme/my_web", 12, issueURL)
}

func TestAppendMarks(t *testing.T) {
	t.Parallel()
	signed := keys.Sign(mark)
	footer := "Synced by planbridge with [acme/my_web#12](" + issueURL + "#" + signed + ")"
	comment := "<!-- planbridge:" + signed + " -->"
	for name, c := range map[string]struct{ got, want string }{
		"footer":                     {withFooter("text"), "text\n\n" + footer},
		"footer, nothing else":       {withFooter(""), footer},
		"footer, blank text":         {withFooter(" \r\n"), footer},
		"footer, line ends":          {withFooter("text \r\n\r\n"), "text\n\n" + footer},
		"footer again":               {withFooter(withFooter("text")), "text\n\n" + footer},
		"footer instead of comment":  {withFooter(keys.AppendComment("text", mark)), "text\n\n" + footer},
		"comment":                    {keys.AppendComment("text", mark), "text\n\n" + comment},
		"comment, nothing else":      {keys.AppendComment("", mark), comment},
		"comment again":              {keys.AppendComment(keys.AppendComment("text", mark), mark), "text\n\n" + comment},
		"footer behind typed text":   {withFooter(withFooter("text") + "\n\nmore"), "text\n\nmore\n\n" + footer},
		"comment, in the typed text": {keys.AppendComment("a "+comment+" b", mark), "a b\n\n" + comment},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

// Changes of a footer by Markdown processing and by people.
func TestBodyOfProcessedFooter(t *testing.T) {
	t.Parallel()
	signed := keys.Sign(mark)
	href := issueURL + "#" + signed
	words := "Synced by planbridge with "
	full := words + "[acme/my_web#12](" + href + ")"
	for name, c := range map[string]struct{ in, want string }{
		"as written":                   {"text\n\n" + full, "text"},
		"CRLF":                         {"text\r\nmore\r\n\r\n" + full + "\r\n", "text\r\nmore"},
		"nothing but the footer":       {full, ""},
		"white space normalised":       {"text " + full, "text"},
		"one line end":                 {"text\n" + full, "text"},
		"wrapped lines":                {"text\n\nSynced by\nplanbridge  with\n[acme/my_web#12](" + href + ")\n", "text"},
		"underscores escaped":          {"text\n\n" + words + `[acme/my\_web\#12](` + strings.ReplaceAll(href, "_", `\_`) + ")", "text"},
		"everything escaped":           {"text\n\n" + words + `[acme/my\_web\#12](` + issueURL + "#" + strings.NewReplacer(".", `\.`, "-", `\-`).Replace(signed) + ")", "text"},
		"HTML link":                    {"text\n\n" + words + `<a href="` + href + `">acme/my_web#12</a>`, "text"},
		"HTML link with attributes":    {"text\n\n" + words + `<a rel="nofollow" href='` + href + `' target="_blank">acme/my_web#12</a>`, "text"},
		"HTML paragraph":               {"<p>text</p>\n<p>" + words + `<a href="` + href + `">acme/my_web#12</a></p>`, "<p>text</p>"},
		"autolink":                     {"text\n\n" + words + "<" + href + ">", "text"},
		"bare URL":                     {"text\n\n" + words + href, "text"},
		"URL in angle brackets":        {"text\n\n" + words + "[acme/my_web#12](<" + href + ">)", "text"},
		"a title":                      {"text\n\n" + words + "[acme/my_web#12](" + href + ` "acme")`, "text"},
		"typed after it":               {"text\n\n" + full + "\n\nmore\n", "text\n\nmore\n"},
		"typed after it, same line":    {"text\n\n" + full + " and more", "text\n\nand more"},
		"typed after it, no space":     {"text\n\n" + full + ". More", "text\n\n. More"},
		"typed after it, next line":    {"text\n\n" + full + "\nmore", "text\n\nmore"},
		"typed after it, wider":        {"text " + full + "\n\nmore", "text\n\nmore"},
		"typed after it, line above":   {"text\n" + full + "\n\nmore", "text\n\nmore"},
		"typed after it, CRLF above":   {"text\r\n\r\n" + full + "\n\nmore", "text\r\n\r\nmore"},
		"no space before it":           {"text:" + full + " more", "text: more"},
		"no space around it":           {"text:" + full + "more", "text:more"},
		"typed before it, same line":   {"text\n\nI say: " + full, "text\n\nI say:"},
		"in the middle of a line":      {"one " + full + " two", "one two"},
		"first":                        {full + "\n\ntext", "text"},
		"code after it":                {"text\n\n" + full + "\n\n    code\n", "text\n\n    code\n"},
		"twice":                        {"text\n\n" + full + "\n\n" + full + "\n", "text"},
		"footer and comment":           {"text\n\n" + full + "\n\n<!-- planbridge:" + signed + " -->", "text"},
		"comment":                      {"text\n\n<!-- planbridge:" + signed + " -->", "text"},
		"comment, CRLF, typed after":   {"text\r\n\r\n<!-- planbridge:" + signed + " -->\r\nmore", "text\r\n\r\nmore"},
		"comment, other white space":   {"text <!--planbridge:" + signed + "\n-->", "text"},
		"comment behind another":       {"text <!-- note -->\n\n<!-- planbridge:" + signed + " -->", "text <!-- note -->"},
		"comment behind unclosed code": {"```\ncode\n\n<!-- planbridge:" + signed + " -->", "```\ncode"},
	} {
		body, marks := keys.Body(c.in)
		if body != c.want {
			t.Errorf("%s: body %q, want %q", name, body, c.want)
		}
		if len(marks) == 0 || marks[0] != mark {
			t.Errorf("%s: markers %+v", name, marks)
		}
	}
}

// A person's text is never taken for a footer.
func TestBodyKeepsPeoplesText(t *testing.T) {
	t.Parallel()
	signed, forged := keys.Sign(mark), other.Sign(mark)
	for name, c := range map[string]struct {
		text  string
		marks int
	}{
		"nothing":             {"", 0},
		"white space":         {"text  \r\n\r\n", 0},
		"the words alone":     {"Synced by planbridge with great care", 0},
		"a link of his own":   {"Synced by planbridge with [acme/web#12](" + issueURL + ")", 0},
		"a forged footer":     {"text\n\nSynced by planbridge with [acme/web#12](" + issueURL + "#" + forged + ")", 0},
		"a forged comment":    {"text\n\n<!-- planbridge:" + forged + " -->", 0},
		"a pasted URL":        {"see " + issueURL + "#" + signed + " for more", 1},
		"a pasted link":       {"see [this](" + issueURL + "#" + signed + ")", 1},
		"a marker":            {"`" + signed + "`", 1},
		"words in between":    {"Synced by planbridge with my team: [x](" + issueURL + "#" + signed + ")", 1},
		"a comment with more": {"<!-- planbridge:" + signed + " is our marker -->", 1},
	} {
		body, marks := keys.Body(c.text)
		if body != c.text || len(marks) != c.marks {
			t.Errorf("%s: body %q of %q, markers %+v", name, body, c.text, marks)
		}
	}
}

// An item's own marker comes before those that were pasted into its text.
func TestBodyOrdersMarkers(t *testing.T) {
	t.Parallel()
	pasted, copied, own := mark, mark, mark
	pasted.Nonce, copied.Nonce, own.Nonce = "pasted", "copied", "own"
	text := "see " + issueURL + "#" + keys.Sign(pasted) + "\n\n<!-- planbridge:" + keys.Sign(copied) + " -->\n\n<!-- planbridge:" + keys.Sign(own) + " -->"
	_, marks := keys.Body(text)
	if diff := cmp.Diff([]mapping.Marker{own, copied, pasted}, marks); diff != "" {
		t.Error(diff)
	}
}

func TestBodyLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(mappingtest.Text(), mappingtest.Markdown()).Draw(t, "text")
		m := markers().Draw(t, "marker")
		checkBody(t, text, m)
	})
}

// checkBody asserts that a text comes back from behind its marks, but for
// white space at its end.
func checkBody(t interface{ Errorf(string, ...any) }, text string, m mapping.Marker) {
	if body, marks := keys.Body(text); body != text || len(marks) > 0 {
		t.Errorf("Body(%q) = %q, %+v without a marker", text, body, marks)
	}
	want := strings.TrimRight(text, " \t\r\n")
	for _, marked := range []string{
		keys.AppendComment(text, m), keys.AppendFooter(text, m, "acme/my_web", 12, issueURL),
		want + "\r\n\r\n" + keys.AppendComment("", m),
	} {
		body, marks := keys.Body(marked)
		if body != want || len(marks) != 1 || marks[0] != m {
			t.Errorf("Body(%q) = %q, %+v", marked, body, marks)
		}
	}
}

func FuzzSplitFooter(f *testing.F) {
	f.Add("text", "1", byte(0))
	f.Add("Synced by planbridge with <p>\n", "", byte(1))
	f.Add("<!-- planbridge:\n[x](", "\xff", byte(2))
	f.Fuzz(func(t *testing.T, text, partner string, cut byte) {
		if len(keys.Find(text)) > 0 {
			return // a marker of the corpus
		}
		m := mark
		m.Partner = partner
		checkBody(t, text, m)
		// Nothing panics on what is left of a footer, and nothing is added.
		marked := withFooter(text)
		left := marked[:max(0, len(marked)-int(cut))]
		if body, _ := keys.Body(left); len(body) > len(left) {
			t.Errorf("Body(%q) = %q", left, body)
		}
	})
}

func ExampleKeys_Body() {
	k := mapping.NewKeys([]byte("an example's key"))
	card := k.AppendFooter("What it is about.", mapping.Marker{Kind: mapping.MarkCard, Link: "l", Nonce: "n", Partner: "42"}, "acme/web", 12, "https://github.com/acme/web/issues/12")
	body, marks := k.Body(card)
	fmt.Printf("%q %+v\n", body, marks)
	// Output: "What it is about." [{Kind:c Link:l Nonce:n Partner:42}]
}

func TestForeign(t *testing.T) {
	t.Parallel()
	signed, forged := keys.Sign(mark), other.Sign(mark)
	link := func(m string) string {
		return "text\n\nSynced by planbridge with [acme/web#12](" + issueURL + "#" + m + ")"
	}
	for text, want := range map[string]bool{
		"":                                     false,
		"Synced by planbridge with great care": false,
		link(signed):                           false,
		link(forged):                           true,
		link(signed) + "\n\n" + link(forged):   true,
		"text\n\n<!-- planbridge:" + forged + " -->": true,
		"see " + issueURL + "#" + forged:             false,
	} {
		if got := keys.Foreign(text); got != want {
			t.Errorf("Foreign(%q) = %v", text, got)
		}
	}
}

// TestFooterIssue: a footer with the marker names its issue, also as a Markdown writer escapes it.
func TestFooterIssue(t *testing.T) {
	t.Parallel()
	whole := withFooter("text")
	another := mark
	another.Link = "7766554433221100"
	for name, c := range map[string]struct {
		text   string
		m      mapping.Marker
		repo   string
		number int
	}{
		"its own":        {whole, mark, "acme/my_web", 12},
		"escaped":        {strings.ReplaceAll(whole, "my_web", `my\_web`), mark, "acme/my_web", 12},
		"another marker": {whole, another, "", 0},
		"forged":         {other.AppendFooter("text", mark, "acme/my_web", 12, issueURL), mark, "", 0},
		"no footer":      {"text", mark, "", 0},
	} {
		if repo, number := keys.FooterIssue(c.text, c.m); repo != c.repo || number != c.number {
			t.Errorf("%s: %s#%d, want %s#%d", name, repo, number, c.repo, c.number)
		}
	}
}
