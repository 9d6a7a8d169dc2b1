package status_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

// answers are what scripts rely on: a change here breaks them.
var answers = map[string]string{
	"/api/v1/version": `{"version":"v1.2.3"}`,
	"/api/v1/links?limit=1": `{"links":[
		{"id":"l1","project":"p1","route":"web","state":"linked","where":"acme/web#12","origin":"github",
		 "issue":{"repository":"acme/web","number":12,"id":101,"updated_at":"2020-11-21T12:00:00Z"},
		 "card":{"id":"c1","cid":7,"bucket":"Incoming","version":3,"bucket_id":"b1"},
		 "created":"2020-11-21T12:00:00Z","synced":"2020-11-21T12:01:00Z"}],"more":true}`,
	"/api/v1/links?state=dormant": `{"links":[
		{"id":"l2","project":"p1","route":"gone","state":"dormant","where":"c2","origin":"planning",
		 "card":{"id":"c2","bucket":"Bugs","version":0,"bucket_id":"b2"},"why":"its route is no longer configured","created":"2020-11-21T12:00:00Z"}],"more":false}`,
	"/api/v1/links?route=nobody": `{"links":[],"more":false}`,
	"/api/v1/links/acme%2Fweb%2312": `{
		"link":{"id":"l1","project":"p1","project_name":"web","route":"web","state":"linked","where":"acme/web#12","origin":"github",
		 "issue":{"repository":"acme/web","number":12,"id":101,"updated_at":"2020-11-21T12:00:00Z"},
		 "card":{"id":"c1","cid":7,"bucket":"Incoming","version":3,"bucket_id":"b1"},
		 "created":"2020-11-21T12:00:00Z","synced":"2020-11-21T12:01:00Z"},
		"base":{"title":{"github":"Fix \u003cit\u003e","planning":"Fix \u003cit\u003e","version":2}},
		"pending":[{"side":"github","item":"issue:101","attribute":"title","from":"a","to":"b","at":"2020-11-21T12:00:00Z","answered":false}],
		"refused":{"estimate":{"side":"planning","words":"no such number","at":"2020-11-21T12:00:00Z"}},
		"asking":{"state":"k1"},
		"children":[{"kind":"tracking","state":"linked","task":"t1","base":{"state":{"github":"todo","planning":"todo","version":1}}},
		 {"kind":"sub_issue","state":"linked","issue":{"repository":"acme/web","number":13,"id":102,"updated_at":"2020-11-21T12:00:00Z"},"task":"t2",
		  "base":{"title":{"github":"Part","planning":"Part","version":3}}}],
		"history":[{"at":"2020-11-21T12:00:00Z","side":"planning","attribute":"title","what":"write","why":"changed on GitHub","delivery":"9:guid"}],
		"queue":{"key":"p1/l1","route":"web","where":"acme/web#12","state":"waiting","at":"2020-11-21T12:00:00Z","service":"github","waits_for":"service github","reason":"\u003cb\u003edown\u003c/b\u003e","attempts":2}}`,
	"/api/v1/queue?limit=3": `{"keys":[
		{"key":"p1/l1","route":"web","where":"acme/web#12","state":"waiting","at":"2020-11-21T12:00:00Z","service":"github","waits_for":"service github","reason":"\u003cb\u003edown\u003c/b\u003e","attempts":2},
		{"key":"p1/l3","route":"web","where":"acme/web#13","state":"later","at":"2020-11-21T12:00:00Z","reason":"it is late","attempts":0},
		{"key":"p1/l2","route":"gone","where":"c2","state":"worked","at":"2020-11-21T12:00:00Z","attempts":0,"worker":"host-1"}]}`,
	"/api/v1/failures": `{"failures":[
		{"key":"p1/l1","route":"web","where":"acme/web#12","reason":"rejected: \u003cb\u003eno\u003c/b\u003e","attempts":12,"at":"2020-11-21T12:00:00Z"},
		{"key":"p1/l2","route":"web","where":"c2","reason":"forbidden","attempts":1,"at":"2020-11-21T12:00:00Z"}]}`,
	"/api/v1/conflicts": `{"conflicts":[
		{"id":"k1","link":"l1","project":"p1","route":"web","where":"acme/web#12","attribute":"title",
		 "base":{"github":"a","planning":"a","version":1},"github":"\u003cscript\u003eg()\u003c/script\u003e","planning":"p",
		 "winner":"planning","rule":"policy planning","state":"settled","at":"2020-11-21T12:00:00Z","settled":"2020-11-21T12:00:00Z"}]}`,
	"/api/v1/burndown": `{"sprints":[
		{"project":"web","sprint":"s1","title":"Sprint \u003c1\u003e","active":true,"read":"2020-11-21T12:00:00Z","start":"2020-11-19T12:00:00Z",
		 "days":5,"original_hours":40,"remaining_hours":[38,30,12],"remaining_now_hours":12},
		{"project":"web","sprint":"s0","title":"Sprint 0","active":false,"read":"2020-11-21T12:00:00Z",
		 "days":0,"original_hours":8,"remaining_hours":[],"remaining_now_hours":8}]}`,
	"/api/v1/overview": `{"version":"v1.2.3",
		"projects":[{"name":"web","live":2,"bulk":1,"waiting":{"github":4},"failures":2,"oldest":"2020-11-21T12:00:00Z"}],
		"routes":[
		 {"name":"web","repository":"acme/web","project":"web","links":{"linked":1}},
		 {"name":"acme/api","repository":"acme/api","project":"web","links":{}},
		 {"name":"gone","links":{"dormant":1}}]}`,
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return b.String()
}

func TestAnswers(t *testing.T) {
	a := newAdmin(t)
	for path, want := range answers {
		resp := a.do("GET", path, "")
		got := a.text(resp, 200)
		if compact(t, got) != compact(t, want) {
			t.Errorf("%s answers\n%s\nwant\n%s", path, compact(t, got), compact(t, want))
		}
		if strings.Contains(got, nonce) {
			t.Errorf("%s tells a link's nonce", path)
		}
		if ct := resp.Header.Get("Content-Type"); ct != "application/json; charset=utf-8" {
			t.Errorf("%s is of the type %q", path, ct)
		}
	}
}

func TestLinkInTheMaking(t *testing.T) {
	a := newAdmin(t)
	var got status.LinkDetail
	if err := json.Unmarshal([]byte(a.text(a.do("GET", "/api/v1/links/c2", ""), 200)), &got); err != nil {
		t.Fatal(err)
	}
	if c := got.Creating; c == nil || c.Side != "github" || !c.Sent || c.Lookups != 2 || !c.At.Equal(noon) {
		t.Errorf("creating: %+v", got.Creating)
	}
	if got.Base == nil || got.Pending == nil || got.Children == nil {
		t.Errorf("empty parts are null: %+v", got)
	}
}

// The record of a link is shown where its next step is not known.
func TestLinkWithoutPreview(t *testing.T) {
	a := newAdmin(t)
	a.mem.blind = errors.New("decide about acme/web#12: connection refused")
	var got status.LinkDetail
	if err := json.Unmarshal([]byte(a.text(a.do("GET", "/api/v1/links/acme%2Fweb%2312", ""), 200)), &got); err != nil {
		t.Fatal(err)
	}
	if got.NowError != a.mem.blind.Error() || got.Now != nil || len(got.Base) == 0 || len(got.History) == 0 {
		t.Errorf("got %+v", got)
	}
}

func TestRefusals(t *testing.T) {
	a := newAdmin(t)
	for _, tt := range []struct {
		method, path, body string
		status             int
		words              string
	}{
		{"GET", "/nothing", "", 404, "not found"},
		{"GET", "/api/v1/nothing", "", 404, "not found"},
		{"GET", "/api/v1/links/acme%2Fweb%2399", "", 404, "link of acme/web#99: not found"},
		{"GET", "/api/v1/links/x", "", 400, `find "x": expected owner/name#number, a card's id or a link's id`},
		{"GET", "/api/v1/links?limit=0", "", 400, `limit "0" is no number from 1 to 1000000`},
		{"GET", "/api/v1/links?limit=many", "", 400, `limit "many" is no number from 1 to 1000000`},
		{"GET", "/api/v1/links?state=lost", "", 400, `state "lost" is none of [entering creating linked left orphaned dormant erased]`},
		{"GET", "/api/v1/conflicts?limit=10001", "", 400, `limit "10001" is no number from 1 to 10000`},
		{"GET", "/api/v1/failures/retry", "", 405, "method not allowed"},
		{"DELETE", "/api/v1/links", "", 405, "method not allowed"},
		{"POST", "/", "", 405, "method not allowed"},
		{"POST", "/api/v1/failures/retry", "", 400, `expected {"key": "…"}: a failure's key or where, a link's id, or "all"`},
		{"POST", "/api/v1/failures/retry", `{"key":""}`, 400, `expected {"key": "…"}: a failure's key or where, a link's id, or "all"`},
		{"POST", "/api/v1/failures/retry", `{"keys":"all"}`, 400, `expected {"key": "…"}: a failure's key or where, a link's id, or "all"`},
		{"POST", "/api/v1/failures/retry", `{"key":"` + strings.Repeat("x", 65<<10) + `"}`, 400, `expected {"key": "…"}: a failure's key or where, a link's id, or "all"`},
		{"POST", "/api/v1/failures/retry", `{"key":"p1/l9"}`, 404, "failure p1/l9: not found"},
		{"POST", "/api/v1/conflicts/k1/resolve", `{"winner":"me"}`, 400, `expected {"winner": "planning"} or {"winner": "github"}`},
		{"POST", "/api/v1/conflicts/k1/resolve", `{"winner":"github"}`, 409, "conflict k1 is settled: not possible"},
		{"POST", "/api/v1/conflicts/k9/undo", "", 404, "conflict k9: not found"},
		{"GET", "/api/v1/conflicts/k1/undo", "", 405, "method not allowed"},
		{"GET", "/api/v1/rebuild", "", 405, "method not allowed"},
	} {
		if got := a.refused(a.do(tt.method, tt.path, tt.body), tt.status); got != tt.words {
			t.Errorf("%s %s: %q, want %q", tt.method, tt.path, got, tt.words)
		}
	}
	if got := a.do("GET", "/api/v1/failures/retry", "").Header.Get("Allow"); got != "POST" {
		t.Errorf("405 allows %q", got)
	}
	if n := len(a.mem.failed); n != 2 {
		t.Errorf("%d failures are left of 2", n)
	}
}

// TestNumberOfLinkedAndOtherCards: the names to choose from are those of all cards with a number.
func TestNumberOfLinkedAndOtherCards(t *testing.T) {
	a := newAdmin(t)
	const lone = "c99 (a card of project web without an issue)"
	first, second := a.mem.links[0], a.mem.links[1]
	first.Card.CID = 99
	want := "#99 is ambiguous, name one of these: c1 (the partner of acme/web#12), " + lone
	if got := a.refused(a.do("GET", "/api/v1/links/%2399", ""), 400); got != want {
		t.Errorf("one is linked: %q, want %q", got, want)
	}
	second.Card.CID = 99
	want = "#99 is ambiguous, name one of these: c1, c2, " + lone
	if got := a.refused(a.do("GET", "/api/v1/links/%2399", ""), 400); got != want {
		t.Errorf("two are linked: %q, want %q", got, want)
	}
}

func TestRetry(t *testing.T) {
	a := newAdmin(t)
	for _, tt := range []struct {
		key        string
		want, left int
	}{{"acme/web#12", 1, 1}, {"all", 1, 0}, {"all", 0, 0}} {
		got := a.text(a.do("POST", "/api/v1/failures/retry", `{"key":"`+tt.key+`"}`, "Content-Type", "application/json"), 200)
		if got != fmt.Sprintf("{\"retried\":%d}\n", tt.want) || len(a.mem.failed) != tt.left {
			t.Errorf("retry %s answers %s, %d are left", tt.key, got, len(a.mem.failed))
		}
	}
}

func TestConflictActs(t *testing.T) {
	a := newAdmin(t)
	a.mem.conflicts = append(a.mem.conflicts, mapping.Conflict{ID: "k2", State: mapping.ConflictOpen})
	if got := a.text(a.do("POST", "/api/v1/conflicts/k2/resolve", `{"winner":"github"}`), 200); got != "{\"accepted\":\"k2\"}\n" {
		t.Errorf("resolve answers %s", got)
	}
	if got := a.text(a.do("POST", "/api/v1/conflicts/k1/undo", ""), 200); got != "{\"accepted\":\"k1\"}\n" {
		t.Errorf("undo answers %s", got)
	}
	for _, c := range a.mem.conflicts {
		want := map[string]string{"k1": mapping.ConflictUndone, "k2": mapping.ConflictAnswered}[c.ID]
		if c.State != want || c.ID == "k2" && c.Winner != mapping.GitHub {
			t.Errorf("conflict %s is %s for %q", c.ID, c.State, c.Winner)
		}
	}
}

func TestRebuild(t *testing.T) {
	a := newAdmin(t)
	if got := a.text(a.do("POST", "/api/v1/rebuild", ""), 200); got != "{\"accepted\":\"rebuild\"}\n" || a.mem.rebuilds != 1 {
		t.Errorf("rebuild answers %s after %d rebuilds", got, a.mem.rebuilds)
	}
}

func TestAccept(t *testing.T) {
	a := newAdmin(t)
	for kind, word := range map[string]string{"repository": "acme%2Fweb", "account": "acme%2Fweb"} {
		if got := a.text(a.do("POST", "/api/v1/accept/"+kind+"/"+word, ""), 200); got != "{\"accepted\":\"acme/web\"}\n" {
			t.Errorf("accept %s answers %s", kind, got)
		}
		a.refused(a.do("POST", "/api/v1/accept/"+kind+"/acme%2Fsame", ""), 409)
		a.refused(a.do("POST", "/api/v1/accept/"+kind+"/nobody", ""), 404)
	}
}

// A store that fails is an error wherever that can still be said.
func TestBrokenStore(t *testing.T) {
	a := newAdmin(t)
	a.mem.broken = errors.New("the store broke")
	for path := range answers {
		if path == "/api/v1/version" || strings.Contains(path, "route=nobody") {
			continue
		}
		if got := a.refused(a.do("GET", path, ""), 500); got != "the store broke" {
			t.Errorf("%s says %q", path, got)
		}
	}
	a.mem.breakAt = 1
	got := a.text(a.do("GET", "/api/v1/links", ""), 200)
	var list status.Links
	if err := json.Unmarshal([]byte(got), &list); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	if len(list.Links) != 1 || list.Error != "the store broke" {
		t.Errorf("a list that broke: %s", got)
	}
}

// A list is written as it is read: memory does not grow with it.
func TestLinksStream(t *testing.T) {
	const many = 3000
	a := newAdmin(t)
	for i := range many {
		a.mem.links = append(a.mem.links, &mapping.Link{ID: mapping.LinkID(fmt.Sprint(i)), Pair: mapping.Pair{State: mapping.Linked}})
	}
	w := &counting{header: http.Header{}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/v1/links?limit=5000", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	a.h.ServeHTTP(w, r)
	if w.writes < many || w.longest > 1000 {
		t.Errorf("%d writes, the longest of %d bytes", w.writes, w.longest)
	}
}

// counting measures what is written.
type counting struct {
	header          http.Header
	writes, longest int
}

func (c *counting) Header() http.Header { return c.header }
func (c *counting) WriteHeader(int)     {}
func (c *counting) Write(b []byte) (int, error) {
	c.writes, c.longest = c.writes+1, max(c.longest, len(b))
	return len(b), nil
}

// A visitor who leaves ends the reading.
func TestLinksGone(t *testing.T) {
	a := newAdmin(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/v1/links", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	w := &deaf{counting{header: http.Header{}}}
	a.h.ServeHTTP(w, r)
	if w.writes > 2 {
		t.Errorf("%d writes to somebody who left", w.writes)
	}
}

type deaf struct{ counting }

func (d *deaf) Write(b []byte) (int, error) {
	d.writes++
	return 0, errors.New("gone")
}

// TestActsNameTheirObject: the log has a route as route and an item as item, whichever way it was
// asked for.
func TestActsNameTheirObject(t *testing.T) {
	var log bytes.Buffer
	a := newAdmin(t, func(o *status.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	a.text(a.do("POST", "/api/v1/routes/web/pause", ""), 200)
	a.text(a.do("POST", "/routes/resume", "route=web", "Content-Type", "application/x-www-form-urlencoded"), 303)
	a.text(a.do("POST", "/api/v1/links/acme%2Fweb%2312/unlink", ""), 200)
	for _, want := range []string{`msg="route paused" route=web`, `msg="route resumed" route=web`, `msg="pair parted" item=acme/web#12`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log.String())
		}
	}
}
