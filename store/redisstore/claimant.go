package redisstore

import (
	"strconv"
	"sync"
	"time"

	"planbridge/store"
)

// claimant is the session of a claim, as its script's argument. The client sends a
// command again when no answer comes in time, and each sending may lease another key:
// so each is numbered, behind the session's name and a #.
type claimant struct {
	session store.Session
	number  func() int64
	lost    []store.Session // sendings that had no answer
}

// MarshalBinary implements [encoding.BinaryMarshaler]: it is called once a sending.
func (c *claimant) MarshalBinary() ([]byte, error) {
	if c.session == "" {
		return nil, nil
	}
	name := c.session + "#" + store.Session(strconv.FormatInt(c.number(), 36))
	c.lost = append(c.lost, name)
	return []byte(name), nil
}

// answered takes in that the last sending of a command was answered.
func answered(args []any) {
	for _, arg := range args {
		if c, ok := arg.(*claimant); ok && len(c.lost) > 0 {
			c.lost = c.lost[:len(c.lost)-1]
		}
	}
}

// unanswered are the sendings of claims whose answers were lost, and until when the
// leases of what they claimed may last. It is safe for concurrent use.
type unanswered struct {
	mu    sync.Mutex
	until map[store.Session]time.Time
}

// add takes in what a claim has lost.
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

// list returns those whose leases may last. A command that is under way for long may
// be carried out late, so that ending a lease once is not enough.
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
