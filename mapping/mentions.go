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
// Anywhere else stands a seam, and a seam that the text has by itself is doubled. Both rules can be
// undone without the reason for a mark. So Restore(Defuse(x)) = x for every x, also for text that
// an older program defused.
//
// One pass over the decoded text finds the live places (see [scanner]). Only certain code, certain
// links and e-mail addresses are left alone (see [inertSpans]). Commit hashes are not covered: they
// link but notify nobody.
const (
	joiner = "\u2060"       // WORD JOINER
	seam   = "\u2064\u2060" // INVISIBLE PLUS, WORD JOINER
)

// joint ends where a joiner may stand. Stored texts depend on it, so its matches must never change.
var joint = regexp.MustCompile(`(?i)@|&(?:#0*64|#x0*40|commat);|#|&(?:#0*35|#x0*23|num);|gh-|://`)

// Defuse returns a text of planning as it may be written to GitHub. Nothing in it notifies anybody,
// links to an issue or runs a program. [Restore] undoes it exactly.
func Defuse(text string) string { return DefuseKeeping(text, "") }

// DefuseKeeping is Defuse for a text that stands on GitHub already and was edited in planning. A
// person wrote the live references of held, the text that GitHub has, and they stay live. Of
// references that occur several times, the first in held decides about the first in text, and so
// on; further ones are defused. A text that nobody edited stays unchanged.
func DefuseKeeping(text, held string) string { return markKeeping(text, held, onGitHub, scan) }

// markKeeping marks the places that find returns for a plain text. Places that are live in held,
// the present text of the target, stay live.
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

// Restore returns the text that planning has for a text of GitHub, by removing the marks that
// Defuse put. Text that people wrote on GitHub is unchanged.
func Restore(text string) string {
	plain, _ := unmark(text, onGitHub)
	return plain
}

// defuseLinks returns a plain text as it may be written to planning. Links that run programs are
// defused, except those that are live in held, the text that planning has. [restoreLinks] undoes it
// exactly.
func defuseLinks(text, held string) string {
	return markKeeping(text, held, inPlanning, programLinks)
}

// restoreLinks returns the plain text for a text that planning has.
func restoreLinks(text string) string {
	plain, _ := unmark(text, inPlanning)
	return plain
}

func programLinks(text string) []live {
	return slices.DeleteFunc(scan(text), func(f live) bool { return f.kind != liveProgram })
}

// kept returns, by token and in order, which places of a side's text are live there. The others
// have their ends in marked.
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
