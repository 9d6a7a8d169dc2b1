package preflight

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"planbridge/mapping"
)

// manyNamed is how many repositories of an owner the routes name for a listing of them to cost less
// than a request each.
const manyNamed = 10

// askedOnce asks GitHub once in a check for the data that many repositories share: an owner's
// repositories, webhooks, and their deliveries.
type askedOnce struct {
	GitHub
	lists map[string]bool // owners in lower case whose repositories are listed

	repositories memo[[]Repository]
	hooks        memo[[]Hook]
	deliveries   memo[[]Delivery]
}

// askOnce wraps a client for the routes of a check.
func askOnce(hub GitHub, routes mapping.Routes) *askedOnce {
	named, lists := map[string]int{}, map[string]bool{}
	for _, route := range routes.All() {
		for _, repository := range route.Repositories {
			owner := ownerOf(repository)
			named[owner]++
			lists[owner] = lists[owner] || mapping.IsGlob(repository) || named[owner] >= manyNamed
		}
	}
	return &askedOnce{GitHub: hub, lists: lists}
}

func ownerOf(repository string) string {
	owner, _, _ := strings.Cut(strings.ToLower(repository), "/")
	return owner
}

// Repository implements [GitHub]. A repository that a listing lacks, or has under another name, is
// read.
func (a *askedOnce) Repository(ctx context.Context, name string) (Repository, error) {
	if owner, _, _ := strings.Cut(name, "/"); a.lists[strings.ToLower(owner)] {
		all, _ := a.OrgRepositories(ctx, owner) // the read reports an error
		for _, r := range all {
			if strings.EqualFold(r.FullName, name) && r.Permissions != nil {
				return r, nil
			}
		}
	}
	return a.GitHub.Repository(ctx, name)
}

// OrgRepositories implements [GitHub].
func (a *askedOnce) OrgRepositories(ctx context.Context, owner string) ([]Repository, error) {
	return a.repositories.get(strings.ToLower(owner), func() ([]Repository, error) { return a.GitHub.OrgRepositories(ctx, owner) })
}

// ListHooks implements [GitHub].
func (a *askedOnce) ListHooks(ctx context.Context, owner string) ([]Hook, error) {
	return a.hooks.get(strings.ToLower(owner), func() ([]Hook, error) { return a.GitHub.ListHooks(ctx, owner) })
}

// Deliveries implements [GitHub].
func (a *askedOnce) Deliveries(ctx context.Context, owner string, hook int64, since time.Time) ([]Delivery, error) {
	key := strings.ToLower(owner) + " " + strconv.FormatInt(hook, 10)
	return a.deliveries.get(key, func() ([]Delivery, error) { return a.GitHub.Deliveries(ctx, owner, hook, since) })
}

// memo keeps answers. The zero one is empty. It is safe for concurrent use.
type memo[V any] struct {
	mu    sync.Mutex
	known map[string]func() (V, error)
}

// get returns the answer to a question, which it asks once.
func (m *memo[V]) get(question string, ask func() (V, error)) (V, error) {
	m.mu.Lock()
	if m.known == nil {
		m.known = map[string]func() (V, error){}
	}
	answer := m.known[question]
	if answer == nil {
		answer = sync.OnceValues(ask)
		m.known[question] = answer
	}
	m.mu.Unlock()
	return answer()
}
