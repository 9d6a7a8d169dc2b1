package redisstore

import (
	"context"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// endLeasesPage is roughly how many keys one script of EndSessions reads.
const endLeasesPage = 200

// Heartbeat implements [store.Sessions].
func (s *Store) Heartbeat(ctx context.Context, id store.Session, lasts time.Duration) (fallen []store.Session, err error) {
	r, err := s.run(ctx, scriptHeartbeat, "", string(id), millis(lasts), rules.FallenSessions)
	if err != nil {
		return nil, fmt.Errorf("heartbeat: %w", err)
	}
	for r.more() {
		fallen = append(fallen, store.Session(r.str()))
	}
	s.session.Store(&id)
	return append(fallen, s.unanswered.list()...), r.err
}

// claiming returns the present claimant, nil before the first heartbeat.
func (s *Store) claiming() *claimant {
	c := &claimant{number: func() int64 { return s.claims.Add(1) }}
	if id := s.session.Load(); id != nil {
		c.session = *id
	}
	return c
}

// EndSessions implements [store.Sessions].
func (s *Store) EndSessions(ctx context.Context, over []store.Session) (keys int, err error) {
	ids := []any{len(over)}
	for _, id := range over {
		ids = append(ids, string(id))
	}
	projects, err := s.Projects(ctx)
	if err != nil {
		return 0, fmt.Errorf("end sessions: %w", err)
	}
	for _, project := range projects {
		n, err := s.endLeases(ctx, project, ids)
		if keys += n; err != nil {
			return keys, fmt.Errorf("end sessions in project %s: %w", project, err)
		}
	}
	if _, err := s.run(ctx, scriptEndSessions, "", ids...); err != nil {
		return keys, fmt.Errorf("end sessions: %w", err)
	}
	return keys, nil
}

// endLeases makes due the keys of a project that the sessions hold. A change moves a leased key
// from bulk to live, never back. So bulk is searched first.
func (s *Store) endLeases(ctx context.Context, project mapping.ObjectID, over []any) (keys int, err error) {
	for _, queue := range []string{"bulk", "live"} {
		for cursor, begun := "", false; cursor != "" || !begun; begun = true {
			r, err := s.run(ctx, scriptEndLeases, project, append([]any{queue, cursor, endLeasesPage}, over...)...)
			if err != nil {
				return keys, err
			}
			cursor = r.str()
			if keys += int(r.num()); r.err != nil {
				return keys, r.err
			}
		}
	}
	return keys, nil
}
