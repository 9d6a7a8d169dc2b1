package bridge_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// plural matches a number before nouns that is written without [mapping.Count].
var plural = regexp.MustCompile(`%d (attempts|times|links|issues|cards|pairs|tasks|entries|conflicts|rows|lines|items|deliveries|keys|routes|repositories|differences|questions|failures|sub-issues|others|buckets)\b`)

// TestCountsReadWell: one thing is told in the singular, as all numbers of things are written by
// one function.
func TestCountsReadWell(t *testing.T) {
	files := 0
	for _, root := range []string{".", "../cmd/planbridge"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") {
				return err
			}
			files++
			text, err := os.ReadFile(path)
			for n, line := range strings.Split(string(text), "\n") {
				if found := plural.FindString(line); found != "" {
					t.Errorf("%s:%d: %q also tells of one: use mapping.Count", path, n+1, found)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("%d files were read", files)
	}
}
