package github

import (
	"os"
	"testing"
)

func BenchmarkParseEvent(b *testing.B) {
	payload, err := os.ReadFile("testdata/issues.labeled.json")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		if _, err := ParseEvent("issues", payload); err != nil {
			b.Fatal(err)
		}
	}
}
