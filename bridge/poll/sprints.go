package poll

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"planbridge/mapping"
	"planbridge/store"
)

// tellSprints stores what milestones show of the sprints, where it changed. It
// comes before the cards: whoever works one finds its sprint.
func (r *round) tellSprints(ctx context.Context, sprints []Sprint) (err error) {
	facts := make([]mapping.Sprint, len(sprints))
	for i, s := range sprints {
		facts[i] = mapping.Sprint{ID: s.ID, Title: s.Title, Summary: s.Summary, End: s.End, Past: s.Past && !s.Active && !s.Future}
	}
	slices.SortFunc(facts, func(a, b mapping.Sprint) int { return cmp.Compare(a.ID, b.ID) })
	data := encode(facts)
	was := r.Poller.facts
	if bytes.Equal(data, was) {
		return nil
	}
	if was == nil {
		if was, err = r.doc(ctx, r.o.Project, store.DocSprints); err != nil {
			return err
		}
	}
	if !bytes.Equal(data, was) {
		if err := r.o.Store.PutDoc(ctx, r.o.Project, store.DocSprints, data); err != nil {
			return fmt.Errorf("store sprints: %w", err)
		}
	}
	r.Poller.facts = data
	if r.o.OnSprints != nil {
		r.o.OnSprints()
	}
	return nil
}
