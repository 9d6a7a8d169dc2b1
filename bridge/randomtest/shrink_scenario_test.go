package randomtest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/planningtest"
	"planbridge/bridge/scenariotest"
	"planbridge/mapping"
)

// restsAfter is how long nobody does anything before a scenario waits for the bridge.
const restsAfter = 500 * time.Millisecond

// scenario is the outcome's story as a file for TestStories. It ends with what the
// checker of the random run says.
func (o *outcome) scenario(seed uint64) string {
	w := &scenarioWriter{}
	fmt.Fprintf(&w.lines, "# Seed %d of the random run in virtual time, shortened. What was wrong:\n", seed)
	for _, wrong := range o.Wrong {
		first, _, _ := strings.Cut(wrong, "\n")
		fmt.Fprintf(&w.lines, "# %s\n", first)
	}
	w.lines.WriteString("\n")
	w.line(do("world").with("settle="+chaosSettle.String()).and("route", o.Route))
	away := map[string]bool{} // the unsupported parts: nothing comes to rest
	for n, e := range o.Diary {
		if e.Do == nil {
			continue
		}
		if n > 0 && e.At.Sub(o.Diary[n-1].At) > restsAfter && len(away) == 0 {
			w.lines.WriteString("settle\n")
		}
		switch e.Do[1] {
		case "down", "stop":
			away[e.Do[0]] = true
		case "up", "start", "forget", "keep", "put-back":
			delete(away, e.Do[0])
		}
		w.line(e.Do)
	}
	w.lines.WriteString("quiet\njudge\n")
	return w.lines.String() + w.files.String()
}

type scenarioWriter struct {
	lines, files strings.Builder
	texts        int
}

// line writes a line. Values that do not fit one line go into a file.
func (w *scenarioWriter) line(c doing) {
	for n, word := range c {
		if n > 0 {
			w.lines.WriteString(" ")
		}
		if name, text, ok := strings.Cut(word, "="); ok && strings.Contains(text, "\n") {
			w.texts++
			file := fmt.Sprintf("text-%d.md", w.texts)
			fmt.Fprintf(&w.files, "\n-- %s --\n%s\n", file, strings.ReplaceAll(text, "\r\n", "\n"))
			word = name + "=@" + file
		}
		if word == "" || strings.ContainsAny(word, " \t'#$") {
			word = "'" + strings.ReplaceAll(word, "'", "''") + "'"
		}
		w.lines.WriteString(word)
	}
	w.lines.WriteString("\n")
}

// writeScenario makes the story a scenario of that name, and reports whether it fails as the story
// does. A scenario runs in real time, with a replica that is stopped in good order.
func (o *outcome) writeScenario(t *testing.T, seed uint64, name string) {
	path := filepath.Join("testdata", name+".txtar")
	if err := os.WriteFile(path, []byte(o.scenario(seed)), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestStories$/^bolt$/^"+name+"$")
	run.Env = append(os.Environ(), "PLANBRIDGE_SCENARIOS=all")
	said, err := run.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		t.Logf("%s fails:\n%s", path, said)
	case err != nil:
		t.Fatal(err)
	default:
		t.Logf("%s passes: what goes wrong hangs on the moment", path)
	}
}

// judgeScene says what the checker of the random run says: nothing that a person wrote is
// lost, nothing is there twice, and partners agree.
func judgeScene(s *scenariotest.Scene) error {
	key, _ := s.Env("PLANBRIDGE_MARKER_KEY")
	seen := look(s.World, []*planningtest.Project{s.World.Project}, mapping.NewKeys([]byte(key)), strings.Contains(s.Route(), "tasks: checklist"))
	seen.way = directionOf(s.Route())
	seen.against = against(s.World, seen.way)
	seen.decides = strings.Contains(s.Route(), "conflicts:")
	seen.forgotten = s.IsStoreLost()
	var all []error
	for _, one := range judge(seen) {
		all = append(all, errors.New(one.String()))
	}
	return errors.Join(all...)
}

// TestStories plays the scenarios that make shrink made of failing seeds: testdata/*.txtar, in
// virtual time. With PLANBRIDGE_SCENARIOS=all it plays them in real time, too.
func TestStories(t *testing.T) {
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	scenariotest.PlayVirtually(t, all, judged)
	if os.Getenv("PLANBRIDGE_SCENARIOS") != "" {
		t.Run("bolt", func(t *testing.T) { scenariotest.Play(t, all, judged) })
	}
}

var judged = scenariotest.Options{Judge: judgeScene}

// TestStoryBecomesAScenario plays the scenario of a story of every kind of thing that is
// done to a text.
func TestStoryBecomesAScenario(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	o := outcome{Wrong: []string{"issue 1: something"}, Route: "tasks: checklist\n", Diary: []entry{
		{at, "", do("github", "open", "octocat", "It's here", "bug").and("body", "one\n\n- [ ] item w1\n")},
		{at, "", nil},
		{at.Add(time.Minute), "", do("planning", "edit", 1, "alice").and("summary", "two\nthree").and("estimate", "")},
		{at.Add(2 * time.Minute), "", do("bridge", "keep")},
		{at.Add(3 * time.Minute), "", do("github", "traits").with("drop=0.5")},
		{at.Add(3 * time.Minute), "", do("github", "edit", 1, "hubot").and("title", "Now #2")},
		{at.Add(3 * time.Minute), "", do("github", "traits").with("drop=0")},
		{at.Add(4 * time.Minute), "", do("bridge", "put-back")},
	}}
	text := strings.Replace(o.scenario(4711), "judge\n", "judge\nexpect card 1 title='Now #2' summary~=three\nexpect issue 1 title='Now #2' items='[ ] item w1'\n", 1)
	path := filepath.Join(t.TempDir(), "story.txtar")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	scenariotest.Play(t, []string{path}, judged)
}
