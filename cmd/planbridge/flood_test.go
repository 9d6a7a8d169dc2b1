package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
)

// public is an edit that has the public listener at addr.
func public(addr string) func(string) string {
	return func(text string) string {
		return regexp.MustCompile(`(?m)^  listen: .*$`).ReplaceAllString(text, fmt.Sprintf("  listen: %q", addr))
	}
}

// forgeries sends bodies of 25 MiB with a wrong signature over connections, each
// as soon as its last one was answered, until stop is closed.
func forgeries(addr string, connections int, stop chan struct{}) (wait func() (sent int64)) {
	const size = 25 << 20
	var all sync.WaitGroup
	var sent atomic.Int64
	junk := make([]byte, 64<<10)
	send := func() {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		defer conn.Close()
		over := make(chan struct{})
		defer close(over)
		go func() {
			select {
			case <-stop:
			case <-over:
			}
			conn.Close()
		}()
		fmt.Fprintf(conn, "POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-GitHub-Event: issues\r\n"+
			"X-GitHub-Delivery: %d\r\nX-Hub-Signature-256: sha256=%064d\r\nContent-Length: %d\r\n\r\n", time.Now().UnixNano(), 0, size)
		go func() {
			for n := 0; n < size; n += len(junk) {
				if _, err := conn.Write(junk); err != nil {
					return
				}
				sent.Add(int64(len(junk)))
			}
		}()
		if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
			res.Body.Close()
		}
	}
	for range connections {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					send()
				}
			}
		})
	}
	return func() int64 { all.Wait(); return sent.Load() }
}

// signed sends signed deliveries one after the other and returns how long the
// slowest of a hundred took. Each has to be taken.
func (op *operator) signed(addr string, deliveries int) (p99 time.Duration) {
	op.t.Helper()
	took := make([]time.Duration, deliveries)
	for i := range took {
		body := fmt.Sprintf(`{"action":"opened","issue":{"id":99,"number":99,"title":"T","state":"open","user":{"login":"o"},"body":%q,`+
			`"created_at":"2030-01-01T00:00:00Z","updated_at":"2030-01-01T00:00:00Z"},"repository":{"id":2500000001,"full_name":"acme/nobody","private":true},"sender":{"login":"o"}}`,
			strings.Repeat("a line of text\n", 500))
		req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/webhooks/github", strings.NewReader(body))
		if err != nil {
			op.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-GitHub-Event", "issues")
		req.Header.Set("X-GitHub-Delivery", fmt.Sprintf("signed-%d-%d", deliveries, i))
		req.Header.Set("X-Hub-Signature-256", githubtest.Sign(bridgetest.WebhookSecret, []byte(body)))
		began := time.Now()
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			op.t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body) //nolint:errcheck // its status is what counts
		res.Body.Close()
		if took[i] = time.Since(began); res.StatusCode != http.StatusAccepted {
			op.t.Fatalf("a signed delivery was answered %d", res.StatusCode)
		}
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// peakMemory is the most memory that a process had, in MiB.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(data)
	if m == nil {
		t.Fatalf("no VmHWM in %s", data)
	}
	kib, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// TestForgedBodiesFlood: sixty connections that send bodies of 25 MiB with a wrong
// signature, again and again, neither take the memory of the process nor hold up
// what GitHub signs.
func TestForgedBodiesFlood(t *testing.T) {
	const (
		connections = 60
		deliveries  = 300
		mostMemory  = 256 // MiB
		slower      = 3
		// noise is what a delivery may take on a machine that does other things.
		noise = 20 * time.Millisecond
	)
	addr := freePort(t)
	op := newOperator(t, bridgetest.Options{}, func(text string) string { return public(addr)(admin(freePort(t))(text)) })
	s := op.serve()
	op.until("it is ready", func() bool { return op.run("health", "--ready").status == exitFine })
	op.signed(addr, deliveries/10) // connections and caches are made
	quiet := op.signed(addr, deliveries)
	before := peakMemory(t, s.cmd.Process.Pid)

	stop := make(chan struct{})
	began := time.Now()
	wait := forgeries(addr, connections, stop)
	var flooded time.Duration
	for time.Since(began) < 3*time.Second {
		flooded = max(flooded, op.signed(addr, deliveries))
	}
	close(stop)
	sent := wait()
	peak := peakMemory(t, s.cmd.Process.Pid)
	t.Logf("p99 %v quiet, %v flooded; memory %d MiB quiet, %d MiB flooded; %d MiB sent", quiet, flooded, before, peak, sent>>20)
	if peak >= mostMemory {
		t.Errorf("the process had %d MiB, want less than %d", peak, mostMemory)
	}
	if most := slower * max(quiet, noise); flooded > most {
		t.Errorf("p99 of signed deliveries is %v, %v without the flood: want at most %v", flooded, quiet, most)
	}
}
