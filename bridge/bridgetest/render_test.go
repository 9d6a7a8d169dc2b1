package bridgetest_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
)

// TestIntricateTextsCrossInMemory: a body that costs a renderer gigabytes crosses
// as it is. The process that carries it stays small, shows it in plain
// paragraphs, and says so once with the issue's name.
func TestIntricateTextsCrossInMemory(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a wide table":    strings.Repeat("|a", 1500) + "|\n" + strings.Repeat("|-", 1500) + "|\n" + strings.Repeat("|\n", 3000),
		"long references": "[a]: " + strings.Repeat("b", 32000) + "\n\n" + strings.Repeat("[a]", 10900),
		"deep quotes":     strings.Repeat("> ", 32000) + "x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, bridgetest.Options{Idle: true})
			p, err := bridgetest.NewProcess(w.World, t.TempDir(), "bridge")
			if err != nil {
				t.Fatal(err)
			}
			w.GitHub.AddHook("acme/web", "http://"+p.Listen+"/webhooks/github", bridgetest.WebhookSecret)
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Kill)
			w.Await("the process takes deliveries", func() bool { _, err := p.Queues(t.Context()); return err == nil })
			n, card := w.OpenIssue(githubtest.IssueSpec{Title: "to be edited"})
			rest := peak(t, p)
			w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = body })
			w.Await("the card has the text", func() bool { return strings.HasPrefix(w.Project.Card(card).Summary, body) })
			if html := w.Project.Card(card).SummaryHTML; !strings.HasPrefix(html, "<p>") || len(html) > 6*len(body) {
				t.Errorf("%d bytes of HTML: %.80s", len(html), html)
			}
			if grown := peak(t, p) - rest; grown > 128<<20 {
				t.Errorf("the process grew by %d MiB", grown>>20)
			}
			told := func() (lines []string) {
				for line := range strings.Lines(logOf(t, p)) {
					if strings.Contains(line, "plain paragraphs") {
						lines = append(lines, line)
					}
				}
				return lines
			}
			w.Await("the process tells of it", func() bool { return len(told()) > 0 })
			w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "edited" })
			w.Await("the next edit crosses", func() bool { return w.Project.Card(card).Title == "edited" })
			if lines := told(); len(lines) != 1 || !strings.Contains(lines[0], `"item":"acme/web#`+strconv.Itoa(n)+`"`) {
				t.Errorf("told:\n%s", lines)
			}
		})
	}
}

// logOf returns the process's log so far.
func logOf(t *testing.T, p *bridgetest.Process) string {
	t.Helper()
	log, err := os.ReadFile(p.Log)
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// peak is the greatest memory that the process has had.
func peak(t *testing.T, p *bridgetest.Process) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.Cmd.Process.Pid) + "/status")
	if err != nil {
		t.Skip("the system does not tell a process's peak of memory")
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// TestImagesOfARoute: a remote image is a link in planning unless the route shows
// images.
func TestImagesOfARoute(t *testing.T) {
	t.Parallel()
	body := "![shot](https://example.com/1.png) <p id=x>stray</p></div>"
	for route, want := range map[string]string{
		"":               `<a href="https://example.com/1.png" rel="nofollow">shot</a>`,
		"images: inline": `<img src="https://example.com/1.png" alt="shot">`,
	} {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			w := start(t, bridgetest.Options{Route: route})
			n, card := w.OpenIssue(githubtest.IssueSpec{Title: "with a picture"})
			w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = body })
			w.Await("the card has the text", func() bool { return strings.HasPrefix(w.Project.Card(card).Summary, body) })
			html := w.Project.Card(card).SummaryHTML
			if !strings.Contains(html, want) || strings.Contains(html, "</div>") || strings.Contains(html, "id=") {
				t.Errorf("planning shows %s", html)
			}
		})
	}
}
