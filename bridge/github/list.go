package github

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
)

// ListOptions select issues.
type ListOptions struct {
	Since   time.Time // updated at or after; zero: all
	State   string    // open, closed or all; "": all
	Creator string
	Labels  []string // an issue must have all of them
	PerPage int      // 0: 100
	// Unconditional lists all pages even without a change, and without Since in the order of
	// creation. Updates during the walk, ours too, then do not shift it.
	Unconditional bool
}

// Listing is the result of a walk over a repository's issues.
type Listing struct {
	// NotModified: a complete earlier walk had the same options, the list fits one page, and it
	// has not changed since. fn was not called. Since must stay the same for this to work.
	NotModified  bool
	Issues       int // passed to fn
	PullRequests int // left out
}

// ListIssues passes a repository's issues to fn page by page, without pull requests, least recently
// updated first unless the options say otherwise. The argument date is the Date of the page's
// answer by GitHub's clock, zero where missing. The list may lag behind reads by minutes. An error
// of fn ends the walk and is returned unchanged. NotModified does not use an unfinished walk.
func (c *Client) ListIssues(ctx context.Context, repo string, o ListOptions,
	fn func(page []mapping.Issue, date time.Time) error,
) (Listing, error) {
	var seen Listing
	k := repoCall("list_issues", repo).sub("issues").query(o.query())
	k.fresh = o.Unconditional
	first := ""
	err := walk(ctx, c, k, func(page []wireIssue, a *answer) (bool, error) {
		if first == "" {
			first = a.url.String()
			// Oldest first: where there is a second page, the first one shows nothing new.
			if a.cached && nextLink(a.header.Values("Link")) == "" {
				seen.NotModified = true
				return false, nil
			}
		}
		issues := make([]mapping.Issue, 0, len(page))
		for i := range page {
			if page[i].PullRequest != nil {
				seen.PullRequests++
				continue
			}
			issue := page[i].issue(repo)
			issue.Parent = page[i].parent()
			issues = append(issues, issue)
		}
		seen.Issues += len(issues)
		date, _ := http.ParseTime(a.header.Get("Date")) // zero says that it is missing
		return true, fn(issues, date.UTC())
	})
	if err != nil && first != "" {
		c.cache.forget(first)
	}
	return seen, err
}

func (o ListOptions) query() url.Values {
	q := url.Values{"sort": {"updated"}, "direction": {"asc"}, "state": {"all"}, "per_page": {"100"}}
	if o.Unconditional && o.Since.IsZero() { // a watermark needs the order of updates
		q.Set("sort", "created")
	}
	if o.State != "" {
		q.Set("state", o.State)
	}
	if o.PerPage > 0 {
		q.Set("per_page", strconv.Itoa(o.PerPage))
	}
	if !o.Since.IsZero() {
		q.Set("since", o.Since.UTC().Format(time.RFC3339))
	}
	if o.Creator != "" {
		q.Set("creator", o.Creator)
	}
	if len(o.Labels) > 0 {
		q.Set("labels", strings.Join(o.Labels, ","))
	}
	return q
}

// LastNumber returns the highest number of an issue or pull request in the repository's list, 0
// for none. The list may lag, so there may be higher ones.
func (c *Client) LastNumber(ctx context.Context, repo string) (int, error) {
	k := repoCall("last_number", repo).sub("issues").query(url.Values{
		"state": {"all"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {"1"},
	})
	var wire []struct{ Number int }
	if _, err := c.do(ctx, k, http.MethodGet, nil, &wire); err != nil || len(wire) == 0 {
		return 0, err
	}
	return wire[0].Number, nil
}
