package preflight

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// DocQuarantine names the document that says that an operator was warned about a route.
func DocQuarantine(route string) string { return "quarantine:" + route }

// Documents records the warnings to operators.
type Documents interface {
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
}

// Visibility says who can read repositories.
type Visibility interface {
	// Private reports whether only members can read a repository.
	Private(ctx context.Context, repo string) (bool, error)
	// PublicOf lists the repositories of an owner that anybody can read.
	PublicOf(ctx context.Context, owner string) ([]string, error)
}

// QuarantineNotice warns once about each route whose public repositories have a quarantine
// that its configuration does not mention. All fields are required.
type QuarantineNotice struct {
	Source     Source
	Store      Documents
	Visibility Visibility
	Logger     *slog.Logger
}

// Give warns about the routes that nobody was warned about.
func (q QuarantineNotice) Give(ctx context.Context) error {
	plan, _, _ := q.Source.Configuration()
	for _, route := range plan.Routes.All() {
		if !plan.QuarantineUnsaid[route.Name] {
			continue
		}
		_, err := q.Store.Doc(ctx, "", DocQuarantine(route.Name))
		if err == nil {
			continue
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		public, err := q.anyPublic(ctx, route)
		if err != nil && !mapping.Refused(err) {
			return err
		}
		if !public {
			continue
		}
		q.Logger.Warn("anybody can open issues on a public repository; "+QuarantineAdvice, "route", route.Name, "repo", strings.Join(route.Repositories, ", "))
		if err := q.Store.PutDoc(ctx, "", DocQuarantine(route.Name), []byte("told")); err != nil {
			return err
		}
	}
	return nil
}

// anyPublic reports whether anybody can read a repository of the route.
func (q QuarantineNotice) anyPublic(ctx context.Context, route *mapping.Route) (bool, error) {
	var failed error
	for _, name := range route.Named() {
		private, err := q.Visibility.Private(ctx, name)
		if err == nil && !private {
			return true, nil
		}
		failed = cmp.Or(failed, err)
	}
	for _, glob := range route.Globs() {
		owner, _, _ := strings.Cut(glob, "/")
		repos, err := q.Visibility.PublicOf(ctx, owner)
		if slices.ContainsFunc(repos, route.MatchesRepo) {
			return true, nil
		}
		failed = cmp.Or(failed, err)
	}
	return false, failed
}
