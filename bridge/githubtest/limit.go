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
	h := s.hour(c)
	if h.used >= s.rateLimit() {
		r := fail(http.StatusForbidden, "API rate limit exceeded for user ID 1.")
		return &r
	}
	wait, now := time.Duration(0), s.age()
	makes := c.Op == "issue.create" || c.Op == "comment.create"
	if makes {
		wait = max(s.content.wait(now, time.Minute, 1, s.traits.ContentPerMinute), s.content.wait(now, time.Hour, 1, s.traits.ContentPerHour))
	}
	points, spent, most := pointsOf(c), &s.points, s.traits.PointsPerMinute
	if c.graphql() {
		spent, most = &s.graphqlPoints, s.traits.GraphQLPointsPerMinute
	}
	if wait = max(wait, spent.wait(now, time.Minute, points, most)); wait > 0 {
		r := fail(http.StatusForbidden, secondary)
		r.header = header("Retry-After", fmt.Sprint(int(wait.Seconds())+1))
		return &r
	}
	h.used++
	spent.add(now, time.Minute, points)
	if makes {
		s.content.add(now, time.Hour, 1)
	}
	return nil
}

// pointsOf is the number of points of a request against the secondary limit.
func pointsOf(c *call) int {
	if c.write {
		return 5
	}
	return 1
}

// spent is the use of a limit over a sliding window.
type spent []use

type use struct {
	at    time.Duration // since start
	units int
}

// wait is how long it takes until so many more units are within a bound; 0: they are.
func (s spent) wait(now, within time.Duration, units, most int) (wait time.Duration) {
	if most <= 0 {
		return 0
	}
	used := units
	for _, u := range s {
		if u.at > now-within {
			used += u.units
		}
	}
	for _, u := range s {
		if used > most && u.at > now-within {
			used, wait = used-u.units, u.at+within-now
		}
	}
	return wait
}

// add counts units, and forgets those that are older than a while.
func (s *spent) add(now, keep time.Duration, units int) {
	*s = append(slices.DeleteFunc(*s, func(u use) bool { return u.at <= now-keep }), use{now, units})
}

// hour is the use of the call's limit by its token. It starts the next hour when the last one is
// over.
func (s *Server) hour(c *call) *hour {
	h := &c.who.token.core
	if c.graphql() {
		h = &c.who.token.graphql
	}
	if now := s.now(); !now.Before(h.reset) {
		*h = hour{reset: now.Add(time.Hour)}
	}
	return h
}

// stampHeaders adds the headers of every answer of GitHub.
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
	h, resource := s.hour(c), "core"
	if c.graphql() {
		resource = "graphql"
	}
	a.header.Set("X-Ratelimit-Limit", fmt.Sprint(s.rateLimit()))
	a.header.Set("X-Ratelimit-Remaining", fmt.Sprint(max(0, s.rateLimit()-h.used)))
	a.header.Set("X-Ratelimit-Used", fmt.Sprint(h.used))
	a.header.Set("X-Ratelimit-Reset", fmt.Sprint(h.reset.Unix()))
	a.header.Set("X-Ratelimit-Resource", resource)
}

func getRateLimit(c *call) reply {
	core := fields{"limit": c.s.rateLimit(), "remaining": c.s.rateLimit(), "used": 0, "reset": c.s.now().Add(time.Hour).Unix()}
	if c.who.token != nil {
		h := c.s.hour(c)
		core = fields{
			"limit": c.s.rateLimit(), "remaining": max(0, c.s.rateLimit()-h.used), "used": h.used,
			"reset": h.reset.Unix(),
		}
	}
	return ok(fields{"resources": fields{"core": core}, "rate": core})
}
