package memplanning_test

import (
	"context"
	"fmt"
	"strings"

	"planbridge/bridge/planning"
	"planbridge/bridge/planningtest/planningmodel"
	"planbridge/mapping"
)

func (w *twins) newSprint() {
	start := w.now.AddDate(0, 0, -20*w.rng.IntN(2))
	w.people(func(p *planningmodel.Project) {
		id := p.NewSprint(planningmodel.SprintSpec{Title: "Sprint", Summary: "goal", Start: start, End: start.AddDate(0, 0, 13)})
		if p == w.projects[0] {
			w.sprints = append(w.sprints, id)
		}
	})
}

// card is one that may be there, task likewise.
func (w *twins) card() mapping.ObjectID {
	cards := w.projects[0].Cards()
	if len(cards) == 0 || w.rng.IntN(20) == 0 {
		return pick(w.rng, mapping.ObjectID("nobody"), "", mapping.ObjectID(w.sprints[0]))
	}
	return mapping.ObjectID(pick(w.rng, cards...).ID)
}

func (w *twins) task() mapping.ObjectID {
	var tasks []planningmodel.TaskState
	for _, c := range w.projects[0].Cards() {
		tasks = append(tasks, c.Tasks...)
	}
	if len(tasks) == 0 || w.rng.IntN(20) == 0 {
		return "nobody"
	}
	return mapping.ObjectID(pick(w.rng, tasks...).ID)
}

func (w *twins) bucket() mapping.ObjectID {
	b := pick(w.rng, w.projects[0].Buckets()...)
	return mapping.ObjectID(pick(w.rng, b.ID, b.ListingID))
}

func (w *twins) sprint() mapping.ObjectID {
	return mapping.ObjectID(pick(w.rng, append([]string{"none"}, w.sprints...)...))
}

func (w *twins) user() string { return pick(w.rng, "bridge", "alice", "bridge", "alice", "fred", "") }

func (w *twins) text() string {
	return pick(w.rng, "", "text", "* item  \r\n* **item**", "bell\x07", "<script>x</script>", strings.Repeat("long ", 30))
}

func (w *twins) title() string { return pick(w.rng, "", "title", "other", "longer than eight", "*t*") }

func (w *twins) number() string { return pick(w.rng, "", "1", "2", "2.50", "-3", "1e2", "many") }

// step is one act of somebody.
func (w *twins) step() {
	switch w.rng.IntN(4) {
	case 0:
		w.actAsPeople()
	case 1:
		w.read()
	case 2:
		w.create()
	case 3:
		w.update()
	}
}

func (w *twins) actAsPeople() {
	cards := w.projects[0].Cards()
	if len(cards) == 0 {
		w.people(func(p *planningmodel.Project) { p.NewCard("Incoming", "alice", planningmodel.CardSpec{Title: "first"}) })
		return
	}
	c, other, sprint := pick(w.rng, cards...), pick(w.rng, cards...), pick(w.rng, w.sprints...)
	text, act := w.text(), w.rng.IntN(13)
	w.people(func(p *planningmodel.Project) {
		switch act {
		case 0:
			p.EditCard(c.ID, "alice", func(e *planningmodel.CardEdit) { e.Summary = text })
		case 1:
			p.MoveCard(c.ID, "Bugs")
		case 2:
			p.MoveToSprint(c.ID, sprint)
		case 3:
			p.Review(c.ID, "Approved")
		case 4:
			p.NewTask(c.ID, "alice", planningmodel.TaskSpec{Title: "task", Summary: text, State: "in-progress"})
		case 5:
			p.DeleteCard(c.ID)
		case 6:
			p.NewPlaceholder(sprint)
		case 7:
			for _, t := range c.Tasks {
				p.LogTime(t.ID, "alice", 2.5)
				p.Assign(t.ID, "fred", "alice")
			}
		case 8:
			for _, t := range c.Tasks {
				p.MoveTask(t.ID, other.ID)
			}
		case 9:
			p.EditSprint(sprint, func(s *planningmodel.SprintSpec) { s.Title += "!" })
		case 10:
			p.RenameBucket("Incoming", "Incoming")
		case 11:
			p.MoveToSprint(c.ID, "")
		case 12:
			for _, t := range c.Tasks {
				p.DeleteTask(t.ID)
			}
		}
	})
}

// seen are the cards that a walk visited.
type seen struct {
	Bucket mapping.ObjectID
	Title  string
	Card   mapping.Card
}

func (w *twins) read() {
	ctx, card, task, bucket, sprint := w.Context(), w.card(), w.task(), w.bucket(), w.sprint()
	reads := []struct {
		what string
		call func(c client) (any, error)
	}{
		{"project", func(c client) (any, error) { return c.Project(ctx) }},
		{"check", func(c client) (any, error) { return nil, c.CheckProject(ctx) }},
		{"buckets", func(c client) (any, error) { return c.Buckets(ctx) }},
		{"bucket", func(c client) (any, error) { return c.Bucket(ctx, bucket) }},
		{"bucket ids", func(c client) (any, error) { return c.BucketIDs(ctx, "Incoming") }},
		{"ids of two buckets", func(c client) (any, error) { return c.BucketIDs(ctx, "Bugs") }},
		{"bucket's cards", func(c client) (any, error) { return c.BucketCards(ctx, bucket) }},
		{"backlog", func(c client) (any, error) { return c.Backlog(ctx) }},
		{"every card", func(c client) (any, error) {
			var all []mapping.Card
			err := c.EachCard(ctx, func(card mapping.Card) error { all = append(all, card); return nil })
			return all, err
		}},
		{"news", func(c client) (any, error) { return w.news(c) }},
		{"half a walk", func(c client) (any, error) {
			n := 0
			err := c.BacklogEach(ctx, func(mapping.ObjectID, string, mapping.Card) error {
				if n++; n == 2 {
					return errEnough
				}
				return nil
			})
			return n, err
		}},
		{"card", func(c client) (any, error) { return c.Card(ctx, card) }},
		{"tasks", func(c client) (any, error) { return c.Tasks(ctx, card) }},
		{"task", func(c client) (any, error) { return c.Task(ctx, task) }},
		{"sprints", func(c client) (any, error) { return c.Sprints(ctx) }},
		{"sprint", func(c client) (any, error) { return c.Sprint(ctx, sprint) }},
		{"sprint's items", func(c client) (any, error) { return c.SprintItems(ctx, sprint) }},
		{"burndown", func(c client) (any, error) { return c.Burndown(ctx, sprint) }},
		{"card by who left", func(c client) (any, error) {
			left, leave := context.WithCancel(ctx)
			leave()
			_, err := c.Card(left, "nobody")
			return nil, fmt.Errorf("%t", err != nil)
		}},
		{"card with another secret", func(c client) (any, error) {
			c.SetSecret("another")
			defer c.SetSecret(secret)
			return c.Card(ctx, card)
		}},
	}
	r := pick(w.rng, reads...)
	w.ask(r.what+" "+string(card)+" "+string(bucket), r.call)
}

// news walks twice: the second time what was shown is known.
func (w *twins) news(c client) (any, error) {
	texts := map[string]bool{}
	var out [2][]seen
	for i := range out {
		_, _, err := c.BacklogNews(w.Context(), "", func(bucket mapping.ObjectID, title string, _, text []byte) bool {
			known := texts[string(bucket)+title+string(text)]
			texts[string(bucket)+title+string(text)] = true
			return known
		}, func(bucket mapping.ObjectID, title string, card mapping.Card) error {
			out[i] = append(out[i], seen{bucket, title, card})
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func (w *twins) create() {
	ctx, card, bucket := w.Context(), w.card(), w.bucket()
	n := 1 + w.rng.IntN(3)
	cards, tasks := make([]planning.UserCard, n), make([]planning.NewTask, n)
	for i := range n {
		cards[i] = planning.UserCard{Username: w.user(), NewCard: planning.NewCard{Title: w.title(), Summary: w.text(), Estimate: w.number()}}
		tasks[i] = planning.NewTask(cards[i].NewCard)
	}
	user := w.user()
	what := fmt.Sprintf("create on %s, in %s, by %s: %+v", card, bucket, user, cards)
	switch w.rng.IntN(4) {
	case 0:
		w.ask(what, func(c client) (any, error) { return c.CreateCard(ctx, bucket, user, cards[0].NewCard) })
	case 1:
		w.ask(what, func(c client) (any, error) { return c.CreateCardsBy(ctx, bucket, cards) })
	case 2:
		w.ask(what, func(c client) (any, error) { return c.CreateTask(ctx, card, user, tasks[0]) })
	case 3:
		w.ask(what, func(c client) (any, error) { return c.CreateTasks(ctx, card, user, tasks) })
	}
}

func (w *twins) update() {
	ctx, card, task, user := w.Context(), w.card(), w.task(), w.user()
	set := map[mapping.Attribute]mapping.Versioned{}
	k, t := w.projects[0].Card(string(card)), w.projects[0].Task(string(task))
	isCard := flip(w.rng)
	versions := map[mapping.Attribute]int64{mapping.Title: t.TitleVersion, mapping.Summary: t.SummaryVersion, mapping.Estimate: t.EstimateVersion, mapping.State: t.StateVersion}
	if isCard {
		versions = map[mapping.Attribute]int64{mapping.Title: k.TitleVersion, mapping.Summary: k.SummaryVersion, mapping.Estimate: k.EstimateVersion}
	}
	for _, attr := range mapping.Attributes {
		value := map[mapping.Attribute]string{
			mapping.Title: w.title(), mapping.Summary: w.text(), mapping.Estimate: w.number(),
			mapping.State: pick(w.rng, mapping.StateTodo, mapping.StateInProgress, mapping.StateDone, "odd"),
		}[attr]
		if version, ok := versions[attr]; flip(w.rng) && (ok || w.rng.IntN(10) == 0) {
			set[attr] = mapping.Versioned{Value: value, Version: max(-1, version+pick(w.rng, int64(0), 0, 0, -1, 1, -1000))}
		}
	}
	what := fmt.Sprintf("update %s or %s by %s: %+v", card, task, user, set)
	w.ask(what, func(c client) (any, error) {
		if isCard {
			return c.UpdateCard(ctx, card, user, mapping.LinkImages, set)
		}
		return c.UpdateTask(ctx, task, user, mapping.LinkImages, set)
	})
}
