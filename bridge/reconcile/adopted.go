package reconcile

import (
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// A store that is new, was replaced, or is an old copy of itself does not know
// all that was made: neither which partners there are, nor which tasks and
// comments. Its epoch is another one then. Under a new epoch nothing is made
// before everything marked has been seen (adopted), and nothing beside a pair of
// an earlier epoch before it was looked for (behind).

// adopted reports, as an error, that nothing may be made yet: not everything
// marked has been seen for the store's epoch, or the claim is older than that and
// may lack what was seen.
func (w *work) adopted() error {
	if w.epoch != "" {
		return nil
	}
	now, err := w.adoption(w.link.Project)
	if err != nil {
		return err
	}
	if !now.Done {
		return &waitFor{ServiceAdoption, "nothing is created before the first full poll of the project"}
	}
	if claimed := w.claim.Until.Add(-w.LeaseTTL); !claimed.After(now.Since) {
		return later(time.Millisecond, "everything marked was seen after it was claimed")
	}
	w.epoch = mapping.DigestText(now.Epoch)
	return nil
}

// adoption reports whether everything marked in a project has been seen for the
// store's epoch, and that epoch.
func (w *work) adoption(project mapping.ObjectID) (Adoption, error) {
	a, err := do(w, ReadAdoption{project})
	if err != nil {
		return a, fmt.Errorf("read adoption: %w", err)
	}
	return a, nil
}

// behind reports whether more may have been made for the pair than the store
// knows, as the pair was not made under its epoch. An error says that nothing
// may be made yet.
func (w *work) behind() (bool, error) {
	if err := w.adopted(); err != nil {
		return false, err
	}
	return w.link.Epoch != w.epoch, nil
}

// foundBy takes in the text by whose marker the pair's partner was found. A marker of
// another link tells of an earlier epoch: what adopted this one did not see everything.
func (w *work) foundBy(text string) {
	_, marks := w.set.Keys.Body(text)
	if !w.pair.IsTask() && !slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Link == w.link.ID }) {
		w.link.Epoch = ""
	}
}
