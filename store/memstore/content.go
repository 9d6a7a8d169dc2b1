package memstore

import (
	"encoding/json"
	"iter"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/budget"
	"planbridge/store/internal/queue"
)

// content is all data of the store. Equal contents have equal JSON.
type content struct {
	Epoch    string // "": lost
	Projects table[*space]
	Leases   table[lease]
	Budgets  table[budget.State]
	Holds    table[int64] // when each hold ends
	Sessions table[session]
}

type lease struct {
	Owner   string
	Until   int64
	Session store.Session
}

// session is a process's session, alive or fallen.
type session struct {
	Until  int64
	Fallen bool
}

// space is one project's data. Times are Unix nanoseconds.
type space struct {
	Seq       int64 // counts the writes
	Links     table[record]
	Refs      table[mapping.LinkID]
	Traits    table[struct{}] // by trait, 0 and link
	Due       table[struct{}] // the keys of the queue's lists
	Waiting   table[struct{}]
	Parked    table[struct{}]
	Seen      table[int64]    // when each delivery was stored
	SeenBy    table[string]   // Seen by time, to forget the oldest
	Conflicts table[conflict] // by id
	Ledger    table[string]   // ids in order
	Docs      table[[]byte]
	Marks     table[string] // by set, 0 and id
}

// record is a link with its work and history.
type record struct {
	Link    json.RawMessage
	Refs    []mapping.Ref
	Traits  []mapping.Trait
	Work    queue.Work
	History []json.RawMessage // oldest first

	route, class string // copies from Link, for counts and names
	link         *decoded[mapping.Link]
}

type conflict struct {
	Order string
	Entry json.RawMessage

	entry *decoded[mapping.Conflict]
}

// read returns the entry.
func (c conflict) read() (*mapping.Conflict, error) {
	return c.entry.get(func(k *mapping.Conflict) error { return json.Unmarshal(c.Entry, k) })
}

func (c *content) clone() *content {
	next := &content{
		Epoch: c.Epoch, Projects: c.Projects.clone(), Leases: c.Leases.clone(),
		Budgets: c.Budgets.clone(), Holds: c.Holds.clone(), Sessions: c.Sessions.clone(),
	}
	for i, p := range next.Projects.rows {
		next.Projects.rows[i].value = p.value.clone()
	}
	return next
}

func (sp *space) clone() *space {
	return &space{
		Seq: sp.Seq, Links: sp.Links.clone(), Refs: sp.Refs.clone(), Traits: sp.Traits.clone(),
		Due: sp.Due.clone(), Waiting: sp.Waiting.clone(), Parked: sp.Parked.clone(),
		Seen: sp.Seen.clone(), SeenBy: sp.SeenBy.clone(), Conflicts: sp.Conflicts.clone(), Ledger: sp.Ledger.clone(),
		Docs: sp.Docs.clone(), Marks: sp.Marks.clone(),
	}
}

// list returns the table of one of the queue's lists; nil for [queue.NoList].
func (sp *space) list(l queue.List) *table[struct{}] {
	switch l {
	case queue.DueList:
		return &sp.Due
	case queue.WaitingList:
		return &sp.Waiting
	case queue.ParkedList:
		return &sp.Parked
	}
	return nil
}

// Ascend implements [queue.Lists].
func (sp *space) Ascend(list queue.List, from string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key := range sp.list(list).ascend(from) {
			if !yield(key) {
				return
			}
		}
	}
}

// Descend implements [queue.Lists].
func (sp *space) Descend(list queue.List, before string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key := range sp.list(list).before(before) {
			if !yield(key) {
				return
			}
		}
	}
}

// Owner implements [queue.Index].
func (sp *space) Owner(ref mapping.Ref) mapping.LinkID {
	id, _ := sp.Refs.get(string(ref))
	return id
}

// Exists implements [queue.Index].
func (sp *space) Exists(id mapping.LinkID) bool {
	_, ok := sp.Links.get(string(id))
	return ok
}

// work returns the queue state of a link, or nil where there is no such link.
func (sp *space) work(id mapping.LinkID) *queue.Work {
	r, ok := sp.Links.get(string(id))
	if !ok {
		return nil
	}
	return &r.Work
}

// putWork stores a link's queue state and moves it from list to list.
func (sp *space) putWork(id mapping.LinkID, w queue.Work) {
	r, _ := sp.Links.get(string(id))
	if was := r.Work.Entry(id); was.List != queue.NoList {
		sp.list(was.List).remove(was.Key)
	}
	if is := w.Entry(id); is.List != queue.NoList {
		sp.list(is.List).put(is.Key, struct{}{})
	}
	r.Work = w
	sp.Links.put(string(id), r)
}

// queued returns how many keys count against the queue's bound.
func (sp *space) queued() int { return len(sp.Due.rows) + len(sp.Waiting.rows) }
