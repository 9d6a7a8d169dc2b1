package reconcile_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

const bucket = mapping.ObjectID("b-incoming")

// plan is a planning project in memory: attribute versions with optimistic
// locks, and no word to anybody about a change.
type plan struct {
	cards     []*mapping.Card
	tasks     []*mapping.Task
	writes    int
	taskReads int
	// refuse answers for a value that planning does not take; nil: it takes all.
	refuse func(a mapping.Attribute, value string) *mapping.Rejection
	// stored is what the service makes of a Markdown text; nil: nothing.
	stored func(string) string
	gone   bool
	// away: the project itself answers that it is not there.
	away  bool
	short bool // lists no tasks
	// listings are how many cards the next listings show, the last one of all that follow; nil: all.
	listings []int
	// stateID is the bucket's id in the cards' own state, where that is not the
	// one in its listing.
	stateID mapping.ObjectID
	// listed is another id that the bucket has in its listing, and under which
	// no card can be made; "": none.
	listed mapping.ObjectID
	// silent answers a refused write without the current values.
	silent bool
	// mute answers a refused creation of several tasks without those that it made.
	mute bool
	// whole answers a refused write with the whole item.
	whole bool
	// succeeds answers a refused write as if it had succeeded, with the current
	// values, where their versions do not tell it apart.
	succeeds bool
	// shows says which attributes the answer to a write shows; nil: all that it wrote.
	shows func(a mapping.Attribute) bool
}

func (p *plan) CheckProject(context.Context) error {
	if p.away {
		return fmt.Errorf("project: %w", mapping.ErrNotFound)
	}
	return nil
}

func (p *plan) card(id mapping.ObjectID) (*mapping.Card, error) {
	for _, c := range p.cards {
		if c.ID == id && !p.gone {
			return c, nil
		}
	}
	return nil, fmt.Errorf("card %s: %w", id, mapping.ErrNotFound)
}

func (p *plan) task(id mapping.ObjectID) (*mapping.Task, error) {
	for _, t := range p.tasks {
		if t.ID == id && !p.gone {
			return t, nil
		}
	}
	return nil, fmt.Errorf("task %s: %w", id, mapping.ErrNotFound)
}

func (p *plan) Card(_ context.Context, id mapping.ObjectID) (mapping.Card, error) {
	c, err := p.card(id)
	if err != nil {
		return mapping.Card{}, err
	}
	read := p.answer(c)
	if p.stateID != "" {
		read.Bucket, read.StateID = p.stateID, ""
	}
	return read, nil
}

// answer is a card without what only listings tell.
func (p *plan) answer(c *mapping.Card) mapping.Card {
	answer := *c
	answer.BucketName, answer.Users = "", nil
	return answer
}

func (p *plan) Tasks(_ context.Context, card mapping.ObjectID) ([]mapping.Task, error) {
	if _, err := p.card(card); err != nil {
		return nil, err
	}
	var out []mapping.Task
	for _, t := range p.tasks {
		if t.Owner == card && !p.short {
			out = append(out, *t)
		}
	}
	return out, nil
}

func (p *plan) Task(_ context.Context, id mapping.ObjectID) (mapping.Task, error) {
	p.taskReads++
	t, err := p.task(id)
	if err != nil {
		return mapping.Task{}, err
	}
	return *t, nil
}

func (p *plan) BucketIDs(context.Context, string) ([]mapping.ObjectID, error) {
	if p.listed != "" {
		return []mapping.ObjectID{p.listed, bucket}, nil
	}
	return []mapping.ObjectID{bucket}, nil
}

func (p *plan) EachCard(_ context.Context, visit func(mapping.Card) error) error {
	shown := slices.Clone(p.cards)
	if n := len(p.listings); n > 0 {
		shown, p.listings = shown[:p.listings[0]], p.listings[min(1, n-1):]
	}
	for _, c := range shown {
		if err := visit(*c); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) refuses(a mapping.Attribute, value string) error {
	if p.refuse != nil {
		if r := p.refuse(a, value); r != nil {
			return r
		}
	}
	return nil
}

func (p *plan) text(markdown string) string {
	if p.stored == nil {
		return markdown
	}
	return p.stored(markdown)
}

// add makes a card, whoever does it.
func (p *plan) add(item reconcile.NewItem) *mapping.Card {
	c := &mapping.Card{
		ID: mapping.ObjectID(fmt.Sprint("card", len(p.cards)+1)), CID: int64(len(p.cards) + 1), Bucket: bucket, BucketName: "Incoming",
		Title: mapping.Versioned{Value: item.Title}, Summary: mapping.Versioned{Value: p.text(item.Summary)},
		Estimate: mapping.Versioned{Value: item.Estimate}, CountersVersion: 1,
	}
	p.cards = append(p.cards, c)
	return c
}

func (p *plan) CreateCard(_ context.Context, in mapping.ObjectID, _ string, item reconcile.NewItem) (mapping.Card, error) {
	if in == p.listed {
		return mapping.Card{}, fmt.Errorf("bucket %s: %w", in, mapping.ErrNotFound)
	}
	for a, v := range map[mapping.Attribute]string{mapping.Title: item.Title, mapping.Estimate: item.Estimate} {
		if err := p.refuses(a, v); err != nil {
			return mapping.Card{}, err
		}
	}
	p.writes++
	return p.answer(p.add(item)), nil
}

func (p *plan) CreateTask(_ context.Context, card mapping.ObjectID, _ string, item reconcile.NewItem) (mapping.Task, error) {
	c, err := p.card(card)
	if err != nil {
		return mapping.Task{}, err
	}
	for a, v := range map[mapping.Attribute]string{mapping.Title: item.Title, mapping.Estimate: item.Estimate} {
		if err := p.refuses(a, v); err != nil {
			return mapping.Task{}, err
		}
	}
	p.writes++
	t := &mapping.Task{
		ID: mapping.ObjectID(fmt.Sprint("task", len(p.tasks)+1)), CID: int64(len(p.tasks) + 1), Owner: card,
		Title: mapping.Versioned{Value: item.Title}, Summary: mapping.Versioned{Value: p.text(item.Summary)},
		Estimate: mapping.Versioned{Value: item.Estimate}, State: mapping.Versioned{Value: mapping.StateTodo},
	}
	p.tasks = append(p.tasks, t)
	c.CountersVersion++
	c.Version += 2
	return *t, nil
}

// put writes attributes under their versions, all or none.
func (p *plan) put(attrs map[mapping.Attribute]*mapping.Versioned, version *int64, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	current := map[mapping.Attribute]mapping.Versioned{}
	moved := false
	for a, v := range set {
		if err := p.refuses(a, v.Value); err != nil {
			return reconcile.Updated{}, err
		}
		current[a] = *attrs[a]
		moved = moved || v.Version != mapping.ForceVersion && v.Version != attrs[a].Version
	}
	if moved {
		if p.silent {
			current = nil
		}
		for a, v := range attrs {
			if p.whole && !p.silent {
				current[a] = *v
			}
		}
		return p.refused(current, set)
	}
	p.writes++
	for a, v := range set {
		if a == mapping.Summary {
			v.Value = p.text(v.Value)
		}
		*attrs[a] = mapping.Versioned{Value: v.Value, Version: attrs[a].Version + 1}
		current[a] = *attrs[a]
	}
	*version++
	return reconcile.Updated{Version: *version, Values: p.shown(current)}, nil
}

// refused answers a write whose versions are not the current ones.
func (p *plan) refused(current, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	apart := false
	for a, v := range set {
		ahead := current[a].Version - v.Version
		apart = apart || ahead < 0 || ahead > 1
	}
	if p.succeeds && !apart {
		return reconcile.Updated{Values: p.shown(current)}, nil
	}
	return reconcile.Updated{}, &mapping.VersionConflict{Current: current}
}

// shown is the part of an item's values that an answer shows.
func (p *plan) shown(values map[mapping.Attribute]mapping.Versioned) map[mapping.Attribute]mapping.Versioned {
	values = maps.Clone(values)
	maps.DeleteFunc(values, func(a mapping.Attribute, _ mapping.Versioned) bool { return p.shows != nil && !p.shows(a) })
	return values
}

func cardAttrs(c *mapping.Card) map[mapping.Attribute]*mapping.Versioned {
	return map[mapping.Attribute]*mapping.Versioned{mapping.Title: &c.Title, mapping.Summary: &c.Summary, mapping.Estimate: &c.Estimate}
}

func (p *plan) UpdateCard(_ context.Context, id mapping.ObjectID, _ string, _ mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	c, err := p.card(id)
	if err != nil {
		return reconcile.Updated{}, err
	}
	return p.put(cardAttrs(c), &c.Version, set)
}

func (p *plan) UpdateTask(_ context.Context, id mapping.ObjectID, _ string, _ mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	t, err := p.task(id)
	if err != nil {
		return reconcile.Updated{}, err
	}
	attrs := map[mapping.Attribute]*mapping.Versioned{mapping.Title: &t.Title, mapping.Summary: &t.Summary, mapping.Estimate: &t.Estimate, mapping.State: &t.State}
	was := t.State.Version
	up, err := p.put(attrs, &t.Version, set)
	if c, lost := p.card(t.Owner); err == nil && lost == nil && t.State.Version != was {
		c.CountersVersion++
		c.Version++
	}
	return up, err
}
