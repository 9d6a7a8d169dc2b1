package memplanning

import (
	"encoding/binary"
	"time"

	"planbridge/bridge/planning"
	"planbridge/bridge/planningtest/planningmodel"
	"planbridge/mapping"
)

// view converts what the model tells into what a client returns.
type view struct{ t *planningmodel.Traits }

func versioned(it *planningmodel.Item, attr planningmodel.Attr) mapping.Versioned {
	return mapping.Versioned{Value: it.Attrs[attr].Value, Version: it.Attrs[attr].Version}
}

// moment is a moment as an answer can tell it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func (v view) project(p *planningmodel.ProjectInfo) planning.Project {
	out := planning.Project{
		ID: mapping.ObjectID(p.ID), Title: p.Title, Owner: p.Owner, Type: p.Type, Timezone: p.Timezone,
		Version: p.Activity, Start: moment(p.Start), End: moment(p.End), APIEnabled: true,
	}
	for _, b := range p.Buckets {
		out.Buckets = append(out.Buckets, planning.Bucket{ID: mapping.ObjectID(b.ID), Title: b.Title})
	}
	return out
}

func (v view) bucket(b *planningmodel.Bucket) planning.Bucket {
	return planning.Bucket{ID: mapping.ObjectID(v.t.ListedID(*b)), Title: b.Title}
}

// card converts. bucket and name are those of the listing the card was seen in.
func (v view) card(it *planningmodel.Item, bucket mapping.ObjectID, name string) mapping.Card {
	state, _ := v.t.ShownState(it)
	c := mapping.Card{
		ID:              mapping.ObjectID(it.ID),
		CID:             int64(it.CID),
		Version:         it.Version,
		Title:           versioned(it, planningmodel.Title),
		Summary:         versioned(it, planningmodel.Summary),
		Estimate:        versioned(it, planningmodel.Estimate),
		BucketName:      name,
		Iteration:       mapping.ObjectID(it.Attrs[planningmodel.Iteration].Value),
		Review:          it.Attrs[planningmodel.Review].Value,
		Counters:        v.counters(it),
		CountersVersion: it.Attrs[planningmodel.TaskCounters].Version,
		Placeholder:     it.Placeholder,
	}
	c.Bucket, c.StateID = planning.CardPlace(bucket, mapping.ObjectID(state))
	return c
}

func (v view) counters(it *planningmodel.Item) *mapping.Counters {
	text := it.Attrs[planningmodel.TaskCounters].Value
	if text == "" {
		return nil
	}
	n := planningmodel.ParseCounters(text)
	c := &mapping.Counters{Done: float64(n.Done), Todo: float64(n.Todo), InProgress: float64(n.InProgress), Total: float64(n.Total())}
	if v.t.ShowsStatus(it) {
		c.Status = n.Status()
	}
	return c
}

func (v view) task(it *planningmodel.Item) mapping.Task {
	return mapping.Task{
		ID:       mapping.ObjectID(it.ID),
		CID:      int64(it.CID),
		Version:  it.Version,
		Owner:    mapping.ObjectID(it.Card),
		Title:    versioned(it, planningmodel.Title),
		Summary:  versioned(it, planningmodel.Summary),
		Estimate: versioned(it, planningmodel.Estimate),
		State:    versioned(it, planningmodel.State),
	}
}

func (v view) sprint(it *planningmodel.Item) planning.Sprint {
	return planning.Sprint{
		ID: mapping.ObjectID(it.ID), Title: it.Attrs[planningmodel.Title].Value, Summary: it.Attrs[planningmodel.Summary].Value,
		Start: moment(it.Start), End: moment(it.End), Version: it.Version,
		Estimate: it.Attrs[planningmodel.Estimate].Value, TaskEstimate: it.Attrs[planningmodel.TaskEstimate].Value,
		Counters: v.counters(it), IsFuture: it.Future, IsActive: it.Active, IsPast: it.Past,
	}
}

// sprintItems shows a sprint's tasks among its cards, in them, or both.
func (v view) sprintItems(cards *[]planningmodel.Item) planning.SprintItems {
	flat, nested := v.t.SprintForm != planningmodel.SprintNested, v.t.SprintForm == planningmodel.SprintNested || v.t.SprintForm == planningmodel.SprintBoth
	out := planning.SprintItems{Users: map[mapping.ObjectID][]string{}}
	for i := range *cards {
		it := &(*cards)[i]
		card, tasks := v.card(it, "", ""), all(view.task)(v, &it.Tasks)
		if nested {
			card.Tasks = tasks
		}
		if flat {
			out.Tasks = append(out.Tasks, tasks...)
		}
		out.Cards = append(out.Cards, card)
		for _, t := range it.Tasks {
			for _, u := range t.Users {
				out.AddUser(mapping.ObjectID(t.ID), u.User)
			}
		}
	}
	return out
}

func (v view) burndown(b *planningmodel.Burndown) planning.Burndown {
	out := planning.Burndown{
		ID: mapping.ObjectID(b.Sprint.ID), When: moment(b.When), Start: moment(b.Sprint.Start), End: moment(b.Sprint.End),
		NumDays: b.Days, OriginalEstimate: b.Original, Remaining: b.Remaining,
	}
	for _, i := range b.Items {
		out.Items = append(out.Items, planning.BurndownItem{CID: int64(i.CID), Title: i.Title, OriginalEstimate: i.Original, Remaining: i.Remaining})
	}
	return out
}

// spell appends a text that stands for a card in a listing.
func spell(text []byte, it *planningmodel.Item) []byte {
	str := func(s string) { text = append(binary.AppendUvarint(text, uint64(len(s))), s...) }
	str(it.ID)
	str(it.Status)
	text = binary.AppendVarint(text, it.Version)
	for i := range it.Attrs {
		str(it.Attrs[i].Value)
		text = binary.AppendVarint(text, it.Attrs[i].Version)
	}
	return text
}
