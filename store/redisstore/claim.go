package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// Claim implements [store.Queue].
func (s *Store) Claim(ctx context.Context, project mapping.ObjectID, ttl time.Duration) (*store.Claim, time.Duration, error) {
	c, wait, err := s.claim(ctx, store.Key{Project: project}, ttl)
	for range maxUnreadable {
		if !s.parkUnreadable(ctx, err) {
			break
		}
		c, wait, err = s.claim(ctx, store.Key{Project: project}, ttl)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("claim in project %s: %w", project, err)
	}
	return c, wait, nil
}

// ClaimKey implements [store.Queue].
func (s *Store) ClaimKey(ctx context.Context, key store.Key, ttl time.Duration) (*store.Claim, error) {
	c, _, err := s.claim(ctx, key, ttl)
	s.parkUnreadable(ctx, err)
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", key, err)
	}
	return c, nil
}

// claim leases the given key, or the next due one.
func (s *Store) claim(ctx context.Context, key store.Key, ttl time.Duration) (*store.Claim, time.Duration, error) {
	until, by := time.Now().Add(ttl), s.claiming()
	r, err := s.run(ctx, scriptClaim, key.Project, millis(ttl), string(key.Link), by)
	s.unanswered.add(by, until)
	if err != nil {
		return nil, 0, err
	}
	return readClaim(key.Project, r, until, by.session)
}

// readClaim reads the answer of claim.lua.
func readClaim(project mapping.ObjectID, r *reply, until time.Time, session store.Session) (*store.Claim, time.Duration, error) {
	key := store.Key{Project: project, Link: mapping.LinkID(r.str())}
	if key.Link == "" {
		return nil, time.Duration(r.num()) * time.Millisecond, r.err
	}
	c := &store.Claim{
		Key: key, Due: time.UnixMilli(r.num()), Token: r.num(), Until: until, Session: session, Generation: r.num(),
		Attempts: int(r.num()), Abandoned: int(r.num()), AfterAbandoned: r.num() == 1,
		Inbox: map[mapping.Ref]store.Snapshot{},
	}
	for r.more() {
		if err := claimField(c, r.str(), r.str()); err != nil {
			return nil, 0, &badLink{c, err}
		}
	}
	if c.Link == nil && r.err == nil {
		return nil, 0, &badLink{c, errNoRecord}
	}
	return c, 0, r.err
}

// maxUnreadable is how many unreadable keys one Claim parks.
const maxUnreadable = 100

// errNoRecord says that a link has work but no record.
var errNoRecord = errors.New("it has no record")

// badLink is a claim of a link with an unreadable part.
type badLink struct {
	claim *store.Claim
	err   error
}

func (b *badLink) Error() string {
	return fmt.Sprintf("stored link %s cannot be read: %v", b.claim.Key, b.err)
}
func (b *badLink) Unwrap() error { return b.err }

// parkUnreadable parks a claimed key that cannot be read, so that the others are worked. It
// reports whether err came from such a key and it is parked.
func (s *Store) parkUnreadable(ctx context.Context, err error) bool {
	var bad *badLink
	if !errors.As(err, &bad) {
		return false
	}
	s.log.Error("parked", "key", bad.claim.Key.String(), "err", err)
	_, err = s.finish(ctx, bad.claim, nil, nil, store.Outcome{Kind: store.Park, Reason: err.Error(), Unspent: true}, 0, new(claimant))
	return err == nil
}

// claimField puts a field of the link's hash into the claim.
func claimField(c *store.Claim, field, value string) (err error) {
	_, name, _ := strings.Cut(field, ":")
	ref := mapping.Ref(name)
	s := c.Inbox[ref]
	switch {
	case field == "i:"+name:
		data := s.Data
		if s, err = parseSlot(value); s.Data == nil {
			s.Data = data
		}
		c.Inbox[ref] = s
	case field == "d:"+name:
		s.Data, err = decompress(value)
		c.Inbox[ref] = s
	case field == "r":
		c.Link = new(mapping.Link)
		err = decode(value, c.Link)
	case field == "h":
		c.History = value
	case field == "E":
		c.Events = append(c.Events, []byte(value))
	case field == "e": // the form of earlier programs, before all others
		c.Events, err = frames(value, func(_ int, body string) ([]byte, error) { return []byte(body), nil })
	}
	return err
}

// parseSlot reads an inbox slot as observe.lua wrote it.
func parseSlot(value string) (s store.Snapshot, err error) {
	// At 16, ambiguous 1, then "generation,seen,length,"
	if len(value) < 17 {
		return s, fmt.Errorf("slot %q is too short", value)
	}
	if s.At, err = rules.ParseOrderInt(value[:16]); err != nil {
		return s, err
	}
	s.Ambiguous = value[16] == '1'
	parts := strings.SplitN(value[17:], ",", 4)
	if len(parts) != 4 {
		return s, fmt.Errorf("slot %.40q has no header", value)
	}
	seen, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return s, fmt.Errorf("slot %.40q: %w", value, err)
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil || n < 0 || n > len(parts[3]) {
		return s, fmt.Errorf("slot %.40q has a wrong length", value)
	}
	s.Seen, s.Digest = time.UnixMilli(seen), parts[3][:n]
	if n < len(parts[3]) { // the form of earlier programs
		s.Data, err = decompress(parts[3][n:])
	}
	return s, err
}

// frames reads a sequence of "number,length;" and a body of that many bytes.
func frames[T any](value string, each func(number int, body string) (T, error)) (list []T, err error) {
	for value != "" {
		head, rest, _ := strings.Cut(value, ";")
		number, length, _ := strings.Cut(head, ",")
		num, err1 := strconv.Atoi(number)
		n, err2 := strconv.Atoi(length)
		if err1 != nil || err2 != nil || n < 0 || n > len(rest) {
			return nil, fmt.Errorf("frame %.40q has no header", value)
		}
		item, err := each(num, rest[:n])
		if err != nil {
			return nil, err
		}
		list, value = append(list, item), rest[n:]
	}
	return list, nil
}
