package planningmodel

import (
	"fmt"
	"slices"
)

// ProjectSpec has the values of a new project.
type ProjectSpec struct {
	Title     string
	Secret    string   // "" makes one: 32 hexadecimal characters
	Members   []string // may write; the first is the owner
	Followers []string // may only read
	Buckets   []string // titles
}

// Project is a project of the service, in which tests act as people do. Acts on missing items
// panic, as they are faults of the test.
type Project struct {
	s  *Service
	id string
	content
}

// content is the content of a project.
type content struct {
	title     string
	secrets   []string
	members   []string
	followers []string
	buckets   []*Bucket
	cards     []*item // in their order
	sprints   []*item
	items     map[string]*item // cards, tasks and sprints by id
	deleted   map[string]*item
	cids      int
	orders    int
	activity  int64
	bucketVer int64
}

// AddProject creates a project.
func (s *Service) AddProject(spec ProjectSpec) *Project {
	defer s.act()()
	p := &Project{s: s, id: s.newID(), content: content{
		title: spec.Title, items: map[string]*item{}, deleted: map[string]*item{},
		members: slices.Clone(spec.Members), followers: slices.Clone(spec.Followers),
	}}
	p.secrets = []string{or(spec.Secret, fmt.Sprintf("%032x", 0xb1d6e000+len(s.projects)))}
	for _, title := range spec.Buckets {
		p.addBucket(title)
	}
	s.projects = append(s.projects, p)
	return p
}

// ID is the project's id.
func (p *Project) ID() string { return p.id }

// Title is the project's title.
func (p *Project) Title() string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.title
}

// Members are those who may write.
func (p *Project) Members() []string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return slices.Clone(p.members)
}

// Buckets are the backlog's buckets in their order.
func (p *Project) Buckets() []Bucket {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.bucketViews()
}

// Secrets are the valid secrets, the newest last.
func (p *Project) Secrets() []string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return slices.Clone(p.secrets)
}

// Secret is the newest valid secret, "" when all are revoked.
func (p *Project) Secret() string {
	if secrets := p.Secrets(); len(secrets) > 0 {
		return secrets[len(secrets)-1]
	}
	return ""
}

// AddSecret makes one more secret valid.
func (p *Project) AddSecret(secret string) {
	defer p.s.act()()
	p.secrets = append(p.secrets, secret)
}

// RevokeSecret ends the named secrets, or all of them where none is named.
func (p *Project) RevokeSecret(secrets ...string) {
	defer p.s.act()()
	p.secrets = slices.DeleteFunc(p.secrets, func(s string) bool {
		return len(secrets) == 0 || slices.Contains(secrets, s)
	})
}

// AddMember gives somebody permission to write.
func (p *Project) AddMember(user string) {
	defer p.s.act()()
	p.members = append(p.members, user)
}

// RemoveMember takes that permission away.
func (p *Project) RemoveMember(user string) {
	defer p.s.act()()
	p.members = slices.DeleteFunc(p.members, func(m string) bool { return m == user })
}

// AddBucket appends a bucket to the backlog and returns its id (the one in
// the cards' state).
func (p *Project) AddBucket(title string) string {
	defer p.s.act()()
	p.bucketVer++
	return p.addBucket(title).ID
}

// RenameBucket gives a bucket another title; its ids stay.
func (p *Project) RenameBucket(from, to string) {
	defer p.s.act()()
	p.bucketVer++
	p.bucket(from).Title = to
}

// BucketID is the id of a bucket as cards' state has it.
func (p *Project) BucketID(title string) string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.bucket(title).ID
}

func (p *Project) addBucket(title string) *Bucket {
	b := &Bucket{Title: title, ID: p.s.newID(), ListingID: p.s.newID()}
	p.buckets = append(p.buckets, b)
	return b
}

func (p *Project) bucket(title string) *Bucket {
	for _, b := range p.buckets {
		if b.Title == title {
			return b
		}
	}
	panic(fmt.Sprintf("planningmodel: no bucket %q in project %q", title, p.title))
}

// bucketOf is the bucket with that id in cards' state, or nil.
func (p *Project) bucketOf(id string) *Bucket {
	for _, b := range p.buckets {
		if b.ID == id {
			return b
		}
	}
	return nil
}

// item is the item of that kind; it panics where there is none.
func (p *Project) item(k Kind, id string) *item {
	it := p.items[id]
	if it == nil || it.kind != k {
		panic(fmt.Sprintf("planningmodel: no %s %q in project %q", k, id, p.title))
	}
	return it
}

// newItem makes an item with its first values, all at version 0, and takes it
// into the index.
func (p *Project) newItem(k Kind, by author, settings ...setting) *item {
	it := &item{kind: k, id: p.s.newID()}
	for _, w := range settings {
		p.keep(it, w.attr, w.value, by)
	}
	if k != KindSprint {
		p.cids++
		it.cid = p.cids
		p.orders++
		it.attrs[Order].value = fmt.Sprintf("%09d.0", p.orders)
	}
	p.items[it.id] = it
	p.activity++
	return it
}

// newCard makes a card in a bucket, nil for a placeholder.
func (p *Project) newCard(b *Bucket, by author, settings ...setting) *item {
	bucketID := ""
	if b != nil {
		bucketID = b.ID
	}
	c := p.newItem(KindCard, by, append(settings, setting{State, bucketID})...)
	c.version = 1
	c.placeholder = b == nil
	p.cards = append(p.cards, c)
	return c
}

// newTask makes a task on a card.
func (p *Project) newTask(c *item, by author, settings ...setting) *item {
	t := p.newItem(KindTask, by, append(settings, setting{State, "todo"})...)
	t.card = c
	c.tasks = append(c.tasks, t)
	p.recount(c, true)
	return t
}
