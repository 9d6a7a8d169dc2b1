package github

import (
	"encoding/json"
	"testing"
)

func TestChildless(t *testing.T) {
	for payload, want := range map[string]bool{
		`{"sub_issues_summary": {"total": 0, "completed": 0}}`: true,
		`{"sub_issues_summary": {"total": 2, "completed": 0}}`: false,
		`{"sub_issues_summary": {}}`:                           false,
		`{"sub_issues_summary": null}`:                         false,
		`{"sub_issues_summary": 7}`:                            false,
		`{}`:                                                   false,
	} {
		var w wireIssue
		if err := json.Unmarshal([]byte(payload), &w); err != nil {
			t.Fatal(err)
		}
		if got := w.issue("acme/web").Childless; got != want {
			t.Errorf("%s: %v", payload, got)
		}
	}
}
