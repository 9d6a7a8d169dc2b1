package mapping

import (
	"maps"
	"strings"
	"unicode"
)

// PlanningForm is a GitHub value as it is written to planning, where held is the value that
// planning has now. Text that came from planning gets its mentions and references back. Links which
// run programs are defused. A title gets back the part that was cut off for GitHub. Everything else
// is unchanged.
func PlanningForm(a Attribute, g, held string) string { return a.Spec().ToPlanning(g, held) }

// GitHubForm is a planning value as it is written to GitHub, where held is the value that GitHub
// has now. Mentions and references that came from planning neither notify nor link. A title is one
// line of at most GitHub's 256 characters. Control characters, which nobody sees and either service
// may refuse, are dropped.
func GitHubForm(a Attribute, p, held string) string { return a.Spec().ToGitHub(p, held) }

// oneLine returns a title with control characters in its canonical form, on one line. Any other
// title comes back as it is.
func oneLine(title string) string {
	if strings.ContainsFunc(title, unicode.IsControl) {
		return CanonicalTitle(title)
	}
	return title
}

// legible returns a text without the characters that do not show. Where one of these stood between
// a CR and an LF, they stay two line ends.
func legible(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return visible(r) < 0 }) {
		return text
	}
	var b strings.Builder
	last, dropped := rune(0), false
	for _, r := range text {
		if r = visible(r); r < 0 {
			dropped = true
			continue
		}
		if dropped && last == '\r' && r == '\n' {
			b.WriteByte('\n')
		}
		b.WriteRune(r)
		last, dropped = r, false
	}
	return b.String()
}

// visible is a mapping for strings.Map that drops control characters, except those that separate
// words and lines.
func visible(r rune) rune {
	if r == '\n' || r == '\r' {
		return r
	}
	return printable(r)
}

func canonical(a Attribute, v string) string { return a.Spec().Canonical(v) }

// DigestValue tells values of one side apart as [Same] does.
func DigestValue(a Attribute, v string) string { return digest(canonical(a, v)) }

// Same reports whether two values of one side are the same to the bridge. Line ends, trailing white
// space and the spelling of a number do not count.
func Same(a Attribute, x, y string) bool { return canonical(a, x) == canonical(a, y) }

// IssueView reads an issue's attributes. The base (see [Pair.Older]) decides which of two estimate
// labels is the new one. The result extra has the estimate labels that do not hold the value and
// should go.
func IssueView(i *Issue, scheme LabelScheme, keys Keys, base map[Attribute]Base) (view View, extra []string) {
	view = View{}
	for _, a := range Attributes {
		value, others := a.Spec().onIssue(i, scheme, keys, base[a])
		view[a], extra = Versioned{Value: value}, append(extra, others...)
	}
	return view, extra
}

// IssueView reads an issue's attributes as the function of that name does. On a route that never
// writes to GitHub nobody removes an older estimate label, so that the base does not tell which one
// is new. The greatest of several counts then, and all of them stay.
func (r *Route) IssueView(i *Issue, scheme LabelScheme, keys Keys, base map[Attribute]Base) (view View, extra []string) {
	if r.Writes(GitHub) {
		return IssueView(i, scheme, keys, base)
	}
	view, _ = IssueView(i, scheme, keys, nil)
	return view, nil
}

// CardView reads a card's attributes; the state is on its tracking task.
func CardView(c *Card, keys Keys) View { return c.Values().bare(keys) }

// TaskView reads the attributes that a tracking task carries for its card.
func TaskView(t *Task) View {
	view := t.Values()
	maps.DeleteFunc(view, func(a Attribute, _ Versioned) bool { return !a.Spec().Tracked })
	return view
}

// TaskItemView reads the attributes of a task that stands for a sub-issue.
func TaskItemView(t *Task, keys Keys) View { return t.Values().bare(keys) }

// Values are the attributes that the card has, as planning shows them.
func (c *Card) Values() View {
	view := View{}
	for _, a := range Attributes {
		if on := a.Spec().onCard; on != nil {
			view[a] = *on(c)
		}
	}
	return view
}

// Values are the attributes that the task has, as planning shows them.
func (t *Task) Values() View {
	view := View{}
	for _, a := range Attributes {
		view[a] = *a.Spec().onTask(t)
	}
	return view
}

// Untrack removes from a view the attributes that only a card's tracking task has.
func (v View) Untrack() {
	maps.DeleteFunc(v, func(a Attribute, _ Versioned) bool { return a.Spec().Tracked })
}

// bare removes the bridge's additions from the texts of a view.
func (v View) bare(keys Keys) View {
	for a, x := range v {
		if a.Spec().Form == FormMarkdown {
			v[a] = Versioned{Value: keys.without(x.Value), Version: x.Version}
		}
	}
	return v
}

// without is a text without the bridge's additions.
func (k Keys) without(text string) string {
	body, _ := k.Body(text)
	return body
}

// Suspicious reports whether a view shows a changed attribute under a version that is not newer
// than the base's. Either the read overlapped a write, or the service did something its document
// does not promise. The item has to be read again before the value is believed.
func Suspicious(base map[Attribute]Base, view View) bool {
	for a, v := range view {
		if was, ok := base[a]; ok && v.Version <= was.Version && !Same(a, v.Value, was.Planning) {
			return true
		}
	}
	return false
}
