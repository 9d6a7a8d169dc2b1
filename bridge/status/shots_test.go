//go:build browser

package status_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// measure is a script that reports a page's visible faults in its title. It measures how far it
// reaches beyond the window, which texts have too little contrast, and which fields have no label.
const measure = `
"use strict";
(() => {
  const parse = (c) => (c.match(/[\d.]+/g) || []).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faint = new Set();
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || e.closest("svg, script, meter")) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.add(e.tagName + "." + e.className + " " + ratio.toFixed(1));
  }
  const named = (e) => e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length);
  const headings = [...document.querySelectorAll("h1, h2, h3, h4")].map((h) => Number(h.tagName[1]));
  const said = {
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    width: document.documentElement.clientWidth,
    over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    wide: [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, svg")).slice(0, 5).map((e) => e.tagName + "." + e.className),
    faint: [...faint],
    nameless: [...document.querySelectorAll("a, button, input:not([type=hidden]), svg[role=img], meter")].filter((e) => !named(e)).map((e) => e.outerHTML),
    jumps: headings.filter((h, i) => i > 0 && h > headings[i - 1] + 1).length + (headings[0] === 1 ? 0 : 1),
    styled: getComputedStyle(document.querySelector("header")).display === "flex",
    refreshed: document.getElementById("refreshed")?.textContent || "",
  };
  const note = document.createElement("output");
  note.id = "measured";
  note.hidden = true;
  note.textContent = JSON.stringify(said);
  top.document.body.append(note);
})();
`

// seen is what measure says.
type seen struct {
	Dark                  bool
	Width, Over, Jumps    int
	Wide, Faint, Nameless []string
	Styled                bool
	Refreshed             string
}

// browser is the page of a handler, for Chromium, with a script that measures it. At /frame it
// shows a page of a width: Chromium has no window below 500 pixels.
func browser(t *testing.T, h http.Handler) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/measure.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		io.WriteString(w, measure)
	})
	mux.HandleFunc("/frame", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><iframe src="%s" style="border:0;width:%spx;height:3600px"></iframe>`, html.EscapeString(r.FormValue("of")), r.FormValue("width"))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		body := rec.Body.Bytes()
		if strings.HasPrefix(rec.Header().Get("Content-Type"), "text/html") {
			body = bytes.Replace(body, []byte("</head>"), []byte(`<script src="/measure.js" defer></script></head>`), 1)
		}
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.Header().Set("Content-Security-Policy", strings.Replace(rec.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'", "frame-ancestors 'self'", 1))
		w.WriteHeader(rec.Code)
		w.Write(body)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// chromium runs the browser on a page and returns what it printed.
func chromium(t *testing.T, size string, dark bool, url string, more ...string) string {
	t.Helper()
	scheme := "1" // of the setting preferredColorScheme: light
	if dark {
		scheme = "0"
	}
	args := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--hide-scrollbars", "--disable-dev-shm-usage", "--user-data-dir=" + t.TempDir(), "--window-size=" + size, "--blink-settings=preferredColorScheme=" + scheme,
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chromium", append(append(args, more...), url)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, stderr.String())
	}
	return string(out)
}

// look has the page measured.
func look(t *testing.T, size string, dark bool, url string, more ...string) (seen, string) {
	t.Helper()
	dom := chromium(t, size, dark, url, append(more, "--dump-dom")...)
	found := regexp.MustCompile(`<output id="measured" hidden="">(.*)</output>`).FindStringSubmatch(dom)
	if found == nil {
		t.Fatalf("%s was not measured:\n%.2000s", url, dom)
	}
	var s seen
	if err := json.Unmarshal([]byte(html.UnescapeString(found[1])), &s); err != nil {
		t.Fatal(err)
	}
	return s, dom
}

// TestPagesInABrowser has Chromium show the pages, wide and narrow, light and dark, with few routes
// and with many. It checks for visible faults. PLANBRIDGE_SHOTS names the folder that the pictures
// go to.
func TestPagesInABrowser(t *testing.T) {
	folder := os.Getenv("PLANBRIDGE_SHOTS")
	if folder == "" {
		folder = t.TempDir()
	}
	for _, world := range []struct {
		name string
		fill func(*memory)
		o    func(*status.Options)
	}{
		{"calm", calm, func(o *status.Options) { o.Monitor = calmWatcher() }},
		{"one", func(m *memory) { busy(m, 1) }, nil},
		{"many", func(m *memory) { busy(m, 200) }, nil},
	} {
		a := newAdmin(t, func(o *status.Options) {
			if world.o != nil {
				world.o(o)
			}
		})
		world.fill(a.mem)
		s := browser(t, a.h)
		for page, path := range map[string]string{"status": "/", "explain": "/explain?item=acme/web%2312", "waiting": "/waiting", "failures": "/failures", "questions": "/questions", "search": "/search?q=fix"} {
			if world.name != "many" && page != "status" {
				continue
			}
			for _, size := range []string{"1280,2600", "390,3600"} {
				for _, dark := range []bool{false, true} {
					name := fmt.Sprintf("%s-%s-%s", world.name, page, strings.Split(size, ",")[0])
					if dark {
						name += "-dark"
					}
					t.Run(name, func(t *testing.T) {
						width, _, _ := strings.Cut(size, ",")
						got, _ := look(t, size, dark, s.URL+"/frame?"+url.Values{"of": {path}, "width": {width}}.Encode())
						if fmt.Sprint(got.Width) != width {
							t.Errorf("it was measured at a width of %d", got.Width)
						}
						if got.Over > 0 || len(got.Wide) > 0 {
							t.Errorf("it reaches %d pixels beyond the window: %q", got.Over, got.Wide)
						}
						if len(got.Faint) > 0 || len(got.Nameless) > 0 || got.Jumps > 0 || !got.Styled || got.Dark != dark {
							t.Errorf("%+v", got)
						}
						chromium(t, size, dark, s.URL+path, "--screenshot="+filepath.Join(folder, name+".png"))
					})
				}
			}
		}
	}
}

// The page takes over what is new without being loaded again.
func TestPageRefreshesItself(t *testing.T) {
	a := newAdmin(t)
	busy(a.mem, 1)
	h := a.h
	var asked atomic.Int64
	s := browser(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && asked.Add(1) == 2 {
			a.mem.failed = a.mem.failed[:1]
			a.mem.failed[0].Reason = "it is new"
		}
		h.ServeHTTP(w, r)
	}))
	_, dom := look(t, "1280,900", false, s.URL, "--virtual-time-budget=25000")
	if n := asked.Load(); n < 2 {
		t.Errorf("the page was asked for %d times", n)
	}
	if !strings.Contains(dom, "it is new") || strings.Contains(dom, "could not be refreshed") {
		t.Errorf("the new failure is not on the page:\n%.3000s", dom)
	}
	if n := strings.Count(dom, `id="failures"`); n != 1 {
		t.Errorf("the part of the failures is there %d times", n)
	}
}

// calm is a memory of which nobody has to see to anything.
func calm(m *memory) {
	m.failed, m.waits, m.conflicts = nil, nil, nil
	m.links = m.links[:1]
	m.queues = map[string]store.Depth{"web": {Live: 1, Oldest: noon}}
}

func calmWatcher() *watcher {
	w := watched()
	for i := range w.health.Services {
		s := &w.health.Services[i]
		s.State, s.Error = status.ServiceUp, ""
		for j := range s.Sources {
			s.Sources[j].At = noon
		}
	}
	return w
}

// busy is a memory with so many routes and a bit of everything.
func busy(m *memory, routes int) {
	long := strings.Repeat("A very long title that somebody pasted without thinking ", 6) + strings.Repeat("x", 300)
	text := "# Steps\n\n1. Open the login page\n2. Type a name\n3. See <b>what</b> happens\n\n" + strings.Repeat("It worked in the last release, and nobody changed the form since. ", 12) + "\n\n"
	m.routes, m.links = nil, nil
	for i := range routes {
		name, repo := "web", "acme/web"
		if i > 0 {
			name, repo = fmt.Sprintf("team-%d-service", i), fmt.Sprintf("acme/a-rather-long-name-of-a-repository-%d", i)
		}
		m.routes = append(m.routes, &mapping.Route{Name: name, Repositories: []string{repo}, Project: "p1", ProjectName: "web"})
		for j := range 3 {
			l := &mapping.Link{
				ID: mapping.LinkID(fmt.Sprintf("l%d-%d", i, j)), Project: "p1", Route: name, Pair: mapping.Pair{
					State: mapping.Linked, Origin: mapping.GitHub,
					Issue: mapping.IssueID{ID: int64(1000*i + j), Repo: repo, Number: 12 + j}, Card: mapping.CardID{ID: mapping.ObjectID(fmt.Sprintf("c%d-%d", i, j)), CID: int64(100*i + j), BucketName: "Incoming"},
					Base: map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "Fix the login page", Planning: "Fix the sign-in page", Version: 2}, mapping.Summary: {GitHub: text + "ok", Planning: text + "not ok", Version: 7}}, Dates: mapping.Dates{Created: noon, Synced: noon},
				},
			}
			if j == 2 && i%40 == 3 {
				l.State, l.Why = mapping.Orphaned, "its card is gone"
			}
			m.links = append(m.links, l)
		}
	}
	m.links[0].Base[mapping.Title] = mapping.Base{GitHub: long, Planning: "Fix the sign-in page", Version: 2}
	m.failed, m.waits, m.conflicts = nil, nil, nil
	for i := range 3 * routes {
		key := store.Key{Project: "p1", Link: m.links[i%len(m.links)].ID}
		where, route := fmt.Sprintf("acme/web#%d", 12+i), m.routes[i%min(routes, 9)].Name
		m.failed = append(m.failed, store.Failure{
			Key: key, Route: route, Where: where, Attempts: 12, At: noon.Add(-time.Duration(i) * time.Minute),
			Reason: []string{"github: edit issue " + where + ": rejected: answer 422: body is too long (maximum is 65536 characters)", "planning: update card c" + fmt.Sprint(i) + ": forbidden", "reconcile " + where + ": " + long}[i%3],
		})
		m.waits = append(m.waits, store.Standing{
			Key: key, Route: route, Where: where, State: []store.KeyState{store.KeyWaiting, store.KeyLater, store.KeyLater}[i%3], At: noon.Add(time.Duration(i) * time.Minute),
			Service: []string{"github", "", ""}[i%3], Reason: []string{"github: unavailable: dial tcp 192.0.2.1:443: connect: connection refused", "put off 3 times since 2020-11-21T11:50:00Z: GitHub's list lags", "the route's brake: 300 creates a minute"}[i%3],
		})
	}
	for i, c := range []mapping.Conflict{
		{Attribute: mapping.Title, GitHub: "Fix the login page <script>alert(1)</script>", Planning: "Fix the sign-in page", State: mapping.ConflictOpen},
		{Attribute: mapping.Summary, GitHub: text + "The button is green.\n", Planning: text + "The button is blue, and it is " + strings.Repeat("very ", 20) + "large.\n", State: mapping.ConflictOpen},
		{Attribute: mapping.Estimate, GitHub: "5", Planning: "", State: mapping.ConflictOpen},
		{Attribute: mapping.Title, GitHub: long, Planning: "Short", State: mapping.ConflictSettled, Winner: mapping.Planning, Rule: "policy planning"},
	} {
		c.ID, c.Link, c.Project, c.Route, c.Where, c.At = fmt.Sprintf("k%d", i), m.links[0].ID, "p1", "web", fmt.Sprintf("acme/web#%d", 12+i), noon.Add(-time.Hour)
		m.conflicts = append(m.conflicts, c)
	}
	m.history = append(m.history, mapping.Entry{At: noon, Side: mapping.Planning, Attribute: mapping.Summary, What: "write", Why: "changed on GitHub", Who: "octocat", Took: 0.3})
	m.queues["a-project-with-a-long-name-of-its-own"] = store.Depth{Live: 12000, Bulk: 90000, Failures: 7}
}
