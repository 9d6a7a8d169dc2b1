package planningtest

// Endpoints 1 to 5, 7 to 9, 11, 13 and 15: the reads but for the burndown
// chart.

func (c *call) readProject() (any, error) {
	p, buckets := c.p, []object{}
	for _, b := range p.buckets {
		buckets = append(buckets, object{"title": b.title, "id": c.oid(b.id)})
	}
	owner := ""
	if len(p.members) > 0 {
		owner = p.members[0]
	}
	out := object{
		"_id": c.oid(p.id), "version": p.activity,
		"activityCounter": c.attr(p.activity, p.activity),
		"backlogBuckets":  c.attr(buckets, p.bucketVer),
		"startDate":       c.constant("2014-11-24T00:00:00.000Z"),
		"endDate":         c.constant("2034-11-24T00:00:00.000Z"),
		"integrations":    object{"api": object{"enabled": true}},
		"owner":           c.constant(owner),
		"summary":         c.constant(""),
		"timezone":        c.constant("Europe/Zurich"),
		"title":           c.constant(p.title),
		"type":            c.constant("PRIVATE"),
		"userCounters": c.constant(object{"total": len(p.members) + len(p.followers),
			"observers": len(p.followers), "participants": len(p.members)}),
	}
	if c.t.UnknownFields {
		out["nonWorkingDays"] = c.constant([]int{0, 6})
	}
	return out, nil
}

// backlog lists the cards of every bucket, by the bucket's id, in one pass.
func (c *call) backlog() map[string][]object {
	out := map[string][]object{}
	for _, k := range c.p.cards {
		if k.attrs[iteration].value != "" && !c.t.SprintCardsInBacklog {
			continue
		}
		id := k.attrs[state].value
		out[id] = append(out[id], c.card(c.p, k, false))
	}
	return out
}

func (c *call) backlogItems() (any, error) {
	items, out := c.backlog(), []object{}
	for _, b := range c.p.buckets {
		o := c.wire.bucket(b)
		o["items"] = numbered(cut(c, append([]object{}, items[b.id]...)))
		out = append(out, o)
	}
	return out, nil
}

func (c *call) bucketList() (any, error) {
	out := []object{}
	for _, b := range c.p.buckets {
		out = append(out, c.wire.bucket(b))
	}
	return cut(c, out), nil
}

func (c *call) readBucket() (any, error) {
	b, err := c.bucket()
	if err != nil {
		return nil, err
	}
	return c.wire.bucket(b), nil
}

func (c *call) bucketItems() (any, error) {
	b, err := c.bucket()
	if err != nil {
		return nil, err
	}
	return numbered(cut(c, append([]object{}, c.backlog()[b.id]...))), nil
}

func (c *call) sprintList() (any, error) {
	out := []object{}
	for _, sp := range c.p.sprints {
		out = append(out, c.sprint(c.p, sp))
	}
	return numbered(cut(c, out)), nil
}

func (c *call) readSprint() (any, error) {
	sp, err := c.item(sprint)
	if err != nil {
		return nil, err
	}
	return c.sprint(c.p, sp), nil
}

func (c *call) sprintItems() (any, error) {
	sp, err := c.item(sprint)
	if err != nil {
		return nil, err
	}
	out, form := []object{}, or(c.t.SprintForm, SprintFlat)
	for _, k := range c.p.sprintCards(sp.id) {
		entry := c.card(c.p, k, true)
		out = append(out, entry)
		if form != SprintFlat {
			entry["tasks"] = numbered(c.sprintTasks(k))
		}
		if form != SprintNested {
			out = append(out, c.sprintTasks(k)...)
		}
	}
	return numbered(cut(c, out)), nil
}

func (c *call) sprintTasks(k *item) []object {
	out := []object{}
	for _, t := range k.tasks {
		out = append(out, c.sprintTask(c.p, t))
	}
	return out
}

func (c *call) readCard() (any, error) {
	k, err := c.item(card)
	if err != nil {
		return nil, err
	}
	return c.card(c.p, k, false), nil
}

func (c *call) taskList() (any, error) {
	k, err := c.item(card)
	if err != nil {
		return nil, err
	}
	out := []object{}
	for _, t := range k.tasks {
		out = append(out, c.task(c.p, t))
	}
	return numbered(cut(c, out)), nil
}

func (c *call) readTask() (any, error) {
	t, err := c.item(task)
	if err != nil {
		return nil, err
	}
	out := c.task(c.p, t)
	if c.t.OmitOptional {
		delete(out, "type")
	}
	return out, nil
}
