package githubtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	bot       = "planbridge-bot"
	botToken  = "bot-token"
	weakToken = "weak-token" // of outsider, without push access
	secretKey = "s3cret"
)

// world is a server with the repository acme/web, a token and a webhook that
// is received.
type world struct {
	t  *testing.T
	s  *Server
	r  *Repo
	in *receiver
	// Hook is the id of the repository's hook.
	hook int64
}

func newWorld(t *testing.T, o Options) *world {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w := &world{t: t, s: s, r: s.AddRepo("acme/web", RepoSpec{Members: []string{"alice"}})}
	s.AddToken(botToken, bot)
	s.AddToken(weakToken, "outsider", ReadOnly())
	return w
}

// hooked adds a receiver and forgets the ping.
func (w *world) hooked(events ...string) *world {
	w.in = newReceiver(w.t)
	w.hook = w.s.AddHook("acme/web", w.in.URL, secretKey, events...)
	w.idle()
	w.in.take()
	return w
}

func (w *world) idle() {
	w.t.Helper()
	if err := w.s.Idle(deadline(w.t)); err != nil {
		w.t.Fatal(err)
	}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// result is an answer of the API.
type result struct {
	t      *testing.T
	status int
	header http.Header
	raw    []byte
	err    error
}

// obj is the answer's object, or what stands below the keys in it.
func (r result) obj(keys ...string) fields {
	r.t.Helper()
	var v fields
	if err := json.Unmarshal(r.raw, &v); err != nil {
		r.t.Fatalf("%d %s: %v", r.status, r.raw, err)
	}
	for _, k := range keys {
		next, is := v[k].(fields)
		if !is {
			r.t.Fatalf("no %s in %v", k, v)
		}
		v = next
	}
	return v
}

// list is the given field of every element of the answer's array.
func (r result) list(field string) []any {
	r.t.Helper()
	var v []fields
	if err := json.Unmarshal(r.raw, &v); err != nil {
		r.t.Fatalf("%d %s: %v", r.status, r.raw, err)
	}
	out := []any{}
	for _, e := range v {
		out = append(out, e[field])
	}
	return out
}

// want fails unless the status is that.
func (r result) want(status int) result {
	r.t.Helper()
	if r.err != nil || r.status != status {
		r.t.Fatalf("status %d, want %d: %s %v", r.status, status, r.raw, r.err)
	}
	return r
}

// client follows no redirects.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// do asks with the bot's token; headers are pairs of name and value.
func (w *world) do(method, path string, body any, headers ...string) result {
	w.t.Helper()
	base := w.s.URL()
	if strings.HasPrefix(path, "http") {
		base = ""
	}
	var in io.Reader
	if body != nil {
		in = bytes.NewReader(encode(body))
	}
	req, err := http.NewRequestWithContext(deadline(w.t), method, base+path, in)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+botToken)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	resp, err := client.Do(req)
	if err != nil {
		return result{t: w.t, err: err}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return result{t: w.t, status: resp.StatusCode, header: resp.Header, raw: raw, err: err}
}

func (w *world) get(path string, headers ...string) result {
	w.t.Helper()
	return w.do("GET", path, nil, headers...)
}

// next is the URL of a Link header's rel="next", or "".
func (r result) next() string {
	for part := range strings.SplitSeq(r.header.Get("Link"), ", ") {
		if target, found := strings.CutSuffix(part, `>; rel="next"`); found {
			return strings.TrimPrefix(target, "<")
		}
	}
	return ""
}

// received is one webhook that arrived.
type received struct {
	event, action, guid string
	header              http.Header
	raw                 []byte
	payload             fields
}

// name is "event.action".
func (r received) name() string { return strings.TrimSuffix(r.event+"."+r.action, ".") }

// at is the value below the keys of the payload, nil where there is none.
func (r received) at(keys ...string) any {
	var v any = r.payload
	for _, k := range keys {
		o, _ := v.(fields)
		v = o[k]
	}
	return v
}

// receiver keeps every webhook it gets.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []received
	status int
}

func newReceiver(t *testing.T) *receiver {
	in := &receiver{status: http.StatusAccepted}
	in.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil { // cut off by the end of the test
			return
		}
		payload := raw
		if form, found := bytes.CutPrefix(raw, []byte("payload=")); found {
			text, _ := url.QueryUnescape(string(form))
			payload = []byte(text)
		}
		e := received{event: r.Header.Get("X-GitHub-Event"), guid: r.Header.Get("X-GitHub-Delivery"), header: r.Header, raw: raw}
		if err := json.Unmarshal(payload, &e.payload); err != nil {
			t.Errorf("payload %s: %v", payload, err)
		}
		e.action, _ = e.payload["action"].(string)
		in.mu.Lock()
		in.got = append(in.got, e)
		status := in.status
		in.mu.Unlock()
		w.WriteHeader(status)
	}))
	t.Cleanup(in.Close)
	return in
}

// answer sets the status that webhooks get from now on.
func (in *receiver) answer(status int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.status = status
}

// take answers what came since the last time.
func (in *receiver) take() []received {
	in.mu.Lock()
	defer in.mu.Unlock()
	got := in.got
	in.got = nil
	return got
}

// events waits until the deliveries are done and answers what came.
func (w *world) events() []received {
	w.t.Helper()
	w.idle()
	return w.in.take()
}

func names(got []received) []string {
	out := []string{}
	for _, e := range got {
		out = append(out, e.name())
	}
	return out
}

// expect compares the names of what came.
func (w *world) expect(want ...string) []received {
	w.t.Helper()
	got := w.events()
	if !slices.Equal(names(got), want) {
		w.t.Fatalf("webhooks %q, want %q", names(got), want)
	}
	return got
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if a, b := string(encode(got)), string(encode(want)); a != b {
		t.Errorf("%s: got %s, want %s", what, a, b)
	}
}

// open is an issue by octocat.
func (w *world) open(title string, labels ...string) int {
	return w.r.Open("octocat", IssueSpec{Title: title, Body: "body of " + title, Labels: labels})
}
