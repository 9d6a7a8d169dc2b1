package redisstore

import (
	"bytes"
	"context"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/store"
	"planbridge/store/redisstore/redistest"
)

// deaf is a way to Redis that loses answers: those of so many of the next scripts do not
// come in time.
type deaf struct{ lose atomic.Int64 }

func (d *deaf) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		return &deafConn{Conn: conn, d: d}, err
	}
}
func (d *deaf) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (d *deaf) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

type deafConn struct {
	net.Conn
	d    *deaf
	lost bool // the next answer
}

func (c *deafConn) Write(b []byte) (int, error) {
	c.lost = bytes.Contains(b, []byte("evalsha")) && c.d.lose.Add(-1) >= 0
	return c.Conn.Write(b)
}

func (c *deafConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b) // the sent command was carried out
	if err == nil && c.lost {
		return 0, os.ErrDeadlineExceeded
	}
	return n, err
}

// TestAClaimWhoseAnswerIsLost: a claim whose answer was lost leased a key. That key is due again as
// soon as the process sends a heartbeat, and no other key of the process is.
func TestAClaimWhoseAnswerIsLost(t *testing.T) {
	for name, lost := range map[string]int64{"some sendings": 2, "all sendings": maxRetries + 1} {
		for way, claim := range map[string]func(*Store, *store.Claim) (*store.Claim, error){
			"Claim": func(s *Store, _ *store.Claim) (*store.Claim, error) {
				c, _, err := s.Claim(t.Context(), "p", time.Hour)
				return c, err
			},
			"FinishAndClaim": func(s *Store, c *store.Claim) (*store.Claim, error) {
				return s.FinishAndClaim(t.Context(), c, nil, nil, store.Outcome{}, time.Hour)
			},
		} {
			t.Run(way+"/"+name, func(t *testing.T) {
				t.Parallel()
				const many = 7
				d := &deaf{}
				s := open(t, Options{URL: redistest.Start(t).URL, Hook: d})
				fallen, err := s.Heartbeat(t.Context(), "a", time.Hour)
				if must(t, err); len(fallen) > 0 {
					t.Fatalf("the heartbeat named %q", fallen)
				}
				var obs []store.Observation
				for n := range many {
					obs = append(obs, seen(n+1))
				}
				_, err = s.Observe(t.Context(), "p", obs)
				must(t, err)
				held, _, err := s.Claim(t.Context(), "p", time.Hour)
				must(t, err)
				held, err = s.FinishAndClaim(t.Context(), held, nil, nil, store.Outcome{}, time.Hour)
				must(t, err) // Redis knows both scripts by now
				mine := map[store.Key]bool{held.Key: way == "Claim"}
				d.lose.Store(lost)
				c, err := claim(s, held)
				d.lose.Store(0)
				if (err != nil) != (lost > maxRetries) {
					t.Fatalf("the claim: %v", err)
				}
				if c != nil {
					mine[c.Key] = true
				}
				fallen, err = s.Heartbeat(t.Context(), "a", time.Hour)
				must(t, err)
				n, err := s.EndSessions(t.Context(), fallen)
				if must(t, err); int64(n) != lost {
					t.Errorf("%d leases ended, want %d (%q)", n, lost, fallen)
				}
				for range many {
					c, _, err := s.Claim(t.Context(), "p", time.Hour)
					if must(t, err); c == nil {
						break
					}
					if mine[c.Key] {
						t.Errorf("%s is leased twice", c.Key)
					}
					mine[c.Key] = true
				}
				if left := many - 1; len(mine) != left {
					t.Errorf("%d keys were leased, want the %d that were left", len(mine), left)
				}
			})
		}
	}
}
