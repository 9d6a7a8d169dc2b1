package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"planbridge/mapping"
)

// Viewer returns the login of the bridge's own account as issues and webhooks
// show it: an App's is "slug[bot]". It is asked once.
func (c *Client) Viewer(ctx context.Context) (string, error) {
	if login := c.knownViewer(); login != "" {
		return login, nil
	}
	login, err := c.askViewer(ctx)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.viewer = login
	return login, nil
}

// Assume takes a login for the bridge's own until Viewer, asked when it was not
// known, would have told it: a start while GitHub is away.
func (c *Client) Assume(login string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.viewer == "" {
		c.viewer = login
	}
}

func (c *Client) knownViewer() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.viewer
}

func (c *Client) askViewer(ctx context.Context) (string, error) {
	k := call{op: "read_viewer", object: "account", path: "user"}
	if c.app != nil {
		k.path, k.jwt = "app", true
		var app struct{ Slug string }
		_, err := c.do(ctx, k, http.MethodGet, nil, &app)
		return app.Slug + "[bot]", err
	}
	var user wireUser
	_, err := c.do(ctx, k, http.MethodGet, nil, &user)
	if errors.Is(err, mapping.ErrForbidden) || errors.Is(err, mapping.ErrNotFound) {
		// An installation's token (an App's, or a workflow's) has no /user;
		// GraphQL tells it who it is.
		var data struct{ Viewer wireUser }
		err = c.query(ctx, k, `query { viewer { login } }`, nil, &data)
		user = data.Viewer
	}
	if err == nil && user.Login == "" {
		err = k.wrap(mapping.ErrUnavailable)
	}
	return user.Login, err
}

// OwnAccount reports whether login is the bridge's account, or one it had
// before. The bridge's own is known once Viewer has succeeded. "x" and
// "x[bot]" are different accounts.
func (c *Client) OwnAccount(login string) bool {
	if login == "" {
		return false
	}
	return strings.EqualFold(login, c.knownViewer()) ||
		slices.ContainsFunc(c.former, func(f string) bool { return strings.EqualFold(f, login) })
}

// Access is what can be told of the rights of the bridge's token.
type Access struct {
	Kind        string            // "app", "classic" (scopes) or "fine-grained" (only trying tells)
	Scopes      []string          // of a classic token
	Permissions map[string]string // of an App's installation: "issues": "write" …
}

// Access tells the rights of the token, for an App those it was given on
// owner's account. Rights on one repository are Repository's Permissions.
func (c *Client) Access(ctx context.Context, owner string) (Access, error) {
	k := call{op: "read_access", object: owner, owner: owner, path: "rate_limit", class: classFree, fresh: true}
	if c.app != nil {
		c.app.forget(owner) // they may have been granted since
		in, err := c.app.installation(withCall(ctx, k), owner)
		if err != nil {
			return Access{}, k.wrap(transportError(err, classRead))
		}
		return Access{Kind: "app", Permissions: in.Permissions}, nil
	}
	a, err := c.do(ctx, k, http.MethodGet, nil, nil)
	if err != nil {
		return Access{}, err
	}
	scopes := a.header.Values("X-Oauth-Scopes")
	if scopes == nil {
		return Access{Kind: "fine-grained"}, nil
	}
	access := Access{Kind: "classic"}
	for s := range strings.SplitSeq(strings.Join(scopes, ","), ",") {
		if s = strings.TrimSpace(s); s != "" {
			access.Scopes = append(access.Scopes, s)
		}
	}
	return access, nil
}
