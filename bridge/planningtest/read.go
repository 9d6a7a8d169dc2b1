package planningtest

import "planbridge/bridge/planningtest/planningmodel"

// This file has endpoints 1 to 5, 7 to 11, 13 and 15: the reads.

func (c *call) readProject() (any, error) {
	p, buckets := c.api.Project(), []object{}
	for _, b := range p.Buckets {
		buckets = append(buckets, object{"title": b.Title, "id": c.oid(b.ID)})
	}
	out := object{
		"_id": c.oid(p.ID), "version": p.Activity,
		"activityCounter": c.attr(p.Activity, p.Activity),
		"backlogBuckets":  c.attr(buckets, p.BucketsVersion),
		"startDate":       c.constant(planningmodel.Timestamp(p.Start)),
		"endDate":         c.constant(planningmodel.Timestamp(p.End)),
		"integrations":    object{"api": object{"enabled": true}},
		"owner":           c.constant(p.Owner),
		"summary":         c.constant(""),
		"timezone":        c.constant(p.Timezone),
		"title":           c.constant(p.Title),
		"type":            c.constant(p.Type),
		"userCounters": c.constant(object{
			"total":     p.Members + p.Followers,
			"observers": p.Followers, "participants": p.Members,
		}),
	}
	if c.t.UnknownFields {
		out["nonWorkingDays"] = c.constant([]int{0, 6})
	}
	return out, nil
}

// objects writes the elements of a list.
func objects[T any](list []T, write func(*T) object) []object {
	out := make([]object, len(list))
	for i := range list {
		out[i] = write(&list[i])
	}
	return out
}

func (c *call) cards(list []planningmodel.Item) []object {
	return objects(list, func(k *planningmodel.Item) object { return c.card(c.project, k, false) })
}

func (c *call) tasks(list []planningmodel.Item) []object {
	return objects(list, func(t *planningmodel.Item) object { return c.task(c.project, t) })
}

func (c *call) backlogItems() (any, error) {
	buckets, items := c.api.Backlog()
	return objects(buckets, func(b *planningmodel.Bucket) object {
		o := c.bucket(*b)
		o["items"] = numbered(cut(c, c.cards(items[b.ID])))
		return o
	}), nil
}

func (c *call) bucketList() (any, error) {
	return cut(c, objects(c.api.Buckets(), func(b *planningmodel.Bucket) object { return c.bucket(*b) })), nil
}

func (c *call) readBucket() (any, error) {
	b, err := c.api.Bucket(c.r.PathValue("bucket"))
	if err != nil {
		return nil, err
	}
	return c.bucket(b), nil
}

func (c *call) bucketItems() (any, error) {
	cards, err := c.api.BucketCards(c.r.PathValue("bucket"))
	if err != nil {
		return nil, err
	}
	return numbered(cut(c, c.cards(cards))), nil
}

func (c *call) sprintList() (any, error) {
	return numbered(cut(c, objects(c.api.Sprints(), func(sp *planningmodel.Item) object { return c.sprint(c.project, sp) }))), nil
}

func (c *call) readSprint() (any, error) {
	sp, err := c.api.Sprint(c.r.PathValue("sprint"))
	if err != nil {
		return nil, err
	}
	return c.sprint(c.project, &sp), nil
}

func (c *call) sprintItems() (any, error) {
	cards, err := c.api.SprintCards(c.r.PathValue("sprint"))
	if err != nil {
		return nil, err
	}
	out, form := []object{}, or(c.t.SprintForm, SprintFlat)
	for i := range cards {
		entry := c.card(c.project, &cards[i], true)
		out = append(out, entry)
		if form != SprintFlat {
			entry["tasks"] = numbered(c.sprintTasks(&cards[i]))
		}
		if form != SprintNested {
			out = append(out, c.sprintTasks(&cards[i])...)
		}
	}
	return numbered(cut(c, out)), nil
}

func (c *call) sprintTasks(k *planningmodel.Item) []object {
	return objects(k.Tasks, func(t *planningmodel.Item) object { return c.sprintTask(c.project, t) })
}

func (c *call) readCard() (any, error) {
	k, err := c.api.Card(c.r.PathValue("card"))
	if err != nil {
		return nil, err
	}
	return c.card(c.project, &k, false), nil
}

func (c *call) taskList() (any, error) {
	tasks, err := c.api.Tasks(c.r.PathValue("card"))
	if err != nil {
		return nil, err
	}
	return numbered(cut(c, c.tasks(tasks))), nil
}

func (c *call) readTask() (any, error) {
	t, err := c.api.Task(c.r.PathValue("task"))
	if err != nil {
		return nil, err
	}
	out := c.task(c.project, &t)
	if c.t.OmitOptional {
		delete(out, "type")
	}
	return out, nil
}

func (c *call) burndown() (any, error) {
	b, err := c.api.Burndown(c.r.PathValue("sprint"))
	if err != nil {
		return nil, err
	}
	items := objects(b.Items, func(i *planningmodel.BurndownItem) object {
		return object{"cid": i.CID, "title": i.Title, "originalEstimate": i.Original, "timeRemaining": i.Remaining}
	})
	return object{
		"_id": c.oid(b.Sprint.ID), "items": cut(c, items), "numDays": b.Days,
		"originalEstimate": b.Original, "timeRemaining": b.Remaining,
		"when": date(b.When), "startDate": date(b.Sprint.Start), "endDate": date(b.Sprint.End),
	}, nil
}
