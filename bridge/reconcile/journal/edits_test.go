package journal

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"planbridge/mapping"
)

func TestOf(t *testing.T) {
	all := edits(title(dev, 1, "a|footer", "b"), body(ours, 2, "x", "y|footer"), title(maybe, 3, "b", "c"), mapping.IssueEvent{Sender: dev, At: at(4)})
	for _, tt := range []struct {
		a    mapping.Attribute
		want string
	}{
		{mapping.Title, "0: a → b (0); 2: b → c (1)"},
		{mapping.Summary, "1: x → y (3)"},
		{mapping.Estimate, ""},
		{mapping.State, ""},
		{"other", ""},
	} {
		t.Run(string(tt.a), func(t *testing.T) {
			var got []string
			for _, c := range all.Of(tt.a) {
				got = append(got, fmt.Sprintf("%d: %s → %s (%d)", c.edit, c.From, c.To, c.By))
				if !c.At.Equal(all.All[c.edit].At) {
					t.Errorf("edit %d is told at %s", c.edit, c.At)
				}
			}
			expect(t, "the changes", strings.Join(got, "; "), tt.want)
		})
	}
}

func TestOthers(t *testing.T) {
	for _, tt := range []struct {
		name string
		all  Edits
		want int
	}{
		{"none", edits(), 0},
		{"a person's", edits(title(dev, 1, "a", "b")), 1},
		{"two persons'", edits(title(dev, 1, "a", "b"), title("ann", 2, "b", "c")), 2},
		{"ours", edits(title(ours, 1, "a", "b")), 0},
		{"perhaps ours", edits(title(maybe, 1, "a", "b")), 0},
		{"of another attribute", edits(body(dev, 1, "a", "b")), 0},
	} {
		t.Run(tt.name, func(t *testing.T) { expect(t, "edits", tt.all.Others(mapping.Title), tt.want) })
	}
}

func TestByOthers(t *testing.T) {
	second := func(n int) mapping.Interval { return mapping.Interval{From: at(n), To: at(n + 1)} }
	for _, tt := range []struct {
		name  string
		all   Edits
		value string
		want  mapping.Interval
		told  bool
	}{
		{name: "no edit", all: edits(), value: "b"},
		{name: "a person's edit", all: edits(title(dev, 5, "a", "b")), value: "b", want: second(5), told: true},
		{name: "the newer of two", all: edits(title(dev, 5, "a", "b"), title(dev, 7, "a", "b")), value: "b", want: second(7), told: true},
		{name: "a later edit of what is not part of it", all: edits(title(dev, 5, "a", "b"), title(dev, 7, "b|footer", "b")), value: "b", want: second(5), told: true},
		{name: "such an edit alone", all: edits(title(dev, 7, "b|footer", "b")), value: "b"},
		{name: "an edit to another value", all: edits(title(dev, 5, "a", "b")), value: "c"},
		{name: "our own edit", all: edits(title(ours, 5, "a", "b")), value: "b"},
		{name: "an edit of perhaps ours", all: edits(title(maybe, 5, "a", "b")), value: "b"},
		{name: "with our footer", all: edits(title(dev, 5, "a", "b|footer")), value: "b", want: second(5), told: true},
		{name: "an edit of the body", all: edits(body(dev, 5, "a", "b")), value: "b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, told := tt.all.ByOthers(mapping.Title, tt.value)
			expect(t, "the time", at, tt.want)
			expect(t, "told", told, tt.told)
		})
	}
}

func TestLeaveAndTell(t *testing.T) {
	all := edits(title(dev, 1, "a", "b"), title(ours, 2, "b", "c"))
	for _, tt := range []struct {
		name, from, to string
		leave, tell    bool
	}{
		{"the first edit", "a", "b", true, true},
		{"our edit", "b", "c", true, true},
		{"two edits at once", "a", "c", true, false},
		{"what no edit left", "c", "a", false, false},
		{"the same value", "a", "a", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, "left", all.Leave(mapping.Title, tt.from), tt.leave)
			expect(t, "told", all.Tell(mapping.Title, tt.from, tt.to), tt.tell)
			if all.Leave(mapping.Summary, tt.from) || all.Tell(mapping.Summary, tt.from, tt.to) {
				t.Error("an edit of the title tells of the body")
			}
		})
	}
}

func TestLead(t *testing.T) {
	for _, tt := range []struct {
		name, from, to string
		all            Edits
		want           bool
	}{
		{"no edit, the same value", "a", "a", edits(), true},
		{"no edit, another value", "a", "b", edits(), false},
		{"one edit", "a", "b", edits(title(dev, 1, "a", "b")), true},
		{"it was left again", "a", "a", edits(title(dev, 1, "a", "b")), false},
		{"two edits", "a", "c", edits(title(dev, 1, "a", "b"), title(dev, 2, "b", "c")), true},
		{"only to the first of two", "a", "b", edits(title(dev, 1, "a", "b"), title(dev, 2, "b", "c")), false},
		{"in the other order", "a", "c", edits(title(dev, 2, "b", "c"), title(dev, 1, "a", "b")), true},
		{"there and back", "a", "a", edits(title(dev, 1, "a", "b"), title(dev, 2, "b", "a")), true},
		{"each edit once", "a", "c", edits(title(dev, 1, "a", "b"), title(dev, 2, "b", "a"), title(dev, 3, "a", "c")), true},
		{"an edit that leads nowhere", "a", "a", edits(title(dev, 1, "x", "y")), true},
		{"of the body", "a", "b", edits(body(dev, 1, "a", "b")), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, to := mapping.DigestValue(mapping.Title, tt.from), mapping.DigestValue(mapping.Title, tt.to)
			expect(t, "leads", tt.all.Lead(mapping.Title, from, to), tt.want)
		})
	}
}

func TestEditsAfterAValue(t *testing.T) {
	all := edits(title(dev, 1, "a", "b"), title(ours, 2, "b", "a"), body(dev, 3, "b", "a"), title(dev, 4, "a", "c"))
	for value, want := range map[string]int{"a": 2, "b": 3, "c": 0, "never there": 4} {
		expect(t, "edits after "+value, strconv.Itoa(len(all.After(mapping.Title, value).All)), strconv.Itoa(want))
	}
}
