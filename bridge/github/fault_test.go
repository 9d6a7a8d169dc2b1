package github

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// kinds lists every sentinel and type of mapping that err matches.
func kinds(err error) []string {
	var list []string
	for name, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			list = append(list, name)
		}
	}
	if _, ok := errors.AsType[*mapping.RateLimited](err); ok {
		list = append(list, "limited")
	}
	return list
}

func wantKind(t *testing.T, err error, kind string) {
	t.Helper()
	if got := kinds(err); len(got) != 1 || got[0] != kind {
		t.Errorf("error %v is %v, want exactly %s", err, got, kind)
	}
	if err != nil && strings.Count(err.Error(), "github: ") > 1 && kind != "limited" {
		t.Errorf("error %q is wrapped twice", err)
	}
}

func TestStatusesBecomeOneFaultEach(t *testing.T) {
	for _, tc := range []struct {
		status      int
		body        string
		read, write string
	}{
		{301, ``, "moved", "moved"},
		{302, ``, "moved", "moved"},
		{307, ``, "moved", "moved"},
		{308, ``, "moved", "moved"},
		{304, ``, "unavailable", "uncertain"},
		{400, `{"message":"Problems parsing JSON"}`, "rejected", "rejected"},
		{401, `{"message":"Bad credentials"}`, "unauthorized", "unauthorized"},
		{403, `{"message":"Repository was archived so is read-only."}`, "forbidden", "forbidden"},
		{403, `{"message":"Unable to create comment because issue is locked."}`, "forbidden", "forbidden"},
		{404, `{"message":"Not Found"}`, "not found", "not found"},
		{409, `{"message":"Conflict"}`, "rejected", "rejected"},
		{410, `{"message":"This issue was deleted"}`, "gone", "gone"},
		{422, `{"message":"Validation Failed"}`, "rejected", "rejected"},
		{451, `{"message":"Repository access blocked"}`, "forbidden", "forbidden"},
		{500, `{"message":"Server Error"}`, "unavailable", "uncertain"},
		{502, `<html>unicorn</html>`, "unavailable", "uncertain"},
		{503, ``, "unavailable", "uncertain"},
		{200, `{"id":`, "unavailable", "uncertain"},
		{200, `<html>captive portal</html>`, "unavailable", "uncertain"},
	} {
		f := newFake(t)
		f.on("/", tc.status, tc.body)
		c := f.client(t)
		_, err := c.Issue(within(t), "acme/web", 12)
		wantKind(t, err, tc.read)
		_, err = c.EditIssue(within(t), "acme/web", 12, IssueEdit{Title: new("t")})
		wantKind(t, err, tc.write)
	}
}

func TestErrorSaysWhatAndWhereOnce(t *testing.T) {
	f := newFake(t)
	f.on("PATCH /repos/acme/web/issues/12", 422, `{"message":"Validation Failed","errors":[
		{"resource":"Issue","code":"custom","field":"body","message":"body is too long (maximum is 65536 characters)"}]}`)
	_, err := f.client(t).EditIssue(within(t), "acme/web", 12, IssueEdit{Body: new("b")})
	want := "github: edit issue acme/web#12: rejected: Validation Failed: body is too long (maximum is 65536 characters)"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	var r *mapping.Rejection
	if !errors.As(err, &r) || r.Field != "body" || r.Status != 422 {
		t.Errorf("rejection is %+v", r)
	}
}

func TestWordsOfEveryShape(t *testing.T) {
	for body, want := range map[string]string{
		`{"message":"m","errors":["one","two"]}`:                           "m: one: two",
		`{"message":"m","errors":"one"}`:                                   "m: one",
		`{"message":"m","errors":[{"resource":"L","code":"missing"}]}`:     "m: L missing",
		`{"message":"m","errors":[7,null,{"field":"f","code":"invalid"}]}`: "m: f invalid",
		`{"message":"a\n  b"}`:                                             "a b",
		`not json`:                                                         "",
	} {
		if got := errorMessage(parseAPIError([]byte(body))); strings.Trim(got, ": ") != want {
			t.Errorf("words(%s) = %q, want %q", body, got, want)
		}
	}
	long := errorMessage(apiError{Message: strings.Repeat("é", 10_000)}, nil)
	if n := len([]rune(long)); n != 501 {
		t.Errorf("long words have %d characters", n)
	}
}

// TestCutConnection: the server dies after it has read the request.
func TestCutConnection(t *testing.T) {
	f := newFake(t)
	f.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	})
	c := f.client(t)
	_, err := c.EditIssue(within(t), "acme/web", 12, IssueEdit{Title: new("t")})
	wantKind(t, err, "uncertain")
	_, err = c.Issue(within(t), "acme/web", 12)
	wantKind(t, err, "unavailable")
}

// TestCutAnswer: the answer says 2xx and ends in the middle.
func TestCutAnswer(t *testing.T) {
	f := newFake(t)
	f.on("/", 201, `{"id":1`, "Content-Length", "500")
	c := f.client(t)
	_, err := c.CreateIssue(within(t), "acme/web", NewIssue{Title: "t"})
	wantKind(t, err, "uncertain")
	_, err = c.Issue(within(t), "acme/web", 12)
	wantKind(t, err, "unavailable")
}

func TestTimeouts(t *testing.T) {
	f := newFake(t)
	release := make(chan struct{})
	f.mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	c := f.client(t, func(o *Options) { o.Timeout = 50 * time.Millisecond })
	_, err := c.CreateIssue(within(t), "acme/web", NewIssue{Title: "t"})
	wantKind(t, err, "uncertain")
	_, err = c.Issue(within(t), "acme/web", 12)
	wantKind(t, err, "unavailable")

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = f.client(t).CreateIssue(ctx, "acme/web", NewIssue{Title: "t"})
	wantKind(t, err, "uncertain")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v hides the deadline", err)
	}
}

// TestNotSent: where no connection came about a write had no effect.
func TestNotSent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + l.Addr().String()
	l.Close()
	c := newFake(t).client(t, func(o *Options) { o.APIURL = dead })
	_, err = c.CreateIssue(within(t), "acme/web", NewIssue{Title: "t"})
	wantKind(t, err, "unavailable")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := newFake(t)
	_, err = f.client(t).CreateIssue(ctx, "acme/web", NewIssue{Title: "t"})
	wantKind(t, err, "unavailable")
	if n := len(f.requests()); n != 0 {
		t.Errorf("a cancelled write made %d requests", n)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestUnknownTransport: one that does not tell about connections leaves a
// write uncertain, unless the error itself is of dialling.
func TestUnknownTransport(t *testing.T) {
	for _, tc := range []struct {
		err  error
		kind string
	}{
		{errors.New("boom"), "uncertain"},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, "uncertain"},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, "unavailable"},
		{&net.DNSError{Err: "no such host", Name: "ghe"}, "unavailable"},
	} {
		c := newFake(t).client(t, func(o *Options) {
			o.Transport = roundTripper(func(*http.Request) (*http.Response, error) { return nil, tc.err })
		})
		_, err := c.CreateIssue(within(t), "acme/web", NewIssue{Title: "t"})
		wantKind(t, err, tc.kind)
	}
}

func TestUnusableNames(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	for _, repo := range []string{"", "acme", "acme/", "/web", "acme/web/x", "../web", "acme/.."} {
		_, err := c.Issue(within(t), repo, 1)
		wantKind(t, err, "rejected")
	}
	_, err := c.OrgRepositories(within(t), "acme/web")
	wantKind(t, err, "rejected")
	if n := len(f.requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

func TestTokenIsInNoError(t *testing.T) {
	f := newFake(t)
	f.on("/", 401, `{"message":"Bad credentials"}`)
	_, err := f.client(t).Issue(within(t), "acme/web", 1)
	if err == nil || strings.Contains(err.Error(), "secret-token") {
		t.Errorf("error is %v", err)
	}
	if got := f.requests()[0].auth; got != "Bearer secret-token" {
		t.Errorf("Authorization is %q", got)
	}
}
