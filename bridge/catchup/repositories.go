package catchup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// locatedFor is how long GitHub's answer about a repository's name is good enough for a round:
// a little less than the usual interval.
const locatedFor = 4 * time.Minute

// located returns the current names of repositories, without those that merely have the name
// of a route's repository.
func (c *CatchUp) located(ctx context.Context, repos []string, asOf time.Time) ([]string, error) {
	var out []string
	for _, repo := range repos {
		now, err := c.o.GitHub.Locate(ctx, repo, asOf)
		switch {
		case errors.As(err, new(*mapping.StrangerError)): // the caller that finds it logs it
			continue
		case mapping.Refused(err):
			now = repo
		case err != nil:
			return nil, fmt.Errorf("which repository is %s: %w", repo, err)
		}
		if !slices.ContainsFunc(out, func(r string) bool { return strings.EqualFold(r, now) }) {
			out = append(out, now)
		}
	}
	return out, nil
}

// repositories lists those that the routes name, exact ones and those for new issues first.
func (c *CatchUp) repositories(ctx context.Context) ([]string, error) {
	var out []string
	add := func(repo string) {
		if !slices.ContainsFunc(out, func(r string) bool { return strings.EqualFold(r, repo) }) {
			out = append(out, repo)
		}
	}
	for _, route := range c.o.Settings.Routes().All() {
		for _, repo := range route.Named() {
			add(repo)
		}
		if route.NewCardsIn != "" {
			add(route.NewCardsIn) // the listing of its glob may not show it
		}
	}
	for _, route := range c.o.Settings.Routes().All() {
		for _, glob := range route.Globs() {
			repos, err := c.o.GitHub.Repositories(ctx, glob)
			if c.tellListing(glob, err); mapping.Refused(err) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("list repositories %s: %w", glob, err)
			}
			for _, repo := range repos {
				if route.MatchesRepo(repo) {
					add(repo)
				}
			}
		}
	}
	return out, nil
}

// tellListing logs once that GitHub refuses to list a repository or a glob, and once that it
// lists it again.
func (c *CatchUp) tellListing(what string, err error) {
	failed, again, about := "repository could not be listed", "repository is listed again", []any{"repo", what}
	if mapping.IsGlob(what) {
		owner, _, _ := strings.Cut(what, "/")
		failed, again = "the repositories of an owner could not be listed", "the repositories of an owner are listed again"
		about = []any{"owner", owner, "repo", what}
	}
	switch {
	case mapping.Refused(err) && !c.refused[what]:
		c.refused[what] = true
		c.o.Logger.Warn(failed, append(about, "err", err)...)
	case err == nil && c.refused[what]:
		delete(c.refused, what)
		c.o.Logger.Info(again, about...)
	}
}

// docSince names the document, in the space of no project, that keeps a repository's
// watermark.
func docSince(repo string) string { return sinceDocs + strings.ToLower(repo) }

// sinceDocs begins the names of the documents that docSince names.
const sinceDocs = "since:"

// RepositoryDocs lists the beginnings of a repository's documents. A repository without such a
// document is listed once more.
func RepositoryDocs() []string { return []string{sinceDocs, store.DocsRepositoryAdopted} }

// Documents keeps how far repositories have been listed.
type Documents interface {
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
}

// Rename moves a repository's progress to its new name, so that not all of it is listed again.
// A repetition does no harm.
func Rename(ctx context.Context, s Documents, from, to string) error {
	for _, name := range []func(string) string{docSince, store.DocRepositoryAdopted} {
		doc, err := s.Doc(ctx, "", name(from))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err == nil {
			err = s.PutDoc(ctx, "", name(to), doc)
		}
		if err != nil {
			return fmt.Errorf("document %s: %w", name(to), err)
		}
	}
	return nil
}
