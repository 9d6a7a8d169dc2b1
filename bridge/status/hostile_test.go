package status_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// hostile puts one text wherever people, services or the configuration may put one.
func (a *admin) hostile(text string) {
	m := a.mem
	key := store.Key{Project: "p1", Link: "l1"}
	m.routes = []*mapping.Route{{Name: text, Repositories: []string{text}, Project: "p1", ProjectName: text}}
	l := m.links[0]
	l.Route, l.Why, l.Card.BucketName = text, text, text
	l.Base = map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: text, Planning: text + "!"}, mapping.Summary: {GitHub: text, Planning: "p"}}
	l.Children[0].Item = text
	m.failed = []store.Failure{{Key: key, Route: text, Where: text, Reason: text, At: noon}}
	m.waits = []store.Standing{{Key: key, Route: text, Where: text, State: store.KeyWaiting, Service: text, Reason: text, At: noon}}
	m.conflicts = []mapping.Conflict{
		{ID: text, Link: "l1", Route: text, Where: text, Attribute: mapping.Title, GitHub: text, Planning: text + "?", State: mapping.ConflictOpen, At: noon},
		{ID: "k2", Link: "l1", Route: text, Where: text, Attribute: mapping.Summary, GitHub: "g", Planning: text, State: mapping.ConflictSettled, Winner: mapping.GitHub, Rule: text, At: noon},
	}
	m.history = []mapping.Entry{{At: noon, What: text, Why: text, Who: text}}
	m.charts = map[string][]mapping.Burndown{text: {{Sprint: "s1", Title: text, Active: true, Start: noon, Days: 5, Original: 3}}}
	m.queues = map[string]store.Depth{text: {Live: 1, Waiting: map[string]int{text: 2}}}
	a.o.Monitor.(*watcher).health.Services[0].Name, a.o.Monitor.(*watcher).health.Services[1].Error = text, text
	a.o.Monitor.(*watcher).recent = []status.Activity{{At: noon, Who: text, Where: text, Link: text, Side: "planning", Attribute: text, What: "write", Took: 1}, {At: noon, Where: text, What: text}}
}

// No word of an issue, a card or a service breaks out of the text of a page.
func TestHostileTexts(t *testing.T) {
	plain := newAdmin(t)
	plain.hostile("harmless")
	for _, text := range []string{
		`</title></textarea></pre></svg><script src="//evil.example/x.js"></script>`,
		`"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, "`${alert(1)}`", `{{.Version}}`,
		`javascript:alert(1)`, `<!--`, `<svg/onload=alert(1)>`, "\x00\u202e\ufeff", `<form action="https://evil.example/">`,
	} {
		a := newAdmin(t)
		a.hostile(text)
		for _, path := range []string{"/", "/explain?item=acme/web%2312", "/waiting", "/failures", "/questions", "/search?q=12", "/search?q=" + url.QueryEscape(text), "/explain?item=" + url.QueryEscape(text)} {
			resp := a.do("GET", path, "")
			page := a.text(resp, resp.StatusCode)
			if resp.StatusCode >= 500 {
				t.Errorf("%s with %q: %d", path, text, resp.StatusCode)
			}
			checkMarkup(t, path, text, page)
		}
		if got, want := tags(t, a.text(a.do("GET", "/", ""), 200)), tags(t, plain.text(plain.do("GET", "/", ""), 200)); !slices.Equal(got, want) {
			t.Errorf("%q changes the elements of the page: %d in place of %d", text, len(got), len(want))
		}
	}
}

// checkMarkup wants no markup in a page that its templates do not have.
func checkMarkup(t *testing.T, path, text, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.CommentNode || n.Type == html.ElementNode && slices.Contains([]string{"img", "iframe", "object", "embed", "style", "base"}, n.Data) {
			t.Errorf("%s with %q has a %q", path, text, n.Data)
		}
		for _, attr := range n.Attr {
			switch {
			case strings.HasPrefix(attr.Key, "on"), attr.Key == "style":
				t.Errorf("%s with %q has the attribute %s", path, text, attr.Key)
			case slices.Contains([]string{"href", "src", "action"}, attr.Key) && !strings.HasPrefix(attr.Val, "/") && !strings.HasPrefix(attr.Val, "#") && !strings.HasPrefix(attr.Val, "https://github.example/"),
				strings.HasPrefix(attr.Val, "//"):
				t.Errorf("%s with %q leads to %q", path, text, attr.Val)
			}
		}
	}
}

// tags lists the elements of a page in order.
func tags(t *testing.T, page string) (list []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			list = append(list, n.Data)
		}
	}
	return list
}

// The page of an item says first, in one line, what is with it.
func TestHeadline(t *testing.T) {
	for name, tt := range map[string]struct {
		item string
		edit func(m *memory)
		want string
	}{
		"parked": {"acme/web#12", func(m *memory) {
			m.waits[0].State, m.waits[0].Reason = store.KeyParked, "rejected"
		}, "It was given up 1 min ago after 2 attempts, and waits for a retry or a new change: rejected"},
		"paused":  {"acme/web#12", func(m *memory) { m.paused = map[string]time.Time{"web": noon} }, "Its route is paused: changes are taken and wait until somebody resumes it."},
		"dormant": {"c2", nil, "It is not synchronised (dormant): its route is no longer configured"},
		"asking":  {"acme/web#12", nil, "Both sides changed the state, and somebody has to choose."},
		"waits":   {"acme/web#12", func(m *memory) { m.links[0].Asking = nil }, "It has been waiting for service github for 1 min: <b>down</b>"},
		"refused": {"acme/web#12", func(m *memory) { m.links[0].Asking, m.waits = nil, nil }, "Planning does not take the estimate: no such number"},
		"agreed":  {"acme/web#12", func(m *memory) { m.links[0].Asking, m.links[0].Refused, m.waits = nil, nil, nil }, "Both sides agree; that was last confirmed now."},
		"outside": {"acme/web#77", nil, "It is not synchronised: " + mapping.WhyQuarantine},
		"address": {"https://github.com/acme/web/issues/12", nil, "Both sides changed the state, and somebody has to choose."},
		"a part":  {"acme/web#13", nil, "It is a sub-issue of acme/web#12, and a task of its card. Both sides changed the state, and somebody has to choose."},
		"a part that is asked about": {
			"acme/web#13", func(m *memory) { m.links[0].SubLinks[0].Asking = map[mapping.Attribute]string{mapping.Title: "k"} },
			"It is a sub-issue of acme/web#12, and a task of its card. Both sides changed the title, and somebody has to choose.",
		},
		"a part that is gone": {"acme/web#13", func(m *memory) {
			m.links[0].SubLinks[0].State, m.links[0].SubLinks[0].Why = mapping.Orphaned, "its task is gone"
		}, "It is a sub-issue of acme/web#12, and a task of its card. It is not synchronised (orphaned): its task is gone"},
		"asked about a part": {"acme/web#12", func(m *memory) {
			m.links[0].Asking, m.links[0].SubLinks[0].Asking = nil, map[mapping.Attribute]string{mapping.Title: "k"}
		}, "Both sides changed the title of acme/web#13, and somebody has to choose."},
		"erased while paused": {"acme/web#12", func(m *memory) {
			m.paused, m.waits, m.links[0].State, m.links[0].Why = map[string]time.Time{"web": noon}, nil, mapping.Erased, "an operator erased it"
		}, "It is not synchronised (erased): an operator erased it"},
		"nothing": {"acme/web#99", nil, "Nothing is known of it: link of acme/web#99: not found"},
	} {
		a := newAdmin(t)
		if tt.edit != nil {
			tt.edit(a.mem)
		}
		resp := a.do("GET", "/explain?item="+url.QueryEscape(tt.item), "")
		page := a.text(resp, resp.StatusCode)
		if wanted := map[bool]int{true: 404, false: 200}[name == "nothing"]; resp.StatusCode != wanted {
			t.Errorf("%s: status %d", name, resp.StatusCode)
		}
		if text := a.shown(page, "main"); !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q is not in %s", name, tt.want, text)
		}
	}
}

func TestSearch(t *testing.T) {
	a := newAdmin(t)
	for query, leads := range map[string]string{
		"acme/web#12": "/explain?item=acme%2Fweb%2312", "https://github.com/acme/web/issues/12": "/explain?item=acme%2Fweb%2312", "acme/web#77": "/explain?item=acme%2Fweb%2377", " ": "/",
	} {
		resp := a.do("GET", "/search?q="+url.QueryEscape(query), "")
		if got := resp.Header.Get("Location"); resp.StatusCode != 303 || got != leads {
			t.Errorf("%q: %d, leads to %q", query, resp.StatusCode, got)
		}
	}
	for _, item := range []string{"7", "#7", "#99"} {
		if resp := a.do("GET", "/explain?item="+url.QueryEscape(item), ""); resp.StatusCode != 200 {
			t.Errorf("explain %s: %d", item, resp.StatusCode)
		}
	}
	for query, want := range map[string]string{
		"7": "1 pair with “7”", "#99": "0 pairs",
		"FIX <IT>": "1 pair with “FIX <IT>”", "#7": "1 pair with “#7”", "part": "acme/web#13 Part", "acme/api": "Routes: acme/api", "no such words": "0 pairs",
	} {
		a.wants(a.text(a.do("GET", "/search?q="+url.QueryEscape(query), ""), 200), "main", want)
	}
}
