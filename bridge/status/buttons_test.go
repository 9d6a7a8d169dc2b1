package status_test

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// post presses a button of a page.
func (a *admin) post(path, form string, status int, leads string) string {
	a.t.Helper()
	resp := a.do("POST", path, form, "Content-Type", "application/x-www-form-urlencoded")
	if got := resp.Header.Get("Location"); got != leads {
		a.t.Errorf("%s %s leads to %q, want %q", path, form, got, leads)
	}
	return a.text(resp, status)
}

func TestRetryButtons(t *testing.T) {
	a := newAdmin(t)
	a.post("/failures/retry", "key=p1%2Fl1", 303, "/")
	if len(a.mem.failed) != 1 {
		t.Errorf("%d failures are left of 2", len(a.mem.failed))
	}
	a.post("/failures/retry", "key=p1%2Fl1&back=%2Fexplain%3Fitem%3Dacme%252Fweb%252312", 303, "/explain?item=acme%2Fweb%2312") // somebody else was faster
	a.post("/failures/retry", "key=all", 303, "/")
	if len(a.mem.failed) != 0 {
		t.Errorf("%d failures are left", len(a.mem.failed))
	}
	a.post("/failures/retry", "", 400, "")
	a.mem.broken = errors.New("the store <broke>")
	if page := a.post("/failures/retry", "key=all", 500, ""); !strings.Contains(page, "the store &lt;broke&gt;") {
		t.Errorf("the page of what failed: %s", page)
	}
}

// A button beside a reason takes up those that failed for it, and no other.
func TestRetryGroup(t *testing.T) {
	a := newAdmin(t)
	for i := range 3 {
		where := fmt.Sprintf("acme/web#%d", 20+i)
		a.mem.failed = append(a.mem.failed, store.Failure{Key: store.Key{Project: "p1", Link: mapping.LinkID(where)}, Route: "web", Where: where, Reason: where + ": answer 500"})
	}
	page := a.text(a.do("GET", "/", ""), 200)
	button := regexp.MustCompile(`name="group" value="([^"]*)" aria-label="Retry 3 items: …: answer 500"`).FindStringSubmatch(page)
	if button == nil {
		t.Fatalf("there is no button for the group:\n%s", page)
	}
	list := a.text(a.do("GET", "/failures?group="+button[1], ""), 200)
	a.wants(list, "main", "3 items were given up", "Their reason: …: answer 500", "acme/web#22")
	a.post("/failures/retry", "group="+button[1], 303, "/")
	if len(a.mem.failed) != 2 {
		t.Errorf("%d failures are left, want 2", len(a.mem.failed))
	}
}

// A form leads back to a page of the listener, and nowhere else.
func TestBack(t *testing.T) {
	a := newAdmin(t)
	for back, want := range map[string]string{
		"": "/", "/": "/", "/failures?group=1": "/failures?group=1", "//evil.example/": "/", "https://evil.example/": "/", `/\evil.example`: "/",
		"javascript:alert(1)": "/", "/api/v1/links": "/", "/explain?item=%0d%0aX: y": "/explain?item=%0d%0aX: y", "%zz": "/",
	} {
		resp := a.do("POST", "/routes/pause", url.Values{"route": {"web"}, "back": {back}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
		if got := resp.Header.Get("Location"); got != want {
			t.Errorf("back %q leads to %q, want %q", back, got, want)
		}
	}
}

func TestRouteButtons(t *testing.T) {
	a := newAdmin(t)
	a.post("/routes/pause", "route=web", 303, "/")
	page := a.text(a.do("GET", "/", ""), 200)
	a.wants(page, "problems", "1 route is paused: web.")
	a.wants(page, "routes", "paused now", "Resume")
	a.post("/routes/resume", "route=web", 303, "/")
	if len(a.mem.paused) != 0 {
		t.Errorf("%v are paused", a.mem.paused)
	}
	a.post("/routes/pause", "", 400, "")
}
