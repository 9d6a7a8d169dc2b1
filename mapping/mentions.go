package mapping

import (
	"regexp"
	"strings"
)

// How text of planning is kept from notifying people and from linking issues
// when it lands on GitHub: after the joint of a mention or a reference, that
// is after its "@", "#", "GH-" or "://", stands an invisible WORD JOINER.
//
//	@⁠bob   acme/web#⁠12   GH-⁠12   https://⁠github.com/acme/web/issues/12
//
// Readers see no difference. GitHub, which looks for the plain characters, sees
// no reference. Such a URL still leads to its page: browsers drop the character
// from a host's name (UTS #46 maps it to nothing). Any URL with a path like an
// issue's is treated so, whatever its host, so that an Enterprise Server needs
// no configuring; on other hosts it does no harm.
//
// It is undone by looking at joints alone: one joiner behind a joint goes. So
// that a joiner that planning's text has there by itself comes back too, it
// gets a second one. Therefore Refuse(Defuse(x)) = x for every x.
//
// Left alone is what GitHub leaves alone: code, addresses such as
// bob@example.com, and an "@" or "#" inside a URL. Where it is not certain that
// GitHub would, as inside raw HTML or in indented blocks, which are code in one
// place and a list's paragraph in another, text is defused rather than not. Not
// covered are commit hashes, which link but tell nobody, and the URL of an
// issue that is itself spelled with character references.
const joiner = "\u2060"

var (
	// joint ends where a joiner goes. A character reference can stand for the
	// "@" or "#". Its groups tell the kinds apart.
	joint = regexp.MustCompile(`(?i)(@|&(?:#0*64|#x0*40|commat);)|(#|&(?:#0*35|#x0*23|num);)|(gh-)|://`)
	// mention and number are what has to stand behind a joint to make it live.
	// A tag or a character reference may hide what the reader sees.
	mention = regexp.MustCompile(`(?i)^(?:[a-z0-9][a-z0-9_-]*(?:/[a-z0-9._-]+)?|[&<])`)
	number  = regexp.MustCompile(`^(?:[0-9]+|[&<])`)
	digits  = regexp.MustCompile(`^[0-9]+`)
	// issueURL is what stands behind the "://" of a URL that GitHub may take
	// for a reference.
	issueURL = regexp.MustCompile(`(?i)^[^\s/<>]+/(?:[^\s<>]*/)?(?:issues|pulls?|discussions|commits?)/[^\s<>()\[\]"'*|` + "`" + `]+`)
)

// Defuse returns a text of planning as it may be written to GitHub: nothing in
// it notifies anybody or links to an issue. [Refuse] undoes it exactly.
func Defuse(text string) string { return DefuseKeeping(text, "") }

// DefuseKeeping is Defuse for a text that stands on GitHub already and was
// edited in planning: what is live in held, the text that GitHub has, a
// person wrote there, and it stays live. Of references that occur several times
// the first in held speaks for the first in text, and so on; more of them are
// defused.
func DefuseKeeping(text, held string) string {
	live := map[string][]bool{}
	for _, j := range joints(held) {
		if j.token != "" {
			live[j.token] = append(live[j.token], !j.joined)
		}
	}
	var b strings.Builder
	rest := 0
	for _, j := range joints(text) {
		keep := false
		if seen := live[j.token]; !j.joined && len(seen) > 0 {
			keep, live[j.token] = seen[0], seen[1:]
		}
		if !j.joined && (keep || j.token == "") {
			continue
		}
		b.WriteString(text[rest:j.end] + joiner)
		rest = j.end
	}
	return b.String() + text[rest:]
}

// Refuse returns the text that planning has for a text of GitHub: where Defuse
// put a joiner, it is taken out. Text that people wrote on GitHub is unchanged.
func Refuse(text string) string {
	var b strings.Builder
	rest := 0
	for _, loc := range joint.FindAllStringIndex(text, -1) {
		if strings.HasPrefix(text[loc[1]:], joiner) {
			b.WriteString(text[rest:loc[1]])
			rest = loc[1] + len(joiner)
		}
	}
	return b.String() + text[rest:]
}

// jointAt is a place where a joiner may stand.
type jointAt struct {
	end    int
	joined bool   // a joiner stands there
	token  string // the mention or reference that it makes, or would make without the joiner; "" for none
}

func joints(text string) []jointAt {
	locs := joint.FindAllStringSubmatchIndex(text, -1)
	if len(locs) == 0 {
		return nil
	}
	inert := inertSpans(text)
	found := make([]jointAt, len(locs))
	for i, loc := range locs {
		after, joined := strings.CutPrefix(text[loc[1]:], joiner)
		found[i] = jointAt{end: loc[1], joined: joined}
		if !inert.hold(loc[0]) {
			found[i].token = strings.ToLower(token(text[:loc[0]], loc, after))
		}
	}
	return found
}

// token returns the mention or reference that the joint loc makes between the
// text before and after it, "" where it makes none.
func token(before string, loc []int, after string) string {
	var last byte
	if before != "" {
		last = before[len(before)-1]
	}
	prefix, name := "", ""
	switch {
	case loc[2] >= 0:
		if !isWord(last) { // else an e-mail address
			prefix, name = "@", mention.FindString(after)
		}
	case loc[4] >= 0:
		if last != '&' { // else part of a character reference
			prefix, name = "#", number.FindString(after)
		}
	case loc[6] >= 0:
		if !isWord(last) {
			prefix, name = "gh-", digits.FindString(after)
		}
	default:
		prefix, name = "://", strings.TrimRight(issueURL.FindString(after), ".,:;!?")
	}
	if name == "" {
		return ""
	}
	return prefix + name
}
