package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"planbridge/mapping"
)

// Viewer returns the login of the bridge's own account as issues and webhooks show it: an App's
// is "slug[bot]". It asks GitHub until it has an answer, and then keeps it. Where
// [mapping.Refused] matches its error, GitHub will not tell.
func (c *Client) Viewer(ctx context.Context) (string, error) {
	if login, how := c.Known(); how == mapping.Named {
		return login, nil
	}
	return c.AskViewer(ctx)
}

// AskViewer is Viewer without the kept answer.
func (c *Client) AskViewer(ctx context.Context) (string, error) {
	user, err := c.askViewer(ctx)
	if err != nil {
		return "", err
	}
	c.name(user.Login, mapping.Named)
	c.mu.Lock()
	c.viewerID = user.ID
	c.mu.Unlock()
	return user.Login, nil
}

// ViewerID returns the database id of Viewer's account; 0: unknown.
func (c *Client) ViewerID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.viewerID
}

// AccountID returns the database id of the account that has a login now.
func (c *Client) AccountID(ctx context.Context, login string) (int64, error) {
	var user wireUser
	k := call{op: "read_account", object: login, path: "users/" + escape(login)}
	if !validName(login) {
		return 0, k.wrap(&mapping.Rejection{Field: "login", Message: "not an account's name"})
	}
	_, err := c.do(ctx, k, http.MethodGet, nil, &user)
	return user.ID, err
}

// Assume sets the bridge's login where Viewer has no answer yet: for a start while GitHub is
// away.
func (c *Client) Assume(login string) {
	if _, how := c.Known(); how != mapping.Named {
		c.name(login, mapping.Named)
	}
}

// Learn sets the bridge's login to the author of an item that our request made, where GitHub does
// not tell the login. It reports whether the login is new.
func (c *Client) Learn(login string) bool {
	known, how := c.Known()
	if login == "" || how == mapping.Named || strings.EqualFold(login, known) {
		return false
	}
	c.name(login, mapping.Answered)
	return true
}

func (c *Client) name(login string, how mapping.Authorship) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.viewer, c.how = login, how
}

// Known returns the bridge's own login and how it is known: Named, Answered, or, with "",
// Unknown.
func (c *Client) Known() (login string, how mapping.Authorship) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.viewer == "" {
		return "", mapping.Unknown
	}
	return c.viewer, c.how
}

// askViewer asks in every possible way. It returns the most hopeful error.
func (c *Client) askViewer(ctx context.Context) (wireUser, error) {
	k := call{op: "read_viewer", object: "account", path: "user"}
	if c.app != nil {
		k.path, k.jwt = "app", true
		var app struct{ Slug string }
		if _, err := c.do(ctx, k, http.MethodGet, nil, &app); err != nil || app.Slug == "" {
			return wireUser{}, k.nameless(err)
		}
		return wireUser{Login: app.Slug + "[bot]"}, nil
	}
	var user wireUser
	_, err := c.do(ctx, k, http.MethodGet, nil, &user)
	if err == nil && user.Login != "" || errors.Is(err, mapping.ErrUnauthorized) {
		return user, err
	}
	// An installation's token (an App's, or a workflow's) has no /user. GraphQL answers it.
	var data struct{ Viewer wireUser }
	graph := c.query(ctx, k, `query { viewer { login } }`, nil, &data)
	switch {
	case graph == nil && data.Viewer.Login != "":
		return data.Viewer, nil
	case mapping.Refused(err):
		err = graph
	}
	return wireUser{}, k.nameless(err)
}

// nameless returns the error of an answer without an account, or err itself.
func (k call) nameless(err error) error {
	if err != nil {
		return err
	}
	return k.wrap(mapping.ErrUnavailable)
}

// Authorship reports whether login is the bridge's account, or an earlier one. "x" and "x[bot]"
// are different accounts. Until the bridge's own account is known, any other login may be it.
func (c *Client) Authorship(login string) mapping.Authorship {
	if login != "" && slices.ContainsFunc(c.former, func(f string) bool { return strings.EqualFold(f, login) }) {
		return mapping.Named
	}
	viewer, how := c.Known()
	switch {
	case viewer == "", login == "" && how != mapping.Named:
		return mapping.Unknown
	case strings.EqualFold(login, viewer):
		return how
	}
	return mapping.Theirs
}

// Accounts returns the bridge's present and earlier logins; none while the present one is
// unknown.
func (c *Client) Accounts() []string {
	viewer, _ := c.Known()
	if viewer == "" {
		return nil
	}
	return append([]string{viewer}, c.former...)
}

// Access has the known rights of the bridge's token.
type Access struct {
	Kind        string            // "app", "classic" (scopes) or "fine-grained" (only a try shows its rights)
	Scopes      []string          // scopes of a classic token
	Permissions map[string]string // permissions of an App's installation: "issues": "write" …
	Events      []string          // events that an App's webhook sends about the installation
}

// Access returns the rights of the token, for an App those on owner's account. Repository's
// Permissions has the rights on one repository.
func (c *Client) Access(ctx context.Context, owner string) (Access, error) {
	k := call{op: "read_access", object: owner, owner: owner, path: "rate_limit", class: classFree, fresh: true}
	if c.app != nil {
		c.app.forget(owner) // they may have been granted since
		in, err := c.app.installation(withCall(ctx, k), owner)
		if err != nil {
			return Access{}, k.wrap(transportError(err, classRead))
		}
		return Access{Kind: "app", Permissions: in.Permissions, Events: in.Events}, nil
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
