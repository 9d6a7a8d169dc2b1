package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"planbridge/bridge/status"
)

// TestFollowTellsTheLastAnswer: a job's result is not its last step.
func TestFollowTellsTheLastAnswer(t *testing.T) {
	answers := map[string]string{
		http.MethodPost: `{"id": "j1", "state": "running", "doing": "waiting for GitHub", "verify": {"links": 0}}`,
		http.MethodGet:  `{"id": "j1", "state": "done", "verify": {"links": 2}}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, answers[r.Method]) //nolint:errcheck // who asks would notice
	}))
	t.Cleanup(s.Close)
	c := &client{base: s.URL, http: s.Client(), close: func() error { return nil }}
	shown := 0
	job, err := c.follow(t.Context(), "/api/v1/verify", nil, func(status.Job) { shown++ })
	if err != nil || job.State != status.JobDone || job.Doing != "" || job.Verify == nil || job.Verify.Links != 2 || shown != 2 {
		t.Errorf("shown %d times, %+v, %v", shown, job, err)
	}
}
