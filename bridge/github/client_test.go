package github

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]Options{
		"neither":  {},
		"both":     {Token: "t", App: &App{ID: 1}},
		"bad URL":  {Token: "t", APIURL: "ghe.example.com"},
		"bad URL2": {Token: "t", APIURL: "http://[::1"},
		"bad key":  {App: &App{ID: 1, PrivateKey: []byte("no key")}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestGraphQLURL(t *testing.T) {
	for api, want := range map[string]string{
		"":                                "https://api.github.com/graphql",
		"https://api.github.com/":         "https://api.github.com/graphql",
		"https://ghe.example.com/api/v3":  "https://ghe.example.com/api/graphql",
		"https://ghe.example.com/api/v3/": "https://ghe.example.com/api/graphql",
		"https://api.acme.ghe.com":        "https://api.acme.ghe.com/graphql",
		"http://127.0.0.1:8080":           "http://127.0.0.1:8080/graphql",
	} {
		c, err := New(Options{APIURL: api, Token: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if c.graphql != want {
			t.Errorf("%q: %s, want %s", api, c.graphql, want)
		}
	}
}

// TestEnterprisePrefix: /api/v3 is neither lost nor doubled.
func TestEnterprisePrefix(t *testing.T) {
	f := newFake(t)
	f.on("/api/v3/repos/acme/web", 200, `{"id":1,"full_name":"acme/web"}`)
	c := f.client(t, func(o *Options) { o.APIURL += "/api/v3" })
	if _, err := c.Repository(within(t), "acme/web"); err != nil {
		t.Error(err)
	}
	equal(t, f.requests()[0].path, "/api/v3/repos/acme/web")
}

func value(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var d dto.Metric
	if err := m.Write(&d); err != nil {
		t.Fatal(err)
	}
	return d.GetCounter().GetValue() + d.GetGauge().GetValue()
}

func timed(t *testing.T, v *prometheus.HistogramVec, operation string) uint64 {
	t.Helper()
	var d dto.Metric
	if err := v.WithLabelValues("github", operation).(prometheus.Metric).Write(&d); err != nil {
		t.Fatal(err)
	}
	return d.GetHistogram().GetSampleCount()
}

func TestMetrics(t *testing.T) {
	v := newVersioned(t)
	v.on("/repos/acme/gone/", 404, `{}`, "X-RateLimit-Remaining", "7", "X-RateLimit-Resource", "search")
	v.on("/repos/acme/left", 200, `{}`, "X-RateLimit-Remaining", "4321", "X-RateLimit-Resource", "core")
	m := &Metrics{
		Requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_total"}, []string{"api", "operation", "code"}),
		Duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "seconds"}, []string{"api", "operation"}),
	}
	c := v.client(t, func(o *Options) { o.Metrics = m })
	equal(t, c.RateRemaining(), -1)
	v.title(t, c, 12)
	v.title(t, c, 12)
	_, _ = c.Issue(within(t), "acme/gone", 1) // its count is looked at
	if _, err := c.Repository(within(t), "acme/left"); err != nil {
		t.Error(err)
	}
	for code, want := range map[string]float64{"200": 1, "304": 1, "404": 1, "error": 0} {
		if got := value(t, m.Requests.WithLabelValues("github", "read_issue", code)); got != want {
			t.Errorf("code %s counted %v times", code, got)
		}
	}
	equal(t, timed(t, m.Duration, "read_issue"), uint64(3))
	equal(t, c.RateRemaining(), 4321)
}

func TestFailedRequestsAreCounted(t *testing.T) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "n"}, []string{"api", "operation", "code"})
	c := newFake(t).client(t, func(o *Options) {
		o.Metrics = &Metrics{Requests: requests}
		o.Transport = roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("boom") })
	})
	_, err := c.Issue(within(t), "a/b", 1)
	wantKind(t, err, "unavailable")
	equal(t, value(t, requests.WithLabelValues("github", "read_issue", "error")), 1.0)
}

func TestBreaker(t *testing.T) {
	status, asked := 502, 0
	answer := func(r *http.Request) (int, string, http.Header) {
		asked++
		if status == 200 {
			return okIssue(r)
		}
		return status, ``, nil
	}
	bubble(t, answer, func(o *Options) { o.Recovery = 10 * time.Second }, func(c *Client) {
		ctx := context.Background()
		for range breakerTrips {
			if c.Down() {
				t.Error("down too early")
			}
			_, err := c.Issue(ctx, "a/b", 1)
			wantKind(t, err, "unavailable")
		}
		if !c.Down() {
			t.Fatal("not down")
		}
		asked = 0
		_, err := c.EditIssue(ctx, "a/b", 1, IssueEdit{})
		wantKind(t, err, "unavailable") // certainly not sent
		wantKind(t, c.Probe(ctx), "unavailable")
		_, err = c.Issue(ctx, "a/b", 1)
		wantKind(t, err, "unavailable")
		equal(t, asked, 0)

		pass(11 * time.Second)
		wantKind(t, c.Probe(ctx), "unavailable") // goes out, fails
		equal(t, asked, 1)
		status = 200
		pass(11 * time.Second)
		if !c.Down() {
			t.Error("up before any success")
		}
		if err := c.Probe(ctx); err != nil || c.Down() {
			t.Errorf("probe %v, down %v", err, c.Down())
		}
		if _, err := c.Issue(ctx, "a/b", 1); err != nil {
			t.Error(err)
		}
	})
}

func TestRefusalsAndOwnCancelsDoNotOpenTheBreaker(t *testing.T) {
	for _, status := range []int{301, 401, 403, 404, 410, 422} {
		bubble(t, func(*http.Request) (int, string, http.Header) { return status, ``, nil }, nil, func(c *Client) {
			for range 2 * breakerTrips {
				_, err := c.Issue(context.Background(), "a/b", 1)
				if err == nil || c.Down() {
					t.Fatalf("%d: error %v, down %v", status, err, c.Down())
				}
			}
		})
	}
	f := newFake(t)
	arrived := make(chan struct{})
	f.mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	c := f.client(t)
	for range 2 * breakerTrips {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-arrived
			cancel()
		}()
		_, err := c.Issue(ctx, "a/b", 1)
		wantKind(t, err, "unavailable")
	}
	if c.Down() {
		t.Error("our own cancels opened the breaker")
	}
}

// The failure of an optional operation, as on a GitHub that only takes issues, proves nothing about
// the service.
func TestWhatIsAsideDoesNotOpenTheBreaker(t *testing.T) {
	for _, status := range []int{500, 501, 503} {
		answer := func(r *http.Request) (int, string, http.Header) {
			if r.URL.Path == "/repos/a/b/issues/1" {
				return okIssue(r)
			}
			return status, ``, nil
		}
		bubble(t, answer, nil, func(c *Client) {
			ctx := context.Background()
			for range 2 * breakerTrips {
				_, parent := c.Parent(ctx, "a/b", 1)
				_, subs := c.SubIssues(ctx, "a/b", 1)
				kind := map[bool]string{true: "rejected", false: "unavailable"}[status == 501]
				wantKind(t, parent, kind)
				wantKind(t, subs, kind)
			}
			if _, err := c.Issue(ctx, "a/b", 1); err != nil || c.Down() {
				t.Errorf("%d: error %v, down %v", status, err, c.Down())
			}
		})
	}
}

func TestAnswerWithoutEndIsBounded(t *testing.T) {
	resp := &http.Response{Body: endless{}}
	if err := buffer(resp); err == nil {
		t.Error("an endless answer was accepted")
	}
	if n := len(bodyOf(resp)); n > maxAnswer+1 {
		t.Errorf("%d bytes were read", n)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
func (endless) Close() error               { return nil }

// TestProbeWhereTheLimitsNeverAnswer: a GitHub that is back is known to be, though
// it answers for ever that /rate_limit is broken, or not at all.
func TestProbeWhereTheLimitsNeverAnswer(t *testing.T) {
	for _, status := range []int{403, 404, 500, 501, 503} {
		var down atomic.Bool
		answer := func(r *http.Request) (int, string, http.Header) {
			switch {
			case down.Load():
				return 502, ``, nil
			case r.URL.Path == "/repos/a/b/issues/1":
				return okIssue(r)
			}
			return status, ``, nil
		}
		bubble(t, answer, nil, func(c *Client) {
			ctx := context.Background()
			if _, err := c.Issue(ctx, "a/b", 1); err != nil {
				t.Fatal(err)
			}
			down.Store(true)
			for range breakerTrips {
				_, err := c.Issue(ctx, "a/b", 1)
				wantKind(t, err, "unavailable")
			}
			for range 4 {
				time.Sleep(defaultRecovery + time.Second)
				wantKind(t, c.Probe(ctx), "unavailable")
			}
			down.Store(false)
			for range 2 {
				time.Sleep(defaultRecovery + time.Second)
				if c.Probe(ctx) == nil {
					break
				}
			}
			if c.Down() {
				t.Errorf("%d: still taken to be down", status)
			}
		})
	}
}

// TestWhatIsAsideIsNotWaitedFor: a key waits for the answer.
func TestWhatIsAsideIsNotWaitedFor(t *testing.T) {
	bubble(t, okIssue, func(o *Options) {
		o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
	}, func(c *Client) {
		begin := time.Now()
		_, err := c.SubIssues(context.Background(), "a/b", 1)
		wantKind(t, err, "unavailable")
		_, err = c.Viewer(context.Background())
		wantKind(t, err, "unavailable")
		equal(t, time.Since(begin), 3*bypassTimeout)
		if c.Down() {
			t.Error("the breaker opened")
		}
	})
}

// TestProbeWithoutRateLimits: an Enterprise Server that limits nothing answers
// 404, and yet it answers.
func TestProbeWithoutRateLimits(t *testing.T) {
	f := newFake(t)
	f.on("/rate_limit", 404, `{"message":"Rate limiting is not enabled."}`)
	if err := f.client(t).Probe(within(t)); err != nil {
		t.Error(err)
	}
	f = newFake(t)
	f.on("/rate_limit", 502, ``)
	if err := f.client(t).Probe(within(t)); err == nil {
		t.Error("a service that is down was taken for one that answers")
	}
}
