//go:build mutants

package randomtest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestMutants makes one deliberate mistake after the other in a copy of the source, and lets the
// random run find it. Each file of testdata/mutants/*.patch begins with a description of the
// mistake. A mistake that survives every round of seeds says that the run is too kind.
//
// TestChaos looks for a mistake, and TestSim where the description says that it shows in virtual
// time. PLANBRIDGE_MUTANTS picks some by a pattern of their names; PLANBRIDGE_MUTANT_ROUNDS is how
// many rounds of seeds each gets.
func TestMutants(t *testing.T) {
	pattern, rounds := os.Getenv("PLANBRIDGE_MUTANTS"), 4
	if pattern == "" {
		pattern = "*"
	}
	if s := os.Getenv("PLANBRIDGE_MUTANT_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("PLANBRIDGE_MUTANT_ROUNDS: %v", err)
		}
		rounds = n
	}
	patches, err := filepath.Glob("testdata/mutants/" + pattern + ".patch")
	if err != nil || len(patches) == 0 {
		t.Fatalf("mutants %s: %d of them, %v", pattern, len(patches), err)
	}
	tree := t.TempDir()
	if err := copySource(filepath.Join("..", ".."), tree); err != nil {
		t.Fatal(err)
	}
	for _, patch := range patches {
		t.Run(strings.TrimSuffix(filepath.Base(patch), ".patch"), func(t *testing.T) { hunt(t, tree, patch, rounds) })
	}
}

// copySource copies what a build of the bridge needs.
func copySource(from, to string) error {
	for _, name := range []string{"go.mod", "go.sum", "cmd", "bridge", "mapping", "store", "config"} {
		err := filepath.WalkDir(filepath.Join(from, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.MkdirAll(filepath.Join(to, rel), 0o755)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, rel), data, 0o600)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hunt runs one mutant until the random run fails.
func hunt(t *testing.T, tree, patch string, rounds int) {
	path, err := filepath.Abs(patch)
	if err != nil {
		t.Fatal(err)
	}
	inTree(t, tree, "git", "apply", "-C1", path)
	t.Cleanup(func() { inTree(t, tree, "git", "apply", "-C1", "-R", path) })
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	look := inProcesses
	if strings.Contains(string(text), "\n"+showsInVirtualTime+"\n") {
		look = inVirtualTime
	}
	begin := look(t, tree)
	for round := range rounds {
		out, err := begin().CombinedOutput()
		var failed *exec.ExitError
		switch {
		case err == nil:
			continue
		case !errors.As(err, &failed) || !strings.Contains(string(out), "its story is in"):
			t.Fatalf("the random run did not run: %v\n%s", err, out)
		}
		t.Logf("found in round %d, %s", round+1, firstComplaint(string(out)))
		return
	}
	t.Errorf("it survives %d rounds of seeds", rounds)
}

// showsInVirtualTime is a line of the description of a mistake that no process shows in seconds.
const showsInVirtualTime = "It shows in virtual time."

// inProcesses builds the service of a tree, and returns what runs eight seeds of TestChaos on it.
func inProcesses(t *testing.T, tree string) func() *exec.Cmd {
	mutant := filepath.Join(t.TempDir(), "planbridge")
	inTree(t, tree, "go", "build", "-o", mutant, "./cmd/planbridge")
	return func() *exec.Cmd {
		run := exec.Command(os.Args[0], "-test.run", "^TestChaos$", "-test.failfast")
		run.Env = append(os.Environ(), "PLANBRIDGE_BINARY="+mutant, "PLANBRIDGE_CHAOS_SECONDS=15", "PLANBRIDGE_CHAOS_SEEDS=8x")
		return run
	}
}

// inVirtualTime builds these tests in a tree, and returns what runs a hundred seeds of TestSim there.
func inVirtualTime(t *testing.T, tree string) func() *exec.Cmd {
	mutant := filepath.Join(t.TempDir(), "randomtest.test")
	inTree(t, tree, "go", "test", "-c", "-vet=off", "-o", mutant, "./bridge/randomtest")
	return func() *exec.Cmd {
		run := exec.Command(mutant, "-test.run", "^TestSim$", "-test.failfast", "-test.timeout", "0")
		run.Env = append(os.Environ(), "PLANBRIDGE_SIM_SIZE=small", "PLANBRIDGE_SIM_SEEDS=100x")
		return run
	}
}

func inTree(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", fmt.Sprint(cmd.Args), err, out)
	}
}

// firstComplaint is what the judge said first, with the seed.
func firstComplaint(out string) string {
	for line := range strings.Lines(out) {
		if _, after, ok := strings.Cut(line, ": seed "); ok && strings.Contains(after, ": issue ") {
			return "seed " + strings.TrimSpace(after)
		}
	}
	return out
}
