package mapping

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestFaults: each kind of error is told from all others, wrapped or not, and says what it is.
// TestReasonOfALimit: all that wait for one limit have one reason, without a time.
func TestReasonOfALimit(t *testing.T) {
	for want, e := range map[string]RateLimited{
		"its turn has not come: request points": {API: "github", After: 1234567890, Why: "request points", Turn: true},
		"GitHub limits requests: primary limit": {API: "github", After: time.Hour, Why: "primary limit", Resource: "core"},
		"planning limits requests: Retry-After": {API: "planning", After: time.Second, Why: "Retry-After"},
	} {
		if got := e.Reason(); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
	if got := (&RateLimited{API: "github", After: 1234567890, Why: "request points"}).Error(); got != "github: rate limited (request points), retry after 1.235s" {
		t.Error(got)
	}
}

func TestFaults(t *testing.T) {
	sentinels := []error{
		ErrUnauthorized, ErrForbidden, ErrNotFound, ErrGone, ErrMoved, ErrRejected, ErrUnavailable, ErrUncertain,
	}
	for name, tt := range map[string]struct {
		err   error
		is    error // nil: none of the sentinels
		words string
		final bool // the service's last word
	}{
		"a refused secret":          {ErrUnauthorized, ErrUnauthorized, "unauthorized", false},
		"a locked issue":            {ErrForbidden, ErrForbidden, "forbidden", true},
		"not there":                 {ErrNotFound, ErrNotFound, "not found", true},
		"deleted":                   {ErrGone, ErrGone, "gone", true},
		"a service that is down":    {ErrUnavailable, ErrUnavailable, "unavailable", false},
		"a lost answer":             {ErrUncertain, ErrUncertain, "outcome unknown", false},
		"a followed redirect":       {&MovedError{Repo: "acme/api", Number: 3, Location: "https://example.com"}, ErrMoved, "moved to acme/api#3", true},
		"a redirect to nowhere":     {&MovedError{Location: "https://example.com/1"}, ErrMoved, "moved to https://example.com/1", true},
		"a redirect of a number":    {&MovedError{Number: 3, Location: "/x"}, ErrMoved, "moved to /x", true},
		"a redirect of half a name": {&MovedError{Repo: "acme/api", Location: "/x"}, ErrMoved, "moved to /x", true},
		"a refused value":           {&Rejection{Status: 422, Field: "title", Message: "is too long"}, ErrRejected, "rejected: is too long", true},
		"refused without a word":    {&Rejection{Status: 400}, ErrRejected, "rejected", true},
		"a stranger's repository": {
			&StrangerError{Repo: "acme/web", ID: 7, Known: 3}, ErrForbidden,
			"another repository (id 7) has the name acme/web of the one with id 3; planbridge accept repository acme/web believes it", true,
		},
		"a stranger's of many digits": {
			&StrangerError{Repo: "acme/web", ID: 1234567890, Known: 9876543210}, ErrForbidden,
			"another repository (id 1234567890) has the name acme/web of the one with id 9876543210; planbridge accept repository acme/web believes it", true,
		},
		"a field refused without a word": {&Rejection{Status: 422, Field: "title"}, ErrRejected, "rejected", true},
		"a redirect that tells nothing":  {ErrMoved, ErrMoved, "moved", true},
		"a value that is no such":        {ErrRejected, ErrRejected, "rejected", true},
		"a version that moved":           {&VersionConflict{}, nil, "version conflict", false},
		"a full budget": {
			&RateLimited{API: "github", After: time.Minute, Why: "write budget"}, nil,
			"github: rate limited (write budget), retry after 1m0s", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.words {
				t.Errorf("it says %q, want %q", got, tt.words)
			}
			for _, err := range []error{tt.err, fmt.Errorf("read acme/web#1: %w", tt.err)} {
				for _, s := range sentinels {
					want := s == tt.is //nolint:errorlint // The sentinel itself is meant.
					if got := errors.Is(err, s); got != want {
						t.Errorf("%v is %v: %v", err, s, got)
					}
				}
				if got := Refused(err); got != tt.final {
					t.Errorf("%v is a last word: %v", err, got)
				}
			}
		})
	}
	if Refused(nil) || Refused(errors.New("anything else")) {
		t.Error("no word of a service is its last one")
	}
}

// TestFaultsKeepWhatTheyCarry: the values of an answer are found behind any wrapping.
func TestFaultsKeepWhatTheyCarry(t *testing.T) {
	current := map[Attribute]Versioned{Title: {Value: "theirs", Version: 4}}
	wrapped := fmt.Errorf("write card: %w", &VersionConflict{Current: current})
	if conflict, ok := errors.AsType[*VersionConflict](wrapped); !ok || conflict.Current[Title] != current[Title] {
		t.Errorf("%+v", conflict)
	}
	wrapped = fmt.Errorf("edit acme/web#1: %w", &Rejection{Field: "body", Message: "is too long"})
	if refusal, ok := errors.AsType[*Rejection](wrapped); !ok || refusal.Field != "body" {
		t.Errorf("%+v", refusal)
	}
}

// TestRateLimitNamesItsService: people read GitHub's name, and planning as operators call it.
func TestRateLimitNamesItsService(t *testing.T) {
	for api, want := range map[string]string{"github": "GitHub", "planning": "planning"} {
		if got := (&RateLimited{API: api}).Service(); got != want {
			t.Errorf("%s is called %s", api, got)
		}
	}
}
