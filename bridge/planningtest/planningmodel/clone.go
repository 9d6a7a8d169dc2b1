package planningmodel

import (
	"maps"
	"slices"
)

// Clone returns a separate service with the present content and traits of this one. It serves as a
// backup, or as the beginning of another story.
func (s *Service) Clone(o Options) *Service {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.Traits = s.traits
	c := New(o)
	c.ids = s.ids
	for _, p := range s.projects {
		c.projects = append(c.projects, &Project{s: c, id: p.id, content: p.clone()})
	}
	return c
}

// Restore gives the projects the content of a backup. Later changes are undone, and projects made
// later are gone. Ids given later are not given again, but sequence numbers are, as the project
// counts them.
func (s *Service) Restore(backup *Service) {
	was := backup.Clone(backup.o)
	defer s.act()()
	s.projects = slices.DeleteFunc(s.projects, func(p *Project) bool {
		old := was.project(p.id)
		if old != nil {
			p.content = old.content
		}
		return old == nil
	})
	s.ids = max(s.ids, was.ids)
}

func (c *content) clone() content {
	out := *c
	out.secrets, out.members, out.followers = slices.Clone(c.secrets), slices.Clone(c.members), slices.Clone(c.followers)
	out.buckets = make([]*Bucket, len(c.buckets))
	for i, b := range c.buckets {
		same := *b
		out.buckets[i] = &same
	}
	copies := map[*item]*item{}
	same := func(it *item) *item { return it.clone(copies) }
	out.cards, out.sprints = each(c.cards, same), each(c.sprints, same)
	out.items, out.deleted = maps.Clone(c.items), maps.Clone(c.deleted)
	for _, index := range []map[string]*item{out.items, out.deleted} {
		for id, it := range index {
			index[id] = same(it)
		}
	}
	return out
}

// clone copies an item, and those that it refers to, once each.
func (it *item) clone(copies map[*item]*item) *item {
	if it == nil || copies[it] != nil {
		return copies[it]
	}
	out := new(item)
	*out = *it
	copies[it] = out
	for i := range out.attrs { // the history only grows
		out.attrs[i].past = slices.Clip(out.attrs[i].past)
	}
	out.log, out.users = slices.Clip(it.log), slices.Clone(it.users)
	out.card = it.card.clone(copies)
	out.tasks = each(it.tasks, func(t *item) *item { return t.clone(copies) })
	return out
}

func each[T, U any](all []T, f func(T) U) []U {
	if all == nil {
		return nil
	}
	out := make([]U, len(all))
	for i, t := range all {
		out[i] = f(t)
	}
	return out
}
