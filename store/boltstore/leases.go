package boltstore

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

type lease struct {
	Owner string `json:"o"`
	Until int64  `json:"u"`
}

// Acquire implements [store.Leases].
func (s *Store) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (got bool, err error) {
	err = s.named(ctx, bucketLeases, func(b *bbolt.Bucket, now int64) error {
		var l lease
		if _, err := get(b, []byte(name), &l); err != nil {
			return err
		}
		if got = l.Owner == owner || l.Until <= now; !got {
			return nil
		}
		return put(b, []byte(name), lease{owner, now + int64(ttl)})
	})
	if err != nil {
		return false, fmt.Errorf("lease %s: %w", name, err)
	}
	return got, nil
}

// Release implements [store.Leases].
func (s *Store) Release(ctx context.Context, name, owner string) error {
	err := s.named(ctx, bucketLeases, func(b *bbolt.Bucket, _ int64) error {
		var l lease
		if ok, err := get(b, []byte(name), &l); !ok || l.Owner != owner {
			return err
		}
		return b.Delete([]byte(name))
	})
	if err != nil {
		return fmt.Errorf("lease %s: %w", name, err)
	}
	return nil
}

// budget remembers the writes of the last hour exactly, and paces what may go
// back to back by GCRA: Next is the theoretical arrival time.
type budget struct {
	Taken times `json:"t"` // oldest first
	Next  int64 `json:"n"`
}

// times is stored packed: a budget is read and written for every write to
// GitHub, and a list of numbers takes most of that.
type times []int64

// MarshalJSON implements json.Marshaler.
func (t times) MarshalJSON() ([]byte, error) {
	packed := make([]byte, 0, 8*len(t))
	for _, at := range t {
		packed = binary.BigEndian.AppendUint64(packed, uint64(at))
	}
	return json.Marshal(packed)
}

// UnmarshalJSON implements json.Unmarshaler. It also reads the list that was
// stored before.
func (t *times) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*[]int64)(t))
	}
	var packed []byte
	if err := json.Unmarshal(data, &packed); err != nil {
		return err
	}
	*t = make(times, 0, len(packed)/8+1)
	for ; len(packed) >= 8; packed = packed[8:] {
		*t = append(*t, int64(binary.BigEndian.Uint64(packed)))
	}
	return nil
}

// Budget implements [store.Leases]. In any 60 seconds at most perMinute writes
// are given, in any hour at most perHour; at most burst of them back to back,
// after which they come at an even perMinute. What is not positive bounds
// nothing.
func (s *Store) Budget(ctx context.Context, name string, perMinute, perHour, burst int) (wait time.Duration, err error) {
	err = s.named(ctx, bucketBudgets, func(b *bbolt.Bucket, now int64) error {
		var bg budget
		if _, err := get(b, []byte(name), &bg); err != nil {
			return err
		}
		if wait = bg.take(now, perMinute, perHour, burst); wait > 0 {
			return nil
		}
		return put(b, []byte(name), bg)
	})
	if err != nil {
		return 0, fmt.Errorf("budget %s: %w", name, err)
	}
	return wait, nil
}

func (b *budget) take(now int64, perMinute, perHour, burst int) time.Duration {
	longest := time.Hour
	if perMinute > 0 && perHour >= 60*perMinute {
		perHour, longest = 0, time.Minute // no hour has more than its minutes
	}
	wait := max(b.window(now, perMinute, time.Minute), b.window(now, perHour, time.Hour))
	if perMinute > 0 && burst > 0 {
		interval := int64(time.Minute) / int64(perMinute)
		next := max(b.Next, now)
		wait = max(wait, time.Duration(next-now-interval*int64(burst-1)))
		b.Next = next + interval
	}
	if wait > 0 {
		return wait
	}
	b.Taken = append(b.Taken, now)
	b.Taken = b.Taken[max(0, len(b.Taken)-max(perMinute, perHour)):]
	b.Taken = slices.DeleteFunc(b.Taken, func(at int64) bool { return at < now-int64(longest) })
	return 0
}

// window says how long until fewer than most writes lie within the window.
func (b *budget) window(now int64, most int, window time.Duration) time.Duration {
	if most <= 0 || len(b.Taken) < most {
		return 0
	}
	return time.Duration(b.Taken[len(b.Taken)-most] + int64(window) - now)
}

// named runs fn on a bucket that belongs to no project.
func (s *Store) named(ctx context.Context, bucket []byte, fn func(b *bbolt.Bucket, now int64) error) error {
	return s.update(ctx, func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		return fn(b, s.clock().UnixNano())
	})
}
