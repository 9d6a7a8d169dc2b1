package planningtest

import (
	"encoding/json"
	"slices"
	"time"
)

// Call is one request that reached an endpoint. Calls that found the service down are not included.
type Call struct {
	Time     time.Time
	Seq      int // from 1, in the order of the answers
	Method   string
	Path     string // with the prefix
	Op       string // see the Op constants
	Status   int    // 0: the connection was cut without an answer
	Username string // of a write; of a batch that of its first element
	Body     string
	Duration time.Duration
	Fault    FaultKind // that it met, "" for none
}

// journalLimit bounds the journal; the oldest calls leave it first.
const journalLimit = 100_000

// Journal lists the calls since the start or the last reset, newest last. A call is in it before
// its answer is sent.
func (s *Server) Journal() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal)
}

// Calls counts the calls of the named operations since the start or the last
// reset, or all of them where none is named.
func (s *Server) Calls(ops ...string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for op, count := range s.counts {
		if len(ops) == 0 || slices.Contains(ops, op) {
			n += count
		}
	}
	return n
}

// ResetJournal forgets all calls.
func (s *Server) ResetJournal() {
	defer s.act()()
	s.journal = nil
	clear(s.counts)
}

// record enters a call into the journal; a is nil where there is no answer.
func (s *Server) record(c *call, started time.Time, a *answer) {
	entry := Call{
		Time: started, Method: c.r.Method, Path: c.r.URL.Path, Op: c.op, Body: string(c.body),
		Username: username(c.body), Duration: s.clock().Sub(started),
	}
	if a != nil {
		entry.Status = a.status
	}
	if c.fault != nil {
		entry.Fault = c.fault.Kind
	}
	s.log.Debug("call", "op", c.op, "status", entry.Status, "user", entry.Username, "fault", entry.Fault)
	defer s.act()()
	s.seq++
	entry.Seq = s.seq
	s.counts[c.op]++
	if len(s.journal) >= journalLimit {
		s.journal = slices.Delete(s.journal, 0, journalLimit/10)
	}
	s.journal = append(s.journal, entry)
}

func username(body []byte) string {
	type named struct{ Username string }
	var one named
	var many []named
	if json.Unmarshal(body, &one) == nil {
		return one.Username
	}
	if json.Unmarshal(body, &many) == nil && len(many) > 0 {
		return many[0].Username
	}
	return ""
}
