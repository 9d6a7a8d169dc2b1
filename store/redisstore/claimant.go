package redisstore

import (
	"strconv"
	"sync"
	"time"

	"planbridge/store"
)

// claimant is the session of a claim, as an argument of its script. The client repeats a command
// without a timely answer, and each sending may lease another key. So each sending has its own
// number, after the session's name and a #.
type claimant struct {
	session store.Session
	number  func() int64
	lost    []store.Session // sendings without an answer
}

// MarshalBinary implements [encoding.BinaryMarshaler]. The client calls it once for each sending.
func (c *claimant) MarshalBinary() ([]byte, error) {
	if c.session == "" {
		return nil, nil
	}
	name := c.session + "#" + store.Session(strconv.FormatInt(c.number(), 36))
	c.lost = append(c.lost, name)
	return []byte(name), nil
}

// answered records that the last sending of a command was answered.
func answered(args []any) {
	for _, arg := range args {
		if c, ok := arg.(*claimant); ok && len(c.lost) > 0 {
			c.lost = c.lost[:len(c.lost)-1]
		}
	}
}

// unanswered lists the sendings of claims without an answer, and when their leases end at the
// latest. It is safe for concurrent use.
type unanswered struct {
	mu    sync.Mutex
	until map[store.Session]time.Time
}

// add adds the lost sendings of a claim.
func (u *unanswered) add(c *claimant, until time.Time) {
	if len(c.lost) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.until == nil {
		u.until = map[store.Session]time.Time{}
	}
	for _, name := range c.lost {
		u.until[name] = until
	}
}

// list returns the sendings whose leases may last. A slow command may still run late, so that one
// EndSessions is not enough.
func (u *unanswered) list() (names []store.Session) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, until := range u.until {
		if time.Now().After(until) {
			delete(u.until, name)
			continue
		}
		names = append(names, name)
	}
	return names
}
