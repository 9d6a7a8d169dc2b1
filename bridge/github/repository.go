package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"planbridge/mapping"
)

// Repository has the facts about a repository that planbridge needs.
type Repository struct {
	ID          int64
	FullName    string // present owner/name, which differs from the requested one after a rename
	Private     bool
	Archived    bool
	HasIssues   bool
	Permissions map[string]bool // admin, maintain, push, triage, pull; nil where GitHub does not say
}

func (w wireRepo) repository() Repository {
	return Repository{
		ID: w.ID, FullName: w.FullName, Private: w.private(), Archived: w.Archived,
		HasIssues: w.HasIssues == nil || *w.HasIssues, Permissions: w.Permissions,
	}
}

// Repository reads a repository. Renames are followed.
func (c *Client) Repository(ctx context.Context, repo string) (Repository, error) {
	return c.repository(ctx, repoCall("read_repository", repo))
}

func (c *Client) repository(ctx context.Context, k call) (Repository, error) {
	var w wireRepo
	if _, err := c.do(ctx, k, http.MethodGet, nil, &w); err != nil {
		return Repository{}, err
	}
	return w.repository(), nil
}

// Identity reads a repository's id, name and visibility, as [Client.Repository] does. Where it
// fails, other requests go on.
func (c *Client) Identity(ctx context.Context, repo string) (Repository, error) {
	return c.repository(ctx, repoCall("read_visibility", repo))
}

// RepositoryByID reads the repository with a database id under any name. An App asks as its
// installation of owner.
func (c *Client) RepositoryByID(ctx context.Context, owner string, id int64) (Repository, error) {
	n := strconv.FormatInt(id, 10)
	return c.repository(ctx, call{op: "read_visibility", object: "repository " + n, owner: owner, path: "repositories/" + n})
}

// Private reports whether only members can read a repository. A repository that is missing for us
// counts as private.
func (c *Client) Private(ctx context.Context, repo string) (bool, error) {
	r, err := c.Identity(ctx, repo)
	if errors.Is(err, mapping.ErrNotFound) {
		return true, nil
	}
	return r.Private, err
}

// OrgRepositories lists the repositories of an organisation or a user that the bridge can see.
func (c *Client) OrgRepositories(ctx context.Context, org string) ([]Repository, error) {
	q := url.Values{"per_page": {"100"}}
	k := call{op: "list_repositories", object: org, owner: org}
	if !validName(org) {
		return nil, k.wrap(&mapping.Rejection{Field: "organisation", Message: "not an account's name"})
	}
	if c.app != nil {
		k.path = "installation/repositories"
		return c.installationRepositories(ctx, k.query(q))
	}
	k.path = "orgs/" + escape(org) + "/repos"
	repos, err := all(ctx, c, k.query(q), wireRepo.repository)
	if errors.Is(err, mapping.ErrNotFound) { // a person's account
		k.path = "users/" + escape(org) + "/repos"
		repos, err = all(ctx, c, k.query(q), wireRepo.repository)
	}
	return repos, err
}

// installationRepositories reads the one listing with wrapped pages.
func (c *Client) installationRepositories(ctx context.Context, k call) ([]Repository, error) {
	var repos []Repository
	for {
		var page struct{ Repositories []wireRepo }
		a, err := c.do(ctx, k, http.MethodGet, nil, &page)
		if err != nil {
			return nil, err
		}
		for _, w := range page.Repositories {
			repos = append(repos, w.repository())
		}
		next, err := c.next(a)
		if err != nil {
			return nil, k.wrap(err)
		}
		if next == "" {
			return repos, nil
		}
		k.path = next
	}
}
