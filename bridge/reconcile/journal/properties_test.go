package journal

import (
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"planbridge/mapping"
)

// story draws edits of a title by us and by people, and the records of our writes, of which some
// are in flight. The writes that happened are truth.
func story(r *rand.Rand) (j mapping.Journal, told Edits, truth Matches) {
	values, now := []string{"a", "b", "c", "d", "e"}, "a"
	truth = Matches{}
	var all []mapping.IssueEvent
	for i := range 1 + r.IntN(8) {
		to := values[r.IntN(len(values))]
		if r.IntN(2) == 0 { // a person
			if to != now {
				all = append(all, title(dev, i, now, to))
				now = to
			}
			continue
		}
		p := write(string(rune('p'+i)), mapping.Title, values[r.IntN(len(values))], to, after(i))
		switch happens := r.IntN(3) > 0 && to != now; {
		case happens && r.IntN(4) == 0: // it was dealt with before
			j.Consumed = append(j.Consumed, spentOn(p, Overwritten{now, at(i)}))
			all = append(all, title(ours, i, now, to))
			now = to
			continue
		case happens:
			truth[p.ID] = Overwritten{now, at(i)}
			all = append(all, title(ours, i, now, to))
			now = to
			j.Pending = append(j.Pending, p)
		default:
			j.InFlight = append(j.InFlight, p)
		}
	}
	return j, edits(all...), truth
}

// TestMatchProperties holds of any story. Each edit belongs to one write only, which can have made
// it, and no consumed edit belongs to any. Where no two writes wrote the same value, those that
// happened are found with the values that they replaced.
func TestMatchProperties(t *testing.T) {
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		j, told, truth := story(r)
		found := Match(&j, told, nil)
		free := map[Overwritten]int{} // how many edits ran over a text at a time, less those that were dealt with
		for _, c := range told.Of(mapping.Title) {
			if c.By.Ours() {
				free[Overwritten{c.From, c.At}]++
			}
		}
		for id, over := range found {
			if free[over]--; free[over] < 0 {
				t.Fatalf("seed %d: two writes have the edit at %s: %+v", seed, over.At, found)
			}
			for _, p := range writes(&j) {
				if p.ID == id && over.At.Before(p.After) {
					t.Fatalf("seed %d: %s made an edit from before it: %+v", seed, id, found)
				}
			}
			for _, s := range j.Consumed {
				if s.At.Equal(over.At) {
					t.Fatalf("seed %d: %s made an edit that was dealt with: %+v", seed, id, found)
				}
			}
		}
		if valuesDiffer(writes(&j)) && !maps.Equal(found, truth) {
			t.Fatalf("seed %d: %+v, want %+v, of %+v", seed, found, truth, j)
		}
		if again := Match(&j, told, found); !maps.Equal(again, found) {
			t.Fatalf("seed %d: asked again, %+v became %+v", seed, found, again)
		}
		if over := (Edits{All: told.All[:0], Authorship: whose, Bare: told.Bare}); !maps.Equal(Match(&j, over, found), found) {
			t.Fatalf("seed %d: no edits changed what is known", seed)
		}
	}
}

// valuesDiffer reports whether no two writes wrote the same value.
func valuesDiffer(records []mapping.Pending) bool {
	wrote := map[string]bool{}
	for _, p := range records {
		wrote[p.To] = true
	}
	return len(wrote) == len(records)
}

// TestBehindEnds: a caller that waits as told, time and again, believes the reads soon after they
// have been behind for longer than GitHub lags. It never does before.
func TestBehindEnds(t *testing.T) {
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		settle, least := time.Duration(r.IntN(300))*time.Second, time.Second+time.Duration(r.IntN(20))*time.Second
		most, since := max(Doubt, settle), time.Duration(0)
		for looks := 0; ; looks++ {
			wait, believed := Behind(since, settle, least)
			if believed != (since >= most) {
				t.Fatalf("seed %d: believed after %s of %s: %v", seed, since, most, believed)
			}
			if believed {
				break
			}
			if wait < least || since+wait > most+least {
				t.Fatalf("seed %d: after %s it waits %s, of %s", seed, since, wait, most)
			}
			if since += wait; looks > int(most/least) {
				t.Fatalf("seed %d: still not believed after %d looks", seed, looks)
			}
		}
	}
}

// TestLeadFollowsTheChain: edits that follow from each other lead from each value to the last one,
// in any order. They lead to no other value.
func TestLeadFollowsTheChain(t *testing.T) {
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		values := []string{"a", "b", "c", "d", "e", "f"}
		r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		chain := values[:2+r.IntN(3)]
		var all []mapping.IssueEvent
		for i := range chain[1:] {
			all = append(all, title(dev, i, chain[i], chain[i+1]))
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		told, last := edits(all...), chain[len(chain)-1]
		digest := func(value string) string { return mapping.DigestValue(mapping.Title, value) }
		for _, from := range chain {
			for _, to := range values {
				if got, want := told.Lead(mapping.Title, digest(from), digest(to)), to == last; got != want {
					t.Fatalf("seed %d: %q leads from %s to %s: %v", seed, chain, from, to, got)
				}
			}
		}
		for i := range chain[1:] {
			if !told.Tell(mapping.Title, chain[i], chain[i+1]) || !told.Leave(mapping.Title, chain[i]) {
				t.Fatalf("seed %d: %q does not tell of its edit %d", seed, chain, i)
			}
		}
		if told.Leave(mapping.Title, last) {
			t.Fatalf("seed %d: %q leaves its last value", seed, chain)
		}
	}
}

// TestForgottenIsReplaced: an edit is lost where our write replaced it at once and no later value
// contains it. An edit that was restored, or that the write knew, is not lost.
func TestForgottenIsReplaced(t *testing.T) {
	late := int(Doubt/time.Second) + 1
	for name, tt := range map[string]struct {
		edits []mapping.IssueEvent
		lost  []string
	}{
		"replaced at once":      {[]mapping.IssueEvent{title(dev, 0, "a", "b"), title(ours, 1, "b", "c")}, []string{"b"}},
		"known to the write":    {[]mapping.IssueEvent{title(dev, 0, "a", "b"), title(ours, late, "b", "c")}, nil},
		"brought back":          {[]mapping.IssueEvent{title(dev, 0, "a", "b"), title(ours, 1, "b", "c"), title(dev, 9, "c", "b")}, nil},
		"of our own":            {[]mapping.IssueEvent{title(ours, 0, "a", "b"), title(ours, 1, "b", "c")}, nil},
		"of another attribute":  {[]mapping.IssueEvent{body(dev, 0, "a", "b"), title(ours, 1, "b", "c")}, nil},
		"perhaps our own write": {[]mapping.IssueEvent{title(dev, 0, "a", "b"), title(maybe, 1, "b", "c")}, []string{"b"}},
		"twice": {[]mapping.IssueEvent{
			title(dev, 0, "a", "b"), title(ours, 1, "b", "c"), title(dev, 2, "c", "d"), title(ours, 3, "d", "e"),
		}, []string{"b", "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			var lost []string
			for _, l := range edits(tt.edits...).Forgotten(mapping.Title, nil) {
				lost = append(lost, l.Text)
			}
			expect(t, "lost", lost, tt.lost)
		})
	}
}
