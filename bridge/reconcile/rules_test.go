package reconcile

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
	"planbridge/mapping/pagetest"
)

// TestRulesPage: the page on the design shows the rules as they are asked.
func TestRulesPage(t *testing.T) {
	t.Parallel()
	if os.Getenv(mappingtest.LeftOut) != "" {
		t.Skip("a rule is left out")
	}
	var b strings.Builder
	b.WriteString("| list | rule | asked of | writes | why |\n|---|---|---|---|---|\n")
	for _, r := range Rules() {
		writes := map[bool]string{true: "yes"}[r.Writes]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.List, r.Name, r.Of, writes, r.Why)
	}
	pagetest.Section(t, "../../docs/design.md", "rules", b.String())
}

func TestRulesHaveANameAndAReason(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules() {
		if r.Name == "" || seen[r.Name] {
			t.Errorf("rule %q of %s: its name is empty or that of another rule", r.Name, r.List)
		}
		seen[r.Name] = true
		if words := strings.Fields(r.Why); !strings.HasSuffix(r.Why, ".") || len(words) < 4 || len(words) > 25 {
			t.Errorf("rule %q: why is no sentence of at most 25 words: %q", r.Name, r.Why)
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	cases := []struct {
		name   string
		first  verdict
		err    error
		of     pairKind
		writes bool
		part   bool
		dryRun bool
		asked  []string
		want   verdict
		fails  error
	}{
		{name: "all pass", asked: []string{"first", "second"}, want: pass},
		{name: "the first changes what is known", first: anew, asked: []string{"first"}, want: anew},
		{name: "the first ends it", first: end, asked: []string{"first"}, want: end},
		{name: "the first fails", err: boom, asked: []string{"first"}, want: pass, fails: boom},
		{name: "an item is gone", err: fmt.Errorf("read: %w", errGone), asked: []string{"first"}, want: end},
		{name: "of roots, asked of a root", of: roots, asked: []string{"first", "second"}},
		{name: "of roots, asked of a part", of: roots, part: true, asked: []string{"second"}},
		{name: "of parts, asked of a root", of: parts, asked: []string{"second"}},
		{name: "of parts, asked of a part", of: parts, part: true, asked: []string{"first", "second"}},
		{name: "writes, in a dry run", writes: true, dryRun: true, asked: []string{"second"}},
		{name: "reads, in a dry run", dryRun: true, asked: []string{"first", "second"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			rules := []rule{
				{name: "first", of: c.of, writes: c.writes, apply: func(work) (verdict, error) {
					asked = append(asked, "first")
					return c.first, c.err
				}},
				{name: "second", apply: does(func(work) error {
					asked = append(asked, "second")
					return nil
				})},
			}
			pair := &mapping.Pair{}
			if c.part {
				pair.Kind = mapping.SubIssue
			}
			w := work{&state{set: &Settings{DryRun: c.dryRun}, pair: pair}}
			v, err := w.apply(rules)
			if v != c.want || !errors.Is(err, c.fails) || (err != nil) != (c.fails != nil) || !slices.Equal(asked, c.asked) {
				t.Errorf("asked %v, which answered %v, %v; want %v, which answer %v, %v", asked, v, err, c.asked, c.want, c.fails)
			}
		})
	}
}

func TestRoundSides(t *testing.T) {
	t.Parallel()
	to := func(side mapping.Side) mapping.Plan {
		d := mapping.Decision{Attribute: mapping.Title, GitHub: &mapping.Write{}}
		if side == mapping.Planning {
			d.GitHub, d.Planning = nil, &mapping.Write{}
		}
		return mapping.Plan{Decisions: []mapping.Decision{d}}
	}
	for name, c := range map[string]struct {
		round round
		want  []mapping.Side
	}{
		"nothing is written":      {},
		"only a label is dropped": {round{writesGitHub: true}, []mapping.Side{mapping.GitHub}},
		"planning is written":     {round{plan: to(mapping.Planning)}, []mapping.Side{mapping.Planning}},
		"GitHub is written":       {round{plan: to(mapping.GitHub), writesGitHub: true}, []mapping.Side{mapping.GitHub}},
	} {
		if got := c.round.sides(); !slices.Equal(got, c.want) || c.round.writes() != (len(c.want) > 0) {
			t.Errorf("%s: sides %v, writes %v; want %v", name, got, c.round.writes(), c.want)
		}
	}
}
