package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// forge sends bodies of 25 MiB with a wrong signature over connections, each as soon as
// its last one was answered, until standard input ends. It prints how many bytes it sent.
func forge(addr string, connections int) {
	var sent atomic.Int64
	for range connections {
		go func() {
			for {
				if err := forgery(addr, &sent); err != nil {
					return
				}
			}
		}()
	}
	io.Copy(io.Discard, os.Stdin) //nolint:errcheck // its end is what counts
	fmt.Println(sent.Load())
}

// forgery sends one body with a wrong signature until it is answered.
func forgery(addr string, sent *atomic.Int64) error {
	const size = 25 << 20
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-GitHub-Event: issues\r\n"+
		"X-GitHub-Delivery: %d\r\nX-Hub-Signature-256: sha256=%064d\r\nContent-Length: %d\r\n\r\n", time.Now().UnixNano(), 0, size)
	go func() {
		junk := make([]byte, 64<<10)
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
	return nil
}

// forgeries has a process forge until stop is called. It gives way to others: forgers
// share no processor with what they attack.
func forgeries(t *testing.T, addr string, connections int) (stop func() (sent int)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "nice", "-n", "19", os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", forgeEnv, connections, addr))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() int {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		sent, err := strconv.Atoi(strings.TrimSpace(out.String()))
		if err != nil {
			t.Fatal(err)
		}
		return sent
	}
}

// forgeEnv makes the test's program a forger: connections and an address.
const forgeEnv = "PLANBRIDGE_FORGE"

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

// TestMeasuredForgedBodiesFlood: sixty connections send bodies of 25 MiB with a wrong signature,
// again and again. They neither take the memory of the process nor delay signed deliveries.
func TestMeasuredForgedBodiesFlood(t *testing.T) {
	const (
		connections = 60
		deliveries  = 300
		mostMemory  = 256 // MiB
		slower      = 3
		rounds      = 5
		// noise is what a delivery may take on a machine that does other things.
		noise = 20 * time.Millisecond
	)
	addr := freePort(t)
	op := newOperator(t, bridgetest.Options{}, func(text string) string { return public(addr)(admin(freePort(t))(text)) })
	s := op.serve()
	op.until("it is ready", func() bool { return op.run("health", "--ready").status == exitOK })
	op.signed(addr, deliveries/10) // connections and caches are made
	quiet := op.signed(addr, deliveries)
	before := peakMemory(t, s.cmd.Process.Pid)

	began := time.Now()
	stop := forgeries(t, addr, connections)
	var took []time.Duration
	for len(took) < rounds || time.Since(began) < 3*time.Second {
		took = append(took, op.signed(addr, deliveries))
	}
	sent := stop()
	// The flood delays most rounds, what else the machine does only some.
	slices.Sort(took)
	flooded := took[len(took)/2]
	peak := peakMemory(t, s.cmd.Process.Pid)
	t.Logf("p99 %v quiet, %v flooded; memory %d MiB quiet, %d MiB flooded; %d MiB sent", quiet, flooded, before, peak, sent>>20)
	if peak >= mostMemory {
		t.Errorf("the process had %d MiB, want less than %d", peak, mostMemory)
	}
	if most := slower * max(quiet, noise); flooded > most {
		t.Errorf("p99 of signed deliveries is %v, %v without the flood: want at most %v", flooded, quiet, most)
	}
}
