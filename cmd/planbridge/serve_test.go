package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/status"
)

// service is the binary at work.
type service struct {
	op   *operator
	cmd  *exec.Cmd
	mu   sync.Mutex
	log  []map[string]any
	news chan struct{} // a line came
	done chan struct{} // the process ended; then err holds
	err  error
}

// serve starts the binary and waits until it has started.
func (op *operator) serve(args ...string) *service {
	op.t.Helper()
	s := &service{op: op, news: make(chan struct{}, 1), done: make(chan struct{})}
	s.cmd = exec.Command(cmp.Or(op.program, binary), append([]string{"serve", "--config", op.config}, args...)...)
	for name, value := range op.env {
		s.cmd.Env = append(s.cmd.Env, name+"="+value)
	}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		op.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		op.t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			line := map[string]any{}
			if json.Unmarshal(lines.Bytes(), &line) != nil {
				line["msg"] = lines.Text()
			}
			s.mu.Lock()
			s.log = append(s.log, line)
			s.mu.Unlock()
			select {
			case s.news <- struct{}{}:
			default:
			}
		}
		s.err = s.cmd.Wait()
	}()
	op.t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it has ended already where the test went well
		<-s.done
	})
	s.says("started")
	return s
}

// says waits for a line and returns it. Lines that were returned are not
// looked at again.
func (s *service) says(msg string) map[string]any {
	s.op.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		i := slices.IndexFunc(s.log, func(l map[string]any) bool { return strings.Contains(fmt.Sprint(l["msg"]), msg) })
		var line map[string]any
		if i >= 0 {
			line = s.log[i]
			s.log[i] = map[string]any{}
		}
		log := fmt.Sprint(s.log)
		s.mu.Unlock()
		if line != nil {
			return line
		}
		select {
		case <-s.news:
		case <-s.done:
			s.op.t.Fatalf("planbridge ended (%v) and never said %q: %s", s.err, msg, log)
		case <-deadline:
			s.op.t.Fatalf("planbridge never said %q: %s", msg, log)
		}
	}
}

func (s *service) signal(sig os.Signal) {
	s.op.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.op.t.Fatal(err)
	}
}

// ended waits until the process is gone and returns its status; -1 where a
// signal killed it.
func (s *service) ended() int {
	s.op.t.Helper()
	select {
	case <-s.done:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		s.op.t.Fatal("planbridge does not end")
		return 0
	}
}

// freePort is an address that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	addr, err := bridgetest.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// admin is an edit that has the admin listener at addr.
func admin(addr string) func(string) string {
	return replace(`admin_listen: "127.0.0.1:0"`, fmt.Sprintf("admin_listen: %q", addr))
}

func TestServeEndsWell(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			addr := freePort(t)
			op := newOperator(t, bridgetest.Options{}, admin(addr))
			s := op.serve()
			if got := op.fine("health"); got != "ok\n" {
				t.Errorf("health: %q", got)
			}
			op.until("it is ready", func() bool { return op.run("health", "--ready").status == exitOK })
			s.signal(sig)
			s.says("stopping")
			if got := s.ended(); got != exitOK {
				t.Errorf("exit status %d", got)
			}
			if r := op.run("health"); r.status != exitFailure || !strings.Contains(r.stderr, "connection refused") {
				t.Errorf("health of what ended: %+v", r)
			}
		})
	}
}

// A second signal does not wait for what the first one waits for.
func TestServeEndsAtOnce(t *testing.T) {
	addr := freePort(t)
	s := newOperator(t, bridgetest.Options{}, admin(addr)).serve()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// A request whose body never comes keeps the listener from closing; it is
	// at work once it asks for the body.
	const request = "POST /api/v1/failures/retry HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q %v", line, err)
	}
	s.signal(syscall.SIGTERM)
	s.says("stopping")
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-s.done:
			if ws, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() {
				t.Errorf("it ended by itself: %v", s.cmd.ProcessState)
			}
			return
		case <-again.C:
			s.signal(syscall.SIGTERM)
		case <-time.After(patience):
			t.Fatal("planbridge does not end")
		}
	}
}

// routes asks the service for its routes.
func (s *service) routes(addr string) (names []string) {
	s.op.t.Helper()
	ctx, cancel := context.WithTimeout(s.op.t.Context(), patience)
	defer cancel()
	c := &client{base: "http://" + addr, http: http.DefaultClient}
	var o status.Overview
	if err := c.ask(ctx, http.MethodGet, "/api/v1/overview", nil, &o); err != nil {
		s.op.t.Fatal(err)
	}
	for _, r := range o.Routes {
		names = append(names, r.Name)
	}
	return names
}

func TestServeReloads(t *testing.T) {
	addr := freePort(t)
	op := newOperator(t, bridgetest.Options{}, admin(addr))
	s := op.serve()
	op.until("it is ready", func() bool { return op.run("health", "--ready").status == exitOK })
	want := func(names ...string) {
		t.Helper()
		if got := s.routes(addr); !slices.Equal(got, names) {
			t.Errorf("routes %v, want %v", got, names)
		}
	}
	want("acme/web")

	both := func(f, g func(string) string) func(string) string {
		return func(text string) string { return f(g(text)) }
	}
	op.write(both(admin(addr), replace("project: web", "project: web\n    name: web")))
	s.signal(syscall.SIGHUP)
	s.says("configuration reloaded")
	want("web")

	op.write(both(admin(addr), replace("project: web", "project: wbe", "bucket:", "bukcet:")))
	s.signal(syscall.SIGHUP)
	for _, part := range []string{"routes[0].bucket: nothing", "wbe", "bukcet"} { // in the file's order
		line := s.says("configuration not reloaded, the old one stays in force")
		if fault := fmt.Sprint(line["fault"]); line["level"] != "ERROR" || !strings.HasPrefix(fault, op.config+":") || !strings.Contains(fault, part) {
			t.Errorf("a fault that is logged as %v, want one about %s", line, part)
		}
	}
	want("web")

	if err := os.Remove(op.config); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
	if line := s.says("configuration not reloaded"); !strings.Contains(fmt.Sprint(line["err"]), "no such file") {
		t.Errorf("a configuration that is gone: %v", line)
	}
	want("web")

	op.write(both(admin("127.0.0.1:1"), replace("project: web", "project: web\n    name: again")))
	s.signal(syscall.SIGHUP)
	if line := s.says("only after a restart"); line["key"] != "server.admin_listen" {
		t.Errorf("what needs a restart: %v", line)
	}
	s.says("configuration reloaded")
	want("again")
	s.signal(syscall.SIGTERM)
	if got := s.ended(); got != exitOK {
		t.Errorf("exit status %d", got)
	}
}

func TestServeLogsText(t *testing.T) {
	s := newOperator(t, bridgetest.Options{}, nil).serve("--log-format", "text")
	s.signal(syscall.SIGTERM)
	if line := s.says("msg=stopping"); !strings.Contains(fmt.Sprint(line["msg"]), "level=INFO") {
		t.Errorf("a line of text: %v", line)
	}
}

// The reason that keeps the service from starting is reported, and is no question of usage.
func TestServeCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	op := newOperator(t, bridgetest.Options{}, admin(taken.Addr().String()))
	r := op.run("serve")
	if r.status != exitFailure || !strings.Contains(r.stderr, "planbridge: admin listener: listen tcp "+taken.Addr().String()) {
		t.Errorf("serve on a taken address: %+v", r)
	}
	op = newOperator(t, bridgetest.Options{Store: "file:/nowhere/at/all.db"}, nil)
	if r := op.run("serve"); r.status != exitFailure || !strings.Contains(r.stderr, "planbridge: open store /nowhere/at/all.db") {
		t.Errorf("serve without its store: %+v", r)
	}
}
