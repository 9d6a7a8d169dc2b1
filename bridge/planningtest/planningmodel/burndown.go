package planningmodel

import "time"

// Burndown is the chart of a sprint, in hours.
type Burndown struct {
	Sprint    Item
	When      time.Time
	Days      int
	Original  float64
	Remaining []float64 // one a day
	Items     []BurndownItem
}

// BurndownItem is one task's share of a [Burndown].
type BurndownItem struct {
	CID       int
	Title     string
	Original  float64
	Remaining []float64 // one a day
}

// Burndown is endpoint 10: the chart of a sprint, by task and day.
func (s Session) Burndown(id string) (Burndown, error) {
	defer s.p.s.act()()
	sp, err := s.p.find(KindSprint, id)
	if err != nil {
		return Burndown{}, err
	}
	b := Burndown{Sprint: s.p.sprintView(sp), When: s.p.s.o.Now(), Days: int(sp.end.Sub(sp.start).Hours()/24) + 1}
	b.Remaining = make([]float64, b.Days)
	for _, c := range s.p.sprintCards(sp.id) {
		for _, t := range c.tasks {
			one := BurndownItem{CID: t.cid, Title: t.attrs[Title].value}
			if e := number(t.attrs[Estimate].value); e != nil {
				one.Original = *e
			}
			one.Remaining = remainingPerDay(t, one.Original, sp.start, b.Days)
			b.Original += one.Original
			for day, hours := range one.Remaining {
				b.Remaining[day] += hours
			}
			b.Items = append(b.Items, one)
		}
	}
	return b, nil
}

// remainingPerDay has the hours left of a task at the end of each day: as logged last, or as
// planned.
func remainingPerDay(t *item, planned float64, start time.Time, days int) []float64 {
	out := make([]float64, days)
	for day := range out {
		out[day] = planned
		for _, entry := range t.log {
			if entry.When.Before(start.AddDate(0, 0, day+1)) {
				out[day] = entry.Hours
			}
		}
	}
	return out
}
