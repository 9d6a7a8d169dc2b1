package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/store"
)

// testModel applies the same random operations to the store and to a plain in-memory model. It
// compares their answers. rapid prints the seed of a failure.
//
// The model's clock counts minutes and stands still between advances; less than half a minute
// passes on the real clock meanwhile. Of keys that are due since the same minute, either may come
// first.
func testModel(t *testing.T, o Opened) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{
			model: &model{keys: map[mapping.LinkID]*modelKey{}, deliveries: map[string]bool{}},
			o:     o, project: mapping.ObjectID(mapping.NewID()), t: t, seen: map[*store.Claim]int{},
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": m.check, "observe": m.observe, "enqueue": m.enqueue, "claim": m.claim, "claimKey": m.claimKey,
			"save": m.save, "finish": m.finish, "finishAndClaim": m.finishAndClaim, "wake": m.wake, "advance": m.advance,
			"repair": func(rt *rapid.T) { // a repair changes nothing in a sound store
				if err := o.Store.Repair(t.Context(), m.project); err != nil {
					rt.Fatal(err)
				}
			},
		})
	})
}

// modelIssues is the number of issues. They are few, so that operations meet.
const modelIssues = 4

// never is the due time of a key that is not queued.
const never = -1

type modelKey struct {
	id        mapping.LinkID
	issue     int
	why       string // stands for the link's content
	inbox     map[mapping.Ref]modelSlot
	events    []modelEvent
	gen       int
	token     int64
	until     int // minute in which the lease ends; 0: none
	again     int // when a change under the lease is due
	due       int // minute, never
	bulk      bool
	waits     string
	since     int // when it began to wait
	parked    bool
	held      bool   // parked, and changes do not take it up
	reason    string // why the key is where it is; "" where something else decides
	tied      bool   // a change became due in the same minute: either decides
	attempts  int
	open      int // claims since the last one that was ended
	abandoned int
	history   int
}

type modelSlot struct {
	at        int64
	digest    string
	ambiguous bool
	gen       int
}

type modelEvent struct {
	gen  int
	own  bool
	text string
}

type model struct {
	now        int
	keys       map[mapping.LinkID]*modelKey
	deliveries map[string]bool
}

// takeUp makes a parked key due again.
func (k *modelKey) takeUp() {
	if k.parked {
		k.attempts, k.abandoned, k.parked, k.held = 0, max(k.abandoned-1, 0), false, false
	}
}

func (m *model) leased(k *modelKey) bool { return k.until > m.now }

func (m *model) byIssue(issue int) *modelKey {
	for _, k := range m.keys {
		if k.issue == issue {
			return k
		}
	}
	return nil
}

// change is what Observe and Enqueue have in common.
func (m *model) change(k *modelKey, delay int, bulk, wake bool) {
	k.gen++
	queued := k.due != never || k.waits != ""
	k.bulk = bulk && (k.bulk || !queued)
	at := m.now + delay
	switch {
	case m.leased(k):
		if k.again == never || at < k.again {
			k.again = at
		}
	case (k.waits != "" || k.held) && !wake:
	case k.due == never || at < k.due:
		k.takeUp()
		k.due, k.waits, k.parked = at, "", false
		k.unexplained()
	}
}

func (k *modelKey) unexplained() { k.reason, k.tied = "", false }

// claimable lists the keys that a claim may return, except the named one. Where there is none it
// returns in how many minutes there is one (never: none is queued).
func (m *model) claimable(but mapping.LinkID) (ids []mapping.LinkID, next int) {
	for _, bulk := range []bool{false, true} {
		first := m.now + 1
		for _, k := range m.keys {
			if k.due == never || k.bulk != bulk || k.id == but {
				continue
			}
			if k.due < first {
				ids, first = nil, k.due
			}
			if k.due == first && k.due <= m.now {
				ids = append(ids, k.id)
			}
		}
		if ids != nil {
			return ids, 0
		}
	}
	next = never
	for _, k := range m.keys {
		if k.due != never && (next == never || k.due-m.now < next) {
			next = k.due - m.now
		}
	}
	return nil, next
}

func (m *model) lease(k *modelKey, minutes int) {
	if k.due == never && k.waits == "" {
		k.bulk = false
	}
	k.takeUp()
	k.token++
	k.open++
	k.until, k.due, k.again = m.now+minutes, m.now+minutes, never
	k.waits, k.parked, k.held = "", false, false
	k.unexplained()
}

func (m *model) holds(c *store.Claim) *modelKey {
	if k := m.keys[c.Key.Link]; k != nil && k.token == c.Token && m.leased(k) {
		return k
	}
	return nil
}

// done reports whether a Finish repeats one that was carried out.
func (m *model) done(c *store.Claim, kind store.OutcomeKind) bool {
	k := m.keys[c.Key.Link]
	return k == nil && kind == store.Remove || k != nil && k.token == c.Token && k.until == 0
}

func (m *model) finish(k *modelKey, gen int, out store.Outcome, history int) {
	changed := k.gen != gen
	if out.Kind == store.Remove && !changed {
		delete(m.keys, k.id)
		return
	}
	k.history += history
	k.until = 0
	k.abandoned, k.open = k.abandoned+k.open-1, 0
	due := m.now + minutes(out.After)
	if out.Kind == store.Done && out.After == 0 {
		due = never
	}
	k.reason, k.tied = out.Reason, k.again != never && k.again == due
	if k.again != never && (due == never || k.again < due) {
		due = k.again
		k.unexplained()
	}
	switch out.Kind {
	case store.Done:
		maps.DeleteFunc(k.inbox, func(_ mapping.Ref, s modelSlot) bool { return s.gen <= gen })
		k.events = slices.DeleteFunc(k.events, func(e modelEvent) bool { return e.gen <= gen })
		k.attempts, k.abandoned, k.due = 0, 0, due
	case store.Retry:
		k.attempts++
		k.due = due
	case store.Again:
		k.due = due
	case store.Wait:
		k.waits, k.since, k.due, k.reason, k.tied = out.Service, m.now, never, out.Reason, false
	case store.Park, store.Hold:
		if !out.Unspent {
			k.attempts++
		}
		k.parked, k.held, k.due, k.reason = true, out.Kind == store.Hold, never, out.Reason
	}
	if changed && (out.Kind == store.Park || out.Kind == store.Remove) {
		k.takeUp()
		k.due = k.again
		k.unexplained()
	}
}

// machine holds the store to the model.
type machine struct {
	*model
	t       *testing.T
	o       Opened
	project mapping.ObjectID
	claims  []*store.Claim       // all that were ever given, finished and lost ones too
	seen    map[*store.Claim]int // the model's generation of each claim
}

func (m *machine) key(id mapping.LinkID) store.Key { return store.Key{Project: m.project, Link: id} }

func issueRef(issue int) mapping.Ref { return mapping.IssueRef(int64(issue + 1)) }

func (m *machine) anyKey(rt *rapid.T) *modelKey {
	if len(m.keys) == 0 {
		rt.Skip("no link yet")
	}
	ids := slices.Sorted(maps.Keys(m.keys))
	return m.keys[rapid.SampledFrom(ids).Draw(rt, "key")]
}

func (m *machine) observe(rt *rapid.T) {
	issue := rapid.IntRange(0, modelIssues-1).Draw(rt, "issue")
	ref := issueRef(issue)
	o := store.Observation{
		Refs: []mapping.Ref{ref}, Bulk: rapid.Bool().Draw(rt, "bulk"),
		Delay: time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 5}).Draw(rt, "delay")) * time.Minute,
	}
	if rapid.Bool().Draw(rt, "snapshot") {
		o.Item, o.At = ref, int64(rapid.IntRange(1, 3).Draw(rt, "at"))
		o.Digest = rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "digest")
		o.Data = []byte(o.Digest)
	}
	if rapid.Bool().Draw(rt, "event") {
		o.Event, o.Own = fmt.Appendf(nil, "event %d", rapid.Int().Draw(rt, "text")), rapid.Bool().Draw(rt, "own")
	}
	if n := rapid.IntRange(0, 6).Draw(rt, "delivery"); n > 2 {
		o.Delivery = fmt.Sprint(n, issue)
	}
	if rapid.Bool().Draw(rt, "create") {
		o.Create = &mapping.Link{ID: mapping.LinkID(mapping.NewID()), Project: m.project, Pair: mapping.Pair{Issue: mapping.IssueID{ID: int64(issue + 1)}}}
	}
	want := m.expect(issue, &o)
	seen, err := m.o.Store.Observe(m.t.Context(), m.project, []store.Observation{o})
	if err != nil || seen[0] != want {
		rt.Fatalf("Observe = %+v, %v, want %+v", seen, err, want)
	}
}

// expect applies an observation to the model.
func (m *machine) expect(issue int, o *store.Observation) (want store.Observed) {
	k, delivery := m.byIssue(issue), o.Delivery+"/"+string(o.Item)
	want.Duplicate = o.Delivery != "" && m.deliveries[delivery]
	if k == nil && o.Create != nil && !want.Duplicate {
		k = &modelKey{id: o.Create.ID, issue: issue, due: never, again: never, inbox: map[mapping.Ref]modelSlot{}}
		m.keys[k.id] = k
		want.Created = true
	}
	if k == nil {
		return want
	}
	want.Key = m.key(k.id)
	old, had := k.inbox[o.Item]
	same := had && old.at == o.At && old.digest == o.Digest
	known := had && o.Data != nil && o.Event == nil && (same || o.At < old.at)
	if gen := k.gen; !known || want.Duplicate || !k.parked {
		if m.change(k, minutes(o.Delay), o.Bulk, false); known && !want.Duplicate && m.leased(k) {
			k.gen = gen
		}
	}
	if want.Duplicate {
		return want
	}
	if o.Delivery != "" {
		m.deliveries[delivery] = true
	}
	if o.Event != nil {
		k.events = append(k.events, modelEvent{k.gen, o.Own, string(o.Event)})
		slices.SortStableFunc(k.events, func(a, b modelEvent) int {
			return strings.Compare(fmt.Sprint(a.own), fmt.Sprint(b.own)) // false before true
		})
	}
	if o.Data != nil {
		want.Stored = !had || o.At >= old.at
		if want.Stored && !same {
			k.inbox[o.Item] = modelSlot{o.At, o.Digest, had && old.at == o.At, k.gen}
		}
	}
	return want
}

func (m *machine) enqueue(rt *rapid.T) {
	k := m.anyKey(rt)
	delay, bulk := rapid.IntRange(0, 3).Draw(rt, "delay"), rapid.Bool().Draw(rt, "bulk")
	m.change(k, delay, bulk, true)
	if err := m.o.Store.Enqueue(m.t.Context(), m.key(k.id), time.Duration(delay)*time.Minute, bulk); err != nil {
		rt.Fatal(err)
	}
}

func (m *machine) claim(rt *rapid.T) {
	ttl := rapid.IntRange(1, 4).Draw(rt, "ttl")
	ids, next := m.claimable("")
	c, wait, err := m.o.Store.Claim(m.t.Context(), m.project, time.Duration(ttl)*time.Minute)
	switch {
	case err != nil:
		rt.Fatal(err)
	case c == nil && ids != nil:
		rt.Fatalf("Claim = none, want one of %v", ids)
	case c == nil && (minutes(wait) != max(next, 0) || (wait == 0) != (next == never)):
		rt.Fatalf("Claim says %v, want %d minutes", wait, next)
	case c != nil && !slices.Contains(ids, c.Key.Link):
		rt.Fatalf("Claim = %s, want one of %v", c.Key, ids)
	case c != nil:
		m.claimed(rt, c, ttl)
	}
}

func (m *machine) claimKey(rt *rapid.T) {
	k := m.anyKey(rt)
	ttl := rapid.IntRange(1, 4).Draw(rt, "ttl")
	c, err := m.o.Store.ClaimKey(m.t.Context(), m.key(k.id), time.Duration(ttl)*time.Minute)
	if m.leased(k) != (err != nil) {
		rt.Fatalf("ClaimKey = %v, leased %v", err, m.leased(k))
	}
	if err == nil {
		m.claimed(rt, c, ttl)
	}
}

// claimed compares a claim with the model's key.
func (m *machine) claimed(rt *rapid.T, c *store.Claim, ttl int) {
	k := m.keys[c.Key.Link]
	m.lease(k, ttl)
	if c.Token < k.token || c.Attempts != k.attempts || c.Abandoned != k.abandoned+k.open-1 || c.AfterAbandoned != (k.open > 1) || c.Link.Why != k.why || len(c.Inbox) != len(k.inbox) || len(c.Events) != len(k.events) {
		rt.Fatalf("claim = %+v, want %+v", c, k)
	}
	k.token = c.Token
	for ref, s := range k.inbox {
		got := c.Inbox[ref]
		if got.At != s.at || got.Digest != s.digest || got.Ambiguous != s.ambiguous || string(got.Data) != s.digest {
			rt.Fatalf("slot %s = %+v, want %+v", ref, got, s)
		}
	}
	for i, e := range k.events {
		if string(c.Events[i]) != e.text {
			rt.Fatalf("event %d = %q, want %q", i, c.Events[i], e.text)
		}
	}
	m.claims = append(m.claims, c)
	m.seen[c] = k.gen
}

func (m *machine) anyClaim(rt *rapid.T) (*store.Claim, *modelKey) {
	if len(m.claims) == 0 {
		rt.Skip("no claim yet")
	}
	c := rapid.SampledFrom(m.claims).Draw(rt, "claim")
	return c, m.holds(c)
}
