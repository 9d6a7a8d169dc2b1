package journal

import (
	"maps"
	"math/rand/v2"
	"testing"

	"planbridge/mapping"
)

// story draws edits of a title by us and by people, and the records of our writes, of which
// some were given up. truth are the writes that happened.
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

// TestMatchProperties holds of any story: each edit is of one write only, that it can be of,
// and no edit that was dealt with is of any. Where no two writes wrote the same value, those
// that happened are found with what they ran over.
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
