package planningmodel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// clock is a clock that a test moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

const testSecret = "0123456789abcdef0123456789abcdef"

func newService(c *clock) (*Service, *Project) {
	s := New(Options{Now: c.now})
	return s, s.AddProject(ProjectSpec{Title: "Web", Secret: testSecret, Members: []string{"bridge", "alice"}, Buckets: []string{"Incoming", "Bugs"}})
}

// act does one random act of a person or of the API on a project.
func act(t *testing.T, s *Service, p *Project, rng *rand.Rand, c *clock) {
	c.Time = c.Add(time.Duration(rng.IntN(3000)) * time.Millisecond)
	api, err := s.Open(p.ID(), testSecret)
	if err != nil {
		t.Fatal(err)
	}
	cards := p.Cards()
	if len(cards) == 0 || rng.IntN(6) == 0 {
		drafts := []Draft{{"bridge", []Field{{Attr: Title, Value: "made"}, {Attr: Estimate, Value: "3"}}}, {"alice", nil}}
		if _, err := api.CreateCards(p.BucketID("Incoming"), drafts); err != nil {
			t.Fatal(err)
		}
		return
	}
	k := cards[rng.IntN(len(cards))]
	switch rng.IntN(9) {
	case 0:
		p.EditCard(k.ID, "alice", func(e *CardEdit) { e.Summary = fmt.Sprint("text ", rng.IntN(4)) })
	case 1:
		p.MoveCard(k.ID, []string{"Incoming", "Bugs"}[rng.IntN(2)])
	case 2:
		p.NewTask(k.ID, "alice", TaskSpec{Title: "task", State: "done"})
	case 3:
		p.DeleteCard(k.ID)
	case 4:
		p.DeleteCard(k.ID)
		p.RestoreCard(k.ID)
	case 5:
		p.MoveToSprint(k.ID, p.NewSprint(SprintSpec{Title: "sprint", Start: c.Time, End: c.AddDate(0, 0, 14)}))
	case 6:
		for _, task := range k.Tasks {
			p.LogTime(task.ID, "alice", 1.5)
			p.MoveTask(task.ID, cards[rng.IntN(len(cards))].ID)
		}
	case 7:
		for _, task := range k.Tasks {
			if _, err := api.UpdateTask(task.ID, "bridge", []Field{{Attr: State, Value: "in-progress", Version: task.StateVersion}}); err != nil {
				t.Fatal(err)
			}
		}
	case 8:
		_, err := api.UpdateCard(k.ID, "bridge", []Field{{Attr: Title, Value: "put", Version: int64(rng.IntN(3)) - 1}})
		if conflict := (*Conflict)(nil); err != nil && !errors.As(err, &conflict) {
			t.Fatal(err)
		}
	}
}

// TestSameCallsSameState runs the same acts on two services, on a clone half-way and again after a
// return to it. Their digests are equal after each act.
func TestSameCallsSameState(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	story := func(s *Service, p *Project, c *clock, from, to int) (digests [][32]byte) {
		for step := from; step < to; step++ {
			act(t, s, p, rand.New(rand.NewPCG(seed, uint64(step))), c)
			digests = append(digests, s.Digest())
		}
		return digests
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one, two := &clock{begin}, &clock{begin}
	s1, p1 := newService(one)
	s2, p2 := newService(two)
	if !slices.Equal(story(s1, p1, one, 0, 100), story(s2, p2, two, 0, 100)) {
		t.Fatal("the same acts came to different states")
	}
	at := *two
	backup := s2.Clone(Options{Now: two.now})
	rest := story(s2, p2, two, 100, 200)
	if rest[len(rest)-1] == backup.Digest() {
		t.Error("the digest does not show what happened")
	}
	if s1.Digest() != backup.Digest() {
		t.Error("acts on a service showed in its clone")
	}
	*two = at
	if !slices.Equal(story(backup, backup.project(p2.ID()), two, 100, 200), rest) {
		t.Error("a clone went another way")
	}
}

// TestRestore returns to a backup: earlier items are as they were, later items are gone, and no id
// is given twice.
func TestRestore(t *testing.T) {
	c := &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s, p := newService(c)
	kept := p.NewCard("Bugs", "alice", CardSpec{Title: "kept"})
	task := p.NewTask(kept, "alice", TaskSpec{Title: "task"})
	backup := s.Clone(Options{Now: c.now})
	was := backup.Digest()
	p.EditCard(kept, "alice", func(e *CardEdit) { e.Title = "changed" })
	p.DeleteTask(task)
	later := p.NewCard("Bugs", "alice", CardSpec{Title: "later"})
	s.AddProject(ProjectSpec{Title: "Later"})

	s.Restore(backup)
	if k := p.Card(kept); k.Title != "kept" || len(k.Tasks) != 1 || p.Card(later).ID != "" || len(s.Projects()) != 1 {
		t.Errorf("after the return the card is %+v, the later one %+v, projects %d", k, p.Card(later), len(s.Projects()))
	}
	again := p.NewCard("Bugs", "alice", CardSpec{Title: "again"})
	if again == later || p.Card(again).CID != 3 {
		t.Errorf("card %s with number %d was made after %s", again, p.Card(again).CID, later)
	}
	if backup.Digest() != was {
		t.Error("acts after the return showed in the backup")
	}
}

// TestFailing makes the first of a batch only.
func TestFailing(t *testing.T) {
	c := &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s, p := newService(c)
	api, err := s.Open(p.ID(), testSecret)
	if err != nil {
		t.Fatal(err)
	}
	draft := Draft{"bridge", []Field{{Attr: Title, Value: "made"}}}
	_, err = api.Failing(2).CreateCards(p.BucketID("Bugs"), []Draft{draft, draft, draft})
	if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Status != 500 || len(p.Cards()) != 2 {
		t.Errorf("%v, and %d cards", err, len(p.Cards()))
	}
	if _, err := s.Open(p.ID(), "another"); err == nil {
		t.Error("another secret opened the project")
	}
}
