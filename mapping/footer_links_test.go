package mapping_test

import (
	"strconv"
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestIssueThatAFooterNames has a row for each name of a repository and each number that a footer may
// have. A lost store finds the issue by them.
func TestIssueThatAFooterNames(t *testing.T) {
	t.Parallel()
	for _, repo := range []string{"acme/web", "Acme/Web", "a-b.c_1/d-e.f_2", "0x/1", "x/.github", "ACME/WEB-9"} {
		for _, number := range []int{1, 9, 12, 123456789} {
			url := "https://github.com/" + repo + "/issues/" + strconv.Itoa(number)
			footer := keys.AppendFooter("see https://github.com/other/one/issues/7", mark, repo, number, url)
			for name, text := range map[string]string{
				"as written": footer,
				"escaped":    strings.NewReplacer("_", `\_`, "-", `\-`, ".", `\.`).Replace(footer),
				"as HTML":    "<p>" + strings.NewReplacer("[", "<a title=\"", "](", "\" href=\"", ")", "\">x</a></p>").Replace(footer),
			} {
				if gotRepo, gotNumber := keys.FooterIssue(text, mark); gotRepo != repo || gotNumber != number {
					t.Errorf("%s: %s names %s#%d, want %s#%d", name, text, gotRepo, gotNumber, repo, number)
				}
			}
		}
	}
	signed := keys.Sign(mark)
	for name, url := range map[string]string{
		"a number too long to be one": "https://github.com/acme/web/issues/1234567890#" + signed,
		"no number":                   "https://github.com/acme/web/issues/#" + signed,
		"no repository":               "https://github.com//issues/12#" + signed,
		"no owner":                    "/web/issues/12#" + signed,
		"another page":                "https://github.com/acme/web/pull/12#" + signed,
		"no marker":                   "https://github.com/acme/web/issues/12#",
		"half a marker":               "https://github.com/acme/web/issues/12#" + signed[:len(signed)-1],
		"a marker and more":           "https://github.com/acme/web/issues/12#" + signed + ".x",
	} {
		if repo, number := keys.FooterIssue("Synced by planbridge with [x]("+url+")", mark); repo != "" || number != 0 {
			t.Errorf("%s: it names %s#%d", name, repo, number)
		}
	}
}

// TestFootersOfManyForms has a row for each form in which a footer may come back. The first ones
// are removed completely, and the others are people's text.
func TestFootersOfManyForms(t *testing.T) {
	t.Parallel()
	href := issueURL + "#" + keys.Sign(mark)
	for name, c := range map[string]struct {
		link string // "§": the address with the marker
		own  bool
	}{
		"a link":                                {"[x](§)", true},
		"without a label":                       {"[](§)", true},
		"with blanks around the address":        {"[x]( \t§ \n)", true},
		"in angle brackets, with blanks":        {"[x]( <§> )", true},
		"in one angle bracket":                  {"[x](<§)", true},
		"with a title":                          {"[x](§ \"it's (12)\")", true},
		"with an empty title":                   {"[x](§ \"\")", true},
		"with a title in single quotes":         {"[x](§\n'say \"12\"'\n)", true},
		"in angle brackets, with a title":       {"[x](<§> 'x')", true},
		"with a title in brackets":              {"[x](§ (x))", false},
		"with a title of two lines":             {"[x](§ \"a\nb\")", false},
		"with a title that does not end":        {"[x](§ \"a)", false},
		"with a title and no blank":             {"[x](§\"a\")", false},
		"with a bracket in its label":           {"[a[b](§)", false},
		"with a line end in its label":          {"[a\nb](§)", false},
		"with a blank behind its label":         {"[x] (§)", false},
		"without an end":                        {"[x](§", false},
		"with a word behind the address":        {"[x](§ x)", false},
		"as HTML":                               {"<a href=\"§\">x</a>", true},
		"as HTML in single quotes":              {"<a href='§'>x</a>", true},
		"as HTML without quotes":                {"<a href=§>x</a>", true},
		"as HTML with blanks":                   {"<a\n href = \"§\" >x</a>", true},
		"as HTML with more before and behind":   {"<a class=\"a\" href=\"§\" rel='b' c>x</a>", true},
		"as HTML without a text":                {"<a href=\"§\"></a>", true},
		"as HTML with a tag in it":              {"<a href=\"§\"><b>x</b></a>", false},
		"as HTML with a tag before the address": {"<a <b> href=\"§\">x</a>", false},
		"as HTML without an end":                {"<a href=\"§\">x", false},
		"as HTML of another tag":                {"<b href=\"§\">x</b>", false},
		"as HTML by another attribute":          {"<a src=\"§\">x</a>", false},
		"as an address":                         {"§", true},
		"as an address in angle brackets":       {"<§>", true},
		"as an address in quotes":               {"\"§\"", false},
		"as an address in brackets":             {"(§)", false},
	} {
		link := strings.Replace(c.link, "§", href, 1)
		for _, words := range []string{"Synced by planbridge with ", "Synced\n by\tplanbridge  with \n"} {
			for text, rest := range map[string]string{"text\n\n" + words + link: "text", words + link + "\n\ntext": "text", "<p>\n" + words + link + " </p>": ""} {
				got, marks := keys.Body(text)
				if !c.own {
					rest = text
				}
				if strings.HasPrefix(text, "<p>") && !c.own {
					continue
				}
				if got != rest || len(marks) != 1 || marks[0] != mark {
					t.Errorf("%s: of %q is left %q with %d markers, want %q", name, text, got, len(marks), rest)
				}
			}
		}
		for _, words := range []string{"Synced by planbridge with", "synced by planbridge with ", "Synced by planbridge ", "Synced by Planbridge with "} {
			if text := words + link; c.link != "§" || words != "Synced by planbridge with" {
				if got, _ := keys.Body(text); got != text {
					t.Errorf("%s: of people's %q is left %q", name, text, got)
				}
			}
		}
	}
}

// TestGapsAroundAFooter has a row for what stands around a footer that is taken off: the wider gap
// stays, and the next line keeps its indent.
func TestGapsAroundAFooter(t *testing.T) {
	t.Parallel()
	footer := keys.AppendComment("", mark)
	for name, c := range map[string]struct{ before, behind, want string }{
		"a blank line with blanks behind it":     {"a", "\n \t \nb", "a\n \t \nb"},
		"a blank line of a tab":                  {"a\n", "\n\t\nb", "a\n\t\nb"},
		"a blank line of CRLF":                   {"a", "\r\n \r\nb", "a\r\n \r\nb"},
		"blanks, then a line end":                {"a", "  \t\nb", "a  \t\nb"},
		"as many line ends before":               {"a\n\n", "\n\nb", "a\n\nb"},
		"more line ends before":                  {"a\n\n\n", "\n\nb", "a\n\n\nb"},
		"blanks at the end of the line before":   {"a  \n", "\n\nb", "a\n\nb"},
		"a blank on either side":                 {"a ", "\tb", "a b"},
		"a tab behind alone":                     {"a", "\tb", "a\tb"},
		"nothing on either side":                 {"a", "b", "ab"},
		"an indented line behind a line end":     {"a", "\n    b", "a\n    b"},
		"an indented line behind a blank one":    {"a\n\n", "\n\n\tb", "a\n\n\tb"},
		"blanks in front of the next word":       {"a\n\n", "   b", "a\n\nb"},
		"nothing before, and an indented line":   {"", "\n\n    b\n", "    b\n"},
		"nothing before but blanks":              {" \n", " b", "b"},
		"nothing behind but blanks":              {"a", " \r\n\t\n", "a"},
		"blank lines at the end of what follows": {"a\n", "\nb\n \n", "a\nb\n \n"},
	} {
		if got, marks := keys.Body(c.before + footer + c.behind); got != c.want || len(marks) != 1 {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestNoncesThatNameAProject has a row for each form of a nonce. Only one form names a project, and
// a marker with any other one may be of each.
func TestNoncesThatNameAProject(t *testing.T) {
	t.Parallel()
	nonce := mapping.NonceIn("project", "0123456789abcdef")
	for name, c := range map[string]struct {
		nonce string
		names bool
	}{
		"a nonce and its project":    {nonce, true},
		"a fresh one":                {mapping.NewNonceIn("project"), true},
		"of an older release":        {"0123456789abcdef", false},
		"none":                       {"", false},
		"a digit more in front":      {"0" + nonce, false},
		"a digit less in front":      {nonce[1:], false},
		"a digit more behind":        {nonce + "0", false},
		"a digit less behind":        {nonce[:len(nonce)-1], false},
		"a letter that is no digit":  {"g" + nonce[1:], false},
		"a digit in upper case":      {strings.ToUpper(nonce[:16]) + nonce[16:], false},
		"another letter between":     {nonce[:16] + "q" + nonce[17:], false},
		"two nonces":                 {nonce + nonce, false},
		"a line end behind":          {nonce + "\n", false},
		"its digits without its sum": {nonce[:17], false},
	} {
		m := mapping.Marker{Kind: mapping.MarkCard, Link: "l", Nonce: c.nonce, Partner: "1"}
		if !m.IsFor("project") && c.names || m.IsFor("another") == c.names {
			t.Errorf("%s: it may be of its project %t, of another %t", name, m.IsFor("project"), m.IsFor("another"))
		}
		if _, marks := keys.In("another").Body(keys.AppendComment("text", m)); (len(marks) == 0) != c.names {
			t.Errorf("%s: in another project it says %v", name, marks)
		}
	}
}
