package status_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// shown is the text of a page's part, without its markup; id "": of the whole page.
func (a *admin) shown(page, id string) string {
	a.t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		a.t.Fatal(err)
	}
	var out strings.Builder
	var visit func(n *html.Node, in bool)
	visit = func(n *html.Node, in bool) {
		for _, attr := range n.Attr {
			in = in || attr.Key == "id" && attr.Val == id
		}
		if in && n.Type == html.TextNode {
			out.WriteString(n.Data + " ")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c, in)
		}
	}
	visit(root, id == "")
	return strings.Join(strings.Fields(out.String()), " ")
}

// wants holds a part of a page to what it has to say.
func (a *admin) wants(page, id string, want ...string) {
	a.t.Helper()
	text := a.shown(page, id)
	for _, w := range want {
		if !strings.Contains(text, w) {
			a.t.Errorf("%q is not in #%s: %s", w, id, text)
		}
	}
}

// TestActivityOfRoutes: the effect of a change of the routes is not shown as a person's edit.
func TestActivityOfRoutes(t *testing.T) {
	a := newAdmin(t)
	link := &mapping.Link{Route: "B", Before: &mapping.FormerCard{Project: "p0", Card: "c0"}, Pair: mapping.Pair{Issue: mapping.IssueID{Repo: "acme/web", Number: 8}}}
	a.o.Monitor.(*watcher).recent = []status.Activity{
		status.ActivityOf(link, &mapping.Entry{At: noon, What: mapping.Rerouted, Why: "it goes by route B now, it went by A"}),
		status.ActivityOf(link, &mapping.Entry{At: noon, What: "create", Side: mapping.Planning, Who: "octocat", Took: 2}),
	}
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "activity", "acme/web#8 goes by route B now, it went by A", "acme/web#8 was moved; its card was made in 2.0 s")
	if text := a.shown(page, "activity"); strings.Contains(text, "octocat") {
		t.Errorf("octocat opened nothing: %s", text)
	}
}

// TestActivityNamesWhoDidIt: a write names the operator whose answer or undo it carries out. A
// write of which nobody is known names nobody.
func TestActivityNamesWhoDidIt(t *testing.T) {
	a := newAdmin(t)
	link := &mapping.Link{Pair: mapping.Pair{Issue: mapping.IssueID{Repo: "acme/web", Number: 8}}}
	for want, e := range map[string]mapping.Entry{
		"alice answered: GitHub's title of acme/web#8 holds; the card followed":               {What: "answer", Side: mapping.Planning, Attribute: mapping.Title, Who: "alice"},
		"alice answered: planning's text of acme/web#8 holds; the issue followed":             {What: "answer", Side: mapping.GitHub, Attribute: mapping.Summary, Who: "alice"},
		"alice answered: GitHub's title of acme/web#8 holds; the task followed":               {What: "answer", Side: mapping.Planning, Attribute: mapping.Title, Who: "alice", Part: string(mapping.Checklist)},
		"alice undid a conflict about the title of acme/web#8 ; the card shows what had lost": {What: "undo", Side: mapping.Planning, Attribute: mapping.Title, Who: "alice"},
		"acme/web#8 : the title changed; the card followed in 2.0 s":                          {What: "write", Side: mapping.Planning, Attribute: mapping.Title, Took: 2},
		"acme/web#8 was opened; its card was made":                                            {What: "create", Side: mapping.Planning},
		"acme/web#8 : its marker was put back":                                                {What: "mark", Side: mapping.Planning, Attribute: mapping.Summary},
		"acme/web#8 : a question about the title was answered":                                {What: "answered", Attribute: mapping.Title},
		"acme/web#8 waits for a route that makes issues of cards":                             {What: "dormant"},
	} {
		e.At = noon
		a.o.Monitor.(*watcher).recent = []status.Activity{status.ActivityOf(link, &e)}
		page := a.text(a.do("GET", "/", ""), 200)
		a.wants(page, "activity", want)
		if text := a.shown(page, "activity"); strings.Contains(text, "somebody") {
			t.Errorf("nobody is known: %s", text)
		}
	}
}

func TestPage(t *testing.T) {
	a := newAdmin(t)
	a.mem.queues["web"] = store.Depth{Live: 2, Bulk: 1, Waiting: map[string]int{"github": 4}, Failures: 2, Oldest: noon.Add(-time.Hour)}
	resp := a.do("GET", "/", "")
	page := a.text(resp, 200)
	a.wants(page, "problems", "7 problems", "1 item was given up: rejected: <b>no</b>", "1 item was given up: forbidden", "has been due for",
		"Planning does not take the estimate of acme/web#12: no such number",
		"GitHub does not answer: dial: <refused>. 1 item waits for it.", "The last poll of Planning project web was", "1 name has links and no route in the configuration: gone.")
	a.wants(page, "failures", "rejected: <b>no</b>", "acme/web#12", "attempts: 12", "Retry all failures")
	a.wants(page, "waiting", "1 item waits for service github: <b>down</b>", "waits for service github for 1 min", "it is late", "being worked, at most until")
	a.wants(page, "services", "GitHub does not answer", "last delivery 3 min ago", "Planning project web answers", "content, this minute 12 12 of 70", "4 for service github")
	a.wants(page, "activity", "octocat renamed acme/web#12 ; the card followed in 0.3 s", "planning made the card of acme/web#13 ; its issue was opened in 12 s", "acme/web#14 : both sides changed the text", "acme/web#14 : a task of its checklist changed; its line followed in 2.0 s")
	a.wants(page, "routes", "web acme/web → web 1 linked", "1 route has nothing to look at", "gone no longer configured")
	a.wants(page, "sprints", "Sprint <1>", "12.0 of 40.0 hours are left, day 3 of 5", "today")
	a.wants(page, "conflicts", "title: planning won policy planning", "<script>g()</script>")
	for _, never := range []string{"<script>", " style=", "javascript:", "onclick", nonce, "ZgotmplZ"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
	if n := strings.Count(page, "<script"); n != 1 || !strings.Contains(page, `<script src="/page.js" defer></script>`) {
		t.Errorf("the page has %d scripts", n)
	}
	for header, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	} {
		if got := resp.Header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
}

func TestAssets(t *testing.T) {
	a := newAdmin(t)
	for path, want := range map[string][2]string{
		"/style.css": {"text/css; charset=utf-8", "color-scheme: light dark"},
		"/page.js":   {"text/javascript; charset=utf-8", `"use strict"`},
	} {
		resp := a.do("GET", path, "")
		if body := a.text(resp, 200); resp.Header.Get("Content-Type") != want[0] || !strings.Contains(body, want[1]) {
			t.Errorf("%s: %v\n%s", path, resp.Header, body)
		}
	}
}

// TestPageOfLinksWithoutARoute: no sentence has an empty name.
func TestPageOfLinksWithoutARoute(t *testing.T) {
	a := newAdmin(t)
	a.mem.links = append(a.mem.links, &mapping.Link{ID: "l8", Project: "p1", Pair: mapping.Pair{State: mapping.Dormant}}, &mapping.Link{ID: "l9", Project: "p1", Pair: mapping.Pair{State: mapping.Dormant}})
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "problems", "2 links are without a route.", "1 name has links and no route in the configuration: gone.")
	a.wants(page, "routes", "links without a route →", "2 dormant")
}

// TestPageOfDormantLinks: not all is in step while links lack a route or a project. Those that an
// operator parted lack nothing.
func TestPageOfDormantLinks(t *testing.T) {
	dormant := func(why string, parted bool) *mapping.Link {
		return &mapping.Link{Project: "p1", Route: "web", Parted: parted, Pair: mapping.Pair{State: mapping.Dormant, Rest: mapping.Rest{Why: why}}}
	}
	a := newAdmin(t, func(o *status.Options) { o.Monitor = nil })
	parted := []*mapping.Link{dormant(mapping.PartedWhy, true), dormant(mapping.MovedWhy, true)}
	*a.mem = memory{routes: filled().routes, links: parted}
	a.wants(a.text(a.do("GET", "/", ""), 200), "problems", "All is in step")

	a = newAdmin(t, func(o *status.Options) { o.Monitor = nil })
	*a.mem = memory{routes: filled().routes, links: append(parted, dormant("route web excludes its repository", false),
		dormant(mapping.WhyWithoutProject("p1"), false), dormant(mapping.WhyWithoutProject("p1"), false))}
	for range 2 {
		page := a.text(a.do("GET", "/", ""), 200)
		a.wants(page, "problems", "2 problems", "2 links are dormant: planning.projects does not name their project.", "1 link is dormant: no route takes its issue.")
		if text := a.shown(page, "problems"); strings.Contains(text, "All is in step") || strings.Contains(text, "Nothing waits") {
			t.Errorf("the page says\n%s", text)
		}
	}
}

func TestEmptyPage(t *testing.T) {
	a := newAdmin(t, func(o *status.Options) { o.Monitor = nil })
	*a.mem = memory{}
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "problems", "All is in step", "Nothing waits for you.")
	a.wants(page, "routes", "There is no route.")
	for _, id := range []string{"failures", "waiting", "questions", "sprints", "conflicts"} {
		if text := a.shown(page, id); text != "" {
			t.Errorf("#%s of an empty page: %s", id, text)
		}
	}
}

func faults(says ...string) (out []status.Fault) {
	for _, one := range says {
		out = append(out, status.Fault{Says: one})
	}
	return out
}

// TestPageOfABrokenConfiguration: not all is in step while a part of the configuration does
// not work. Of many faults the first are named.
func TestPageOfABrokenConfiguration(t *testing.T) {
	monitor := &watcher{health: status.Health{Configuration: faults("The last reload was refused: <b>", "2", "3", "4", "5", "6", "7")}}
	a := newAdmin(t, func(o *status.Options) { o.Monitor = monitor })
	*a.mem = memory{}
	a.wants(a.text(a.do("GET", "/", ""), 200), "problems", "6 problems", "The last reload was refused: <b>", "The log has 2 more faults of the configuration.")
}

// TestPageOfWhatFails: a service's refusal is a problem at once, and not only when its attempts are
// used up. Keys that wait for their turn are none.
func TestPageOfWhatFails(t *testing.T) {
	a := newAdmin(t, func(o *status.Options) { o.Monitor = nil })
	*a.mem = memory{waits: []store.Standing{
		{Key: store.Key{Project: "p1", Link: "l1"}, State: store.KeyLater, At: noon, Reason: "update card 7: forbidden", Attempts: 1},
		{Key: store.Key{Project: "p1", Link: "l2"}, State: store.KeyLater, At: noon, Reason: "update card 8: forbidden", Attempts: 2},
		{Key: store.Key{Project: "p1", Link: "l3"}, State: store.KeyLater, At: noon, Reason: "labels in acme/web cannot be shown: forbidden"},
		{Key: store.Key{Project: "p1", Link: "l5"}, State: store.KeyWaiting, Service: "planning:p1", At: noon, Reason: "update card: unauthorized"},
		{Key: store.Key{Project: "p1", Link: "l4"}, State: store.KeyLater, At: noon, Reason: "its turn comes"},
	}}
	a.wants(a.text(a.do("GET", "/", ""), 200), "problems", "3 problems", "1 item was put off after a failure: update card: unauthorized",
		"2 items were put off after a failure: update card …: forbidden", "1 item was put off after a failure: labels in acme/web cannot be shown: forbidden")
}

// TestPageOfWhatIsWaitedFor: a replica that met no service away tells what keys wait for. Not all is
// in step while keys wait for their turn, though nobody has to see to that.
func TestPageOfWhatIsWaitedFor(t *testing.T) {
	waits := func(service string, i int) store.Standing {
		return store.Standing{Key: store.Key{Project: "p1", Link: mapping.LinkID(fmt.Sprint("l", i))}, State: store.KeyWaiting, Service: service, At: noon.Add(-time.Hour), Reason: "read issue: no answer"}
	}
	monitor := &watcher{health: status.Health{Services: []status.ServiceHealth{
		{Name: "github", Service: "github", State: status.ServiceUp},
		{Name: "web", Service: "planning:p1", Project: true, State: status.ServiceLimited, Until: noon.Add(10 * time.Minute)},
	}}}
	a := newAdmin(t, func(o *status.Options) { o.Monitor = monitor })
	*a.mem = memory{waits: []store.Standing{waits("github", 1), waits("github", 2), waits("planning:p1", 3), waits("adoption", 4)}}
	a.wants(a.text(a.do("GET", "/", ""), 200), "problems", "3 problems", "2 items wait for service github, the first one for 1 h: read issue: no answer",
		"Planning project web asked for a pause; it ends in 9 min. 1 item waits for it.", "1 item waits for service adoption, for 1 h: read issue")

	a = newAdmin(t, func(o *status.Options) { o.Monitor = nil })
	*a.mem = memory{waits: []store.Standing{{Key: store.Key{Project: "p1", Link: "l1"}, State: store.KeyLater, At: noon, Reason: "GitHub limits requests"}}}
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "problems", "1 item waits", "Nothing waits for you.")
	if text := a.shown(page, "problems"); strings.Contains(text, "All is in step") {
		t.Errorf("the page says %s", text)
	}
}

// TestPageOfAnOutage: consequences of an outage, or of a store that is away, are one problem with it.
func TestPageOfAnOutage(t *testing.T) {
	late := []status.Source{{What: status.SourcePoll, At: noon.Add(-time.Hour), Every: 30}}
	monitor := &watcher{health: status.Health{
		Services: []status.ServiceHealth{
			{Name: "github", Service: "github", State: status.ServiceDown, Error: "dial: refused", Sources: late},
			{Name: "web", Service: "planning:p1", Project: true, State: status.ServiceRefused, Error: "answer 401", Sources: late},
		},
		Configuration: []status.Fault{{Says: "planning web: the service refuses the secret", Service: "planning:p1"}},
	}}
	a := newAdmin(t, func(o *status.Options) { o.Monitor = monitor })
	*a.mem = memory{}
	for i, service := range []string{"github", "github", "planning:p1"} {
		a.mem.waits = append(a.mem.waits, store.Standing{Key: store.Key{Project: "p1", Link: mapping.LinkID(fmt.Sprint("l", i))}, State: store.KeyWaiting, Service: service, At: noon, Reason: fmt.Sprint("unauthorized ", service)})
	}
	a.wants(a.text(a.do("GET", "/", ""), 200), "problems", "2 problems", "GitHub does not answer: dial: refused. 2 items wait for it.",
		"Planning project web does not take the secret: answer 401. 1 item waits for it.")

	*monitor = watcher{health: status.Health{Services: []status.ServiceHealth{{Name: "github", Service: "github", State: status.ServiceRefused, Error: "answer 401"}}}}
	a.mem.waits = []store.Standing{{Key: store.Key{Project: "p1", Link: "l1"}, State: store.KeyWorked, At: noon}}
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "problems", "1 problem", "GitHub does not take the token: answer 401.")
	a.wants(page, "services", "GitHub refuses the token")
	a.wants(page, "waiting", "1 item : being worked")

	*monitor = watcher{health: status.Health{Services: []status.ServiceHealth{{Name: "github", Service: "github", State: status.ServiceUp, Failing: []status.FailingOperation{
		{Operation: "issue.patch", Since: noon.Add(-5 * time.Minute), Times: 7, Error: "answer 502"},
	}}}}}
	a.mem.waits = nil
	a.wants(a.text(a.do("GET", "/", ""), 200), "problems", "1 problem", "GitHub answers, but issue.patch failed 7 times in a row, for 6 min: answer 502")

	away := fmt.Errorf("read a link: %w: dial: refused", store.ErrAway)
	a = newAdmin(t, func(o *status.Options) {
		o.Monitor, o.Readiness = nil, readiness(func(context.Context) error { return fmt.Errorf("ping: %w", store.ErrAway) })
	})
	*a.mem = memory{broken: away}
	page = a.text(a.do("GET", "/", ""), 503)
	a.wants(page, "problems", "1 problem", "The store does not answer, and nothing is synchronised until it does: ping: the store is away")
	a.wants(page, "routes", "Nothing is known of the routes.")

	a = newAdmin(t, func(o *status.Options) { o.Monitor = nil })
	*a.mem = memory{broken: fmt.Errorf("list projects: %w: no space left", store.ErrNoRoom)}
	a.wants(a.text(a.do("GET", "/", ""), 503), "problems", "1 problem", "The store takes no writes, and nothing is synchronised until it does: list projects: the store is full: no space left")
}

// The page reports unreadable parts, and still appears.
func TestPageInTrouble(t *testing.T) {
	a := newAdmin(t, func(o *status.Options) {
		o.Readiness = readiness(func(context.Context) error { return errors.New("the store is <away>") })
	})
	a.mem.broken = errors.New("the store broke")
	page := a.text(a.do("GET", "/", ""), 503)
	a.wants(page, "problems", "the store is <away>", "the store broke")
	if !strings.Contains(page, "</html>") {
		t.Errorf("a page in trouble:\n%s", page)
	}
}

// full gives the memory as much as it may have.
func (a *admin) full() {
	long := strings.Repeat("ä", 64<<10)
	for i := range 10_000 {
		where, key := fmt.Sprintf("acme/web#%d", 1000+i), store.Key{Project: "p1", Link: mapping.LinkID(fmt.Sprint("k", i))}
		a.mem.failed = append(a.mem.failed, store.Failure{Key: key, Route: "web", Where: where, Reason: fmt.Sprintf("reconcile %s: answer 422: %s", where, long[:4000]), At: noon})
		a.mem.waits = append(a.mem.waits, store.Standing{Key: key, Route: "web", Where: where, State: store.KeyLater, Reason: strings.Repeat("ä", 900), At: noon})
	}
	for i := range 100 {
		a.mem.conflicts = append(a.mem.conflicts, mapping.Conflict{ID: fmt.Sprint("c", i), State: mapping.ConflictOpen, Attribute: mapping.Summary, GitHub: long, Planning: long + "!"})
	}
	for i := range 200 {
		a.mem.routes = append(a.mem.routes, &mapping.Route{Name: fmt.Sprint("r", i), Repositories: []string{"acme/r"}, ProjectName: "web"})
	}
}

// However much there is, the page is bounded and says what it leaves out.
func TestMeasuredPageIsBounded(t *testing.T) {
	a := newAdmin(t)
	a.full()
	for path, bound := range map[string]int{"/": 300_000, "/waiting": 300_000, "/failures": 300_000, "/failures?from=9800": 300_000} {
		begin := time.Now()
		page := a.text(a.do("GET", path, ""), 200)
		if took := time.Since(begin); len(page) > bound || took > 2*time.Second {
			t.Errorf("%s has %d bytes, after %v", path, len(page), took)
		}
		if !strings.Contains(page, "ä…") {
			t.Errorf("%s does not say what it leaves out", path)
		}
	}
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "problems", "10000 items were given up: reconcile …: answer 422: ä", "100 questions wait for an answer")
	a.wants(page, "questions", "And 90 further questions", "65376 characters")
	a.wants(page, "failures", "Retry all 10000", "All 10000 of them")
	a.wants(page, "waiting", "9997 items or more", "Every key that waits")
}

// TestACopiedStoreOnlyReads: the page says where the store was copied to, and nothing in it is changed.
func TestACopiedStoreOnlyReads(t *testing.T) {
	copied := fmt.Errorf("%w: file:new.db", store.ErrCopied)
	a := newAdmin(t, func(o *status.Options) { o.Readiness = readiness(func(context.Context) error { return copied }) })
	a.wants(a.text(a.do("GET", "/", ""), 503), "problems", copied.Error())
	for path, form := range map[string]string{"/api/v1/routes/web/pause": "", "/routes/pause": "route=web"} {
		if text := a.text(a.do("POST", path, form, "Content-Type", "application/x-www-form-urlencoded"), 409); !strings.Contains(text, copied.Error()) {
			t.Errorf("%s answers %s", path, text)
		}
	}
	if len(a.mem.paused) > 0 {
		t.Errorf("paused are %v", a.mem.paused)
	}
}

// A route that is paused is shown as such, on the page and with its links.
func TestPausedRoute(t *testing.T) {
	a := newAdmin(t)
	if got := a.text(a.do("POST", "/api/v1/routes/web/pause", ""), 200); !strings.Contains(got, `"accepted":"web"`) {
		t.Errorf("pause: %s", got)
	}
	a.wants(a.text(a.do("GET", "/", ""), 200), "routes", "paused now")
	if links := a.text(a.do("GET", "/api/v1/links?route=web&limit=1", ""), 200); !strings.Contains(links, `"paused":true`) {
		t.Errorf("links: %s", links)
	}
	a.text(a.do("POST", "/api/v1/routes/web/resume", ""), 200)
	if overview := a.text(a.do("GET", "/api/v1/overview", ""), 200); strings.Contains(overview, "paused") {
		t.Errorf("overview: %s", overview)
	}
	a.text(a.do("POST", "/api/v1/routes/nobody/pause", ""), 404)
}

// Where the store alone is open, what needs both services is refused.
func TestNoServices(t *testing.T) {
	a := newAdmin(t)
	for path, body := range map[string]string{"POST /api/v1/import": "{}", "POST /api/v1/verify": "{}", "GET /api/v1/jobs/x": "", "POST /api/v1/links/acme%2Fweb%2312/link": `{"card": "c"}`} {
		method, path, _ := strings.Cut(path, " ")
		if got := a.text(a.do(method, path, body), 409); !strings.Contains(got, "needs a running service") {
			t.Errorf("%s: %s", path, got)
		}
	}
}
