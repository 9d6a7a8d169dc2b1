package main

import (
	"strings"
	"testing"
	"time"

	"planbridge/bridge/status"
)

// TestExplainNamesParts: a line of the history names the part that it is about, and an issue that
// is being made has no number yet.
func TestExplainNamesParts(t *testing.T) {
	d := status.LinkDetail{
		Link:     status.Link{Where: "c1", State: "creating", Issue: &status.Issue{Repository: "acme/web"}, Card: &status.Card{ID: "c1"}},
		Children: []status.Child{{Kind: "sub_issue", State: "linked", Task: "t1", Issue: &status.Issue{Repository: "acme/web"}, Base: map[string]status.Base{"title": {GitHub: "One"}, "estimate": {}}}},
		History:  []status.Entry{{What: "orphaned", Part: "acme/web#2", Why: "its item in github is gone"}},
	}
	var out strings.Builder
	if err := explain(&out, &d); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"issue - card c1", "t1 sub_issue linked - title One AT", "orphaned - - acme/web#2: its item"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(got, "#0") {
		t.Errorf("%q has a number that no issue has", got)
	}
}

// TestExplainFirstLine: each thing that may be with an item is one line, and the first.
func TestExplainFirstLine(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	link := func(state string) status.Link { return status.Link{Where: "acme/web#1", State: state, Synced: at} }
	queue := func(state, service string) *status.Standing {
		return &status.Standing{Key: "p/l", State: state, Service: service, At: at, Reason: "rejected: no room", Attempts: 3}
	}
	dormant, left, orphaned := link("dormant"), link("left"), link("orphaned")
	dormant.Why, left.Why, orphaned.Why = "its route or project is no longer configured", "it has the excluded label wontplan", "its item in planning is gone"
	paused := link("linked")
	paused.Paused = true
	for name, tt := range map[string]struct {
		d    status.LinkDetail
		says string
	}{
		"agrees":   {status.LinkDetail{Link: link("linked")}, "Both sides agree; that was last confirmed at 2026-11-20T08:30:00Z."},
		"parked":   {status.LinkDetail{Link: link("linked"), Queue: queue("parked", "")}, "It was given up at 2026-11-20T08:30:00Z after 3 attempts, and waits for a retry or a new change: rejected: no room"},
		"paused":   {status.LinkDetail{Link: paused}, "Its route is paused: changes are taken and wait until somebody resumes it."},
		"dormant":  {status.LinkDetail{Link: dormant}, "It is not synchronised (dormant): its route or project is no longer configured"},
		"excluded": {status.LinkDetail{Link: left}, "It is not synchronised (left): it has the excluded label wontplan"},
		"orphaned": {status.LinkDetail{Link: orphaned}, "It is not synchronised (orphaned): its item in planning is gone"},
		"asks":     {status.LinkDetail{Link: link("linked"), Asking: map[string]string{"title": "c1"}}, "Both sides changed the title, and somebody has to choose."},
		"service":  {status.LinkDetail{Link: link("linked"), Queue: queue("waiting", "github")}, "It has been waiting for github since 2026-11-20T08:30:00Z: rejected: no room"},
		"later":    {status.LinkDetail{Link: link("linked"), Queue: queue("later", "")}, "It is looked at again at 2026-11-20T08:30:00Z: rejected: no room"},
		"due":      {status.LinkDetail{Link: link("linked"), Queue: queue("due", "")}, "It has been due and waiting for a free worker since 2026-11-20T08:30:00Z."},
		"worked":   {status.LinkDetail{Link: link("linked"), Queue: queue("worked", "")}, "It is being worked at this moment."},
		"entering": {status.LinkDetail{Link: link("entering")}, "It was seen, and no partner was made yet."},
		"creating": {status.LinkDetail{Link: link("creating")}, "Its partner is being made."},
		"refused":  {status.LinkDetail{Link: link("linked"), Refused: map[string]status.Refusal{"title": {Side: "github", Words: "too long"}}, Now: &status.Now{Unread: map[string]string{"github": "away"}}}, "GitHub does not take the title: too long"},
		"differs":  {status.LinkDetail{Link: link("linked"), Now: &status.Now{Next: []status.Next{{Attribute: "title", Action: "to_github", Why: "planning changed, GitHub did not"}}}}, "The sides differ in the title; the next look does this: to_github, planning changed, GitHub did not"},
		"a deleted issue": {
			status.LinkDetail{Link: link("linked"), Now: &status.Now{Gone: []string{"github"}, Unread: map[string]string{"github": "github: read issue acme/web#1: gone"}}},
			"GitHub does not have the issue there any more: github: read issue acme/web#1: gone. It is looked at by the next verification of all links, and by planbridge verify --repair at once.",
		},
		"one attempt": {status.LinkDetail{Link: link("linked"), Queue: &status.Standing{State: "parked", At: at, Attempts: 1, Reason: "no"}}, "It was given up at 2026-11-20T08:30:00Z after 1 attempt, and waits for a retry or a new change: no"},
		"a sub-issue": {
			status.LinkDetail{Link: link("linked"), Part: &status.Child{Kind: "sub_issue", State: "linked"}},
			"It is a sub-issue of acme/web#1, and a task of its card. Both sides agree; that was last confirmed at 2026-11-20T08:30:00Z.",
		},
		"a sub-issue that left": {
			status.LinkDetail{Link: link("linked"), Part: &status.Child{Kind: "sub_issue", State: "linked", Parent: "none"}},
			"It is no sub-issue any more; it was one of acme/web#1, whose card keeps its task. Both sides agree; that was last confirmed at 2026-11-20T08:30:00Z.",
		},
		"a sub-issue of another": {
			status.LinkDetail{Link: link("linked"), Part: &status.Child{Kind: "sub_issue", State: "linked", Parent: "another"}},
			"It is a sub-issue of another issue now; it was one of acme/web#1, whose card keeps its task. Both sides agree; that was last confirmed at 2026-11-20T08:30:00Z.",
		},
		"a former name": {status.LinkDetail{Link: link("linked"), Was: "acme/old#7"}, "It was acme/old#7 before. Both sides agree; that was last confirmed at 2026-11-20T08:30:00Z."},
		"a line":        {status.LinkDetail{Link: link("linked"), Part: &status.Child{Kind: "checklist", State: "linked"}}, "It is a line of the checklist of acme/web#1, and a task of its card. Both sides agree; that was last confirmed at 2026-11-20T08:30:00Z."},
		"a task waits": {
			status.LinkDetail{Link: link("linked"), Part: &status.Child{Kind: "tracking", State: "creating", Why: "planning is full"}},
			"It is the tracking task of acme/web#1. It waits: planning is full. Both sides agree; that was last confirmed at 2026-11-20T08:30:00Z.",
		},
		"a refused part": {status.LinkDetail{Link: link("linked"), Children: []status.Child{{Task: "t1", Refused: map[string]status.Refusal{"title": {Side: "planning", Words: "too long"}}}}, Now: &status.Now{}}, "Planning does not take the title of task t1: too long"},
		"a question about a part": {
			status.LinkDetail{Link: link("linked"), Children: []status.Child{{Task: "t1", Asking: map[string]string{"title": "c1"}}}, Now: &status.Now{}},
			"Both sides changed the title of task t1, and somebody has to choose.",
		},
		"an issue": {status.LinkDetail{Outside: &status.Outside{Repository: "acme/web", Number: 1, Route: "web", Why: "it is a pull request"}}, "It is not synchronised by route web: it is a pull request"},
	} {
		var out strings.Builder
		if err := explain(&out, &tt.d); err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(out.String(), "\n"); first != "acme/web#1: "+tt.says {
			t.Errorf("%s: %q, expected %q", name, first, tt.says)
		}
		if agree := strings.Contains(out.String(), "the sides agree"); agree && !strings.Contains(tt.says, "Both sides agree") {
			t.Errorf("%s: %q is followed by\n%s", name, tt.says, out.String())
		}
	}
}
