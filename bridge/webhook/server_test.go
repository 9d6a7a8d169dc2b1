package webhook_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/webhook"
)

// serveOn serves the handler on a free port of 127.0.0.1 until the test ends.
func serveOn(t *testing.T, srv *http.Server) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	t.Cleanup(func() {
		srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	return ln.Addr().String()
}

// headers are those of a delivery of an event that is acted on. Nobody signed it.
var headers = "Host: x\r\nX-GitHub-Event: issues\r\nX-GitHub-Delivery: guid\r\nContent-Type: application/json\r\n" +
	"X-Hub-Signature-256: sha256=" + strings.Repeat("0", 64) + "\r\n"

func TestServerIsBounded(t *testing.T) {
	srv := webhook.Server("127.0.0.1:0", http.NotFoundHandler())
	for name, d := range map[string]time.Duration{
		"ReadHeaderTimeout": srv.ReadHeaderTimeout, "ReadTimeout": srv.ReadTimeout,
		"WriteTimeout": srv.WriteTimeout, "IdleTimeout": srv.IdleTimeout,
	} {
		if d <= 0 || d > time.Minute {
			t.Errorf("%s = %s", name, d)
		}
	}
	if srv.MaxHeaderBytes <= 0 || srv.MaxHeaderBytes > 1<<20 {
		t.Errorf("MaxHeaderBytes = %d", srv.MaxHeaderBytes)
	}
}

// TestSlowHeaders: a client that never ends its headers is cut off, while
// others are served.
func TestSlowHeaders(t *testing.T) {
	w := newWorld(t)
	srv := w.intake.Server("")
	srv.ReadHeaderTimeout = 100 * time.Millisecond
	addr := serveOn(t, srv)
	conn := dial(t, addr)
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nX-Slow: ", webhook.Path)
	res, err := http.Post("http://"+addr+webhook.Path, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the other client was answered %d", res.StatusCode)
	}
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("the slow client was not cut off: %v", err)
	}
}

// TestSlowBody: a body that does not come in time is answered and counted. The shorter bound may be
// the intake's or the server's.
func TestSlowBody(t *testing.T) {
	for _, tc := range []struct{ intake, server time.Duration }{
		{100 * time.Millisecond, time.Minute}, {time.Minute, 100 * time.Millisecond}, {100 * time.Millisecond, 0},
	} {
		w := newWorld(t, func(o *options) { o.Timeout = tc.intake })
		srv := w.intake.Server("")
		srv.ReadTimeout = tc.server
		conn := dial(t, serveOn(t, srv))
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%sContent-Length: 1000\r\n\r\n{", webhook.Path, headers)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%+v: %v", tc, err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusRequestTimeout || w.counts()["issues slow"] != 1 {
			t.Errorf("%+v: answered %d, counted %v", tc, res.StatusCode, w.counts())
		}
	}
}

func TestLongHeaders(t *testing.T) {
	w := newWorld(t)
	addr := serveOn(t, w.intake.Server(""))
	req, _ := http.NewRequest(http.MethodPost, "http://"+addr+webhook.Path, strings.NewReader("{}"))
	req.Header.Set("X-Long", strings.Repeat("x", 64<<10))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("answered %d", res.StatusCode)
	}
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestTooLargeIsAnswered: a client that sends the whole of its body before it
// reads gets the answer, and no reset.
func TestTooLargeIsAnswered(t *testing.T) {
	w := newWorld(t)
	addr := serveOn(t, w.intake.Server(""))
	w.intake.Unpace()
	const size = 26 << 20
	for name, body := range map[string]io.Reader{
		"Content-Length: " + fmt.Sprint(size): io.LimitReader(spaces{}, size),
		"Transfer-Encoding: chunked": io.MultiReader(
			strings.NewReader(fmt.Sprintf("%x\r\n", size)), io.LimitReader(spaces{}, size), strings.NewReader("\r\n0\r\n\r\n")),
	} {
		conn := dial(t, addr)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%s%s\r\n\r\n", webhook.Path, headers, name)
		if _, err := io.Copy(conn, body); err != nil {
			t.Errorf("%s: send: %v", name, err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %v, %v", name, res, err)
		}
	}
}

// spaces never ends.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
