package bridge_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/mapping"
	"planbridge/store/boltstore"
)

// An App that is not started takes deliveries once it has reached its store, and
// leaves store and deliveries as they are.
func TestUnstarted(t *testing.T) {
	w := world(t, bridgetest.Options{Idle: true})
	s, err := boltstore.Open(t.TempDir()+"/planbridge.db", boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is read of it any more
	a, err := bridge.New(bridge.Options{Config: load(t, w, same), Store: s, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Intake())
	defer server.Close()
	if code := deliver(t, server.Listener.Addr().String(), bridgetest.WebhookSecret, "early"); code != http.StatusServiceUnavailable {
		t.Errorf("a delivery before the store was reached = %d", code)
	}
	if err := a.Reach(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code := deliver(t, server.Listener.Addr().String(), bridgetest.WebhookSecret, "guid"); code != http.StatusAccepted {
		t.Errorf("a delivery = %d", code)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if depth, err := s.Depth(t.Context(), mapping.ObjectID(w.Project.ID())); err != nil || depth.Live+depth.Bulk != 1 {
		t.Errorf("the store that was given has %+v queued, %v", depth, err)
	}
}
