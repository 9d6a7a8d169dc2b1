package main

import (
	"bytes"
	"strings"
	"testing"
)

// The newcomer's first run: every step of the scene comes true.
func TestScene(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"--once", "--patience", "1m"}, &out, &errs); status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, out.String(), errs.String())
	}
	if got := strings.Count(out.String(), "✓"); got != len(steps()) {
		t.Errorf("%d of %d steps:\n%s", got, len(steps()), out.String())
	}
}

func TestMisuse(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"--nonsense"}, &out, &errs); status != 2 || !strings.Contains(errs.String(), "--nonsense") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}
