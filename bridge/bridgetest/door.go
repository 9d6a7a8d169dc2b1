package bridgetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"planbridge/bridge/status"
)

// Client calls the bridge as people and services do.
func (w *World) Client() *http.Client {
	if w.o.Network != nil {
		return &http.Client{Transport: w.o.Network}
	}
	return http.DefaultClient
}

// WebhookURL is where the bridge takes deliveries.
func (w *World) WebhookURL() string { return "http://" + w.listen + "/webhooks/github" }

// AdminURL is the root of the bridge's admin listener.
func (w *World) AdminURL() string { return "http://" + w.App.AdminAddr() }

// Metric is the value of one of the bridge's metrics; name has its labels and no prefix. It
// is "absent" where there is no such metric.
func (w *World) Metric(name string) (string, error) {
	resp, err := w.Client().Get(w.AdminURL() + "/metrics")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "planbridge_"+name+" "); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "absent", nil
}

// AdminClient is a client that keeps no connection to a process that may be killed.
var AdminClient = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// Door is a bridge's admin listener.
type Door struct {
	Client *http.Client
	Admin  string // host and port
}

// Queues asks the bridge for its store's queues.
func (p *Door) Queues(ctx context.Context) (status.Overview, error) {
	var out status.Overview
	return out, p.Ask(ctx, http.MethodGet, "/api/v1/overview", nil, &out)
}

// Failures asks the bridge for the parked keys.
func (p *Door) Failures(ctx context.Context) ([]status.Failure, error) {
	var out struct {
		Failures []status.Failure `json:"failures"`
	}
	err := p.Ask(ctx, http.MethodGet, "/api/v1/failures", nil, &out)
	return out.Failures, err
}

// Waits asks the bridge for the keys that are in the queue and not due.
func (p *Door) Waits(ctx context.Context) ([]status.Standing, error) {
	var out status.Queue
	err := p.Ask(ctx, http.MethodGet, "/api/v1/queue?limit=1000", nil, &out)
	return out.Keys, err
}

// RetryAll retries all failures, as an operator does when the faults are over.
func (p *Door) RetryAll(ctx context.Context) error {
	return p.Ask(ctx, http.MethodPost, "/api/v1/failures/retry", []byte(`{"key":"all"}`), nil)
}

// Ask sends a request to the admin listener, and reads the answer into a value; nil: into none.
func (p *Door) Ask(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+p.Admin+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
