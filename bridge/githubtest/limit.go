package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// defaultRateLimit is the primary limit of a token, in requests an hour.
const defaultRateLimit = 5000

func (s *Server) rateLimit() int {
	if s.traits.RateLimit > 0 {
		return s.traits.RateLimit
	}
	return defaultRateLimit
}

// limit counts a request against the limits, and refuses it beyond them.
func (s *Server) limit(c *call) *reply {
	t := c.who.token
	if t == nil || c.Op == "ratelimit.get" {
		return nil
	}
	s.window(t)
	if t.used >= s.rateLimit() {
		r := fail(http.StatusForbidden, "API rate limit exceeded for user ID 1.")
		return &r
	}
	t.used++
	if most := s.traits.ContentPerMinute; most > 0 && c.Method == http.MethodPost && c.write {
		age := s.age()
		s.spent = slices.DeleteFunc(s.spent, func(at time.Duration) bool { return at <= age-time.Minute })
		if len(s.spent) >= most {
			r := fail(http.StatusForbidden, secondary)
			wait := s.spent[0] + time.Minute - age
			r.header = header("Retry-After", fmt.Sprint(int(wait.Seconds())+1))
			return &r
		}
		s.spent = append(s.spent, age)
	}
	return nil
}

// window starts a token's next hour when its last one is over.
func (s *Server) window(t *token) {
	if now := s.now(); !now.Before(t.reset) {
		t.used, t.reset = 0, now.Add(time.Hour)
	}
}

// stampHeaders adds what GitHub says on every answer.
func (s *Server) stampHeaders(c *call, a *answer) {
	a.header.Set("Date", s.now().Format(http.TimeFormat))
	a.header.Set("X-Github-Media-Type", "github.v3; format=json")
	t := c.who.token
	if t == nil {
		return
	}
	if t.app == nil && t.scopes != "" {
		a.header.Set("X-Oauth-Scopes", t.scopes)
	}
	s.window(t)
	a.header.Set("X-Ratelimit-Limit", fmt.Sprint(s.rateLimit()))
	a.header.Set("X-Ratelimit-Remaining", fmt.Sprint(max(0, s.rateLimit()-t.used)))
	a.header.Set("X-Ratelimit-Used", fmt.Sprint(t.used))
	a.header.Set("X-Ratelimit-Reset", fmt.Sprint(t.reset.Unix()))
	a.header.Set("X-Ratelimit-Resource", "core")
}

func getRateLimit(c *call) reply {
	core := fields{"limit": c.s.rateLimit(), "remaining": c.s.rateLimit(), "used": 0, "reset": c.s.now().Add(time.Hour).Unix()}
	if t := c.who.token; t != nil {
		c.s.window(t)
		core = fields{"limit": c.s.rateLimit(), "remaining": max(0, c.s.rateLimit()-t.used), "used": t.used,
			"reset": t.reset.Unix()}
	}
	return ok(fields{"resources": fields{"core": core}, "rate": core})
}
