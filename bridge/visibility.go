package bridge

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// How long GitHub's answer on who can read a repository is believed, and how long
// it is not asked again where it gave none.
const (
	visibleFor    = 5 * time.Minute
	unansweredFor = 30 * time.Second
)

// visibilities is what is known of who can read which repository. An event that says
// that one is private may be an old one: it is believed where nothing else is known,
// and GitHub does not answer. It is safe for concurrent use.
type visibilities struct {
	age time.Duration // how long an answer is believed; 0: visibleFor
	mu  sync.Mutex
	m   map[string]visibility // by lower-case name
}

type visibility struct {
	public bool
	until  time.Time
	// unanswered: GitHub did not say; public is what was known before.
	unanswered bool
	// told: GitHub or an event has said which it is.
	told bool
}

// until is when an answer of that time is no longer believed.
func (v *visibilities) until(at time.Time) time.Time { return at.Add(cmp.Or(v.age, visibleFor)) }

// tell takes in what an event says where nothing is known.
func (v *visibilities) tell(repo string, private bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	repo = strings.ToLower(repo)
	if v.m[repo].told {
		return
	}
	if v.m == nil {
		v.m = map[string]visibility{}
	}
	v.m[repo] = visibility{public: !private, told: true}
}

// of returns what is known of a repository, and whether that is new enough.
func (v *visibilities) of(repo string) (known visibility, fresh bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known = v.m[strings.ToLower(repo)]
	return known, time.Now().Before(known.until)
}

// put takes in an answer to a question that was asked when was was known. What was
// told meanwhile stands.
func (v *visibilities) put(repo string, was, now visibility) visibility {
	v.mu.Lock()
	defer v.mu.Unlock()
	repo = strings.ToLower(repo)
	if known := v.m[repo]; known.public && known != was {
		return known
	}
	if v.m == nil {
		v.m = map[string]visibility{}
	}
	v.m[repo] = now
	return now
}

// doubt has GitHub asked once more whether a repository that was public is so; it
// stays until GitHub says otherwise. It reports false where it was in doubt already.
func (v *visibilities) doubt(repo string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.m == nil {
		v.m = map[string]visibility{}
	}
	repo = strings.ToLower(repo)
	was := v.m[repo]
	v.m[repo] = visibility{public: true, told: true}
	return was != v.m[repo]
}

// Private reports whether only members can read the repository, and asks
// GitHub for it once in a while. One that GitHub does not know for us is not
// public as far as is known: anybody would be told of that.
func (g *githubSide) Private(ctx context.Context, repo string) (bool, error) {
	was, fresh := g.visible.of(repo)
	if fresh && !was.unanswered {
		return !was.public, nil
	}
	got, err := g.Identity(ctx, repo)
	now := visibility{public: !got.Private, told: true, until: g.visible.until(time.Now())}
	if errors.Is(err, mapping.ErrNotFound) {
		now, err = was.unansweredNow(), nil
	}
	if err != nil {
		return false, err
	}
	return !g.visible.put(repo, was, now).public, nil
}

// unansweredNow is what is known of a repository of which GitHub has just not told.
func (v visibility) unansweredNow() visibility {
	return visibility{public: v.public, told: v.told, until: time.Now().Add(unansweredFor), unanswered: true}
}

// Public is that of the reconciler. A GitHub that does not answer the question is not
// asked at each write.
func (g *githubSide) Public(ctx context.Context, repo string, ask bool) (public, known bool) {
	was, fresh := g.visible.of(repo)
	if fresh || !ask && !was.public {
		return was.public, was.told || !ask
	}
	got, err := g.Identity(ctx, repo)
	now := visibility{public: !got.Private, told: true, until: g.visible.until(time.Now())}
	if err != nil {
		now = was.unansweredNow()
	}
	now = g.visible.put(repo, was, now)
	return now.public, now.told
}

// visible takes in what an event says of who can read a repository, and takes up
// what was withheld where it may be private again.
func (a *App) visible(ctx context.Context, repo string, public bool) {
	if err := a.github.repositories.tell(ctx, repo, !public); err != nil {
		a.log.Warn("remembering who can read a repository", "repo", repo, "err", err)
	}
	a.github.visible.tell(repo, !public)
	was, _ := a.github.visible.of(repo)
	switch {
	case public:
		now := a.github.visible.put(repo, was, visibility{public: true, told: true, until: a.github.visible.until(time.Now())})
		if !was.public && now.public {
			a.log.Warn("a repository is public: routes that do not say allow_public show nothing of planning there", "repo", repo)
		}
	case was.public && a.github.visible.doubt(repo): // once, and not with each delivery until GitHub was asked
		a.takeUp(ctx, func(parked string, _ *mapping.Route) bool { return strings.EqualFold(parked, repo) })
		for _, project := range a.set.Load().Routes.Projects() {
			a.sprintNews.tell(project) // sprints that changed meanwhile
		}
	}
}

// allowed reports that a route may show planning's side anywhere by now, or is gone.
func allowed(_ string, route *mapping.Route) bool { return route == nil || route.AllowPublic }

// takeUpPrivate asks, for what is withheld, whether its repository is private again:
// the event that tells may have been lost.
func (a *App) takeUpPrivate(ctx context.Context) {
	public := map[string]bool{}
	a.takeUp(ctx, func(repo string, route *mapping.Route) bool {
		if _, asked := public[repo]; !asked && !allowed(repo, route) {
			a.github.visible.doubt(repo)
			public[repo], _ = a.github.Public(ctx, repo, true)
		}
		return allowed(repo, route) || !public[repo]
	})
}

// takeUpMost is how many parked keys of a project are looked through.
const takeUpMost = 100_000

// takeUp makes the keys due that are parked as a repository is public, where may
// says so of that and of the key's route.
func (a *App) takeUp(ctx context.Context, may func(repo string, route *mapping.Route) bool) {
	set := a.set.Load()
	for _, project := range set.Routes.Projects() {
		failures, err := a.store.Failures(ctx, project, takeUpMost)
		if err != nil {
			return
		}
		n := 0
		for _, f := range failures {
			repo, ok := reconcile.PublicRepo(f)
			if !ok || !may(repo, set.Routes.ByName(f.Route)) {
				continue
			}
			if err := a.store.Enqueue(ctx, f.Key, time.Duration(n)*time.Second/store.WakePerSecond, false); err != nil {
				a.log.Warn("taking up what was withheld", "repo", repo, "err", err)
				continue
			}
			n++
		}
		if n > 0 {
			a.log.Info("what was withheld is looked at again", "project", project, "keys", n)
			a.engine.Kick()
			a.sprintNews.tell(project)
		}
	}
}
