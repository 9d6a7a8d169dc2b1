package planningtest

import (
	"slices"

	"planbridge/bridge/planningtest/planningmodel"
)

// This file has endpoints 6, 12, 14 and 16: the writes.

// creatable are the attributes of a new item; the state of a task can be changed, too.
var creatable = []planningmodel.Attr{planningmodel.Title, planningmodel.Summary, planningmodel.Estimate}

func (c *call) createCards() (any, error) {
	bucket := c.r.PathValue("bucket")
	if err := c.api.HasBucket(bucket); err != nil {
		return nil, err
	}
	drafts, batch, err := reader{c, planningmodel.KindCard, true, creatable}.drafts()
	if err != nil {
		return nil, err
	}
	made, err := c.api.CreateCards(bucket, drafts)
	c.html = true
	return c.created(made, c.cards(made), batch), err
}

func (c *call) createTasks() (any, error) {
	card := c.r.PathValue("card")
	if err := c.api.Has(planningmodel.KindCard, card); err != nil {
		return nil, err
	}
	drafts, batch, err := reader{c, planningmodel.KindTask, true, creatable}.drafts()
	if err != nil {
		return nil, err
	}
	made, err := c.api.CreateTasks(card, drafts)
	c.html = true
	return c.created(made, c.tasks(made), batch), err
}

// created is the answer to a create.
func (c *call) created(made []planningmodel.Item, list []object, batch bool) any {
	for i, o := range list {
		if batch {
			o["_order"] = made[i].Place
		}
		if c.t.OmitOptional {
			for _, name := range []string{"owner", "ownerType", "type", "timeEntriesTotal", "_order"} {
				delete(o, name)
			}
		}
	}
	if !batch && len(list) > 0 {
		return list[0]
	}
	return list
}

func (c *call) updateCard() (any, error) {
	return c.update(c.api.UpdateCard, reader{c, planningmodel.KindCard, false, creatable})
}

func (c *call) updateTask() (any, error) {
	return c.update(c.api.UpdateTask, reader{c, planningmodel.KindTask, false, slices.Concat(creatable, []planningmodel.Attr{planningmodel.State})})
}

func (c *call) update(update func(id, user string, fields []planningmodel.Field) (planningmodel.Item, error), r reader) (any, error) {
	id := c.r.PathValue(r.kind.String())
	if err := c.api.Has(r.kind, id); err != nil {
		return nil, err
	}
	fields, user, err := r.fields(c.body)
	if err != nil {
		return nil, err
	}
	it, err := update(id, user, fields)
	if err != nil {
		return nil, err
	}
	names := make([]planningmodel.Attr, len(fields))
	for i, f := range fields {
		names[i] = f.Attr
	}
	return c.updated(&it, names), nil
}

// updated is the answer to an update (4.2 rule 5, 4.4).
func (c *call) updated(it *planningmodel.Item, names []planningmodel.Attr) object {
	c.html = true
	out := object{"_id": c.oid(it.ID), "version": it.Version, "project": c.constant(c.oid(c.project))}
	c.put(out, it, names...)
	if it.Kind == planningmodel.KindCard {
		c.put(out, it, planningmodel.Iteration)
		out["state"] = c.cardState(it)
	} else {
		out["owner"] = c.constant(c.oid(it.Card))
	}
	if c.t.UnknownFields {
		out["milestone"] = c.constant(nil)
	}
	return out
}

// conflict shows the current values in the service's shape for it.
func (c *call) conflict(e *planningmodel.Conflict) any {
	message, current := e.Error(), c.updated(&e.Item, e.Names)
	switch e.Shape {
	case ConflictItem:
		whole := c.task(c.project, &e.Item)
		if e.Item.Kind == planningmodel.KindCard {
			whole = c.card(c.project, &e.Item, false)
		}
		return object{"error": message, "item": whole}
	case ConflictCurrent:
		return object{"error": message, "current": current}
	case ConflictErrors:
		var list []object
		for _, name := range e.Names {
			list = append(list, object{"attribute": name.String(), "message": message, "current": c.value(&e.Item, name)})
		}
		return object{"errors": list}
	case ConflictEmpty:
		return object{"error": "version conflict"}
	case ConflictText:
		return message
	case ConflictArray:
		return []object{current}
	}
	return current
}
