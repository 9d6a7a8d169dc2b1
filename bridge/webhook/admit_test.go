package webhook_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/webhook"
)

// TestRefusedUnread: deliveries with forbidden headers are refused before their bodies are read.
func TestRefusedUnread(t *testing.T) {
	sha := "sha256=" + strings.Repeat("0", 64)
	for name, tc := range map[string]struct {
		header string
		values []string
		status int
		result string
	}{
		"no signature":            {"X-Hub-Signature-256", nil, 401, "forged"},
		"an empty signature":      {"X-Hub-Signature-256", []string{""}, 401, "forged"},
		"two signatures":          {"X-Hub-Signature-256", []string{sha, sha}, 401, "forged"},
		"SHA-1":                   {"X-Hub-Signature-256", []string{"sha1=5257a869e7ecebeda32affa62cdca3fa51cad77e"}, 401, "forged"},
		"a short signature":       {"X-Hub-Signature-256", []string{sha[:70]}, 401, "forged"},
		"a long signature":        {"X-Hub-Signature-256", []string{sha + "00"}, 401, "forged"},
		"no hexadecimal":          {"X-Hub-Signature-256", []string{sha[:70] + "x"}, 401, "forged"},
		"no content type":         {"Content-Type", nil, 400, "malformed"},
		"two content types":       {"Content-Type", []string{"application/json", "application/json"}, 400, "malformed"},
		"another content type":    {"Content-Type", []string{"text/plain"}, 400, "malformed"},
		"no delivery":             {"X-GitHub-Delivery", nil, 400, "malformed"},
		"two deliveries":          {"X-GitHub-Delivery", []string{"a", "b"}, 400, "malformed"},
		"a delivery in pieces":    {"X-GitHub-Delivery", []string{"a b"}, 400, "malformed"},
		"a long delivery":         {"X-GitHub-Delivery", []string{strings.Repeat("g", 200)}, 400, "malformed"},
		"a delivery with a colon": {"X-GitHub-Delivery", []string{"7:a"}, 400, "malformed"},
		"no event":                {"X-GitHub-Event", nil, 400, "malformed"},
		"two hooks":               {"X-GitHub-Hook-ID", []string{"7", "8"}, 400, "malformed"},
		"an unknown event":        {"X-GitHub-Event", []string{"push"}, 202, "ignored"},
	} {
		w := newWorld(t)
		r := w.raw("issues", []byte("{}"))
		r.Header[http.CanonicalHeaderKey(tc.header)] = tc.values
		r.Body = io.NopCloser(readerFunc(func([]byte) (int, error) {
			t.Errorf("%s: the body was read", name)
			return 0, io.EOF
		}))
		t.Log(name)
		w.serve(r, tc.status, tc.result)
	}
}

// TestKnownContentTypes: both types that GitHub delivers, with parameters and in any case.
func TestKnownContentTypes(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{
		"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8",
		"application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=utf-8",
	} {
		w.serve(header(w.raw("ping", []byte("{}")), "Content-Type", kind), 202, "ignored")
	}
}

// TestUnknownEventIsAnsweredAtOnce: the answer comes before the body.
func TestUnknownEventIsAnsweredAtOnce(t *testing.T) {
	w := newWorld(t)
	addr := serveOn(t, w.intake.Server(""))
	for range 3 {
		conn := dial(t, addr)
		answers := bufio.NewReader(conn)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%sContent-Length: 10\r\n\r\n", webhook.Path, strings.Replace(headers, "issues", "push", 1))
		res, err := http.ReadResponse(answers, nil)
		if err != nil || res.StatusCode != http.StatusAccepted {
			t.Fatalf("answered %v, %v", res, err)
		}
		if text, err := io.ReadAll(res.Body); err != nil || !strings.HasPrefix(string(text), "ignored") {
			t.Errorf("answered %q, %v", text, err)
		}
	}
	if got := w.counts()["push ignored"]; got != 3 {
		t.Errorf("counted %v", w.counts())
	}
}

// TestRefusedAtOnce: nor does a refusal wait for the body that was announced.
func TestRefusedAtOnce(t *testing.T) {
	w := newWorld(t)
	conn := dial(t, serveOn(t, w.intake.Server("")))
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n", webhook.Path)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Fatalf("answered %v, %v", res, err)
	}
}

// TestSlowBodiesStarveNobody: connections that each send a part of a large body and then wait hold
// at most the bound. Signed deliveries of any usual size are taken.
func TestSlowBodiesStarveNobody(t *testing.T) {
	w := newWorld(t)
	addr := serveOn(t, w.intake.Server(""))
	part := strings.Repeat(" ", 3<<20)
	for range 60 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		go fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", webhook.Path, headers, 25<<20, part)
	}
	eventually(t, "the bound is reached", func() bool { return w.intake.Unverified() > webhook.MaxUnverified-(1<<20) })
	for _, size := range []int{10, 100 << 10, 1 << 20} {
		for range 20 {
			if n := w.intake.Unverified(); n > webhook.MaxUnverified {
				t.Errorf("%d unverified bytes", n)
			}
			body := []byte(`{"Action":"` + strings.Repeat("x", size) + `"}`)
			r := w.raw("ping", body)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+webhook.Path, strings.NewReader(string(body)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = r.Header
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusAccepted {
				t.Errorf("%d bytes: answered %d, counted %v", size, res.StatusCode, w.counts())
			}
		}
	}
}

// TestConnectionsAreBounded: beyond the bound the oldest connection that has proven
// nothing is closed; one that delivers stays.
func TestConnectionsAreBounded(t *testing.T) {
	w := newWorld(t)
	w.intake.SetMaxClients(3)
	addr := serveOn(t, w.intake.Server(""))
	signed := dial(t, addr)
	answers := bufio.NewReader(signed)
	deliver := func() {
		t.Helper()
		r := w.raw("ping", []byte("{}"))
		if err := r.Write(signed); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(answers, nil)
		if err != nil || res.StatusCode != http.StatusAccepted {
			t.Fatalf("answered %v, %v", res, err)
		}
		io.Copy(io.Discard, res.Body) //nolint:errcheck // what is left of an answer
	}
	deliver()
	for range 3 {
		idle := []net.Conn{dial(t, addr), dial(t, addr), dial(t, addr)}
		if _, err := idle[0].Read(make([]byte, 1)); err == nil {
			t.Error("the oldest connection was sent something")
		}
		deliver()
	}
	if got := w.counts()["other overloaded"]; got < 3 {
		t.Errorf("counted %v", w.counts())
	}
}

// TestStrangersOfAllKindsDoNotFillTheLog: bad chunks, early ends, late bodies, wrong
// signatures and what net/http says have one line each in a window, and their number.
func TestStrangersOfAllKindsDoNotFillTheLog(t *testing.T) {
	const each = 20
	w := newWorld(t, func(o *options) { o.Timeout = 20 * time.Millisecond })
	w.intake.SetLogWindow(300 * time.Millisecond)
	srv := w.intake.Server("")
	addr := serveOn(t, srv)
	for _, body := range []string{
		"Transfer-Encoding: chunked\r\n\r\nno chunk", "Content-Length: 100\r\n\r\n{", "Content-Length: 2\r\n\r\n{}", "X-Hub-Signature-256: again\r\n\r\n",
	} {
		for range each {
			conn := dial(t, addr)
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nConnection: close\r\n%s%s", webhook.Path, headers, body)
			if strings.HasSuffix(body, "{") {
				conn.(*net.TCPConn).CloseWrite() //nolint:errcheck // half of them are late instead
			}
			io.Copy(io.Discard, conn) //nolint:errcheck // the answer, and its end
			srv.ErrorLog.Print("http: something about a connection")
		}
	}
	eventually(t, "the windows end with a number", func() bool {
		return strings.Count(w.log.String(), "more_of_its_kind=") >= 3
	})
	if n := strings.Count(w.log.String(), "level=WARN"); n > each {
		t.Errorf("%d lines for %d strangers:\n%s", n, 4*each, w.log)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
