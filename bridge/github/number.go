package github

import (
	"context"
	"net/http"
	"net/url"
)

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
