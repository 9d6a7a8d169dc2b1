package redisstore

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
)

// claimOfSession is the claim of the key "l" of the project "p" by the session "a".
func claimOfSession(t *testing.T, s *Store) *store.Claim {
	t.Helper()
	_, err := s.Heartbeat(t.Context(), "a", time.Hour)
	must(t, err)
	l := &mapping.Link{ID: "l", Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 1}}}
	_, err = s.Observe(t.Context(), "p", []store.Observation{{Refs: l.Refs(), Create: l}})
	must(t, err)
	c, _, err := s.Claim(t.Context(), "p", time.Minute)
	must(t, err)
	return c
}

// A replica of an earlier program, which knows no sessions, has a key that a process
// with a session had before. Its lease keeps its own time.
func TestALeaseOfAnEarlierProgramKeepsItsTime(t *testing.T) {
	server := redistest.Start(t)
	s, raw := open(t, Options{URL: server.URL}), client(t, server)
	c := claimOfSession(t, s)
	key := s.base("p") + keyLink + "l"
	must(t, raw.HIncrBy(t.Context(), key, "t", 1).Err()) // as the other one's claim leaves it
	c.Token++
	n, err := s.EndSessions(t.Context(), []store.Session{"a"})
	if must(t, err); n != 0 {
		t.Errorf("EndSessions ended %d leases", n)
	}
	if err := s.Check(t.Context(), c); err != nil {
		t.Errorf("Check of the earlier program's claim: %v", err)
	}
}

// The record of a session is gone when its claim is.
func TestAnEndedClaimLeavesNoSession(t *testing.T) {
	server := redistest.Start(t)
	s, raw := open(t, Options{URL: server.URL}), client(t, server)
	c := claimOfSession(t, s)
	must(t, s.Finish(t.Context(), c, nil, nil, store.Outcome{}))
	_, err := s.EndSessions(t.Context(), []store.Session{"a"})
	must(t, err)
	if left := raw.HExists(t.Context(), s.base("p")+keyLink+"l", "m").Val(); left {
		t.Error("the link still has a session")
	}
	if left := raw.Exists(t.Context(), s.base("")+"sessions").Val(); left != 0 {
		t.Error("the session is still known")
	}
}
