package github

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
)

// Pauses for a limit without a header, as GitHub asks: a minute, then exponentially longer.
const (
	headerlessWait    = time.Minute
	headerlessWaitMax = 16 * time.Minute
	primaryWindow     = time.Hour // no primary reset is further off
)

// limit is a rate limit in an answer.
type limit struct {
	*mapping.RateLimited
	primary    bool   // an hourly budget is used up
	headerless bool   // no header said how long
	resource   string // the limited resource, as GitHub named it; "": it did not
}

// readLimit reports whether an answer is a rate limit, in any form. GitHub's order of precedence
// is: Retry-After, else the reset where nothing remains, else a minute.
//
//	429                                       always
//	403 with Retry-After, or with remaining 0 always
//	403, 422 whose words speak of a limit     the headerless secondary limits
//	anything else                             never
func readLimit(status int, h http.Header, body []byte, now time.Time) (limit, bool) {
	if status != http.StatusForbidden && status != http.StatusTooManyRequests && status != http.StatusUnprocessableEntity {
		return limit{}, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // resets use GitHub's clock, and ours may be off
	}
	found := func(why string, after time.Duration) limit {
		return limit{
			RateLimited: &mapping.RateLimited{API: "github", After: max(after, time.Second), Why: why},
			resource:    h.Get("X-RateLimit-Resource"),
		}
	}
	if status != http.StatusUnprocessableEntity {
		if after, ok := retryAfter(h, now); ok {
			return found("Retry-After", after), true
		}
		if h.Get("X-RateLimit-Remaining") == "0" {
			if reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil {
				l := found("primary limit", min(time.Unix(reset, 0).Sub(now), primaryWindow))
				l.primary = true
				return l, true
			}
		}
	}
	if status != http.StatusTooManyRequests && !speaksOfLimit(status, body) {
		return limit{}, false
	}
	l := found("secondary limit", headerlessWait)
	l.headerless = true
	return l, true
}

func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second)), true
	}
	if t, err := http.ParseTime(v); err == nil {
		return t.Sub(now), true
	}
	return 0, false
}

func speaksOfLimit(status int, body []byte) bool {
	e, details := parseAPIError(body)
	said := strings.ToLower(errorMessage(e, details))
	if strings.Contains(said, "submitted too quickly") {
		return true
	}
	if status == http.StatusUnprocessableEntity { // a 422 quotes people's text
		return false
	}
	for _, phrase := range []string{"rate limit", "abuse detection", "login attempts exceeded"} {
		if strings.Contains(said, phrase) {
			return true
		}
	}
	return strings.Contains(e.DocURL, "rate-limit")
}
