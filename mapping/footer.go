package mapping

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// In planning, which processes Markdown, a marker is the fragment of the link in a footer. The
// footer is the last paragraph of a card's or task's text:
//
//	Synced by planbridge with [acme/web#12](https://github.com/acme/web/issues/12#planbridge-1.…)
//
// On GitHub a marker is a comment at the end of a body:
//
//	<!-- planbridge:planbridge-1.… -->
//
// Both are removed wherever they are found, in every form that Markdown processing may have given
// them. Everything else stays. Text that a person typed before or after them in the same paragraph
// stays. So does a link with a marker that a person pasted into a sentence. A footer whose
// signature is not ours is text like any other.
const footerWords = "Synced by planbridge with"

// AppendFooter returns a card's or task's text with the footer that names the
// issue (repo as owner/name, its number and URL) and carries the marker.
// Footers and comments that body has already are replaced.
func (k Keys) AppendFooter(body string, m Marker, repo string, number int, url string) string {
	return k.appendMark(body, fmt.Sprintf("%s [%s#%d](%s#%s)", footerWords, repo, number, url, k.Sign(m)))
}

// AppendComment returns an issue's or comment's text with the marker in an HTML
// comment. Footers and comments that body has already are replaced.
func (k Keys) AppendComment(body string, m Marker) string {
	return k.appendMark(body, "<!-- planbridge:"+k.Sign(m)+" -->")
}

func (k Keys) appendMark(body, mark string) string {
	body, _ = k.Body(body)
	if body = strings.TrimRight(body, blank); body == "" {
		return mark
	}
	return body + "\n\n" + mark
}

const blank = " \t\r\n"

// ownForms matches a footer or a comment at the beginning of a text, in every form it may have.
// Exactly one of its groups holds the marker.
var ownForms = func() *regexp.Regexp {
	mark := `(` + markerForm + `)`
	url := `[^\s<>()"']*#` + mark
	link := `(?:` + strings.Join([]string{
		`\[[^\[\]\n]*\]\(\s*<?` + url + `>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)`, // [text](url "title")
		`<a\s[^<>]*?href\s*=\s*["']?` + url + `["']?[^<>]*>[^<>]*</a>`,           // <a href="url">text</a>
		`<` + url + `>`, // <url>
		url,             // url
	}, `|`) + `)`
	footer := strings.ReplaceAll(footerWords, " ", `\s+`) + `\s+` + link
	comment := `<!--\s*planbridge:\s*` + mark + `\s*-->`
	return regexp.MustCompile(`^(?:<p>\s*` + footer + `\s*</p>|` + footer + `|` + comment + `)`)
}()

// mayBeOwn reports whether what ownForms matches can begin here.
func mayBeOwn(text string) bool {
	return strings.HasPrefix(text, "<p>") || strings.HasPrefix(text, "Synced") || strings.HasPrefix(text, "<!--")
}

// findOwn finds the footers and comments of a text, as the indexes of a match and its groups. A
// long text is searched only at the few offsets where one may begin, as matching every form
// everywhere takes long.
func findOwn(text string) (found [][]int) {
	for at := 0; ; {
		next := strings.IndexAny(text[at:], "<S")
		if next < 0 {
			return found
		}
		at += next
		loc := plainFooter(text[at:])
		if loc == nil && mayBeOwn(text[at:]) {
			loc = ownForms.FindStringSubmatchIndex(text[at:])
		}
		if loc == nil {
			at++
			continue
		}
		for i := range loc {
			if loc[i] >= 0 {
				loc[i] += at
			}
		}
		found, at = append(found, loc), loc[1]
	}
}

// plainFooter answers as ownForms does where a text begins with a footer as AppendFooter writes it;
// nil: ownForms has to match. Nearly all footers are such, and the expression takes more than ten
// times as long.
func plainFooter(text string) []int {
	rest, ok := strings.CutPrefix(text, footerWords+" [")
	if !ok {
		return nil
	}
	label := strings.IndexAny(rest, "[]\n")
	if label < 0 || !strings.HasPrefix(rest[label:], "](") {
		return nil
	}
	rest = rest[label+len("]("):]
	end := strings.IndexAny(rest, " \t\n\f\r<>()\"'")
	if end < 0 || rest[end] != ')' {
		return nil
	}
	_, mark, _ := strings.Cut(rest[:end], "#")
	if !isPlainMarker(mark) {
		return nil
	}
	loc := slices.Repeat([]int{-1}, 2*(ownForms.NumSubexp()+1))
	end += len(text) - len(rest)
	loc[0], loc[1] = 0, end+len(")")
	loc[plainGroup], loc[plainGroup+1] = end-len(mark), end
	return loc
}

// plainGroup is the group of ownForms that holds the marker of a plain footer. The form in a
// paragraph has four groups, and the plain marker is the first of the next four.
const plainGroup = 2 * 5

// isPlainMarker reports whether the whole text has the form of a marker without backslashes.
func isPlainMarker(text string) bool {
	fields := strings.Split(text, ".")
	if len(fields) != 6 || fields[0] != markerVersion || len(fields[5]) != 2*signatureSize || strings.Trim(fields[5], "0123456789abcdef") != "" {
		return false
	}
	return !strings.ContainsFunc(strings.Join(fields[1:5], ""), func(r rune) bool {
		return r != '-' && (r >= utf8.RuneSelf || !isWord(byte(r)))
	})
}

// Body separates a text into the people's text and the bridge's valid markers, without those of
// another project (see [Keys.In]). Markers of footers and comments come first, and the last of them
// foremost, as the bridge appends. Markers that somebody pasted elsewhere into the text follow. A
// text without footer or comment comes back unchanged.
func (k Keys) Body(text string) (body string, marks []Marker) {
	if !strings.Contains(text, "planbridge") {
		return text, nil
	}
	for _, loc := range slices.Backward(findOwn(text)) {
		if m, ok := k.parseForm(submatch(text, loc)); ok {
			if m.of(k.project) {
				marks = append(marks, m)
			}
			text = cutOut(text, loc[0], loc[1])
		}
	}
	return text, append(marks, k.Find(text)...)
}

// Foreign reports whether a text has a footer or comment with a marker that none of the keys
// signed. Such a marker is forged, or of a bridge with other keys.
func (k Keys) Foreign(text string) bool {
	return slices.ContainsFunc(findOwn(text), func(loc []int) bool {
		_, ours := k.parseForm(submatch(text, loc))
		return !ours
	})
}

// submatch returns the one group that took part in a match.
func submatch(text string, loc []int) string {
	for i := 2; i < len(loc); i += 2 {
		if loc[i] >= 0 {
			return text[loc[i]:loc[i+1]]
		}
	}
	return ""
}

var blankLines = regexp.MustCompile(`^(?:[ \t]*\r?\n)+`)

// cutOut removes text[start:end]. The wider of the two gaps joins the text before and after it; the
// indentation of a following line stays.
func cutOut(text string, start, end int) string {
	before, after := strings.TrimRight(text[:start], blank), text[end:]
	gap := blankLines.FindString(after)
	if after = after[len(gap):]; gap == "" {
		after = strings.TrimLeft(after, " \t")
		gap = text[end : len(text)-len(after)]
	}
	if wide := text[len(before):start]; strings.Count(wide, "\n") >= strings.Count(gap, "\n") && wide != "" {
		gap = wide
	}
	switch {
	case before == "":
		return after
	case strings.Trim(after, blank) == "":
		return before
	}
	return before + gap + after
}

// footerLink finds the links of footers: an issue's page with a marker for its fragment. A Markdown
// writer may have added backslashes.
var footerLink = regexp.MustCompile(`([\w.\\-]+/[\w.\\-]+)/issues/([0-9]{1,9})#([\w.\\-]+)`)

// FooterIssue returns the issue that the footer with the given marker names, "" and 0 where there
// is no such footer. The marker has only the issue's id, by which GitHub cannot be asked.
func (k Keys) FooterIssue(text string, m Marker) (repo string, number int) {
	for _, link := range footerLink.FindAllStringSubmatch(text, -1) {
		if got, ok := k.Parse(strings.ReplaceAll(link[3], `\`, "")); ok && got == m {
			number, _ = strconv.Atoi(link[2]) //nolint:errcheck // digits only, and so few that they fit
			return strings.ReplaceAll(link[1], `\`, ""), number
		}
	}
	return "", 0
}
