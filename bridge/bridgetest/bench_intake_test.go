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
	"path/filepath"
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
	"planbridge/bridge/githubtest"
	"planbridge/bridge/webhook"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

const (
	intakeConns  = 32   // deliveries under way at once in a closed loop
	intakeIssues = 200  // that the deliveries are of
	intakeRate   = 1000 // a second, in an open loop
	intakeRounds = 5    // of each server, by turns
)

// measureIntake compares the webhook listener with a bare server that reads the
// body and checks the signature. Nothing works the queue meanwhile, so that what
// is measured is the intake.
func measureIntake(n *numbers) {
	r, err := redisstore.Open(n.t.Context(), redisstore.Options{URL: redistest.Start(n.t).URL})
	if err != nil {
		n.t.Fatal(err)
	}
	f, err := boltstore.Open(filepath.Join(n.t.TempDir(), "planbridge.db"), boltstore.Options{})
	if err != nil {
		n.t.Fatal(err)
	}
	for _, s := range []struct {
		name string
		store.Store
	}{{"Redis (AOF everysec)", r}, {"the file store", f}} {
		n.t.Cleanup(func() {
			if err := s.Close(); err != nil {
				n.t.Error(err)
			}
		})
		if _, err := s.Epoch(n.t.Context()); err != nil {
			n.t.Fatal(err)
		}
		n.intake(s.name, s.Store)
	}
}

func (n *numbers) intake(name string, s store.Store) {
	d, own, bare := newDeliverer(n.t, intakeIssues), serve(n.t, intakeOn(s)), serve(n.t, http.HandlerFunc(bareIntake))
	closedLoop(n.t, own, d.make(len(d.templates))) // makes the links
	drain(n.t, s)

	row := "intake on " + name
	var ratios []float64
	for range intakeRounds {
		requests := d.make(n.scaled(4000))
		before := processorTime(n.t)
		peer := closedLoop(n.t, bare, requests)
		between := processorTime(n.t)
		got := closedLoop(n.t, own, requests)
		each := float64(len(requests)) * float64(time.Microsecond)
		n.record(row, "bare server and its clients, processor time", float64(between-before)/each, "µs each")
		n.record(row, "intake and its clients, processor time (Redis not included)", float64(processorTime(n.t)-between)/each, "µs each")
		n.record(row, "bare server, closed loop", peer, "1/s")
		n.record(row, "closed loop", got, "1/s")
		ratios = append(ratios, got/peer)
		drain(n.t, s)
	}
	n.atLeast(row+" against a bare server: rate in a closed loop", median(ratios), 0.6)

	var slower []float64
	var peers, gots []time.Duration
	for range 3 {
		requests := d.make(n.scaled(3 * intakeRate))
		peer, got := openLoop(n.t, bare, requests), openLoop(n.t, own, requests)
		slower = append(slower, float64(quantile(got, 0.99))/float64(quantile(peer, 0.99)))
		peers, gots = append(peers, peer...), append(gots, got...)
		drain(n.t, s)
	}
	for _, q := range []float64{0.5, 0.99} {
		n.record(row, fmt.Sprintf("bare server at %d/s, p%g", intakeRate, 100*q), quantile(peers, q).Seconds()*1000, "ms")
		n.record(row, fmt.Sprintf("at %d/s, p%g", intakeRate, 100*q), quantile(gots, q).Seconds()*1000, "ms")
	}
	n.shown(row+" against a bare server: p50 at 1,000/s", fmt.Sprintf("%.2g", float64(median(gots))/float64(median(peers))))
	n.atMost(row+" against a bare server: p99 at 1,000/s", median(slower), 3)
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
		Store:      s,
		Routes:     func() mapping.Routes { return routes },
		Scheme:     func() mapping.LabelScheme { return mapping.LabelScheme{Prefix: "plan:"} },
		Keys:       func() mapping.Keys { return keys },
		OwnAccount: func(login string) bool { return login == bridgetest.Bot },
		FirstRun:   func(string) time.Time { return time.Unix(1, 0) },
		Metrics:    webhook.NewMetrics(prometheus.NewRegistry()),
		Logger:     slog.New(slog.NewJSONHandler(io.Discard, nil)),
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

// bareIntake reads the body, checks its signature and answers.
func bareIntake(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !hmac.Equal([]byte(signature(body)), []byte(r.Header.Get("X-Hub-Signature-256"))) {
		rw.WriteHeader(http.StatusUnauthorized)
		return
	}
	rw.WriteHeader(http.StatusAccepted)
	fmt.Fprintln(rw, "stored")
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

// newDeliverer takes the payloads of so many issues from the simulated GitHub.
func newDeliverer(t testing.TB, issues int) *deliverer {
	t.Helper()
	hub, err := githubtest.Start(githubtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	repo := hub.AddRepo(bridgetest.RepoName, githubtest.RepoSpec{Private: true})
	hub.PauseDeliveries()
	hub.AddHook(bridgetest.RepoName, "http://127.0.0.1:1/", bridgetest.WebhookSecret)
	for i := range issues {
		repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprintf("Issue %d", i+1), Labels: []string{"bug", "points/3"}})
	}
	d := &deliverer{t: t, random: rand.New(rand.NewPCG(1, 1)), at: time.Now().Add(time.Minute)}
	for _, sent := range hub.Deliveries() {
		if sent.Event != "issues" || sent.Action != "opened" {
			continue
		}
		var payload map[string]any
		if err := json.Unmarshal(sent.Payload, &payload); err != nil {
			t.Fatal(err)
		}
		d.templates = append(d.templates, payload)
	}
	return d
}

// make returns whole HTTP requests: of each issue in turn an edit of its body
// of 2 KiB, then three labels.
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

// text is 2 KiB of which a part does not compress.
func (d *deliverer) text() string {
	noise := make([]byte, 512)
	for i := range noise {
		noise[i] = byte('a' + d.random.IntN(26))
	}
	return string(noise) + strings.Repeat("lorem ipsum dolor sit amet.\n", 55)
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
