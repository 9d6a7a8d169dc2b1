package planning

import (
	"html"
	"net/url"
	"slices"
	"strings"

	tokens "golang.org/x/net/html"

	"planbridge/mapping"
)

// maxNested bounds the elements that are open at once. Tags beyond that are dropped, and their
// text is kept.
const maxNested = 100

// role is how an element nests with others.
type role uint8

const (
	inline  role = iota + 1
	block        // ends an open paragraph
	void         // has no content
	grid         // table and its direct children
	cell         // holds blocks within a table
	heading      // a block that holds no other heading
)

var roles = func() map[string]role {
	roles := map[string]role{}
	for r, names := range map[role]string{
		inline: "a abbr b bdi bdo cite code del dfn em i ins kbd mark q rp rt ruby s samp small span strike strong sub sup tt u var",
		block:  "article aside blockquote dd details div dl dt figcaption figure footer header li ol p pre section summary ul",
		void:   "br hr img input wbr", grid: "table thead tbody tfoot tr", cell: "td th caption", heading: "h1 h2 h3 h4 h5 h6",
	} {
		for name := range strings.FieldsSeq(names) {
			roles[name] = r
		}
	}
	return roles
}()

func elementNames() []string {
	var names []string
	for name := range roles {
		names = append(names, name)
	}
	return names
}

// tidy makes clean HTML well-formed for an HTML parser. It drops closing tags without an open
// element, closes open elements where needed, and puts table rows and cells into tables. It loses
// no text. Images become links unless they are to be shown.
func tidy(clean string, images mapping.Images) string {
	t := tidier{images: images}
	z := tokens.NewTokenizer(strings.NewReader(clean))
	for {
		kind := z.Next()
		raw := string(z.Raw())
		switch kind {
		case tokens.ErrorToken: // the end: the reader does not fail
			t.closeTo(0)
			return t.out.String()
		case tokens.TextToken:
			t.text(raw)
		case tokens.StartTagToken, tokens.SelfClosingTagToken:
			t.start(z.Token(), raw)
		case tokens.EndTagToken:
			name, _ := z.TagName()
			t.end(string(name))
		}
	}
}

type tidier struct {
	images mapping.Images
	out    strings.Builder
	open   []string // the innermost last
}

// closeTo closes elements until n are open.
func (t *tidier) closeTo(n int) {
	for len(t.open) > n {
		t.out.WriteString("</" + t.open[len(t.open)-1] + ">")
		t.open = t.open[:len(t.open)-1]
	}
}

// find returns the index of the innermost open element that is wanted, -1 where a barrier comes
// first or there is none.
func (t *tidier) find(wanted, barrier func(name string) bool) int {
	for i, name := range slices.Backward(t.open) {
		switch {
		case wanted(name):
			return i
		case barrier(name):
			return -1
		}
	}
	return -1
}

func named(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func ofTable(name string) bool { return roles[name] == cell || roles[name] == grid }

func notInline(name string) bool { return roles[name] != inline }

// structural reports whether an element stops a list item inside it from ending one outside.
func structural(name string) bool {
	return roles[name] != inline && name != "div" && name != "p"
}

// innermost returns the element around the next token.
func (t *tidier) innermost() string {
	if len(t.open) == 0 {
		return ""
	}
	return t.open[len(t.open)-1]
}

func (t *tidier) text(raw string) {
	if strings.Trim(raw, " \t\r\n\f") != "" {
		t.enterCell()
	}
	t.out.WriteString(raw)
}

// enterCell opens a cell where a table, a section or a row is innermost, since text cannot be
// there.
func (t *tidier) enterCell() {
	if roles[t.innermost()] == grid {
		t.enterRow()
		t.push("td", "<td>")
	}
}

// enterRow opens the missing elements around a cell in a table.
func (t *tidier) enterRow() {
	if t.innermost() == "table" {
		t.push("tbody", "<tbody>")
	}
	if t.innermost() != "tr" {
		t.push("tr", "<tr>")
	}
}

func (t *tidier) push(name, tag string) {
	t.open = append(t.open, name)
	t.out.WriteString(tag)
}

func (t *tidier) start(tag tokens.Token, raw string) {
	name := tag.Data
	if tag.Type == tokens.SelfClosingTagToken {
		raw = tag.String()
		raw = strings.TrimSuffix(raw, "/>") + ">" // it closes nothing in HTML
	}
	switch r := roles[name]; {
	case r == void:
		t.void(tag, raw)
	case len(t.open) >= maxNested:
	case r == grid && name != "table" || r == cell:
		t.tablePart(name, raw)
	case r != 0:
		t.enterCell()
		if t.makeRoom(name, r) {
			t.push(name, raw)
		}
	}
}

// makeRoom closes the elements that name ends, and reports whether it may begin.
func (t *tidier) makeRoom(name string, r role) bool {
	at := -1
	switch {
	case name == "a":
		if t.find(named("a"), ofTable) >= 0 && t.find(named("a"), notInline) < 0 {
			return false
		}
		at = t.find(named("a"), notInline)
	case name == "rt" || name == "rp":
		if ruby := t.find(named("ruby"), ofTable); ruby >= 0 {
			at = ruby + 1
		}
	case r != inline:
		t.endParagraph()
	}
	switch {
	case name == "li":
		at = t.find(named("li"), structural)
	case name == "dt" || name == "dd":
		at = t.find(named("dt", "dd"), structural)
	case r == heading:
		at = t.find(func(name string) bool { return roles[name] == heading }, ofTable)
	}
	if at >= 0 {
		t.closeTo(at)
	}
	return true
}

func (t *tidier) endParagraph() {
	if at := t.find(named("p"), ofTable); at >= 0 {
		t.closeTo(at)
	}
}

// tablePart begins a part of the innermost table, and drops it outside of one.
func (t *tidier) tablePart(name, raw string) {
	parents := named("table")
	switch {
	case name == "tr":
		parents = named("table", "thead", "tbody", "tfoot")
	case name == "td" || name == "th":
		parents = named("table", "thead", "tbody", "tfoot", "tr")
	}
	at := t.find(parents, named("table"))
	if at < 0 {
		return
	}
	t.closeTo(at + 1)
	switch {
	case name == "td" || name == "th":
		t.enterRow()
	case name == "tr" && t.innermost() == "table":
		t.push("tbody", "<tbody>")
	}
	t.push(name, raw)
}

func (t *tidier) void(tag tokens.Token, raw string) {
	t.enterCell()
	switch tag.Data {
	case "hr":
		t.endParagraph()
	case "img":
		raw = t.image(tag, raw)
	case "input":
		if attribute(tag, "type") != "checkbox" {
			return
		}
	}
	t.out.WriteString(raw)
}

// image returns the replacement of an image: the image itself, a link to it, or its words. The
// words replace it where a link surrounds it or its address is not on the web.
func (t *tidier) image(tag tokens.Token, raw string) string {
	source, alt := attribute(tag, "src"), attribute(tag, "alt")
	u, err := url.Parse(source)
	switch remote := err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"); {
	case remote && t.images == mapping.InlineImages:
		return raw
	case !remote || slices.Contains(t.open, "a"):
		return html.EscapeString(alt)
	case strings.TrimSpace(alt) == "":
		alt = source
	}
	return `<a href="` + html.EscapeString(source) + `" rel="nofollow">` + html.EscapeString(alt) + `</a>`
}

func attribute(tag tokens.Token, key string) string {
	for _, a := range tag.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// end closes the element of a closing tag. An inline element does not end a block that began
// inside it. No tag in a cell ends an element around the cell.
func (t *tidier) end(name string) {
	barrier := ofTable
	switch r := roles[name]; {
	case r == inline:
		barrier = notInline
	case ofTable(name):
		barrier = named("table")
	}
	if at := t.find(named(name), barrier); at >= 0 {
		t.closeTo(at)
	}
}
