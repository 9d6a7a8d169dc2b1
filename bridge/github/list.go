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

// ListOptions says which issues to list.
type ListOptions struct {
	Since   time.Time // updated at or after; zero: all
	State   string    // open, closed or all; "": all
	Creator string
	Labels  []string // all of them
	PerPage int      // 0: 100
	// Unconditional lists everything even where nothing changed, and without
	// Since in the order of creation: updates during the walk, ours too, do not
	// shift it.
	Unconditional bool
}

// Listing is what a walk over a repository's issues saw.
type Listing struct {
	// NotModified: the same options were listed to the end before, the list
	// fits one page, and it has not changed since. Nothing was handed over.
	// To be of use, Since has to stay the same while this is true.
	NotModified  bool
	Issues       int // handed over
	PullRequests int // left out
}

// ListIssues hands a repository's issues over page by page, least recently
// updated first unless the options say otherwise, without pull requests. date is the Date of the page's answer,
// by GitHub's clock; zero where it has none. The list may lag behind reads by
// minutes. An error of fn ends the walk and is returned as it is; a walk that
// does not end well is not remembered for NotModified.
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
			// Oldest first: with a second page the first one says nothing
			// about what is new.
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
		date, _ := http.ParseTime(a.header.Get("Date")) // zero says that there is none
		return true, fn(issues, date.UTC())
	})
	if err != nil && first != "" {
		c.cache.forget(first)
	}
	return seen, err
}

func (o ListOptions) query() url.Values {
	q := url.Values{"sort": {"updated"}, "direction": {"asc"}, "state": {"all"}, "per_page": {"100"}}
	if o.Unconditional && o.Since.IsZero() { // a watermark goes by updates
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

// LastNumber returns the highest number of an issue or pull request that the
// repository's list shows, 0 where it shows none. The list may lag, so there
// may be higher ones.
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
