package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// A store that is new, was replaced, or is an old copy of itself does not know
// all that was made: neither which partners there are, nor which tasks and
// comments. Its epoch is another one then. Under a new epoch nothing is made
// before everything marked has been seen (adopted), and nothing beside a pair of
// an earlier epoch before it was looked for (behind).

// adopted reports, as an error, that nothing may be made yet: not everything
// marked has been seen for the store's epoch, or the claim is older than that and
// may lack what was seen.
func (w *work) adopted(ctx context.Context) error {
	h := w.home()
	if h.epoch != "" {
		return nil
	}
	done, epoch, err := w.adoption(ctx, w.link.Project)
	if err != nil {
		return err
	}
	if !done {
		return &waitFor{ServiceAdoption, "nothing is created before the first full poll of the project"}
	}
	if claimed := w.claim.Until.Add(-w.LeaseTTL); !claimed.After(w.adoptions.since(w.Now(), w.link.Project, epoch)) {
		return later(time.Millisecond, "everything marked was seen after it was claimed")
	}
	h.epoch = mapping.DigestText(epoch)
	return nil
}

// adoption reports whether everything marked in a project has been seen for the
// store's epoch, and that epoch.
func (w *work) adoption(ctx context.Context, project mapping.ObjectID) (done bool, epoch string, err error) {
	doc, err := w.Store.Doc(ctx, project, store.DocAdopted)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return false, "", fmt.Errorf("read adoption: %w", err)
	}
	epoch, err = w.Epoch(ctx)
	if err != nil {
		return false, "", fmt.Errorf("read epoch: %w", err)
	}
	return string(doc) == epoch, epoch, nil
}

// behind reports whether more may have been made for the pair than the store
// knows, as the pair was not made under its epoch. An error says that nothing
// may be made yet.
func (w *work) behind(ctx context.Context) (bool, error) {
	if w.of != nil {
		return w.of.behind(ctx)
	}
	if err := w.adopted(ctx); err != nil {
		return false, err
	}
	h := w.home()
	return h.link.Epoch != h.epoch, nil
}

// foundBy takes in the text by whose marker the pair's partner was found. A marker of
// another link tells of an earlier epoch: what adopted this one did not see everything.
func (w *work) foundBy(text string) {
	_, marks := w.set.Keys.Body(text)
	if !slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Link == w.link.ID }) {
		w.link.Epoch = ""
	}
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
