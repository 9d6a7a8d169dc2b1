package catchup

import (
	"context"
	"fmt"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// unreadable is appended to the epoch where a repository could not be read.
const unreadable = " unreadable"

// adopt lists, once for each epoch of the store, the issues that the bridge's own account
// made. The intake follows their markers. It returns the errors by repository.
//
// Where the own account is not known, everything is listed, and all marked issues are handled
// together. The older one of two issues with one marker is the original, in whichever
// repository it is.
func (c *CatchUp) adopt(ctx context.Context, repos []string, epoch string) map[string]error {
	failed := map[string]error{}
	accounts := c.o.GitHub.Accounts()
	marked := map[int64]mapping.Issue{}
	var listed []string
	for _, repo := range repos {
		due, err := c.adoptionDue(ctx, repo, epoch)
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
			failed[repo] = err // the others are looked through
			continue
		}
		if err != nil {
			failed[repo] = err
		}
		if err != nil && !mapping.Refused(err) {
			if len(accounts) == 0 {
				return failed // an original may be among what was not listed
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
		if err := c.adopted(ctx, repo, epoch, failed[repo]); err != nil {
			failed[repo] = err
		}
	}
	return failed
}

// adoptionDue reports whether the repository has to be listed for this epoch, and can be:
// issues from before the loss of the store must be visible by now.
func (c *CatchUp) adoptionDue(ctx context.Context, repo, epoch string) (bool, error) {
	doc, err := store.ReadDoc(ctx, c.o.Store, "", store.DocRepositoryAdopted(repo))
	return string(doc) != epoch && c.unsettled() <= 0, err
}

// adopted records that the repository was listed, or refused to be.
func (c *CatchUp) adopted(ctx context.Context, repo, epoch string, refused error) error {
	if refused != nil {
		epoch += unreadable
	}
	if err := store.WriteDoc(ctx, c.o.Store, "", store.DocRepositoryAdopted(repo), []byte(epoch)); err != nil {
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
