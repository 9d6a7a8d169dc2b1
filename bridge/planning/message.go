package planning

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/microcosm-cc/bluemonday"
)

// maxWords bounds a quote from an answer, in characters.
const maxWords = 500

// errorMessage returns an answer's message about an error: the strings under keys such as error
// and message where it is JSON, else its text. It removes the project's secret, which the service
// may quote.
func (c *Client) errorMessage(body []byte) string {
	var said string
	if tree, ok := parseTree(body); ok {
		var found []string
		collectWords(tree, "", false, &found)
		said = strings.Join(found, "; ")
	} else {
		said = string(bytes.ToValidUTF8(body[:min(len(body), 64<<10)], nil))
		if strings.Contains(said, "<") {
			said = bluemonday.StrictPolicy().Sanitize(said)
		}
	}
	if secret := *c.secret.Load(); secret != "" {
		said = strings.ReplaceAll(said, secret, "…")
	}
	said = strings.Join(strings.FieldsFunc(said, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if runes := []rune(said); len(runes) > maxWords {
		said = string(runes[:maxWords-1]) + "…"
	}
	return said
}

// parseTree reads JSON of unknown shape, with numbers as text. It reports false beyond
// encoding/json's bound on nesting.
func parseTree(body []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var tree any
	if d.Decode(&tree) != nil || d.More() {
		return nil, false
	}
	return tree, true
}

// messageKeys are the members in which services put messages.
var messageKeys = map[string]bool{
	"error": true, "errors": true, "message": true, "messages": true, "msg": true, "detail": true,
	"details": true, "description": true, "error_description": true, "reason": true,
	"field": true, "code": true,
}

// collectWords collects the strings under messageKeys. Below such a member, keys count too:
// {"errors": {"title": ["too long"]}} reads "title: too long".
func collectWords(v any, key string, inside bool, found *[]string) {
	switch v := v.(type) {
	case string:
		if !inside || strings.TrimSpace(v) == "" {
			return
		}
		if key != "" && !messageKeys[strings.ToLower(key)] {
			v = key + ": " + v
		}
		*found = append(*found, v)
	case []any:
		for _, e := range v {
			collectWords(e, key, inside, found)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			collectWords(v[k], k, inside || messageKeys[strings.ToLower(k)], found)
		}
	}
}

var userWords = regexp.MustCompile(`(?i)\b(user ?name|members?|membership)\b`)

// namesUser reports whether a message is about the writing user: usernames, membership, or this
// very name. The word "user" alone is not enough, as answers to a wrong secret have it too.
func namesUser(said, username string) bool {
	return userWords.MatchString(said) || username != "" && wordIndex(said, username) >= 0
}

// namedField returns the first sent field, or username, in a message, "" for none.
func namedField(said string, sent []string) string {
	field, at := "", len(said)
	if m := userWords.FindStringIndex(said); m != nil {
		field, at = "username", m[0]
	} else if i := wordIndex(said, "user"); i >= 0 {
		field, at = "username", i
	}
	for _, name := range sent {
		if i := wordIndex(said, name); i >= 0 && i < at {
			field, at = name, i
		}
	}
	return field
}

// wordIndex finds a whole word, whatever its case; -1 where there is none.
func wordIndex(said, word string) int {
	m := regexp.MustCompile(`(?i)(?:^|[^\pL\pN_])(` + regexp.QuoteMeta(word) + `)(?:$|[^\pL\pN_])`).FindStringSubmatchIndex(said)
	if m == nil {
		return -1
	}
	return m[2]
}

// A message about a refused version says that a version does not fit, or names a lock.
var conflictWords = regexp.MustCompile(`(?i)\bversions?\b.*\b(conflict\w*|mismatch\w*|match\w*|differ\w*|stale|outdated|current|expected|changed|wrong)\b` +
	`|\b(conflict\w*|mismatch\w*|stale|outdated|wrong|expected|current)\b.*\bversions?\b` +
	`|\b(edit|update|write) conflict\b|\boptimistic lock`)
