package poll

import "time"

// shy lets the replica that polled before a store was lost poll first after
// it: only that one remembers which cards were there, so that what people made
// since still enters. (To one that does not, all of it is old.) Where it does not
// go on within a lease's time, another one does.
type shy struct {
	epoch   string    // of the store, as of the last turn
	follows bool      // another replica held the lease then
	until   time.Time // it is given until then
}

// waits reports whether this replica leaves its turn to another one.
func (s *shy) waits(now time.Time, epoch string, ttl time.Duration) bool {
	if s.follows && s.epoch != epoch {
		s.until = now.Add(ttl)
	}
	s.epoch = epoch
	return now.Before(s.until)
}
