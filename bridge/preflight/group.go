package preflight

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"planbridge/mapping"
)

// mostNamed is how many routes, repositories or places one finding names. It counts the others.
const mostNamed = 3

// listed names the first of many, and counts the others. It passes over empty names.
func listed(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	text := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// The words before names: of one thing, and of many.
const (
	theRoute, theRoutes            = "route ", "routes "
	theRepository, theRepositories = "repository ", "repositories "
)

// ofRoute begins the words of a finding that is about one of the routes that share a place.
func ofRoute(r *mapping.Route) string { return theRoute + r.Name + ": " }

// ofRoutes does so for a finding about many routes.
func ofRoutes(names []string) string { return theRoutes + listed(names) + ": " }

// Group merges findings that say the same of several repositories or routes. One hook of an account
// may concern hundreds of repositories, and one bucket many routes.
func Group(findings []Finding) []Finding {
	var out []Finding
	groups := map[Finding]*group{}
	for _, f := range findings {
		key, words, name := alike(f)
		switch g := groups[key]; {
		case g == nil:
			groups[key] = &group{key: key, at: len(out), names: []string{name}, words: words}
			out = append(out, f)
		case name == "", slices.Contains(g.names, name): // another route of it
			out = append(out, f)
		default:
			if g.names = append(g.names, name); g.words != words {
				g.words = key.Words
			}
			out[g.at] = g.finding()
		}
	}
	return out
}

// group is findings that say the same.
type group struct {
	key   Finding
	at    int // where it stands
	names []string
	words string // the common text, with the numbers where those are the same
}

// The parts of a finding about deliveries in which several repositories differ.
var (
	countedParts = regexp.MustCompile(`\d+ deliver(?:y|ies)\b`)
	varyingParts = regexp.MustCompile(`\d+( failed\b)|\d{4}-\d\d-\d\dT[\d:]+Z`)
)

// alike returns the common part of a finding and those that say the same of other repositories, or
// else of other routes. It also returns the finding's words with its own numbers, and the name of
// its repository or route; "": it has neither.
func alike(f Finding) (key Finding, words, name string) {
	key = Finding{Level: f.Level, Place: f.Place, Words: f.Words}
	route, rest, ok := strings.Cut(strings.TrimPrefix(f.Words, theRoute), ": ")
	if ok = ok && strings.HasPrefix(f.Words, theRoute); ok {
		key.Words, name = rest, route
	}
	words = key.Words
	if repository, ok := strings.CutPrefix(f.Place, theRepository); ok {
		key.Place, name = theRepository, repository
		words = strings.ReplaceAll(words, repository, "…")
		key.Words = varyingParts.ReplaceAllString(countedParts.ReplaceAllString(words, "… deliveries"), "…$1")
	}
	return key, words, name
}

// finding is the common finding of a group.
func (g *group) finding() Finding {
	if g.key.Place == theRepository {
		return Finding{Level: g.key.Level, Place: theRepositories + listed(g.names), Words: g.words}
	}
	return Finding{Level: g.key.Level, Place: g.key.Place, Words: ofRoutes(g.names) + g.key.Words}
}
