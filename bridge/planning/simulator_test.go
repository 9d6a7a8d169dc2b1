package planning_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/bridge/planning"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// world is a simulated service with one project, and its client.
type world struct {
	*testing.T
	server  *planningtest.Server
	project *planningtest.Project
	client  *planning.Client
}

func newWorld(t *testing.T, traits func(*planningtest.Traits)) *world {
	t.Helper()
	s, err := planningtest.Start(planningtest.Options{Prefix: "/api-prefix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p := s.AddProject(planningtest.ProjectSpec{
		Title: "Web", Secret: "00112233445566778899aabbccddeeff",
		Members: []string{"bridge", "alice"}, Buckets: []string{"Incoming", "Bugs"},
	})
	c, err := planning.New(planning.Options{
		BaseURL: s.URL(), Project: mapping.ObjectID(p.ID()),
		Secret: "00112233445566778899aabbccddeeff", RetryPause: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if traits != nil {
		s.SetTraits(traits)
	}
	return &world{t, s, p, c}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// bucket is the id that the service takes for a bucket.
func (w *world) bucket(title string) mapping.ObjectID {
	w.Helper()
	ids, err := w.client.BucketIDs(context.Background(), title)
	w.must(err)
	return ids[0]
}

// traits are the behaviours that change how answers look, not what they mean.
var traits = map[string]func(*planningtest.Traits){
	"plain":          nil,
	"bare ids":       func(t *planningtest.Traits) { t.BareOIDs = true },
	"strings":        func(t *planningtest.Traits) { t.NumericStrings = true },
	"floats":         func(t *planningtest.Traits) { t.FloatNumbers = true },
	"unknown fields": func(t *planningtest.Traits) { t.UnknownFields = true },
	"omissions":      func(t *planningtest.Traits) { t.OmitOptional = true },
	"null summary":   func(t *planningtest.Traits) { t.EmptySummary = planningtest.EmptyNull },
	"rich summary":   func(t *planningtest.Traits) { t.EmptySummary = planningtest.EmptyObject },
	"created, accepted": func(t *planningtest.Traits) {
		t.SuccessStatus = planningtest.StatusByKind{Read: 203, Create: 201, Update: 202}
	},
	"html always":      func(t *planningtest.Traits) { t.HTMLInAnswers = planningtest.HTMLAlways },
	"html never":       func(t *planningtest.Traits) { t.HTMLInAnswers = planningtest.HTMLNever },
	"nested":           func(t *planningtest.Traits) { t.SprintForm = planningtest.SprintNested },
	"flat and nested":  func(t *planningtest.Traits) { t.SprintForm = planningtest.SprintBoth },
	"sticky versions":  func(t *planningtest.Traits) { t.StateVersionSticks = true },
	"kept versions":    func(t *planningtest.Traits) { t.StateVersionKept = true },
	"estimate at 1":    func(t *planningtest.Traits) { t.CreateEstimateVersion1 = true },
	"sprint + backlog": func(t *planningtest.Traits) { t.SprintCardsInBacklog = true },
	"all spellings": func(t *planningtest.Traits) {
		t.BareOIDs, t.NumericStrings, t.FloatNumbers, t.UnknownFields, t.OmitOptional = true, true, true, true, true
		t.EmptySummary, t.SprintForm = planningtest.EmptyNull, planningtest.SprintBoth
	},
}

// TestLifeUnderTraits writes and reads through every endpoint and compares
// with what the service holds, whatever it makes its answers look like.
func TestLifeUnderTraits(t *testing.T) {
	for name, change := range traits {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, change)
			card, tasks := w.writes()
			w.backlogHas(card)
			w.sprintHas(card, tasks)
		})
	}
}

func (w *world) writes() (mapping.Card, []mapping.Task) {
	ctx := context.Background()
	card, err := w.client.CreateCard(ctx, w.bucket("Incoming"), "bridge", planning.NewCard{Title: "T", Summary: "*s*", Estimate: "3"})
	w.must(err)
	if card.Title.Value != "T" || card.Summary.Value != "*s*" || card.Estimate.Value != "3" {
		w.Errorf("created %+v", card)
	}
	tasks, err := w.client.CreateTasks(ctx, card.ID, "bridge", []planning.NewTask{{Title: "a"}, {Title: "b", Estimate: "0.5"}})
	w.must(err)
	done, err := w.client.UpdateTask(ctx, tasks[0].ID, "alice", mapping.LinkImages, map[mapping.Attribute]mapping.Versioned{
		mapping.State: {Value: mapping.StateDone, Version: tasks[0].State.Version}, mapping.Title: {Value: "a2", Version: tasks[0].Title.Version},
	})
	w.must(err)
	if done.Values[mapping.State].Value != mapping.StateDone || done.Values[mapping.Title].Value != "a2" {
		w.Errorf("task updated to %+v", done)
	}
	set, err := w.client.UpdateCard(ctx, card.ID, "alice", mapping.LinkImages, map[mapping.Attribute]mapping.Versioned{
		mapping.Title: {Value: "T2", Version: card.Title.Version}, mapping.Estimate: {Value: "8", Version: card.Estimate.Version},
		mapping.Summary: {Value: "- x\n- y", Version: card.Summary.Version},
	})
	w.must(err)
	state := w.project.Card(string(card.ID))
	if state.Title != "T2" || state.Summary != "- x\n- y" || state.Estimate == nil || *state.Estimate != 8 || set.Version == 0 {
		w.Errorf("service holds %+v after %+v", state, set)
	}
	card, err = w.client.Card(ctx, card.ID)
	w.must(err)
	for attr, v := range set.Values {
		now := map[mapping.Attribute]mapping.Versioned{mapping.Title: card.Title, mapping.Summary: card.Summary, mapping.Estimate: card.Estimate}[attr]
		if now != v {
			w.Errorf("%s was answered as %+v and is %+v", attr, v, now)
		}
	}
	tasks, err = w.client.Tasks(ctx, card.ID)
	w.must(err)
	for _, task := range tasks {
		one, err := w.client.Task(ctx, task.ID)
		w.must(err)
		if task.Owner == "" || one.Title != task.Title || one.State != task.State || one.Estimate != task.Estimate || one.Summary != task.Summary {
			w.Errorf("task alone %+v, in the list %+v", one, task)
		}
	}
	return card, tasks
}

func (w *world) backlogHas(card mapping.Card) {
	ctx := context.Background()
	all, err := w.client.Backlog(ctx)
	w.must(err)
	if len(all) != 2 || all[0].Title != "Incoming" || len(all[0].Cards) != 1 || len(all[1].Cards) != 0 {
		w.Fatalf("backlog %+v", all)
	}
	cards, err := w.client.BucketCards(ctx, w.bucket("Incoming"))
	w.must(err)
	for _, got := range []mapping.Card{all[0].Cards[0], cards[0]} {
		got.BucketName = ""
		if diff := cmp.Diff(card, got); diff != "" {
			w.Errorf("card alone and in a listing: %s", diff)
		}
	}
	bucket, err := w.client.Bucket(ctx, all[1].ID)
	w.must(err)
	if bucket.Title != "Bugs" {
		w.Errorf("bucket %+v", bucket)
	}
}

func (w *world) sprintHas(card mapping.Card, tasks []mapping.Task) {
	ctx := context.Background()
	start := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	id := w.project.NewSprint(planningtest.SprintSpec{Title: "S1", Start: start, End: start.AddDate(0, 0, 14)})
	w.project.MoveToSprint(string(card.ID), id)
	w.project.Review(string(card.ID), "Approved")
	w.project.Assign(string(tasks[0].ID), "alice")
	sprints, err := w.client.Sprints(ctx)
	w.must(err)
	if len(sprints) != 1 || sprints[0].Title != "S1" || !sprints[0].Start.Equal(start) {
		w.Fatalf("sprints %+v", sprints)
	}
	one, err := w.client.Sprint(ctx, sprints[0].ID)
	w.must(err)
	if diff := cmp.Diff(sprints[0], one); diff != "" {
		w.Error(diff)
	}
	items, err := w.client.SprintItems(ctx, one.ID)
	w.must(err)
	if len(items.Cards) != 1 || items.Cards[0].ID != card.ID || items.Cards[0].Review != "Approved" || items.Cards[0].Iteration != one.ID {
		w.Fatalf("items %+v", items)
	}
	var ids []mapping.ObjectID
	for _, task := range slices.Concat(items.Tasks, items.Cards[0].Tasks) {
		if task.Owner != card.ID {
			w.Errorf("task %+v has another owner than %s", task, card.ID)
		}
		ids = append(ids, task.ID)
	}
	slices.Sort(ids)
	if want := []mapping.ObjectID{tasks[0].ID, tasks[1].ID}; !slices.Equal(slices.Compact(ids), want) {
		w.Errorf("tasks %v, want %v", ids, want)
	}
	if got := items.Users[tasks[0].ID]; !slices.Equal(got, []string{"alice"}) {
		w.Errorf("users %v", items.Users)
	}
	seen := 0
	w.must(w.client.EachCard(ctx, func(c mapping.Card) error {
		if c.ID == card.ID {
			seen++
		}
		return nil
	}))
	if seen == 0 {
		w.Error("the complete lookup missed the card")
	}
	if _, err := w.client.Burndown(ctx, one.ID); err != nil {
		w.Error(err)
	}
}

// TestConflictsOfTheService writes with an old version under every status and
// shape that the simulator can refuse with.
func TestConflictsOfTheService(t *testing.T) {
	w := newWorld(t, nil)
	ctx := context.Background()
	for _, status := range []int{200, 400, 409, 412, 422, 500} {
		for _, shape := range []planningtest.ConflictShape{
			planningtest.ConflictAttributes, planningtest.ConflictItem, planningtest.ConflictCurrent,
			planningtest.ConflictErrors, planningtest.ConflictArray, planningtest.ConflictEmpty, planningtest.ConflictText,
		} {
			w.server.SetTraits(func(t *planningtest.Traits) { t.ConflictStatus, t.ConflictShape = status, shape })
			id := mapping.ObjectID(w.project.NewCard("Bugs", "alice", planningtest.CardSpec{Title: "old", Summary: "s"}))
			for i := range 3 {
				w.project.EditCard(string(id), "alice", func(e *planningtest.CardEdit) { e.Title = fmt.Sprintf("theirs %d", i) })
			}
			_, err := w.client.UpdateCard(ctx, id, "bridge", mapping.LinkImages, map[mapping.Attribute]mapping.Versioned{
				mapping.Title: {Value: "mine", Version: 0}, mapping.Summary: {Value: "mine", Version: 0},
			})
			var conflict *mapping.VersionConflict
			if !errors.As(err, &conflict) {
				t.Errorf("%d %s: %v", status, shape, err)
				continue
			}
			now := w.project.Card(string(id))
			if now.Title != "theirs 2" || now.Summary != "s" {
				t.Errorf("%d %s: something was written: %+v", status, shape, now)
			}
			if shape == planningtest.ConflictEmpty || shape == planningtest.ConflictText {
				continue
			}
			if got := conflict.Current[mapping.Title]; got.Value != "theirs 2" || got.Version != 3 {
				t.Errorf("%d %s: current %+v", status, shape, conflict.Current)
			}
		}
	}
}

// TestRefusedUsersOfTheService: with any status, the message says that the user is refused and not
// the secret or the item.
func TestRefusedUsersOfTheService(t *testing.T) {
	w := newWorld(t, nil)
	id := mapping.ObjectID(w.project.NewCard("Bugs", "alice", planningtest.CardSpec{Title: "x"}))
	for _, status := range []int{400, 403, 404, 422} {
		w.server.SetTraits(func(t *planningtest.Traits) { t.UnknownUserStatus = status })
		_, err := w.client.UpdateCard(context.Background(), id, "mallory", mapping.LinkImages, map[mapping.Attribute]mapping.Versioned{mapping.Title: {Value: "y"}})
		var r *mapping.Rejection
		if !errors.As(err, &r) || r.Field != "username" {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestFaultsOfTheService(t *testing.T) {
	w := newWorld(t, func(t *planningtest.Traits) { t.MaxTitle, t.RefuseEstimate, t.MaxBatch = 10, true, 2 })
	ctx := context.Background()
	bucket := w.bucket("Bugs")
	for field, card := range map[string]planning.NewCard{
		"title": {Title: strings.Repeat("x", 11)}, "estimate": {Title: "x", Estimate: "-1"},
	} {
		_, err := w.client.CreateCard(ctx, bucket, "bridge", card)
		var r *mapping.Rejection
		if !errors.As(err, &r) || r.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	_, err := w.client.CreateCards(ctx, bucket, "bridge", make([]planning.NewCard, 3))
	if !errors.Is(err, mapping.ErrRejected) {
		t.Error(err)
	}
	if _, err = w.client.Card(ctx, "000000000000000000000000"); !errors.Is(err, mapping.ErrNotFound) {
		t.Error(err)
	}
	w.project.RevokeSecret()
	if err = w.client.Probe(ctx); !errors.Is(err, mapping.ErrUnauthorized) {
		t.Error(err)
	}
	w.project.AddSecret("ffeeddccbbaa99887766554433221100")
	w.client.SetSecret("ffeeddccbbaa99887766554433221100")
	w.must(w.client.Probe(ctx))
	if n := len(w.project.Cards()); n != 0 {
		t.Errorf("%d cards made", n)
	}
	w.server.Down(true)
	if _, err = w.client.CreateCard(ctx, bucket, "bridge", planning.NewCard{Title: "x"}); !errors.Is(err, mapping.ErrUnavailable) && !errors.Is(err, mapping.ErrUncertain) {
		t.Error(err)
	}
	w.server.Down(false)
	w.must(w.client.Probe(ctx))
}
