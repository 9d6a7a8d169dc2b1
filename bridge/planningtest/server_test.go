package planningtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"planbridge/bridge/planningtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestJournal(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, planningtest.Options{
		Clock:  fixedClock,
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	w.get("/backlog/items")
	body := `[{"username":"alice","title":{"value":"A"}},{"username":"bridge"}]`
	w.post(w.bucketPath("Bugs"), body)
	calls := w.s.Journal()
	if len(calls) != 2 || calls[0].Op != planningtest.OpBacklogItems || calls[0].Status != 200 || calls[0].Seq != 1 {
		t.Fatalf("journal %+v", calls)
	}
	create := calls[1]
	if create.Op != planningtest.OpCardCreate || create.Username != "alice" || create.Body != body || create.Seq != 2 ||
		create.Method != "POST" || !strings.HasSuffix(create.Path, w.bucketPath("Bugs")) || !create.Time.Equal(monday) {
		t.Errorf("the create is noted as %+v", create)
	}
	if n := w.s.Calls(planningtest.OpCardCreate, planningtest.OpBacklogItems); n != 2 {
		t.Errorf("%d calls", n)
	}
	if !strings.Contains(log.String(), "op=card.create status=200 user=alice") {
		t.Errorf("log: %s", log.String())
	}
	w.s.ResetJournal()
	if len(w.s.Journal()) != 0 || w.s.Calls() != 0 {
		t.Error("the journal was not reset")
	}
}

func TestDown(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	url := w.s.URL()
	w.get("")
	w.s.Down(true)
	w.s.Down(true)
	if _, err := w.try("GET", "", ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("down: %v, want a refused connection", err)
	}
	id := w.newCard(planningtest.CardSpec{Title: "while down"})
	w.s.Down(false)
	w.s.Down(false)
	if w.s.URL() != url {
		t.Errorf("it came back at %s, was at %s", w.s.URL(), url)
	}
	w.want(w.get("/items/"+id), map[string]string{"title.value": `"while down"`})
}

// TestUpWaitsForItsAddress: the server waits for an address that is taken for a moment.
func TestUpWaitsForItsAddress(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	w.s.Down(true)
	left, err := net.Listen("tcp", strings.TrimPrefix(w.s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { left.Close() }) //nolint:errcheck // nobody connected
	w.s.Down(false)
	w.get("")
}

func TestStartRefusesATakenAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := planningtest.Start(planningtest.Options{Addr: l.Addr().String()}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("start: %v", err)
	}
}

func TestLatency(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	w.s.SetLatency(20 * time.Millisecond)
	w.get("")
	if d := w.s.Journal()[0].Duration; d < 20*time.Millisecond {
		t.Errorf("the call took %v", d)
	}
	w.s.SetLatency(time.Hour)
	answered := make(chan error, 1)
	go func() {
		_, err := w.try("GET", "", "")
		answered <- err
	}()
	w.s.Close()
	if err := <-answered; err == nil {
		t.Error("a closed server answered")
	}
}

func TestWait(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := w.s.Wait(ctx, func(*planningtest.Server) bool { return false }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait: %v", err)
	}
	go w.newCard(planningtest.CardSpec{Title: "A"})
	w.eventually("a card", func() bool { return len(w.p.Cards()) == 1 })
	go func() { _, _ = w.try("GET", "", "") }()
	w.eventually("a call", func() bool { return w.s.Calls() == 1 })
}

// TestDeterminism: the same calls give the same answers, ids included.
func TestDeterminism(t *testing.T) {
	run := func() string {
		w := newWorld(t, planningtest.Options{Clock: fixedClock})
		id := w.post(w.bucketPath("Bugs"), `{"username":"bridge","title":{"value":"A"}}`).id(t, "_id")
		w.p.NewTask(id, "alice", planningtest.TaskSpec{Title: "T"})
		return w.get("/backlog/items").text + w.get("/items/"+id+"/tasks").text + w.get("").text
	}
	if a, b := run(), run(); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}

// TestConcurrency: of many who write the same version one wins, and every act
// is counted once.
func TestConcurrency(t *testing.T) {
	w := newWorld(t, planningtest.Options{})
	id := w.newCard(planningtest.CardSpec{Title: "A"})
	const clients = 8
	var group sync.WaitGroup
	statuses := make([]int, clients)
	for i := range clients {
		group.Go(func() {
			r, err := w.try("PUT", "/items/"+id, fmt.Sprintf(`{"username":"bridge","title":{"value":"B%d","version":0}}`, i))
			if err != nil {
				t.Error(err)
			}
			statuses[i] = r.status
			w.p.NewTask(id, "alice", planningtest.TaskSpec{Title: "T"})
			w.s.SetTraits(func(t *traits) { t.FloatNumbers = i%2 == 0 })
			_, _ = w.try("GET", "/backlog/items", "")
			w.p.Cards()
		})
	}
	group.Wait()
	won := 0
	for _, status := range statuses {
		if status == 200 {
			won++
		}
	}
	c := w.p.Card(id)
	if won != 1 || c.TitleVersion != 1 || len(c.Tasks) != clients || c.Version != 2+2*clients || c.CountersVersion != clients {
		t.Errorf("%d won; card %+v", won, c)
	}
	if w.s.Calls() != 2*clients {
		t.Errorf("%d calls in the journal", w.s.Calls())
	}
}

func BenchmarkBacklog(b *testing.B) {
	s, err := planningtest.Start(planningtest.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	p := s.AddProject(planningtest.ProjectSpec{Title: "Web", Secret: secret, Buckets: []string{"Incoming"}})
	p.AddCards("Incoming", 10_000)
	req, err := http.NewRequest("GET", s.URL()+"/api/projects/"+p.ID()+"/backlog/items", nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "secret "+secret)
	for b.Loop() {
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil || n < 10_000*100 {
			b.Fatalf("%d bytes, %v", n, err)
		}
		b.SetBytes(n)
	}
}
