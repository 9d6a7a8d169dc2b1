package repositories

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/factlog"
	"planbridge/mapping"
)

// These are how long GitHub's answer about a repository's readers is used, and the pause after a
// question without an answer.
const (
	visibleFor    = 5 * time.Minute
	unansweredFor = 30 * time.Second
)

// visibilities remembers who can read which repository. An event that says private may be old: it
// counts only where nothing else is known and GitHub does not answer. It is safe for concurrent
// use.
type visibilities struct {
	age time.Duration // how long an answer is used; 0: visibleFor
	mu  sync.Mutex
	m   map[string]visibility // by lower-case name
}

type visibility struct {
	public bool
	until  time.Time
	// unanswered: GitHub did not say; public is the earlier value.
	unanswered bool
	// told: GitHub or an event has said which it is.
	told bool
}

// until returns when an answer expires.
func (v *visibilities) until(at time.Time) time.Time { return at.Add(cmp.Or(v.age, visibleFor)) }

// learn records an event's value where nothing is known.
func (v *visibilities) learn(repo string, private bool) {
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

// of returns the known value for a repository, and whether it is new enough.
func (v *visibilities) of(repo string) (known visibility, fresh bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known = v.m[strings.ToLower(repo)]
	return known, time.Now().Before(known.until)
}

// put records the answer to a question that began with the value was. A change meanwhile has
// precedence.
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

// doubt lets GitHub be asked again whether a public repository still is. It stays public until
// GitHub says otherwise. doubt returns false where it was in doubt already.
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

// Private reports whether only members can read the repository. It asks GitHub at intervals. A
// repository that GitHub hides from us counts as private, as anybody could see a public one.
func (r *Registry) Private(ctx context.Context, repo string) (bool, error) {
	was, fresh := r.visible.of(repo)
	if fresh && !was.unanswered {
		return !was.public, nil
	}
	got, err := r.o.GitHub.Identity(ctx, repo)
	now := visibility{public: !got.Private, told: true, until: r.visible.until(time.Now())}
	if errors.Is(err, mapping.ErrNotFound) {
		now, err = was.unansweredNow(), nil
	}
	if err != nil {
		return false, err
	}
	return !r.visible.put(repo, was, now).public, nil
}

// unansweredNow is the known value after GitHub did not answer.
func (v visibility) unansweredNow() visibility {
	return visibility{public: v.public, told: v.told, until: time.Now().Add(unansweredFor), unanswered: true}
}

// Public reports whether anybody can read a repository, and whether that is known. ask allows a
// question to GitHub. A GitHub that does not answer is not asked at each write.
func (r *Registry) Public(ctx context.Context, repo string, ask bool) (public, known bool) {
	was, fresh := r.visible.of(repo)
	if fresh && ask {
		r.logPublic(repo, false, was.public)
	}
	if fresh || !ask && !was.public {
		return was.public, was.told || !ask
	}
	got, err := r.o.GitHub.Identity(ctx, repo)
	now := visibility{public: !got.Private, told: true, until: r.visible.until(time.Now())}
	if err != nil {
		now = was.unansweredNow()
	}
	now = r.visible.put(repo, was, now)
	r.logPublic(repo, was.public, now.public)
	return now.public, now.told
}

// logPublic logs that a repository is public while that stops a write, and once when it no longer
// is.
func (r *Registry) logPublic(repo string, was, is bool) {
	switch {
	case is:
		r.o.Logger.Warn("a repository is public: routes that do not say allow_public show nothing of planning there", "repo", repo, factlog.Fact, factlog.Public)
	case was:
		r.o.Logger.Info("the repository is private again", "repo", repo, factlog.Over, factlog.Public)
	}
}

// SeeVisibility records from an event who can read a repository. The result now reports whether
// anybody can. GitHub is asked about a public repository that an event calls private, as the event
// may be old. The result doubted reports once, and not with each delivery, that it may be private
// again.
func (r *Registry) SeeVisibility(ctx context.Context, repo string, public bool) (now, doubted bool) {
	if err := r.tellPrivate(ctx, repo, !public); err != nil {
		r.o.Logger.Warn("remembering who can read a repository", "repo", repo, "err", err)
	}
	r.visible.learn(repo, !public)
	was, _ := r.visible.of(repo)
	if public {
		now := r.visible.put(repo, was, visibility{public: true, told: true, until: r.visible.until(time.Now())})
		if !was.public {
			r.logPublic(repo, false, now.public)
		}
		return true, false
	}
	if was.public {
		doubted = r.visible.doubt(repo)
		now, _ = r.Public(ctx, repo, true)
	}
	return now, doubted
}

// AskPublic asks GitHub anew whether anybody can read a repository. Without an answer the
// repository stays public.
func (r *Registry) AskPublic(ctx context.Context, repo string) bool {
	r.visible.doubt(repo)
	public, _ := r.Public(ctx, repo, true)
	return public
}
