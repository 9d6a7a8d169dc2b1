//go:build bench

package bridgetest_test

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/github"
	"planbridge/bridge/webhook"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

const (
	intakeConns  = 32   // deliveries under way at once in a closed loop
	intakeIssues = 500  // that the deliveries are of
	intakeRate   = 1000 // a second, in an open loop
	intakeRounds = 15   // of each server, by turns
)

// measureIntake compares the webhook listener with a bare server that reads the
// body and checks the signature, and with what no durable intake goes below: that
// server where it then also makes something durable, as cheaply as can be. What an
// intake keeps is either what it read in the payload or the payload unread, so
// that there are two such floors, beside one that knows what to keep for nothing.
// Nothing works the queue meanwhile, so that what is measured is the intake.
func measureIntake(n *numbers) {
	server := redistest.Start(n.t)
	r, err := redisstore.Open(n.t.Context(), redisstore.Options{URL: server.URL})
	if err != nil {
		n.t.Fatal(err)
	}
	f, err := boltstore.Open(filepath.Join(n.t.TempDir(), "planbridge.db"), boltstore.Options{})
	if err != nil {
		n.t.Fatal(err)
	}
	for _, s := range []intakeBench{
		{"intake on Redis (AOF everysec)", r, redisFloor(n.t, server), func() time.Duration { return processorTime(n.t) + redisTime(n.t, server) }},
		{"intake on the file store", f, boltFloor(n.t), func() time.Duration { return processorTime(n.t) }},
	} {
		n.t.Cleanup(func() {
			if err := s.Close(); err != nil {
				n.t.Error(err)
			}
		})
		if _, err := s.Epoch(n.t.Context()); err != nil {
			n.t.Fatal(err)
		}
		n.intake(s)
	}
}

// intakeBench is an intake on one store, with how its floors make bytes durable.
type intakeBench struct {
	row string
	store.Store
	keep floor
	used func() time.Duration // processor time of everything but what the machine does besides
}

// peer is one of the servers that are compared.
type peer struct {
	name, url string
	rates     []float64
	costs     []float64 // µs of processor time a delivery, clients and Redis included
	took      []time.Duration
	slow      []float64 // p99 of each open loop, in ms
}

func (n *numbers) intake(s intakeBench) {
	d := newDeliverer(n.t, intakeIssues)
	own := &peer{name: "intake", url: serve(n.t, intakeOn(s.Store))}
	bare := &peer{name: "bare server", url: serve(n.t, bareIntake(nil))}
	floors := []*peer{
		{name: "floor", url: serve(n.t, bareIntake(some(s.keep)))},
		{name: "floor, payload kept unread", url: serve(n.t, bareIntake(s.keep))},
		{name: "floor, payload read", url: serve(n.t, bareIntake(read(some(s.keep))))},
	}
	closedLoop(n.t, own.url, d.make(len(d.templates))) // makes the links
	drain(n.t, s.Store)

	peers := append([]*peer{bare, own}, floors...)
	for range intakeRounds {
		requests := d.make(n.scaled(2000))
		for _, p := range peers {
			runtime.GC() // nobody pays for another's garbage
			before := s.used()
			p.rates = append(p.rates, closedLoop(n.t, p.url, requests))
			p.costs = append(p.costs, (s.used()-before).Seconds()*1e6/float64(len(requests)))
		}
		drain(n.t, s.Store)
	}
	for range 5 {
		requests := d.make(n.scaled(2 * intakeRate))
		for _, p := range peers {
			runtime.GC()
			took := openLoop(n.t, p.url, requests)
			p.took = append(p.took, took...)
			p.slow = append(p.slow, quantile(took, 0.99).Seconds()*1000)
		}
		drain(n.t, s.Store)
	}
	n.compareIntake(s.row, bare, own, floors)
}

func (n *numbers) compareIntake(row string, bare, own *peer, floors []*peer) {
	for _, p := range append([]*peer{bare, own}, floors...) {
		n.record(row, p.name+": processor time of a delivery", median(p.costs), "µs")
		n.record(row, p.name+": processor time of a delivery, least of all rounds", slices.Min(p.costs), "µs")
		n.record(row, p.name+": closed loop", median(p.rates), "1/s")
		n.record(row, fmt.Sprintf("%s: p50 at %d/s", p.name, intakeRate), quantile(p.took, 0.5).Seconds()*1000, "ms")
		n.record(row, fmt.Sprintf("%s: p99 at %d/s", p.name, intakeRate), quantile(p.took, 0.99).Seconds()*1000, "ms")
	}
	n.atLeast(row+" against a bare server: rate in a closed loop", ratio(own.rates, bare.rates), 0.6)
	n.shown("… by processor time, which other work on the machine changes less", fmt.Sprintf("%.2f", ratio(bare.costs, own.costs)))
	n.atMost("… p99 at 1,000/s", ratio(own.slow, bare.slow), 3)
	n.shown("… processor time of a delivery: bare, intake", fmt.Sprintf("%.0f, %.0f µs", median(bare.costs), median(own.costs)))
	for _, p := range floors {
		n.shown(fmt.Sprintf("… %s: rate; by processor time; p99", p.name), fmt.Sprintf("%.2f; %.2f (%.0f µs); %.2g times",
			ratio(p.rates, bare.rates), ratio(bare.costs, p.costs), median(p.costs), ratio(p.slow, bare.slow)))
	}
}

// ratio is the median of what each round found.
func ratio(of, to []float64) float64 {
	each := make([]float64, len(of))
	for i := range of {
		each[i] = of[i] / to[i]
	}
	return median(each)
}

const intakeProject = mapping.ObjectID("54744060c955ca8169c61ee6")

// intakeOn is the intake as the bridge wires it.
func intakeOn(s store.Store) http.Handler {
	routes := mapping.NewRoutes([]mapping.Route{{
		Name: "web", Repository: bridgetest.RepoName, Project: intakeProject, Bucket: bridgetest.Bucket,
		Direction: mapping.Both, CreateIssues: true, TrackingTask: true, Tasks: mapping.TasksSubIssues,
	}})
	keys := mapping.NewKeys([]byte("a key that nobody knows, of some length"))
	return webhook.New(webhook.Options{
		Secrets: func() [][]byte { return [][]byte{[]byte(bridgetest.WebhookSecret)} },
		Verify:  github.VerifySignature, Payload: github.Payload,
		Parse: func(name string, payload []byte) (webhook.Event, error) {
			e, err := github.ParseEvent(name, payload)
			return webhook.Event{
				Action: e.Action, Issue: e.Issue, Repo: e.Repo, Private: e.RepoPrivate, Sender: e.Sender,
				TitleFrom: e.Changes.TitleFrom, BodyFrom: e.Changes.BodyFrom,
			}, err
		},
		Store:    s,
		Routes:   func() mapping.Routes { return routes },
		Scheme:   func() mapping.LabelScheme { return mapping.LabelScheme{Prefix: "plan:"} },
		Keys:     func() mapping.Keys { return keys },
		Whose:    func(string) mapping.Whose { return mapping.Theirs },
		FirstRun: func(string) time.Time { return time.Unix(1, 0) },
		Metrics:  webhook.NewMetrics(prometheus.NewRegistry()),
		Logger:   slog.New(slog.NewJSONHandler(io.Discard, nil)),
	})
}

// processorTime is what this process has used so far.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// drain works all keys, so that nothing adds up.
func drain(t testing.TB, s store.Store) {
	t.Helper()
	for {
		c, _, err := s.Claim(t.Context(), intakeProject, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			return
		}
		if err := s.Finish(t.Context(), c, c.Link, nil, store.Outcome{}); err != nil {
			t.Fatal(err)
		}
	}
}

// bareIntake reads the body, checks its signature, lets keep have what is to be
// kept of it, and answers.
func bareIntake(keep floor) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !hmac.Equal([]byte(signature(body)), []byte(r.Header.Get("X-Hub-Signature-256"))) {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		if keep != nil {
			if err := keep(r.Header.Get("X-GitHub-Delivery"), body); err != nil {
				rw.WriteHeader(http.StatusServiceUnavailable)
				return
			}
		}
		rw.WriteHeader(http.StatusAccepted)
		fmt.Fprintln(rw, "stored")
	})
}

// serve serves a handler on a listener as the bridge has it.
func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := webhook.Server("", h)
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(l) //nolint:errcheck // it ends by Close only, and then says so
	}()
	t.Cleanup(func() {
		srv.Close() //nolint:errcheck // nothing is left to be said
		<-done
	})
	return "http://" + l.Addr().String() + webhook.Path
}

func signature(body []byte) string {
	m := hmac.New(sha256.New, []byte(bridgetest.WebhookSecret))
	m.Write(body)
	return "sha256=" + hex.EncodeToString(m.Sum(nil))
}

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

// closedLoop sends each request when an earlier one was answered, and returns
// the rate.
func closedLoop(t testing.TB, url string, requests [][]byte) float64 {
	t.Helper()
	var next atomic.Int64
	began := time.Now()
	senders(t, url, intakeConns, func(s *sender, _ int) error {
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
	took := make([]time.Duration, len(requests))
	began := time.Now().Add(50 * time.Millisecond)
	senders(t, url, 2*intakeConns, func(s *sender, first int) error {
		for i := first; i < len(requests); i += 2 * intakeConns {
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
