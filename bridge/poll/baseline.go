package poll

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// docBaseline is the document that keeps the baseline, in the project's space.
const docBaseline = "baseline"

// baseline says which buckets of which routes have been recorded: what was in
// them then is old, what is first seen in them later enters.
type baseline map[string][]string

func (p *Poller) loadBaseline(ctx context.Context) (baseline, error) {
	data, err := p.doc(ctx, p.o.Project, docBaseline)
	if err != nil || data == nil {
		return nil, err
	}
	var b baseline
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("read document %s: %w", docBaseline, err)
	}
	return b, nil
}

// record makes the buckets of the routes as they are configured now the
// baseline, once all their cards are marked. It drops routes that are no more,
// so that one that comes back begins anew.
func (r *round) record(ctx context.Context) error {
	now := baseline{}
	for _, route := range r.routes.All() {
		if route.Project != r.o.Project || !route.MakesIssues() {
			continue
		}
		buckets := []string{route.Bucket}
		for _, lb := range route.BucketByLabel {
			buckets = append(buckets, lb.Bucket)
		}
		slices.Sort(buckets)
		now[route.Name] = slices.Compact(buckets)
	}
	if maps.EqualFunc(now, r.baseline, slices.Equal) {
		return nil
	}
	if err := r.o.Store.PutDoc(ctx, r.o.Project, docBaseline, encode(now)); err != nil {
		return fmt.Errorf("store document %s: %w", docBaseline, err)
	}
	r.baseline = now
	return nil
}
