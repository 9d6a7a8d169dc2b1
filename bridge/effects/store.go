package effects

import (
	"fmt"
	"sync"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// atStore does what is asked of the store and of the lease, and reports whether it is that.
func (h *hand) atStore(effect any, answer func(any, error)) bool {
	switch e := effect.(type) {
	case reconcile.Save:
		answer(only(h.lease.Save(h.ctx, e.Link)))
	case reconcile.FindLink:
		answer(h.find(e))
	case reconcile.FindFormer:
		answer(h.formers(e))
	case reconcile.ReadLink:
		answer(h.Store.Link(h.ctx, e.Key))
	case reconcile.ReadConflict:
		answer(h.Store.Conflict(h.ctx, e.Project, e.ID))
	case reconcile.PutConflict:
		answer(only(h.Store.PutConflict(h.ctx, e.Conflict)))
	case reconcile.ReadAdoption:
		answer(h.adoption(e.Project))
	case reconcile.Take:
		answer(h.Store.Take(h.ctx, e.Budget, e.Ask))
	case reconcile.Observe:
		answer(h.Store.Observe(h.ctx, e.Project, e.Observations))
	case reconcile.BeginWrite:
		answer(only(h.beginWrite()))
	case reconcile.Rise:
		h.rise()
		answer(only(nil))
	case reconcile.StandAside:
		resume, retry := h.lease.Yield()
		h.resume = resume
		answer(retry, nil)
	case reconcile.ComeBack:
		h.comeBack()
		answer(only(nil))
	default:
		return false
	}
	return true
}

// find finds the link that has an item.
func (h *hand) find(f reconcile.FindLink) (store.Key, error) {
	if !f.Anywhere {
		id, err := h.Store.Find(h.ctx, f.Project, f.Ref)
		return store.Key{Project: f.Project, Link: id}, err
	}
	key, found, err := store.FindAnywhere(h.ctx, h.Store, []mapping.ObjectID{f.Project}, f.Ref)
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return key, err
}

// formers lists links of whose issues one has one of some traits, in all of the store.
func (h *hand) formers(f reconcile.FindFormer) (keys []store.Key, err error) {
	projects, err := h.Store.Projects(h.ctx)
	if err != nil {
		return nil, err
	}
	for _, project := range projects {
		ids, err := h.Store.FindByTraits(h.ctx, project, f.Traits, f.Most)
		if err != nil {
			return nil, fmt.Errorf("project %s: %w", project, err)
		}
		for _, id := range ids {
			keys = append(keys, store.Key{Project: project, Link: id})
		}
	}
	return keys, nil
}

// comeBack ends standing aside.
func (h *hand) comeBack() {
	if h.resume != nil {
		h.resume()
		h.resume = nil
	}
}

// adoption reads whether everything marked in a project has been seen for the store's epoch.
func (h *hand) adoption(project mapping.ObjectID) (reconcile.Adoption, error) {
	doc, err := store.ReadDoc(h.ctx, h.Store, project, store.DocAdopted)
	if err != nil {
		return reconcile.Adoption{}, err
	}
	epoch, err := h.Epoch.Read(h.ctx)
	if err != nil {
		return reconcile.Adoption{}, fmt.Errorf("epoch: %w", err)
	}
	if string(doc) != epoch {
		return reconcile.Adoption{Epoch: epoch}, nil
	}
	return reconcile.Adoption{Done: true, Epoch: epoch, Since: h.adoptions.since(h.Clock.Now(), project, epoch)}, nil
}

// adoptions are the projects of which this process knows that they are adopted.
// The zero value is ready to use. It is safe for concurrent use.
type adoptions struct {
	mu sync.Mutex
	of map[mapping.ObjectID]adoption
}

type adoption struct {
	epoch string
	known time.Time
}

// since is when this process first knew that a project is adopted for an epoch:
// now, if it did not.
func (a *adoptions) since(now time.Time, project mapping.ObjectID, epoch string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of[project].epoch != epoch {
		if a.of == nil {
			a.of = map[mapping.ObjectID]adoption{}
		}
		a.of[project] = adoption{epoch, now}
	}
	return a.of[project].known
}
