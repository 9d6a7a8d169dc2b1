//go:build bench

package benchtest_test

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/bridge/tuning"
	"planbridge/bridge/webhook"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
	"planbridge/store/redisstore"
)

// Kinds of servers that are compared.
const (
	peerBare   = "bare"   // reads the body and checks the signature
	peerTuned  = "tuned"  // bare, with the bridge's settings of the runtime
	peerIntake = "intake" // the bridge's
	peerSome   = "some"   // bare, and keeps as much as the intake does
	peerUnread = "unread" // bare, and keeps the payload
	peerRead   = "read"   // bare, and reads the payload, and keeps as much as the intake does
)

// The request to a peer, in a line; it answers by one with a number.
const (
	askUsed    = "used"    // µs of processor time so far
	askCollect = "collect" // to collect its garbage
	askDrain   = "drain"   // to work all keys, so that nothing adds up
)

const (
	peerKindEnv  = "PLANBRIDGE_BENCH_PEER"
	peerStoreEnv = "PLANBRIDGE_BENCH_STORE"
)

// peer is a server in a process of its own.
type peer struct {
	t    testing.TB
	url  string
	asks io.WriteCloser
	says *bufio.Reader
}

// startPeer starts a server of a kind that keeps things in a store (a URL of Redis or
// a file); it ends with the test.
func startPeer(t testing.TB, kind, where string) *peer {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestIntakePeer$")
	cmd.Env, cmd.Stderr = append(os.Environ(), peerKindEnv+"="+kind, peerStoreEnv+"="+where), os.Stderr
	asks, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	says, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, asks: asks, says: bufio.NewReader(says)}
	t.Cleanup(func() {
		asks.Close()                //nolint:errcheck // it ends then, or has ended
		io.Copy(io.Discard, p.says) //nolint:errcheck // what it says at the end
		if err := cmd.Wait(); err != nil {
			t.Errorf("peer %s: %v", kind, err)
		}
	})
	p.url = p.line()
	return p
}

func (p *peer) line() string {
	p.t.Helper()
	line, err := p.says.ReadString('\n')
	if err != nil {
		p.t.Fatalf("a peer says %q: %v", line, err)
	}
	return strings.TrimSpace(line)
}

func (p *peer) ask(what string) (number int64) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.asks, what); err != nil {
		p.t.Fatal(err)
	}
	if _, err := fmt.Sscan(p.line(), &number); err != nil {
		p.t.Fatal(err)
	}
	return number
}

// TestIntakePeer is what a peer's process runs. By itself it asks each kind
// of peer to take one delivery.
func TestIntakePeer(t *testing.T) {
	kind, where := os.Getenv(peerKindEnv), os.Getenv(peerStoreEnv)
	if kind == "" {
		for _, kind := range []string{peerBare, peerTuned, peerIntake, peerSome, peerUnread, peerRead} {
			closedLoop(t, startPeer(t, kind, t.TempDir()+"/"+kind).url, 1, newDeliverer(t, 1).make(1))
		}
		return
	}
	h, s := bareIntake(nil), store.Store(nil)
	switch kind {
	case peerTuned:
		defer tuning.Apply(os.LookupEnv)()
	case peerIntake:
		defer tuning.Apply(os.LookupEnv)()
		s = peerStore(t, where)
		h = intakeOn(t, s)
	case peerSome:
		h = bareIntake(some(floorOn(t, where)))
	case peerUnread:
		h = bareIntake(floorOn(t, where))
	case peerRead:
		h = bareIntake(read(some(floorOn(t, where))))
	}
	fmt.Println(serve(t, h))
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
		switch asked.Text() {
		case askUsed:
			fmt.Println(processorTime(t).Microseconds())
			continue
		case askCollect:
			runtime.GC()
		case askDrain:
			drain(t, s)
		}
		fmt.Println(0)
	}
}

func peerStore(t testing.TB, where string) store.Store {
	t.Helper()
	var s store.Store
	var err error
	if onRedis(where) {
		s, err = redisstore.Open(t.Context(), redisstore.Options{URL: where})
	} else {
		s, err = boltstore.Open(where, boltstore.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Epoch(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func onRedis(where string) bool { return strings.HasPrefix(where, "redis://") }

func floorOn(t testing.TB, where string) floor {
	t.Helper()
	if addr, on := strings.CutPrefix(where, "redis://"); on {
		return redisFloor(t, addr)
	}
	return boltFloor(t, where)
}

const intakeProject = mapping.ObjectID("54744060c955ca8169c61ee6")

// intakeConfig is what the bridge needs to take deliveries in. Nobody is asked at
// its addresses.
const intakeConfig = `
github:
  api_url: http://127.0.0.1:1
  webhook_secrets: [env:WEBHOOK_SECRET]
  token: env:SECRET
planning:
  base_url: http://127.0.0.1:1
  projects: {web: {id: ` + string(intakeProject) + `, secret: env:SECRET, username: bridge}}
marker_key: env:SECRET
routes: [{repository: ` + bridgetest.RepoName + `, project: web, bucket: ` + bridgetest.Bucket + `}]
`

// intakeOn is the intake of a bridge that is not started, so that nothing works its
// queue. It knows its account, and logs as serve does.
func intakeOn(t testing.TB, s store.Store) http.Handler {
	t.Helper()
	c, err := config.Parse([]byte(intakeConfig), "planbridge.yaml", func(name string) (string, bool) {
		if name == "WEBHOOK_SECRET" {
			return bridgetest.WebhookSecret, true
		}
		return "a-secret-that-nobody-knows-of-some-length", true
	})
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	app, err := bridge.New(bridge.Options{Config: c, Store: s, Logger: slog.New(slog.NewJSONHandler(null, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(app.Stop(context.Background()), null.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(s.PutDoc(t.Context(), "", "account", []byte("planbridge")), app.Reach(t.Context())); err != nil {
		t.Fatal(err)
	}
	return app.Intake()
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
			if err := keep(body); err != nil {
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
