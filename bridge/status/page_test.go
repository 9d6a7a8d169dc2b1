package status_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

func TestPage(t *testing.T) {
	a := newAdmin(t)
	resp := a.do("GET", "/", "")
	page := a.text(resp, 200)
	for _, want := range []string{
		"v1.2.3", "waiting for github</dt><dd class=\"bad\">4", "<dt>in the queue</dt><dd>2", "<dt>behind them</dt><dd>1", "<dd class=\"bad\">2",
		"<td>web <span class=\"quiet\">acme/web</span></td><td>web</td>", "<td>acme/api</td>", "(no longer configured)",
		"acme/web#12", "rejected: &lt;b&gt;no&lt;/b&gt;", `name="key" value="p1/l1"`, `value="all"`,
		"&lt;script&gt;g()&lt;/script&gt;", "planning won", "days ago",
		"Sprint &lt;1&gt;", "12.0 of 40.0", `points="0.0,0.0 48.0,3.0 96.0,15.0 144.0,42.0"`,
		"<td>acme/web#12</td><td>web</td><td>when github is back", "&lt;b&gt;down&lt;/b&gt;", "<td>it is late</td>", "<td>leased, ends now</td>",
		`name="viewport" content="width=device-width`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"<script", " style=", "javascript:", "onclick", nonce, "ZgotmplZ"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
	for header, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	} {
		if got := resp.Header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

func TestStyle(t *testing.T) {
	a := newAdmin(t)
	resp := a.do("GET", "/style.css", "")
	css := a.text(resp, 200)
	if resp.Header.Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(css, "color-scheme: light dark") {
		t.Errorf("%v\n%s", resp.Header, css)
	}
}

func TestEmptyPage(t *testing.T) {
	a := newAdmin(t)
	*a.mem = memory{}
	page := a.text(a.do("GET", "/", ""), 200)
	if n := strings.Count(page, "None."); n != 2 {
		t.Errorf("an empty page says None %d times:\n%s", n, page)
	}
	if strings.Contains(page, "<button") {
		t.Error("there is a button and nothing to retry")
	}
}

// What cannot be read is said on the page, and the page is there all the same.
func TestPageInTrouble(t *testing.T) {
	a := newAdmin(t, func(o *status.Options) {
		o.Ready = func(context.Context) error { return errors.New("the store is <away>") }
	})
	a.mem.broken = errors.New("the store broke")
	page := a.text(a.do("GET", "/", ""), 503)
	if !strings.Contains(page, "the store is &lt;away&gt;") || !strings.Contains(page, "the store broke") || !strings.Contains(page, "</html>") {
		t.Errorf("a page in trouble:\n%s", page)
	}
}

func TestPageIsBounded(t *testing.T) {
	a := newAdmin(t)
	for i := range 500 {
		a.mem.failed = append(a.mem.failed, store.Failure{Where: fmt.Sprintf("acme/web#%d", 1000+i)})
		a.mem.waits = append(a.mem.waits, store.Standing{Where: "acme/web#1", State: store.KeyLater, Reason: strings.Repeat("ä", 900)})
		a.mem.conflicts = append(a.mem.conflicts, mapping.Conflict{Attribute: mapping.Summary, GitHub: strings.Repeat("ä", 100_000)})
	}
	page := a.text(a.do("GET", "/", ""), 200)
	if len(page) > 100_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if !strings.Contains(page, "And 452 more") || !strings.Contains(page, "ä…") {
		t.Error("the page does not say what it leaves out")
	}
}

func TestRetryButton(t *testing.T) {
	a := newAdmin(t)
	press := func(key string) {
		t.Helper()
		resp := a.do("POST", "/failures/retry", "key="+key, "Content-Type", "application/x-www-form-urlencoded")
		if resp.StatusCode != 303 || resp.Header.Get("Location") != "/" {
			t.Errorf("the button leads to %d %s", resp.StatusCode, resp.Header.Get("Location"))
		}
	}
	press("p1%2Fl1")
	if len(a.mem.failed) != 1 {
		t.Errorf("%d failures are left of 2", len(a.mem.failed))
	}
	press("p1%2Fl1") // somebody else was faster
	press("all")
	if len(a.mem.failed) != 0 {
		t.Errorf("%d failures are left", len(a.mem.failed))
	}
	a.mem.broken = errors.New("the store broke")
	a.refused(a.do("POST", "/failures/retry", "key=all", "Content-Type", "application/x-www-form-urlencoded"), 500)
}

// A route that is paused is shown as such, on the page and with its links.
func TestPausedRoute(t *testing.T) {
	a := newAdmin(t)
	if got := a.text(a.do("POST", "/api/v1/routes/web/pause", ""), 200); !strings.Contains(got, `"accepted":"web"`) {
		t.Errorf("pause: %s", got)
	}
	if page := a.text(a.do("GET", "/", ""), 200); !strings.Contains(page, `<span class="bad">paused now</span>`) {
		t.Errorf("the page does not say that the route is paused:\n%s", page)
	}
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
