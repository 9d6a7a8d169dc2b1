package catchup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// adopt lists, once for each epoch of the store, the issues that the bridge's own account
// made. The intake follows their markers. It returns the errors by repository.
//
// A marker leads to a project that is configured. Where another project of a repository is
// configured later, the repository is listed again.
//
// Where the own account is not known, everything is listed, and all marked issues are handled
// together. The older one of two issues with one marker is the original, in whichever
// repository it is.
func (c *CatchUp) adopt(ctx context.Context, repos []string, epoch string) map[string]error {
	failed := map[string]error{}
	accounts, routes := c.o.GitHub.Accounts(), c.o.Settings.Routes()
	marked := map[int64]mapping.Issue{}
	var listed []string
	for _, repo := range repos {
		due, err := c.adoptionDue(ctx, routes, repo, epoch)
		if err == nil && !due {
			continue
		}
		if err == nil {
			err = c.o.Guard.Do("adoption of", repo, func() error {
				if len(accounts) == 0 {
					return c.listMarked(ctx, repo, marked)
				}
				return c.listOwn(ctx, repo, accounts)
			})
		}
		if guard.Panicked(err) && len(accounts) > 0 {
			failed[repo] = err // the others are listed
			continue
		}
		if err != nil {
			failed[repo] = err
		}
		if err != nil && !mapping.Refused(err) {
			if len(accounts) == 0 {
				return failed // an original may be among the unlisted issues
			}
			break
		}
		listed = append(listed, repo)
	}
	if len(marked) > 0 {
		var all []mapping.Issue
		for _, issue := range mapping.Sorted(marked) {
			all = append(all, issue)
		}
		if err := c.o.Intake.Adopt(ctx, all); err != nil {
			failed[listed[0]] = err
			return failed
		}
	}
	for _, repo := range listed {
		if err := c.adopted(ctx, routes, repo, epoch, failed[repo]); err != nil {
			failed[repo] = err
		}
	}
	return failed
}

// adoptionDue reports whether the repository has to be listed for this epoch and the projects, and
// can be. Issues from before the loss of the store must be visible by now.
func (c *CatchUp) adoptionDue(ctx context.Context, routes mapping.Routes, repo, epoch string) (bool, error) {
	was, err := store.ReadRepositoryAdopted(ctx, c.o.Store, repo)
	if err != nil || c.unsettled() > 0 {
		return false, err
	}
	return was.Unreadable || slices.ContainsFunc(routes.Projects(), func(project mapping.ObjectID) bool {
		return !was.For(epoch, project) && mayLeadTo(routes, repo, project)
	}), nil
}

// mayLeadTo reports whether markers in the repository may lead to the project. Those of one that
// no route leads to may be anywhere.
func mayLeadTo(routes mapping.Routes, repo string, project mapping.ObjectID) bool {
	its := routes.In(project)
	return len(its) == 0 || slices.ContainsFunc(its, func(r *mapping.Route) bool {
		return r.MatchesRepo(repo) || strings.EqualFold(r.NewCardsIn, repo)
	})
}

// adopted records that the repository was listed, or refused to be.
func (c *CatchUp) adopted(ctx context.Context, routes mapping.Routes, repo, epoch string, refused error) error {
	now := store.RepositoryAdopted{Epoch: epoch, Unreadable: refused != nil, Projects: routes.Projects()}
	if err := store.WriteDoc(ctx, c.o.Store, "", store.DocRepositoryAdopted(repo), now.Encode()); err != nil {
		return err
	}
	return refused
}

// listOwn lists the issues of the accounts. A whole listing is sorted by creation, so that
// people's edits do not shift it.
func (c *CatchUp) listOwn(ctx context.Context, repo string, accounts []string) error {
	for _, login := range accounts {
		w := walk{catchUp: c, repo: repo}
		if _, err := w.list(ctx, Query{Creator: login, Afresh: true}); err != nil {
			return err
		}
	}
	return nil
}

// listMarked adds all marked issues of the repository to found, by their ids.
func (c *CatchUp) listMarked(ctx context.Context, repo string, found map[int64]mapping.Issue) error {
	_, err := c.o.GitHub.ListIssues(ctx, repo, Query{Afresh: true}, func(page []mapping.Issue, _ time.Time) error {
		for i := range page {
			if c.o.Intake.Marked(&page[i]) {
				found[page[i].ID] = page[i]
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list issues: %w", err)
	}
	return nil
}
