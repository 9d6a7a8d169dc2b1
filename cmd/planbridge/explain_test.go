package main

import (
	"strings"
	"testing"

	"planbridge/bridge/status"
)

func TestExplainWithoutPreview(t *testing.T) {
	var out strings.Builder
	if err := explainNow(&out, &status.LinkDetail{NowError: "decide about acme/web#12: connection refused"}).flush(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "connection refused") {
		t.Errorf("got %s", out.String())
	}
}

// What is said of a task names what its sides agree on, texts left out.
func TestExplainTasks(t *testing.T) {
	var out strings.Builder
	d := &status.LinkDetail{Children: []status.Child{{
		Kind: "sub_issue", State: "linked", Task: "t1", Issue: &status.Issue{Repository: "acme/web", Number: 3},
		Base: map[string]status.Base{"title": {GitHub: "Build it"}, "summary": {GitHub: "Steps"}, "estimate": {GitHub: "1.5"}, "state": {GitHub: "todo"}},
	}}}
	if err := explainChildren(&out, d).flush(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(out.String()), " "); got != "TASK KIND STATE OF AGREED ON t1 sub_issue linked acme/web#3 title Build it, estimate 1.5, state todo" {
		t.Errorf("got %s", got)
	}
}
