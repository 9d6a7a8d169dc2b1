package status_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/status"
)

// pipes is a listener in memory, so that a server's deadlines pass in virtual time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9090} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p.conns <- far
	return near, nil
}

// serving runs fn with a client of an admin listener that has the bounds of the real one.
func serving(t *testing.T, m *memory, fn func(*testing.T, *http.Client)) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmin(t, func(o *status.Options) { o.Operator = m })
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: a.h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 2 * time.Minute}
		ended := make(chan error)
		go func() { ended <- server.Serve(l) }()
		client := &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
		fn(t, client)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

func post(t *testing.T, c *http.Client) *http.Response {
	t.Helper()
	return ask(t, c, "backup", "")
}

func ask(t *testing.T, c *http.Client, what, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:9090/api/v1/"+what, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// A backup takes as long as its store is large, whatever bounds other answers.
func TestLongBackup(t *testing.T) {
	m := filled()
	m.backup = func(ctx context.Context, w io.Writer, version string) error {
		for n := range 5 {
			if _, err := fmt.Fprintf(w, "%s part %d\n", version, n); err != nil {
				return err
			}
			time.Sleep(3 * time.Minute)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	}
	serving(t, m, func(t *testing.T, c *http.Client) {
		resp := post(t, c)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || strings.Count(string(body), "v1.2.3 part ") != 5 || resp.Header.Get("Content-Type") != "application/zstd" {
			t.Errorf("%d %v %q: %v", resp.StatusCode, resp.Header, body, err)
		}
	})
}

// A client that takes nothing ends its backup, and with it the next one may come. Two at
// once are one too many.
func TestBackupIsNotTaken(t *testing.T) {
	m := filled()
	serving(t, m, func(t *testing.T, c *http.Client) {
		given := make(chan error, 1)
		m.export = func(context.Context, status.ExportAsk, func(any) error) error {
			t.Error("an export reads the store beside a backup")
			return nil
		}
		m.backup = func(_ context.Context, w io.Writer, _ string) error {
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					given <- err
					return err
				}
			}
		}
		resp := post(t, c)
		defer resp.Body.Close()
		for _, what := range []string{"backup", "export"} {
			second := ask(t, c, what, `{"what":"links"}`)
			defer second.Body.Close()
			body, err := io.ReadAll(second.Body)
			if err != nil || second.StatusCode != http.StatusConflict || !strings.Contains(string(body), "another backup or export is under way") {
				t.Errorf("%s beside a backup: %d %q: %v", what, second.StatusCode, body, err)
			}
		}
		if err := <-given; err == nil {
			t.Error("a client that takes nothing is served for ever")
		}
		synctest.Wait() // its handler has ended
		m.backup = func(_ context.Context, w io.Writer, _ string) error { _, err := io.WriteString(w, "whole"); return err }
		third := post(t, c)
		defer third.Body.Close()
		if body, err := io.ReadAll(third.Body); err != nil || string(body) != "whole" {
			t.Errorf("a third backup: %d %q: %v", third.StatusCode, body, err)
		}
	})
}

// An error before the first byte is an answer like any other, and no page of another site may ask.
func TestBackupRefused(t *testing.T) {
	m := filled()
	a := newAdmin(t, func(o *status.Options) { o.Operator = m })
	m.broken = fmt.Errorf("a dry run: %w", status.ErrState)
	if words := a.refused(a.do("POST", "/api/v1/backup", ""), http.StatusConflict); words != m.broken.Error() {
		t.Errorf("refused with %q", words)
	}
	m.broken = errors.New("the store is away")
	a.refused(a.do("POST", "/api/v1/backup", ""), http.StatusInternalServerError)
	a.refused(a.do("POST", "/api/v1/backup", "", "Sec-Fetch-Site", "cross-site"), http.StatusForbidden)
	a.refused(a.do("GET", "/api/v1/backup", ""), http.StatusMethodNotAllowed)
}
