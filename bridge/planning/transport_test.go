package planning

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
)

func TestOptionsAreChecked(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://planning.example.com": true, "https://planning.example.com/prefix/": true, "https://[::1]:8443": true,
		"http://localhost:1": true, "http://127.0.0.2": true, "http://[::1]:80/x": true, "HTTPS://h": true,
		"http://planning.example.com": false, "http://10.0.0.1": false, "http://localhost.example.com": false, "ftp://localhost": false,
		"planning.example.com": false, "": false, "https://": false, "https:///x": false, "https://h?q=1": false, "https://h#f": false,
		"https://u:hunter2@h": false, "https://h:port": false, "%zz://hunter2": false,
	} {
		c, err := New(Options{BaseURL: url, Project: "p", Secret: "s"})
		if (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a password in %v", err)
		}
		if c != nil {
			c.Close()
		}
	}
	for _, o := range []Options{{BaseURL: "https://h", Secret: "s"}, {BaseURL: "https://h", Project: "p", Secret: " \n"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
}

// A read gets over a short disturbance; a write is sent once.
func TestRetriesOfReadsOnly(t *testing.T) {
	for name, disturb := range map[string]http.HandlerFunc{
		"500": answering(500, ""), "503": answering(503, ""), "408": answering(408, ""), "cut": dropping,
		"short": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, fullCard[:100]) //nolint:errcheck // a test server
		},
	} {
		var asked atomic.Int32
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) < 3 {
				disturb(w, r)
				return
			}
			answering(200, fullCard)(w, r)
		})
		if _, err := c.Card(ctx(), cardID); err != nil || asked.Load() != 3 {
			t.Errorf("%s: read: %v after %d requests", name, err, asked.Load())
		}
		asked.Store(0)
		_, err := c.UpdateCard(ctx(), cardID, "u", mapping.LinkImages, title("x", 1))
		wantFault(t, err, mapping.ErrUncertain)
		_, err = c.CreateCard(ctx(), "b", "u", NewCard{})
		wantFault(t, err, mapping.ErrUncertain)
		if asked.Load() != 2 {
			t.Errorf("%s: %d requests for two writes", name, asked.Load())
		}
	}
}

func TestRetriesEnd(t *testing.T) {
	for retries, want := range map[int]int{0: 3, 1: 2, 4: 5, -1: 1} {
		c, rec := serve(t, answering(500, "down"), func(o *Options) { o.ReadRetries = retries; o.BreakerAfter = 100 })
		_, err := c.Card(ctx(), cardID)
		wantFault(t, err, mapping.ErrUnavailable)
		if n := len(rec.requests()); n != want {
			t.Errorf("%d retries: %d requests, want %d", retries, n, want)
		}
	}
	c, rec := serve(t, answering(404, ""))
	_, err := c.Card(ctx(), cardID)
	wantFault(t, err, mapping.ErrNotFound)
	if n := len(rec.requests()); n != 1 {
		t.Errorf("%d requests for a 404", n)
	}
}

// A request that certainly was not sent is unavailable, for writes too.
func TestNotSent(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	refused := s.URL
	s.Close()
	tlsOnly := httptest.NewUnstartedServer(http.NotFoundHandler())
	tlsOnly.Config.ErrorLog = log.New(io.Discard, "", 0) // it will complain of the handshakes
	tlsOnly.StartTLS()
	defer tlsOnly.Close()
	for name, c := range map[string]*Client{
		"refused":         client(t, refused),
		"no such name":    client(t, "https://planning.invalid"),
		"not trusted TLS": client(t, tlsOnly.URL),
	} {
		_, err := c.CreateCard(ctx(), "b", "u", NewCard{})
		wantFault(t, err, mapping.ErrUnavailable)
		_, err = c.UpdateTask(ctx(), taskID, "u", mapping.LinkImages, title("x", 1))
		wantFault(t, err, mapping.ErrUnavailable)
		if _, err = c.Card(ctx(), cardID); !errors.Is(err, mapping.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A transport that gives no account of its connections may have sent.
func TestUnknownTransportMayHaveSent(t *testing.T) {
	c := client(t, "https://planning.example.com", func(o *Options) {
		o.HTTPClient = &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })}
	})
	_, err := c.CreateCard(ctx(), "b", "u", NewCard{})
	wantFault(t, err, mapping.ErrUncertain)
	c = client(t, "https://planning.example.com", func(o *Options) {
		o.HTTPClient = &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		})}
	})
	_, err = c.CreateCard(ctx(), "b", "u", NewCard{})
	wantFault(t, err, mapping.ErrUnavailable)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// hanging never answers, until the client leaves or the test ends.
func hanging(t *testing.T, arrived chan<- struct{}) http.HandlerFunc {
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	return func(_ http.ResponseWriter, r *http.Request) {
		if arrived != nil {
			arrived <- struct{}{}
		}
		select {
		case <-r.Context().Done():
		case <-done:
		}
	}
}

func TestTimeout(t *testing.T) {
	c, rec := serve(t, hanging(t, nil), func(o *Options) { o.Timeout = 30 * time.Millisecond; o.ReadRetries = 1; o.BreakerAfter = 3 })
	_, err := c.Card(ctx(), cardID)
	wantFault(t, err, mapping.ErrUnavailable)
	_, err = c.UpdateCard(ctx(), cardID, "u", mapping.LinkImages, title("x", 1))
	wantFault(t, err, mapping.ErrUncertain)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v does not tell of the deadline", err)
	}
	if len(rec.requests()) != 3 || !c.Down() {
		t.Errorf("%d requests, down %v: time-outs are outages", len(rec.requests()), c.Down())
	}
}

func TestCallerLeaves(t *testing.T) {
	arrived := make(chan struct{}, 1)
	c, rec := serve(t, hanging(t, arrived), func(o *Options) { o.BreakerAfter = 1 })
	for want, ask := range map[error]func(context.Context) error{
		mapping.ErrUnavailable: func(ctx context.Context) error { _, err := c.Card(ctx, cardID); return err },
		mapping.ErrUncertain:   func(ctx context.Context) error { _, err := c.CreateCard(ctx, "b", "u", NewCard{}); return err },
	} {
		ctx, cancel := context.WithCancel(ctx())
		go func() { <-arrived; cancel() }()
		err := ask(ctx)
		wantFault(t, err, want)
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err = ask(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		wantFault(t, err, mapping.ErrUnavailable) // it was not sent
	}
	if n := len(rec.requests()); n != 2 || c.Down() {
		t.Errorf("%d requests, down %v: leaving is no outage and nothing is sent after it", n, c.Down())
	}
}

// The pause before a retry ends with the caller's context.
func TestRetryWithinContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := client(t, "https://planning.example.com", func(o *Options) {
			o.RetryPause, o.ReadRetries = time.Minute, 10
			o.HTTPClient = &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
				asked++
				return &http.Response{StatusCode: 500, Body: http.NoBody}, nil
			})}
		})
		ctx, cancel := context.WithTimeout(ctx(), 10*time.Second)
		defer cancel()
		start := time.Now()
		_, err := c.Card(ctx, cardID)
		wantFault(t, err, mapping.ErrUnavailable)
		if took := time.Since(start); took > 10*time.Second || asked != 1 {
			t.Errorf("%d requests in %v", asked, took)
		}
	})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status, asked := 500, 0
		c := client(t, "https://planning.example.com", func(o *Options) {
			o.ReadRetries, o.BreakerAfter, o.BreakerPause = -1, 3, time.Minute
			o.HTTPClient = &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
				asked++
				return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(projectJSON))}, nil
			})}
		})
		for range 3 {
			if c.Down() || c.State() != "closed" {
				t.Fatal("open too early")
			}
			_, err := c.Card(ctx(), cardID)
			wantFault(t, err, mapping.ErrUnavailable)
		}
		if !c.Down() || c.State() != "open" {
			t.Fatalf("state %s after three failures", c.State())
		}
		_, err := c.CreateCard(ctx(), "b", "u", NewCard{})
		wantFault(t, err, mapping.ErrUnavailable) // a write that was not sent
		wantFault(t, c.Probe(ctx()), mapping.ErrUnavailable)
		if asked != 3 {
			t.Fatalf("%d requests, want 3: none while it is open", asked)
		}
		<-time.After(time.Minute + time.Second) // of the bubble
		if !c.Down() || c.State() != "half-open" {
			t.Errorf("state %s after the pause", c.State())
		}
		wantFault(t, c.Probe(ctx()), mapping.ErrUnavailable)
		if c.State() != "open" || asked != 4 {
			t.Errorf("state %s, %d requests after a failed probe", c.State(), asked)
		}
		<-time.After(time.Minute + time.Second)
		status = 200
		if err := c.Probe(ctx()); err != nil || c.Down() {
			t.Errorf("%v, down %v after a good probe", err, c.Down())
		}
	})
}

// Answers of a working service do not open the breaker.
func TestBreakerIgnoresAnswers(t *testing.T) {
	for _, status := range []int{400, 403, 404, 409, 422, 429, 301} {
		c, _ := serve(t, answering(status, ""), func(o *Options) { o.BreakerAfter = 1 })
		if err := c.Probe(ctx()); err == nil || c.Down() {
			t.Errorf("%d: %v, down %v", status, err, c.Down())
		}
	}
}

func TestRedirects(t *testing.T) {
	var stolen atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	c, rec := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/items/near"):
			http.Redirect(w, r, "/there", http.StatusFound)
		case r.URL.Path == "/there":
			answering(200, fullCard)(w, r)
		case strings.HasSuffix(r.URL.Path, "/items/far"):
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
		default:
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}
	})
	if got, err := c.Card(ctx(), "near"); err != nil || got.ID != cardID {
		t.Error(got, err)
	}
	_, err := c.Card(ctx(), "far")
	wantFault(t, err, mapping.ErrMoved)
	before := len(rec.requests())
	_, err = c.Card(ctx(), "loop")
	wantFault(t, err, mapping.ErrMoved)
	if n := len(rec.requests()) - before; n > 5 {
		t.Errorf("a loop was followed %d times", n)
	}
	_, err = c.UpdateCard(ctx(), "far", "u", mapping.LinkImages, title("x", 1))
	wantFault(t, err, mapping.ErrMoved)
	if stolen.Load() != 0 {
		t.Error("a request went to another host")
	}
}

func TestAnswerBound(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(strings.Repeat(" ", 1<<20))
		for range maxAnswer>>20 + 1 {
			w.Write(chunk) //nolint:errcheck // a test server
		}
	}, func(o *Options) { o.BreakerAfter, o.Timeout = 1, 5*time.Minute }) // it is the size that ends the answer
	_, err := c.Card(ctx(), cardID)
	wantFault(t, err, mapping.ErrUnavailable)
	if !strings.Contains(err.Error(), "32 MiB") {
		t.Error(err)
	}
	_, err = c.CreateCard(ctx(), "b", "u", NewCard{})
	wantFault(t, err, mapping.ErrUncertain)
}

func TestGivenHTTPClientIsNotChanged(t *testing.T) {
	given := &http.Client{Timeout: time.Minute}
	c := client(t, "https://planning.example.com", func(o *Options) { o.HTTPClient = given })
	if given.CheckRedirect != nil || given.Transport != nil || c.http.Timeout != time.Minute {
		t.Error("the given client was changed, or not used")
	}
}
