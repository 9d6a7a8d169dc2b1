package githubtest

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

var noIntegration = fail(http.StatusForbidden, "Resource not accessible by integration")

func getViewer(c *call) reply {
	switch {
	case c.who.token == nil:
		return fail(http.StatusUnauthorized, "Requires authentication")
	case c.s.traits.NoViewer != 0:
		return fail(c.s.traits.NoViewer, http.StatusText(c.s.traits.NoViewer))
	case c.who.token.app != nil:
		return noIntegration
	}
	return ok(c.s.wireUser(c.who.login))
}

func getUser(c *call) reply {
	if a := c.s.accounts[lower(c.params["user"])]; a != nil {
		return ok(c.s.wireUser(a.login))
	}
	return notFound
}

func getOrg(c *call) reply {
	if a := c.s.accounts[lower(c.params["org"])]; a != nil && a.kind == "Organization" {
		return ok(c.s.wireUser(a.login))
	}
	return notFound
}

func getMeta(c *call) reply {
	out := fields{"verifiable_password_authentication": false, "hooks": []string{"127.0.0.0/8"}}
	if c.s.opts.Enterprise {
		out["installed_version"] = "3.17.0"
	}
	return ok(out)
}

func getApp(c *call) reply {
	a := c.who.app
	if a == nil {
		return fail(http.StatusUnauthorized, "A JSON web token could not be decoded")
	}
	return ok(fields{
		"id": a.ID, "slug": a.Slug, "name": a.Slug, "node_id": nodeID("A", a.ID),
		"owner": c.s.wireUser(a.Owner), "html_url": c.s.html + "/apps/" + a.Slug,
		"permissions": appPermissions, "events": c.s.appEvents(a),
	})
}

var appPermissions = fields{"issues": "write", "metadata": "read", "administration": "read"}

// appEvents are those that an App is subscribed to: those of its webhook.
func (s *Server) appEvents(a *App) []string {
	for _, h := range s.hookWork.hooks {
		if h.app == a && len(h.events) > 0 {
			return h.events
		}
	}
	return []string{"issues", "issue_comment", "sub_issues", "repository"}
}

func (c *call) wireInstallation(a *App) fields {
	return fields{
		"id": a.Installation, "app_id": a.ID, "app_slug": a.Slug, "account": c.s.wireUser(a.Owner),
		"target_type": c.s.account(a.Owner, "Organization").kind, "repository_selection": "all",
		"permissions": appPermissions, "events": c.s.appEvents(a), "suspended_at": nil,
		"access_tokens_url": fmt.Sprintf("%s/app/installations/%d/access_tokens", c.s.api, a.Installation),
	}
}

func listInstallations(c *call) reply {
	if c.who.app == nil {
		return fail(http.StatusUnauthorized, "A JSON web token could not be decoded")
	}
	return paged(c, []*App{c.who.app}, c.wireInstallation)
}

// installation returns the App's installation, if it is on owner.
func (c *call) installation(owner string) reply {
	if a := c.who.app; a != nil && strings.EqualFold(a.Owner, owner) {
		return ok(c.wireInstallation(a))
	}
	return notFound
}

func getRepoInstallation(c *call) reply { return c.installation(c.params["owner"]) }

func getOrgInstallation(c *call) reply { return c.installation(c.params["org"]) }

func createInstallationToken(c *call) reply {
	a := c.who.app
	if a == nil || fmt.Sprint(a.Installation) != c.params["installation"] {
		return notFound
	}
	t := &token{text: fmt.Sprintf("ghs_%d", c.s.nextID()), login: a.Login(), app: a, expires: c.s.now().Add(time.Hour)}
	c.s.tokens[t.text] = t
	return created(fields{
		"token": t.text, "expires_at": stamp(t.expires), "permissions": appPermissions,
		"repository_selection": "all",
	})
}

func (c *call) wireRepo(r *Repo) fields { return c.s.wireRepo(r, c.who) }

func listInstallationRepos(c *call) reply {
	if c.who.token == nil || c.who.token.app == nil {
		return fail(http.StatusForbidden, "You must authenticate with an installation access token in order to "+
			"list repositories for an installation.")
	}
	list := c.visible(c.who.token.app.Owner)
	out := paged(c, list, c.wireRepo)
	out.body = fields{"total_count": len(list), "repository_selection": "all", "repositories": out.body}
	return out
}

// visible are the repositories of an owner that the caller can read.
func (c *call) visible(owner string) (out []*Repo) {
	for _, r := range c.s.repos {
		if strings.EqualFold(r.owner.login, owner) && c.s.canRead(c.who, r) {
			out = append(out, r)
		}
	}
	return out
}

func getRepo(c *call) reply { return ok(c.wireRepo(c.repo)) }

func listOrgRepos(c *call) reply {
	if a := c.s.accounts[lower(c.params["org"])]; a == nil || a.kind != "Organization" {
		return notFound
	}
	return paged(c, c.visible(c.params["org"]), c.wireRepo)
}

func listUserRepos(c *call) reply {
	if c.s.accounts[lower(c.params["user"])] == nil {
		return notFound
	}
	return paged(c, c.visible(c.params["user"]), c.wireRepo)
}

// getPermission returns a user's rights in the repository.
func getPermission(c *call) reply {
	if !c.s.canPush(c.who, c.repo) {
		return fail(http.StatusForbidden, "Must have push access to view collaborator permission.")
	}
	login := c.params["user"]
	role := map[string]string{"OWNER": "admin", "COLLABORATOR": "write", "MEMBER": "write"}[c.repo.association(login)]
	for _, t := range c.s.tokens {
		if strings.EqualFold(t.login, login) && c.s.canPush(identity{login: t.login, token: t}, c.repo) {
			role = "write"
		}
	}
	if role == "" {
		if role = "read"; c.repo.spec.Private {
			role = "none"
		}
	}
	return ok(fields{"permission": role, "role_name": role, "user": c.s.wireUser(login)})
}
