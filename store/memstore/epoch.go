package memstore

import (
	"context"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
)

// A handle keeps the store's epoch and, for each project, the highest count of writes in an
// answer. Another epoch or a lower count says that the content was lost or rolled back. The
// handle then refuses everything until Adopt. As in Redis, only the handle that wrote lost data
// notices its loss.

// acceptEpoch makes the handle accept the present epoch. It makes a new epoch where there is none or it
// is void. The caller holds the memory's lock.
func (s *Store) acceptEpoch() {
	m := s.memory
	if m.content.Epoch == "" || s.lost && m.content.Epoch == s.epoch {
		m.epochs++
		m.content.Epoch = fmt.Sprintf("epoch%d", m.epochs)
		m.content.giveUp()
	}
	s.epoch, s.seqs, s.lost = m.content.Epoch, table[int64]{}, false
}

// giveUp forgets the claims of the earlier epoch, so that none counts as abandoned.
func (c *content) giveUp() {
	for _, p := range c.Projects.rows {
		for i := range p.value.Links.rows {
			r := &p.value.Links.rows[i].value
			r.Work = r.Work.GiveUp()
		}
	}
}

// usable returns why the handle is refused. The caller holds the memory's lock.
func (s *Store) usable(project mapping.ObjectID) error {
	if s.ending != nil {
		return s.ending
	}
	known, _ := s.seqs.get(string(project))
	s.lost = s.lost || s.memory.content.Epoch != s.epoch || s.memory.content.space(project).Seq < known
	if s.lost {
		return store.ErrEpoch
	}
	return nil
}

// space returns a project's space, an empty one where it has none.
func (c *content) space(project mapping.ObjectID) *space {
	if sp, ok := c.Projects.get(string(project)); ok {
		return sp
	}
	return &space{}
}

// read runs fn on a project's space. now is the store's time.
func (s *Store) read(ctx context.Context, project mapping.ObjectID, fn func(sp *space, now int64) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if err := s.usable(project); err != nil {
		return err
	}
	return fn(s.memory.content.space(project), s.memory.clock.Now().UnixNano())
}

// write is read for an fn that may change the space and reports whether it did. An fn that fails
// must change nothing.
func (s *Store) write(ctx context.Context, project mapping.ObjectID, fn func(sp *space, now int64) (wrote bool, err error)) error {
	return s.read(ctx, project, func(sp *space, now int64) error {
		wrote, err := fn(sp, now)
		if err != nil || !wrote {
			return err
		}
		sp.Seq++
		s.memory.content.Projects.put(string(project), sp)
		s.seqs.put(string(project), sp.Seq)
		return nil
	})
}

// Epoch implements [store.Store].
func (s *Store) Epoch(ctx context.Context) (epoch string, err error) {
	err = s.read(ctx, "", func(*space, int64) error {
		epoch = s.epoch
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("epoch: %w", err)
	}
	return epoch, nil
}

// Adopt implements [store.Store].
func (s *Store) Adopt(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("adopt: %w", err)
	}
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if s.ending != nil {
		return "", fmt.Errorf("adopt: %w", s.ending)
	}
	if s.lost || s.memory.content.Epoch != s.epoch {
		s.acceptEpoch()
	}
	return s.epoch, nil
}

// Incarnation changes whenever the whole content is replaced. A handle without lost writes
// notices nothing else.
func (s *Store) Incarnation(context.Context) (string, error) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return fmt.Sprintf("incarnation%d", s.memory.incarnation), s.ending
}
