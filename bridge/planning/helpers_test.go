package planning

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"planbridge/mapping"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testProject = "54744060c955ca8169c61ee6"
	testSecret  = "0123456789abcdef0123456789abcdef"
	cardID      = "5447406bc955ca8169c61ef0"
	taskID      = "5447406bc955ca8169c61ef1"
	bucketID    = "5447406bc955ca8169c61eb0"
	sprintID    = "5447406bc955ca8169c61ea0"
)

// request is what a test server was sent.
type request struct {
	method, path, auth, body string
}

// recorder keeps what a test server was sent.
type recorder struct {
	mu  sync.Mutex
	all []request
}

func (r *recorder) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.all...)
}

// serve starts a service and a client of it. Options may be changed.
func serve(t testing.TB, h http.HandlerFunc, change ...func(*Options)) (*Client, *recorder) {
	t.Helper()
	rec := &recorder{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		rec.mu.Lock()
		rec.all = append(rec.all, request{r.Method, r.URL.EscapedPath(), r.Header.Get("Authorization"), string(body)})
		rec.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return client(t, s.URL, change...), rec
}

// client makes a client that retries without waiting long.
func client(t testing.TB, url string, change ...func(*Options)) *Client {
	t.Helper()
	o := Options{BaseURL: url, Project: testProject, Secret: testSecret, RetryPause: time.Millisecond, Timeout: 10 * time.Second}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// answering serves one and the same answer.
func answering(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body) //nolint:errcheck // a test server
	}
}

// dropping cuts the connection without an answer.
func dropping(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// faults are the sentinels of package mapping, of which an error of the client
// matches exactly one, unless it is one of the typed faults.
var faults = []error{
	mapping.ErrUnauthorized, mapping.ErrForbidden, mapping.ErrNotFound, mapping.ErrGone, mapping.ErrMoved,
	mapping.ErrRejected, mapping.ErrUnavailable, mapping.ErrUncertain,
}

// wantFault asserts that err matches want and no other sentinel.
func wantFault(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	for _, f := range faults {
		if !errors.Is(f, want) && errors.Is(err, f) {
			t.Errorf("error %v matches %v as well as %v", err, f, want)
		}
	}
}

// set is a shorthand for the attributes of an update.
type set = map[mapping.Attribute]mapping.Versioned

func title(v string, n int64) set { return set{mapping.Title: {Value: v, Version: n}} }

func ctx() context.Context { return context.Background() }
