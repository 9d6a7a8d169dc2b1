package randomtest_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMutantsFit holds the deliberate mistakes of make mutants to the source:
// one that fits no more would go unnoticed until that long run.
func TestMutantsFit(t *testing.T) {
	patches, err := filepath.Glob("testdata/mutants/*.patch")
	if err != nil || len(patches) < 10 {
		t.Fatalf("%d mutants, %v", len(patches), err)
	}
	for _, patch := range patches {
		path, err := filepath.Abs(patch)
		if err != nil {
			t.Fatal(err)
		}
		apply := exec.Command("git", "apply", "--check", "-C1", path)
		apply.Dir = filepath.Join("..", "..")
		if out, err := apply.CombinedOutput(); err != nil {
			t.Errorf("%s does not fit the source: %v\n%s", filepath.Base(patch), err, out)
		}
	}
}
