package github

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzScanner holds what reads payloads to encoding/json: it takes what that
// takes, and reads the same from it; and what it passes over is JSON.
func FuzzScanner(f *testing.F) {
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
	for _, s := range []string{
		`{"id":1,"title":"a\u00e9\ud83d\ude00\n \ud83d x \ude00\ud83dA","body":null,"labels":["a",{"name":"b"},null],"created_at":"2026-01-01T00:00:00Z","updated_at":1770000000,"milestone":{"number":2},"pull_request":{}}`,
		`{"id":2,"repository":{"id":3,"full_name":"a/b","private":true},"user":{"login":"x"},"assignees":[null,{"login":"y"}],"sub_issues_summary":{"total":0}}`,
		`{"title":{"from":"a"},"body":{"from":null},"old_issue":{"id":1},"repository":{"name":{"from":"x"}},"owner":{"from":{"user":{"login":"u"},"organization":null}}}`,
		"[0, -0, 1.5e+3, 12E-1, \"\\b\\f\\/\", true, false, null, [], {}]", `01`, `-`, `1.`, `1e`, `.5`, `"\x"`, `"\ud83"`, "\"\x01\"", `{"a" 1}`, `[1,]`, `{"a":1,}`, `tru`, `"`, `{}x`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) {
			t.Skip("made valid beforehand")
		}
		s := scanner{data: data}
		if s.skip(); s.end() != json.Valid(data) {
			t.Fatalf("%q: taken: %t, by encoding/json %t", data, s.end(), json.Valid(data))
		}
		var v any
		if json.Unmarshal(data, &v) != nil || folded(v) {
			return // names that only look alike are another matter to encoding/json
		}
		same(t, data, func(s *scanner, w *wireIssue) { s.issue(w) }, func(w *wireIssue) any { return w.issue("a/b") })
		same(t, data, func(s *scanner, w *wireChanges) { s.changes(w) }, func(w *wireChanges) any {
			e := Event{Name: "issues"}
			e.setChanges(w)
			named := Event{Name: "repository"}
			named.setChanges(w)
			return []Changes{e.Changes, named.Changes}
		})
		same(t, data, func(s *scanner, w *wireComment) { s.comment(w) }, func(w *wireComment) any { return w.comment() })
		same(t, data, func(s *scanner, w *wireRepo) { s.repo(w) }, func(w *wireRepo) any { return []any{w.ID, w.FullName, w.private(), w.Archived} })
	})
}

// folded reports whether some name is not what it is in lower case.
func folded(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if folded(item) {
				return true
			}
		}
	case map[string]any:
		for name, value := range v {
			if strings.ToLower(name) != name || len(name) != utf8.RuneCountInString(name) || folded(value) {
				return true
			}
		}
	}
	return false
}

func same[T any](t *testing.T, data []byte, read func(*scanner, *T), of func(*T) any) {
	t.Helper()
	var want, got T
	s := scanner{data: data}
	read(&s, &got)
	if json.Unmarshal(data, &want) != nil {
		return // it may take more: it looks at less
	}
	if !s.end() || s.wrong {
		t.Fatalf("%q: not taken as %T", data, got)
	}
	if got, want := of(&got), of(&want); !reflect.DeepEqual(got, want) {
		t.Errorf("%q:\n got %+v\nwant %+v", data, got, want)
	}
}
