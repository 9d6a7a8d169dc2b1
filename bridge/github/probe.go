package github

import (
	"context"
	"net/http"

	"planbridge/mapping"
)

// Probe asks GitHub for a sign of life: with a request that counts against no
// limit and, as not every GitHub answers that, every other time by repeating the
// last read that was answered. The breaker closes when GitHub answers, be it
// with a refusal; while it is open Probe is refused like any other request.
func (c *Client) Probe(ctx context.Context) error {
	k := call{op: "probe", object: "rate limit", path: "rate_limit", class: classFree}
	if c.app != nil { // /rate_limit wants an installation, of which there may be none
		k.object, k.path, k.jwt = "app", "app", true
	}
	if last := c.wire.answered.Load(); last != nil && c.probes.Add(1)%2 == 0 {
		k, k.op = *last, "probe"
	}
	_, err := c.do(ctx, k, http.MethodGet, nil, nil)
	if mapping.Refused(err) {
		return nil
	}
	return err
}
