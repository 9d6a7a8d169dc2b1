package randomtest_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/planningtest"
	"planbridge/bridge/scenariotest"
)

// entry is one thing that happened in a random run.
type entry struct {
	At   time.Time
	Text string // in people's words
	Do   doing  // nil: no scenario can say it
}

// doing is a line of a scenario (see package scenariotest): words, and values as NAME=VALUE.
type doing []string

func do(words ...any) (c doing) {
	for _, w := range words {
		c = append(c, fmt.Sprint(w))
	}
	return c
}

// with adds words.
func (c doing) with(words ...string) doing { return append(slices.Clip(c), words...) }

// and adds a value, unless it is empty.
func (c doing) and(name, value string) doing {
	if value == "" {
		return c
	}
	return c.with(name + "=" + value)
}

// diary is what happened in a random run. It is safe for concurrent use.
type diary struct {
	mu  sync.Mutex
	all []entry
}

// did notes what somebody did, or what befell the run.
func (d *diary) did(do doing, format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, entry{time.Now(), fmt.Sprintf(format, args...), do})
}

func (d *diary) entries() []entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.all)
}

// card is the place of a card among all that were made, as scenarios number them.
func (p *people) card(id string) int {
	for n, c := range p.allCards() {
		if c.ID == id {
			return n + 1
		}
	}
	return 0
}

// difference tells how one text became another, by its lines.
func difference(from, to string) string {
	lines := func(text string) []string {
		return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	}
	more, less := without(lines(to), lines(from)), without(lines(from), lines(to))
	return fmt.Sprintf("with %q and without %q", more, less)
}

// changes are the exported fields in which one struct differs from another, in the form of a
// scenario's traits. Fields of a struct inside it have both names, as in success-status.create.
func changes(from, to any) []string { return changed("", reflect.ValueOf(from), reflect.ValueOf(to)) }

func changed(prefix string, was, is reflect.Value) (all []string) {
	for _, f := range reflect.VisibleFields(is.Type()) {
		name := prefix + strings.ToLower(f.Name)
		switch old, now := was.FieldByIndex(f.Index), is.FieldByIndex(f.Index); {
		case !f.IsExported() || f.Type.Kind() == reflect.Func:
		case f.Anonymous && f.Type.Kind() == reflect.Struct: // its fields come after it
		case f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]():
			all = append(all, changed(name+".", old, now)...)
		case now.Interface() != old.Interface():
			all = append(all, fmt.Sprintf("%s=%v", name, now.Interface()))
		}
	}
	return all
}

// told is a diary as text, a line for each entry.
func told(diary []entry) string {
	var b strings.Builder
	for _, e := range diary {
		fmt.Fprintf(&b, "  %s %s\n", e.At.Format("15:04:05.000"), e.Text)
	}
	return b.String()
}

// TestDiaryTellsTraits: the diary's traits, those of a struct inside them among them, set the same
// traits in a scenario.
func TestDiaryTellsTraits(t *testing.T) {
	var was, is, again planningtest.Traits
	is.ConflictStatus, is.NormaliseMarkdown, is.EmptySummary = 412, true, planningtest.EmptyNull
	is.SuccessStatus.Create, is.SuccessStatus.Update = 201, 204
	told := changes(was, is)
	if err := scenariotest.SetTraits(&again, told...); err != nil {
		t.Fatal(err)
	}
	if left := changes(again, is); len(told) != 5 || len(left) > 0 {
		t.Errorf("the diary tells %v, which leaves out %v", told, left)
	}
}
