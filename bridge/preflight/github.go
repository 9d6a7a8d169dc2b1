package preflight

import (
	"context"
	"errors"
	"slices"
	"strings"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// account proves the token, and reports whether GitHub can be asked more.
func (k *checker) account(ctx context.Context, r *findings) bool {
	login, err := k.github.Viewer(ctx)
	switch {
	case mapping.Refused(err) && len(k.FormerAccounts) > 0:
		r.ok("GitHub does not say which account this is: acting as one of %s (github.former_accounts)", strings.Join(k.FormerAccounts, ", "))
	case mapping.Refused(err):
		r.warn("GitHub does not say which account this is: give a token whose GET /user (or GraphQL viewer) is answered, or name its login in github.former_accounts: %v", err)
	case err == nil:
		r.ok("acting as %s", login)
	case errors.Is(err, mapping.ErrUnauthorized):
		r.refused(reconcile.ServiceGitHub, "the token (or the app's key) is refused: %v", err)
	case err != nil:
		r.away(err, "GitHub does not answer")
	}
	if err != nil && !mapping.Refused(err) {
		return false
	}
	for _, owner := range k.owners() {
		k.access(ctx, r, owner)
		if !k.IsApp {
			break // a token has the same rights everywhere
		}
	}
	return true
}

// owners lists the accounts whose repositories are written to, or else all.
func (k *checker) owners() []string {
	var all []string
	for _, route := range k.Routes.All() {
		for _, repository := range route.Repositories {
			if owner, _, _ := strings.Cut(repository, "/"); !slices.Contains(all, owner) {
				all = append(all, owner)
			}
		}
	}
	return all
}

// access reports the rights of the token in general. repository reports its rights in a
// repository.
func (k *checker) access(ctx context.Context, r *findings, owner string) {
	a, err := k.github.Access(ctx, owner)
	switch {
	case mapping.Refused(err) && !k.IsApp:
		r.warn("what the token may do cannot be read here: %v", err) // an Enterprise Server without rate limits answers so
	case err != nil:
		r.away(err, "the rights on %s cannot be read", owner)
	case a.Kind == "app":
		k.app(r, owner, a)
	case a.Kind != "classic":
		r.warn("what a fine-grained token may do cannot be read: give it Issues (read and write), Metadata and Webhooks (read)")
	case slices.Contains(a.Scopes, "repo") || slices.Contains(a.Scopes, "public_repo"):
		r.ok("the token has the scopes %s", strings.Join(a.Scopes, ", "))
	default:
		r.fault("the token has neither scope repo nor public_repo (it has: %s)", strings.Join(a.Scopes, ", "))
	}
}

// appNeeds are the permissions that an App needs in the repositories of its routes.
var appNeeds = map[string]string{"issues": "write", "metadata": "read"}

// app reports the rights of an App's installation on an owner's account.
func (k *checker) app(r *findings, owner string, a Access) {
	k.sends(owner, a.Events)
	enough := true
	for permission, level := range mapping.Sorted(appNeeds) {
		if has := a.Permissions[permission]; has != level && has != "write" {
			enough = false
			r.fault("the app's installation on %s has the permission %s: %q; it needs %q", owner, permission, has, level)
		}
	}
	if enough {
		r.ok("the app is installed on %s and may write issues", owner)
	}
}

// repositories lists a probe for each repository that a route names, and one
// for each glob.
func (k *checker) repositories() []probe {
	var probes []probe
	seen := map[string]bool{}
	for _, route := range k.Routes.All() {
		for _, repository := range route.Repositories {
			name := strings.ToLower(repository)
			if seen[name] {
				continue
			}
			seen[name] = true
			prove := k.repository
			if mapping.IsGlob(repository) {
				prove = k.glob
			}
			probes = append(probes, probe{theRepository + repository, func(ctx context.Context, r *findings) { prove(ctx, r, repository) }})
		}
	}
	return probes
}

// routesOf lists the routes that name a repository or glob in these words.
func (k *checker) routesOf(repository string) []*mapping.Route {
	return slices.DeleteFunc(k.Routes.All(), func(r *mapping.Route) bool {
		return !slices.ContainsFunc(r.Repositories, func(own string) bool { return strings.EqualFold(own, repository) })
	})
}

// repository proves one repository, for all routes that name it.
func (k *checker) repository(ctx context.Context, r *findings, name string) {
	repo, err := k.github.Repository(ctx, name)
	switch {
	case errors.Is(err, mapping.ErrNotFound):
		r.fault("it is not there, or the token may not see it: %v", err)
	case err != nil:
		r.away(err, "it cannot be read")
	}
	if err != nil {
		return
	}
	k.named(name, repo.FullName)
	if repo.FullName != "" && !strings.EqualFold(repo.FullName, name) {
		r.fault("it is called %s now: its routes must name it so", repo.FullName)
	}
	switch {
	case !repo.HasIssues:
		r.fault("its issues are switched off")
	case repo.Archived:
		r.fault("it is archived: nothing can be written")
	}
	for _, route := range k.routesOf(name) {
		if !repo.Private && !route.AllowPublic {
			r.fault("%sit is public and the route does not say allow_public: planning text would be published", ofRoute(route))
		}
		if !repo.Private && k.QuarantineUnsaid[route.Name] {
			r.warn("%sanybody can open issues here; %s", ofRoute(route), QuarantineAdvice)
		}
	}
	if slices.ContainsFunc(k.routesOf(name), func(r *mapping.Route) bool { return r.Direction != mapping.ToPlanning }) {
		permission(r, repo.Permissions)
		if label := k.Scheme.CardLabel(1); label != "" {
			r.ok("labels.card is set: each issue of a card gets a label of its own, such as %s", label)
		}
	}
	k.believed(r, name)
	k.hook(ctx, r, name)
}

// permission reports whether the rights suffice. Edits of other people's issues and new labels take
// push, and attaching labels takes triage.
func permission(r *findings, has map[string]bool) {
	switch {
	case has == nil:
		r.warn("GitHub does not say what the token may do here; it needs to write issues and labels")
	case has["push"] || has["maintain"] || has["admin"]:
		r.ok("issues and labels can be written")
	case has["triage"]:
		r.fault("the token has triage here: labels can be attached, but neither made nor can texts be edited; it needs push")
	default:
		r.fault("the token may only read here: GitHub would drop labels without a word; it needs push")
	}
}

// glob proves that a glob matches a repository.
func (k *checker) glob(ctx context.Context, r *findings, pattern string) {
	owner, _, _ := strings.Cut(pattern, "/")
	repos, err := k.github.OrgRepositories(ctx, owner)
	switch {
	case mapping.Refused(err):
		for _, route := range k.routesOf(pattern) {
			r.fault("%sthe repositories of %s cannot be listed: there is no such account, or the token may not see it: %v", ofRoute(route), owner, err)
		}
		return
	case err != nil:
		r.away(err, "the repositories of %s cannot be listed", owner)
		return
	}
	for _, route := range k.routesOf(pattern) {
		var taken, public, quarantined []string
		for _, repo := range repos {
			switch {
			case !slices.Contains(k.Routes.ForRepo(repo.FullName), route) || repo.Archived || !repo.HasIssues:
			case !repo.Private && !route.AllowPublic:
				public = append(public, repo.FullName)
			default:
				taken = append(taken, repo.FullName)
				if !repo.Private && k.QuarantineUnsaid[route.Name] {
					quarantined = append(quarantined, repo.FullName)
				}
			}
		}
		if len(quarantined) > 0 {
			r.warn("%sanybody can open issues in %s (%s); %s", ofRoute(route), mapping.Count(len(quarantined), "repository", "repositories"), few(quarantined), QuarantineAdvice)
		}
		if len(public) > 0 {
			r.warn("%s%s left out, as the route does not say allow_public: %s", ofRoute(route), mapping.Count(len(public), "public repository is", "public repositories are"), few(public))
		}
		if len(taken) == 0 {
			r.fault("%sit takes none of the repositories of %s that the token can see, %d in all", ofRoute(route), owner, len(repos))
			continue
		}
		r.ok("%sit takes %s: %s", ofRoute(route), mapping.Count(len(taken), "repository", "repositories"), few(taken))
	}
	k.believed(r, pattern)
	k.hook(ctx, r, owner)
}

// few names the first ones of many.
func few(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " …"
	}
	return strings.Join(names, ", ")
}
