// Package budget holds the rules of a shared budget: see [store.Ask]. Its entry point is
// [State.Take].
//
// The package is pure. It reads no clock, and its results do not depend on the order of a map.
// boltstore and memstore share it. The script redisstore/scripts/budget.lua does the same.
package budget

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"planbridge/store"
	"planbridge/store/internal/rules"
)

// State counts the items of the last hour exactly, paces bursts by GCRA, and shares the budget
// between parties. Its JSON is stored; times are Unix nanoseconds.
type State struct {
	Taken Times            `json:"t"` // oldest first, one for each item
	Next  int64            `json:"n"` // the theoretical arrival time of GCRA
	Used  map[string]Usage `json:"u,omitempty"`
	Waits map[string]int64 `json:"w,omitempty"` // by waiter: until when its turn is kept
	Turns map[string]int64 `json:"l,omitempty"` // by rank and route: when the next turn is
}

// Usage is how many items a route, or an author of one, had at a time; it halves every
// [rules.UsageHalfLife].
type Usage struct {
	Items float64 `json:"i"`
	At    int64   `json:"a"`
}

func (u Usage) now(now int64) float64 {
	return u.Items * math.Exp2(-float64(now-u.At)/float64(rules.UsageHalfLife))
}

// Times has a packed stored form. Each write to GitHub reads and writes a budget, and a list of
// numbers would take most of that time.
type Times []int64

// MarshalJSON implements json.Marshaler.
func (t Times) MarshalJSON() ([]byte, error) {
	packed := make([]byte, 0, 8*len(t))
	for _, at := range t {
		packed = binary.BigEndian.AppendUint64(packed, uint64(at))
	}
	return json.Marshal(packed)
}

// UnmarshalJSON implements json.Unmarshaler. It also reads the list that earlier programs stored.
func (t *Times) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*[]int64)(t))
	}
	var packed []byte
	if err := json.Unmarshal(data, &packed); err != nil {
		return err
	}
	*t = make(Times, 0, len(packed)/8+1)
	for ; len(packed) >= 8; packed = packed[8:] {
		*t = append(*t, int64(binary.BigEndian.Uint64(packed)))
	}
	return nil
}

// party names a route, or with author an author of it.
func party(a store.Ask, author bool) string {
	if author {
		return a.Route + "\n" + a.Author
	}
	return a.Route
}

// waiter names a waiting party: rank, route and author.
func waiter(a store.Ask) string { return fmt.Sprintf("%d\n%s\n%s", a.Rank, a.Route, a.Author) }

// asker is the reverse of waiter.
func asker(name string) (a store.Ask) {
	if parts := strings.SplitN(name, "\n", 3); len(parts) == 3 && len(parts[0]) == 1 {
		a.Rank, a.Route, a.Author = store.Rank(parts[0][0]-'0'), parts[1], parts[2]
	}
	return a
}

// Take answers an ask. It returns the new state and leaves the old one unchanged.
func (b State) Take(now int64, of store.Budget, a store.Ask) (State, store.Grant) {
	b.Taken, b.Used, b.Waits, b.Turns = slices.Clone(b.Taken), maps.Clone(b.Used), maps.Clone(b.Waits), maps.Clone(b.Turns)
	a.Route, a.Author = rules.OneLine(a.Route), rules.OneLine(a.Author)
	grant := b.take(now, of, a)
	return b, grant
}

func (b *State) take(now int64, of store.Budget, a store.Ask) store.Grant {
	a.Items = max(a.Items, 1)
	longest := time.Hour
	if of.PerMinute > 0 && of.PerHour >= 60*of.PerMinute {
		of.PerHour, longest = 0, time.Minute // no hour has more than its minutes
	}
	b.forget(now)
	ahead, jumps := b.ahead(now, a)
	free, wait := b.free(now, of, b.level(now, a), ahead, a.Items)
	if free <= 0 {
		return store.Grant{Wait: b.wait(now, of, a, wait, jumps)}
	}
	n := min(free, a.Items)
	for range n {
		b.Taken = append(b.Taken, now)
	}
	if of.PerMinute > 0 && of.Burst > 0 {
		b.Next = max(b.Next, now) + int64(n)*int64(time.Minute)/int64(of.PerMinute)
	}
	b.Taken = b.Taken[max(0, len(b.Taken)-max(of.PerMinute, of.PerHour)):]
	b.Taken = slices.DeleteFunc(b.Taken, func(at int64) bool { return at < now-int64(longest) })
	if a.Route != "" {
		b.use(now, party(a, false), n)
		if a.Author != "" && len(b.Used)+len(b.Waits) < rules.Parties {
			b.use(now, party(a, true), n)
		}
		delete(b.Waits, waiter(a))
	}
	return store.Grant{Items: n}
}

// forget removes entries without effect.
func (b *State) forget(now int64) {
	for name, u := range b.Used {
		if u.now(now) < rules.UsageLeast {
			delete(b.Used, name)
		}
	}
	for name, until := range b.Waits {
		if until <= now {
			delete(b.Waits, name)
		}
	}
	for name, next := range b.Turns {
		if next <= now {
			delete(b.Turns, name)
		}
	}
}

// Within counts the items taken within a time before now.
func (b State) Within(now int64, d time.Duration) int {
	first, _ := slices.BinarySearch(b.Taken, now-int64(d)+1)
	return len(b.Taken) - first
}

func (b *State) use(now int64, name string, n int) {
	if b.Used == nil {
		b.Used = map[string]Usage{}
	}
	b.Used[name] = Usage{b.Used[name].now(now) + float64(n), now}
}

// level returns the share of the budget that an ask may use; see [rules.Shares]. A route is
// within its share while it used no more than the mean of all, counting one more that may come.
func (b *State) level(now int64, a store.Ask) int {
	if a.Rank != store.RankPeople {
		return min(int(a.Rank)+1, len(rules.Shares)-1)
	}
	total, others := 0.0, 0
	for _, name := range slices.Sorted(maps.Keys(b.Used)) { // sorted, since the last digits of a sum depend on its order
		if strings.Contains(name, "\n") {
			continue
		}
		if total += b.Used[name].now(now); name != a.Route {
			others++
		}
	}
	if b.Used[a.Route].now(now)*float64(others+2) <= total {
		return 0
	}
	return 1
}

// ahead counts the waiting parties before a. jumps reports that a goes before a party of its own
// route and rank.
func (b *State) ahead(now int64, a store.Ask) (n int, jumps bool) {
	if a.Route == "" {
		return 0, false
	}
	route, author := b.Used[party(a, false)].now(now), b.Used[party(a, true)].now(now)
	for name := range b.Waits {
		w := asker(name)
		switch {
		case w.Rank != a.Rank:
			if w.Rank < a.Rank {
				n++
			}
		case w.Route != a.Route:
			if b.Used[party(w, false)].now(now) < route {
				n++
			}
		case b.Used[party(w, true)].now(now) < author:
			n++
		case b.Used[party(w, true)].now(now) > author:
			jumps = true
		}
	}
	return n, jumps
}

// free returns how many items a level may have now while ahead others go first, or how long until
// it may have some. Where many are wanted it waits for a tenth of a bound, so that the asker does
// not come for each item.
func (b *State) free(now int64, of store.Budget, level, ahead, wanted int) (n int, wait time.Duration) {
	n = math.MaxInt
	for _, w := range []struct {
		most   int
		length time.Duration
	}{{of.PerMinute, time.Minute}, {of.PerHour, time.Hour}} {
		if w.most <= 0 {
			continue
		}
		most := rules.Share(level, w.most)
		leave := min(ahead, most-1)
		n = min(n, most-b.Within(now, w.length)-leave)
		some := min(wanted, most-leave, max(1, most/10))
		if i := len(b.Taken) - 1 - (most - leave - some); i >= 0 {
			wait = max(wait, time.Duration(b.Taken[i]+int64(w.length)-now))
		}
	}
	if of.PerMinute > 0 && of.Burst > 0 {
		interval, most := int64(time.Minute)/int64(of.PerMinute), rules.Share(level, of.Burst)
		leave, next := min(ahead, most-1), max(b.Next, now)
		n = min(n, int((now+interval*int64(most)-next)/interval)-leave)
		some := min(wanted, most-leave, max(1, most/10))
		wait = max(wait, time.Duration(next-now-interval*int64(most-leave-some)))
	}
	return n, wait
}

// wait returns when a may ask again; its first item comes no earlier than after wait. Parties of
// one route and rank have turns in sequence.
func (b *State) wait(now int64, of store.Budget, a store.Ask, wait time.Duration, jumps bool) time.Duration {
	wait = max(wait, time.Millisecond)
	if a.Route == "" {
		return wait
	}
	if line := fmt.Sprintf("%d\n%s", a.Rank, a.Route); !jumps {
		each := time.Duration(0)
		if of.PerMinute > 0 {
			each = time.Minute / time.Duration(of.PerMinute)
		}
		if of.PerHour > 0 {
			each = max(each, time.Hour/time.Duration(of.PerHour))
		}
		at := max(wait, time.Duration(b.Turns[line]-now))
		if most := rules.TurnMost(a.Rank); at > wait+most {
			at = wait + most/2
		}
		if b.Turns == nil {
			b.Turns = map[string]int64{}
		}
		b.Turns[line] = now + int64(at+each/rules.TurnsPerItem)
		wait = at
	}
	if len(b.Used)+len(b.Waits) < rules.Parties {
		if b.Waits == nil {
			b.Waits = map[string]int64{}
		}
		b.Waits[waiter(a)] = max(b.Waits[waiter(a)], now+int64(wait+rules.TurnGrace))
	}
	return wait
}
