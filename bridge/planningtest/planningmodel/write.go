package planningmodel

import (
	"slices"
	"unicode/utf8"
)

// This file has endpoints 6, 12, 14 and 16: the writes.

// Field is an attribute that a write gives: a number in decimal, a summary as
// Markdown.
type Field struct {
	Attr    Attr
	Value   string
	HTML    string // of a summary in an update; "": the service makes it
	Version int64  // of an update: the attribute's; -1 for its present one
}

// Draft is an item to be made.
type Draft struct {
	User   string
	Fields []Field
}

// CreateCards is endpoint 6. Every element is checked before the first is made. The made items come
// in the order of the answer.
func (s Session) CreateCards(bucket string, drafts []Draft) ([]Item, error) {
	defer s.p.s.act()()
	b, err := s.p.findBucket(bucket)
	if err != nil {
		return nil, err
	}
	return s.create(KindCard, drafts, func(d draft) *item {
		c := s.p.newCard(b, d.by, d.settings...)
		if e := &c.attrs[Estimate]; s.p.s.traits.CreateEstimateVersion1 && e.value != "" {
			e.version = 1
			e.past[0].Version = 1
		}
		return c
	})
}

// CreateTasks is endpoint 14, as CreateCards is endpoint 6.
func (s Session) CreateTasks(card string, drafts []Draft) ([]Item, error) {
	defer s.p.s.act()()
	c, err := s.p.find(KindCard, card)
	if err != nil {
		return nil, err
	}
	return s.create(KindTask, drafts, func(d draft) *item { return s.p.newTask(c, d.by, d.settings...) })
}

// draft is a [Draft] that was checked (parts 4.1 and 4.3).
type draft struct {
	by       author
	settings []setting
}

func (s Session) create(k Kind, drafts []Draft, add func(draft) *item) ([]Item, error) {
	p, t := s.p, &s.p.s.traits
	if err := t.CheckBatch(len(drafts)); err != nil {
		return nil, err
	}
	checked := make([]draft, len(drafts))
	for i, d := range drafts {
		if err := p.member(d.User); err != nil {
			return nil, err
		}
		settings, err := t.settings(k, d.Fields)
		if err != nil {
			return nil, err
		}
		checked[i] = draft{author{d.User, true}, settings}
	}
	var made []*item
	for i, d := range checked {
		if i == s.limit {
			return nil, refuse(statusFailure, "only %d of %d were made", i, len(checked))
		}
		made = append(made, add(d))
	}
	out := each(made, (*item).view) // later tasks of the card do not change an earlier one
	for i := range out {
		out[i].Place = i
	}
	switch {
	case t.BatchOrder == BatchReversed:
		slices.Reverse(out)
	case t.BatchOrder == BatchShuffled && p.s.o.Shuffle != nil:
		p.s.o.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out, nil
}

// CheckBatch checks the length of a batch.
func (t *Traits) CheckBatch(n int) error {
	if t.MaxBatch > 0 && n > t.MaxBatch {
		return t.Refused("a batch holds at most %d elements", t.MaxBatch)
	}
	return nil
}

// settings checks the values of fields and returns them as they are to be stored.
func (t *Traits) settings(k Kind, fields []Field) ([]setting, error) {
	out := make([]setting, len(fields))
	for i, f := range fields {
		if err := t.CheckField(k, f); err != nil {
			return nil, err
		}
		switch f.Attr {
		case Summary:
			f.Value = t.stored(f.Value)
		case Estimate:
			f.Value = decimal(number(f.Value))
		}
		out[i] = setting{f.Attr, f.Value}
	}
	return out, nil
}

// CheckField checks the value of a field.
func (t *Traits) CheckField(k Kind, f Field) error {
	v := number(f.Value)
	switch {
	case f.Attr == Title && t.MaxTitle > 0 && utf8.RuneCountInString(f.Value) > t.MaxTitle:
		return t.Refused("title is longer than %d characters", t.MaxTitle)
	case f.Attr == Estimate && v == nil:
		return t.Refused("estimate is not a number")
	case f.Attr == Estimate && t.RefuseEstimate && *v < 0:
		return t.Refused("estimate is negative")
	case f.Attr == Estimate && t.RefuseEstimate && k == KindCard && *v != float64(int64(*v)):
		return t.Refused("estimate is not an integer")
	case f.Attr == State && !slices.Contains([]string{"todo", "in-progress", "done"}, f.Value):
		return t.Refused("state is none of todo, in-progress, done")
	}
	return nil
}

// UpdateCard is endpoint 12. It writes all fields, or none where one of them is not at its stated
// version (4.2 rules 1 to 4), which is a [Conflict].
func (s Session) UpdateCard(id, user string, fields []Field) (Item, error) {
	return s.update(KindCard, id, user, fields)
}

// UpdateTask is endpoint 16, as UpdateCard is endpoint 12.
func (s Session) UpdateTask(id, user string, fields []Field) (Item, error) {
	return s.update(KindTask, id, user, fields)
}

func (s Session) update(k Kind, id, user string, fields []Field) (Item, error) {
	defer s.p.s.act()()
	p, t := s.p, &s.p.s.traits
	it, err := p.find(k, id)
	if err != nil {
		return Item{}, err
	}
	if err := p.member(user); err != nil {
		return Item{}, err
	}
	settings, err := t.settings(k, fields)
	if err != nil {
		return Item{}, err
	}
	var names, stale []Attr
	html := ""
	for _, f := range fields {
		if f.Version != it.attrs[f.Attr].version && f.Version != -1 {
			stale = append(stale, f.Attr)
		}
		if f.Attr == Summary {
			html = f.HTML
		}
		names = append(names, f.Attr)
	}
	if stale != nil {
		return Item{}, &Conflict{or(t.ConflictStatus, statusConflict), or(t.ConflictShape, ConflictAttributes), it.view(), names, stale}
	}
	stateWas := it.attrs[State].version
	p.write(it, author{user, true}, settings...)
	if html != "" {
		it.html = html
	}
	out := it.view()
	if k == KindTask && t.StateVersionSticks && slices.Contains(names, State) {
		out.Attrs[State].Version = stateWas
	}
	return out, nil
}
