package poll

import (
	"context"
	"maps"
	"slices"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
	"planbridge/store"
)

// roleOf is the role of the card's bucket.
func (r *round) roleOf(ctx context.Context, c *mapping.Card) bucketRole {
	return r.bucketRole(ctx, seen.Bucket{ID: c.Bucket, Title: c.BucketName})
}

// bucketRole is the role of a bucket.
func (r *round) bucketRole(ctx context.Context, key seen.Bucket) bucketRole {
	if h, ok := r.roles[key]; ok {
		return h
	}
	var h bucketRole
	if key.ID != "" {
		h.route = r.routes.ForBucket(r.o.Project, key.Title, r.bucketIDs(ctx, key.ID)...)
	}
	if h.route != nil {
		h.enters = r.baseline.Has(h.route, key)
	}
	r.roles[key] = h
	return h
}

// bucketIDs returns a bucket's ids, the one of its listing first. The others are read only
// where a route names a bucket by an id.
func (r *round) bucketIDs(ctx context.Context, bucket mapping.ObjectID) []mapping.ObjectID {
	ids := []mapping.ObjectID{bucket}
	if r.o.Buckets == nil || !slices.ContainsFunc(r.routes.In(r.o.Project), (*mapping.Route).NamesBucketByID) {
		return ids
	}
	all, err := r.o.Buckets.BucketIDs(ctx, string(bucket))
	if err != nil {
		r.o.Logger.Warn("a bucket's other ids could not be read", "bucket", bucket, "err", err)
		return ids
	}
	return append(ids, all...)
}

// recorded is a route's present part of the baseline. A bucket that a person renames keeps its id.
// So the id stays as long as the route's words do, and the cards of the bucket enter once the
// configuration has its new title.
func (r *round) recorded(route *mapping.Route) []string {
	is := slices.Sorted(slices.Values(route.Buckets()))
	isID := func(b string) bool {
		return r.buckets[mapping.ObjectID(b)] != "" && !slices.Contains(is, b)
	}
	before := r.baseline[route.Identity()]
	ids := slices.DeleteFunc(slices.Clone(before), func(b string) bool { return !isID(b) })
	if !slices.Equal(slices.DeleteFunc(slices.Clone(before), isID), is) {
		ids = nil
	}
	for id, title := range r.buckets {
		if isID(string(id)) && route.OwnsBucket(title, id) {
			ids = append(ids, string(id))
		}
	}
	slices.Sort(ids)
	return append(is, slices.Compact(ids)...)
}

// record makes the current buckets of the routes the baseline, once all their cards have
// marks. A removed route is dropped, so that it begins anew when it comes back.
func (r *round) record(ctx context.Context) error {
	now := seen.Baseline{}
	for _, route := range r.routes.In(r.o.Project) {
		if route.MakesIssues() {
			now[route.Identity()] = r.recorded(route)
		}
	}
	if maps.EqualFunc(now, r.baseline, slices.Equal) {
		return nil
	}
	if err := store.WriteJSON(ctx, r.o.Store, r.o.Project, seen.DocBaseline, now); err != nil {
		return err
	}
	r.baseline = now
	return nil
}
