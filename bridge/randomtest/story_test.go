package randomtest_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// tell fails the test with what is wrong, and writes the story of the items
// concerned into a file that outlives the test.
func (c *chaos) tell(complaints []complaint) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("planbridge-chaos-%d.txt", c.seed))
	f, err := os.Create(path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it is there to be read by a person
	var issues []int
	var cards []string
	for _, one := range complaints {
		c.t.Errorf("seed %d: %s", c.seed, one)
		fmt.Fprintln(f, one)
		if one.issue != 0 && !slices.Contains(issues, one.issue) {
			issues = append(issues, one.issue)
		}
		if parent := c.parentOf(one.issue); parent != 0 && !slices.Contains(issues, parent) {
			issues = append(issues, parent)
		}
		if one.card != "" && !slices.Contains(cards, one.card) {
			cards = append(cards, one.card)
		}
	}
	fmt.Fprintf(f, "\nGitHub's traits: %+v\nplanning's traits: %+v\n", c.hubTraits(), c.planTraits())
	for _, n := range issues {
		c.tellIssue(f, n)
	}
	for _, id := range cards {
		c.tellCard(f, id)
	}
	fmt.Fprintf(f, "\n== what people did\n%s\n", told(c.people.entries()))
	c.tellLogs(f, issues, cards)
	c.t.Errorf("seed %d: its story is in %s; again: make %s %s%s", c.seed, path, c.kind(), c.arguments(), c.shorter())
}

// kind is the make target of the run.
func (c *chaos) kind() string {
	if c.sim != nil {
		return "sim"
	}
	return "chaos"
}

// shorter says how the story becomes shorter, where it can.
func (c *chaos) shorter() string {
	if c.sim == nil {
		return ""
	}
	return "; shorter: make shrink " + c.arguments()
}

// arguments are those that make gets for this run.
func (c *chaos) arguments() string {
	return fmt.Sprintf("SEED=%d %s", c.seed, c.size)
}

// parentOf is the parent of an issue; 0: there is none, or no such issue.
func (c *chaos) parentOf(n int) int {
	if n == 0 {
		return 0
	}
	return c.Repo.Issue(n).Parent
}

func (c *chaos) hubTraits() (t githubtest.Traits) {
	c.GitHub.SetTraits(func(now *githubtest.Traits) { t = *now })
	return t
}

func (c *chaos) planTraits() (t planningtest.Traits) {
	c.Planning.SetTraits(func(now *planningtest.Traits) { t = *now })
	return t
}

func (c *chaos) tellIssue(f io.Writer, n int) {
	fmt.Fprintf(f, "\n== issue %d\n%+v\n", n, c.Repo.Issue(n))
	for _, attribute := range []string{"title", "body", "labels", "state"} {
		for _, v := range c.Repo.History(n, attribute) {
			fmt.Fprintf(f, "%s %s %s (API %t): %q\n", v.Time.Format("15:04:05"), attribute, v.User, v.ByAPI, v.Value)
		}
	}
	fmt.Fprintf(f, "-- its calls\n")
	for _, call := range c.GitHub.Journal() {
		if call.Number == n && call.Method != "GET" || call.Op == "issue.create" || call.Op == "subissue.add" || call.Number == n && call.Fault != "" {
			fmt.Fprintf(f, "%s %s %d fault %q %s\n", call.Time.Format("15:04:05.000"), call.Op, call.Status, call.Fault, call.Body)
		}
	}
	fmt.Fprintf(f, "-- its deliveries\n")
	for _, d := range c.GitHub.Deliveries() {
		if d.Number == n {
			fmt.Fprintf(f, "%s %s %s.%s status %d drop %t lose %t copies %d\n", d.At.Format("15:04:05"), d.GUID, d.Event, d.Action, d.Status, d.Drop, d.Lose, d.Copies)
		}
	}
}

func (c *chaos) tellCard(f io.Writer, id string) {
	project := c.people.project(id)
	card := project.Card(id)
	fmt.Fprintf(f, "\n== card %s\n%+v\n", id, card)
	tell := func(item string, attributes ...string) {
		for _, attribute := range attributes {
			for _, v := range project.History(item, attribute) {
				fmt.Fprintf(f, "%s %s %s (API %t) version %d: %q\n", v.Time.Format("15:04:05.000"), attribute, v.User, v.ByAPI, v.Version, v.Value)
			}
		}
	}
	tell(id, "title", "summary", "estimate")
	items := []string{id}
	for _, t := range card.Tasks {
		tell(t.ID, "title", "summary", "estimate", "state")
		items = append(items, t.ID)
	}
	fmt.Fprintf(f, "-- its calls\n")
	for _, call := range c.Planning.Journal() {
		if call.Method != "GET" && slices.ContainsFunc(items, func(id string) bool { return strings.Contains(call.Path, id) }) || call.Op == planningtest.OpCardCreate {
			fmt.Fprintf(f, "%s %s %s %d fault %q %s\n", call.Time.Format("15:04:05.000"), call.Op, call.Path, call.Status, call.Fault, call.Body)
		}
	}
}

// tellLogs shows what the bridges logged about the items; all of it, where
// none is concerned.
func (c *chaos) tellLogs(f io.Writer, issues []int, cards []string) {
	words := slices.Clone(cards)
	for _, n := range issues {
		words = append(words, strconv.Quote(issueNumber(n)), issueNumber(n)+":", issueNumber(n)+" ")
	}
	for _, path := range c.logs() {
		log, err := os.ReadFile(path)
		fmt.Fprintf(f, "\n== %s (%v)\n", path, err)
		for line := range strings.Lines(string(log)) {
			concerned := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) })
			if concerned || len(words) == 0 || !strings.Contains(line, `"link"`) {
				io.WriteString(f, line) //nolint:errcheck // see tell
			}
		}
	}
}
