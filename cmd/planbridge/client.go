package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os/user"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/open"
	"planbridge/bridge/status"
	"planbridge/config"
)

// Bounds of finding the service, and of one question with its answer.
const (
	dialTimeout = 5 * time.Second
	askTimeout  = time.Minute
)

// client asks planbridge's admin API.
type client struct {
	base  string
	token string
	http  *http.Client
	close func() error
}

// connect finds the running service. Where none listens, the same API is
// answered from the store within this process, so that both ways print the
// same.
func connect(ctx context.Context, p *process) (*client, error) {
	return find(ctx, p, func(c *config.Config) (*client, error) { return openStore(ctx, c, p.stderr) })
}

// unhurried is a client without a bound on the time of an answer.
func (c *client) unhurried() *client {
	out, hasty := *c, *c.http
	hasty.Timeout = 0
	if t, ok := hasty.Transport.(*http.Transport); ok {
		t = t.Clone()
		t.ResponseHeaderTimeout = askTimeout
		hasty.Transport = t
	}
	out.http = &hasty
	return &out
}

// find finds the running service. Where none listens it calls stand with the whole configuration,
// as stand needs the service's own secrets.
func find(ctx context.Context, p *process, stand func(*config.Config) (*client, error)) (*client, error) {
	asking, err := config.LoadClient(p.config, p.env)
	if err != nil {
		return nil, misuse{err}
	}
	remote := newClient(asking)
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", remote.addr())
	switch {
	case err == nil:
		return remote, conn.Close()
	case !errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("admin listener: %w", err)
	}
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	return stand(c)
}

// newClient calls the admin listener of the service that runs with this configuration on this
// machine.
func newClient(c *config.Config) *client {
	return &client{
		base:  "http://" + reachable(c.Server.AdminListen),
		token: c.Server.AdminToken.Reveal(),
		http:  &http.Client{Timeout: askTimeout, Transport: &http.Transport{DisableKeepAlives: true}}, // no proxy: it is this machine
		close: func() error { return nil },
	}
}

func (c *client) addr() string { return strings.TrimPrefix(c.base, "http://") }

// reachable turns a listening address into one that can be dialled. A listener on all addresses
// answers on the loopback one.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// openStore answers from the store itself.
func openStore(ctx context.Context, c *config.Config, stderr io.Writer) (*client, error) {
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	op, closeStore, err := open.Operator(ctx, c, log)
	if err != nil {
		return nil, fmt.Errorf("no service answers on %s: %w", reachable(c.Server.AdminListen), err)
	}
	api := status.New(status.Options{
		Operator: op, Registry: prometheus.NewRegistry(), Readiness: op, Settings: status.Access{}, Version: programVersion(),
		Loopback: true, Logger: log,
	})
	return &client{base: "http://localhost", http: &http.Client{Transport: inProcess{api}}, close: closeStore}, nil
}

// inProcess is a transport without a network.
type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	in := r.Clone(ctx)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	read, write := io.Pipe()
	a := &answer{header: http.Header{}, body: write, begun: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		t.handler.ServeHTTP(a, in)
		a.WriteHeader(http.StatusOK)
		write.Close() //nolint:errcheck // it has none
	}()
	<-a.begun
	return &http.Response{StatusCode: a.status, Header: a.sent, Body: &streamed{read, cancel, a.ended}, Request: r}, nil
}

// answer is a response as a handler writes it.
type answer struct {
	header, sent http.Header
	status       int
	body         io.Writer
	begun        chan struct{} // closed once status and sent are known
	ended        chan struct{} // closed behind the handler
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// streamed is an answer's body while its handler writes it. Its handler has ended when
// it is closed.
type streamed struct {
	io.ReadCloser
	cancel context.CancelFunc
	ended  <-chan struct{}
}

func (s *streamed) Close() error {
	err := s.ReadCloser.Close()
	s.cancel()
	<-s.ended
	return err
}

// ask sends one request (with in as its JSON, if any) and decodes the answer into out.
func (c *client) ask(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("%s %s: the answer is not planbridge's: %w", method, c.base+path, err)
	}
	return nil
}

// send sends one request, and returns an answer that is no refusal, to be closed.
func (c *client) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if who, err := user.Current(); err == nil {
		req.Header.Set(status.CommandUser, who.Username)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, c.refused(resp)
	}
	return resp, nil
}

// refusal is planbridge's own error answer.
type refusal struct {
	status int
	words  string
}

func (r *refusal) Error() string { return r.words }

// refused is the error of an answer. An invalid or unknown name is a misuse.
func (c *client) refused(resp *http.Response) error {
	var said status.Failed
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil && json.Unmarshal(data, &said) == nil && said.Error != "" {
		err := &refusal{resp.StatusCode, said.Error}
		if err.status == http.StatusBadRequest || err.status == http.StatusNotFound {
			return misuse{err}
		}
		return err
	}
	return fmt.Errorf("%s answers %s: is that planbridge?", c.base, resp.Status)
}

// with runs a question on a client that is closed afterwards.
func with(ctx context.Context, p *process, question func(*client) error) error {
	c, err := connect(ctx, p)
	if err != nil {
		return err
	}
	return errors.Join(question(c), c.close())
}
