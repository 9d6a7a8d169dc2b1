package planningmodel

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"time"
)

// Digest is a digest of the service's whole content, with deleted items and every attribute's past.
// The traits are not part of it.
func (s *Service) Digest() [sha256.Size]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var d digest
	d.number(s.ids)
	for _, p := range s.projects {
		d.text(p.id)
		d.content(&p.content)
	}
	return sha256.Sum256(d)
}

// digest is the input of the digest: values in order, each in an unambiguous form.
type digest []byte

func (d *digest) number(n uint64) { *d = binary.BigEndian.AppendUint64(*d, n) }

func (d *digest) text(s string) {
	d.number(uint64(len(s)))
	*d = append(*d, s...)
}

func (d *digest) texts(all []string) {
	d.number(uint64(len(all)))
	for _, s := range all {
		d.text(s)
	}
}

func (d *digest) time(t time.Time) {
	d.number(uint64(t.Unix()))
	d.number(uint64(t.Nanosecond()))
}

func (d *digest) flag(b bool) {
	if b {
		d.number(1)
	} else {
		d.number(0)
	}
}

func (d *digest) content(c *content) {
	d.text(c.title)
	d.texts(c.secrets)
	d.texts(c.members)
	d.texts(c.followers)
	d.number(uint64(len(c.buckets)))
	for _, b := range c.buckets {
		d.texts([]string{b.Title, b.ID, b.ListingID})
	}
	d.number(uint64(c.cids))
	d.number(uint64(c.orders))
	d.number(uint64(c.activity))
	d.number(uint64(c.bucketVer))
	d.texts(each(c.cards, (*item).name))
	d.texts(each(c.sprints, (*item).name))
	for _, index := range []map[string]*item{c.items, c.deleted} {
		d.number(uint64(len(index)))
		for _, id := range slices.Sorted(maps.Keys(index)) {
			d.item(index[id])
		}
	}
}

func (it *item) name() string {
	if it == nil {
		return ""
	}
	return it.id
}

func (d *digest) item(it *item) {
	d.number(uint64(it.kind))
	d.texts([]string{it.id, it.html, it.card.name()})
	d.number(uint64(it.cid))
	d.number(uint64(it.version))
	d.flag(it.placeholder)
	d.texts(each(it.tasks, (*item).name))
	for i := range it.attrs {
		a := &it.attrs[i]
		d.text(a.value)
		d.number(uint64(a.version))
		d.number(uint64(len(a.past)))
		for _, v := range a.past {
			d.texts([]string{v.Value, v.User})
			d.number(uint64(v.Version))
			d.time(v.Time)
			d.flag(v.ByAPI)
		}
	}
	d.number(uint64(len(it.log)))
	for _, r := range it.log {
		d.number(math.Float64bits(r.Hours))
		d.time(r.When)
		d.text(r.Who)
	}
	d.number(uint64(len(it.users)))
	for _, u := range it.users {
		d.texts([]string{u.User, u.Who})
		d.time(u.When)
	}
	d.time(it.start)
	d.time(it.end)
}
