package effects

import (
	"fmt"
	"sync"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// atStore carries out an effect on the store or the lease. It reports whether the effect is one.
func (h *executor) atStore(effect any, answer func(any, error)) bool {
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
	case reconcile.ReadListed:
		answer(h.listed(e))
	case reconcile.Take:
		answer(h.Store.Take(h.ctx, e.Budget, e.Ask))
	case reconcile.Observe:
		answer(h.Store.Observe(h.ctx, e.Project, e.Observations))
	case reconcile.BeginWrite:
		answer(only(h.beginWrite()))
	case reconcile.Rise:
		h.releaseSlot()
		answer(only(nil))
	case reconcile.StandAside:
		resume, retry := h.lease.Yield()
		h.resume = resume
		answer(retry, nil)
	case reconcile.ComeBack:
		h.endYield()
		answer(only(nil))
	default:
		return false
	}
	return true
}

// find finds the link that has an item.
func (h *executor) find(f reconcile.FindLink) (store.Key, error) {
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

// formers lists, over the whole store, links with an issue that has one of some traits.
func (h *executor) formers(f reconcile.FindFormer) (keys []store.Key, err error) {
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

// endYield lets the key go on after a yield.
func (h *executor) endYield() {
	if h.resume != nil {
		h.resume()
		h.resume = nil
	}
}

// adoption reads whether a complete poll of the store's epoch has seen every marked item of a
// project.
func (h *executor) adoption(project mapping.ObjectID) (reconcile.Adoption, error) {
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

// listed reads whether a repository was listed for a project in the store's epoch.
func (h *executor) listed(e reconcile.ReadListed) (bool, error) {
	epoch, err := h.Epoch.Read(h.ctx)
	if err != nil {
		return false, fmt.Errorf("epoch: %w", err)
	}
	was, err := store.ReadRepositoryAdopted(h.ctx, h.Store, e.Repo)
	return was.For(epoch, e.Project), err
}

// adoptions remembers which projects this process found adopted. The zero value is ready to use.
// It is safe for concurrent use.
type adoptions struct {
	mu sync.Mutex
	of map[mapping.ObjectID]adoption
}

type adoption struct {
	epoch string
	known time.Time
}

// since returns when this process first found a project adopted in an epoch. The first call
// returns now.
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
