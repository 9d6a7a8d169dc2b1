package memstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/queue"
	"planbridge/store/internal/rules"
)

// Heartbeat implements [store.Sessions]. As in Redis it does not count as a write.
func (s *Store) Heartbeat(ctx context.Context, id store.Session, lasts time.Duration) (fallen []store.Session, err error) {
	err = s.read(ctx, "", func(_ *space, now int64) error {
		sessions := &s.memory.content.Sessions
		if own, known := sessions.get(string(id)); known && (own.Fallen || own.Until <= now) {
			return store.ErrLeaseLost
		}
		for name, other := range sessions.ascend("") {
			if other.Until <= now && len(fallen) < rules.FallenSessions {
				fallen = append(fallen, store.Session(name))
			}
		}
		for _, other := range fallen {
			sessions.put(string(other), session{now + int64(lasts), true})
		}
		sessions.put(string(id), session{Until: now + int64(lasts)})
		s.session = id
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("heartbeat: %w", err)
	}
	return fallen, nil
}

// fell reports whether a session is over; none is not.
func (s *Store) fell(id store.Session, now int64) bool {
	own, known := s.memory.content.Sessions.get(string(id))
	return id != "" && (!known || own.Fallen || own.Until <= now)
}

// EndSessions implements [store.Sessions].
func (s *Store) EndSessions(ctx context.Context, over []store.Session) (keys int, err error) {
	projects, err := s.Projects(ctx)
	if err != nil {
		return 0, fmt.Errorf("end sessions: %w", err)
	}
	for _, project := range projects {
		n, err := s.endLeases(ctx, project, over)
		if keys += n; err != nil {
			return keys, fmt.Errorf("end sessions in project %s: %w", project, err)
		}
	}
	err = s.read(ctx, "", func(*space, int64) error {
		for _, id := range over {
			s.memory.content.Sessions.remove(string(id))
		}
		return nil
	})
	if err != nil {
		return keys, fmt.Errorf("end sessions: %w", err)
	}
	return keys, nil
}

func (s *Store) endLeases(ctx context.Context, project mapping.ObjectID, over []store.Session) (keys int, err error) {
	err = s.write(ctx, project, func(sp *space, now int64) (bool, error) {
		for _, id := range slices.Collect(queue.Later(sp, now)) {
			if w := sp.work(id); w.EndsWith(over, now) {
				sp.putWork(id, w.EndLease(now))
				keys++
			}
		}
		return keys > 0, nil
	})
	return keys, err
}
