// Package redistest runs a real redis-server for tests. Its entry point is [Start].
//
// The server listens on a free port of 127.0.0.1 and keeps an append-only file in a temporary
// directory. It can be killed and started again on that file.
package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startWait bounds how long a server may take to answer; CI machines are slow.
const startWait = 20 * time.Second

// Server is a redis-server. Its methods are for one goroutine.
type Server struct {
	URL  string // redis://127.0.0.1:port
	Addr string
	Dir  string // where it keeps its files

	t    testing.TB
	args []string
	cmd  *exec.Cmd
	out  strings.Builder
}

// Start runs a server until the test ends. args are further options, such as
// "--maxmemory-policy", "allkeys-lru". A machine without redis-server fails
// the test.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, append([]string{"--appendonly", "yes", "--appendfsync", "everysec", "--save", ""}, args...))
}

// StartSentinel runs a sentinel with the given configuration file, which it
// rewrites, until the test ends.
func StartSentinel(t testing.TB, conf string) *Server {
	t.Helper()
	return start(t, []string{conf, "--sentinel"})
}

func start(t testing.TB, args []string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("this test needs redis-server; install it, for example: apt-get install redis-server")
	}
	addr := freeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, Addr: addr, URL: "redis://" + addr, Dir: t.TempDir()}
	s.args = slices.Concat(args, []string{"--bind", "127.0.0.1", "--port", port, "--dir", s.Dir})
	s.Restart()
	t.Cleanup(s.Stop)
	return s
}

// freeAddr returns an address whose port systems give to no outgoing connection, before the server
// takes it or while it restarts. It tests the port by connecting, as a closed listener stays for a
// moment in a process that is started meanwhile. It holds the UDP port until the test ends, so that
// tests of other processes choose another port.
func freeAddr(t testing.TB) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 10000+rand.N(10000))
		taken, err := net.ListenPacket("udp", addr)
		if err != nil {
			continue
		}
		c, err := net.Dial("tcp", addr)
		if errors.Is(err, syscall.ECONNREFUSED) {
			t.Cleanup(func() { taken.Close() }) //nolint:errcheck // nothing was written
			return addr
		}
		taken.Close() //nolint:errcheck // nothing was written
		if err == nil {
			c.Close() //nolint:errcheck // nothing was written
		}
	}
	t.Fatal("no port is free")
	return ""
}

// Restart starts the server, ending the running one orderly, and waits until
// it has loaded its data.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	s.out.Reset()
	s.cmd = exec.Command("redis-server", s.args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("redis-server: %v", err)
	}
	deadline := time.Now().Add(startWait)
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		err := s.ping()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.Kill()
			s.t.Fatalf("redis-server at %s does not answer: %v\n%s", s.Addr, err, s.out.String())
		}
	}
}

func (s *Server) ping() error {
	_, err := s.Do("PING")
	return err
}

// Do sends one command and returns the first line of its answer.
func (s *Server) Do(args ...string) (string, error) {
	c, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // the answer says whether it went well
	if err := c.SetDeadline(time.Now().Add(startWait)); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := c.Write([]byte(b.String())); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return "", err
	}
	if line = strings.TrimSpace(line); strings.HasPrefix(line, "-") {
		return "", errors.New(line[1:])
	}
	return line, nil
}

// Flush empties the server.
func (s *Server) Flush() {
	s.t.Helper()
	if _, err := s.Do("FLUSHALL"); err != nil {
		s.t.Fatalf("FLUSHALL: %v", err)
	}
}

// Kill ends the server as a crash would (SIGKILL).
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
	s.wait()
}

// Kept returns the append-only file and its length. It must not have been rewritten.
func (s *Server) Kept() (path string, bytes int64) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) != 1 {
		s.t.Fatalf("append-only files %v, %v", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return files[0], info.Size()
}

// Stop ends the server orderly. It may be called at any time.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	// The server ends without an answer, or does not answer any more.
	s.Do("SHUTDOWN", "NOSAVE") //nolint:errcheck // see above
	s.cmd.Process.Kill()       //nolint:errcheck // see above
	s.wait()
}

func (s *Server) wait() {
	s.cmd.Wait() //nolint:errcheck // it was told to end
	s.cmd = nil
}
