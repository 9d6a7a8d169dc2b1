package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"planbridge/store"
)

var budgetTests = map[string]func(*fixture){
	"Minute":        testBudgetMinute,
	"Hour":          testBudgetHour,
	"Taken":         testBudgetTaken,
	"Burst":         testBudgetBurst,
	"Items":         testBudgetItems,
	"QuietRoute":    testBudgetQuietRoute,
	"Ranks":         testBudgetRanks,
	"LessUsedFirst": testBudgetLessUsedFirst,
	"Authors":       testBudgetAuthors,
	"Turns":         testBudgetTurns,
	"ManyParties":   testBudgetManyParties,
	"Random":        testBudgetRandom,
	"Holds":         testHolds,
}

// take asks the test's own budget.
func (f *fixture) take(perMinute, perHour, burst int, a store.Ask) store.Grant {
	f.Helper()
	g, err := f.Take(f.ctx, store.Budget{Name: string(f.project), PerMinute: perMinute, PerHour: perHour, Burst: burst}, a)
	f.no("Take", err)
	if g.Items < 0 || g.Items > max(a.Items, 1) || (g.Items == 0) != (g.Wait > 0) {
		f.Errorf("%+v was answered %+v", a, g)
	}
	return g
}

// budget takes writes until none is given, at most most, and returns how many
// and how long to wait then.
func (f *fixture) budget(most, perMinute, perHour, burst int) (n int, wait time.Duration) {
	f.Helper()
	for n < most {
		grant := f.take(perMinute, perHour, burst, store.Ask{})
		if grant.Items == 0 {
			return n, grant.Wait
		}
		n += grant.Items
	}
	return n, 0
}

func testBudgetMinute(f *fixture) {
	n, wait := f.budget(100, 10, 1000, 100)
	if n != 10 || wait <= 30*time.Second || wait > time.Minute {
		f.Errorf("the first minute gave %d and a wait of %v", n, wait)
	}
	f.Opened.Advance(wait)
	if n, _ := f.budget(100, 10, 1000, 100); n == 0 {
		f.Error("nothing to be had after the wait that was asked for")
	}
}

func testBudgetHour(f *fixture) {
	total := 0
	for range 12 {
		n, _ := f.budget(100, 10, 45, 100)
		total += n
		f.Opened.Advance(90 * time.Second)
	}
	if total != 45 {
		f.Errorf("%d writes within an hour, want 45", total)
	}
	_, wait := f.budget(1, 10, 45, 100)
	if m := minutes(wait); m < 40 || m > 43 {
		f.Errorf("wait of %v, want until an hour after the first", wait)
	}
	f.Opened.Advance(wait)
	if n, _ := f.budget(1, 10, 45, 100); n != 1 {
		f.Error("nothing to be had after the wait that was asked for")
	}
}

// testBudgetTaken: taken items are counted by the minute and by the hour, and counting changes
// nothing.
func testBudgetTaken(f *fixture) {
	taken := func(minute, hour int) {
		f.Helper()
		gotMinute, gotHour, err := f.Taken(f.ctx, string(f.project))
		f.no("Taken", err)
		if gotMinute != minute || gotHour != hour {
			f.Errorf("%d were taken within a minute and %d within an hour, want %d and %d", gotMinute, gotHour, minute, hour)
		}
	}
	taken(0, 0)
	f.take(10, 100, 100, store.Ask{Items: 3})
	f.take(10, 100, 100, store.Ask{})
	taken(4, 4)
	f.Opened.Advance(2 * time.Minute)
	taken(0, 4)
	f.take(10, 100, 100, store.Ask{Items: 2})
	taken(2, 6)
	f.Opened.Advance(2 * time.Hour)
	taken(0, 0)
}

func testBudgetBurst(f *fixture) {
	n, wait := f.budget(100, 2, 1000, 1)
	if n != 1 || wait > 30*time.Second || wait < 20*time.Second {
		f.Errorf("a burst of 1 gave %d and a wait of %v", n, wait)
	}
	f.Opened.Advance(time.Hour)
	if n, _ = f.budget(100, 20, 1000, 5); n != 5 {
		f.Errorf("a burst of 5 gave %d after a rest", n)
	}
	f.Opened.Advance(6 * time.Second)
	if n, _ = f.budget(100, 20, 1000, 5); n < 2 || n > 4 {
		f.Errorf("six seconds at 20 a minute gave %d", n)
	}
}

// drain takes what an ask can have now.
func (f *fixture) drain(perMinute, perHour, burst int, a store.Ask) (n int) {
	f.Helper()
	for range 10_000 {
		g := f.take(perMinute, perHour, burst, a)
		if n += g.Items; g.Items == 0 {
			return n
		}
	}
	f.Fatal("a budget gives without end")
	return n
}

// testBudgetItems: an ask for many items gets as many as there are, and never more in a minute than
// allowed.
func testBudgetItems(f *fixture) {
	ask := store.Ask{Items: 4000}
	if g := f.take(300, 0, 300, ask); g.Items != 300 {
		f.Errorf("a first ask for 4,000 items gave %+v, want 300", g)
	}
	if g := f.take(300, 0, 300, ask); g.Items > 60 {
		f.Errorf("a second ask gave %+v", g)
	}
	f.Opened.Advance(2 * time.Minute)
	if g := f.take(300, 0, 300, store.Ask{Items: 7}); g.Items != 7 {
		f.Errorf("an ask for 7 items gave %+v", g)
	}
	if g := f.take(300, 0, 300, ask); g.Items < 290 || g.Items > 300 {
		f.Errorf("what was left of the minute is %+v, want 293", g)
	}
}

// testBudgetQuietRoute: a route that was quiet gets an item at once, however much a flood takes.
func testBudgetQuietRoute(f *fixture) {
	for range 12 { // the hour is used up too
		f.drain(60, 450, 20, store.Ask{Route: "flood", Author: "mallory"})
		f.Opened.Advance(time.Minute)
	}
	f.drain(60, 450, 20, store.Ask{Route: "flood", Author: "mallory"})
	if g := f.take(60, 450, 20, store.Ask{Route: "quiet", Author: "alice"}); g.Items != 1 {
		f.Errorf("a quiet route beside a flood got %+v", g)
	}
}

// testBudgetRanks: a lower rank goes first, and a part of each bound is kept for it.
func testBudgetRanks(f *fixture) {
	people, shown, imports := store.Ask{Route: "a"}, store.Ask{Route: "a", Rank: store.RankShown}, store.Ask{Route: "a", Rank: store.RankImport}
	if n := f.drain(60, 0, 60, imports); n < 38 || n > 42 {
		f.Errorf("imports had %d of 60, want two thirds", n)
	}
	if n := f.drain(60, 0, 60, shown); n < 9 || n > 14 {
		f.Errorf("what shows had %d more, want 10", n)
	}
	if g := f.take(60, 0, 60, people); g.Items != 1 {
		f.Errorf("people had %+v after the others", g)
	}
	f.Opened.Advance(3 * time.Minute)
	f.drain(60, 0, 12, people)
	f.take(60, 0, 12, shown)          // waits
	f.take(60, 0, 12, people)         // waits, and goes before it
	f.Opened.Advance(2 * time.Second) // then there are 3 items, of which 2 are kept for people
	if g := f.take(60, 0, 12, shown); g.Items != 0 {
		f.Errorf("what only shows had %+v before people who wait", g)
	}
	if g := f.take(60, 0, 12, people); g.Items != 1 {
		f.Errorf("people who waited had %+v", g)
	}
}

// testBudgetLessUsedFirst: of two waiting routes, the one that used less goes first, whichever
// asked first.
func testBudgetLessUsedFirst(f *fixture) {
	busy, calm := store.Ask{Route: "busy"}, store.Ask{Route: "calm"}
	for range 30 {
		f.take(600, 0, 40, busy)
	}
	for range 10 {
		f.take(600, 0, 40, calm)
	}
	f.drain(600, 0, 40, busy)
	f.drain(600, 0, 40, calm) // now both wait
	f.drain(600, 0, 40, busy)
	const each = 100 * time.Millisecond
	served := map[string]int{}
	for range 40 {
		f.Opened.Advance(each)
		for _, a := range []store.Ask{busy, busy, busy, calm, calm} {
			served[a.Route] += f.take(600, 0, 40, a).Items
		}
	}
	if served["calm"] < 2*served["busy"] {
		f.Errorf("a route that used less had %v of what came", served)
	}
}

// testBudgetAuthors: within a route the author who used less goes first.
func testBudgetAuthors(f *fixture) {
	mallory, alice := store.Ask{Route: "r", Author: "mallory"}, store.Ask{Route: "r", Author: "alice"}
	f.drain(60, 0, 20, mallory)
	f.take(60, 0, 20, alice)
	served := map[string]int{}
	for range 12 {
		f.Opened.Advance(time.Second)
		for _, a := range []store.Ask{mallory, mallory, mallory, alice, alice} {
			served[a.Author] += f.take(60, 0, 20, a).Items
		}
	}
	if served["alice"] < 8 || served["mallory"] > 5 {
		f.Errorf("of a dozen items an author beside another's flood had %v", served)
	}
}

// testBudgetTurns: waiting parties have turns in sequence, few of them for each item.
func testBudgetTurns(f *fixture) {
	ask := store.Ask{Route: "r", Author: "mallory", Rank: store.RankShown}
	f.drain(60, 0, 20, ask)
	var waits []time.Duration
	for range 400 {
		waits = append(waits, f.take(60, 0, 20, ask).Wait)
	}
	slices.Sort(waits)
	within := func(d time.Duration) int {
		n, _ := slices.BinarySearchFunc(waits, d, cmp.Compare)
		return n
	}
	if n := within(30 * time.Second); n > 30*4+10 {
		f.Errorf("%d of 400 come back within 30 s, for 30 items", n)
	}
	if last := waits[len(waits)-1]; last > 5*time.Minute {
		f.Errorf("one of 400 comes back after %v", last)
	}
}

// testBudgetManyParties: a budget remembers a bounded number of authors, and goes on.
func testBudgetManyParties(f *fixture) {
	for i := range 1500 {
		f.take(100, 0, 20, store.Ask{Route: "r", Author: fmt.Sprint("sock", i)})
	}
	if g := f.take(100, 0, 20, store.Ask{Route: "quiet", Author: "alice"}); g.Items != 1 {
		f.Errorf("a quiet route beside 1,500 authors got %+v", g)
	}
}

// given is one grant, with bounds of its moment.
type given struct {
	from, to time.Duration
	n        int
}

// testBudgetRandom holds a budget to its law under random demand. No minute and no burst has more
// than allowed. Routes that always want items have equal parts, however much each of them asks.
func testBudgetRandom(f *fixture) {
	seed := rand.Uint64()
	f.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, seed))
	perMinute, burst := 30+dice.IntN(90), 5+dice.IntN(20)
	routes := 2 + dice.IntN(3)
	began, advanced := time.Now(), time.Duration(0)
	clock := func() time.Duration { return advanced + time.Since(began) }
	var all []given
	served := make([]int, routes)
	for range 120 {
		for range 4 * routes {
			r := min(dice.IntN(2*routes), routes-1) // the last asks most
			a := store.Ask{Items: 1 + dice.IntN(3), Route: fmt.Sprint("r", r), Author: fmt.Sprint("a", dice.IntN(3))}
			g := given{from: clock()}
			g.n = f.take(perMinute, 0, burst, a).Items
			g.to = clock()
			all = append(all, g)
			served[r] += g.n
		}
		step := time.Duration(dice.IntN(2000)) * time.Millisecond
		advanced += step
		f.Opened.Advance(step)
	}
	f.windows(all, perMinute, burst)
	if least, most := slices.Min(served), slices.Max(served); most > 2*least+burst {
		f.Errorf("routes that always want had %v", served)
	}
	if total := all[len(all)-1].to; float64(sum(served)) < 0.8*total.Minutes()*float64(perMinute) {
		f.Errorf("%d items in %v at %d a minute: the budget is not used", sum(served), total, perMinute)
	}
}

// windows demands that no minute and no burst had more than allowed.
func (f *fixture) windows(all []given, perMinute, burst int) {
	for i := range all {
		n := 0
		for j := i; j < len(all) && all[j].to-all[i].from < time.Minute; j++ {
			n += all[j].n
			paced := float64(burst) + (all[j].to-all[i].from).Minutes()*float64(perMinute) + 1
			if n > perMinute || float64(n) > paced {
				f.Fatalf("%d items within %v at %d a minute and a burst of %d", n, all[j].to-all[i].from, perMinute, burst)
			}
		}
	}
}

func sum(list []int) (n int) {
	for _, i := range list {
		n += i
	}
	return n
}

// testHolds: a closed name gives nothing before its time, and says how long that is.
func testHolds(f *fixture) {
	name, other := string(f.project)+"-hold", string(f.project)+"-other"
	b := store.Budget{Name: string(f.project), PerMinute: 10, Burst: 10, Holds: []string{other, name}}
	take := func() store.Grant {
		g, err := f.Take(f.ctx, b, store.Ask{Route: "r"})
		f.no("Take", err)
		return g
	}
	if g := take(); g.Items != 1 {
		f.Errorf("without a hold: %+v", g)
	}
	f.no("Hold", f.Hold(f.ctx, name, 10*time.Minute))
	f.no("Hold", f.Hold(f.ctx, name, time.Minute)) // does not shorten
	if g := take(); !g.Held || g.Items != 0 || minutes(g.Wait) != 10 {
		f.Errorf("on hold: %+v", g)
	}
	left, err := f.Held(f.ctx, other, name)
	if f.no("Held", err); len(left) != 2 || left[0] != 0 || minutes(left[1]) != 10 {
		f.Errorf("Held = %v", left)
	}
	f.no("Hold", f.Hold(f.ctx, other, 5*time.Minute))
	if g := take(); !g.Held || minutes(g.Wait) != 10 {
		f.Errorf("on two holds: %+v, want a wait for both", g)
	}
	f.Opened.Advance(11 * time.Minute)
	if g := take(); g.Items != 1 || g.Held {
		f.Errorf("after the hold: %+v", g)
	}
}
