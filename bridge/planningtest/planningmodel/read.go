package planningmodel

import "time"

// This file has endpoints 1 to 5, 7 to 9, 11, 13 and 15: the reads except the burndown chart.

// begun is when every project began.
var begun = time.Date(2014, 11, 24, 0, 0, 0, 0, time.UTC)

// Project is endpoint 1.
func (s Session) Project() ProjectInfo {
	defer s.p.s.act()()
	p := s.p
	info := ProjectInfo{
		ID: p.id, Title: p.title, Type: "PRIVATE", Timezone: "Europe/Zurich",
		Start: begun, End: begun.AddDate(20, 0, 0), Activity: p.activity, BucketsVersion: p.bucketVer,
		Buckets: p.bucketViews(), Members: len(p.members), Followers: len(p.followers),
	}
	if len(p.members) > 0 {
		info.Owner = p.members[0]
	}
	return info
}

func (p *Project) bucketViews() []Bucket {
	return each(p.buckets, func(b *Bucket) Bucket { return *b })
}

// Backlog is endpoint 2: the buckets, and the cards of each by the bucket's ID.
func (s Session) Backlog() ([]Bucket, map[string][]Item) {
	defer s.p.s.act()()
	items := map[string][]Item{}
	for _, c := range s.p.cards {
		if id := c.attrs[State].value; s.p.inBacklog(c) {
			items[id] = append(items[id], c.view())
		}
	}
	return s.p.bucketViews(), items
}

func (p *Project) inBacklog(c *item) bool {
	return c.attrs[Iteration].value == "" || p.s.traits.SprintCardsInBacklog
}

// Buckets is endpoint 3.
func (s Session) Buckets() []Bucket {
	defer s.p.s.act()()
	return s.p.bucketViews()
}

// Bucket is endpoint 4.
func (s Session) Bucket(id string) (Bucket, error) {
	defer s.p.s.act()()
	b, err := s.p.findBucket(id)
	if err != nil {
		return Bucket{}, err
	}
	return *b, nil
}

// BucketCards is endpoint 5.
func (s Session) BucketCards(id string) ([]Item, error) {
	defer s.p.s.act()()
	b, err := s.p.findBucket(id)
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, c := range s.p.cards {
		if s.p.inBacklog(c) && c.attrs[State].value == b.ID {
			out = append(out, c.view())
		}
	}
	return out, nil
}

// Sprints is endpoint 7.
func (s Session) Sprints() []Item {
	defer s.p.s.act()()
	return each(s.p.sprints, s.p.sprintView)
}

// Sprint is endpoint 8.
func (s Session) Sprint(id string) (Item, error) { return s.one(KindSprint, id) }

// SprintCards is endpoint 9: the sprint's cards, each with its tasks.
func (s Session) SprintCards(id string) ([]Item, error) {
	defer s.p.s.act()()
	sp, err := s.p.find(KindSprint, id)
	if err != nil {
		return nil, err
	}
	return each(s.p.sprintCards(sp.id), func(c *item) Item {
		v := c.view()
		v.Tasks = each(c.tasks, func(t *item) Item {
			task := t.view()
			task.Attrs[Iteration] = v.Attrs[Iteration]
			return task
		})
		return v
	}), nil
}

// Card is endpoint 11.
func (s Session) Card(id string) (Item, error) { return s.one(KindCard, id) }

// Tasks is endpoint 13.
func (s Session) Tasks(card string) ([]Item, error) {
	defer s.p.s.act()()
	c, err := s.p.find(KindCard, card)
	if err != nil {
		return nil, err
	}
	return each(c.tasks, (*item).view), nil
}

// Task is endpoint 15.
func (s Session) Task(id string) (Item, error) { return s.one(KindTask, id) }

func (s Session) one(k Kind, id string) (Item, error) {
	defer s.p.s.act()()
	it, err := s.p.find(k, id)
	if err != nil {
		return Item{}, err
	}
	if k == KindSprint {
		return s.p.sprintView(it), nil
	}
	return it.view(), nil
}
