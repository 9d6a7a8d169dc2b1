package requeue_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"planbridge/bridge/factlog"
	"planbridge/bridge/logtest"
	"planbridge/bridge/requeue"
	"planbridge/mapping"
	"planbridge/store"
)

// answering are services that all answer.
type answering struct{}

func (answering) Away(string) bool                    { return false }
func (answering) Answers(string) bool                 { return true }
func (answering) Probe(context.Context, string) error { return nil }

// TestWaitsEndWhereAnotherReplicaWokeThem: the fact that keys wait also ends in a process that
// did not wake them, once none waits.
func TestWaitsEndWhereAnotherReplicaWokeThem(t *testing.T) {
	d, _ := newDesk(t, mapping.Linked, "acme/web")
	text := &logtest.Text{}
	log := slog.New(factlog.NewHandler(slog.NewTextHandler(text, nil), time.Now))
	r := requeue.New(requeue.Options{Store: d, Settings: d, Queue: d, Services: answering{}, Clock: d, Pauses: requeue.NewPauses(requeue.PauseOptions{}), Now: time.Now, Logger: log})
	const service = "repository:acme/web"
	over := func() int {
		t.Helper()
		if err := r.WakeWaiting(t.Context()); err != nil {
			t.Fatal(err)
		}
		factlog.Flush(t.Context(), log)
		return text.Lines(`over="keys wait"`)
	}
	claim, err := d.ClaimKey(t.Context(), store.Key{Project: project, Link: "l1"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Finish(t.Context(), claim, nil, nil, store.Outcome{Kind: store.Wait, Service: service, Reason: "it is archived"}); err != nil {
		t.Fatal(err)
	}
	log.Warn("waiting", "service", service, factlog.Fact, factlog.KeysWait)
	if n := over(); n != 0 {
		t.Errorf("it is over %d times while a key waits", n)
	}
	if _, err := d.Wake(t.Context(), project, service, store.WakePerSecond); err != nil { // by another replica
		t.Fatal(err)
	}
	if n := over(); n != 1 {
		t.Errorf("the log says\n%s", text)
	}
	if n := over(); n != 1 {
		t.Errorf("the log says that it is over again\n%s", text)
	}
}
