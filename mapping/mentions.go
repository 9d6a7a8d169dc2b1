package mapping

import (
	"regexp"
	"slices"
)

// Planning's text must neither notify people nor link issues when it lands on
// GitHub, and links that run programs must not cross at all. An invisible mark
// behind the joint of a mention, a reference or such a link defuses it:
//
//	@⁠bob   acme/web#⁠12   GH-⁠12   https://⁠github.com/acme/web/issues/12
//
// Readers see no difference, and GitHub sees no reference. Such a URL still
// leads to its page: browsers drop the mark from a host's name (UTS #46 maps
// its characters to nothing). A URL with a path like an issue's is defused
// whatever its host, so that an Enterprise Server needs no configuring.
//
// Two marks exist. Behind an "@", "#", "GH-" or "://" stands a joiner (see
// [joint]). A joiner that the text has there by itself gets a second one.
// Anywhere else stands a seam, and a seam that the text has by itself is
// doubled. Both rules can be undone without knowing why a mark was put, so that
// Restore(Defuse(x)) = x for every x, also for what an older program defused.
//
// What is live is decided in one pass over the decoded text (see [scanner]).
// Only certain code, certain links and e-mail addresses are left alone (see
// [inertSpans]). Commit hashes are not covered: they link but tell nobody.
const (
	joiner = "\u2060"       // WORD JOINER
	seam   = "\u2064\u2060" // INVISIBLE PLUS, WORD JOINER
)

// joint ends where a joiner may stand. Stored texts hang on it: it must match
// what it always matched.
var joint = regexp.MustCompile(`(?i)@|&(?:#0*64|#x0*40|commat);|#|&(?:#0*35|#x0*23|num);|gh-|://`)

// Defuse returns a text of planning as it may be written to GitHub: nothing in
// it notifies anybody, links to an issue or runs a program. [Restore] undoes it
// exactly.
func Defuse(text string) string { return DefuseKeeping(text, "") }

// DefuseKeeping is Defuse for a text that stands on GitHub already and was
// edited in planning: what is live in held, the text that GitHub has, a
// person wrote there, and it stays live. Of references that occur several times
// the first in held speaks for the first in text, and so on; more of them are
// defused. A text that nobody edited stays as it stands there.
func DefuseKeeping(text, held string) string { return markKeeping(text, held, onGitHub, scan) }

// markKeeping marks what find finds in a plain text, except what is live in held,
// the text that stands where it goes.
func markKeeping(text, held string, as form, find func(string) []live) string {
	found := find(text)
	if held != "" {
		plain, marked := unmark(held, as)
		if plain == text {
			return held
		}
		found = without(found, text, kept(find(plain), plain, marked))
	}
	return mark(text, found, as)
}

// Restore returns the text that planning has for a text of GitHub: the marks that
// Defuse put are taken out. Text that people wrote on GitHub is unchanged.
func Restore(text string) string {
	plain, _ := unmark(text, onGitHub)
	return plain
}

// defuseLinks returns a plain text as it may be written to planning: links that
// run programs are defused, except those that are live in held, the text that
// planning has. [restoreLinks] undoes it exactly.
func defuseLinks(text, held string) string {
	return markKeeping(text, held, inPlanning, programLinks)
}

// restoreLinks returns the plain text of what stands in planning.
func restoreLinks(text string) string {
	plain, _ := unmark(text, inPlanning)
	return plain
}

func programLinks(text string) []live {
	return slices.DeleteFunc(scan(text), func(f live) bool { return f.kind != liveProgram })
}

// kept returns, by token, which of the live places of a text that stands on a
// side are live there, in order. marked are the ends of those that are not.
func kept(found []live, plain string, marked []int) map[string][]bool {
	lives := map[string][]bool{}
	for _, f := range found {
		token := f.token(plain)
		_, joined := slices.BinarySearch(marked, f.end)
		lives[token] = append(lives[token], !joined)
	}
	return lives
}

// without returns the live places of a text less those that stay live.
func without(found []live, text string, lives map[string][]bool) []live {
	if len(lives) == 0 {
		return found
	}
	return slices.DeleteFunc(found, func(f live) bool {
		token := f.token(text)
		seen := lives[token]
		if len(seen) == 0 {
			return false
		}
		lives[token] = seen[1:]
		return seen[0]
	})
}
