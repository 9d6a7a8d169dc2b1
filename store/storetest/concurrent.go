package storetest

import (
	"fmt"
	"sync"

	"planbridge/mapping"
	"planbridge/store"
)

var concurrentTests = map[string]func(*fixture){
	"ClaimsAreExclusive": func(f *fixture) { testClaimRace(f, []store.Store{f.Store}) },
	"OneLinkIsMade":      testCreateRace,
	"NothingIsLost":      testObserveRace,
	"LeasesAreExclusive": testLeaseRace,
	"BudgetIsShared":     testBudgetRace,
}

// holders records which worker has which key.
type holders struct {
	sync.Mutex
	held   map[mapping.LinkID]bool
	worked map[mapping.LinkID]int
}

func newHolders() *holders {
	return &holders{held: map[mapping.LinkID]bool{}, worked: map[mapping.LinkID]int{}}
}

// take returns how often id has been worked, this time included, and false where another worker has
// it now.
func (h *holders) take(id mapping.LinkID) (int, bool) {
	h.Lock()
	defer h.Unlock()
	free := !h.held[id]
	h.held[id] = true
	h.worked[id]++
	return h.worked[id], free
}

func (h *holders) release(id mapping.LinkID) {
	h.Lock()
	defer h.Unlock()
	h.held[id] = false
}

func (h *holders) count(id mapping.LinkID) int {
	h.Lock()
	defer h.Unlock()
	return h.worked[id]
}

// together runs fn n times at once and reports the errors.
func (f *fixture) together(n int, fn func(i int) error) {
	f.Helper()
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = fn(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			f.Error(err)
		}
	}
}

// testCreateRace: an issue and its card, seen at the same moment by many, become one key.
func testCreateRace(f *fixture) {
	const n = 32
	proto := f.newLink()
	proto.Card.ID = mapping.ObjectID(mapping.NewID())
	keys := make([]store.Key, n)
	created := make([]bool, n)
	f.together(n, func(i int) error {
		l := *proto
		l.ID = mapping.LinkID(mapping.NewID())
		seen, err := f.Observe(f.ctx, f.project, []store.Observation{creating(&l)})
		if err == nil {
			keys[i], created[i] = seen[0].Key, seen[0].Created
		}
		return err
	})
	made := 0
	for i := range n {
		if keys[i] != keys[0] {
			f.Errorf("two keys: %s and %s", keys[0], keys[i])
		}
		if created[i] {
			made++
		}
	}
	if d := f.depth(); made != 1 || d.Live != 1 {
		f.Errorf("%d links made, Depth = %+v", made, d)
	}
}

func testObserveRace(f *fixture) {
	const n = 40
	l := f.made()
	f.together(n, func(i int) error {
		o := showing(l, int64(i), fmt.Sprint(i))
		o.Item = mapping.Ref(fmt.Sprintf("task:%d", i%4))
		if i >= n-20 {
			o.Event = fmt.Append(nil, i)
		}
		_, err := f.Observe(f.ctx, f.project, []store.Observation{o})
		return err
	})
	c := f.claim(l)
	if len(c.Events) != 20 {
		f.Errorf("%d events of 20", len(c.Events))
	}
	for i := n - 4; i < n; i++ {
		if s := c.Inbox[mapping.Ref(fmt.Sprintf("task:%d", i%4))]; s.At != int64(i) {
			f.Errorf("slot task:%d holds At %d, want the newest, %d", i%4, s.At, i)
		}
	}
}

func testLeaseRace(f *fixture) {
	const n = 16
	got := make([]bool, n)
	f.together(n, func(i int) (err error) {
		got[i], err = f.Acquire(f.ctx, string(f.project), fmt.Sprint(i), ttl)
		return err
	})
	owners := 0
	for _, ok := range got {
		if ok {
			owners++
		}
	}
	if owners != 1 {
		f.Errorf("%d owners of one lease", owners)
	}
}

func testBudgetRace(f *fixture) {
	const n = 32
	got := make([]bool, n)
	f.together(n, func(i int) error {
		grant, err := f.Take(f.ctx, store.Budget{Name: string(f.project), PerMinute: 10, PerHour: 100, Burst: 20}, store.Ask{})
		got[i] = grant.Items == 1
		return err
	})
	given := 0
	for _, ok := range got {
		if ok {
			given++
		}
	}
	if given != 10 {
		f.Errorf("%d writes given, want 10", given)
	}
}
