package github

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
)

const serverDate = "Fri, 02 Jan 2026 03:04:05 GMT"

var serverNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func resetIn(d time.Duration) string { return strconv.FormatInt(serverNow.Add(d).Unix(), 10) }

// limitForms are the answers that GitHub limits with, and some that look so.
var limitForms = []struct {
	name    string
	status  int
	headers []string
	body    string
	after   time.Duration // 0: no limit
	primary bool
}{
	{
		"primary", 403,
		[]string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", resetIn(20 * time.Minute)},
		`{"message":"API rate limit exceeded for user ID 1."}`, 20 * time.Minute, true,
	},
	{
		"primary as 429", 429,
		[]string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", resetIn(20 * time.Minute)},
		``, 20 * time.Minute, true,
	},
	{
		"primary whose reset is past", 403,
		[]string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", resetIn(-time.Minute)},
		`{}`, time.Second, true,
	},
	{
		"primary with an absurd reset", 403,
		[]string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", resetIn(99 * time.Hour)},
		`{}`, time.Hour, true,
	},
	{
		"secondary with Retry-After", 403,
		[]string{"Retry-After", "17", "X-RateLimit-Remaining", "4000"},
		`{"message":"You have exceeded a secondary rate limit."}`, 17 * time.Second, false,
	},
	{"Retry-After goes before remaining 0", 403, []string{
		"Retry-After", "17", "X-RateLimit-Remaining", "0",
		"X-RateLimit-Reset", resetIn(time.Hour),
	}, `{}`, 17 * time.Second, false},
	{"Retry-After as a date", 429, []string{"Retry-After", "Fri, 02 Jan 2026 03:05:05 GMT"}, ``, time.Minute, false},
	{"Retry-After 0", 403, []string{"Retry-After", "0"}, ``, time.Second, false},
	{
		"secondary without any header", 403, nil,
		`{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, time.Minute, false,
	},
	{"secondary by its page", 403, nil, `{"message":"Slow down","documentation_url":
		"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`, time.Minute, false},
	{
		"secondary with a primary reset an hour off", 403,
		[]string{"X-RateLimit-Remaining", "4000", "X-RateLimit-Reset", resetIn(time.Hour)},
		`{"message":"You have exceeded a secondary rate limit."}`, time.Minute, false,
	},
	{"abuse", 403, nil, `{"message":"You have triggered an abuse detection mechanism."}`, time.Minute, false},
	{"429 plain", 429, nil, `Too many requests`, time.Minute, false},
	{"422 too quick", 422, nil, `{"message":"Validation Failed","errors":["was submitted too quickly"]}`, time.Minute, false},
	{"locked account", 403, nil, `{"message":"Maximum number of login attempts exceeded."}`, time.Minute, false},

	{"archived", 403, []string{"X-RateLimit-Remaining", "4000"}, `{"message":"Repository was archived so is read-only."}`, 0, false},
	{"422 that quotes people", 422, nil, `{"message":"Validation Failed","errors":[{"message":"rate limit is no label"}]}`, 0, false},
	{"404 with nothing left", 404, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", resetIn(time.Hour)}, ``, 0, false},
	{"200 with nothing left", 200, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", resetIn(time.Hour)}, ``, 0, false},
}

func TestEveryFormOfLimit(t *testing.T) {
	for _, tc := range limitForms {
		h := http.Header{"Date": {serverDate}}
		for i := 0; i < len(tc.headers); i += 2 {
			h.Set(tc.headers[i], tc.headers[i+1])
		}
		// Our clock is a day off; resets are of GitHub's.
		l, ok := readLimit(tc.status, h, []byte(tc.body), serverNow.Add(24*time.Hour))
		switch {
		case ok != (tc.after > 0):
			t.Errorf("%s: a limit: %v", tc.name, ok)
		case ok && (l.After != tc.after || l.primary != tc.primary || l.API != "github"):
			t.Errorf("%s: %+v (primary %v)", tc.name, *l.RateLimited, l.primary)
		}
	}
}

// TestLimitsComeThroughTheClient: each form is RateLimited and nothing else,
// and the next write is answered without asking GitHub.
func TestLimitsComeThroughTheClient(t *testing.T) {
	for _, tc := range limitForms {
		if tc.after == 0 {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			f := newFake(t)
			f.on("PATCH /", tc.status, tc.body, append(tc.headers, "Date", serverDate)...)
			f.on("GET /", 200, issueJSON(f.URL, "acme/web", 12, nil))
			c := f.client(t)
			edit := func() error {
				_, err := c.EditIssue(within(t), "acme/web", 12, IssueEdit{Title: new("t")})
				return err
			}
			wantKind(t, edit(), "limited")
			wantKind(t, edit(), "limited")
			if n := len(f.requests()); n != 1 {
				t.Errorf("GitHub was asked %d times", n)
			}
			_, err := c.Issue(within(t), "acme/web", 12)
			wantKind(t, err, "limited") // reads are requests too
			if n := len(f.requests()); n != 1 {
				t.Errorf("GitHub was asked %d times", n)
			}
			if c.Down() {
				t.Error("a limit opened the breaker")
			}
		})
	}
}

// TestExhaustedWindowRefusesNothing: go-github would refuse every call after
// an answer with remaining 0.
func TestExhaustedWindowRefusesNothing(t *testing.T) {
	f := newFake(t)
	reset := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
	f.on("/", 200, issueJSON(f.URL, "acme/web", 12, nil), "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset)
	c := f.client(t)
	for range 2 {
		if _, err := c.Issue(within(t), "acme/web", 12); err != nil {
			t.Error(err)
		}
	}
	if c.RateRemaining() != 0 {
		t.Errorf("remaining is %d", c.RateRemaining())
	}
}

// TestRateScarce: of an hour's requests a fifth may be spent at once, and two fifths more as the
// hour goes by.
func TestRateScarce(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, tt := range []struct {
		left    time.Duration
		spent   int
		limit   int
		want    bool
		because string
	}{
		{time.Hour, 999, 5000, false, "a fifth is not spent"},
		{time.Hour, 1001, 5000, true, "more than a fifth is spent"},
		{30 * time.Minute, 1999, 5000, false, "half the hour is over"},
		{30 * time.Minute, 2001, 5000, true, "more than two fifths are spent in half the hour"},
		{time.Second, 2990, 5000, false, "the hour is all but over"},
		{-time.Second, 5000, 5000, false, "the hour is over"},
		{2 * time.Hour, 1001, 5000, true, "the clocks differ"},
		{time.Hour, 4000, 0, false, "no limit was told"},
	} {
		a := &allowance{remaining: tt.limit - tt.spent, limit: tt.limit, reset: now.Add(tt.left)}
		if got := a.scarce(now); got != tt.want {
			t.Errorf("scarce is %v where %s", got, tt.because)
		}
	}
	if (*allowance)(nil).scarce(now) {
		t.Error("nothing was told, and that is scarce")
	}
}

// TestRateScarceAsToldByGitHub: the end of the hour is told by GitHub's clock, which may be off.
func TestRateScarceAsToldByGitHub(t *testing.T) {
	f, theirs := newFake(t), time.Now().Add(-20*time.Hour)
	f.on("/", 200, issueJSON(f.URL, "acme/web", 12, nil), "Date", theirs.UTC().Format(http.TimeFormat),
		"X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", "3000", "X-RateLimit-Reset", strconv.FormatInt(theirs.Add(59*time.Minute).Unix(), 10))
	c := f.client(t)
	if c.RateScarce() {
		t.Error("scarce before anything was told")
	}
	if _, err := c.Issue(within(t), "acme/web", 12); err != nil {
		t.Fatal(err)
	}
	if !c.RateScarce() {
		t.Error("not scarce: 2,000 are spent in the first minute")
	}
}

// bubble runs f in fake time with a client whose GitHub is answer.
func bubble(t *testing.T, answer func(*http.Request) (int, string, http.Header), with func(*Options), f func(c *Client)) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Token: "t", Timeout: time.Hour, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			status, body, h := answer(r)
			if h == nil {
				h = http.Header{}
			}
			resp := &http.Response{StatusCode: status, Header: h, Request: r}
			setBody(resp, []byte(body))
			return resp, nil
		})}
		if with != nil {
			with(&o)
		}
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		f(c)
	})
}

func limitedFor(t *testing.T, err error) time.Duration {
	t.Helper()
	var l *mapping.RateLimited
	if !errors.As(err, &l) {
		t.Fatalf("error is %v", err)
	}
	return l.After
}

func TestHeaderlessLimitsGrowAndAreForgotten(t *testing.T) {
	limited := true
	answer := func(*http.Request) (int, string, http.Header) {
		if limited {
			return 429, ``, nil
		}
		return 200, oneJSON, nil
	}
	bubble(t, answer, nil, func(c *Client) {
		edit := func() error {
			_, err := c.EditIssue(context.Background(), "a/b", 1, IssueEdit{})
			return err
		}
		for _, want := range []time.Duration{1, 2, 4, 8, 16, 16} {
			if got := limitedFor(t, edit()); got != want*time.Minute {
				t.Errorf("after %v, want %v minutes", got, want)
			}
			if got := limitedFor(t, edit()); got != want*time.Minute {
				t.Errorf("the gate says %v, want %v minutes", got, want)
			}
			pass(want * time.Minute)
		}
		limited = false
		if err := edit(); err != nil {
			t.Error(err)
		}
		limited = true
		if got := limitedFor(t, edit()); got != time.Minute {
			t.Errorf("after a success %v", got)
		}
	})
}

func TestReadsLimitWritesToo(t *testing.T) {
	asked := 0
	answer := func(*http.Request) (int, string, http.Header) {
		asked++
		return 403, `{"message":"secondary rate limit"}`, http.Header{"Retry-After": {"30"}}
	}
	bubble(t, answer, nil, func(c *Client) {
		_, err := c.Issue(context.Background(), "a/b", 1)
		limitedFor(t, err)
		pass(10 * time.Second)
		_, err = c.EditIssue(context.Background(), "a/b", 1, IssueEdit{})
		if got := limitedFor(t, err); got != 20*time.Second || asked != 1 {
			t.Errorf("write waits %v, asked %d times", got, asked)
		}
	})
}

func TestGraphQLLimitIsItsOwn(t *testing.T) {
	answer := func(r *http.Request) (int, string, http.Header) {
		if strings.HasSuffix(r.URL.Path, "/graphql") {
			return 200, `{"data":null,"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`, nil
		}
		return 200, oneJSON, nil
	}
	bubble(t, answer, nil, func(c *Client) {
		ctx := context.Background()
		for range 2 {
			_, err := c.UserContentEdits(ctx, "a/b", "I_1")
			if got := limitedFor(t, err); got != time.Minute {
				t.Errorf("after %v", got)
			}
		}
		if _, err := c.Issue(ctx, "a/b", 1); err != nil {
			t.Errorf("REST: %v", err)
		}
	})
}

func TestProbePassesThePrimaryLimit(t *testing.T) {
	answer := func(r *http.Request) (int, string, http.Header) {
		if r.URL.Path == "/rate_limit" {
			return 200, oneJSON, nil
		}
		reset := strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10)
		return 403, `{}`, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {reset}}
	}
	bubble(t, answer, nil, func(c *Client) {
		_, err := c.Issue(context.Background(), "a/b", 1)
		limitedFor(t, err)
		if err := c.Probe(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
