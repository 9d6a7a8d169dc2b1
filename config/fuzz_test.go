package config_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"planbridge/config"
)

// FuzzParse: with any content of the file, Parse returns a valid configuration, or faults that are
// in the file and show no secret.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("../deploy/planbridge.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		minimal, string(example), "", "a: b: c", "- a", "? a", "a: &x {b: *x}", "routes: [{}, [], 5]", "<<: *a", "\ufeff", "\t",
		"%YAML 1.2\n---\n", "a: |\n  b\n", "routes:\n  - &r {repository: a/b}\n  - *r\n", strings.Repeat("[", 5000), "&a *a", "a: !!str",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, yaml string) {
		c, err := config.Parse([]byte(yaml), "fuzz.yaml", environ)
		if err == nil {
			if err := c.Validate(); err != nil {
				t.Errorf("accepted, but\n%v", err)
			}
			return
		}
		var faults config.Faults
		if !errors.As(err, &faults) || len(faults) == 0 {
			t.Fatalf("%T %v", err, err)
		}
		lines, last := 1+strings.Count(yaml, "\n"), 0
		for _, fault := range faults {
			if fault.Line < 1 || fault.Line > lines || fault.Column < 1 || fault.Line < last {
				t.Errorf("of %d lines, after %d: %v", lines, last, fault)
			}
			last = fault.Line
		}
		if !strings.Contains(yaml, canary) && strings.Contains(err.Error(), canary) {
			t.Errorf("a secret is in\n%v", err)
		}
	})
}
