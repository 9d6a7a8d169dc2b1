package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

// webhookPath ends the URL of a webhook for planbridge.
const webhookPath = "/webhooks/github"

// WebhookURL returns the address of planbridge's webhook on a public server, which is given by
// its URL with or without the webhook's path. GitHub sends texts of issues there, so that only
// a server on this machine goes without TLS.
func WebhookURL(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil ||
		u.Scheme != "https" && (u.Scheme != "http" || !status.Loopback(u.Hostname())) {
		return "", fmt.Errorf("webhook %q: expected the public address of planbridge, such as https://planbridge.example.com (http only for a loopback address)", server)
	}
	if !strings.HasSuffix(u.Path, webhookPath) {
		u = u.JoinPath(webhookPath)
	}
	return u.String(), nil
}

// wanted lists the events that a webhook should send.
func (k *checker) wanted() []string {
	want := []string{"issues"}
	if slices.ContainsFunc(k.Routes.All(), func(r *mapping.Route) bool { return r.Tasks == mapping.TasksSubIssues }) {
		want = append(want, "sub_issues")
	}
	return append(want, "repository")
}

// hooksOf names webhooks as a person knows them.
func hooksOf(owner string) string {
	if owner == "" {
		return "the app's webhook"
	}
	return "the webhooks of " + owner
}

// makeHook creates the webhook that is missing at target. It is the App's own, that of the account
// where a route has a glob of it, or else that of the repository. It reports whether the findings
// have its result. unread names the webhooks that could not be listed, which may include it. An App
// without a webhook answers so.
func (k *checker) makeHook(ctx context.Context, r *findings, target string, unread []string) bool {
	at := k.hookOwner(target)
	if at != "" && slices.Contains(unread, hooksOf(at)) {
		return false
	}
	k.making.Lock()
	defer k.making.Unlock()
	if k.made[at] {
		r.ok("its webhook to %s was made", k.HookURL)
		return true
	}
	secret := k.Trust.WebhookSecretOf(target)
	if secret == "" {
		r.fault("no webhook was made: no secret of the configuration is for %s", target)
		return true
	}
	if err := k.freeAppHook(ctx, at); err != nil {
		r.fault("no webhook was made: %v", err)
		return true
	}
	err := k.github.CreateHook(ctx, at, Hook{URL: k.HookURL, Events: k.wanted(), Active: true}, secret)
	switch {
	case errors.Is(err, mapping.ErrNotFound), errors.Is(err, mapping.ErrForbidden):
		r.fault("no webhook was made: the token may not make %s: %v", hooksOf(at), err)
	case err != nil:
		r.fault("whether the webhook was made is not known, run check again: %v", err)
	default:
		k.made[at] = true
		r.ok("a webhook to %s was made among %s", k.HookURL, hooksOf(at))
	}
	return true
}

// hookOwner is where the webhook for target belongs, as ListHooks names it.
func (k *checker) hookOwner(target string) string {
	if k.IsApp {
		return ""
	}
	owner, _, _ := strings.Cut(target, "/")
	for _, route := range k.Routes.All() {
		for _, glob := range route.Globs() {
			if of, _, _ := strings.Cut(glob, "/"); strings.EqualFold(of, owner) {
				return owner
			}
		}
	}
	return target
}

// freeAppHook returns an error where an App's webhook leads to another program: an App has
// only one.
func (k *checker) freeAppHook(ctx context.Context, at string) error {
	if at != "" {
		return nil
	}
	hooks, err := k.github.ListHooks(ctx, at)
	if err != nil && !errors.Is(err, mapping.ErrNotFound) {
		return err
	}
	for _, h := range hooks {
		if u, err := url.Parse(h.URL); h.URL != "" && (err != nil || u.Host != "") {
			return errors.New("the app's webhook leads elsewhere: change it in the app's settings on GitHub")
		}
	}
	return nil
}
