//go:build bench

package benchtest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/webhook"
)

// deliverer makes deliveries of some issues, each newer than the last.
type deliverer struct {
	t         testing.TB
	templates []map[string]any
	random    *rand.Rand
	made      int
	at        time.Time
}

// newDeliverer makes the payloads of so many issues of one that GitHub sent.
func newDeliverer(t testing.TB, issues int) *deliverer {
	t.Helper()
	sample, err := os.ReadFile("../github/testdata/issues.labeled.json")
	if err != nil {
		t.Fatal(err)
	}
	d := &deliverer{t: t, random: rand.New(rand.NewPCG(1, 1)), at: time.Now().Add(time.Minute)}
	for i := range issues {
		text := strings.NewReplacer("Codertocat/Hello-World/issues/1", fmt.Sprintf("%s/issues/%d", bridgetest.RepoName, i+1), "Codertocat/Hello-World", bridgetest.RepoName).Replace(string(sample))
		var p map[string]any
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		issue := p["issue"].(map[string]any)
		issue["id"], issue["number"], issue["title"], issue["body"] = 444500041+i, i+1, fmt.Sprintf("Issue %d", i+1), d.text()
		p["repository"].(map[string]any)["private"] = true
		d.templates = append(d.templates, p)
	}
	return d
}

// make returns whole HTTP requests: of each issue in turn an edit of its body
// of 1 KiB, then three labels.
func (d *deliverer) make(n int) [][]byte {
	requests := make([][]byte, n)
	for i := range requests {
		p := d.templates[d.made%len(d.templates)]
		issue := p["issue"].(map[string]any)
		delete(p, "changes")
		if p["action"] = "labeled"; d.made/len(d.templates)%4 == 0 {
			p["action"], p["changes"] = "edited", map[string]any{"body": map[string]any{"from": issue["body"]}}
			issue["body"] = d.text()
		}
		issue["updated_at"] = d.at.Add(time.Duration(d.made) * time.Second).UTC().Format(time.RFC3339)
		body, err := json.Marshal(p)
		if err != nil {
			d.t.Fatal(err)
		}
		d.made++
		requests[i] = fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: planbridge\r\nUser-Agent: GitHub-Hookshot/bench\r\nContent-Type: application/json\r\n"+
			"X-GitHub-Event: issues\r\nX-GitHub-Hook-ID: 1\r\nX-GitHub-Delivery: bench-%d\r\nX-Hub-Signature-256: %s\r\nContent-Length: %d\r\n\r\n%s",
			webhook.Path, d.made, signature(body), len(body), body)
	}
	return requests
}

// text is 1 KiB of which a part does not compress.
func (d *deliverer) text() string {
	noise := make([]byte, 512)
	for i := range noise {
		noise[i] = byte('a' + d.random.IntN(26))
	}
	return string(noise) + strings.Repeat("lorem ipsum dolor sit amet.\n", 18)
}

// sender is one connection. It costs much less than an http.Client, so that
// what is compared are the servers.
type sender struct {
	net.Conn
	in *bufio.Reader
}

func dial(url string) (*sender, error) {
	addr, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &sender{conn, bufio.NewReader(conn)}, nil
}

// send sends a request and reads its answer, which has to be 202.
func (s *sender) send(request []byte) error {
	if _, err := s.Write(request); err != nil {
		return err
	}
	length := 0
	for first := true; ; first = false {
		line, err := s.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimSpace(line)
		if first && !bytes.Contains(line, []byte(" 202 ")) {
			return fmt.Errorf("answer %q", line)
		}
		if len(line) == 0 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		}
	}
	_, err := s.in.Discard(length)
	return err
}

// senders runs f on so many connections at once.
func senders(t testing.TB, url string, many int, f func(s *sender, i int) error) {
	t.Helper()
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			s, err := dial(url)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close() //nolint:errcheck // all was answered
			if err := f(s, i); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// closedLoop sends requests, so many at once, each when an earlier one was
// answered, and returns the rate.
func closedLoop(t testing.TB, url string, atOnce int, requests [][]byte) float64 {
	t.Helper()
	var next atomic.Int64
	began := time.Now()
	senders(t, url, atOnce, func(s *sender, _ int) error {
		for i := next.Add(1) - 1; i < int64(len(requests)); i = next.Add(1) - 1 {
			if err := s.send(requests[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return float64(len(requests)) / time.Since(began).Seconds()
}

// openLoop sends requests at a fixed rate, whatever becomes of those before,
// and returns how long after its time each was answered.
func openLoop(t testing.TB, url string, requests [][]byte) []time.Duration {
	t.Helper()
	const conns = 64
	took := make([]time.Duration, len(requests))
	began := time.Now().Add(50 * time.Millisecond)
	senders(t, url, conns, func(s *sender, first int) error {
		for i := first; i < len(requests); i += conns {
			due := began.Add(time.Duration(i) * time.Second / intakeRate)
			<-time.After(time.Until(due))
			if err := s.send(requests[i]); err != nil {
				return err
			}
			took[i] = time.Since(due)
		}
		return nil
	})
	return took
}
