package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// pages serves a listing of 5 issues, 2 a page, by Link headers of a style.
func pages(f *fake, link func(page int) string) {
	f.mux.HandleFunc("GET /repos/acme/web/issues", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		page := 1
		for _, name := range []string{"page", "after"} {
			if n, err := strconv.Atoi(q.Get(name)); err == nil {
				page = n
			}
		}
		var list []string
		for n := 2*page - 1; n <= min(2*page, 5); n++ {
			fields := map[string]any{}
			if n == 2 {
				fields["pull_request"] = map[string]any{"url": "x"}
			}
			list = append(list, issueJSON(f.URL, "acme/web", n, fields))
		}
		tag := fmt.Sprintf(`"p%d"`, page)
		w.Header().Set("ETag", tag)
		w.Header().Set("Date", serverDate)
		if page < 3 {
			w.Header().Set("Link", link(page+1))
		}
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(304)
			return
		}
		write(w, 200, "["+strings.Join(list, ",")+"]")
	})
}

func TestListingFollowsTheLinkHeader(t *testing.T) {
	for name, style := range map[string]string{
		"page":   `<%s/repos/acme/web/issues?labels=a,b&page=1>; rel="prev", <%s/repos/acme/web/issues?labels=a,b&page=%d>; rel="next"`,
		"cursor": `<%s/x>; rel="first", <%s/repos/acme/web/issues?after=%d&page=>; rel="next"`,
	} {
		f := newFake(t)
		pages(f, func(n int) string { return fmt.Sprintf(style, f.URL, f.URL, n) })
		c := f.client(t)
		for round := range 2 {
			var numbers []int
			got, err := c.ListIssues(within(t), "acme/web", ListOptions{Labels: []string{"a", "b"}},
				func(page []mapping.Issue, date time.Time) error {
					for _, i := range page {
						numbers = append(numbers, i.Number)
					}
					if !date.Equal(serverNow) {
						t.Errorf("%s: date is %v", name, date)
					}
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
			// The second round's first page is a 304, and yet the later pages
			// may have news.
			equal(t, numbers, []int{1, 3, 4, 5})
			equal(t, got, Listing{Issues: 4, PullRequests: 1})
			if rs := f.requests(); (rs[len(rs)-3].inm != "") != (round == 1) || rs[len(rs)-2].inm != "" {
				t.Errorf("%s round %d: requests %+v", name, round, rs)
			}
		}
	}
}

func TestListingAsksInOrder(t *testing.T) {
	f := newFake(t)
	f.on("/", 200, `[]`)
	_, err := f.client(t).ListIssues(within(t), "acme/web", ListOptions{
		Since: serverNow.In(time.FixedZone("", 3600)), State: "open", Creator: "bridge[bot]", PerPage: 7,
	}, ignorePage)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, f.requests()[0].query,
		"creator=bridge%5Bbot%5D&direction=asc&per_page=7&since=2026-01-02T03%3A04%3A05Z&sort=updated&state=open")
}

// A listing since a watermark goes by updates, whatever was listed before: its
// first page says how far the watermark may go. Only a whole one does not shift
// while issues are edited.
func TestOrderOfAListing(t *testing.T) {
	for _, tc := range []struct {
		o    ListOptions
		sort string
	}{
		{ListOptions{}, "updated"},
		{ListOptions{Since: serverNow}, "updated"},
		{ListOptions{Since: serverNow, Unconditional: true}, "updated"},
		{ListOptions{Unconditional: true}, "created"},
	} {
		if q := tc.o.query(); q.Get("sort") != tc.sort || q.Get("direction") != "asc" {
			t.Errorf("%+v: %s", tc.o, q.Encode())
		}
	}
}

func TestIdleRepositoryCostsOne304(t *testing.T) {
	f := newFake(t)
	f.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"1"` {
			write(w, 304, ``, "ETag", `"1"`)
			return
		}
		write(w, 200, "["+issueJSON(f.URL, "acme/web", 1, nil)+"]", "ETag", `"1"`)
	})
	c := f.client(t)
	handed := 0
	count := func(page []mapping.Issue, _ time.Time) error { handed += len(page); return nil }
	list := func(o ListOptions, fn func([]mapping.Issue, time.Time) error) Listing {
		got, err := c.ListIssues(within(t), "acme/web", o, fn)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		return got
	}
	// A page that could not be stored is not taken for known afterwards.
	list(ListOptions{}, func([]mapping.Issue, time.Time) error { return context.Canceled })
	equal(t, list(ListOptions{}, count), Listing{Issues: 1})
	equal(t, list(ListOptions{}, count), Listing{NotModified: true})
	equal(t, list(ListOptions{Unconditional: true}, count), Listing{Issues: 1})
	equal(t, handed, 2)
	equal(t, len(f.requests()), 4)
}

func TestListingErrorsOfTheCallerComeBackAsTheyAre(t *testing.T) {
	f := newFake(t)
	f.on("/", 200, `[]`)
	_, err := f.client(t).ListIssues(within(t), "acme/web", ListOptions{},
		func([]mapping.Issue, time.Time) error { return context.Canceled })
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "github") {
		t.Errorf("error is %v", err)
	}
}

func TestNextLinkThatGoesNowhere(t *testing.T) {
	f := newFake(t)
	f.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		write(w, 200, `[]`, "Link", "<"+f.URL+r.URL.String()+`>; rel="next"`)
	})
	_, err := f.client(t).ListIssues(within(t), "acme/web", ListOptions{}, ignorePage)
	wantKind(t, err, "unavailable")
}

func TestNextLink(t *testing.T) {
	for want, headers := range map[string][]string{
		"":        {``, `garbage`, `<unclosed; rel="next"`, `<a>; rel="last"`},
		"b":       {`<a>; rel="prev", <b>; rel="next", <c>; rel="last"`},
		"b?x=1,2": {`<a?x=1,2>; rel="prev", <b?x=1,2>; rel="next"`},
		"c":       {`<a>; rel="prev"`, `<c>; title="x"; rel=next`},
	} {
		if got := nextLink(headers); got != want {
			t.Errorf("nextLink(%q) = %q, want %q", headers, got, want)
		}
	}
}
