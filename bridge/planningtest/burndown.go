package planningtest

import "time"

// burndown is endpoint 10: the chart of a sprint, by task and day, in hours.
func (c *call) burndown() (any, error) {
	sp, err := c.item(sprint)
	if err != nil {
		return nil, err
	}
	days := int(sp.end.Sub(sp.start).Hours()/24) + 1
	total, perDay, items := 0.0, make([]float64, days), []object{}
	for _, k := range c.p.sprintCards(sp.id) {
		for _, t := range k.tasks {
			planned := 0.0
			if e := number(t.attrs[estimate].value); e != nil {
				planned = *e
			}
			left := remainingPerDay(t, planned, sp.start, days)
			total += planned
			for day, hours := range left {
				perDay[day] += hours
			}
			items = append(items, object{"cid": t.cid, "title": t.attrs[title].value,
				"originalEstimate": planned, "timeRemaining": left})
		}
	}
	return object{
		"_id": c.oid(sp.id), "items": cut(c, items), "numDays": days, "originalEstimate": total, "timeRemaining": perDay,
		"when": date(c.now), "startDate": date(sp.start), "endDate": date(sp.end),
	}, nil
}

// remainingPerDay is what was left of a task at the end of each day: as
// logged last, or as planned.
func remainingPerDay(t *item, planned float64, start time.Time, days int) []float64 {
	out := make([]float64, days)
	for day := range out {
		out[day] = planned
		for _, entry := range t.log {
			if entry.when.Before(start.AddDate(0, 0, day+1)) {
				out[day] = entry.hours
			}
		}
	}
	return out
}
