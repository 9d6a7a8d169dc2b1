package github

import (
	stdjson "encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-json"
)

// FuzzEventDecoders holds the library that reads payloads to encoding/json: it
// takes what that takes, and reads the same from it.
func FuzzEventDecoders(f *testing.F) {
	samples, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range samples {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"id":1,"Title":"a\u00e9\ud83d\ude00\n","body":null,"labels":["a",{"name":"b"}],"created_at":"2026-01-01T00:00:00Z","updated_at":1770000000,"milestone":{"number":2},"pull_request":{}}`))
	f.Add([]byte(`{"id":2,"repository":{"id":3,"full_name":"a/b","private":true},"user":{"login":"x"},"assignees":[null,{"login":"y"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) {
			t.Skip("made valid beforehand")
		}
		same[wireIssue](t, data)
		same[wireEvent](t, data)
	})
}

func same[T any](t *testing.T, data []byte) {
	t.Helper()
	var want, got T
	if stdjson.Unmarshal(data, &want) != nil {
		_ = json.Unmarshal(data, &got) // may take more, but must not panic
		return
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q:\n got %+v\nwant %+v", data, got, want)
	}
}
