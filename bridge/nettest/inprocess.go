package nettest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// InProcess is a [Network] without sockets: it takes requests to the handlers that serve
// their addresses. Nothing in it waits for the operating system, so that whole
// deployments run over it in the virtual time of testing/synctest. It is safe for
// concurrent use.
type InProcess struct {
	// Step is called before a request is handed over, and before its answer is handed back. The
	// client gets its error instead. A nil Step does nothing.
	Step func(r *http.Request, answered bool) error

	mu    sync.Mutex
	ports int
	hosts map[string]*host
}

type host struct {
	handler http.Handler
	up      context.Context // ends with the server
}

// NewInProcess returns a network without servers.
func NewInProcess() *InProcess { return &InProcess{hosts: map[string]*host{}} }

// Serve has a handler answer at an address; one that ends with ":0" gets a port of its own. The
// returned function ends that, together with the requests under way.
func (n *InProcess) Serve(addr string, h http.Handler) (bound string, stop func(), err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name, ok := strings.CutSuffix(addr, ":0"); ok {
		n.ports++
		addr = name + ":" + strconv.Itoa(n.ports)
	}
	if n.hosts[addr] != nil {
		return "", nil, fmt.Errorf("listen on %s: %w", addr, syscall.EADDRINUSE)
	}
	up, down := context.WithCancel(context.Background())
	served := &host{handler: h, up: up}
	n.hosts[addr] = served
	return addr, func() {
		n.mu.Lock()
		if n.hosts[addr] == served {
			delete(n.hosts, addr)
		}
		n.mu.Unlock()
		down()
	}, nil
}

// RoundTrip implements [http.RoundTripper]. The handler goes on where the client does not wait any
// more, and its request's context ends.
func (n *InProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := read(r)
	if err != nil {
		return nil, err
	}
	if err := n.step(r, false); err != nil {
		return nil, err
	}
	n.mu.Lock()
	to := n.hosts[r.URL.Host]
	n.mu.Unlock()
	if to == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("%s: %w", r.URL.Host, syscall.ECONNREFUSED)}
	}
	ctx, hangUp := context.WithCancel(r.Context())
	stop := context.AfterFunc(to.up, hangUp)
	answered := make(chan *http.Response, 1)
	go func() {
		defer hangUp()
		defer stop()
		answered <- serve(to.handler, r.Clone(ctx), body) //nolint:bodyclose // the client that gets it closes it; it is in memory
	}()
	var resp *http.Response
	select {
	case resp = <-answered:
	case <-r.Context().Done():
	case <-to.up.Done():
	}
	switch { // the first of these counts: an answer may come because the client hangs up
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	case to.up.Err() != nil:
		return nil, fmt.Errorf("%s: %w", r.URL.Host, syscall.ECONNRESET)
	case resp == nil:
		return nil, fmt.Errorf("%s: %w", r.URL.Host, io.ErrUnexpectedEOF)
	}
	if err := n.step(r, true); err != nil {
		return nil, err
	}
	resp.Request = r
	return resp, nil
}

func (n *InProcess) step(r *http.Request, answered bool) error {
	if n.Step != nil {
		if err := n.Step(r, answered); err != nil {
			return err
		}
	}
	return r.Context().Err()
}

func read(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close() //nolint:errcheck // it was read
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := b.ReadFrom(r.Body)
	return b.Bytes(), err
}

// serve lets the handler answer; nil: it cut the connection before any answer.
func serve(h http.Handler, r *http.Request, body []byte) (resp *http.Response) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.RequestURI, r.RemoteAddr, r.Host = r.URL.RequestURI(), "127.0.0.1:1", r.URL.Host
	w := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler { //nolint:errorlint // it is a panic's value
				panic(p)
			}
			resp = nil
			if w.Flushed {
				resp = w.Result()
				resp.Body = io.NopCloser(io.MultiReader(resp.Body, broken{}))
			}
		}
	}()
	h.ServeHTTP(w, r)
	resp = w.Result()
	if resp.ContentLength < 0 {
		resp.ContentLength = int64(w.Body.Len())
	}
	return resp
}

// broken is the end of an answer that was cut.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
