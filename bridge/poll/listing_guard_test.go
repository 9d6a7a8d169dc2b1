package poll_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/poll"
	"planbridge/mapping"
	"planbridge/store"
)

// isAdopted reports whether anything may be made.
func (w *world) isAdopted() bool {
	w.t.Helper()
	epoch, err := w.store.Epoch(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	doc, err := w.store.Doc(w.t.Context(), project, store.DocAdopted)
	return err == nil && string(doc) == epoch
}

// TestListingLacksCardsOfALostStore: a listing is no proof of absence while it
// lacks what this process saw before the store was lost.
func TestListingLacksCardsOfALostStore(t *testing.T) {
	cards := []mapping.Card{card("one"), card("two"), card("three")}
	for name, shown := range map[string][]mapping.Card{"empty": nil, "halved": cards[:1], "other": {card("new")}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, _, path := twoReplicas(t)
				w.planned.put(incoming, "Incoming", cards...)
				w.poll()
				w.lose(path)
				w.planned.put(incoming, "Incoming", shown...)
				for range 3 {
					w.poll()
					pass(time.Minute)
				}
				if w.isAdopted() {
					t.Fatal("a listing that lacks cards was believed")
				}
				w.lose(path) // once more, with all that was seen before
				w.poll()
				if w.isAdopted() {
					t.Fatal("a listing that lacks cards was believed after a second loss")
				}
				if n := strings.Count(w.log.String(), "level=WARN"); n != 1 {
					t.Errorf("%d warnings, want one:\n%s", n, w.log)
				}
				w.planned.put(incoming, "Incoming", append(slices.Clone(cards), card("new"))...)
				w.poll()
				if !w.isAdopted() {
					t.Error("a listing with all cards is not believed")
				}
			})
		})
	}
}

// TestListingsOfANewProcessDiffer: a process that begins with an empty store saw nothing
// before. It believes no listing that differs from the one before it.
func TestListingsOfANewProcessDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		shows []int // buckets, of two
		want  bool  // it is believed
	}{
		"all twice":            {nil, true},
		"first nothing":        {[]int{0}, true},
		"first the half":       {[]int{1}, true},
		"nothing the 2nd time": {[]int{2, 0}, false},
		"half the 2nd time":    {[]int{2, 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.planned.put(incoming, "Incoming", card("one"))
			w.planned.put("later", "Later", card("two"))
			w.adopted()
			w.planned.shows = c.shows
			w.poll()
			if w.isAdopted() != c.want {
				t.Fatalf("adopted: %t, want %t", !c.want, c.want)
			}
			marks, err := w.store.Marks(t.Context(), project, poll.SetCards)
			if err != nil || len(marks) != 2 {
				t.Errorf("of two cards %d were seen (%v)", len(marks), err)
			}
			w.poll()
			if !w.isAdopted() {
				t.Error("not adopted after a listing with all cards")
			}
		})
	}
}

// TestAWitnessReadsOnce: a process that saw cards before the store was lost compares a
// listing with those. It reads no second one for it.
func TestAWitnessReadsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, path := twoReplicas(t)
		w.poll()
		w.poll() // it is adopted
		w.lose(path)
		before := w.planned.count("backlog")
		w.poll()
		if n := w.planned.count("backlog") - before; n != 1 || !w.isAdopted() {
			t.Errorf("%d readings, adopted %t; want one reading that is believed", n, w.isAdopted())
		}
	})
}

// TestAdoptionReadsAnew: a round that adopts takes nothing of sprints from an answer of
// before; a later one may.
func TestAdoptionReadsAnew(t *testing.T) {
	w := newWorld(t)
	news := &service{items: map[mapping.ObjectID]listing{}, tasks: map[mapping.ObjectID][]mapping.Task{}, fails: map[string]error{}}
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.list("s", card("one"))
	news.sprints, news.items = w.planned.sprints, w.planned.items
	w.options.News = news
	w.restart()
	w.adopted()
	w.poll()
	if n := news.count("sprints") + news.count("sprint s"); n != 0 || !w.isAdopted() {
		t.Errorf("adoption read %d answers of before; adopted: %t", n, w.isAdopted())
	}
	sprints := w.planned.count("sprints")
	w.poll()
	if news.count("sprints") != 1 || news.count("sprint s") != 1 || w.planned.count("sprints") != sprints {
		t.Error("a round after adoption reads everything anew")
	}
}

// TestCardGoneWithTheStore: a card that stays away holds nothing up for ever,
// and one that was seen to be gone long before does not at all.
func TestCardGoneWithTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, path := twoReplicas(t)
		w.planned.put(incoming, "Incoming", card("one"), card("two"), card("three"))
		w.poll()
		w.planned.put(incoming, "Incoming", card("one"), card("two"))
		w.poll()
		pass(time.Hour)
		w.poll()
		w.lose(path)
		w.poll()
		if !w.isAdopted() {
			t.Fatal("a card that was gone long before holds up")
		}
		w.planned.put(incoming, "Incoming", card("one"))
		w.lose(path)
		w.poll()
		pass(4 * time.Minute)
		w.poll()
		if w.isAdopted() {
			t.Fatal("believed too early")
		}
		pass(time.Minute)
		w.poll()
		if !w.isAdopted() {
			t.Error("a card that is gone holds up for ever")
		}
		if n := strings.Count(w.log.String(), "level=WARN"); n != 2 {
			t.Errorf("%d warnings, want two:\n%s", n, w.log)
		}
	})
}

// TestListingLacksCardsThatWereTold: cards that the reconcile made or read count like shown ones,
// until a round shows them.
func TestListingLacksCardsThatWereTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, path := twoReplicas(t)
		cards := []mapping.Card{card("one")}
		for i := range 6 { // so few that are missing at once would be looked for
			cards = append(cards, card(fmt.Sprint("beside", i)))
		}
		w.planned.put(incoming, "Incoming")
		w.poll()
		w.poller.Exists("one")
		w.lose(path)
		w.poll()
		pass(time.Minute)
		w.poll()
		if w.isAdopted() {
			t.Fatal("a listing that lacks a card was believed")
		}
		w.planned.put(incoming, "Incoming", cards...)
		w.poll()
		if !w.isAdopted() {
			t.Fatal("a listing with the card is not believed")
		}
		w.planned.put(incoming, "Incoming")
		w.poll()
		pass(time.Hour)
		w.lose(path)
		w.poll()
		pass(5 * time.Minute)
		w.poll()
		if !w.isAdopted() {
			t.Fatal("a card that is gone holds up for ever")
		}
		w.poll()
		w.poller.Exists("two")
		w.lose(path)
		w.poll()
		pass(5 * time.Minute)
		w.poll()
		w.poll()
		w.lose(path)
		w.poll()
		if !w.isAdopted() {
			t.Error("what was taken to be gone holds up once more")
		}
		if n := strings.Count(w.log.String(), "taken to be gone"); n != 2 {
			t.Errorf("%d warnings, want two:\n%s", n, w.log)
		}
	})
}

// TestCardsTakenForOld: cards that a new store takes for old are logged, as a warning where marked
// cards show that there was another one.
func TestCardsTakenForOld(t *testing.T) {
	numbered := func(n int64) mapping.Card {
		return card(fmt.Sprintf("c%d", n), func(c *mapping.Card) { c.CID = n })
	}
	mark := mapping.Marker{Kind: mapping.MarkCard, Link: "00000000000000aa", Nonce: "00000000000000bb", Partner: "12345"}
	ours := card("ours", func(c *mapping.Card) {
		c.Summary.Value = keys.AppendFooter("", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")
	})
	for _, test := range []struct {
		name  string
		cards []mapping.Card
		level string // "": nothing is told
		want  string
	}{
		{"first run", []mapping.Card{numbered(4), numbered(5)}, "INFO", `cards=2 cids="[4 5]"`},
		{"lost", []mapping.Card{numbered(4), ours, numbered(5)}, "WARN", `cards=2 cids="[4 5]"`},
		{"none", []mapping.Card{ours}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.planned.put(incoming, "Incoming", test.cards...)
			w.planned.put(other, "Other", numbered(9))
			w.poll()
			w.adopted()
			w.poll()
			w.poll()
			var told []string
			for line := range strings.Lines(w.log.String()) {
				if strings.Contains(line, "import") {
					told = append(told, line)
				}
			}
			if test.level == "" {
				if len(told) != 0 {
					t.Errorf("told: %s", told)
				}
				return
			}
			if len(told) != 1 || !strings.Contains(told[0], "level="+test.level) || !strings.Contains(told[0], test.want) || !strings.Contains(told[0], "route=web") {
				t.Errorf("told: %s, want one %s of %s", told, test.level, test.want)
			}
		})
	}
}

// TestManyCardsTakenForOld: only a few are named.
func TestManyCardsTakenForOld(t *testing.T) {
	var cards []mapping.Card
	for i := range 500 {
		cards = append(cards, card(fmt.Sprint(i), func(c *mapping.Card) { c.CID = int64(i) + 1 }))
	}
	if log := settled(t, cards...).log.String(); !strings.Contains(log, "cards=500") || strings.Contains(log, "cids") {
		t.Errorf("log: %.2000s", log)
	}
}
