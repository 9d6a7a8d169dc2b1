package github

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/bridge/logtest"
	"planbridge/mapping"
)

// TestLimitIsOneFact: a limit is a line when it begins, one a minute, and one when a request
// goes through again.
func TestLimitIsOneFact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logtest.Text
		logger := slog.New(factlog.NewHandler(slog.NewTextHandler(&log, nil), clock.Runtime{}))
		g := &gate{log: logger}
		k := call{op: "issue.get", class: classRead, path: "repos/acme/web/issues/1"}
		meets := func(after time.Duration) {
			resource := g.shut(k, limit{RateLimited: &mapping.RateLimited{API: "github", After: after, Why: "a limit"}, primary: true})
			logger.Warn("github rate limit", "resource", resource, "fact", "GitHub limits requests")
		}
		lines := func() (began, over int) {
			factlog.Flush(t.Context(), logger)
			return strings.Count(log.String(), "fact="), strings.Count(log.String(), "over=")
		}
		for range 5 {
			meets(10 * time.Second)
		}
		if began, over := lines(); began != 1 || over != 0 {
			t.Errorf("at first: %d lines of the limit, %d of its end:\n%s", began, over, log.String())
		}
		if g.check(t.Context(), k) == nil {
			t.Error("a request may leave while the limit lasts")
		}
		time.Sleep(2 * time.Minute)
		if err := g.check(t.Context(), k); err != nil {
			t.Error(err)
		}
		if _, over := lines(); over != 0 {
			t.Error("it is over before a request went through")
		}
		g.passed(k)
		g.passed(k)
		if began, over := lines(); began != 1 || over != 1 {
			t.Errorf("in the end: %d lines of the limit, %d of its end:\n%s", began, over, log.String())
		}
	})
}

// TestLimitEndsForItsResource: a request tells of the resource that it stands under alone, and
// nothing is over that was closed again.
func TestLimitEndsForItsResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logtest.Text
		g := &gate{log: slog.New(slog.NewTextHandler(&log, nil))}
		core, search := call{path: "repos/acme/web"}, call{path: "search/issues"}
		shut := func(k call) {
			g.shut(k, limit{RateLimited: &mapping.RateLimited{API: "github", After: time.Minute, Why: "a limit"}, primary: true})
		}
		ends := func(k call, want string) {
			t.Helper()
			before := len(log.String())
			g.passed(k)
			if got := log.String()[before:]; strings.Count(got, "over=") != min(1, len(want)) || !strings.Contains(got, want) {
				t.Errorf("ended: %q, want %q", got, want)
			}
		}
		shut(core)
		shut(search)
		time.Sleep(2 * time.Minute)
		for _, k := range []call{core, search} {
			if err := g.check(t.Context(), k); err != nil {
				t.Error(err)
			}
		}
		ends(core, ResourceCore)
		shut(search)
		ends(search, "")
		time.Sleep(2 * time.Minute)
		if err := g.check(t.Context(), search); err != nil {
			t.Error(err)
		}
		ends(core, "")
		ends(search, ResourceSearch)
	})
}
