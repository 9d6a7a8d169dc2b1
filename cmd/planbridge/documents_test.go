package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"

	"planbridge/mapping/pagetest"
)

const root = "../.."

// free are programs of others: the test does not check the documents' arguments, except the files
// of this repository.
var free = []string{"export", "docker", "kubectl", "helm", "systemctl", "redis-server", "openssl"}

// TestCommandsInDocuments: planbridge takes each of its commands in the documents. The make
// targets, files and packages that they name exist.
func TestCommandsInDocuments(t *testing.T) {
	t.Parallel()
	parsed := 0
	for _, p := range pagetest.Pages(t, root) {
		shown := len(p.Commands()) - len(p.Spans)
		for i, line := range p.Commands() {
			fault, known := commandFault(line)
			switch {
			case fault != nil:
				t.Errorf("%s: %s: %v", p.Path, line, fault)
			case !known && i < shown: // a span may be anything
				t.Errorf("%s: %s: no test knows this command", p.Path, line)
			case known:
				parsed++
			}
		}
	}
	if parsed < 60 {
		t.Errorf("%d commands were found, more are there", parsed)
	}
}

// commandFault says why a line would not run, and whether it is a command at all.
func commandFault(line string) (fault error, known bool) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, false
	}
	switch program := words[0]; {
	case program == "bin/planbridge", program == "planbridge" && len(words) > 1:
		return parseFault(words[1:]), true
	case program == "make" && len(words) > 1:
		return targetFault(words[1]), true
	case program == "go" && len(words) > 1:
		return pathFault(words[2:]), true
	case strings.HasPrefix(program, ".ci/"):
		return pathFault(words[:1]), true
	case program == "cp" && len(words) > 1:
		return pathFault(words[1:2]), true
	case slices.Contains(free, program) && len(words) > 1:
		return pathFault(words[1:]), true
	}
	return nil, false
}

func parseFault(words []string) error {
	parser, err := newParser(&commands{}, "planbridge.yaml", io.Discard, io.Discard, func(int) {})
	if err != nil {
		return err
	}
	command, err := parser.Parse(words)
	if err != nil {
		return err
	}
	return checkWords(command)
}

// targetFault reports a target that the Makefile does not have.
func targetFault(name string) error {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err == nil && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+`:.*## `).Match(text) {
		err = fmt.Errorf("the Makefile has no target %s", name)
	}
	return err
}

// pathFault reports a path of this repository that is not there. Files of an earlier command, or of
// the reader, are not searched.
func pathFault(words []string) error {
	for _, word := range words {
		path, ours := strings.CutPrefix(word, "./")
		if ours = ours || strings.HasPrefix(word, "deploy/") || strings.HasPrefix(word, ".ci/"); !ours {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			return err
		}
	}
	return nil
}

// TestFaultsOfCommandsAreFound shows that the test refuses what it is there for.
func TestFaultsOfCommandsAreFound(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"planbridge explode", "planbridge links --flat", "planbridge conflicts resolve 1 both", "bin/planbridge import --state shut",
		"planbridge pause", "make noise", "go run ./cmd/planbridge-dome", ".ci/walk", "cp deploy/no.yaml x.yaml",
		"kubectl apply -k deploy/kubernets",
	} {
		if fault, known := commandFault(line); fault == nil || !known {
			t.Errorf("%s: %v, %v", line, fault, known)
		}
	}
}

// TestOperationsHasEachCommand: the page on operations shows each command and each flag of it.
func TestOperationsHasEachCommand(t *testing.T) {
	t.Parallel()
	var shown []string
	for _, span := range pagetest.Read(t, root, "docs/operations.md").Spans {
		if line, ok := strings.CutPrefix(span, "planbridge "); ok {
			shown = append(shown, line+" ")
		}
	}
	parser, err := newParser(&commands{}, "planbridge.yaml", io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		name := commandName(leaf)
		with := slices.DeleteFunc(slices.Clone(shown), func(line string) bool { return !strings.HasPrefix(line, name+" ") })
		if len(with) == 0 {
			t.Errorf("docs/operations.md does not show planbridge %s", name)
		}
		for _, flag := range leaf.Flags {
			if flag.Hidden || flag.Name == "help" || flag.Name == "output" {
				continue
			}
			// The command that stands for another one shows its flags, too.
			if parent := commandName(leaf.Parent); leaf.Parent.DefaultCmd == leaf {
				with = slices.DeleteFunc(slices.Clone(shown), func(line string) bool { return !strings.HasPrefix(line, parent+" ") })
			}
			if !slices.ContainsFunc(with, func(line string) bool { return strings.Contains(line, " --"+flag.Name+" ") }) {
				t.Errorf("docs/operations.md does not show planbridge %s --%s", name, flag.Name)
			}
		}
	}
}

// commandName is how a command is called, without the program.
func commandName(n *kong.Node) string {
	if n == nil || n.Type == kong.ApplicationNode {
		return ""
	}
	return strings.TrimSpace(commandName(n.Parent) + " " + n.Name)
}

// TestWorkflows: GitHub's files are YAML, and each command of a workflow exists.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, ".github/*/*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, file := range append(files, filepath.Join(root, ".github/dependabot.yml")) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct{ Run string }
			}
		}
		if err := yaml.Unmarshal(data, &workflow); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				for line := range strings.Lines(step.Run) {
					ran++
					if fault, known := commandFault(strings.TrimSpace(line)); fault != nil || !known {
						t.Errorf("%s: %s: %v", file, line, fault)
					}
				}
			}
		}
	}
	if ran == 0 {
		t.Error("no workflow runs anything")
	}
}
