package adapters

import (
	"context"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/planning"
	"planbridge/bridge/preflight"
)

// PreflightGitHub fits the GitHub client to a check.
type PreflightGitHub struct{ *github.Client }

// Access is that of the client.
func (g PreflightGitHub) Access(ctx context.Context, owner string) (preflight.Access, error) {
	a, err := g.Client.Access(ctx, owner)
	return preflight.Access(a), err
}

// Repository is that of the client.
func (g PreflightGitHub) Repository(ctx context.Context, name string) (preflight.Repository, error) {
	r, err := g.Client.Repository(ctx, name)
	return provable(r), err
}

// OrgRepositories is that of the client.
func (g PreflightGitHub) OrgRepositories(ctx context.Context, owner string) ([]preflight.Repository, error) {
	list, err := g.Client.OrgRepositories(ctx, owner)
	return converted(list, provable), err
}

// ListHooks is that of the client.
func (g PreflightGitHub) ListHooks(ctx context.Context, owner string) ([]preflight.Hook, error) {
	list, err := g.Client.ListHooks(ctx, owner)
	return converted(list, func(h github.Hook) preflight.Hook {
		return preflight.Hook{ID: h.ID, URL: h.URL, Events: h.Events, Active: h.Active}
	}), err
}

// CreateHook is that of the client.
func (g PreflightGitHub) CreateHook(ctx context.Context, owner string, h preflight.Hook, secret string) error {
	return g.Client.CreateHook(ctx, owner, h.URL, h.Events, secret)
}

// Deliveries is that of the client.
func (g PreflightGitHub) Deliveries(ctx context.Context, owner string, hook int64, since time.Time) ([]preflight.Delivery, error) {
	list, err := g.Client.Deliveries(ctx, owner, hook, since)
	return converted(list, func(d github.Delivery) preflight.Delivery {
		return preflight.Delivery{GUID: d.GUID, DeliveredAt: d.DeliveredAt, StatusCode: d.StatusCode}
	}), err
}

func provable(r github.Repository) preflight.Repository {
	return preflight.Repository{FullName: r.FullName, Private: r.Private, Archived: r.Archived, HasIssues: r.HasIssues, Permissions: r.Permissions}
}

// PreflightPlanning fits the client of a planning project to a check.
type PreflightPlanning struct{ *planning.Client }

// Project is that of the client.
func (p PreflightPlanning) Project(ctx context.Context) (title, owner string, buckets []preflight.Bucket, err error) {
	project, err := p.Client.Project(ctx)
	return project.Title, project.Owner, converted(project.Buckets, provableBucket), err
}

// Buckets is that of the client.
func (p PreflightPlanning) Buckets(ctx context.Context) ([]preflight.Bucket, error) {
	list, err := p.Client.Buckets(ctx)
	return converted(list, provableBucket), err
}

func provableBucket(b planning.Bucket) preflight.Bucket { return preflight.Bucket(b) }

// converted converts each element of a list.
func converted[A, B any](list []A, convert func(A) B) []B {
	out := make([]B, len(list))
	for i := range list {
		out[i] = convert(list[i])
	}
	return out
}

// Visibility fits the GitHub adapter to the notice of a quarantine.
type Visibility struct{ *GitHub }

// PublicOf lists the repositories of an owner that anybody can read.
func (v Visibility) PublicOf(ctx context.Context, owner string) ([]string, error) {
	list, err := v.OrgRepositories(ctx, owner)
	var out []string
	for _, r := range list {
		if !r.Private {
			out = append(out, r.FullName)
		}
	}
	return out, err
}
