package preflight

import (
	"context"
	"errors"
	"slices"
	"strings"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// project proves one planning project: its id and secret by reading it, and
// the buckets of its routes.
func (k *checker) project(ctx context.Context, r *findings, name string) {
	p := k.Projects[name]
	client, err := k.services.OpenPlanning(name)
	if err != nil {
		r.fault("%v", err)
		return
	}
	defer client.Close()
	title, owner, named, err := client.Project(ctx)
	switch {
	case errors.Is(err, mapping.ErrUnauthorized):
		r.refused(reconcile.ServicePlanning(p.ID), "the service refuses the secret, or the id %s is not that of its project: %v", p.ID, err)
	case errors.Is(err, mapping.ErrNotFound):
		r.fault("there is no such project: its id or planning.base_url is wrong: %v", err)
	case err != nil:
		r.away(err, "the service does not answer")
	}
	if err != nil {
		return
	}
	r.ok("the secret opens the project %q", title)
	if p.Username == owner {
		r.ok("username %s owns the project", p.Username)
	} else {
		r.warn("username %s: reading cannot prove that it is a member who may write, the first write will", p.Username)
	}
	listed, err := client.Buckets(ctx)
	if err != nil {
		r.away(err, "its buckets cannot be listed")
		return
	}
	k.entitled(slices.Concat(listed, named))
	lists := bucketLists{listed: listed, project: named}
	used := false
	for _, route := range k.Routes.In(p.ID) {
		used = true
		for _, bucket := range route.Buckets() {
			lists.check(r, route, bucket)
		}
	}
	if !used {
		r.warn("no route uses this project")
	}
}

// bucketLists are the two places where a project lists its buckets. One bucket's ids may
// differ between them, so titles connect them.
type bucketLists struct{ listed, project []Bucket }

// check reports whether a bucket, given by title or id, exists.
func (l bucketLists) check(r *findings, route *mapping.Route, bucket string) {
	title := bucket
	for _, b := range slices.Concat(l.listed, l.project) {
		if string(b.ID) == bucket {
			title = b.Title
		}
	}
	inListed, inProject := withTitle(l.listed, title), withTitle(l.project, title)
	switch {
	case inListed+inProject == 0:
		r.fault("%sthere is no bucket %q; there are %s", ofRoute(route), bucket, l.titles())
	case max(inListed, inProject) > 1 && title == bucket:
		r.warn("%s%s called %q: give the id instead", ofRoute(route), mapping.Count(max(inListed, inProject), "bucket is", "buckets are"), bucket)
	case inListed == 0:
		r.warn("%sbucket %q is named by the project and missing in the list of buckets; cards may not be made in it", ofRoute(route), bucket)
	case inProject == 0:
		r.warn("%sbucket %q is in the list of buckets and not named by the project; its cards may not be recognised by it", ofRoute(route), bucket)
	default:
		r.ok("%sbucket %q", ofRoute(route), title)
	}
}

func withTitle(list []Bucket, title string) (n int) {
	for _, b := range list {
		if b.Title == title {
			n++
		}
	}
	return n
}

func (l bucketLists) titles() string {
	var titles []string
	for _, b := range slices.Concat(l.listed, l.project) {
		if !slices.Contains(titles, b.Title) {
			titles = append(titles, b.Title)
		}
	}
	if len(titles) == 0 {
		return "none"
	}
	return strings.Join(titles, ", ")
}
