package scenariotest

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// line is one line of a scenario: words in order, and values by name.
type line struct {
	ts     *testscript.TestScript
	words  []string
	values []value
}

// value is a NAME=VALUE of a line; op is =, ~= (contains), != or !~=.
type value struct{ name, op, text string }

var named = regexp.MustCompile(`(?s)^([a-z][a-z.-]*)(!?~?=)(.*)$`)

// parse reads a line, with the files that its values name.
func parse(ts *testscript.TestScript, args []string) *line {
	l := split(args)
	l.ts = ts
	for i, v := range l.values {
		if file, ok := strings.CutPrefix(v.text, "@"); ok && strings.Contains(file, ".") {
			l.values[i].text = strings.TrimSuffix(ts.ReadFile(file), "\n")
		}
	}
	return l
}

// split separates the words of a line from its values.
func split(args []string) *line {
	l := &line{}
	for _, arg := range args {
		if m := named.FindStringSubmatch(arg); m != nil {
			l.values = append(l.values, value{m[1], m[2], m[3]})
		} else {
			l.words = append(l.words, arg)
		}
	}
	return l
}

// next takes the line's next word, "" where there is none.
func (l *line) next() string {
	if len(l.words) == 0 {
		return ""
	}
	w := l.words[0]
	l.words = l.words[1:]
	return w
}

// number takes the next word as a number.
func (l *line) number() int {
	var n int
	if w := l.next(); w != "" {
		if _, err := fmt.Sscanf(w, "%d", &n); err != nil {
			l.ts.Fatalf("%q: want a number", w)
		}
	}
	return n
}

// flag takes a word from among the rest of the line.
func (l *line) flag(name string) bool {
	for i, w := range l.words {
		if w == name {
			l.words = append(l.words[:i:i], l.words[i+1:]...)
			return true
		}
	}
	return false
}

// get returns a value by its name.
func (l *line) get(name string) (string, bool) {
	for _, v := range l.values {
		if v.name == name {
			return v.text, true
		}
	}
	return "", false
}

// set gives *to the value of that name, where the line has it.
func (l *line) set(name string, to *string) {
	if v, ok := l.get(name); ok {
		*to = v
	}
}

func (l *line) duration(name string) time.Duration {
	v, ok := l.get(name)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(v)
	l.ts.Check(err)
	return d
}

func (l *line) int(name string) (n int) {
	if v, ok := l.get(name); ok {
		_, err := fmt.Sscan(v, &n)
		l.ts.Check(err)
	}
	return n
}
