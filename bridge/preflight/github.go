package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
)

// webhookPath ends the URL of a webhook that is for planbridge.
const webhookPath = "/webhooks/github"

// deliveriesSince is how far back failed deliveries are looked for.
const deliveriesSince = 24 * time.Hour

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
		r.fault("the token (or the app's key) is refused: %v", err)
	case err != nil:
		r.away("GitHub does not answer: %v", err)
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

// access says what the token may do at all; what it may do in a repository is
// repository's to say.
func (k *checker) access(ctx context.Context, r *findings, owner string) {
	a, err := k.github.Access(ctx, owner)
	switch {
	case mapping.Refused(err) && !k.IsApp:
		r.warn("what the token may do cannot be read here: %v", err) // an Enterprise Server without rate limits answers so
	case err != nil:
		r.away("the rights on %s cannot be read: %v", owner, err)
	case a.Kind == "app" && a.Permissions["issues"] != "write":
		r.fault("the app's installation on %s may not write issues (issues: %q)", owner, a.Permissions["issues"])
	case a.Kind == "app":
		r.ok("the app is installed on %s and may write issues", owner)
	case a.Kind != "classic":
		r.warn("what a fine-grained token may do cannot be read: give it Issues (read and write), Metadata and Webhooks (read)")
	case slices.Contains(a.Scopes, "repo") || slices.Contains(a.Scopes, "public_repo"):
		r.ok("the token has the scopes %s", strings.Join(a.Scopes, ", "))
	default:
		r.fault("the token has neither scope repo nor public_repo (it has: %s)", strings.Join(a.Scopes, ", "))
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
			probes = append(probes, probe{"repository " + repository, func(ctx context.Context, r *findings) { prove(ctx, r, repository) }})
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
		r.away("it cannot be read: %v", err)
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

// permission says whether issues can be kept: edits of other people's issues
// and labels that do not exist yet take push, attaching labels takes triage.
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

// glob proves that a glob means something.
func (k *checker) glob(ctx context.Context, r *findings, pattern string) {
	owner, _, _ := strings.Cut(pattern, "/")
	repos, err := k.github.OrgRepositories(ctx, owner)
	if err != nil {
		r.away("the repositories of %s cannot be listed: %v", owner, err)
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
			r.warn("%sanybody can open issues in %d of its repositories (%s); %s", ofRoute(route), len(quarantined), few(quarantined), QuarantineAdvice)
		}
		if len(public) > 0 {
			r.warn("%s%d public repositories are left out, as the route does not say allow_public: %s", ofRoute(route), len(public), few(public))
		}
		if len(taken) == 0 {
			r.fault("%sit takes none of the %d repositories of %s that the token can see", ofRoute(route), len(repos), owner)
			continue
		}
		r.ok("%sit takes %d repositories: %s", ofRoute(route), len(taken), few(taken))
	}
	k.believed(r, pattern)
	k.hook(ctx, r, owner)
}

// few names the first of many.
func few(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " …"
	}
	return strings.Join(names, ", ")
}

// hook proves that GitHub tells of what happens at target: a repository, or
// the account of a glob. The webhook may be the repository's, its
// organisation's or the app's own; not every token may read each of them.
func (k *checker) hook(ctx context.Context, r *findings, target string) {
	if k.brief {
		return
	}
	owners := []string{target}
	if owner, _, isRepo := strings.Cut(target, "/"); isRepo {
		owners = append(owners, owner)
	}
	if k.IsApp {
		owners = append(owners, "")
	}
	var unread []string
	for _, owner := range owners {
		hooks, err := k.github.ListHooks(ctx, owner)
		switch {
		case errors.Is(err, mapping.ErrNotFound), errors.Is(err, mapping.ErrForbidden):
			unread = append(unread, hooksOf(owner))
			continue
		case err != nil:
			r.fault("%s cannot be listed: %v", hooksOf(owner), err)
			return
		}
		found := false
		for _, h := range hooks {
			if u, err := url.Parse(h.URL); err == nil && strings.HasSuffix(u.Path, webhookPath) {
				found = true
				k.oneHook(ctx, r, owner, h, u.Host+u.Path)
			}
		}
		if found {
			return
		}
	}
	late := fmt.Sprintf("changes on GitHub would be seen every %v only", k.CatchUpInterval)
	if len(unread) > 0 {
		r.warn("whether there is a webhook cannot be told: the token may not read %s; without one, %s", strings.Join(unread, " and "), late)
		return
	}
	if !strings.Contains(target, "/") {
		r.warn("%s have none whose URL ends in %s, and those of each repository were not looked at: where it has none either, %s", hooksOf(target), webhookPath, late)
		return
	}
	r.fault("there is no webhook whose URL ends in %s: %s", webhookPath, late)
}

func hooksOf(owner string) string {
	if owner == "" {
		return "the app's webhook"
	}
	return "the webhooks of " + owner
}

// oneHook proves one webhook of planbridge; at is its URL without what may be secret.
func (k *checker) oneHook(ctx context.Context, r *findings, owner string, h Hook, at string) {
	switch {
	case !h.Active:
		r.fault("the webhook to %s is switched off", at)
		return
	// The events of an app's webhook are not told.
	case owner != "" && !slices.Contains(h.Events, "issues") && !slices.Contains(h.Events, "*"):
		r.fault("the webhook to %s does not send issues (it sends: %s)", at, strings.Join(h.Events, ", "))
		return
	case owner != "" && !slices.Contains(h.Events, "*"):
		if missing := k.unsent(h.Events); len(missing) > 0 {
			r.warn("the webhook does not send %s: what they tell is found by the catch-up only", strings.Join(missing, ", "))
		}
	}
	list, err := k.github.Deliveries(ctx, owner, h.ID, time.Now().Add(-deliveriesSince))
	if err != nil {
		r.warn("the webhook goes to %s; its deliveries cannot be listed: %v", at, err)
		return
	}
	failed, all, last := failures(list)
	if failed > 0 {
		r.warn("the webhook goes to %s; of %d deliveries of the last day %d failed, the newest of them at %s with status %d",
			at, all, failed, last.DeliveredAt.UTC().Format(time.RFC3339), last.StatusCode)
		return
	}
	r.ok("the webhook goes to %s; of %d deliveries of the last day none failed", at, all)
}

// unsent lists the events that a webhook could send besides issues, and does not.
func (k *checker) unsent(events []string) []string {
	want := []string{"repository"}
	if slices.ContainsFunc(k.Routes.All(), func(r *mapping.Route) bool { return r.Tasks == mapping.TasksSubIssues }) {
		want = []string{"sub_issues", "repository"}
	}
	return slices.DeleteFunc(want, func(event string) bool { return slices.Contains(events, event) })
}

// failures counts the events whose newest attempt failed; the list is newest
// first. last is the newest of them.
func failures(list []Delivery) (failed, all int, last Delivery) {
	seen := map[string]bool{}
	for _, d := range list {
		if seen[d.GUID] {
			continue
		}
		seen[d.GUID] = true
		if d.StatusCode/100 == 2 {
			continue
		}
		if failed++; failed == 1 {
			last = d
		}
	}
	return failed, len(seen), last
}
