package githubtest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"path"
	"slices"
	"time"
)

// FaultKind is the way in which a request goes wrong.
type FaultKind string

// The kinds of faults.
const (
	Before     FaultKind = "before"      // answered with an error, without effect
	After      FaultKind = "after"       // has its effect, then answered with an error
	Drop       FaultKind = "drop"        // has its effect, then the connection is cut
	DropBefore FaultKind = "drop-before" // the connection is cut, without effect
	Delay      FaultKind = "delay"       // waits, then goes on
	LateEffect FaultKind = "late-effect" // answered with an error at once, has its effect later
	Status     FaultKind = "status"      // Before with the Fault's own Code, Header and Body
	Garbage    FaultKind = "garbage"     // has its effect, answered with a page of HTML
	Hollow     FaultKind = "hollow"      // has its effect, answered with JSON that is nothing: {}
	Truncate   FaultKind = "truncate"    // has its effect, the answer ends in the middle
)

// Fault is a misfortune that hits requests.
type Fault struct {
	// Match says which: an operation's name, a pattern of path.Match such as
	// "label*", "read", "write", or "" for all.
	Match string
	When  func(Call) bool // narrows Match further; nil: all. Runs under the server's lock
	Times int             // how many requests it hits; 0: one, -1: all
	Until time.Time       // ends it by the server's clock; zero: never
	Kind  FaultKind

	Code   int           // of the answer; 0: 500 for Before, 502 for After, 504 for LateEffect
	Header http.Header   // added to the answer
	Body   string        // of the answer; "": GitHub's usual form
	After  time.Duration // how long Delay waits and LateEffect takes; 0: until Release
}

// FaultHandle is a fault that was set. Its methods are safe for concurrent use.
type FaultHandle struct {
	s        *Server
	f        Fault
	hits     int
	released bool
	release  chan struct{}
}

// Fault sets a fault. Of several that match a request the oldest hits.
func (s *Server) Fault(f Fault) *FaultHandle {
	h := &FaultHandle{s: s, f: f, release: make(chan struct{})}
	s.locked(func() { s.faults = append(s.faults, h) })
	return h
}

// Remove ends the fault.
func (h *FaultHandle) Remove() {
	h.s.locked(func() {
		h.s.faults = slices.DeleteFunc(h.s.faults, func(o *FaultHandle) bool { return o == h })
	})
}

// Release lets every held request happen now, and ends the fault's holding.
func (h *FaultHandle) Release() {
	h.s.locked(func() {
		if !h.released {
			h.released = true
			close(h.release)
		}
	})
}

// wait waits while the fault holds back, or until ctx or the server ends. It reports whether the
// fault's holding ended first.
func (h *FaultHandle) wait(ctx context.Context) bool {
	if h.f.After == 0 {
		return h.s.wait(ctx, h.release)
	}
	return h.s.sleep(ctx, h.f.After)
}

// Count is how many requests it has hit.
func (h *FaultHandle) Count() int {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	return h.hits
}

// fault answers the fault that hits a call, and counts it; nil for none.
func (s *Server) fault(c Call) *FaultHandle {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.faults {
		if h.matches(c) {
			h.hits++
			s.notify()
			return h
		}
	}
	return nil
}

func (h *FaultHandle) matches(c Call) bool {
	f := &h.f
	if f.Times >= 0 && h.hits >= max(f.Times, 1) || !f.Until.IsZero() && !h.s.now().Before(f.Until) {
		return false
	}
	ok := f.Match == ""
	switch f.Match {
	case "read":
		ok = !c.write
	case "write":
		ok = c.write
	default:
		if m, err := path.Match(f.Match, c.Op); err == nil && m {
			ok = true
		}
	}
	return ok && (f.When == nil || f.When(c))
}

// answer is the fault's answer instead of the real one.
func (f *Fault) answer() answer {
	code := f.Code
	if code == 0 {
		code = map[FaultKind]int{After: http.StatusBadGateway, LateEffect: http.StatusGatewayTimeout}[f.Kind]
	}
	if code == 0 {
		code = http.StatusInternalServerError
	}
	a := fail(code, http.StatusText(code)).encode()
	if f.Body != "" {
		a.body = []byte(f.Body)
	}
	maps.Copy(a.header, f.Header)
	return a
}

// PrimaryLimit refuses every request until reset, as GitHub does once the
// hour's budget is spent.
func PrimaryLimit(reset time.Time) Fault {
	return Fault{
		Kind: Status, Times: -1, Until: reset, Code: http.StatusForbidden,
		Header: header("X-Ratelimit-Limit", "5000", "X-Ratelimit-Remaining", "0", "X-Ratelimit-Reset", fmt.Sprint(reset.Unix())),
		Body:   limitBody("API rate limit exceeded for user ID 1.", "rate-limits-for-the-rest-api"),
	}
}

const secondary = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."

// SecondaryLimit refuses one request and asks to wait.
func SecondaryLimit(retryAfter time.Duration) Fault {
	f := SecondaryNoHeader()
	f.Header = header("Retry-After", fmt.Sprint(math.Ceil(retryAfter.Seconds())))
	return f
}

// SecondaryNoHeader refuses one request without saying for how long.
func SecondaryNoHeader() Fault {
	return Fault{
		Kind: Status, Code: http.StatusForbidden,
		Body: limitBody(secondary, "about-secondary-rate-limits"),
	}
}

// TooMany429 refuses one request with 429 and Retry-After: 60.
func TooMany429() Fault {
	f := SecondaryLimit(time.Minute)
	f.Code = http.StatusTooManyRequests
	return f
}

// PriorityTaken refuses one sub-issue, as happens when several are added at
// once.
func PriorityTaken() Fault {
	return Fault{
		Kind: Status, Match: "subissue.add", Code: http.StatusUnprocessableEntity,
		Body: string(encode(fields{"message": "An error occurred while adding the sub-issue to the parent issue. " +
			"Priority has already been taken", "documentation_url": docs, "status": "422"})),
	}
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func limitBody(message, anchor string) string {
	return string(encode(fields{"message": message, "documentation_url": docs + "/using-the-rest-api/" + anchor}))
}
