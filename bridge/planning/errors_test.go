package planning

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"7": 7 * time.Second, " 7 ": 7 * time.Second, "1.5": 1500 * time.Millisecond, "0": time.Second, "-5": time.Second,
		"": 30 * time.Second, "soon": 30 * time.Second, "NaN": 30 * time.Second, "999999999999": time.Hour, "1e300": time.Hour, "Inf": time.Hour,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		now.Add(-time.Minute).Format(http.TimeFormat):     time.Second,
		now.AddDate(1, 0, 0).Format(http.TimeFormat):      time.Hour,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("Retry-After %q = %v, want %v", header, got, want)
		}
	}
}

func TestRateLimited(t *testing.T) {
	for _, tt := range []struct {
		status int
		header string
		want   time.Duration // 0: not limited
	}{{429, "3", 3 * time.Second}, {429, "", 30 * time.Second}, {503, "4", 4 * time.Second}, {503, "", 0}, {500, "4", 0}} {
		c, rec := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if tt.header != "" {
				w.Header().Set("Retry-After", tt.header)
			}
			w.WriteHeader(tt.status)
		}, func(o *Options) { o.BreakerAfter = 1 })
		_, err := c.Card(ctx(), cardID)
		var limited *mapping.RateLimited
		if errors.As(err, &limited) != (tt.want > 0) {
			t.Fatalf("%d %q: %v", tt.status, tt.header, err)
		}
		if tt.want == 0 {
			continue
		}
		if limited.After != tt.want || limited.API != "planning" || limited.Why == "" {
			t.Errorf("%d %q: %+v", tt.status, tt.header, limited)
		}
		if _, err = c.UpdateCard(ctx(), cardID, "u", mapping.LinkImages, title("x", 1)); !errors.As(err, &limited) {
			t.Errorf("write: %v", err)
		}
		if n := len(rec.requests()); n != 2 || c.Down() {
			t.Errorf("%d requests, down %v: a limit is neither repeated nor an outage", n, c.Down())
		}
	}
}

func TestRejectionWords(t *testing.T) {
	for _, tt := range []struct {
		body, words, field string
	}{
		{`{"error":"Title too long"}`, "Title too long", "title"},
		{`{"message":"bad","errors":{"summary":["too long","no"]}}`, "summary: too long; summary: no; bad", "summary"},
		{`{"errors":[{"field":"estimate","message":"must be an integer"}]}`, "estimate; must be an integer", "estimate"},
		{`{"error":{"code":"E1","description":"User mallory is not a member of this project"}}`, "E1; User mallory is not a member of this project", "username"},
		{`{"error":"unknown username"}`, "unknown username", "username"},
		{`{"error":"no such user"}`, "no such user", "username"},
		{`{"error":"alice may not write the title"}`, "alice may not write the title", "username"},
		{`{"error":"title given by user is empty"}`, "title given by user is empty", "title"},
		{`{"error":"state of affairs"}`, "state of affairs", ""},
		{`{"error":"subtitle, titles"}`, "subtitle, titles", ""},
		{`{"status":"fail","n":[1]}`, "", ""},
		{`plain words`, "plain words", ""},
		{`<html><head><title>400</title></head><body><h1>Bad   Request</h1>
			<script>x()</script></body></html>`, "Bad Request", ""},
		{``, "", ""},
		{"tab\there\x00and\x07there", "tab here and there", ""},
		{"bad \xff bytes", "bad bytes", ""},
	} {
		c, _ := serve(t, answering(400, tt.body))
		_, err := c.CreateCard(ctx(), "b", "alice", NewCard{Title: "x"})
		var r *mapping.Rejection
		if !errors.As(err, &r) {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		if r.Message != tt.words || r.Field != tt.field || r.Status != 400 {
			t.Errorf("%s: %+v", tt.body, r)
		}
	}
}

func TestWordsAreBounded(t *testing.T) {
	for _, body := range []string{strings.Repeat("é ", 5000), `{"error":"` + strings.Repeat("é", 5000) + `"}`} {
		c, _ := serve(t, answering(400, body))
		_, err := c.CreateCard(ctx(), "b", "u", NewCard{})
		var r *mapping.Rejection
		if !errors.As(err, &r) || len([]rune(r.Message)) != maxWords || !strings.HasSuffix(r.Message, "…") {
			t.Errorf("%d characters", len([]rune(r.Message)))
		}
	}
}

// A refused username is told from a refused secret by what the words name, on
// writes alone.
func TestRefusedUser(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 422} {
		for _, said := range []string{"alice cannot write", "not a project member", "unknown username"} {
			c, _ := serve(t, answering(status, `{"error":"`+said+`"}`))
			_, err := c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, title("x", 1))
			var r *mapping.Rejection
			if !errors.As(err, &r) || r.Field != "username" || r.Status != status {
				t.Errorf("%d %s: %v", status, said, err)
			}
			wantFault(t, err, mapping.ErrRejected)
			_, err = c.Card(ctx(), cardID)
			if status == 403 {
				wantFault(t, err, mapping.ErrUnauthorized)
			}
		}
	}
	for _, said := range []string{"user not authorized", "invalid secret", "forbidden", "malice"} {
		c, _ := serve(t, answering(403, said))
		_, err := c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, title("x", 1))
		wantFault(t, err, mapping.ErrUnauthorized)
	}
}

// The secret is in no error, even where the service quotes it.
func TestSecretIsNotTold(t *testing.T) {
	for _, status := range []int{200, 302, 400, 403, 404, 409, 500} {
		for _, body := range []string{"no " + testSecret, `{"error":"no ` + testSecret + `"}`, `{"error":{"` + testSecret + `":"x"}}`} {
			c, _ := serve(t, answering(status, body))
			_, e1 := c.UpdateCard(ctx(), cardID, "u", mapping.LinkImages, title("x", 1))
			_, e2 := c.Card(ctx(), cardID)
			_, e3 := c.CreateCard(ctx(), "b", "u", NewCard{})
			_, e4 := c.Backlog(ctx())
			if err := errors.Join(e1, e2, e3, e4); err != nil && strings.Contains(err.Error(), testSecret) {
				t.Error(err)
			}
		}
	}
	c := client(t, "http://127.0.0.1:1")
	if _, err := c.Card(ctx(), cardID); err == nil || strings.Contains(err.Error(), testSecret) {
		t.Error(err)
	}
}
