package status_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// TestQuestionsArePaged: every open question can be reached and answered, however many are newer.
func TestQuestionsArePaged(t *testing.T) {
	a := newAdmin(t)
	a.mem.conflicts = nil
	for i := range 45 {
		a.mem.conflicts = append(a.mem.conflicts, mapping.Conflict{ID: fmt.Sprint("c", i), State: mapping.ConflictOpen, Route: "web", Where: fmt.Sprintf("acme/web#%d", i), Attribute: mapping.Title, GitHub: "g", Planning: "p"})
	}
	if page := a.text(a.do("GET", "/", ""), 200); !strings.Contains(page, `href="/questions"`) {
		t.Errorf("the page leads to no further questions:\n%s", a.shown(page, "questions"))
	}
	a.wants(a.text(a.do("GET", "/questions", ""), 200), "main", "45 open questions", "acme/web#0 title", "acme/web#19 title", "1 to 20 of 45", "Older ones")
	last := a.text(a.do("GET", "/questions?from=40", ""), 200)
	a.wants(last, "main", "acme/web#40 title", "acme/web#44 title", "41 to 45 of 45", "Newer ones")
	if text := a.shown(last, "main"); strings.Contains(text, "acme/web#39") || strings.Contains(text, "Older ones") {
		t.Errorf("the last page shows %s", text)
	}
	a.post("/conflicts/resolve", url.Values{"id": {"c44"}, "winner": {"github"}, "back": {"/questions?from=40"}}.Encode(), 303, "/questions?from=40")
	a.wants(a.text(a.do("GET", "/questions?from=40", ""), 200), "main", "44 open questions", "41 to 44 of 44")
	for _, from := range []string{"99", "-1", "x"} {
		a.wants(a.text(a.do("GET", "/questions?from="+from, ""), 200), "main", "1 to 20 of 44")
	}
}

// TestHeadings: a page's headings leave out no level, for those who listen to it.
func TestHeadings(t *testing.T) {
	a := newAdmin(t)
	a.mem.conflicts = append(a.mem.conflicts, mapping.Conflict{ID: "c", Link: "l1", State: mapping.ConflictOpen, Attribute: mapping.Title, GitHub: "g", Planning: "p"})
	for _, path := range []string{"/", "/explain?item=acme/web%2312", "/waiting", "/failures", "/questions", "/search?q=fix"} {
		before := "0"
		for _, h := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(a.text(a.do("GET", path, ""), 200), -1) {
			if h[1][0] > before[0]+1 {
				t.Errorf("%s: h%s follows h%s", path, h[1], before)
			}
			before = h[1]
		}
	}
}

// TestRowNumbers: a list counts its rows from 1.
func TestRowNumbers(t *testing.T) {
	a := newAdmin(t)
	a.wants(a.text(a.do("GET", "/failures", ""), 200), "main", "1 to 2 of 2")
}

// TestManyArchivedRepositories: any number of archived repositories is one line among the problems.
// It is one group of waiting keys, and one entry of the queue.
func TestManyArchivedRepositories(t *testing.T) {
	a := newAdmin(t, func(o *status.Options) { o.Monitor = nil })
	waiting := map[string]int{"github": 1}
	*a.mem = memory{queues: map[string]store.Depth{"web": {Waiting: waiting}}}
	for i := range 200 {
		key, service := store.Key{Project: "p1", Link: mapping.LinkID(fmt.Sprint("l", i))}, fmt.Sprintf("repository:acme/r%d", i)
		waiting[service] = 1
		a.mem.waits = append(a.mem.waits, store.Standing{Key: key, Where: fmt.Sprintf("acme/r%d#1", i), Route: fmt.Sprint("r", i), State: store.KeyWaiting, Service: service, At: noon, Reason: "it is archived"})
	}
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "problems", "1 problem 200 items wait for repositories to be writable, the first one for 1 min: it is archived")
	a.wants(page, "services", "200 for repositories to be writable 1 for service github")
	a.wants(page, "waiting", "Waiting 200 items wait for repositories to be writable r0, r1, r10 and 197 more routes Items acme/r0#1")
	if n := strings.Count(page, "to be writable"); n != 3 {
		t.Errorf("the repositories are told of %d times", n)
	}
	a.wants(a.text(a.do("GET", regexp.MustCompile(`/waiting\?group=\w+`).FindString(page), ""), 200), "main", "1 to 200 of 200", "acme/r199#1")

	a.mem.waits = a.mem.waits[:1]
	a.mem.queues = map[string]store.Depth{"web": {Waiting: map[string]int{"repository:acme/r0": 1}}}
	page = a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "problems", "1 item waits for service repository:acme/r0, for 1 min: it is archived")
	a.wants(page, "services", "1 for service repository:acme/r0")
	a.wants(page, "waiting", "1 item waits for service repository:acme/r0: it is archived")
}

// TestRoutesDuringAnOutage: a route needs no look while its keys wait for a service of which a
// problem tells, or for their turn.
func TestRoutesDuringAnOutage(t *testing.T) {
	monitor := &watcher{health: status.Health{Services: []status.ServiceHealth{{Name: "github", Service: "github", State: status.ServiceDown, Error: "dial: refused"}}}}
	a := newAdmin(t, func(o *status.Options) { o.Monitor = monitor })
	*a.mem = memory{}
	for i, s := range []store.Standing{
		{State: store.KeyWaiting, Service: "github", Reason: "read issue: unavailable"},
		{State: store.KeyLater, Reason: "its turn comes"},
		{State: store.KeyWaiting, Service: "repository:acme/r2", Reason: "it is archived"},
		{State: store.KeyLater, Reason: "update card: forbidden", Attempts: 1},
	} {
		s.Route, s.Key, s.At = fmt.Sprint("route-", i), store.Key{Project: "p1", Link: mapping.LinkID(fmt.Sprint("l", i))}, noon
		a.mem.waits = append(a.mem.waits, s)
		a.mem.routes = append(a.mem.routes, &mapping.Route{Name: s.Route, Repositories: []string{"acme/r"}, Project: "p1", ProjectName: "web"})
	}
	look, rest, _ := strings.Cut(a.shown(a.text(a.do("GET", "/", ""), 200), "routes"), "2 routes have nothing to look at")
	for i, part := range []string{rest, rest, look, look} {
		if want := fmt.Sprintf("route-%d acme/r → web 0 linked 1 waiting", i); !strings.Contains(part, want) {
			t.Errorf("%q is not in %q", want, part)
		}
	}
}

// TestActivityLeavesOutLabels: labels follow what people do, and hide no line that tells of it.
func TestActivityLeavesOutLabels(t *testing.T) {
	a := newAdmin(t)
	w := a.o.Monitor.(*watcher)
	for i := range 100 {
		w.recent = append([]status.Activity{{At: noon, Link: "l", Where: fmt.Sprintf("acme/web#%d", 100+i), Side: "github", Attribute: "labels", What: "show"}}, w.recent...)
	}
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "activity", "octocat renamed acme/web#12")
	if text := a.shown(page, "activity"); strings.Contains(text, "labels") {
		t.Errorf("the page tells of labels: %s", text)
	}
}
