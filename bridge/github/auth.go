package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/bradleyfalzon/ghinstallation/v2"

	"planbridge/mapping"
)

// tokenAuth sends every request with one token.
type tokenAuth struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *tokenAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.next.RoundTrip(authorized(req, t.token))
}

func authorized(req *http.Request, token string) *http.Request {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return req
}

// appAuth sends requests as an App: as the installation of the call's owner, or as the App
// itself.
type appAuth struct {
	app  App
	base *url.URL
	self *ghinstallation.AppsTransport
	next http.RoundTripper
	wire http.RoundTripper

	mu       sync.Mutex
	installs map[string]*installation // by account, lower case
}

type installation struct {
	ID          int64
	Account     struct{ Login string }
	Permissions map[string]string
	Events      []string

	token *ghinstallation.Transport
}

func newAppAuth(app App, base *url.URL, next, wire http.RoundTripper) (*appAuth, error) {
	self, err := ghinstallation.NewAppsTransport(wire, app.ID, app.PrivateKey)
	if err != nil {
		return nil, err
	}
	return &appAuth{app: app, base: base, self: self, next: next, wire: wire, installs: map[string]*installation{}}, nil
}

// RoundTrip implements http.RoundTripper.
func (t *appAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	k := callOf(req.Context())
	if k.jwt {
		return t.self.RoundTrip(req.Clone(req.Context()))
	}
	in, err := t.installation(req.Context(), k.owner)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	token, err := in.token.Token(withCall(req.Context(), call{op: "app_token"}))
	if err != nil {
		closeBody(req)
		return nil, tokenError(err)
	}
	resp, err := t.next.RoundTrip(authorized(req, token))
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		t.forget(k.owner) // revoked, or installed anew
	}
	return resp, err
}

// tokenError classifies a failure to get the App's token. The request that needed the token was
// not sent.
func tokenError(err error) error {
	var limited *mapping.RateLimited
	var below *notSent
	switch {
	case errors.As(err, &limited):
		return &notSent{limited}
	case errors.As(err, &below):
		return below
	}
	var refused *ghinstallation.HTTPError
	if errors.As(err, &refused) && refused.RootCause == nil && refused.Response != nil {
		return &notSent{installationError(statusError(refused.Response.StatusCode,
			refused.Response.Header, bodyOf(refused.Response), classRead))}
	}
	return &notSent{fmt.Errorf("%w: installation token: %w", mapping.ErrUnavailable, err)}
}

// installationError distinguishes a missing or suspended installation from a missing issue, which
// would orphan links.
func installationError(err error) error {
	if errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone) || errors.Is(err, mapping.ErrRejected) {
		return told(mapping.ErrForbidden, "the app's installation is gone")
	}
	return err
}

// installation finds the App's installation on an account. It lists all where the account is
// unknown.
func (t *appAuth) installation(ctx context.Context, owner string) (*installation, error) {
	key := strings.ToLower(owner)
	t.mu.Lock()
	in := t.installs[key]
	t.mu.Unlock()
	if in != nil {
		return in, nil
	}
	list, err := t.list(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, found := range list {
		login := strings.ToLower(found.Account.Login)
		if old := t.installs[login]; old != nil && old.ID == found.ID {
			continue // keeps its token
		}
		// Each has a transport of its own: ghinstallation writes to the App's transport while it
		// refreshes.
		found.token, err = ghinstallation.New(t.wire, t.app.ID, found.ID, t.app.PrivateKey)
		if err != nil {
			return nil, &notSent{fmt.Errorf("%w: %w", mapping.ErrUnauthorized, err)}
		}
		found.token.BaseURL = strings.TrimSuffix(t.base.String(), "/")
		t.installs[login] = found
	}
	if in = t.installs[key]; in == nil {
		return nil, &notSent{fmt.Errorf("%w: the app is not installed on %s", mapping.ErrForbidden, owner)}
	}
	return in, nil
}

// OtherInstallation reports whether the account is known to have another installation of the app
// than id. The next use of the account asks again, as the app may have been installed anew.
func (c *Client) OtherInstallation(owner string, id int64) bool {
	if c.app == nil {
		return false
	}
	c.app.mu.Lock()
	known := c.app.installs[strings.ToLower(owner)]
	c.app.mu.Unlock()
	if known == nil || known.ID == id {
		return false
	}
	c.app.forget(owner)
	return true
}

// list reads all of the App's installations.
func (t *appAuth) list(ctx context.Context) ([]*installation, error) {
	ctx = withCall(ctx, call{op: "app_installations"})
	var all []*installation
	next := t.base.JoinPath("app/installations").String() + "?per_page=100"
	for {
		page, link, err := t.page(ctx, next)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		u, err := t.base.Parse(link)
		if link == "" || err != nil || u.Host != t.base.Host {
			return all, nil
		}
		next = u.String()
	}
}

// page reads one page of installations and the link to the next.
func (t *appAuth) page(ctx context.Context, at string) (page []*installation, next string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, "", &notSent{fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)}
	}
	resp, err := t.self.RoundTrip(req)
	if err != nil {
		return nil, "", tokenError(err)
	}
	defer resp.Body.Close()
	body := bodyOf(resp)
	if resp.StatusCode != http.StatusOK {
		return nil, "", &notSent{installationError(statusError(resp.StatusCode, resp.Header, body, classRead))}
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, "", &notSent{fmt.Errorf("%w: installations: %w", mapping.ErrUnavailable, err)}
	}
	return page, nextLink(resp.Header.Values("Link")), nil
}

func (t *appAuth) forget(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.installs, strings.ToLower(owner))
}
